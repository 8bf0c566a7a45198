"""Steps in recorded times are found, and none in times that have none."""

import numpy as np

from tests.hardware.time_steps import LONGEST, by_chance, found


def test_times_on_steps_have_the_step_and_its_strength():
    rng = np.random.default_rng(5)
    times = 0.013 + 0.2176 * rng.integers(2, 50, 300) + rng.normal(0, 0.02, 300)
    step, strength = found(times)
    assert abs(step - 0.2176) < 0.0005
    # The mean of exp(i a) of an angle with a normal distribution.
    assert abs(strength - np.exp(-((2 * np.pi * 0.02 / 0.2176) ** 2) / 2)) < 0.05


def test_times_without_steps_stay_below_chance():
    rng = np.random.default_rng(6)
    strengths = [found(rng.uniform(0, LONGEST, 200))[1] for _ in range(40)]
    assert sum(one > by_chance(200) for one in strengths) <= 6


def test_few_times_have_more_strength_by_chance():
    assert by_chance(50) == 2 * by_chance(200)
