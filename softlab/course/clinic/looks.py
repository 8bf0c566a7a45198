"""What a wrong fix of the clinic does with its numbers, from more runs of the same kernel.

It looks closer than :mod:`softlab.course.behaviour`, which serves all kernels: the launches are small, so that each
warp's share of an input can be changed, and each element of it.
"""

from __future__ import annotations

import re

import numpy as np

from softlab.course.behaviour import behaviour, held_before
from softlab.course.clinic.arithmetic import made_nan, over_zero
from softlab.course.clinic.seen import Seen, element
from softlab.course.clinic.softmaxes import of_softmax
from softlab.course.clinic.sources import shares, sources
from softlab.course.clinic.traffic import stores
from softlab.course.code_lines import Code
from softlab.course.exercises import different
from softlab.course.kernels import BUDGET
from softlab.course.launch_cases import LaunchCase
from softlab.emulator.lanes import WARP
from softlab.errors import Error
from softlab.kernel import Kernel


def look(kernel: Kernel, launch: LaunchCase, name: str, got: np.ndarray) -> str:
    """What the kernel did instead, in one or two sentences; "" for nothing that is known."""
    seen = Seen(kernel, launch, name, got)
    for one in _LOOKS:
        if said := one(seen):
            return said
    said = behaviour(kernel, launch, name, got)
    vague = not said or any(words in said for words in ("is made from", "that was tried", "and others do"))
    return (vague and sources(seen)) or said


def _other_order(seen: Seen) -> str:
    """A result that is right where the warps run in the usual order."""
    again = seen.run({})
    if again is None or different(again, seen.wanted, seen.launch.relative).any():
        return ""
    return (
        f"With the warps in the usual order {seen.name} is right. So it depends on which warp comes first, and nothing "
        "makes one wait for the other."
    )


def _hidden(seen: Seen) -> str:
    """A NaN of the input that does not come out."""
    if seen.got.dtype.kind != "f":
        return ""
    hidden = np.isnan(seen.wanted) & ~np.isnan(seen.got)
    if not hidden.any():
        return ""
    return (
        f"A number of that row is NaN in the input, and {seen.name} has {seen.got[hidden].flat[0]:g} there: what hides "
        "the NaN of a masked row hides this one, too. Make none for the masked row, and let those that come in pass: a "
        "comparison with NaN is false."
    )


def _turned(seen: Seen) -> str:
    """Numbers that all have the wrong sign."""
    got, wanted = (a[seen.wrong].astype(np.float64) for a in (seen.got, seen.wanted))
    return f"Each wrong element of {seen.name} has the right number with the wrong sign." if (
        len(got) > WARP // 4 and wanted.any() and (got == -wanted).all()
    ) else ""  # fmt: skip


def _exchanged(seen: Seen) -> str:
    """Two results that have changed places, or are each what both are together."""
    got, wanted = seen.got.reshape(-1), seen.wanted.reshape(-1)
    if got.size != 2 or wanted[0] == wanted[1]:
        return ""
    if (got == wanted[::-1]).all():
        return f"{seen.name}[0] and {seen.name}[1] have changed places."
    both = (got == wanted.sum()) & (wanted != wanted.sum())
    if both.any():
        return (
            f"{seen.name}[{int(np.argmax(both))}] is what both should be together: nothing keeps the two kinds apart."
        )
    return ""


def _rounded(seen: Seen) -> str:
    """Sums of halves that are right as long as they are small."""
    halves = {name: array for name, array in seen.inputs.items() if array.dtype == np.float16}
    if len(halves) != 1 or seen.got.dtype == np.float16:
        return ""
    ((name, array),) = halves.items()
    small = seen.run({name: np.ones_like(array)})
    if small is None or (small != array.size // small.size).any():
        return ""
    if (seen.got == seen.wanted.astype(np.float16)).all():
        return (
            f"{seen.name} is the right sum, rounded to a half: {seen.wanted.flat[0]:g} is none. With ones alone it is "
            "right. Somewhere on its way the sum is a half."
        )
    return (
        f"With ones alone {seen.name} is right. Beside {array.max():g}, where the next half is 4 away, ones are lost: "
        "what is added up, or some part of it, is a half still."
    )


def _nobody(seen: Seen) -> str:
    """A result that is never stored, since no thread comes to the line that does it."""
    if not seen.unwritten.all():
        return ""
    code = Code(seen.kernel.program.source)
    lines = [line for line, target in code.assignments() if re.match(rf"\*?\s*{seen.name}\b", target)]
    try:
        run = {line for line, *_ in stores(seen.kernel, seen.launch)}
    except Error:
        return ""
    if len(lines) != 1 or lines[0] in run:
        return ""
    under = code.condition(lines[0])
    return f"No thread comes to line {lines[0]}, where {seen.name} is stored{f', under `{under}`' if under else ''}."


def _stored_twice(seen: Seen) -> str:
    """Elements that nobody stores, where others are stored by several threads."""
    left = np.flatnonzero(seen.wrong & seen.unwritten)
    if not len(left) or seen.got.size < WARP:
        return ""
    by: dict[int, tuple[int, int]] = {}
    try:
        for line, block, threads, addresses in stores(seen.kernel, seen.launch):
            for thread, address in zip(threads, addresses, strict=True):
                other = by.setdefault(address, (block, thread))
                if other != (block, thread):
                    return (
                        f"{len(left)} elements of {seen.name} are never stored, the first of them "
                        f"{element(seen.name, seen.got, int(left[0]))}, and others are stored more than once: thread "
                        f"{other[1]} of block {other[0]} and thread {thread} of block {block} store to one and the "
                        f"same on line {line}."
                    )
    except Error:
        pass
    return ""


def _unread(seen: Seen) -> str:
    """Shared memory that is stored to and never loaded."""
    launch = seen.launch
    try:
        run = seen.kernel.run(launch.grid, launch.block, tuple(launch.fresh().values()), launch.smem, budget=BUDGET)
    except Error:
        return ""
    stores = run.shared.store.astype(bool)
    active = run.shared.active.any(axis=1) if run.shared.active.ndim == 2 else np.ones(len(stores), bool)
    if not stores.any() or (active & ~stores).any():
        return ""
    return f"No thread loads what line {int(run.shared.line[stores][-1])} stores in shared memory."


_LOOKS = (
    *(_other_order, held_before, _nobody, _stored_twice, _hidden, over_zero, made_nan, of_softmax),
    *(_turned, _exchanged, _rounded, _unread, shares),
)
