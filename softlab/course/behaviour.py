"""What a kernel with a wrong result does: it runs again with inputs that differ in one place, and says what follows.

So a hint names what the kernel does with its numbers, whatever its code looks like: an input that changes nothing, an
element that is made from other inputs than its own, a number that counts twice, a sum that does not begin with 0, an
order that is turned, elements that nobody stores.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

from softlab.course.exercises import different
from softlab.course.exponentials import counts, subtracted
from softlab.course.launch_cases import LaunchCase
from softlab.course.operations import nan_operation
from softlab.course.origins import origins
from softlab.course.places import read, stands_still, stored
from softlab.course.probes import NAMED, Seen, elements, listed, places_to_change, raised_to_most, with_change
from softlab.course.relations import of_elements, of_row, of_rows, taken_off
from softlab.emulator.lanes import WARP
from softlab.errors import Error
from softlab.findings import Finding, sentence
from softlab.instruments.numbers import NOT_A_NUMBER, number_findings
from softlab.kernel import Kernel

#: Where infinity comes from no overflow.
OVER_ZERO = "No result is too large for its type, so infinity comes from a division by 0."
OVER_ZERO_OR_LOGARITHM = "No result is too large for its type, so infinity comes from a division by 0 or from log(0)."
#: The operation that gives NaN where a maximum and a number are both minus infinity.
LESS_INFINITY = "-inf - -inf is NaN"
#: What a report says of a power or sum that is too large.
OVERFLOWS = "finite numbers give infinity"
#: How many inputs an element of its own may have.
_OWN = 3
#: The largest factor of a single result that is told from chance.
_TIMES = 64
#: Neighbouring results that have to be alike, of which a rule is made.
_ALIKE = 4
#: Parts of a sum that are looked at together.
_PARTS = 8
#: Warps in which an infinity is looked for.
_WARPS = 8
#: Columns from which a row says something.
_SHORTEST = 8


def behaviour(kernel: Kernel, launch: LaunchCase, name: str, got: np.ndarray) -> str:
    """What the kernel did instead, in one or two sentences; "" for nothing that is known.

    Arguments:
        launch: the launch that left a wrong result.
        name: the array that is wrong; got: what it held afterwards.
    """
    seen = Seen(kernel, launch, name, got)
    for look in (
        held_before,
        _not_stored,
        _stored_too,
        subtracted,
        counts,
        _of_numbers,
        _times_too_much,
        _as_it_is,
        _of_one_place,
        _said_twice,
        _moved,
        _of_relations,
        _of_sums,
        _of_maxima,
        _of_rows,
        _of_inputs,
        _of_zeros,
    ):
        if said := look(seen):
            return said
    return ""


def held_before(seen: Seen) -> str:
    """A result that is made from what the array held before the launch, which is one number in all of it."""
    start = seen.launch.args[seen.name]
    if not isinstance(start, np.ndarray) or not start.size:
        return ""
    if not start.flat[0] or different(start, np.full_like(start, start.flat[0])).any():
        return ""
    zeros = np.zeros_like(start)
    found = seen.run({seen.name: zeros})
    if found is None or not (different(found, seen.got) & different(found, zeros) & seen.wrong).any():
        return ""
    return (
        f"{seen.name} holds {start.flat[0]:g} before the launch, and what the kernel stores is made from that. "
        f"{seen.name} has to be set before it is read or added to."
    )


def _not_stored(seen: Seen) -> str:
    """Wrong elements that are as they were before the launch, where others are not."""
    left = seen.wrong & seen.unwritten
    if not left.any():
        return ""
    if seen.unwritten.all():
        return f"Nothing is stored to {seen.name}."
    if np.count_nonzero(left) < np.count_nonzero(seen.wrong):
        return ""
    said = f"{elements(seen.name, np.flatnonzero(left), left.size)} never stored."
    if why := stored(seen.kernel, seen.launch, seen.name):
        return f"{said} {why}"
    if seen.threads >= left.size:
        ran = f"{seen.threads} threads ran for {left.size} elements"
        return f"{said} {ran}: several have one index, or a test keeps some out."
    return said


def _stored_too(seen: Seen) -> str:
    """Elements that have to stay as they were."""
    start = seen.launch.args[seen.name]
    kept = seen.wrong & ~different(seen.wanted.astype(start.dtype), start) & ~seen.unwritten
    if not kept.any() or np.count_nonzero(kept) < np.count_nonzero(seen.wrong):
        return ""
    said = elements(seen.name, np.flatnonzero(kept), kept.size)
    return f"{said} stored to, and had to stay as before."


def _times_too_much(seen: Seen) -> str:
    """Few results that are all too large by one whole factor."""
    got, wanted = (a.astype(np.float64).reshape(-1) for a in (seen.got, seen.wanted))
    if got.size > NAMED or not wanted.all() or not np.isfinite(got).all():
        return ""
    factor = got[0] / wanted[0]
    if factor < 2 or factor != round(factor) or (got != factor * wanted).any() or (got.size == 1 and factor > _TIMES):
        return ""
    return f"{seen.name} is {factor:g} times what it should be: something is added {factor:g} times."


def _of_numbers(seen: Seen) -> str:
    """Where the first infinity or NaN of a result is made."""
    bad = ~np.isfinite(seen.got.astype(np.float64)) & np.isfinite(seen.wanted.astype(np.float64)) & ~seen.unwritten
    if seen.got.dtype.kind != "f" or not (seen.wrong & bad).any():
        return ""
    if said := of_elements(seen.name, seen.got, seen.wrong & ~seen.unwritten, seen.inputs):
        return said
    launch, warps = seen.launch, -(-seen.block // WARP)
    every = seen.threads // seen.block * warps
    found: tuple[Finding, ...] = ()
    try:
        for of, warp in (divmod(number, warps) for number in range(min(every, _WARPS))):
            args = tuple(launch.fresh().values())
            steps = seen.kernel.steps(launch.grid, launch.block, args, smem=launch.smem, of=of, warp=warp)
            lines = origins(steps)
            made = number_findings(steps)
            if found := tuple(finding for finding in made if lines is None or finding.line in lines):
                break
    except Error:
        return ""
    if not found:
        if every > _WARPS:
            return ""
        infinite = np.isinf(seen.got.astype(np.float64)) & bad
        given = all(np.isfinite(array.astype(np.float64)).all() for array in seen.inputs.values())
        of_zero = OVER_ZERO_OR_LOGARITHM if "log" in seen.kernel.program.source else OVER_ZERO
        return of_zero if infinite.any() and given else ""
    if not found[0].line:
        return ""
    lane = found[0].thread[0] % WARP if found[0].thread is not None else 0
    if found[0].kind == NOT_A_NUMBER and (operation := nan_operation(steps, found[0].line, lane)):
        return f"On line {found[0].line}, {operation} is NaN."
    said = sentence(found[0])
    return f"On line {found[0].line}, {said[:1].lower()}{said[1:]}"


def _as_it_is(seen: Seen) -> str:
    """A result that is an input, unchanged, where the right result has another order of its numbers."""
    for name, array in seen.inputs.items():
        same = array.size == seen.got.size and not different(seen.got.reshape(-1), array.reshape(-1)).any()
        moves = same and not different(np.sort(seen.wanted, axis=None), np.sort(array, axis=None)).any()
        if moves and name != seen.name:
            return f"{seen.name}[i] is {name}[i]: each number stands where it stood before."
    return ""


def _of_one_place(seen: Seen) -> str:
    """An input of which a thread reads one element for all that it stores."""
    said = (stands_still(seen.kernel, seen.launch, name, seen.name) for name in seen.inputs)
    return next(filter(None, said), "")


def _said_twice(seen: Seen) -> str:
    """Pairs of results of which both have the number of one, and the number of the other one is nowhere."""
    got, wanted, wrong = (a.reshape(-1) for a in (seen.got, seen.wanted.astype(seen.got.dtype), seen.wrong))
    if got.size < 4 or got.size % 2 or np.unique(wanted).size < 4:
        return ""
    for lost, kept in ((0, 1), (1, 0)):
        own = not wrong[kept::2].any() and wrong[lost::2].all()
        if own and not different(got[lost::2], wanted[kept::2], seen.launch.relative).any():
            return (
                f"{seen.name}[0] and {seen.name}[1] both have the number of {seen.name}[{kept}], and so on: the number "
                f"of {seen.name}[{lost}] is stored nowhere."
            )
    return ""


def _moved(seen: Seen) -> str:
    """Wrong elements that hold what belongs elsewhere."""
    got, wanted, wrong = (a.reshape(-1) for a in (seen.got, seen.wanted.astype(seen.got.dtype), seen.wrong))
    if wrong.sum() < 4 or np.unique(got[wrong]).size < 4 or np.unique(wanted).size < 4:
        return ""
    index = np.arange(wanted.size)
    for words, source in _orders(seen.wanted.shape, index):
        use = wrong & (source >= 0) & (source < wanted.size) & (source != index)
        if use.sum() < max(4, 0.85 * wrong.sum()):
            continue
        if not different(got[use], wanted[source[use]], seen.launch.relative).any():
            return f"{seen.name} has the right numbers in other places: {words}."
    if seen.launch.relative or np.unique(wanted).size < wanted.size:
        return ""
    place = {number: int(where) for where, number in enumerate(wanted.tolist())}
    found = [(int(where), place[got[where].item()]) for where in np.flatnonzero(wrong) if got[where].item() in place]
    if len(found) < 0.85 * wrong.sum():
        return ""
    few = [found[0], found[1], found[-1]]
    said = ", ".join(f"{seen.name}[{where}] has that of {seen.name}[{source}]" for where, source in few)
    return f"{seen.name} has the right numbers in other places: {said}."


def _orders(shape: tuple[int, ...], index: np.ndarray) -> Iterator[tuple[str, np.ndarray]]:
    """Words for an order, and which element's number each one has in it."""
    for step in (1, 2, 32):
        yield f"each element has that of the one {step} further on", index + step
        yield f"each element has that of the one {step} before it", index - step
    yield "the order of all is reversed", index[::-1]
    for group in (4, 8, 32, 64, 128):
        yield f"the order is reversed within groups of {group}", index // group * group + group - 1 - index % group
    for mask in (1, 2, 4, 8, 16, 32):
        yield f"elements that are {mask} apart have changed places", index ^ mask
    if len(shape) == 2:
        rows, cols = shape
        row, col = index // cols, index % cols
        yield "each row has the numbers of row 0", col
        yield "each row is reversed", row * cols + cols - 1 - col
        yield "the order of the rows is reversed", (rows - 1 - row) * cols + col
        if rows == cols:
            yield "rows and columns have changed places", col * cols + row
        yield "each row has the numbers of the next one", index + cols
        yield "each row has the numbers of the one before it", index - cols


