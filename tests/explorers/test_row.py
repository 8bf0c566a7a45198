"""The row on its way: what the picture shows at each place is what the run did."""

from __future__ import annotations

import numpy as np
import pytest

from softlab.explorers import RowExplorer
from softlab.instruments.shuffles import shuffle_steps


@pytest.fixture(scope="module")
def explorer() -> RowExplorer:
    return RowExplorer()


def values(texts: list[str]) -> np.ndarray:
    return np.array([float(text) for text in texts])


def test_each_place_shows_what_the_lanes_hold(explorer):
    frames = explorer.picture.data["frames"]
    stages = ["DRAM", "sectors", "lanes", *["max"] * 5, "exp", *["sum"] * 5, "divide", "result"]
    assert [frame["stage"] for frame in frames] == stages
    x = values(explorer.picture.data["x"])
    assert len(set(x.tolist())) > 15
    assert values(frames[2]["own"]).tolist() == x.tolist()
    for number in range(5):
        group = 2 ** (number + 1)
        # After the shuffles by 16, 8, ... a lane knows those lanes whose numbers differ from its own in these bits.
        bits = sum(16 >> k for k in range(number + 1))
        known = [[other for other in range(32) if (other ^ lane) & ~bits == 0] for lane in range(32)]
        assert {len(lanes) for lanes in known} == {group}
        largest = [x[lanes].max() for lanes in known]
        assert values(frames[3 + number]["gathered"]).tolist() == largest
        powers = [np.exp(x - x.max())[lanes].sum() for lanes in known]
        np.testing.assert_allclose(values(frames[9 + number]["gathered"]), powers, rtol=0.06)
    shares = np.exp(x - x.max()) / np.exp(x - x.max()).sum()
    np.testing.assert_allclose(values(explorer.picture.data["y"]), shares, rtol=0.06)


def test_exchanges_and_sectors_are_those_of_the_run(explorer):
    frames, steps = explorer.picture.data["frames"], shuffle_steps(explorer.trace.run)
    shuffles = [frame for frame in frames if frame["edges"]]
    assert len(shuffles) == len(steps) == 10
    drawn = sorted(sorted(map(tuple, frame["edges"])) for frame in shuffles)
    assert drawn == sorted(sorted((giver, taker) for giver, taker, _ in step.exchanges()) for step in steps)
    assert explorer.picture.data["loaded"] == [lane // 8 for lane in range(32)] == explorer.picture.data["stored"]
    assert "4 sectors" in frames[1]["sentence"]
    assert "256 bytes" in frames[-1]["sentence"]
    assert "{" not in "".join(frame["sentence"] for frame in frames)


def test_the_slider_and_the_state_agree(explorer):
    explorer.slider.value = 7.4
    assert (explorer.position, explorer.picture.shown, explorer.summary["stage"]) == (7.4, 7.4, "max")
    assert len(set(explorer.summary["gathered"])) == 1
    explorer.position = 99
    assert (explorer.position, explorer.slider.value) == (15, 15)
    explorer.slider.value = 6.999999999
    assert explorer.summary["sentence"].startswith("Shuffle 5 of 5")
    assert explorer.picture.position == 0, "while the slider moves, Python sends no place to the page"
    explorer.position = 0
    assert explorer.summary["own"] is None
