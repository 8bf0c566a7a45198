"""How a wrong Python function differs from the right one: what its results have in common, and for which arguments.

A hint names one difference that holds in every call: a result that is always the same, a result that follows from the
right one by one step, a condition on the arguments that tells the wrong calls from the right ones.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import combinations, permutations
from typing import Any, Protocol

import numpy as np

from softlab.course.exercises import first_difference
from softlab.course.values import is_number, plain, shown

#: Results that follow one rule, before the rule is told; calls of which a condition has to hold.
_FEW = 2
#: The relative error by which a rule is told from chance.
_CLOSE = 1e-4
#: A factor so near to 1 comes from rounding.
_NEARLY = 1e-4
#: Roundings of a float32, of half a step each, in differences of large numbers, beside one per number of a sum.
_ROUNDINGS = 4
_LOST = "off by what a float32 loses where numbers as large as those of"
#: Digits after the point that a result may be rounded to.
_DIGITS = (1, 2, 3, 4, 5, 6)
#: What a float32 may round to 0.
_TINY = 1e-37
#: Different values of an argument or of a result that a condition names one by one.
_KINDS = 6
#: Conditions that are tried together.
_MOST = 120
#: Right calls of which it is worth saying what they have in common.
_SAFE = 3
#: A condition that names the right result alone.
_SAID = re.compile(r"' is right(, and right elsewhere)?\.$")
#: A condition by a number with a fraction.
_ANY_NUMBER = re.compile(r"\d\.\d.* or (more|less)")
#: The share of right calls that a condition of the wrong ones may hold for.
_SELDOM = 0.5
#: Words for a condition, and the calls that it holds for.
_Condition = tuple[str, np.ndarray]


def difference(parameters: Sequence[str], calls: Sequence[Call], returned: Sequence[Any], relative: float = 0) -> str:
    """What tells the wrong results from the right ones, in one or two sentences; "" for nothing that is known.

    Arguments:
        parameters: the names of the arguments.
        calls: what the function was called with, and what is right; returned: what it returned.
        relative: the tolerance of a number.
    """
    seen = _Seen(tuple(parameters), tuple(calls), tuple(map(plain, returned)), relative)
    if int(seen.wrong.sum()) < _FEW:
        return _of_calls(seen)
    rule, where = _of_values(seen) or _of_arguments(seen) or _of_few(seen), _of_calls(seen)
    if rule and " and " not in where.partition(", and right elsewhere")[0] and _SAID.search(where):
        where = ""  # the rule has said so
    if _LOST in rule:
        where = ""  # whether a lost digit counts is chance
    return " ".join(filter(None, (rule, where))) or _of_sides(seen)


def rule_of_values(
    parameters: Sequence[str], calls: Sequence[Call], returned: Sequence[Any], relative: float = 0
) -> str:
    """The rule that all wrong results follow, if there is one."""
    seen = _Seen(tuple(parameters), tuple(calls), tuple(map(plain, returned)), relative)
    return _of_values(seen) if int(seen.wrong.sum()) >= _FEW else ""


def alike(one: Any, other: Any) -> bool:
    """Whether two results are so near that one rule gave both: numbers within 1e-4, and anything else the same."""
    first, second = _array(plain(one)), _array(plain(other))
    if first is None or second is None:
        return type(plain(one)) is type(plain(other)) and not first_difference("", one, other)
    if first.shape != second.shape:
        return False
    finite = abs(second[np.isfinite(second)]) if second.ndim else np.zeros(1)
    most = float(finite.max()) if finite.size else 0.0
    return bool(np.allclose(first, second, rtol=_CLOSE, atol=_CLOSE * most, equal_nan=True))


class Call(Protocol):
    """One call: its arguments and what it must return."""

    @property
    def args(self) -> tuple[Any, ...]:
        """Its arguments."""

    @property
    def expected(self) -> Any:
        """What is right."""


@dataclass(frozen=True)
class _Seen:
    """The calls of a function, and its results."""

    parameters: tuple[str, ...]
    calls: tuple[Call, ...]
    returned: tuple[Any, ...]
    relative: float

    @cached_property
    def wrong(self) -> np.ndarray:
        """Which calls are wrong."""
        pairs = zip(self.returned, self.calls, strict=True)
        return np.array([bool(first_difference("", got, call.expected, self.relative)) for got, call in pairs])

    @property
    def pairs(self) -> list[tuple[Any, Any, Call]]:
        """(returned, right, call) of the wrong calls."""
        both = zip(self.returned, self.calls, self.wrong, strict=True)
        return [(got, plain(call.expected), call) for got, call, wrong in both if wrong]


def _of_values(seen: _Seen) -> str:
    """A rule that gives the wrong results."""
    pairs, rights = seen.pairs, {repr(plain(call.expected)) for call in seen.calls}
    results = dict.fromkeys(repr(got) for got in seen.returned)
    if len(results) == 1 and len(rights) > 1:
        return f"It returns {shown(seen.returned[0])} in each call, whatever it is given."
    if isinstance(pairs[0][1], str):
        others = [got for got in results if got not in rights]
        if others and len(others) <= _KINDS:
            return f"It returns {' and '.join(others)}, which is right nowhere."
        changes = {(right, repr(got)) for got, right, _ in pairs}
        right, got = next(iter(changes))
        always = sum(plain(call.expected) == right for call in seen.calls) == len(pairs)
        often = "" if always else " in some calls"
        return f"Where {right!r} is right, it returns {got}{often}." if len(changes) == 1 else ""
    for which, name in _parts(pairs[0][1]):
        if not all(_has(which, got) and _has(which, right) for got, right, _ in pairs):
            continue
        values = [(which(got), which(right), call) for got, right, call in pairs]
        values = [one for one in values if first_difference("", one[0], one[1], seen.relative)]
        if len(values) >= _FEW and (said := _of_numbers(seen, values)):
            return f"{name} is {said}."
    return ""


def _of_few(seen: _Seen) -> str:
    """Two results, where more are right."""
    results = sorted({repr(got) for got in seen.returned})
    more = len({repr(call.expected) for call in seen.calls}) > len(results)
    return f"It returns nothing but {' and '.join(results)}." if len(results) == 2 and more else ""


def _of_sides(seen: _Seen) -> str:
    """Whether all wrong numbers are too large, or too small."""
    pairs = [(got, right) for got, right, _ in seen.pairs if is_number(got) and is_number(right)]
    if len(pairs) < len(seen.pairs):
        return ""
    if all(got > right for got, right in pairs):
        return "Wherever it is wrong, it is too large."
    return "Wherever it is wrong, it is too small." if all(got < right for got, right in pairs) else ""


def _of_arguments(seen: _Seen) -> str:
    """An argument that changes what is right, and not what is returned."""
    for place, name in enumerate(seen.parameters):
        others = [repr([arg for k, arg in enumerate(call.args) if k != place]) for call in seen.calls]
        twins = [(a, b) for a, b in combinations(range(len(others)), 2) if others[a] == others[b]]
        twins = [(a, b) for a, b in twins if repr(seen.calls[a].expected) != repr(seen.calls[b].expected)]
        if twins and all(repr(seen.returned[a]) == repr(seen.returned[b]) for a, b in twins):
            return f"{name} changes nothing in what it returns."
    return ""


def _parts(right: Any) -> Iterator[tuple[Callable[[Any], Any], str]]:
    """The parts of a result that a rule may hold for: the whole, or each number of a pair."""
    if isinstance(right, tuple):
        for index in range(len(right)):
            yield partial(_part, index), f"[{index}] of what it returns"
    else:
        yield plain, "What it returns"


def _part(index: int, value: Any) -> Any:
    return plain(value[index])


def _has(which: Callable[[Any], Any], value: Any) -> bool:
    try:
        which(value)
    except (TypeError, IndexError, KeyError):
        return False
    return True


def _of_numbers(seen: _Seen, values: Sequence[tuple[Any, Any, Call]]) -> str:
    """The rule by which wrong numbers follow from the right ones or from the arguments."""
    arrays = [(_array(got), _array(right)) for got, right, _ in values]
    if any(got is None or right is None or got.shape != right.shape for got, right in arrays):
        return ""
    made = [(got, right, call) for (got, right), (_, _, call) in zip(arrays, values, strict=True)
            if got is not None and right is not None]  # fmt: skip
    scalar = all(right.size == 1 for _, right, _ in made)
    if scalar and (said := _of_given(seen, made)):
        return said
    finite = [one for one in made if np.isfinite(one[0]).all() and np.isfinite(one[1]).all()]
    if len({right.tobytes() for _, right, _ in finite}) < _FEW:
        return ""
    where = "" if len(finite) == len(made) else " where it is finite"
    if names := _lost(seen, finite):
        return f"{_LOST} {names} are added or subtracted: few digits are left for a small result"
    if words := _step(finite):
        return f"{words}{where}"
    if digits := next((k for k in _DIGITS if all(np.array_equal(a, np.round(b, k)) for a, b, _ in finite)), 0):
        return f"the right number, rounded to {digits} digit{'s' * (digits > 1)} after the point{where}"
    with np.errstate(all="ignore"):
        factors = [(got / right).reshape(-1) for got, right, _ in finite]
        offsets = [(got - right).reshape(-1) for got, right, _ in finite]
    factor, offset = np.concatenate(factors), np.concatenate(offsets)
    if max(abs(factor - 1)) < _NEARLY:
        return f"nearly what is right{where}: something is rounded or cut on the way"
    if _constant(factor):
        return f"{factor[0]:.6g} times what is right{where}"
    if _constant(offset):
        return f"{abs(offset[0]):.6g} too {'large' if offset[0] > 0 else 'small'}{where}"
    given = [call for _, _, call in finite]
    for words, each in (("times", factors), ("plus", offsets)):
        if all(_constant(one) for one in each) and (name := _feature(seen, given, [one[0] for one in each])):
            return f"what is right {words} {name}{where}"
    return "" if scalar else _of_row_offsets(offsets)


def _step(made: Sequence[tuple[np.ndarray, np.ndarray, Call]]) -> str:
    """The one step from the right numbers to the wrong ones; "" for none. A step that changes none of them is none."""
    for words, step in _STEPS.items():
        with np.errstate(all="ignore"):
            pairs = [(step(right), right) for _, right, _ in made]
        given = all(_alike(got, changed) for (got, _, _), (changed, _) in zip(made, pairs, strict=True))
        if given and not all(_alike(*pair) for pair in pairs):
            return words
    return ""


def _lost(seen: _Seen, made: Sequence[tuple[np.ndarray, np.ndarray, Call]]) -> str:
    """The argument of float32 whose largest number rounds by as much as each result is off; "" for none."""
    for place, name in enumerate(seen.parameters):
        given = [call.args[place] for _, _, call in made]
        if not all(isinstance(one, np.ndarray) and one.dtype == np.float32 and np.isfinite(one).all() for one in given):
            continue
        # A sum rounds once per number, and so may a maximum that is found by sums.
        rounds = [(_ROUNDINGS + one.size) * np.finfo(np.float32).eps / 2 for one in given]
        steps = [step * float(abs(one).max(initial=0)) for step, one in zip(rounds, given, strict=True)]
        if all(abs(got - right).max() <= step for (got, right, _), step in zip(made, steps, strict=True)):
            return name
    return ""


def _of_row_offsets(offsets: Sequence[np.ndarray]) -> str:
    """Rows that are each off by one number."""
    if not all(_constant(one) for one in offsets):
        return ""
    amount = f"{abs(offsets[0][0]):.6g} too {'large' if offsets[0][0] > 0 else 'small'}"
    return f"off by the same for all numbers of a row ({amount} in the first wrong one): one number per row is wrong"


def _of_given(seen: _Seen, made: Sequence[tuple[np.ndarray, np.ndarray, Call]]) -> str:
    """Which argument, or which two of them, a wrong number is; "" for none."""
    numbers = {}
    for place, name in enumerate(seen.parameters):
        given = [_array(call.args[place]) for _, _, call in made]
        if all(one is not None and one.ndim == 0 for one in given):
            numbers[name] = np.array([float(one) for one in given if one is not None])
    got = np.array([one.reshape(-1)[0] for one, _, _ in made])

    def hits(wanted: np.ndarray, among: np.ndarray | None = None) -> bool:
        use = np.ones(len(got), bool) if among is None else among
        return bool(np.allclose(got[use], wanted[use], rtol=_CLOSE, atol=0, equal_nan=True))

    with np.errstate(all="ignore"):
        for name, column in numbers.items():
            if hits(column):
                return name
        for (one, a), (other, b) in combinations(numbers.items(), 2):
            two = {f"{one} + {other}": a + b, f"{one} * {other}": a * b, f"{one} - {other}": a - b,
                   f"the larger of {one} and {other}": np.maximum(a, b),
                   f"the smaller of {one} and {other}": np.minimum(a, b)}  # fmt: skip
            for words, wanted in two.items():
                if hits(wanted):
                    return words
        for (one, a), (other, b) in permutations(numbers.items(), 2):
            less = a < b
            if less.sum() < _FEW or (~less).sum() < _FEW:
                continue
            below = [name for name, column in numbers.items() if hits(column, less)]
            above = [name for name, column in numbers.items() if hits(column, ~less)]
            if below and above:
                return f"{below[0]} where {one} is less than {other}, and {above[0]} elsewhere"
    return ""


#: One step from the right number to a wrong one.
_STEPS: Mapping[str, Callable[[np.ndarray], np.ndarray]] = {
    "the right number with the wrong sign": np.negative,
    "1 over the right number: the fraction is upside down": np.reciprocal,
    "e to the power of what is right: the logarithm is missing": np.exp,
    "the logarithm of what is right": np.log,
    "the right number without its fraction": np.trunc,
    "the right number, rounded to a whole one": np.round,
    "1 less the right number": lambda right: 1 - right,
    "1 over the right number, times 10^3": lambda right: 1e3 / right,
    "1 over the right number, times 10^6": lambda right: 1e6 / right,
    "the square of the right number": np.square,
    "the root of the right number": np.sqrt,
}


def _feature(seen: _Seen, calls: Sequence[Call], amounts: Sequence[float]) -> str:
    """Which number of the arguments an amount is in each call; "" for none."""
    if len({round(float(amount), 6) for amount in amounts}) < _FEW:
        return ""
    features = [dict(_features(seen.parameters, call.args)) for call in calls]
    for name in features[0]:
        for sign, words in ((1, name), (-1, f"minus {name}")):
            wanted = [sign * one.get(name, math.nan) for one in features]
            if np.allclose(amounts, wanted, rtol=_CLOSE, atol=1e-6):
                return words
    return ""


def _features(parameters: Sequence[str], args: Sequence[Any]) -> Iterator[tuple[str, float]]:
    """Numbers that describe arguments."""
    for name, value in zip(parameters, args, strict=True):
        array = _array(value)
        if array is None or not array.size:
            continue
        if array.ndim == 0:
            yield name, float(array)
            continue
        yield f"the largest number of {name}", float(array.max())
        yield f"the smallest number of {name}", float(array.min())
        yield f"the sum of {name}", float(array.sum())
        yield f"the mean of {name}", float(array.mean())
        yield f"the length of {name}", float(array.size)
        yield f"the first number of {name}", float(array.reshape(-1)[0])
        yield f"the last number of {name}", float(array.reshape(-1)[-1])


def _of_calls(seen: _Seen) -> str:
    """A condition that holds for the wrong calls and for no other."""
    wrong = seen.wrong
    if wrong.all() or not wrong.any():
        return ""
    # A single wrong call is told from the others by chance, unless it is an extreme one.
    found = [*_extremes(seen), *(_conditions(seen) if wrong.sum() >= _FEW else ())]
    enough = int(min(wrong.sum(), (~wrong).sum())) // _FEW
    for many in range(1, min(enough + 2, 3) + 1):
        # Two numbers between others of a series fit nearly anything.
        among = [one for one in found if one[1][wrong].all() and (many == 1 or not _ANY_NUMBER.search(one[0]))]
        for chosen in combinations(among[:_MOST], many):
            if (np.logical_and.reduce([mask for _, mask in chosen]) == wrong).all():
                both = " and ".join(words for words, _ in chosen)
                return f"In the calls that were tried it is wrong wherever {both}, and right elsewhere."
    # Not all of these calls are wrong, but no others.
    # A number between others of a series of any numbers is no condition that a learner could have meant.
    telling = [one for one in found if not _ANY_NUMBER.search(one[0])]
    only = [(float(holds[~wrong].mean()), words) for words, holds in telling if holds[wrong].all()]
    if enough and only and min(only)[0] <= _SELDOM:
        return f"In the calls that were tried it is wrong only where {min(only)[1]}."
    for words, holds in _extremes(seen):
        if not wrong[holds].any() and holds.sum() >= _SAFE:
            return f"In the calls that were tried it is right wherever {words}."
    return ""


def _numbers(seen: _Seen) -> dict[str, np.ndarray]:
    """Name -> a number of each call: an argument, or what describes one."""
    numbers: dict[str, np.ndarray] = {}
    for name, column in zip(seen.parameters, zip(*(call.args for call in seen.calls), strict=True), strict=True):
        if all(is_number(plain(value)) for value in column):
            numbers[name] = np.array(column, np.float64)
            continue
        described = [dict(_described(name, value)) for value in column]
        for what in described[0]:
            if all(what in one for one in described):
                numbers[what] = np.array([one[what] for one in described], np.float64)
    return numbers


def _telling(found: Iterable[_Condition]) -> Iterator[_Condition]:
    """Those that hold for some calls and not for all."""
    yield from ((words, holds) for words, holds in found if holds.any() and not holds.all())


def _extremes(seen: _Seen) -> Iterator[_Condition]:
    """Conditions by which an argument is an extreme case."""
    for name, values in _numbers(seen).items():
        whole = np.isfinite(values)
        even = np.zeros(len(values), bool)
        even[whole] = values[whole] % 2 == 0
        special = [(f"{name} is infinite", ~whole), (f"{name} is finite", whole), (f"{name} is 0", values == 0)]
        if "the length" in name:
            special += [(f"{name} is even", even), (f"{name} is odd", ~even), (f"{name} is 1", values == 1)]
        yield from _telling(special)


def _conditions(seen: _Seen) -> Iterator[_Condition]:
    """Conditions on the arguments, then on the right result."""
    found: list[_Condition] = []
    for name, column in zip(seen.parameters, zip(*(call.args for call in seen.calls), strict=True), strict=True):
        if all(isinstance(value, str) for value in column):
            for kind in sorted(set(column))[:_KINDS]:
                found.append((f"{name} is {kind!r}", np.array([value == kind for value in column])))
    numbers = _numbers(seen)
    for (one, first), (other, second) in combinations(numbers.items(), 2):
        if one.rpartition(" ")[0] == other.rpartition(" ")[0]:  # the largest of one list and the largest of another
            found.append((f"{one} is greater than {other}", first > second))
            found.append((f"{one} is less than {other}", first < second))
            found.append((f"{one} and {other} are alike", first == second))
    for name, values in numbers.items():
        bad, good = values[seen.wrong], values[~seen.wrong]
        found.append((f"{name} is below 0", values < 0))
        # These name a number that was wrong. Nobody has looked between it and the next right one.
        found.append((f"{name} is {bad.min():g} or more", values >= bad.min()))
        found.append((f"{name} is {bad.max():g} or less", values <= bad.max()))
        alone = sorted(set(bad.tolist()) - set(good.tolist()))
        found += [(f"{name} is {number:g}", values == number) for number in alone if len(alone) <= _KINDS]
    rights = [plain(call.expected) for call in seen.calls]
    if all(isinstance(right, str | int) for right in rights) and len(set(rights)) <= _KINDS:
        for kind in dict.fromkeys(rights):
            found.append((f"{kind!r} is right", np.array([right == kind for right in rights])))
    yield from _telling(found)


def _described(name: str, value: Any) -> Iterator[tuple[str, float]]:
    """Numbers that describe a sequence or a mapping."""
    if isinstance(value, Mapping):
        for key, number in value.items():
            yield f"{name}[{key!r}]", number
        return
    array = _array(value)
    if array is None or not array.size:
        return
    yield f"the length of {name}", float(array.size)
    yield f"the largest number of {name}", float(array.max())
    yield f"the smallest number of {name}", float(array.min())
    yield f"the spread of {name}", float(np.ptp(array))


def _array(value: Any) -> np.ndarray | None:
    """Numbers as an array of doubles; None for anything else."""
    try:
        array = np.asarray(value)
    except ValueError:
        return None
    return array.astype(np.float64) if array.dtype.kind in "fiu" else None


def _alike(one: np.ndarray | None, other: np.ndarray | None) -> bool:
    return (
        one is not None
        and other is not None
        and one.shape == other.shape
        and bool(np.allclose(one, other, rtol=_CLOSE, atol=_TINY, equal_nan=True))
    )


def _constant(values: np.ndarray) -> bool:
    """Whether numbers are finite, alike and not 0."""
    return bool(
        np.isfinite(values).all() and values.size and values[0] and np.ptp(values) <= _CLOSE * abs(values).max()
    )
