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


MIXED = Formula(
    "ceil(rows * cols / warp) * (size + 3) - gcd(rows, 6) // 2",
    {"rows": Quantity("the rows", 10), "cols": Quantity("the columns", 7), "size": Quantity("the bytes", 4),
     "warp": Quantity("the lanes", 32, ((16, "those of half a warp"),))},
)  # fmt: skip
#: Kind of change -> each with what it makes of 3 * 7 - 1.
MADE = {
    "_parts": """
        from the rows alone: 10
        from the columns alone: 7
        from the bytes alone: 4
        from the lanes alone: 32
        from the bytes, the lanes, the rows and the columns alone: 21
        from the rows alone: 1
        from the lanes, the rows and the columns alone: 3
        from the bytes alone: 7
        from the rows alone: 2
        from the lanes, the rows and the columns alone: 2.1875
        from the rows and the columns alone: 70
        if all of it counts twice: 40
        if all of it counts half: 10
    """,
    "_nearest": """
        with the rows and not what is left without it: 1
        without the rows: 21
        without the lanes, the rows and the columns: 6
        without the bytes: 2
        without the rows: 19
        without the bytes: 8
        without the rows and the columns: 6
        without the lanes: 489
        without the rows: 6
        without the columns: 6
        if the result is not rounded: 20
        if the result is rounded up: 20
        if the result is not rounded: 14.3125
        if the result is rounded down: 13
        with 16 for the lanes, those of half a warp: 34
    """,
    "_others": """
        if the rows and 2 are multiplied, not divided: 17
        if the bytes and 3 are multiplied, not added: 35
        if the bytes and 3 are subtracted, not added: 2
        if the rows and the columns are added, not multiplied: 6
        if the rows and the columns are divided, not multiplied: 6
        if the rows and the columns are a power: 2.1875e+06
        with the fraction upside down: 0.05
        with the rows taken twice: 153
        with the rows and the bytes exchanged: 12
        with the rows and the lanes exchanged: 160
        with the columns taken twice: 111
        with the columns and the rows exchanged: 21
        with the columns and the bytes exchanged: 19
        with the columns and the lanes exchanged: 321
        with the bytes taken twice: 56
        with the bytes and the lanes exchanged: 629
        with the lanes taken twice: 6
        if all of them are added, not multiplied: 17
    """,
    "_more": """
        if all of it counts three times: 60
        if all of it counts four times: 80
        with the rows once less: 10
        with the rows once more: 30
        with the columns once less: 13
        with the columns once more: 27
        with the bytes once less: 16
        with the bytes once more: 24
        with the lanes once less: -12
        with the lanes once more: 52
        from the rows alone, counted twice: 20
        from the columns alone, counted twice: 14
        from the bytes alone, counted twice: 8
        from the lanes alone, counted twice: 64
        from the bytes, the lanes, the rows and the columns alone, counted twice: 42
        from the rows alone, counted twice: 2
        from the lanes, the rows and the columns alone, counted twice: 6
        from the bytes alone, counted twice: 14
        from the rows alone, counted twice: 4
        from the lanes, the rows and the columns alone, counted twice: 4.375
        from the rows and the columns alone, counted twice: 140
    """,
}


@pytest.mark.parametrize("kind", MADE)
def test_each_change_of_a_formula_by_hand(kind):
    assert MIXED.value == 20
    wanted = [line.strip() for line in MADE[kind].strip().splitlines()]
    assert [f"{words}: {number:.6g}" for words, number in getattr(MIXED, kind)()] == wanted


def test_two_changes_at_a_time():
    """Each pair in both orders but for a change of what the other one has left out; the words in one order."""
    found = list(MIXED._pairs())
    assert len(found) == 154
    assert ("without the bytes and the lanes", 69.0) in found
    assert ("without the rows and with 16 for the lanes, those of half a warp", 35.0) in found
    assert ("without the bytes and if the result is not rounded", 5.5625) in found
    assert not any("not what is left" in words for words, _ in found)
    assert len(dict(found)) < len(found)


@pytest.mark.parametrize(
    ("text", "value"),
    [("2 ** 3 + 1", 9), ("7 // 2 - 7 / 2", -0.5), ("log2(8) * log(1)", 0), ("ceil(3.0000000001)", 3), ("6 // 3", 2),
     ("gcd(12, 18) - ceil(2.1)", 3)],
)  # fmt: skip
def test_the_value_of_each_operation(text, value):
    assert Formula(text, {}).value == value


@pytest.mark.parametrize("text", ["-rows", "rows if rows else 1", "[1]"])
def test_a_formula_has_no_other_operation(text):
    with pytest.raises(ValueError, match="a formula has no "):
        print(Formula(text, {"rows": Quantity("the rows", 10)}).value)
