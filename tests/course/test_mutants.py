"""Wrong functions that are made from a right one, and what is said of a learner's function that is like one of them."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence

import pytest

from softlab.course import mutants
from softlab.course.functions import Call, WriteFunction
from softlab.course.mutants import one_slip, two_slips

LISTS = [([4.0, 1.0, 9.0, 2.0], 1, 3.0), ([7.0, 7.5, 1.0], 0, 2.0), ([1.0, 8.0, 3.0, 6.0, 2.0], 2, 5.0)]


def shares(times: Sequence[float], skip: int, whole: float) -> float:
    """The middle of the later times, as a share of the whole; below 1 it counts half."""
    limit = 1
    counted = times[skip:]
    share = statistics.median(counted) / (whole + skip)
    if share < limit:
        return share / 2
    return share


def same_as(wrong):
    def same(mutant):
        try:
            return [mutant(*args) for args in LISTS] == [wrong(*args) for args in LISTS]
        except Exception:  # a mutant may make no sense
            return False

    return same


def middle(times, skip, whole, *, of=statistics.median, start=None, low=2, plus=1):
    share = of(times[skip if start is None else start :]) / (whole + plus * skip)
    return share / low if share < 1 else share


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        (lambda *args: middle(*args, of=statistics.fmean), "with the mean in place of the median"),
        (lambda *args: middle(*args, start=0), "with all of times in counted"),
        (lambda t, skip, w: middle(t, skip, w, start=skip + 1), "with skip one more in counted"),
        (lambda *args: middle(*args, plus=0), "without skip in share"),
        (lambda *args: middle(*args, plus=-1), "if whole and skip are subtracted, not added"),
        (lambda *args: middle(*args, low=1), "without asking for share and limit"),
        (lambda t, *args: middle(sorted(t), *args), "if times is sorted first"),
    ],
)
def test_one_change(wrong, words):
    assert words in one_slip({"": shares}, same_as(wrong))


def test_two_changes():
    def wrong(*args):
        return middle(*args, of=max, plus=0)

    assert one_slip({"": shares}, same_as(wrong)) == ""
    said = two_slips(shares, same_as(wrong))
    assert "with the largest in place of the median" in said
    assert "without skip" in said


def test_questions_in_another_order_and_a_function_in_all_places():
    def kind(low: float, high: float) -> float:
        if low > 3:
            return max(low, high)
        if high > 3:
            return -max(low, high)
        return 0

    pairs = [(a, b) for a in (1.0, 4.0, 6.0) for b in (2.0, 5.0)]

    def same(wrong):
        return lambda mutant: [mutant(*pair) for pair in pairs] == [wrong(*pair) for pair in pairs]

    turned = one_slip({"": kind}, same(lambda a, b: -max(a, b) if b > 3 else max(a, b) if a > 3 else 0))
    assert "the question for high comes before that for low" in turned
    least = one_slip({"": kind}, same(lambda a, b: min(a, b) if a > 3 else -min(a, b) if b > 3 else 0))
    assert "with the smallest in place of the largest" in least


def test_a_further_model_names_its_own_slip():
    def halved(times: Sequence[float], skip: int, whole: float) -> float:
        counted = times[skip:]
        return statistics.median(counted) / (whole + skip) / 2

    said = one_slip({"": shares, "with half": halved}, same_as(lambda *args: middle(*args, plus=0, low=1) / 2))
    assert said == "This is what you get with half, and without skip."


def test_a_function_that_fails_where_a_mutant_does():
    def over(a: float, b: float) -> float:
        if b == 0:
            return 0
        return a / b

    calls = [Call((a, b), over(a, b)) for a, b in ((1.0, 2.0), (3.0, 4.0), (3.0, 0.0))]
    exercise = WriteFunction(id="99-f", hint="h", calls=lambda: calls, parameters=("a", "b"), models={"": over})
    assert "raises ZeroDivisionError" in (said := exercise.judge(lambda a, b: a / b).message)
    assert "This is what you get without asking whether b is 0" in said
    assert "with the fraction upside down" in exercise.judge(lambda a, b: b / a if b else 0).message


@pytest.mark.parametrize("before", [1, 2, 3])
def test_a_slip_is_told_of_a_function_that_fails_after_two_results(before: int):
    calls = [Call((1.0, 2.0 + k), 1 / (2.0 + k)) for k in range(before)] + [Call((3.0, 0.0), 0)]

    def over(a: float, b: float) -> float:
        if b == 0:
            return 0
        return a / b

    exercise = WriteFunction(id="99-f", hint="h", calls=lambda: calls, parameters=("a", "b"), models={"": over})
    said = exercise.judge(lambda a, b: a / b).message
    assert ("without asking whether b is 0" in said) == (before >= 2)


def test_a_variable_that_is_multiplied_by_itself_is_named_once():
    def area(width: float) -> float:
        w = width - 3
        return w * w

    assert one_slip({"": area}, lambda mutant: mutant(7) == 8) == (
        "This is what you get if `w` is added, not multiplied."
    )


def largest(x: Sequence[float]) -> float:
    return max(x)


def larger(a: float, b: float) -> float:
    return max(a, b)


def weighed(a: float, b: float) -> float:
    total = a + 2
    return total * b + 100


def size_of(length: int) -> str:
    if length > 10:
        return "large"
    if length > 4:
        return "middle"
    return "small"


def median_of(x: Sequence[float]) -> float:
    return statistics.median(x)


def whole(x: Sequence[float]) -> float:
    return sum(x)


def power(a: float) -> float:
    return math.exp(a)


def logarithm(a: float) -> float:
    return math.log(a)


def all_large(x: Sequence[float]) -> bool:
    return all(one > 2 for one in x)


def any_large(x: Sequence[float]) -> bool:
    return any(one > 2 for one in x)


@pytest.mark.parametrize(
    ("model", "wrong", "words"),
    [
        (largest, min, "with the smallest in place of the largest"),
        (largest, statistics.fmean, "with the mean in place of the largest"),
        (largest, sum, "with the sum in place of the largest"),
        (largest, lambda x: max(map(abs, x)), "with the largest in size, whatever its sign"),
        (larger, min, "with the smallest in place of the largest"),
        (larger, lambda a, b: (a + b) / 2, "with the mean in place of the largest"),
        (larger, lambda a, b: a + b, "with the sum in place of the largest"),
        (larger, lambda a, b: max(abs(a), abs(b)), "with the largest in size, whatever its sign"),
        (larger, lambda a, b: a, "with a in place of the largest"),
        (larger, lambda a, b: b, "with b in place of the largest"),
        (median_of, statistics.fmean, "with the mean in place of the median"),
        (median_of, min, "with the least in place of the median"),
        (median_of, max, "with the largest in place of the median"),
        (median_of, sum, "with the sum in place of the median"),
        (median_of, statistics.median_low, "with the lower one of the middle two"),
        (median_of, statistics.median_high, "with the upper one of the middle two"),
        (median_of, lambda x: x[0], "with the first one in place of the median"),
        (median_of, lambda x: x[-1], "with the last one in place of the median"),
        (median_of, lambda x: x[len(x) // 2], "with the middle of what is not sorted"),
        (whole, statistics.fmean, "with the mean in place of the sum"),
        (whole, max, "with the largest, not the sum"),
        (power, lambda a: 2**a, "with powers of 2 in place of powers of e"),
        (power, lambda a: a, "without the power of e of a"),
        (logarithm, math.log2, "with the logarithm of base 2"),
        (logarithm, math.log10, "with the logarithm of base 10"),
        (logarithm, lambda a: a, "without the logarithm of a"),
        (all_large, lambda x: any(one > 2 for one in x), "if one case is enough where all have to be"),
        (any_large, lambda x: all(one > 2 for one in x), "if all cases have to be where one is enough"),
    ],
)
def test_each_function_that_a_learner_may_take_is_known(model, wrong, words):
    lists = [[2.0, 9.0, 1.0, 5.0], [-7.0, 3.0, 2.5, 6.0, -1.0], [4.0, 8.0], [5.0, 3.0, -20.0, 4.0]]
    pairs, numbers = [(1.0, 4.0), (-7.0, 3.0), (5.0, 2.0)], [(2.0,), (5.0,)]
    calls = {larger: pairs, power: numbers, logarithm: numbers}.get(model, [(one,) for one in lists])

    def same(mutant):
        try:
            return [float(mutant(*call)) for call in calls] == pytest.approx([float(wrong(*call)) for call in calls])
        except TypeError:  # a list, where a function of it is left out
            return False

    assert words in one_slip({"": model}, same)


@pytest.mark.parametrize("number", [12000, 3000, 6001, 5999, 60000, 600, 6000000, 6000000000, 600000, 6144, 5859.375])
def test_each_number_that_a_learner_may_take_for_a_constant_is_known(number):
    def sized(a: float) -> float:
        size = 6000
        return a * size

    assert f"with {number:g} for size" in one_slip({"": sized}, lambda mutant: mutant(3.0) == pytest.approx(3 * number))


def test_what_is_right_in_all_calls_is_no_slip():
    calls = [Call((one,), one + one) for one in (1.0, 2.0, 3.0)]

    def twice(a: float) -> float:
        return a + a

    exercise = WriteFunction(id="99-f", hint="h", calls=lambda: calls, parameters=("a",), models={"": twice})
    assert exercise.judge(lambda a: 2 * a).right
    assert "rounded" not in exercise.judge(lambda a: a).message


def test_a_function_that_no_slip_gives_has_none():
    calls = [Call((one,), one + one) for one in (1.0, 2.0, 3.0)]

    def twice(a: float) -> float:
        return a + a

    exercise = WriteFunction(id="99-f", hint="h", calls=lambda: calls, parameters=("a",), models={"": twice})
    assert "This is what you get" not in exercise.judge(lambda a: a**3 + 7).message
    assert "This is what you get if a is multiplied, not added" in exercise.judge(lambda a: a * a).message


def kind(length: int) -> str:
    """Two questions of the same kind, and a limit."""
    the_limit = 49152
    the_parts = [length > 1, length > 10]
    what_it_needs = 4 * length
    if all(the_parts):
        return "long" if what_it_needs <= the_limit else "too long"
    if any(the_parts):
        return "middle"
    return "short"


def test_no_two_questions_that_read_alike_are_exchanged():
    def any_first(length):
        parts = [length > 1, length > 10]
        return "middle" if any(parts) else "short"

    def same(mutant):
        return [mutant(length) for length in (1, 5, 20)] == [any_first(length) for length in (1, 5, 20)]

    said = one_slip({"": kind}, same)
    assert "whether any of the parts are true comes before that whether all of the parts are true" in said

    def twice(low: float) -> int:
        if low > 3:
            return 1
        if low > 1:
            return 2
        return 3

    assert "comes before" not in one_slip({"": twice}, lambda mutant: [mutant(k) for k in (0, 2, 4)] == [3, 2, 2])


def test_one_more_or_less_is_told_after_other_slips():
    def doubled(n: int) -> int:
        wide = n
        return wide * 2

    assert one_slip({"": doubled}, lambda mutant: mutant(0) == 2) == (
        "This is what you get if wide and 2 are added, not multiplied, or without wide."
    )
    assert one_slip({"": doubled}, lambda mutant: mutant(5) == 12) == "This is what you get with n one more in wide."


def test_a_limit_that_the_calls_leave_open_is_no_number():
    def same(mutant):
        return [mutant(length) for length in (1, 5, 11_000, 12_280)] == ["short", "middle", "long", "too long"]

    assert one_slip({"": kind}, same) == "This is what you get with a smaller number for the limit."


def scaled(a: float) -> float:
    factor = 1600
    return a * factor


@pytest.mark.parametrize(
    "constant",
    [3200, 800, 1601, 1599, 16_000, 160, 1_600_000, 1_600_000_000, 160_000, 1638.4, 1562.5],
)
def test_each_other_number_that_a_learner_may_take_is_known(constant):
    said = one_slip({"": scaled}, lambda mutant: [mutant(a) for a in (1.0, 3.0)] == [constant, 3.0 * constant])
    assert said == f"This is what you get with {constant:g} for factor."


@pytest.mark.parametrize("constant", [1600, 1602, 1598, 4800, 1638.5])
def test_any_other_number_is_no_slip(constant):
    assert one_slip({"": scaled}, lambda mutant: [mutant(a) for a in (1.0, 3.0)] == [constant, 3.0 * constant]) == ""


def small(a: float) -> float:
    factor = 16
    return a * factor


@pytest.mark.parametrize(("constant", "told"), [(32, True), (15, True), (16.384, False), (15.625, False)])
def test_a_small_number_is_no_size(constant, told):
    said = one_slip({"": small}, lambda mutant: [mutant(a) for a in (1.0, 3.0)] == [constant, 3.0 * constant])
    assert bool(said) == told


def met(a: float, b: float) -> bool:
    return a == b


def apart(a: float, b: float) -> float:
    return a - b


def share(a: float, b: float) -> float:
    return a / b


@pytest.mark.parametrize(
    ("model", "wrong", "words"),
    [
        (met, lambda a, b: a >= b / 2, "if half of b is enough for a"),
        (met, lambda a, b: a >= b - 1, "if one less than b is enough for a"),
        (apart, lambda a, b: b - a, "with b less a"),
        (apart, lambda a, b: a, "without b"),
        (apart, lambda a, b: b, "without a"),
        (share, lambda a, b: b / a, "with the fraction upside down"),
        (share, lambda a, b: a * b, "if a and b are multiplied, not divided"),
    ],
)
def test_each_comparison_and_operation_that_a_learner_may_take_is_known(model, wrong, words):
    pairs = [(a / 2, b / 2) for a in range(1, 12) for b in range(3, 9)]
    assert words in one_slip({"": model}, lambda mutant: all(mutant(*pair) == wrong(*pair) for pair in pairs))


@pytest.mark.parametrize(
    ("wrong", "words"),
    [(lambda a, b: (b + 2) * b + 100, "with b for a in total"), (lambda a, b: (a + 2) * a + 100, "with a for b")],
)
def test_a_parameter_in_place_of_another_one(wrong, words):
    pairs = [(2.0, 7.0), (9.0, 4.0), (5.0, 11.0)]
    said = one_slip({"": weighed}, lambda mutant: all(mutant(*pair) == wrong(*pair) for pair in pairs))
    assert said == f"This is what you get {words}."


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        (("small", "large", "large"), "with 'large' in place of 'middle'"),
        (("large", "middle", "large"), "with 'large' in place of 'small'"),
        (("small", "middle", "middle"), "without asking for length, or with 'middle' in place of 'large'"),
        (("small", "middle", "small"), "with 'small' in place of 'large'"),
    ],
)
def test_a_text_in_place_of_another_one(wrong, words):
    said = one_slip({"": size_of}, lambda mutant: tuple(map(mutant, (2, 7, 20))) == wrong)
    assert said == f"This is what you get {words}."


def test_another_number_is_named_only_where_nothing_else_fits() -> None:
    """What comes behind the numbers is not named either."""
    exec("def model(a, b):\n    return a - b\n", names := {})
    fits = {"with 5 for a": False, "with b less a": True, "with 7 for b": True, "without b": True}
    given = {words: (lambda one=fit: one) for words, fit in fits.items()}

    def single(model):
        return tuple((words, given[words]) for words in order)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(mutants, "_single", single)
        order = list(fits)
        assert one_slip({"": names["model"]}, lambda one: one()) == "This is what you get with b less a."
        order = ["with 5 for a", "with 7 for b", "without b"]
        assert one_slip({"": names["model"]}, lambda one: one()) == "This is what you get with 7 for b, or without b."
        order = ["with b less a", "without b", "with 7 for b"]
        said = "This is what you get with b less a, or without b."
        assert one_slip({"": names["model"]}, lambda one: one()) == said
