"""Groups of lanes in one warp: each lane's answer comes from the lanes that its own mask names."""

from __future__ import annotations

import numpy as np
import pytest

from softlab.errors import KernelFault
from softlab.kernel import Kernel
from tests.sampled import each, turns

GRID, THREADS = 3, 96
SHAPE = (GRID * THREADS // 32, 32)  # warps, lanes
LANES = np.arange(32)
#: What all lanes run, and what lanes run that come to the instruction at different times.
PATHS = {"converged": "", "diverged": "for (int k = 0; k < (t * 7 + blockIdx.x) % 5; ++k) atomicAdd(out + i, 1);"}
REDUCTIONS = {
    "add": np.add,
    "min": np.minimum,
    "max": np.maximum,
    "and": np.bitwise_and,
    "or": np.bitwise_or,
    "xor": np.bitwise_xor,
}


def partition(groups: str) -> np.ndarray:
    """The group of each lane, (warps, 32): neighbours in groups of equal size, or random groups in each warp."""
    if groups != "random":
        return np.broadcast_to(LANES // int(groups), SHAPE)
    return np.random.default_rng(11).integers(0, 6, SHAPE)


def masks_of(group: np.ndarray) -> np.ndarray:
    """(warps, 32) uint32: the mask of each lane's group."""
    same = group[:, :, None] == group[:, None, :]
    return (same * (1 << LANES)).sum(axis=2).astype(np.uint32)


def members(mask: np.ndarray) -> list[int]:
    """The lanes that a mask names."""
    return [lane for lane in range(32) if int(mask) >> lane & 1]


def bits(lanes) -> int:
    return sum(1 << lane for lane in lanes)


def run(body: str, mask: np.ndarray, values: np.ndarray, per_thread: int = 1, *, head: str = "", **options):
    """``body`` in a kernel with ``v``, ``mask`` and ``out + i`` of each thread: (warps, 32, per_thread)."""
    kind = {"i": "int", "u": "unsigned", "f": "float"}[values.dtype.kind]
    source = f"""{head}
      extern "C" __global__ void k(const {kind}* in, const unsigned* masks, {kind}* out) {{
        int t = threadIdx.x, i = (blockIdx.x * blockDim.x + t) * {per_thread};
        {kind} v = in[i / {per_thread}]; unsigned mask = masks[i / {per_thread}];
        {body} }}"""
    out = np.zeros((*SHAPE, per_thread), values.dtype)
    Kernel(source, "k").run(GRID, THREADS, (values, mask, out), **options)
    return out


def integers(high: int, kind: type = np.uint32) -> np.ndarray:
    return np.random.default_rng(7).integers(0, high, SHAPE).astype(kind)


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("groups", ["2", "4", "8", "16", "random"])
def test_votes_group_valuess(groups, path):
    mask, values = masks_of(partition(groups)), integers(3)
    values[:3] = values[:3, :1]  # so that groups agree, too
    out = run(
        f"""bool p = v > 0; {PATHS[path]}
        out[i] = __ballot_sync(mask, p); out[i + 1] = __all_sync(mask, p); out[i + 2] = __any_sync(mask, p);
        out[i + 3] = __uni_sync(mask, p);""",
        mask, values, 4,
    )  # fmt: skip
    for warp, lane in np.ndindex(SHAPE):
        mine = members(mask[warp, lane])
        holds = [values[warp, other] > 0 for other in mine]
        ballot = bits(other for other in mine if values[warp, other] > 0)
        expected = [ballot, all(holds), any(holds), len(set(holds)) == 1]
        assert out[warp, lane].tolist() == expected, (warp, lane)


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("groups", ["2", "4", "8", "16", "random"])
def test_matches_group_valuess(groups, path):
    mask, values = masks_of(partition(groups)), integers(3)
    values[:3] = values[:3, :1]
    out = run(
        f"""int every; unsigned w = v; {PATHS[path]}
        out[i] = __match_any_sync(mask, w); out[i + 1] = __match_all_sync(mask, w, &every); out[i + 2] = every;""",
        mask, values, 3,
    )  # fmt: skip
    for warp, lane in np.ndindex(SHAPE):
        mine = members(mask[warp, lane])
        same = [other for other in mine if values[warp, other] == values[warp, lane]]
        every = same == mine
        assert out[warp, lane].tolist() == [bits(same), bits(mine) if every else 0, every], (warp, lane)


@pytest.mark.parametrize(("operation", "groups", "path"), turns(2, REDUCTIONS, ["2", "8", "random"], PATHS))
def test_reductions_group_valuess(operation, groups, path):
    kind = np.int32 if operation in ("min", "max") else np.uint32
    mask, values = masks_of(partition(groups)), integers(2**32).view(kind)
    out = run(f"auto w = v; {PATHS[path]} out[i] = __reduce_{operation}_sync(mask, w);", mask, values)
    for warp, lane in np.ndindex(SHAPE):
        group_values = values[warp, members(mask[warp, lane])]
        assert out[warp, lane, 0] == REDUCTIONS[operation].reduce(group_values, dtype=kind), (warp, lane)


@pytest.mark.parametrize("groups", ["2", "8", "random"])
def test_elected_lane_of_each_group(groups):
    mask = masks_of(partition(groups))
    out = run(
        """unsigned leader, mine;
        asm volatile("{ .reg .pred p; elect.sync %0|p, %2; selp.b32 %1, 1, 0, p; }"
          : "=r"(leader), "=r"(mine) : "r"(mask)); out[i] = leader; out[i + 1] = mine;""",
        mask, integers(2), 2,
    )  # fmt: skip
    for warp, lane in np.ndindex(SHAPE):
        lowest = members(mask[warp, lane])[0]
        assert out[warp, lane].tolist() == [lowest, lane == lowest], (warp, lane)


def test_shuffle_within_groups():
    mask, values = masks_of(partition("8")), integers(1000)
    out = run("out[i] = __shfl_xor_sync(mask, v, 5, 8);", mask, values)
    assert (out[..., 0] == values[:, LANES ^ 5]).all()


def test_tiles_of_cooperative_groups():
    values = integers(3)
    out = run(
        """auto tile = cooperative_groups::tiled_partition<8>(cooperative_groups::this_thread_block());
        out[i] = tile.ballot(v > 0); out[i + 1] = tile.all(v > 0); out[i + 2] = tile.any(v > 1);
        out[i + 3] = tile.match_any(v);""",
        masks_of(partition("8")), values, 4, head="#include <cooperative_groups.h>",
    )  # fmt: skip
    for warp, lane in np.ndindex(SHAPE):
        tile = values[warp, lane // 8 * 8 :][:8].tolist()
        ballot = bits(rank for rank in range(8) if tile[rank] > 0)
        same = bits(rank for rank in range(8) if tile[rank] == tile[lane % 8])
        expected = [ballot, min(tile) > 0, max(tile) > 1, same]
        assert out[warp, lane].tolist() == expected, (warp, lane)


@pytest.mark.parametrize("kind", each(2, [np.int32, np.float32]))
def test_labeled_partition_reduces_each_group(kind):
    labels, values = integers(5), integers(100, kind)
    c_kind = {np.int32: "int", np.float32: "float"}[kind]
    out = run(
        f"""namespace cg = cooperative_groups;
        auto group = cg::labeled_partition(cg::coalesced_threads(), mask);
        out[i] = cg::reduce(group, v, cg::plus<{c_kind}>()); out[i + 1] = group.size();""",
        labels, values, 2, head="#include <cooperative_groups.h>\n#include <cooperative_groups/reduce.h>",
    )  # fmt: skip
    for warp, lane in np.ndindex(SHAPE):
        mine = labels[warp] == labels[warp, lane]
        assert out[warp, lane].tolist() == [values[warp, mine].sum(), mine.sum()], (warp, lane)


def test_lanes_that_have_exited_do_not_answer():
    mask = np.full(SHAPE, 0xFFFF, np.uint32) << (LANES // 16 * 16).astype(np.uint32)
    out = run("if (t % 16 > 9) return; out[i] = __ballot_sync(mask, t % 2);", mask, integers(2))
    for warp, lane in np.ndindex(SHAPE):
        half = range(lane // 16 * 16, lane // 16 * 16 + 10)
        assert out[warp, lane, 0] == (bits(other for other in half if other % 2) if lane % 16 < 10 else 0)


def test_lanes_wait_for_those_that_come_with_the_same_mask():
    """Lane 1 first votes alone, and with lane 0 in the second turn of the loop."""
    out = run(
        """if (t % 32 > 1) return; unsigned sum = 0;
        for (int turn = 0; turn < 1 + t % 32; ++turn)
          sum = sum * 16 + __ballot_sync(t % 32 == 1 && turn == 0 ? 2 : 3, true);
        out[i] = sum;""",
        np.zeros(SHAPE, np.uint32), integers(2),
    )  # fmt: skip
    assert out[:, :2, 0].tolist() == [[3, 0x23]] * SHAPE[0]


@pytest.mark.parametrize(
    ("body", "why"),
    [
        ("out[i] = __ballot_sync(t % 32 < 8 ? 0xff00u : 0xffffff00u, 1);", "does not name it"),
        (
            "out[i] = __ballot_sync(t % 32 < 8 ? 0xffffu : 0xffffff00u, 1); __syncthreads();",
            "lanes that its mask names",
        ),
        ("out[i] = __shfl_xor_sync(mask, v, 8);", "does not take part"),
    ],
    ids=["not in its own mask", "two masks overlap", "source in another group"],
)
def test_masks_that_do_not_fit(body, why):
    with pytest.raises(KernelFault, match=why) as caught:
        run(body, masks_of(partition("8")), integers(2))
    assert caught.value.kind == "inactive-lane"


def test_guarded_vote_asks_those_that_execute_it():
    out = run(
        """unsigned got = 77;
        asm volatile("{ .reg .pred p; setp.ne.u32 p, %1, 0; @p vote.sync.ballot.b32 %0, p, %1; }"
          : "+r"(got) : "r"(t % 4 == 3 ? 0 : mask & 0x77777777)); out[i] = got;""",
        masks_of(partition("8")), integers(2),
    )  # fmt: skip
    for warp, lane in np.ndindex(SHAPE):
        assert out[warp, lane, 0] == (77 if lane % 4 == 3 else 0x77 << lane // 8 * 8)
