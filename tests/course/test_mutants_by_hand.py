"""All changes of one function, by hand: in their order, each with its words and the line that it makes."""

from __future__ import annotations

import ast

import pytest

from softlab.course import mutants

MODEL = '''
def model(times: Sequence[float], ours: Sequence[float], skip: int, most: int) -> str:
    """Words."""
    limit = 2000
    kept = [one for one in times[skip:] if one > skip]
    worst = max(ours[0], abs(kept[-1]))
    whole = sum(kept) / len(ours)
    if whole == worst:
        return "even"
    if whole <= limit:
        return "low" if most else "none"
    for one in times:
        kept.append(one - skip)
    return "high"
'''
#: Words, and behind them the line that is new; none where lines are gone or have changed places.
CHANGES = """
if the question for whole and limit comes before that whether whole is worst:
without the condition on one and skip in kept:
    kept = [one for one in times[skip:]]
with all of times in kept:
    kept = [one for one in times if one > skip]
with the beginning of times, and not what comes after it in kept:
    kept = [one for one in times[:skip] if one > skip]
if the end of times is left out, and not the beginning in kept:
    kept = [one for one in times[:len(times) - skip] if one > skip]
if one that is just skip counts, too in kept:
    kept = [one for one in times[skip:] if one >= skip]
if one has to be less than skip in kept:
    kept = [one for one in times[skip:] if one < skip]
with ours for times in kept:
    kept = [one for one in ours[skip:] if one > skip]
if times is sorted first in kept:
    kept = [one for one in sorted(times)[skip:] if one > skip]
with most for skip in kept:
    kept = [one for one in times[skip:] if one > most]
with most for skip in kept:
    kept = [one for one in times[most:] if one > skip]
with the smallest in place of the largest in worst:
    worst = _min(ours[0], abs(kept[-1]))
with the mean in place of the largest in worst:
    worst = _mean(ours[0], abs(kept[-1]))
with the sum in place of the largest in worst:
    worst = _sum(ours[0], abs(kept[-1]))
with the largest in size, whatever its sign in worst:
    worst = _size(ours[0], abs(kept[-1]))
with ours[0] in place of the largest in worst:
    worst = ours[0]
with the absolute value of the part with kept in place of the largest in worst:
    worst = abs(kept[-1])
without the absolute value of the part with kept in worst:
    worst = max(ours[0], kept[-1])
with times for ours in worst:
    worst = max(times[0], abs(kept[-1]))
if ours is sorted first in worst:
    worst = max(sorted(ours)[0], abs(kept[-1]))
if the sum of kept and the number of them of ours are multiplied, not divided in whole:
    whole = sum(kept) * len(ours)
if the sum of kept and the number of them of ours are divided by `//`, without the fraction in whole:
    whole = sum(kept) // len(ours)
with the fraction upside down in whole:
    whole = len(ours) / sum(kept)
without the number of them of ours in whole:
    whole = sum(kept)
without the sum of kept in whole:
    whole = len(ours)
with the mean in place of the sum in whole:
    whole = _average(kept) / len(ours)
with the largest, not the sum in whole:
    whole = _top(kept) / len(ours)
without the sum of kept in whole:
    whole = kept / len(ours)
without the number of them of ours in whole:
    whole = sum(kept) / ours
with times for ours in whole:
    whole = sum(kept) / len(times)
if ours is sorted first in whole:
    whole = sum(kept) / len(sorted(ours))
without asking whether whole is worst:
if whole may also be more than worst:
    if whole >= worst:
if whole may also be less than worst:
    if whole <= worst:
if whole is not worst:
    if whole != worst:
if half of worst is enough for whole:
    if whole >= worst / 2:
without asking for whole and limit:
if whole that is just limit does not count:
    if whole < limit:
if whole has to be more than limit:
    if whole > limit:
with ours for times:
    for one in ours:
if times is sorted first:
    for one in sorted(times):
with the cases of most exchanged:
    return 'low' if not most else 'none'
with 'none' whatever most is:
    return 'none'
with 'low' whatever most is:
    return 'low'
with skip for most:
    return 'low' if skip else 'none'
if one and skip are added, not subtracted:
    kept.append(one + skip)
if one and skip are divided, not subtracted:
    kept.append(one / skip)
with skip less one:
    kept.append(skip - one)
without skip:
    kept.append(one)
without one:
    kept.append(skip)
with most for skip:
    kept.append(one - most)
with skip one more in kept:
    kept = [one for one in times[skip:] if one > skip + 1]
with skip one less in kept:
    kept = [one for one in times[skip:] if one > skip + -1]
with skip one more in kept:
    kept = [one for one in times[skip + 1:] if one > skip]
with skip one less in kept:
    kept = [one for one in times[skip + -1:] if one > skip]
if one less than worst is enough for whole:
    if whole >= worst - 1:
with most one more:
    return 'low' if most + 1 else 'none'
with most one less:
    return 'low' if most + -1 else 'none'
with skip one more:
    kept.append(one - (skip + 1))
with skip one less:
    kept.append(one - (skip + -1))
with a larger number for limit:
    limit = 4000
with a smaller number for limit:
    limit = 1000
with 2001 for limit:
    limit = 2001
with 1999 for limit:
    limit = 1999
with a larger number for limit:
    limit = 20000
with a smaller number for limit:
    limit = 200
with a larger number for limit:
    limit = 2000000
with a larger number for limit:
    limit = 2000000000
with a larger number for limit:
    limit = 200000
with a larger number for limit:
    limit = 2048
with a smaller number for limit:
    limit = 1953.125
with 'even' in place of 'high':
    return 'even'
with 'high' in place of 'even':
    return 'high'
"""


def test_each_change_of_a_function_in_its_order() -> None:
    """What fits by chance comes last: one more or less, and then other numbers and texts."""
    (tree,) = ast.parse(MODEL).body
    assert isinstance(tree, ast.FunctionDef)
    tree.body = tree.body[1:]
    before, found = ast.unparse(tree).splitlines(), []
    for words, changed in mutants._changed(tree):
        after = ast.unparse(ast.fix_missing_locations(changed)).splitlines()
        new = " ".join(line.strip() for line in after if line not in before)
        found += [f"{words}:", *([f"    {new}"] if new else [])]
    assert found == CHANGES.strip().splitlines()


@pytest.mark.parametrize(("source", "gone"), [("if whole == worst:", 2), ("if whole <= limit:", 2)])
def test_a_question_that_is_left_out_is_gone_with_its_answer(source: str, gone: int) -> None:
    (tree,) = ast.parse(MODEL).body
    before = ast.unparse(tree).splitlines()
    left = [
        ast.unparse(ast.fix_missing_locations(changed)).splitlines()
        for words, changed in mutants._changed(tree)
        if words.startswith("without asking")
    ]  # type: ignore[arg-type]
    (without,) = (lines for lines in left if f"    {source}" not in lines)
    assert len(before) - len(without) == gone
    assert [line for line in before if line in without] == without


def test_questions_change_places() -> None:
    (tree,) = ast.parse(MODEL).body
    words, changed = next(mutants._changed(tree))  # type: ignore[arg-type]
    assert words == "if the question for whole and limit comes before that whether whole is worst"
    lines = ast.unparse(ast.fix_missing_locations(changed)).splitlines()
    assert lines.index("    if whole <= limit:") < lines.index("    if whole == worst:")
    assert sorted(lines) == sorted(ast.unparse(tree).splitlines())
