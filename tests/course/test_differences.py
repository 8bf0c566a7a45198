"""What tells the results of a wrong Python function from the right ones."""

from __future__ import annotations

import math

import numpy as np
import pytest

from softlab.course.differences import alike, difference
from softlab.course.functions import Call, WriteFunction

PAIRS = [(float(a), float(b)) for a in (1, 3, 4) for b in (2, 5, 7)]


def of_two(wrong, right=lambda a, b: a * b * b + 1):
    return difference(("a", "b"), [Call(pair, right(*pair)) for pair in PAIRS], [wrong(*pair) for pair in PAIRS])


@pytest.mark.parametrize("lengths", [(2, 3), (3, 2)])
def test_right_results_of_different_lengths_have_only_their_common_parts(lengths):
    right = [(1, 2, 3)[: lengths[0]], (4, 6, 7)[: lengths[1]], (8, 11, 13)[: lengths[0]]]
    returned = [(one[0] + 5, *one[1:], 90)[:3] for one in right]
    found = difference(("n",), [Call((n,), one) for n, one in enumerate(right)], returned)
    assert found.startswith("[0] of what it returns is 5 too large.")


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        (lambda a, b: 7, "It returns 7 in each call, whatever it is given."),
        (lambda a, b: 2 * (a * b * b + 1), "What it returns is 2 times what is right."),
        (lambda a, b: a * b * b, "What it returns is 1 too small."),
        (lambda a, b: a * b * b + 1 + b, "What it returns is what is right plus b."),
        (lambda a, b: 1 / (a * b * b + 1), "the fraction is upside down"),
        (lambda a, b: math.exp(a * b * b + 1), "the logarithm is missing"),
        (lambda a, b: b, "What it returns is b."),
        (lambda a, b: max(a, b), "What it returns is the larger of a and b."),
        (
            lambda a, b: a * b * b + 1 if a < b else 0,
            "In the calls that were tried it is wrong wherever a is greater than b, and right elsewhere.",
        ),
        (
            lambda a, b: a * b * b + 1 if a != 3 else 0,
            "In the calls that were tried it is wrong wherever a is 3, and right elsewhere.",
        ),
        (lambda a, b: a * b * b + 1.5 + a % 2 * b / 7, "Wherever it is wrong, it is too large."),
    ],
)
def test_a_rule_of_numbers(wrong, words):
    assert words in of_two(wrong)


@pytest.mark.parametrize(
    ("step", "words"),
    [
        (lambda right: -right, "the right number with the wrong sign"),
        (lambda right: 1 / right, "1 over the right number: the fraction is upside down"),
        (math.exp, "e to the power of what is right: the logarithm is missing"),
        (math.log, "the logarithm of what is right"),
        (math.trunc, "the right number without its fraction"),
        (round, "the right number, rounded to a whole one"),
        (lambda right: 1 - right, "1 less the right number"),
        (lambda right: 1e3 / right, "1 over the right number, times 10^3"),
        (lambda right: 1e6 / right, "1 over the right number, times 10^6"),
        (lambda right: right * right, "the square of the right number"),
        (lambda right: right**0.5, "the root of the right number"),
    ],
)
def test_each_step_from_the_right_number_is_known(step, words):
    def right(a, b):
        return a * b + 7 * b / 9

    assert words in of_two(lambda a, b: step(right(a, b)), right)


def test_a_right_function_has_no_difference():
    assert of_two(lambda a, b: a * b * b + 1) == ""


def test_words_and_the_cases_in_which_another_one_is_returned():
    calls = [Call((n, kind), "long" if n > 4 else "short") for n in range(8) for kind in ("x", "y")]
    given = ["short" if call.args[1] == "y" else call.expected for call in calls]
    assert difference(("n", "kind"), calls, given) == (
        "Where 'long' is right, it returns 'short' in some calls. "
        "In the calls that were tried it is wrong wherever kind is 'y' and n is 5 or more, and right elsewhere."
    )


def test_words_that_are_no_answers():
    calls = [Call((n,), "long" if n > 4 else "short") for n in range(8)]
    given = ["tall" if call.expected == "long" else "short" for call in calls]
    assert "It returns 'tall', which is right nowhere." in difference(("n",), calls, given)