def _of_relations(seen: Seen) -> str:
    """Wrong numbers that are one operation of the inputs, or the right ones and a number of their row."""
    wrong = seen.wrong & ~seen.unwritten
    return of_elements(seen.name, seen.got, wrong, seen.inputs) or of_rows(
        seen.name, seen.got, seen.wanted, seen.inputs
    )


def _of_sums(seen: Seen) -> str:
    """A result that has to be the sum of an input, whole or along an axis: what counts how often."""
    for name, array in seen.inputs.items():
        wide = array.astype(np.float64)
        for axis in (None, 0, -1):
            if axis is not None and array.ndim < 2:
                continue
            total = wide.sum(axis=axis)
            if total.size != seen.wanted.size or not np.allclose(total.reshape(-1), seen.wanted.reshape(-1), rtol=1e-3):
                continue
            zero = seen.run({name: np.zeros_like(array)})
            if zero is not None and zero.any():
                found = float(zero.reshape(-1)[np.flatnonzero(zero.reshape(-1))[0]])
                return (
                    f"With {name} all 0, {seen.name} is {found:g}: something is added that no number of {name} is, or "
                    "the sum does not begin with 0."
                )
            return _with_places(seen, name, _weights(seen, name, array, axis))
        if 1 < seen.wanted.size <= _PARTS and np.allclose(wide.sum(), seen.wanted.sum(dtype=np.float64), rtol=1e-6):
            return _with_places(seen, name, _weights(seen, name, array, None))
    return ""


