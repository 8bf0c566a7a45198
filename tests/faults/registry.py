"""All kernels with a planted fault and all good kernels, as one list of cases.

The list joins faults planted in good kernels (``tests/faults/planted``), whole kernels as courses have them
(``tests/faults/courses``), and launches that must be refused (``tests/faults/refusals.py``).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Any

from softlab.cuda.compile import Program, compile_program
from tests.faults import course_bad_memory as memory
from tests.faults import course_bad_order as order
from tests.faults.cases import GOOD, Good
from tests.faults.cases_cluster import CLUSTER
from tests.faults.cases_objects import OBJECTS, UNDEFINED
from tests.faults.course_case import CourseCase
from tests.faults.course_eighth import BAD_EIGHTH
from tests.faults.course_eighth_good import GOOD_EIGHTH
from tests.faults.course_eleventh import BAD_ELEVENTH
from tests.faults.course_eleventh_good import GOOD_ELEVENTH
from tests.faults.course_fifth import BAD_FIFTH
from tests.faults.course_fifth_good import GOOD_FIFTH
from tests.faults.course_fourth import BAD_FOURTH
from tests.faults.course_fourth_good import GOOD_FOURTH
from tests.faults.course_good_blocks import BLOCKS
from tests.faults.course_good_together import TOGETHER
from tests.faults.course_ninth import BAD_NINTH
from tests.faults.course_ninth_good import GOOD_NINTH
from tests.faults.course_others import BAD_OTHERS, GOOD_OTHERS
from tests.faults.course_patterns import BAD_PATTERNS, GOOD_PATTERNS
from tests.faults.course_seventh import BAD_SEVENTH
from tests.faults.course_seventh_good import GOOD_SEVENTH
from tests.faults.course_sixth import BAD_SIXTH
from tests.faults.course_sixth_good import GOOD_SIXTH
from tests.faults.course_tenth import BAD_TENTH
from tests.faults.course_tenth_good import GOOD_TENTH
from tests.faults.course_thirteenth import BAD_THIRTEENTH
from tests.faults.course_thirteenth_good import GOOD_THIRTEENTH
from tests.faults.course_twelfth import BAD_TWELFTH
from tests.faults.course_twelfth_good import GOOD_TWELFTH
from tests.faults.global_case import GlobalCase
from tests.faults.global_cases import GLOBAL_CASES
from tests.faults.planted import PLANTED, PLANTED_OBJECTS, Planted
from tests.faults.planted.clusters import CLUSTERS
from tests.faults.planted.copies import COPIES
from tests.faults.planted.global_neighbours import NEIGHBOURS
from tests.faults.planted.global_races import GLOBAL_RACES, GlobalRace
from tests.faults.planted.global_synchronisation import SYNCHRONISATION
from tests.faults.planted.mbarriers import MBARRIERS
from tests.faults.refusals import REFUSALS, Refusal

#: PTX instructions of a batch of blocks after which a loop of a planted case counts as endless.
BUDGET = 30_000


@dataclass(frozen=True, kw_only=True)
class Case:
    """One kernel and its launch.

    ``name`` is unique. ``family``: the sort of fault, or of good kernel. ``kind``: the kind that a finding must have,
    None for a good kernel. ``severity``: that of the finding. ``lines``: the lines to blame; of a race, both accesses
    are on such lines, or with ``both_lines`` False the first one.
    ``source``, ``entry`` and ``file``: what is compiled. ``refusal``: the launch must be refused
    instead. ``hangs``: the kernel does not end on a GPU. ``missed``: why softlab misses the fault.
    """

    name: str
    family: str
    source: str
    entry: str
    file: str
    grid: tuple[int, ...]
    block: tuple[int, ...]
    arguments: Callable[[], list]
    smem: int = 0
    cooperative: bool = False
    kind: str | None = None
    severity: str = "error"
    lines: Collection[int] = ()
    both_lines: bool = True
    refusal: Refusal | None = None
    hangs: bool = False
    missed: str | None = None
    compile_shared: Callable[[], Program]

    def compile(self, file: str | None = None) -> Program:
        """The program; with ``file`` as the name of its source where given."""
        if file is None:
            return self.compile_shared()
        return compile_program(self.source, self.entry, arch="sm_90", file=file)


def _tuple(value: int | tuple[int, ...]) -> tuple[int, ...]:
    return value if isinstance(value, tuple) else (value,)


def _of_good(name: str, family: str, good: Good, **fault: Any) -> Case:
    source = fault.pop("source", None) or good.source
    return Case(
        name=name,
        family=family,
        source=source,
        entry=good.kernel,
        file=good.file,
        grid=good.grid,
        block=good.block,
        arguments=good.arguments,
        smem=good.smem,
        compile_shared=partial(good.compile, source),
        **fault,
    )


_FAMILIES = {
    "global-out-of-bounds": "bounds, global",
    "shared-out-of-bounds": "bounds, shared",
    "misaligned": "misaligned",
    "uninitialized-shared": "uninitialised shared memory",
    "race": "races, shared",
    "barrier-divergence": "barriers",
    "inactive-lane": "lanes and masks",
    "infinite-loop": "loops and deadlocks",
}

_OBJECT_FAMILIES = {
    "global-out-of-bounds": "null and wild pointers",
    "shared-out-of-bounds": "neighbouring arrays",
    "local-out-of-bounds": "neighbouring arrays",
    "uninitialized-local": "uninitialised registers, local arrays",
}

_FAMILIES_OF_OBJECTS = {
    "global-out-of-bounds": "null and wild pointers",
    "uninitialized-local": "uninitialised registers, local arrays",
}


def _planted(planted: Planted, family: str) -> Case:
    return _of_good(
        f"planted/{planted.kind}: {planted.name}",
        family,
        planted.good,
        source=planted.source,
        kind=planted.kind,
        lines=planted.lines,
        both_lines=False,
        hangs=planted.kind == "infinite-loop",
    )


def _of_global(name: str, family: str, case: GlobalCase, **fault: Any) -> Case:
    source = fault.pop("source", None) or case.source
    return Case(
        name=name,
        family=family,
        source=source,
        entry=case.kernel,
        file=case.file,
        grid=(fault.pop("grid", None) or case.grid,),
        block=(fault.pop("block", None) or case.block,),
        arguments=case.arguments,
        cooperative=case.cooperative,
        compile_shared=partial(case.compile, source),
        **fault,
    )


def _race(race: GlobalRace) -> Case:
    family = "races, global" if race in NEIGHBOURS else "publication: atomics, fences, flags, locks"
    if race in SYNCHRONISATION:
        family = "races, global"
    fault = {"source": race.source, "kind": "race", "lines": race.lines, "grid": race.grid, "block": race.block}
    return _of_global(f"global/{race.kernel}: {race.name}", family, race.good, **fault)


def _course(case: CourseCase, family: str, group: str = "course") -> Case:
    return Case(
        name=f"{group}/{case.kernel}",
        family=family,
        source=case.source,
        entry=case.kernel,
        file=case.file,
        grid=_tuple(case.grid),
        block=_tuple(case.block),
        arguments=case.arguments,
        smem=case.smem,
        cooperative=case.cooperative,
        kind=case.kind,
        severity=case.severity,
        lines=case.lines,
        hangs=case.hangs,
        missed=case.missed,
        compile_shared=case.compile,
    )


def _refusal(refusal: Refusal) -> Case:
    return Case(
        name=f"refused/{refusal.name}",
        family=refusal.family,
        source=refusal.source,
        entry=refusal.kernel,
        file="refused.cu",
        grid=refusal.grid,
        block=refusal.block,
        arguments=refusal.arguments,
        smem=refusal.smem,
        cooperative=refusal.cooperative,
        kind=refusal.family,
        refusal=refusal,
        compile_shared=refusal.compile,
    )


_BAD_COURSES = {
    "races, global": order.GLOBAL,
    "races, shared": order.SHARED,
    "races, volatile code of a warp": order.VOLATILE,
    "publication: atomics, fences, flags, locks": order.PUBLICATION,
    "bounds, global": tuple(c for c in memory.BOUNDS if c.kind == "global-out-of-bounds"),
    "bounds, shared": tuple(c for c in memory.BOUNDS if c.kind == "shared-out-of-bounds"),
    "bounds, local": tuple(c for c in memory.BOUNDS if c.kind not in ("global-out-of-bounds", "shared-out-of-bounds")),
    "misaligned": memory.ALIGNMENT,
    "uninitialised shared memory": tuple(c for c in memory.UNINITIALISED if c.kind == "uninitialized-shared"),
    "uninitialised registers, local arrays": tuple(c for c in memory.UNINITIALISED if c.kind != "uninitialized-shared"),
    "neighbouring arrays": memory.NEIGHBOURS,
    "null and wild pointers": memory.NULL,
    "barriers": order.BARRIERS,
    "lanes and masks": order.LANES,
    "loops and deadlocks": order.HANGS,
    "asynchronous copies, mbarriers": order.COPIES,
    "clusters": order.CLUSTERS,
    "grid barriers": order.COOPERATIVE,
}


_FIFTH = "queues, trees, rings, wrong launches"
_SIXTH = "votes, relays, locks, scratch memory"
_SEVENTH = "tables, heaps, guards, groups, lambdas"
_EIGHTH = "types, intrinsics, library calls, wide tiles"
_NINTH = "searches, fragments, tensor maps, scopes, hand-overs"
_TENTH = "pages, experts, work lists, carved memory, fix-ups"
_ELEVENTH = "leaders, tails, rings and halves of words"
_TWELFTH = "templates, references, leases, drains, lists"
_THIRTEENTH = "promises, peers, phases, masks, indices, scopes"


def _planted_cases() -> Iterator[Case]:
    for planted in PLANTED:
        yield _planted(planted, _FAMILIES[planted.kind])
    for planted in PLANTED_OBJECTS:
        yield _planted(planted, _OBJECT_FAMILIES[planted.kind])
    for group, family in ((CLUSTERS, "clusters"), (COPIES + MBARRIERS, "asynchronous copies, mbarriers")):
        yield from (_planted(planted, family) for planted in group)
    yield from map(_race, GLOBAL_RACES)
    for family, group in _BAD_COURSES.items():
        yield from (_course(case, family) for case in group)
    yield from (_course(case, "patterns", "pattern") for case in BAD_PATTERNS)
    yield from (_course(case, "halos, stages, aliases, masks", "other") for case in BAD_OTHERS)
    yield from (_course(case, "scopes, roles, groups, ends of rows", "fourth") for case in BAD_FOURTH)
    yield from (_course(case, _FIFTH, "fifth") for case in BAD_FIFTH)
    yield from (_course(case, _SIXTH, "sixth") for case in BAD_SIXTH)
    yield from (_course(case, _SEVENTH, "seventh") for case in BAD_SEVENTH)
    yield from (_course(case, _EIGHTH, "eighth") for case in BAD_EIGHTH)
    yield from (_course(case, _NINTH, "ninth") for case in BAD_NINTH)
    yield from (_course(case, _TENTH, "tenth") for case in BAD_TENTH)
    yield from (_course(case, _ELEVENTH, "eleventh") for case in BAD_ELEVENTH)
    yield from (_course(case, _TWELFTH, "twelfth") for case in BAD_TWELFTH)
    yield from (_course(case, _THIRTEENTH, "thirteenth") for case in BAD_THIRTEENTH)
    yield from map(_refusal, REFUSALS)


def _good_cases() -> Iterator[Case]:
    for name, good in GOOD.items():
        yield _of_good(f"good/{name}", "kernels in which faults are planted", good)
    for name, good in CLUSTER.items():
        yield _of_good(f"good/{name}", "clusters and copies in which faults are planted", good)
    for name, good in OBJECTS.items():
        yield _of_good(f"good/{name}", "kernels of several arrays", good)
    for name, good in UNDEFINED.items():
        yield _of_good(f"good/{name}", "kernels with variables that have no value on some paths", good)
    for name, case in GLOBAL_CASES.items():
        yield _of_global(f"good, global/{name}", "kernels that share global memory", case)
    yield from (_course(case, "courses: one block at a time") for case in BLOCKS)
    yield from (_course(case, "courses: warps, blocks and clusters together") for case in TOGETHER)
    yield from (_course(case, "patterns", "pattern") for case in GOOD_PATTERNS)
    yield from (_course(case, "halos, stages, aliases, masks", "other") for case in GOOD_OTHERS)
    yield from (_course(case, "scopes, roles, groups, ends of rows", "fourth") for case in GOOD_FOURTH)
    yield from (_course(case, _FIFTH, "fifth") for case in GOOD_FIFTH)
    yield from (_course(case, _SIXTH, "sixth") for case in GOOD_SIXTH)
    yield from (_course(case, _SEVENTH, "seventh") for case in GOOD_SEVENTH)
    yield from (_course(case, _EIGHTH, "eighth") for case in GOOD_EIGHTH)
    yield from (_course(case, _NINTH, "ninth") for case in GOOD_NINTH)
    yield from (_course(case, _TENTH, "tenth") for case in GOOD_TENTH)
    yield from (_course(case, _ELEVENTH, "eleventh") for case in GOOD_ELEVENTH)
    yield from (_course(case, _TWELFTH, "twelfth") for case in GOOD_TWELFTH)
    yield from (_course(case, _THIRTEENTH, "thirteenth") for case in GOOD_THIRTEENTH)


@lru_cache(maxsize=1)
def planted_cases() -> tuple[Case, ...]:
    """All cases with a fault."""
    return tuple(_planted_cases())


@lru_cache(maxsize=1)
def good_cases() -> tuple[Case, ...]:
    """All good kernels."""
    return tuple(_good_cases())