def test_a_result_that_is_rounded():
    assert "rounded to 2 digits after the point" in of_two(lambda a, b: round(a / b, 2), lambda a, b: a / b)


def test_an_argument_that_changes_nothing():
    calls = [Call(([1.0, 2.0, 4.0], skip), sum([1.0, 2.0, 4.0][skip:])) for skip in (0, 1, 2)]
    assert difference(("times", "skip"), calls, [6.5, 6.5, 6.5]).startswith("It returns 6.5")
    calls.append(Call(([9.0], 0), 9.0))
    assert "skip changes nothing" in difference(("times", "skip"), calls, [6.5, 6.5, 6.5, 8.5])


@pytest.mark.parametrize("step", [-1, 0, 1])
def test_an_argument_that_changes_what_is_returned_is_not_blamed(step: int):
    """Whether the results fall or grow with it."""
    calls = [Call((n, far), 10 * n * n + 7 * far) for n in range(1, 5) for far in (1, 2)]
    given = [100 * call.args[0] % 70 + 105 + step * call.args[1] for call in calls]
    assert ("far changes nothing" in difference(("n", "far"), calls, given)) == (step == 0)


def test_a_number_that_is_finite_where_infinity_is_right_follows_no_rule():
    calls = [Call((a, b), a * b * b + 1) for a, b in PAIRS] + [Call((9.0, 9.0), math.inf)]
    given = [2 * call.expected for call in calls[:-1]] + [5.0]
    assert difference(("a", "b"), calls, given).startswith(
        "What it returns is 2 times what is right where it is finite."
    )


@pytest.mark.parametrize(("often", "told"), [(8, True), (6, True), (5, False)])
def test_where_alone_some_calls_are_wrong(often: int, told: bool):
    """It holds for 6 of the right calls too, which are at most half of them."""
    pairs = [("y", n) for n in range(1, 10)] + [("x", n) for n in range(1, often + 1)]
    calls = [Call((a, n), f"{n}{a}") for a, n in pairs]
    given = [f"no {call.args[1]}" if call.args[0] == "y" and call.args[1] in (2, 5, 7) else call.expected
             for call in calls]  # fmt: skip
    assert ("it is wrong only where a is 'y'." in difference(("a", "n"), calls, given)) == told


def test_three_conditions_together():
    calls = [Call((a, b, c, n), f"{n}{a}{b}{c}") for a in "xy" for b in "xy" for c in "xy" for n in range(1, 9)]
    given = [f"no {call.args[3]}" if call.args[:3] == ("y", "y", "y") else call.expected for call in calls]
    assert difference(("a", "b", "c", "n"), calls, given) == (
        "In the calls that were tried it is wrong wherever a is 'y' and b is 'y' and c is 'y', and right elsewhere."
    )


def test_an_argument_that_should_change_nothing_is_not_blamed():
    """The second argument changes what is right in some pairs of calls alone: these are looked at."""
    calls = [Call((n, far), 10 * n + (n > 3) * far) for n in range(1, 7) for far in (1, 2)]
    given = [10 * call.args[0] + 100 + (call.args[0] < 2) * call.args[1] for call in calls]
    assert "far changes nothing in what it returns." in difference(("n", "far"), calls, given)
    given = [10 * call.args[0] + 100 + (call.args[0] > 5) * call.args[1] for call in calls]
    assert "changes nothing" not in difference(("n", "far"), calls, given)


@pytest.mark.parametrize(
    ("words", "number"),
    [
        ("the largest number of x", max),
        ("the smallest number of x", min),
        ("the sum of x", sum),
        ("the mean of x", lambda x: sum(x) / len(x)),
        ("the length of x", len),
        ("the first number of x", lambda x: x[0]),
        ("the last number of x", lambda x: x[-1]),
        ("minus the last number of x", lambda x: -x[-1]),
    ],
)
def test_each_number_of_a_list_is_known(words, number):
    lists = [[3.0, 11.0, -2.0, 5.0], [7.0, -4.0, 13.0], [2.0, 9.5, 1.0, -6.0, 8.0], [5.5, 12.0, -1.0, 6.25]]
    rights = [101.0, 57.0, 83.0, 29.0]
    calls = [Call((x,), right) for x, right in zip(lists, rights, strict=True)]
    added = [right + number(x) for x, right in zip(lists, rights, strict=True)]
    assert difference(("x",), calls, added).startswith(f"What it returns is what is right plus {words}.")
    times = [right * number(x) for x, right in zip(lists, rights, strict=True)]
    assert difference(("x",), calls, times).startswith(f"What it returns is what is right times {words}.")


