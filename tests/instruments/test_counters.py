"""Counters of whole runs: against the rules applied to each recorded access, plain counting, and hardware."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from softlab.instruments.banks import wavefronts_and_conflicts
from softlab.instruments.coalescing import global_sectors
from softlab.instruments.counters import Counters
from softlab.kernel import Kernel
from softlab.traces import COUNTERS
from tests.sampled import turns

DATA = Path(__file__).parent.parent / "data"

PATTERNS = """
template <int stride> __global__ void shared(const float* x, float* y, int shift) {
  __shared__ float s[32 * 33 * 8]; int t = threadIdx.x;
  for (int i = t; i < 32 * 33 * 8; i += blockDim.x) s[i] = x[i % 64];
  __syncthreads();
  float v = s[(t * stride + shift) % 8448];
  if (t % 3) v += s[t / 2];
  if (x[t % 64] > 0) v += s[(t * t) % 1024];
  __syncthreads();
  s[(t * 7) % 8448] = v;
  __syncthreads();
  float4 w = ((float4*)s)[t % 32];
  y[blockIdx.x * blockDim.x + t] = v + w.x + w.y;
}
template <int stride> __global__ void global(const float* x, float* y, int offset) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float v = x[i * stride + offset];
  if (i % 5) v += x[i * 3 / 2];
  if (v > 0) v += x[(i * i) % 4096];
  y[i] = v;
  if (threadIdx.x % 2) ((float2*)(y + 8192))[i] = make_float2(v, v);
}
"""


def of_records(run) -> dict[str, int]:
    """The counters of recorded accesses, each warp's access by itself."""
    counts = dict.fromkeys(COUNTERS, 0)
    for accesses, space in ((run.shared, "shared"), (run.global_, "global")):
        for n in range(len(accesses)):
            kind = "store" if accesses.store[n] else "load"
            address, active = accesses.address[n : n + 1].astype(np.int64), accesses.active[n : n + 1]
            width, store = int(accesses.width[n]), bool(accesses.store[n])
            if space == "shared":
                counts[f"shared_{kind}_instructions"] += 1
                wavefronts, conflicts = wavefronts_and_conflicts(address, active, width, store)
                counts[f"shared_{kind}_wavefronts"] += int(wavefronts[0])
                counts["bank_conflicts"] += int(conflicts[0])
            else:
                counts[f"global_{kind}_requests"] += 1
                counts[f"global_{kind}_sectors"] += int(global_sectors(address, active, width)[0])
    return counts


@pytest.mark.parametrize(
    ("kernel", "block"), turns(3, ["shared<1>", "shared<2>", "shared<33>", "global<1>", "global<3>"], [32, 96, 100])
)
def test_counters_are_those_of_each_access(kernel, block):
    x = np.random.default_rng(0).standard_normal(5000).astype(np.float32)
    y = np.zeros(20000, np.float32)
    run = Kernel(PATTERNS, kernel).run(3, block, (x, y, 5), blocks=(0, 1, 2))
    expected = of_records(run)
    memory = [name for name in COUNTERS if name.startswith(("shared", "global", "bank"))]
    assert {name: run.counters[name] for name in memory} == {name: expected[name] for name in memory}
    assert (expected["bank_conflicts"] > 0) == kernel.startswith("shared")


def test_instructions_are_counted_per_warp():
    """40 threads are two warps, and a divergent branch runs once for each side."""
    kernel = Kernel(
        """extern "C" __global__ void k(int* x, int n) {
          for (int i = 0; i < n; ++i) asm volatile("membar.cta;");
          if (threadIdx.x % 2) asm volatile("membar.gl;"); else asm volatile("membar.sys;");
          if (threadIdx.x < 32) asm volatile("fence.proxy.async;");
          asm volatile("bar.sync 0;"); x[0] = __shfl_sync(__activemask(), n, 0); }""",
        "k",
    )
    run = kernel.run(3, 40, (np.zeros(1, np.int32), 5), check=False)
    issued: dict[str, int] = {}
    for text, row in zip(run.instructions.text, run.instructions.counts, strict=True):
        issued[text] = issued.get(text, 0) + int(row[COUNTERS.index("ptx_instructions")])
    warps = 3 * 2
    assert issued["membar.cta;"] == 5 * warps  # however the compiler unrolls the loop
    assert issued["membar.gl;"] == issued["membar.sys;"] == warps
    assert issued["fence.proxy.async;"] == 3
    assert run.counters["barriers"] == run.counters["shuffle_instructions"] == warps
    assert run.counters["ptx_instructions"] == run.instructions.counts[:, COUNTERS.index("ptx_instructions")].sum()


