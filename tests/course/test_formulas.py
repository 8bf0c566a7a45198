"""Slips on the way from the numbers of an exercise to its right answer."""

from __future__ import annotations

import math

import pytest

from softlab.course.catalogue import lessons
from softlab.course.exercises import MultipleChoice, Number
from softlab.course.formulas import Formula, Quantity

SHARE = Formula(
    "ceil(cols * size / sector)",
    {
        "cols": Quantity("the columns", 1001),
        "size": Quantity("the bytes of an element", 2, ((4, "those of a float32"),)),
        "sector": Quantity("the bytes of a sector", 32),
    },
)


def said(formula: Formula, given: float, **options: bool) -> str:
    return formula.slips(given, lambda one, other: math.isclose(one, other, rel_tol=1e-9), **options)


def test_the_value_of_a_formula():
    assert SHARE.value == 63


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (126, "with 4 for the bytes of an element, those of a float32, or if all of it counts twice"),
        (32, "without the bytes of an element, or from the bytes of a sector alone"),
        (2002, "without the bytes of a sector, or from the columns and the bytes of an element alone"),
        (62.5625, "if the result is not rounded"),
        (62, "if the result is rounded down"),
        (1001, "from the columns alone"),
        (2, "from the bytes of an element alone"),
        (31.28125, "without the bytes of an element and if the result is not rounded"),
    ],
)
def test_one_change_of_a_formula(given, words):
    assert said(SHARE, given) == f"This is what you get {words}."


def test_a_step_within_another_function_than_a_rounding_is_a_part():
    """Before its rounding, a result is no part of itself. What a logarithm is taken of is one."""
    levels = Formula("log2(rows * size)", {"rows": Quantity("the rows", 16), "size": Quantity("the bytes", 4)})
    assert levels.value == 6
    assert "from the rows and the bytes alone" in said(levels, 64)
    inner = Formula("least * ceil(rows / size)", {"rows": Quantity("the rows", 11), "size": Quantity("the bytes", 3),
                                                  "least": Quantity("the least", 100)})  # fmt: skip
    assert "from the rows and the bytes alone" in said(inner, 4)
    assert "from the rows and the bytes alone" in said(inner, 11 / 3)


def test_two_changes_are_told_where_no_other_two_fit():
    moved = Formula("rows * size * moves", {"rows": Quantity("the rows", 11),
                                            "size": Quantity("the bytes", 2, ((7, "seven"),)),
                                            "moves": Quantity("the moves", 3, ((5, "five"),))})  # fmt: skip
    assert said(moved, 385, likely=True) == (
        "This is what you get with 5 for the moves, five and with 7 for the bytes, seven."
    )
    assert "taken twice" in said(moved, 726)
    assert "taken twice" not in said(moved, 726, likely=True)


def test_two_changes_of_a_sum_tell_nothing():
    """Any number is a sum of some of the others."""
    numbers = {
        name: Quantity(f"{name} of it", value, ((value + 7, "seven more"),))
        for name, value in zip("abc", (3, 64, 5), strict=True)
    }
    two = "This is what you get with {} for {}, seven more and with {} for {}, seven more."
    added, times = Formula("a + b + c", numbers), Formula("a * b + c", numbers)
    assert "seven more" in said(added, 86)
    assert said(added, 86, likely=True) == ""
    assert two.format(10, "a of it", 71, "b of it") == said(times, 10 * 71 + 5, likely=True)


def test_an_operand_that_is_left_out():
    """Without what is divided, 1 over the rest stays; without what something is taken from, the rest does."""
    over = Formula("a / b", {"a": Quantity("the one", 6), "b": Quantity("the other", 16)})
    assert "without the one" in said(over, 0.0625)
    assert "without the one" not in said(over, 0.125)
    assert "without the other" in said(over, 6)
    less = Formula("a - b", {"a": Quantity("the one", 40), "b": Quantity("the other", 16)})
    assert "with the other and not what is left without it" in said(less, 16)
    assert "without the other" in said(less, 40)