def test_rows_that_are_off_by_a_number_of_their_own():
    rows = [np.array(row) for row in ([1.0, 5, 2], [7.0, 3], [4.0, 4, 8, 1])]
    calls = [Call((row,), row - row.max()) for row in rows]
    assert "plus the largest number of x" in difference(("x",), calls, rows)


def test_rows_that_are_each_off_by_one_number():
    rows = [np.array(row) for row in ([1.0, 5, 2], [7.0, 3, 8], [4.0, 4, 8, 1])]
    for sign, words in ((1, "too large"), (-1, "too small")):
        given = [row + sign * off for row, off in zip(rows, (0.37, 1.91, 2.29), strict=True)]
        assert difference(("x",), [Call((row,), row) for row in rows], given) == (
            f"What it returns is off by the same for all numbers of a row (0.37 {words} in the first wrong one): "
            "one number per row is wrong."
        )


@pytest.mark.parametrize(("share", "lost"), [(0.95, True), (-0.95, True), (1.3, False)])
def test_digits_that_a_sum_in_float32_loses(share: float, lost: bool):
    """Each of n additions rounds by half a unit of the largest number, and so do four more operations."""
    rows = [np.array(row, np.float32) for row in ([-3e7, 4, 3e7], [5.0, -6e7, 6e7, 1], [9e7, -8e7, -1e7, 2, 1])]
    calls = [Call((row,), float(row.astype(np.float64).sum())) for row in rows]
    most = [(4 + row.size) * 2.0**-24 * float(abs(row).max()) for row in rows]
    given = [call.expected + share * step for call, step in zip(calls, most, strict=True)]
    said = difference(("x",), calls, given)
    words = "off by what a float32 loses where numbers as large as those of x are added or subtracted"
    assert (words in said) == lost
    doubles = [Call((call.args[0].astype(np.float64),), call.expected) for call in calls]
    assert words not in difference(("x",), doubles, given)


def test_one_number_of_a_pair_is_wrong():
    calls = [Call((a, b), (a + b, a * b)) for a, b in PAIRS]
    assert difference(("a", "b"), calls, [(a + b, 2 * a * b) for a, b in PAIRS]) == (
        "[1] of what it returns is 2 times what is right."
    )
    assert difference(("a", "b"), calls, [(a + b + 3, a * b) for a, b in PAIRS]) == (
        "[0] of what it returns is 3 too large."
    )
    assert "it returns is 3 too large" not in difference(("a", "b"), calls, [a + b + 3 for a, b in PAIRS])


def test_one_argument_or_another_by_which_of_two_is_less():
    triples = [(float(a), float(b), 10.0 + a * b) for a in (1, 3, 6) for b in (2, 4, 5)]
    calls = [Call(triple, sum(triple)) for triple in triples]
    given = [a if a < b else c for a, b, c in triples]
    assert difference(("a", "b", "c"), calls, given).startswith(
        "What it returns is a where a is less than b, and c elsewhere."
    )


def test_of_arguments_that_are_alike_the_first_one_is_named():
    quintuples = [(float(a), float(b), a, 10.0 + a * b, 10.0 + a * b) for a in (1, 3, 6) for b in (2, 4, 5)]
    calls = [Call(given, sum(given)) for given in quintuples]
    wrong = [a if a < b else c for a, b, _, c, _ in quintuples]
    assert difference(("a", "b", "same", "c", "also"), calls, wrong).startswith(
        "What it returns is a where a is less than b, and c elsewhere."
    )


def test_arguments_without_names_are_counted():
    exercise = WriteFunction(
        id="99-f", hint="h", calls=lambda: [Call((n, far), 10 * n + n * n * far) for n in range(1, 7) for far in (1, 2)]
    )
    assert "argument 2 changes nothing in what it returns." in exercise.judge(ten_times).message


