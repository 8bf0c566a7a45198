"""Record what one warp's access costs, a lane pattern at a time: shared wavefronts and global sectors.

The first recording (bank_patterns_h200.json) left open what this one settles: idle groups of lanes, each form of the
pairing rule, elements of 8 and 16 bits, instructions without an active lane, and
sectors shared by lanes of wide accesses.

    python -m tests.hardware.lanes record FOLDER       # where the GPU and ncu are; writes FOLDER/lane_patterns_h200.npz

Arrays, one row a pattern: kind ("s" shared or "g" global, "ld" or "st", bits a lane), index (n, 32) the
element each lane touches, active (n,) lane mask, and cost (-1 where the metric is of the other space).
"""

from __future__ import annotations

import csv
import io
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np

KINDS = tuple(f"{space}{op}{bits}" for space in "sg" for op in ("ld", "st") for bits in (8, 16, 32, 64, 128))
ELEMENTS = {8: 2048, 16: 2048, 32: 2048, 64: 2048, 128: 1024}

METRICS = {
    "s": {
        "wavefronts": "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_{op}.sum",
        "conflicts": "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_{op}.sum",
    },
    "g": {
        "requests": "l1tex__t_requests_pipe_lsu_mem_global_op_{op}.sum",
        "sectors": "l1tex__t_sectors_pipe_lsu_mem_global_op_{op}.sum",
    },
}

#: Nsight Compute's own least wavefronts, from the instruction's width and lanes.
IDEAL = "memory_l1_wavefronts_shared_ideal"
COSTS = ("wavefronts", "conflicts", "ideal", "requests", "sectors")
ABOUT = "NVIDIA H200 (sm_90), driver 580, CUDA 13.0, Nsight Compute; tests/hardware/lanes.py has patterns and metrics."

# The pattern comes by value (constant memory), so that the access under test is the only one of its space.
SOURCE = r"""
struct Pattern { unsigned offset[32]; unsigned active; };
template <int bits> struct Word;
template <> struct Word<8> { using type = unsigned char; };
template <> struct Word<16> { using type = unsigned short; };
template <> struct Word<32> { using type = unsigned; };
template <> struct Word<64> { using type = uint2; };
template <> struct Word<128> { using type = uint4; };
__device__ inline unsigned fold(unsigned v) { return v; }
__device__ inline unsigned fold(uint2 v) { return v.x ^ v.y; }
__device__ inline unsigned fold(uint4 v) { return v.x ^ v.y ^ v.z ^ v.w; }
template <typename T> __device__ inline T make(unsigned v) { return T(v); }
template <> __device__ inline uint2 make<uint2>(unsigned v) { return {v, v}; }
template <> __device__ inline uint4 make<uint4>(unsigned v) { return {v, v, v, v}; }

template <bool global, bool store, int bits>
__device__ void probe(const Pattern& pattern, char* memory, unsigned never) {
  extern __shared__ __align__(16) char buffer[];
  using T = typename Word<bits>::type;
  const unsigned lane = threadIdx.x;
  T* at = reinterpret_cast<T*>((global ? memory : buffer) + pattern.offset[lane]);
  if (pattern.active >> lane & 1) {
    if (store) *at = make<T>(lane);
    else if (fold(*at) == never) __trap();
  }
}
"""


def _entry(kind: str) -> str:
    space, op, bits = kind[0], kind[1:3], int(kind[3:])
    flags = f"{str(space == 'g').lower()}, {str(op == 'st').lower()}, {bits}"
    return (
        f'extern "C" __global__ void {kind}(const __grid_constant__ Pattern pattern, char* memory, unsigned never)'
        f" {{ probe<{flags}>(pattern, memory, never); }}\n"
    )


def patterns() -> Iterator[tuple[str, list[int], int]]:
    """(kind, index of each lane in elements, active mask), always the same."""
    for number, kind in enumerate(KINDS):
        bits = int(kind[3:])
        for index, mask in _shapes(np.random.default_rng(number), ELEMENTS[bits], vector=bits > 32):
            yield kind, [int(i) for i in index], mask