def _with_places(seen: Seen, name: str, said: str) -> str:
    """The sentence, and which elements of an input a line leaves out or reads again."""
    return f"{said} {read(seen.kernel, seen.launch, name)}".strip() if said else ""


def _weights(seen: Seen, name: str, array: np.ndarray, axis: int | None) -> str:
    """How often elements count in a sum, where that is not once."""
    counted: dict[float, list[int]] = {}
    for index in places_to_change(array, seen.wrong):
        alone = np.zeros_like(array)
        alone.reshape(-1)[index] = 1
        found = seen.run({name: alone})
        if found is None:
            return ""
        own = None if axis is None else int(np.unravel_index(index, array.shape)[1 if axis == 0 else 0])
        times = float(found.sum() if own is None else found.reshape(-1)[own])
        counted.setdefault(round(times, 4), []).append(index)
    off = {times: places for times, places in counted.items() if times != 1}
    if not off and seen.wanted.size == 1 and axis is None and array.dtype.kind == "f":
        ones = seen.run({name: np.ones_like(array)})
        if ones is not None and ones.reshape(-1)[0] != array.size:
            return (
                f"With {name} all 1, {seen.name} is {float(ones.reshape(-1)[0]):g} and not {array.size}: some numbers "
                "count twice, or not at all."
            )
    said = [f"{listed(name, array, places)} {_times(times)}" for times, places in sorted(off.items())]
    where = "In the sum" if seen.wanted.size == 1 or axis is not None else f"In all of {seen.name} together"
    return f"{where} {', '.join(said)}, where each number counts once." if said else ""