def ten_times(n, far):
    return 10 * n + 100 + n % 3


def test_the_call_that_is_shown_is_a_short_one():
    exercise = WriteFunction(
        id="99-f", hint="add", parameters=("x",), calls=lambda: [Call(([1] * 50,), 50), Call(([1, 1],), 2)]
    )
    assert "most([1, 1]) is 1 and should be 2." in exercise.judge(most).message


def most(x):
    return max(x)


def test_the_right_result_of_the_wrong_calls_is_a_condition():
    """Where nothing about the argument tells them."""
    calls = [Call((n,), "long" if n in (2, 3, 5, 7, 11, 13, 17, 19) else "short") for n in range(1, 21)]
    given = [f"tall{call.args[0]}" if call.expected == "long" else call.expected for call in calls]
    assert difference(("n",), calls, given) == (
        "In the calls that were tried it is wrong wherever 'long' is right, and right elsewhere."
    )


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        (lambda size: size % 2 == 0, "the length of x is even"),
        (lambda size: size % 2 == 1, "the length of x is odd"),
        (lambda size: size == 1, "the length of x is 1"),
        (lambda size: size >= 5, "the length of x is 5 or more"),
        (lambda size: size <= 2, "the length of x is 2 or less"),
    ],
)
def test_a_condition_on_the_length_of_a_list(wrong, words):
    sizes = [1, 2, 3, 4, 5, 6, 7, 8]
    calls = [Call(([1.0] * size,), float(size)) for size in sizes]
    given = [size * size + 9.5 + size if wrong(size) else float(size) for size in sizes]
    said = difference(("x",), calls, given)
    assert f"it is wrong wherever {words}, and right elsewhere." in said


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        (math.isinf, "a is infinite"),
        (math.isfinite, "a is finite"),
        (lambda a: a == 0, "a is 0"),
        (lambda a: a < 0, "a is below 0"),
    ],
)
def test_a_condition_on_extreme_numbers(wrong, words):
    numbers = [-math.inf, -2.0, -1.5, 0.0, 1.0, 2.5, math.inf]
    calls = [Call((a,), f"{abs(a):g}") for a in numbers]
    given = [f"no {a:g}" if wrong(a) else call.expected for a, call in zip(numbers, calls, strict=True)]
    said = difference(("a",), calls, given)
    assert f"wrong wherever {words}, and right elsewhere." in said


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        (lambda a, b: max(a) > max(b), "the largest number of a is greater than the largest number of b"),
        (lambda a, b: max(a) < max(b), "the largest number of a is less than the largest number of b"),
        (lambda a, b: max(a) == max(b), "the largest number of a and the largest number of b are alike"),
        (lambda a, b: min(a) > min(b), "the smallest number of a is greater than the smallest number of b"),
    ],
)
def test_a_condition_on_two_lists(wrong, words):
    rows = [[1.0, 5.0], [2.0, 5.0], [0.0, 7.0], [3.0, 4.0], [6.0, 9.0]]
    calls = [Call((a, b), sum(a) * sum(b) + 1) for a in rows for b in rows]
    given = [call.expected + (0.5 + call.args[0][0] ** 2) * wrong(*call.args) for call in calls]
    assert f"wrong wherever {words}, and right elsewhere." in difference(("a", "b"), calls, given)


def test_what_an_argument_in_words_tells():
    calls = [Call((kind, n), n * 3) for kind in ("near", "far") for n in (1, 2, 5)]
    given = [call.expected + (call.args[1] ** 2 + 0.5) * (call.args[0] == "far") for call in calls]
    assert "wrong wherever kind is 'far', and right elsewhere." in difference(("kind", "n"), calls, given)


def test_two_results_where_more_are_right():
    calls = [Call((n,), n * n) for n in range(6)]
    assert difference(("n",), calls, [0, 1, 0, 1, 1, 0]).startswith("It returns nothing but 0 and 1.")
    calls = [Call((n,), n % 2) for n in range(6)]
    assert "nothing but" not in difference(("n",), calls, [1, 0, 1, 1, 1, 0])


