"""Bytes in flight: the registers are the compiler's, and the plan takes what brings enough."""

from __future__ import annotations

import pytest

from softlab import plans
from softlab.cuda.compile import compile_reports, kernel_sources
from softlab.hardware.devices import Device
from softlab.plans import flight, short_rows
from softlab.plans.fast_limits import Cut
from softlab.plans.resources import Resources

H200 = Device.named("H200")


def made(cols: int, dtype: str, op: str = "softmax") -> plans.Plan:
    return plans.plan(
        40_000, cols, dtype, op=op, policy="fast", device="H200", lookup=lambda *_: Resources(64, 0, 0, 0, "")
    )


@pytest.mark.parametrize(
    ("name", "key", "packs", "fewer"),
    [
        ("fast_block<__nv_bfloat16, Algorithm::softmax, 8, 4, 128, true>", (2, 1, True), 4, -8),
        ("fast_block<float, Algorithm::log_softmax, 4, 3, 128, false>", (4, 1, False), 3, 0),
        ("fast_block_backward<__nv_bfloat16, Algorithm::softmax, 8, 2, 128, true>", (2, 2, True), 2, 0),
        ("fast_block<double, Algorithm::log_softmax, 2, 8, 128, true>", (8, 1, True), 8, 16),
    ],
)
def test_the_most_registers_are_as_compiled(name: str, key: tuple[int, int, bool], packs: int, fewer: int) -> None:
    """The numbers are those of kernels with a loop over rows. Without it some take ``fewer`` than that."""
    report = compile_reports(kernel_sources()["fast_block.cuh"], [name], arch="sm_90", file="fast_block.cuh")[name]
    assert report["spill_bytes"] == 0
    assert flight.REGISTERS[key][packs - 1] - fewer == -(-report["registers"] // 8) * 8


def test_registers_are_those_that_an_sm_gives_out() -> None:
    """An SM gives a warp 256 registers at a time, 8 per thread; more packs and exact sums take no fewer."""
    by_key = (flight.REGISTERS, flight.EXACT_REGISTERS, flight.EXACT_REGISTERS_OF_CLUSTERS)
    tables = [row for table in by_key for row in table.values()]
    tables.append((*flight.REGISTERS_OF_CLUSTERS.values(),))
    assert {registers % 8 for table in tables for registers in table} == {0}
    for key, plain in flight.REGISTERS.items():
        exact = flight.EXACT_REGISTERS[key]
        assert all(a <= b for a, b in zip(plain, exact, strict=True)), key
        assert plain[0] < plain[-1] <= 128
    # Any pack size and number of inputs, with head and tail or without.
    assert flight.EXACT_REGISTERS.keys() == flight.REGISTERS.keys()
    assert flight.REGISTERS.keys() == {(size, n, un) for size in (2, 4, 8) for n in (1, 2) for un in (False, True)}
    for key, clusters in flight.EXACT_REGISTERS_OF_CLUSTERS.items():
        assert all(a <= b for a, b in zip(flight.REGISTERS[key], clusters, strict=True)), key


def test_more_blocks_on_an_sm_are_more_in_flight() -> None:
    """772 packs of 16-bit elements: 256 threads with 4 packs each bring more than 512 with 2."""
    row = {"packs": 772, "row_bytes": 12366, "itemsize": 2, "inputs": 1, "unaligned": True}
    small, large = (flight.of_block(H200, Cut(1, size, 4), **row) for size in (256, 512))
    assert small > flight.ENOUGH > large
    assert made(6183, "bfloat16").name == "fast_block<__nv_bfloat16, Algorithm::softmax, 8, 4, 256, true>"


def test_a_sixth_pack_in_a_cluster_of_large_blocks_leaves_room_for_one_block() -> None:
    """Of unaligned gradients; with 256 threads the x still grows. Of the blocks on an SM 0.75 bring no bytes."""

    def x(size: int, held: int) -> float:
        row = {"packs": held * 2 * size, "row_bytes": held * size * 64, "itemsize": 2, "inputs": 2}
        return flight.of_block(H200, Cut(2, size, held), unaligned=True, **row)

    assert x(256, 6) > x(256, 5)
    assert x(512, 6) / x(512, 5) == pytest.approx(6 / 5 * (1 - 0.75) / (2 - 0.75))


def test_clusters_need_more() -> None:
    row = {"packs": 4096, "row_bytes": 65536, "itemsize": 2, "inputs": 1, "unaligned": False}
    assert flight.of_block(H200, Cut(4, 256, 4), **row) < flight.of_block(H200, Cut(2, 512, 4), **row)


def test_fewer_lanes_take_longer_rows_if_more_is_in_flight() -> None:
    """35 packs: 32 lanes with two packs each would leave half of them empty, 16 with three a quarter."""
    assert made(284, "bfloat16").name == "fast_warp<__nv_bfloat16, Algorithm::softmax, 8, 5, 8, 1, true>"
    assert made(512, "float16").name == "fast_warp<__half, Algorithm::softmax, 8, 2, 32, 1, false>"


@pytest.mark.parametrize(("memory", "issue", "share"), [(1.0, 0.5, 1.5), (1.0, 0.9, 1.3131), (2.0, 2.0, 1.1818)])
def test_instructions_bound_what_memory_gives(memory: float, issue: float, share: float) -> None:
    """Enough is 1.3: there memory takes 1.1 times as long as the instructions."""
    assert flight.bounded(1.5, memory, issue, 1.1) == pytest.approx(share, abs=1e-4)
    assert flight.bounded(0.8, memory, issue, 1.1) == 0.8


@pytest.mark.parametrize("op", ["softmax", "log_softmax"])
@pytest.mark.parametrize(
    ("dtype", "cols", "kernel"),
    [
        ("bfloat16", 776, "fast_warp<__nv_bfloat16, Algorithm::{}, 8, 4, 32, 1, false>"),
        ("float16", 1040, "fast_warp<__half, Algorithm::{}, 8, 5, 32, 1, false>"),
        ("bfloat16", 848, "fast_warp<__nv_bfloat16, Algorithm::{}, 8, 4, 32, 1, false>"),
        ("bfloat16", 864, "fast_block<__nv_bfloat16, Algorithm::{}, 8, 2, 64, false>"),
        ("float16", 792, "fast_block<__half, Algorithm::{}, 8, 2, 64, false>"),
        ("float16", 1048, "fast_block<__half, Algorithm::{}, 8, 3, 64, false>"),
        ("float32", 388, "fast_block<float, Algorithm::{}, 4, 2, 64, false>"),
    ],
)
def test_a_warp_takes_rows_that_leave_too_many_threads_of_a_block_idle(
    dtype: str, cols: int, kernel: str, op: str
) -> None:
    """97 packs in 128 places, 130 in 192; of bfloat16 106 in 128.

    Elements of 32 bits take half the instructions per byte.
    """
    assert made(cols, dtype, op).name == kernel.format(op)


@pytest.mark.parametrize("op", ["softmax", "log_softmax", "softmax_backward", "log_softmax_backward"])
def test_where_a_warp_is_longer_than_its_limit_memory_hides_its_instructions_alone(op: str) -> None:
    """Memory takes 1.1 times as long as the instructions of the warp, and not as long as those of the block."""
    found = []
    for dtype, per_pack, weight in (("float16", 8, 2), ("float32", 4, 4)):
        for packs in range(97, 193):
            plan = made(packs * per_pack, dtype, op)
            if plan.kernel != "fast_warp":
                continue
            inputs = 2 if "backward" in op else 1
            problem = short_rows.Problem(packs * per_pack, weight, inputs, op)
            warp = short_rows.issue(problem, per_pack, -(-packs // 32), 32, unaligned=False)
            block = min(
                short_rows.issue(problem, per_pack, -(-packs // size), size, unaligned=False) for size in (64, 128)
            )
            assert 1.1 * warp <= problem.memory < 1.1 * block
            found.append(packs)
    assert found == ([] if "backward" in op else [97, 98, 129, 130])


@pytest.mark.parametrize(
    ("itemsize", "inputs", "exact", "blocks", "needed"),
    [
        (4, 1, False, 12, 28), (4, 1, True, 12, 28), (2, 1, False, 12, 28), (2, 1, True, 12, 56),
        (4, 2, False, 10, 28), (2, 2, True, 10, 28), (8, 2, True, 10, 28),
    ],
)  # fmt: skip
def test_bytes_in_flight_of_groups_of_lanes(itemsize: int, inputs: int, exact: bool, blocks: int, needed: int) -> None:
    """Two packs: 40 registers leave room for 12 blocks of 128 threads, 48 for 10; a block has 32 groups of 4 lanes."""
    x = flight.of_warps(H200, 4, 2, 1000, itemsize, inputs, exact)
    assert x == pytest.approx(blocks * 32 * 1000 / (needed * 1024))


@pytest.mark.parametrize("packs", [1, 2, 3, 4])
@pytest.mark.parametrize("inputs", [1, 2])
@pytest.mark.parametrize("itemsize", [2, 4, 8])
def test_what_exact_sums_need_more(itemsize: int, inputs: int, packs: int) -> None:
    """A block without a cluster, beside the same with the registers that exact sums take."""
    key, row_bytes, threads = (itemsize, inputs, False), 10_000, 256
    given = (H200, Cut(1, threads, packs), packs * threads, row_bytes, itemsize, inputs, False)
    for exact in (False, True):
        registers = (flight.EXACT_REGISTERS if exact else flight.REGISTERS)[key][packs - 1]
        blocks = 65_536 // (threads * registers)
        more = 1.0
        if exact and inputs == 2 and itemsize < 8:
            more = {1: 2.0, 2: 1.7, 3: 1.4}.get(packs, 1.0)
        elif exact and (inputs, itemsize) == (1, 2):
            more = 1.5
        idle = 0.25 if inputs == 1 else 0.75
        wanted = (min(blocks, 2048 // threads) - idle) * row_bytes / (40 * 1024 * more)
        assert flight.of_block(*given, exact) == pytest.approx(wanted)


@pytest.mark.parametrize("op", ["softmax_backward", "log_softmax_backward"])
def test_exact_gradients_of_16_bits_have_few_idle_lanes(op: str) -> None:
    """Up to five packs per lane, the least lanes times packs of those with enough in flight; else the most."""
    lookup = lambda *_: Resources(64, 0, 0, 0, "")  # noqa: E731
    for cols in (*range(257, 700, 9), *range(264, 1024, 40)):
        plan = plans.plan(40_000, cols, "float16", op=op, policy="invariant", device="H200", lookup=lookup)
        if "warp" not in plan.kernel:
            continue
        width, held = plan.thread_group_width, plan.cols_per_thread // plan.pack_size
        packs = cols // plan.pack_size
        shapes = [(lanes, -(-packs // lanes)) for lanes in (1, 2, 4, 8, 16, 32)]
        full = [
            lanes * each
            for lanes, each in shapes
            if each <= 5 and flight.of_warps(H200, lanes, each, cols * 4, 2, 2, True) >= flight.ENOUGH
        ]
        assert not full or width * held == min(full), cols
        assert held <= 5 or not full, cols


def test_the_first_candidate_that_is_enough_is_taken() -> None:
    first, second, third = (Cut(1, size, 4) for size in (64, 128, 256))
    assert flight.best([(0.5, first), (1.4, second), (9.0, third)]) == second
    assert flight.best([(0.5, first), (0.9, second)]) == second
    assert flight.best([(0.9, first), (0.5, second)]) == first
    assert flight.best([(1.29, first), (1.3, second), (1.4, third)]) == second, "1.3 is enough"
    assert flight.best([(1.3, first), (1.5, second)], 1.5) == second
    assert flight.best([]) is None


def test_unaligned_16_bit_rows_have_few_warps_per_pack() -> None:
    """float16 x 16 715 was 0.84 of a copy with 32 warps and 3 packs, and 0.97 with 16 warps and 5."""
    row = {"packs": 2089, "itemsize": 2, "inputs": 1, "unaligned": True}
    assert flight.shared_by_few(Cut(2, 256, 10), **row)
    assert not flight.shared_by_few(Cut(4, 256, 10), **row)
    assert flight.shared_by_few(Cut(4, 256, 10), **{**row, "unaligned": False})
    assert made(16_715, "float16").name == "fast_cluster<__half, Algorithm::softmax, 8, 5, 256, 2, true>"
    assert made(8639, "float16").name == "fast_block<__half, Algorithm::softmax, 8, 5, 256, true>"


def test_exact_sums_take_more_registers() -> None:
    """So the same cut has less in flight, and gradients of many packs are divided among more blocks."""
    row = {"packs": 4000, "row_bytes": 128_000, "itemsize": 2, "inputs": 2, "unaligned": False}
    plain, exact = (flight.of_block(H200, Cut(4, 256, 6), **row, exact=exact) for exact in (False, True))
    assert exact < plain
    name = "invariant_block_backward<__half, Algorithm::softmax, 8, 2, 256, true>"
    report = compile_reports(kernel_sources()["invariant.cuh"], [name], arch="sm_90", file="invariant.cuh")[name]
    assert report["spill_bytes"] == 0
    assert flight.EXACT_REGISTERS[2, 2, True][1] == -(-report["registers"] // 8) * 8


@pytest.mark.parametrize("packs", [1, 2, 3, 7, 8, 13, 32, 48, 100])
@pytest.mark.parametrize("rows", [1, 100, 2112, 2113, 5000, 8448, 40_000, 10**6])
def test_few_rows_take_the_lanes_that_other_warps_do_not_need(rows: int, packs: int) -> None:
    """No wider than the packs, and four warps per scheduler at most; many rows keep what was chosen."""
    device = Device.named("H100")
    shapes = [(width, -(-packs // width)) for width in (2, 4, 8, 16, 32)]
    for chosen in shapes:
        width, each = flight.widest_of_few(device, rows, chosen, shapes)
        assert (width, each) in shapes
        assert width >= chosen[0]
        warps = -(-rows * width // 32)
        assert width == chosen[0] or warps <= 4 * 4 * 132
        assert width == chosen[0] or width // 2 < packs, "half of the lanes would hold nothing"
        wider = 2 * width
        assert wider > 32 or each == 1 or rows * wider > 4 * 4 * 132 * 32 or width > packs