def _times(times: float) -> str:
    return "count nothing" if times == 0 else "count twice" if times == 2 else f"count {times:g} times"


def _of_maxima(seen: Seen) -> str:
    """A result that has to be the largest number of an input or of its rows: begins too high, or takes the smallest."""
    for name, array in seen.inputs.items():
        if array.dtype.kind != "f":
            continue
        rows = (array.max(-1, keepdims=True), array.min(-1, keepdims=True), f"its row of {name}")
        for most, least, among in ((array.max(), array.min(), name), rows):
            if not _fits(most, seen.wanted):
                continue
            if _fits(least, seen.got):
                return f"{seen.name} is the smallest number of {among}, and not the largest one."
            lower = seen.run({name: array - array.dtype.type(1000)})
            if lower is None or np.isnan(lower).any():
                continue
            high = lower.reshape(-1) > seen.wanted.reshape(-1) - 990
            if high.any():
                found = float(lower.reshape(-1)[int(np.argmax(high))])
                return (
                    f"With each number of {name} 1000 less, {seen.name} is {found:g} somewhere: the maximum begins too "
                    "high, or a step leaves the own number out."
                )
    return ""


def _fits(one: np.ndarray, other: np.ndarray) -> bool:
    """Whether one array is the other one, with each number repeated along the rows where it is smaller."""
    if one.size == other.size:
        return bool((one.reshape(-1) == other.reshape(-1)).all())
    if other.ndim != one.ndim or any(a not in (1, b) for a, b in zip(one.shape, other.shape, strict=True)):
        return False
    return bool((np.broadcast_to(one, other.shape) == other).all())


def _of_rows(seen: Seen) -> str:
    """Rows that are a softmax, or numbers that are off by one factor or difference per row."""
    got, wanted = (a.astype(np.float64) for a in (seen.got, seen.wanted))
    if got.ndim == 1 and got.size % 2 == 0:
        got, wanted = got[None], wanted[None]
    if got.ndim != 2 or got.shape[1] < _SHORTEST:
        return ""
    bad = seen.wrong.reshape(got.shape).any(axis=1) & np.isfinite(got).all(axis=1) & np.isfinite(wanted).all(axis=1)
    if not bad.any():
        return ""
    with np.errstate(all="ignore"):
        row = int(np.argmax(np.where(bad, np.nanmax(abs(got - wanted), axis=1), -1)))
    alike = {name: array for name, array in seen.inputs.items() if array.shape == seen.got.shape and array.ndim == 2}
    for name, array in alike.items():
        if said := taken_off(seen.name, name, row, got[row], wanted[row], array[row].astype(np.float64)):
            return _with_places(seen, name, said)
    for name, array in alike.items():
        powers = np.exp(array[row].astype(np.float64) - float(array[row].max()))
        if np.allclose(got[row], powers / powers.sum(), rtol=1e-3, atol=1e-30):
            return f"Row {row} is the softmax of {name} as it is: the numbers of {name} are not changed before."
    return of_row(row, got[row], wanted[row], seen.block)


def _of_inputs(seen: Seen) -> str:
    """Inputs that change nothing, and wrong elements that are made from other inputs than they should be."""
    first = int(np.argmax(seen.wrong.reshape(-1) & ~seen.unwritten.reshape(-1)))
    for name, array in seen.inputs.items():
        places = places_to_change(array, seen.wrong)
        changed = {index: found for index in places if (found := _changed(seen, name, index)) is not None}
        dead = [index for index, found in changed.items() if not found.any()]
        if places and len(dead) == len(places):
            if name == seen.name:
                continue
            return f"No number of {name} that was tried changes {seen.name}."
        if said := _elsewhere(seen, name, changed) or _for_some(seen, name, changed):
            return said
        ends = (0, array.size - 1, *(first for first in dead if first % array.shape[-1] in (0, array.shape[-1] - 1)))
        if len(dead) > 1 or any(place in ends for place in dead):  # a single one in the middle is a chance of its row
            verb = "changes" if len(dead) == 1 else "change"
            return f"{listed(name, array, dead)} {verb} nothing in {seen.name}, and others do."
        raised = [index for index in changed if _no_addend(seen, name, index)]
        if raised and len(raised) <= len(places) // 2:
            return (
                f"{listed(name, array, raised)} may be as large as the largest number of the row, and nothing changes "
                f"in {seen.name}; with others something does. Is it left out of a sum, or is its power 0 there?"
            )
        own = [index for index, found in changed.items() if found[first]]
        if array.size == seen.got.size and own and len(own) <= _OWN and own != [first]:
            made, result = listed(name, array, own), listed(seen.name, seen.got, [first])
            if sum_of := _added(seen, name, first, own):
                return f"{result} is {sum_of}."
            return f"{result} is made from {made}, of those that were tried."
    return ""