@pytest.mark.parametrize(("off", "side"), [(1, "large"), (-1, "small")])
def test_on_which_side_wrong_numbers_lie(off, side):
    calls = [Call((a, b), a * b * b + 1) for a, b in PAIRS]
    given = [call.expected + off * (0.5 + (n * n * 7 % 5)) for n, call in enumerate(calls)]
    assert difference(("a", "b"), calls, given) == f"Wherever it is wrong, it is too {side}."
    given[4] = calls[4].expected - off
    assert "too" not in difference(("a", "b"), calls, given)


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        (lambda a, b: a + b, "a + b"),
        (lambda a, b: a * b, "a * b"),
        (lambda a, b: a - b, "a - b"),
        (lambda a, b: min(a, b), "the smaller of a and b"),
        (lambda a, b: (a * b * b + 1) * a, "what is right times a"),
        (lambda a, b: a * b * b + 1 - b, "what is right plus minus b"),
        (lambda a, b: (a * b * b + 1) * (1 - 5e-5), "nearly what is right: something is rounded or cut on the way"),
        (lambda a, b: (a * b * b + 1) * 1.01, "1.01 times what is right"),
        (lambda a, b: a * b * b + 0.75, "0.25 too small"),
        (lambda a, b: a * b * b + 1.25, "0.25 too large"),
    ],
)
def test_how_a_number_follows_from_others(wrong, words):
    assert of_two(wrong).startswith(f"What it returns is {words}.")


def test_an_infinite_number_leaves_the_rule_of_the_finite_ones():
    calls = [Call((a, b), a * b * b + 1) for a, b in PAIRS]
    given = [2 * call.expected for call in calls]
    given[0] = math.inf
    assert difference(("a", "b"), calls, given).startswith(
        "What it returns is 2 times what is right where it is finite."
    )


@pytest.mark.parametrize(("infinite", "told"), [(3, True), (2, False)])
def test_extreme_calls_that_are_right_are_told_from_three_on(infinite: int, told: bool):
    numbers = [-math.inf, math.inf, -math.inf][:infinite] + [float(a) for a in range(1, 9)]
    calls = [Call((a,), f"{abs(a):g}") for a in numbers]
    given = [f"no {a:g}" if a in (2, 3, 5, 7) else call.expected for a, call in zip(numbers, calls, strict=True)]
    said = difference(("a",), calls, given)
    assert ("In the calls that were tried it is right wherever a is infinite." in said) == told


def test_one_result_for_all_where_two_are_right():
    calls = [Call((n,), n % 2) for n in range(6)]
    assert difference(("n",), calls, [5] * 6).startswith("It returns 5 in each call, whatever it is given.")
    alike = [Call((n,), 3) for n in range(6)]
    assert "in each call" not in difference(("n",), alike, [5] * 6)


@pytest.mark.parametrize("digits", range(1, 8))
def test_to_how_many_digits_a_number_is_rounded(digits: int):
    words = of_two(lambda a, b: round(a / b + math.sqrt(b), digits), lambda a, b: a / b + math.sqrt(b))
    if digits < 7:
        assert (
            words
            == f"What it returns is the right number, rounded to {digits} digit{'s' * (digits > 1)} after the point."
        )
    else:
        assert words == "What it returns is nearly what is right: something is rounded or cut on the way."


@pytest.mark.parametrize("sign", [1, -1])
def test_what_is_nearly_right(sign: int):
    """Up to one part in 10 000; beyond, it is a factor."""
    near, far = (of_two(lambda a, b, off=off: (a * b * b + 1) * (1 + sign * off)) for off in (0.95e-4, 2e-4))
    assert near == "What it returns is nearly what is right: something is rounded or cut on the way."
    assert far == f"What it returns is {1 + sign * 2e-4:.6g} times what is right."


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        (1.0, 1.00009, True), (1.0, 1.0003, False), (0.0, 0.0, True), (1, 1.0, True), (math.nan, math.nan, True),
        (math.inf, math.inf, True), (math.inf, -math.inf, False), (2.0, math.nan, False),
        ([1.0, 2.0], [1.0, 2.0], True), ([1.0, 2.0], [1.0, 2.0, 3.0], False), ([1.0], 1.0, False),
        ([0.0, 10.0], [0.0009, 10.0], True), ([0.0, 10.0], [0.004, 10.0], False),
        ([0.0, math.inf], [0.001, math.inf], False), ("a", "a", True), ("a", "b", False), ("1", 1, False),
    ],
)  # fmt: skip
def test_results_of_one_rule(one, other, same: bool):
    assert alike(one, other) == same