def _shapes(rng: np.random.Generator, elements: int, *, vector: bool) -> Iterator[tuple[np.ndarray, int]]:
    lane, full = np.arange(32), 2**32 - 1
    for stride in (1, 2, 3, 4, 8, 33):
        yield lane * stride % elements, full
    yield lane * 0, full
    yield lane ^ 5, full
    for mask in (0, 1, 1 << 20, 0xFFFF, 0xFFFF0000, 0xFF, 0xFF00FF00, 0x00FFFF00, 0x55555555, 0x11111111, 0x33333333):
        yield lane, mask
        yield lane * 16 % elements, mask
    for shape in (lane // 2, lane // 4, lane // 8, lane & ~2, lane & ~4, lane & ~16, lane & ~24, lane ^ lane // 2):
        yield shape, full
    halves = np.where(lane < 16, lane // 2, lane & ~2)
    for shape in (halves, np.where(lane < 16, lane, 16), np.where(lane < 8, 0, lane), np.where(lane < 24, 3, lane)):
        yield shape, full
    random_pairs = [rng.integers(0, elements, 32) for _ in range(6)]
    for draw in random_pairs:
        yield draw[lane & ~1], full
        yield draw[lane & ~2], full
        yield draw[lane & ~1], int(rng.integers(0, 2**32))
        yield draw[lane & ~2], int(rng.integers(0, 2**32))
        broken = draw[lane & ~1]
        broken[int(rng.integers(32))] = int(rng.integers(elements))
        yield broken, full
        yield draw, int(rng.integers(0, 2**32)) & int(rng.integers(0, 2**32))
        yield draw, 0x55555555 << int(rng.integers(2))
        yield draw, 0x11111111 << int(rng.integers(4))
    for _ in range(6 if vector else 3):
        yield rng.permutation(32), full
        yield rng.permutation(64)[:32], int(rng.integers(0, 2**32))
        yield rng.integers(0, 96, 32), full


def launch() -> None:
    """Launch every pattern once, in order."""
    import cupy

    module = cupy.RawModule(code=SOURCE + "".join(map(_entry, KINDS)), options=("-std=c++17",))
    functions = {kind: module.get_function(kind) for kind in KINDS}
    memory = cupy.cuda.alloc(1 << 20)
    for kind, index, mask in patterns():
        pattern = np.zeros(33, np.uint32)
        pattern[:32] = np.asarray(index) * (int(kind[3:]) // 8)
        pattern[32] = mask
        argument = pattern.view(np.dtype([("pattern", "V132")]))[0]
        functions[kind]((1,), (32,), (argument, memory, np.uint32(0x5BD1E995)), shared_mem=32 * 1024)
    cupy.cuda.Device().synchronize()


def _profile(metrics: list[str], kernels: str) -> list[dict[str, str]]:
    command = ["ncu", "--clock-control", "none", "--csv", "--page", "raw", "--print-units", "base", "-k", kernels]
    command += ["--metrics", ",".join(metrics), sys.executable, "-m", "tests.hardware.lanes", "launch"]
    text = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
    return [row for row in csv.DictReader(io.StringIO(text[text.index('"ID"') :])) if row["ID"].strip()]


def record(folder: Path) -> None:
    """Run ``launch`` under Nsight Compute and write what each pattern cost."""
    wanted = [metric.format(op=op) for space in METRICS.values() for metric in space.values() for op in ("ld", "st")]
    rows = iter(_profile(list(dict.fromkeys(wanted)), "regex:^[sg]"))
    ideals = iter(_profile([IDEAL], "regex:^s"))
    kinds, indices, masks, costs = [], [], [], {name: [] for name in COSTS}
    for kind, index, mask in patterns():
        row = next(rows)
        assert row["Kernel Name"].startswith(kind), (row["Kernel Name"], kind)
        found = {name: _number(row, metric.format(op=kind[1:3])) for name, metric in METRICS[kind[0]].items()}
        if kind[0] == "s":
            found["ideal"] = _number(next(ideals), IDEAL)
        for name, column in costs.items():
            column.append(found.get(name, -1))
        kinds.append(kind)
        indices.append(index)
        masks.append(mask)
    columns = {name: np.array(column, np.int16) for name, column in costs.items()}
    np.savez_compressed(
        folder / "lane_patterns_h200.npz",
        about=np.array(ABOUT),
        kind=np.array(kinds),
        index=np.array(indices, np.int16),
        active=np.array(masks, np.uint32),
        **columns,
    )


def _number(row: dict[str, str], metric: str) -> int:
    return int(float(row[metric].replace(",", "")))


if __name__ == "__main__":
    if sys.argv[1] == "launch":
        launch()
    else:
        record(Path(sys.argv[2]))