def _added(seen: Seen, name: str, first: int, own: list[int]) -> str:
    """A result as a sum or difference of two inputs: "x[0] + x[1]"; "" for anything else."""
    if len(own) != 2:
        return ""
    result = float(seen.got.reshape(-1)[first])
    one, other = (float(seen.inputs[name].reshape(-1)[place]) for place in own)
    names = [listed(name, seen.inputs[name], [place]) for place in own]
    for value, words in (
        (one + other, f"{names[0]} + {names[1]}"),
        (one - other, f"{names[0]} - {names[1]}"),
        (other - one, f"{names[1]} - {names[0]}"),
        (one * other, f"{names[0]} * {names[1]}"),
    ):
        if np.isclose(result, value, rtol=1e-6, atol=0):
            return words
    return ""


def _elsewhere(seen: Seen, name: str, changed: Mapping[int, np.ndarray]) -> str:
    """A number that changes the result of another row (or column) than its own, where there is a result for each."""
    shape, wanted = seen.inputs[name].shape, seen.wanted
    if len(shape) != 2 or shape[0] == shape[1] or wanted.shape[0] not in shape or wanted.size > 2 * wanted.shape[0]:
        return ""
    axis = shape.index(wanted.shape[0])
    each, what = wanted.size // shape[axis], ("row", "column")[axis]
    for index, found in changed.items():
        place = np.unravel_index(index, shape)
        results, own = np.flatnonzero(found.reshape(-1, each).any(axis=1)), int(place[axis])
        if results.size and own not in results:
            number = f"{name}[{', '.join(map(str, map(int, place)))}]"
            return f"{number} changes the result of {what} {results[0]}, and not that of its own {what}."
    return ""


def _for_some(seen: Seen, name: str, changed: Mapping[int, np.ndarray]) -> str:
    """A number that changes one of several results that have to be alike, and not the others."""
    wanted = seen.wanted.reshape(-1)
    first = int(np.argmax(seen.wrong.reshape(-1)))
    alike = np.flatnonzero(wanted == wanted[first])
    if len(alike) < _ALIKE or np.ptp(alike) != len(alike) - 1:
        return ""
    for index, found in changed.items():
        of = found[alike]
        if of.any() and not of.all():
            some, not_this = int(alike[of][0]), int(alike[~of][0])
            return (
                f"{listed(name, seen.inputs[name], [index])} changes {listed(seen.name, seen.wanted, [some])} and "
                f"not {listed(seen.name, seen.wanted, [not_this])}, which has to be the same number."
            )
    return ""


def _changed(seen: Seen, name: str, index: int) -> np.ndarray | None:
    """Which elements of the result an element of an input changes, flat; None where a run does not end."""
    array = seen.inputs[name]
    step = 3 if array.dtype.kind == "i" else 40
    changed = np.zeros(seen.got.size, bool)
    for by in (step, -step):  # a maximum hears of larger numbers, a minimum of smaller ones
        result = seen.run({name: with_change(array, index, by)})
        if result is None:
            return None
        changed |= different(result, seen.got).reshape(-1)
    if not changed.any() and array.dtype.kind == "f":  # beside a far larger number of its row it may not show
        finite, own = array[np.isfinite(array)], float(np.nan_to_num(array.reshape(-1)[index], posinf=0, neginf=0))
        higher = int(float(finite.max(initial=own)) - own) + step
        result = seen.run({name: with_change(array, index, higher)})
        return None if result is None else different(result, seen.got).reshape(-1)
    return changed


def _no_addend(seen: Seen, name: str, index: int) -> bool:
    """Whether an element may be as large as the row's largest and changes nothing, in a kernel that adds powers."""
    array = seen.inputs[name]
    if array.dtype.kind != "f" or "exp" not in seen.kernel.program.source:
        return False
    more = raised_to_most(array, index)
    result = None if (more == array).all() else seen.run({name: more})
    return result is not None and not different(result, seen.got).any()


def _of_zeros(seen: Seen) -> str:
    """What few results are for inputs of nothing but zeros."""
    if seen.got.size > NAMED + 1:
        return ""
    for name, array in seen.inputs.items():
        found = seen.run({name: np.zeros_like(array)})
        if found is not None and found.any():
            return f"With {name} all 0, {seen.name} is {', '.join(f'{value:g}' for value in found.reshape(-1))}."
    return ""