@pytest.mark.parametrize("kinds", [1, 2, 6, 7])
def test_words_that_are_right_nowhere(kinds: int):
    """Up to six of them are named."""
    calls = [Call((n,), "even" if n % 2 == 0 else "odd") for n in range(14)]
    words = difference(("n",), calls, [f"w{n % kinds}" for n in range(14)])
    if kinds == 1:
        assert words == "It returns 'w0' in each call, whatever it is given."
    elif kinds < 7:
        assert words == f"It returns {' and '.join(repr(f'w{n}') for n in range(kinds))}, which is right nowhere."
    else:
        assert "right nowhere" not in words


@pytest.mark.parametrize(("off", "words"), [(0.5, "0.5 too large"), (-0.5, "0.5 too small"), (-3, "3 too small")])
def test_a_number_that_is_added(off: float, words: str):
    assert of_two(lambda a, b: a * b * b + 1 + off) == f"What it returns is {words}."


@pytest.mark.parametrize("first", [PAIRS[0], PAIRS[-1]])
def test_an_amount_is_that_of_the_first_wrong_call(first) -> None:
    """The others may be off by a little more."""

    def right(a, b):
        return a * b * b + 1

    calls = [Call(pair, right(*pair)) for pair in (first, *(pair for pair in PAIRS if pair != first))]
    for words, exact, other in (
        ("5 too large", lambda n: n + 5, lambda n: n + 5.0003),
        ("5 too small", lambda n: n - 5, lambda n: n - 5.0003),
        ("3 times what is right", lambda n: 3 * n, lambda n: 3.0002 * n),
    ):
        returned = [exact(calls[0].expected), *(other(call.expected) for call in calls[1:])]
        assert difference(("a", "b"), calls, returned).startswith(f"What it returns is {words}.")
    rows = [Call((n,), np.arange(5.0) + n) for n in range(3)]
    off = [call.expected + 2 + n + 1e-5 * np.arange(5) for n, call in enumerate(rows)]
    said = difference(("n",), rows, off)
    assert "what is right plus" in said or "(2 too large in the first wrong one)" in said


@pytest.mark.parametrize("many", [5, 40])
def test_the_one_argument_that_changes_nothing_is_named(many: int) -> None:
    """Also the last of many."""
    names = tuple(f"n{k}" for k in range(many))
    calls = [Call((*range(many - 1), last), last) for last in (1, 2)]
    said = difference(names, calls, [7.5, 7.5])
    assert said == "It returns 7.5 in each call, whatever it is given."
    more = [*calls, Call((5, *range(1, many - 1), 1), 9)]
    assert difference(names, more, [7.5, 7.5, 8.5]).startswith(f"n{many - 1} changes nothing in what it returns.")


@pytest.mark.parametrize(("off", "told"), [(0.9e-4, True), (1.1e-4, False)])
def test_a_step_is_known_up_to_a_ten_thousandth(off, told):
    """Whatever the size of the numbers is."""
    for scale in (1e-30, 1.0, 1e30):
        calls = [Call(pair, scale * (a * b * b + 1)) for pair in PAIRS for a, b in [pair]]
        returned = [-call.expected * (1 + off * (-1) ** k) for k, call in enumerate(calls)]
        assert ("with the wrong sign" in difference(("a", "b"), calls, returned)) == told


@pytest.mark.parametrize(("exponent", "told"), [(-86.0, True), (-84.0, False)])
def test_what_a_float32_rounds_to_0_is_0(exponent, told):
    """e to the power of -86 is 4.5e-38, and e to the power of -84 is 3.3e-37."""
    calls = [Call((k,), right) for k, right in enumerate((1.0, 2.5, exponent, -3.0))]
    returned = [0.0 if call.expected == exponent else math.exp(call.expected) for call in calls]
    assert ("the logarithm is missing" in difference(("k",), calls, returned)) == told
