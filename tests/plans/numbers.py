"""The numbers behind plans, as digests: what each rule of the policy "fast" computes for random problems.

    python -m tests.plans.numbers             # record them as they are now, after a change that is meant
    python -m tests.plans.numbers show NAME   # print those of one function, to compare them with another checkout's

A plan shows a cost or a share only where it decides (:mod:`tests.plans.recorded`); here each is seen. Numbers count to
nine digits. Constants come from measurements (kernels/FAST.md); the digests show that a change of the code moved one.
"""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Iterator
from dataclasses import fields, is_dataclass, replace
from itertools import product
from pathlib import Path
from random import Random
from typing import Any

from softlab.dtypes import element_type
from softlab.hardware import occupancies
from softlab.plans import (
    fast,
    fast_cuts,
    fast_doubles,
    fast_fused,
    fast_ring,
    few_rows,
    flight,
    long_rows,
    short_rows,
    strip_grid,
    strip_shapes,
    tiles,
)
from softlab.plans.fast_limits import BLOCK_SIZES, CLUSTERS, GROUP_WIDTHS, LIMITS, Cut
from softlab.plans.fast_rows import Row, row_of
from softlab.plans.planner import OPERATORS, FusedSteps, PlanRequest, StepLog
from tests.plans.recorded import DEVICES, plan_of, taken

RECORD = Path(__file__).parents[1] / "data" / "plan_numbers.json"

#: Problems per list, and results that share a digest.
COUNT, GROUP = 60, 5
FUSED = (
    FusedSteps(), FusedSteps((1,)), FusedSteps((2, 1), shared=True), FusedSteps(causal=True), FusedSteps((4,),
    drops=True),
)  # fmt: skip


def text(value: Any) -> str:
    """A result with its numbers to nine digits; a record is its fields."""
    if is_dataclass(value) and not isinstance(value, type):
        return f"{type(value).__name__}{[text(getattr(value, field.name)) for field in fields(value)]}"
    if isinstance(value, tuple | list):
        return f"[{', '.join(map(text, value))}]"
    return f"{value:.9g}" if isinstance(value, float) else str(value)