@pytest.mark.further
def test_transposes_have_the_wavefronts_of_an_h200():
    """Recorded in tests/data/ncu_h200.json: 6144 for the plain tile, 192 for the padded one."""
    source = """extern "C" __global__ void k(const float* in, float* out, int width, int height) {
      __shared__ float tile[32][PITCH];
      int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
      for (int j = 0; j < 32; j += 8) tile[threadIdx.y + j][threadIdx.x] = in[(y + j) * width + x];
      __syncthreads();
      x = blockIdx.y * 32 + threadIdx.x; y = blockIdx.x * 32 + threadIdx.y;
      for (int j = 0; j < 32; j += 8) out[(y + j) * height + x] = tile[threadIdx.x][threadIdx.y + j]; }"""
    matrix = np.arange(64 * 96, dtype=np.float32).reshape(96, 64)
    recorded = json.loads((DATA / "ncu_h200.json").read_text())["cases"]
    for pitch, case in ((32, "transpose plain"), (33, "transpose padded")):
        out = np.zeros((64, 96), np.float32)
        run = Kernel(source, "k", options=(f"-DPITCH={pitch}",)).run((2, 3), (32, 8), (matrix, out, 64, 96))
        assert (out == matrix.T).all()
        for name in (
            "shared_load_wavefronts",
            "shared_store_wavefronts",
            "global_load_sectors",
            "global_store_sectors",
        ):
            assert run.counters[name] == recorded[case][name]


def test_lines_add_up_to_the_totals():
    x = np.zeros(256, np.float32)
    source = """extern "C" __global__ void k(float* x) {
  __shared__ float s[64]; x += 64 * blockIdx.x;
  s[threadIdx.x] = x[threadIdx.x];
  __syncthreads();
  x[threadIdx.x] = s[63 - threadIdx.x];
}"""
    run = Kernel(source, "k").run(2, 64, (x,))
    lines = run.by_line()
    assert lines[3]["global_load_requests"] == lines[3]["shared_store_instructions"] == 4
    assert lines[4]["barriers"] == 4
    assert lines[5]["global_store_requests"] == lines[5]["shared_load_wavefronts"] == 4
    assert {name: sum(line[name] for line in lines.values()) for name in COUNTERS} == run.counters


def test_atomics_and_constants_are_no_loads_or_stores():
    source = """__constant__ float c[32] = {1};
    extern "C" __global__ void k(float* x) { __shared__ int s[32]; int t = threadIdx.x; s[t] = 0; __syncthreads();
      atomicAdd(s + t % 4, 1); __syncthreads(); x[t] = c[s[t]]; }"""
    counters = Kernel(source, "k").run(1, 32, (np.zeros(32, np.float32),)).counters
    assert counters["shared_store_instructions"] == counters["shared_load_instructions"] == 1
    assert counters["global_load_requests"] == 0
    assert counters["global_store_sectors"] == 4


OFFSET = """extern "C" __global__ void k(const int* x, int* y) {
  __shared__ int bins[1100];
  int i = blockIdx.x * 32 + threadIdx.x;
  for (int k = threadIdx.x; k < 1100; k += 32) bins[k] = 0;
  __syncthreads();
  unsigned at = __cvta_generic_to_shared(&bins[x[i] - DISTANCE]);
  asm volatile("red.shared.add.u32 [%0+OFFSET], 1;" :: REGISTER : "memory");
  __syncthreads();
  y[i] = bins[x[i]];
}"""


@pytest.mark.parametrize(("distance", "register"), turns(2, [-3, 0, 3], ['"r"(at)', '"l"((unsigned long long)at)']))
def test_an_atomic_is_counted_where_its_offset_leads(distance: int, register: str):
    """In one block pairs of lanes meet in a word, and all words are of one bank; in the other one no lanes meet."""
    source = (
        OFFSET.replace("DISTANCE", str(distance)).replace("OFFSET", str(4 * distance)).replace("REGISTER", register)
    )
    lanes = np.arange(32)
    x, y = np.concatenate([64 * (lanes // 2) + 5, lanes + 40]).astype(np.int32), np.zeros(64, np.int32)
    run = Kernel(source, "k").run(2, 32, (x, y))
    assert y.tolist() == [2] * 32 + [1] * 32
    assert run.counters["shared_atomic_wavefronts"] == 16 + 1


@pytest.mark.parametrize("seed", range(5))
def test_sectors_of_stores_that_arrive_at_an_mbarrier(seed: int) -> None:
    """A request for each warp, and a sector for each 32 bytes of a block that it writes to; of ``st.async`` alone."""
    random = np.random.default_rng(seed)
    counters: Any = Counters.__new__(Counters)
    counters._counts = np.zeros((4, len(COUNTERS)), np.int64)
    lane = random.choice(192, 50, replace=False)
    owner, offset = random.integers(0, 3, 50), random.choice([0, 8, 16, 24, 32, 40, 96, 1 << 20], 50)
    for opcode, counted in (("st", True), ("cp", False)):
        copy = SimpleNamespace(site=SimpleNamespace(index=2, instruction=SimpleNamespace(opcode=opcode)), lane=lane,
                               owner=owner, offset=offset)  # fmt: skip
        counters._counts[:] = 0
        counters.copy_begins(copy, None)
        sectors = {
            (who // 32, of, at // 32)
            for who, of, at in zip(lane.tolist(), owner.tolist(), offset.tolist(), strict=True)
        }
        wanted = {"dshared_store_requests": len(set((lane // 32).tolist())), "dshared_store_sectors": len(sectors)}
        found = {name: int(counters._counts[2, k]) for k, name in enumerate(COUNTERS) if counters._counts[2, k]}
        assert found == (wanted if counted else {})
        assert not counters._counts[[0, 1, 3]].any()
