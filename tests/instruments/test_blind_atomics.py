"""Sums of several blocks in global memory that a block reads before all others have added to them."""

from __future__ import annotations

import numpy as np
import pytest

from softlab.cuda.compile import compile_program
from softlab.emulator.machine.native import Choice, available, compiling
from softlab.emulator.ptx.linker import link
from softlab.emulator.ptx.parser import parse
from softlab.instruments.blind_atomics import BlindAtomics, blind_atomics
from softlab.instruments.global_shadow import STRONG, GlobalShadow, Stamps
from softlab.instruments.happens_before import HappensBefore
from softlab.instruments.native_access import ALL_DONE, Accessed, Does, NativeAccess
from softlab.kernel import Kernel

#: Each block adds, and the block READER reads the sum.
SOURCE = """extern "C" __global__ void sums(const int* x, int* sum, int* count, int* y, int reader) {
  int t = threadIdx.x, v = x[blockIdx.x * 64 + t], seen = 0;
  if (v >= 0) ADD;
  LOOK
  __syncthreads();
  if (blockIdx.x == reader && t < 4) y[t] = sum[t] + seen;
}"""
BLIND = "atomicAdd(&sum[t % 4], v)"
RED = 'asm volatile("red.global.or.b32 [%0], %1;" ::"l"(sum + t % 4), "r"(v) : "memory")'
TICKET = """
  __shared__ bool last;
  __threadfence();
  __syncthreads();
  if (t == 0) last = atomicAdd(count, 1) == 2;
  __syncthreads();
  reader = last ? blockIdx.x : -1;
"""


def kinds(source: str, reader: int, compiled: Choice) -> set[tuple[str, int | None, int | None]]:
    arguments = np.arange(192, dtype=np.int32), np.zeros(4, np.int32), np.zeros(1, np.int32), np.zeros(4, np.int32)
    with compiling(compiled):
        found = Kernel(source, "sums").run(3, 64, (*arguments, reader), check="collect", record=False).findings
    return {(finding.kind, finding.line, finding.other_line) for finding in found}


@pytest.mark.parametrize("compiled", ["none", "all"])
@pytest.mark.parametrize("reader", [0, 1, 2])
@pytest.mark.parametrize(
    ("add", "look", "race"),
    [
        (BLIND, "", True), (BLIND, "__threadfence();", True), (BLIND, TICKET, False),
        ("atomicMax(&sum[t % 4], v)", "", True), (RED, "", True),
    ],
)  # fmt: skip
def test_each_block_that_reads_the_sum_too_early_is_reported(
    add: str, look: str, race: bool, reader: int, compiled: Choice
) -> None:
    """The emulator's last atomic on a word is that of the last block, which comes after its own atomics."""
    found = kinds(SOURCE.replace("ADD", add).replace("LOOK", look), reader, compiled)
    if race:
        (place,) = found
        assert place[0] == "race"
        assert place[2] == 3
    else:
        assert found == set()


@pytest.mark.parametrize(
    ("add", "look"),
    [
        ("seen = atomicAdd(&sum[t % 4], v)", ""), (BLIND, "if (t < 4) seen = atomicOr(&sum[t], 0);"),
        (BLIND, "if (t < 4) seen = *(volatile int*)(sum + t);"),
    ],
)  # fmt: skip
def test_who_has_seen_the_value_may_know_that_all_have_added(add: str, look: str) -> None:
    assert kinds(SOURCE.replace("ADD", add).replace("LOOK", look), 2, "hot") == set()


RESET_BY_THE_LAST = """extern "C" __global__ void counts(const int* x, int* sum, unsigned* count, int* y) {
  int v = __reduce_add_sync(~0u, x[blockIdx.x * 32 + threadIdx.x]);
  if (threadIdx.x == 0) {
    atomicAdd(sum, v);
    __threadfence();
    if (atomicAdd(count, 1) == gridDim.x - 1) {
      *y = *sum;
      *sum = *count = 0;
    }
  }
}"""
AWAITED = """extern "C" __global__ void counts(const int* x, int* sum, int* ready, int* y) {
  int t = threadIdx.x, seen;
  atomicAdd(sum, x[blockIdx.x * 32 + t]);
  __syncthreads();
  if (t == 0) asm volatile("red.release.gpu.global.add.u32 [%0], 1;" ::"l"(ready) : "memory");
  if (blockIdx.x < gridDim.x - 1) return;
  if (t == 0)
    do asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(seen) : "l"(ready) : "memory"); while (seen < 3);
  __syncthreads();
  if (t == 5) *y = *sum;
}"""


@pytest.mark.parametrize("compiled", ["none", "all"])
@pytest.mark.parametrize("source", [RESET_BY_THE_LAST, AWAITED])
def test_a_sum_that_all_have_added_to_is_read_by_a_plain_load(source: str, compiled: Choice) -> None:
    x, y = np.arange(96, dtype=np.int32), np.zeros(1, np.int32)
    with compiling(compiled):
        run = Kernel(source, "counts").run(3, 32, (x, 0 * y, 0 * y, y), check="collect", record=False)
    assert run.findings == ()
    assert y[0] == x.sum()


@pytest.mark.parametrize(
    ("code", "blind"),
    [
        ("atomicAdd(a, 1)", True), ("a[1] = atomicAdd(a, 1)", False), ("if (atomicExch(a, 3) > 2) a[1] = 2", False),
        ("atomicExch(a, 3)", True), ("atomicCAS(a, 0, 4)", True), ("while (atomicCAS(a, 0, 1)) {}", False),
    ],
)  # fmt: skip
def test_which_atomics_are_blind(code: str, blind: bool) -> None:
    program = compile_program(f'extern "C" __global__ void k(int* a) {{ {code}; }}', "k", arch="sm_90")
    image = link(parse(program.ptx), "k")
    atomics = {index for index, one in enumerate(image.instructions) if one.opcode in ("atom", "red")}
    assert len(atomics) == 1
    assert blind_atomics(image) == (atomics if blind else set())


@pytest.mark.skipif(not available(), reason="needs llvmlite")
def test_compiled_code_keeps_the_same_atomics_as_numpy() -> None:
    """Of each cell the latest atomic of another block than the last one, those of earlier batches among them."""
    random, seen = np.random.default_rng(4), set()
    ours, plain = BlindAtomics(20, 32), BlindAtomics(20, 32)
    native = NativeAccess(remembers=False)
    shadow, order = GlobalShadow(20, 32), HappensBefore(4, 32, {})
    for now in range(1, 60):
        lane = np.sort(random.choice(128, 9, replace=False))
        first, width, begin = random.integers(0, 17, 9), int(random.integers(1, 4)), 20 * (now // 20)
        stamps = Stamps((first[:, None] + np.arange(width)).reshape(-1), np.repeat(lane, width), now, STRONG)
        if now % 9 == 0:
            for one in (ours, plain):
                one.forget(stamps.cell)
        else:
            native.begin([order], begin, keyed=False)
            what = Accessed(width, 1, 2, STRONG), Does(True, True, False, True, True)
            frame = native.frame(shadow, *what, 80, 160, 80, ours)
            assert native.access(frame, lane, 4 * first + 80, now) == ALL_DONE
            plain.record(stamps, begin)
        every = Stamps(np.arange(20), np.zeros(20, np.int64), 60, 0)
        found, expected = (one.clashing(every, 0, lambda time, *_: time < 0) for one in (ours, plain))
        assert found.stamp.tolist() == expected.stamp.tolist()
        assert found.position.tolist() == expected.position.tolist()
        seen |= set(found.stamp.tolist())
    assert len(seen) > 50