def requests(seed: int, longest: int, **more: Any) -> Iterator[PlanRequest]:
    """Random problems on all devices; rows up to 2**longest columns, each power of two as likely."""
    draw = Random(seed).random
    operators = [
        name for name in OPERATORS if name in ("softmax", "log_softmax", "softmax_backward", "log_softmax_backward")
    ]
    for number in range(COUNT):
        cols = int(2.0 ** (longest * draw())) // (1, 1, 8)[int(3 * draw())] * (1, 8)[int(2 * draw())] + 1
        cols = cols - 1 if number % 2 and cols > 8 else cols
        yield PlanRequest(
            int(2.0 ** (14 * draw())), cols, element_type(("float16", "float32", "float64")[number % 3]),
            OPERATORS[operators[number // 3 % 4]], list(DEVICES.values())[int(len(DEVICES) * draw())],
            lookup=taken, policy=("fast", "fast", "invariant")[number % 7 % 3], **more,
        )  # fmt: skip


def rings() -> Iterator[tuple[str, Any]]:
    """Long rows: the grid and the ring."""
    for request in requests(1, 25):
        row = row_of(request, StepLog())
        grids = [fast_cuts.grid_shape(request, row, few) for few in (False, True)]
        yield "grid_shape", grids
        shape = fast_ring.ring_shape(request, row)
        yield "ring_shape", shape
        for groups, kept in product((1, 2, 3, 7, 20), (0, fast_ring.KEPT[row.inputs])):
            if row.pack_size * request.element.itemsize == 16:
                found = fast_ring._shape(request, row, groups, kept)
                yield "_shape", (found, found and (found.slots, found.row_steps, found.packs_read_again(row)))
        if shape:
            yield "is_faster", [fast_ring.is_faster(shape, grid, request, row) for grid in grids]
            if request.element.itemsize == 8:
                yield from _doubles(request, row, shape)
        for cuts in (0, 8, 16):
            yield "few_rows_cut", fast_cuts.few_rows_cut(request, row, cuts)
            yield "pipeline_cut", fast_cuts.pipeline_cut(request, row, cuts, row.limits.pipelines)
            yield "cut_of", fast_cuts.cut_of(row, cuts, row.limits.cuts)
        yield "clusters_of", [fast_cuts.clusters_of(request.device, size) for size in (1, *CLUSTERS)]


def _doubles(request: PlanRequest, row: Row, ring: fast_ring.RingShape) -> Iterator[tuple[str, Any]]:
    """The grid and the ring by their times."""
    most = fast_doubles.grid_packs(request, row)
    grid = fast_cuts.grid_shape(request, row, False, most)
    yield "grid_packs", (most, grid, fast_doubles.are_timed(request))
    yield "ring_is_faster", fast_doubles.ring_is_faster(ring, grid, request, row)
    if grid and grid.rows_in_flight:
        yield "grid_microseconds", fast_doubles.grid_microseconds(request, row, grid)


def long() -> Iterator[tuple[str, Any]]:
    """Rows of 2^17 to 2^19 columns: clusters and rings by their time."""
    draw = Random(11).random
    for request in requests(11, 2):
        request = replace(request, rows=100 + int(700 * draw()), cols=int(2.0 ** (17 + 2 * draw())), policy="fast")
        row = row_of(request, StepLog())
        if request.element.itemsize == 8:
            continue
        cuts = [Cut(16, size, packs) for size, packs in product((128, 256, 512), range(2, 15))]
        yield "microseconds", [long_rows.microseconds(request, replace(row, packs=cut.most), cut) for cut in cuts]
        found = [*long_rows._cuts(request, row), fast_ring.best_of_steps(request, row)]
        yield "candidates", found
        yield "quickest", [long_rows.quickest(request, row, one) for one in found if one]


def short() -> Iterator[tuple[str, Any]]:
    """Rows that a warp, a block or a cluster holds."""
    for request in requests(2, 13):
        row, problem = row_of(request, StepLog()), fast._problem(request)
        lanes = fast._lanes(request, row)
        costs = [short_rows.of_fast(problem, lanes, unaligned=unaligned) for unaligned in (False, True)]
        yield "_lanes", (lanes, fast._packs_of_a_warp(request, row))
        yield "of_fast", [(cost, cost.most, cost.blended) for cost in costs]
        if request.device.compute_capability >= (8, 0):
            tile = fast._tile_shape(request)
            yield "tile", (tile, tiles.latency(problem))
            if tile:
                cost = tiles.cost(problem, tile, row.pack_size)
                yield "tiles.cost", (cost, cost.most, cost.blended, tile.rows, tile.row_elements)
        theirs = fast._of_warps(request, row) if request.cols <= 512 else {}
        yield "_of_warps", [(name, cost, cost.blended) for name, cost in theirs.items()]
        yield from _in_flight(request, row)


def _in_flight(request: PlanRequest, row: Row) -> Iterator[tuple[str, Any]]:
    itemsize, inputs, exact = request.element.itemsize, row.inputs, request.policy == "invariant"
    row_bytes = request.cols * itemsize * inputs
    most = flight.most_packs(itemsize, inputs, exact)
    yield "most_packs", (most, flight.most_packs(itemsize, inputs, not exact))
    cuts = [Cut(cluster, size, most) for cluster, size in product((1, *CLUSTERS), BLOCK_SIZES)]
    for cut in cuts:
        yield "Cut", (cut.most, cut.taken(row.packs), cut.per_block(row.packs), cut.fill(row.packs))
        if cut.taken(row.packs) <= most:
            share = flight.of_block(request.device, cut, row.packs, row_bytes, itemsize, inputs, row.unaligned, exact)
            yield "of_block", (share, flight.shared_by_few(cut, row.packs, itemsize, inputs, row.unaligned))
    shapes = [(width, -(-row.packs // width)) for width in GROUP_WIDTHS]
    for width, packs in shapes:
        if packs <= 8:
            yield "of_warps", flight.of_warps(request.device, width, packs, row_bytes, itemsize, inputs, exact)
    if request.rows and request.cols:
        yield "few_rows", (few_rows.are_few(request), few_rows.quickest(request))
    yield "widest_of_few", flight.widest_of_few(request.device, request.rows, shapes[0], shapes)
    for blocks in (0, 8, 16):
        yield "_alone", fast._alone(request, row, blocks)
        if request.policy == "fast" and blocks and LIMITS[itemsize, inputs].cuts:
            yield "_cluster_cut", fast._cluster_cut(request, row, blocks)


def strips() -> Iterator[tuple[str, Any]]:
    """Rows along another axis."""
    for number, stride in enumerate((2, 3, 5, 8, 20, 64, 100, 257, 384, 1000, 1024, 5000)):
        for request in list(requests(3 + number, 14, stride=stride))[number % 5 :: 9]:
            request = PlanRequest(**{**vars(request), "rows": stride * (1 + request.rows % 50)})
            found = list(strip_shapes.shapes(request))
            yield "shapes", found
            for shape in found[::7]:
                itemsize = request.element.itemsize
                yield "cost", (strip_shapes.cost(request, shape), strip_shapes.static_bytes(request, shape))
                yield (
                    "strips",
                    (strip_shapes.strips(request, shape), shape.depth, shape.elements, shape.width(itemsize)),
                )
                yield "numbers", [shape.numbers(once) for once in (False, True)]
            longest = strip_shapes.longest(request)
            yield "longest", longest
            yield "cost_of_long", [strip_shapes.cost_of_long(request, longest, once) for once in (False, True)]
            across = list(strip_grid.shapes(request))
            yield "strips of a grid", across
            for other in across[::5]:
                own = (strip_grid.cost(request, other), other.smem_bytes(request), other.workspace_bytes)
                yield "costs of a grid", own


def fused() -> Iterator[tuple[str, Any]]:
    """Rows with fused steps."""
    for number, steps in enumerate(FUSED):
        for request in list(requests(30 + number, 13, fused=steps))[number % 2 :: 2]:
            request = PlanRequest(**{**vars(request), "policy": "fast"})
            row = fast_fused._row(request, StepLog())
            yield "_row", (row, fast_fused._packs_of_a_warp(request, row), fast_fused._belongs_to_reference(request))
            pairs = list(product((1, 2, 3, 5, 8), (1, 4, 32, 64, 128, 512)))
            yield "registers", [(row.registers(*pair), row.holds(*pair)) for pair in pairs]
            cuts = [Cut(cluster, size, 8) for cluster, size in product((1, 2, 8), (32, 128, 512))]
            held = [cut for cut in cuts if cut.taken(row.packs) <= 16]
            yield "_issue", [fast_fused._issue(row, cut) for cut in held]
            yield "_of_blocks", [fast_fused._of_blocks(request, row, cut) for cut in held]
            yield "_of_lanes", [fast_fused._of_lanes(request, row, width, 2) for width in GROUP_WIDTHS]
            inputs, itemsize = request.operator.rows_kept, request.element.itemsize
            yield (
                "_element_instructions",
                [fast_fused._element_instructions(steps, inputs, keeps) for keeps in (False, True)],
            )
            if itemsize < 8:
                yield "_tiles_pay", fast_fused._tiles_pay(min(request.cols, 512 // itemsize), itemsize, steps, inputs)


def occupied() -> Iterator[tuple[str, Any]]:
    """Blocks on an SM, and what limits them."""
    draw = Random(9).random
    for device, _ in product(DEVICES.values(), range(40)):
        threads, registers = 1 + int(1024 * draw()), 1 + int(255 * draw())
        smem = min(int(2 ** (18 * draw())), device.smem_per_block_optin)
        for opt_in in (False, True):
            found = occupancies.occupancy(device, threads=threads, registers=registers, smem=smem, opt_in=opt_in)
            yield "occupancy", (found, found.threads_per_sm, str(found))
            yield "limits", occupancies.limits(device, threads, registers, smem, opt_in)


def invented() -> Iterator[tuple[str, Any]]:
    """Problems on GPUs that nobody built: other numbers of SMs, threads and blocks, and any amount of shared memory."""
    draw = Random(10).random
    built = list(DEVICES.values())
    for number, request in enumerate([*requests(40, 25), *requests(41, 25), *requests(42, 13)]):
        like, kib = built[number % len(built)], 33 + int(190 * draw())
        device = replace(
            like, name=f"{like.name}, {number}", sm_count=1 + int(190 * draw()),
            smem_per_block_optin=1024 * kib - 128 * int(8 * draw()), smem_per_sm=1024 * (kib + 1 + int(80 * draw())),
            max_threads_per_sm=(1024, 1536, 2048)[int(3 * draw())], max_blocks_per_sm=(16, 24, 32)[int(3 * draw())],
        )  # fmt: skip
        request = PlanRequest(**{**vars(request), "device": device})
        row = row_of(request, StepLog())
        yield (
            "pipeline_cut",
            [fast_cuts.pipeline_cut(request, row, cuts, row.limits.pipelines) for cuts in (0, 1, 8, 16)],
        )
        yield "few_rows_cut", [fast_cuts.few_rows_cut(request, row, cuts) for cuts in (8, 16)]
        yield "grid_shape", [fast_cuts.grid_shape(request, row, few) for few in (False, True)]
        yield "ring_shape", fast_ring.ring_shape(request, row)
        yield "occupancy", occupancies.occupancy(device, threads=256, registers=40, smem=512 * (number % 60))
        yield "plan", plan_of(request.rows, request.cols, {
            "device": device, "dtype": request.element.name, "op": request.operator.name, "policy": request.policy,
        })  # fmt: skip


def digests() -> dict[str, str]:
    """List and function -> the digests of groups of its results."""
    lists: dict[str, list[str]] = {}
    for make in (rings, long, short, strips, fused, occupied, invented):
        for name, value in make():
            lists.setdefault(f"{make.__name__}, {name}", []).append(text(value))
    return {
        key: " ".join(
            hashlib.sha256("\n".join(found[at : at + GROUP]).encode()).hexdigest()[:4]
            for at in range(0, len(found), GROUP)
        )
        for key, found in lists.items()
    }


def main(arguments: list[str]) -> None:
    """Record all, or show one."""
    if arguments:
        for make in (rings, long, short, strips, fused, occupied, invented):
            print(*(text(value) for name, value in make() if name == arguments[1]), sep="\n")
    else:
        RECORD.write_text(json.dumps(digests(), indent=0) + "\n")


if __name__ == "__main__":
    main(sys.argv[1:])