def test_a_number_that_no_change_gives():
    assert said(SHARE, 777) == ""
    assert said(SHARE, math.inf) == ""


def test_next_to_the_right_number_only_the_nearest_changes_count():
    count = Formula("a * b", {"a": Quantity("the one", 5), "b": Quantity("the other", 4)})
    assert "twice" in said(count, 100)
    assert said(count, 100, one_off=True) == ""


def test_operations_in_place_of_others():
    line = Formula(
        "a * b + c", {name: Quantity(f"{name} of it", value) for name, value in zip("abc", (3, 64, 5), strict=True)}
    )
    assert "without b of it" in said(line, 8)
    assert "a of it and b of it are added, not multiplied" in said(line, 72)
    assert "if all of them are added, not multiplied" in said(Formula("a * b", line.quantities), 67)
    assert "with a of it and c of it exchanged" in said(line, 323)


def exercises(kind):
    return [one for lesson in lessons() for one in lesson.exercises if isinstance(one, kind)]


@pytest.mark.parametrize("exercise", [one for one in exercises(Number) if one.formula], ids=lambda one: one.id)
def test_the_formula_of_an_exercise_gives_its_answer(exercise):
    assert exercise.judge(exercise.formula.value).right


def test_each_wrong_choice_has_an_explanation_of_its_own():
    for exercise in exercises(MultipleChoice):
        replies = [reply for one in exercise.answers if not (reply := exercise.judge(one)).right]
        assert len({reply.message for reply in replies}) == len(exercise.answers) - 1
        assert not any(exercise.hint in reply.message for reply in replies), exercise.id


def test_a_quantity_that_counts_once_more_or_once_less():
    """The right number is 44: 11 more or less for the rows, 4 for the bytes. A quantity of 1 would say nothing."""
    area = Formula(
        "rows * size * one",
        {"rows": Quantity("the rows", 11), "size": Quantity("the bytes", 4), "one": Quantity("the one", 1)},
    )
    for given, words in ((55, "the rows once more"), (33, "the rows once less"), (48, "the bytes once more"),
                         (40, "the bytes once less")):  # fmt: skip
        assert said(area, given) == f"This is what you get with {words}."
    assert said(area, 45) == said(area, 43) == ""


SUM = Formula("rows * size + 3 * more", {"rows": Quantity("the rows", 11), "size": Quantity("the bytes", 7),
                                         "more": Quantity("the rest", 5)})  # fmt: skip
TWICE = Formula("2 * rows * (size + 3)", {"rows": Quantity("the rows", 11), "size": Quantity("the bytes", 7)})


@pytest.mark.parametrize(
    ("formula", "given", "words"),
    [
        (SUM, 77, "without the rest, or from the rows and the bytes alone"),
        (SUM, 154, "from the rows and the bytes alone, counted twice"),
        (SUM, 15, "without the rows and the bytes, or from the rest alone"),
        (SUM, 30, "from the rest alone, counted twice"), (SUM, 22, "without the rows"),
        (SUM, 14, "without the bytes and the rest"), (SUM, 81, "with the rows once less"),
        (SUM, 103, "with the rows once more"), (SUM, 276, "if all of it counts three times"),
        (SUM, 85, "if 3 and the rest are added, not multiplied"), (SUM, 82, ""), (SUM, 62, ""),
        (TWICE, 20, "without the rows"), (TWICE, 10, "without the rows, or from the bytes alone"),
        (TWICE, 14, "from the bytes alone, counted twice"), (TWICE, 22, "without the bytes, or from the rows alone"),
        (TWICE, 44, "from the rows alone, counted twice"), (TWICE, 110, "if all of it counts half"),
        (TWICE, 440, "if all of it counts twice"), (TWICE, 660, "if all of it counts three times"),
        (TWICE, 880, "if all of it counts four times"), (TWICE, 231, "with the rows once more"),
        (TWICE, 154, ""), (TWICE, 40, ""),
    ],
)  # fmt: skip
def test_each_way_to_a_number_by_hand(formula, given, words):
    assert said(formula, given) == (f"This is what you get {words}." if words else "")
