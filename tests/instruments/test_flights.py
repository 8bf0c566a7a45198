"""Asynchronous copies and global memory: what a copy in flight reads or writes belongs to nobody else."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from softlab.instruments.flights import READING, REDUCING, WRITING, Flights
from softlab.instruments.global_shadow import Stamps
from softlab.kernel import Kernel

_FETCH = """#include <cuda_pipeline.h>
extern "C" __global__ void fetch(float4* x, float4* y, int groups, int left, int shift) {{
  __shared__ float4 s[2][64];
  int t = threadIdx.x;
  for (int g = 0; g < groups; ++g) {{
    __pipeline_memcpy_async(&s[g][t], &x[g * 64 + t], 16);
    __pipeline_commit();
  }}
  {wait}
  {meet}
  x[(shift + t) % 128] = make_float4(0, 0, 0, 0);
  __pipeline_wait_prior(0);
  y[t] = s[0][t];
}}"""
_COPY_LINE, _WRITE_LINE = 6, 11


@pytest.mark.parametrize(
    ("wait", "meet", "groups", "shift", "found"),
    [
        ("", "", 1, 0, True),
        ("__pipeline_wait_prior(0);", "", 1, 0, False),
        ("__pipeline_wait_prior(1);", "", 2, 0, False),
        ("__pipeline_wait_prior(1);", "", 2, 64, True),
        ("", "__syncthreads();", 1, 1, True),  # another thread of the block, behind a barrier
        ("__pipeline_wait_prior(0);", "__syncthreads();", 1, 1, False),
        ("if (t < 32) __pipeline_wait_prior(0);", "", 1, 0, True),
    ],
)
def test_what_a_fetch_still_reads(wait: str, meet: str, groups: int, shift: int, found: bool) -> None:
    kernel = Kernel(_FETCH.format(wait=wait, meet=meet), "fetch")
    arguments = np.ones(512, np.float32), np.zeros(256, np.float32), groups, 0, shift
    findings = kernel.run(1, 64, arguments, check="collect", record=False).findings
    assert bool(findings) == found
    for finding in findings:
        assert (finding.kind, finding.line, finding.other_line) == ("race", _WRITE_LINE, _COPY_LINE)
        assert finding.symbol.startswith("x[")
        assert "an asynchronous copy may still be reading" in finding.message
        assert finding.thread[0] == 32 * ("if" in wait)


_STORE = """#define S static_cast<unsigned>(__cvta_generic_to_shared(tile))
extern "C" __global__ void store(float* y, float* z) {{
  __shared__ alignas(16) float tile[64];
  tile[threadIdx.x] = threadIdx.x;
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  __syncthreads();
  if (threadIdx.x == 0) {{
    asm volatile("{copy} [%0], [%1], 256;" ::"l"(y), "r"(S) : "memory");
    asm volatile("cp.async.bulk.commit_group;" ::: "memory");
    {wait}
    {then}
  }}
}}"""
_PLAIN = "cp.async.bulk.global.shared::cta.bulk_group"
_ADDING = "cp.reduce.async.bulk.global.shared::cta.bulk_group.add.f32"
_READ = 'asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory");'
_WHOLE = 'asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");'


@pytest.mark.parametrize(
    ("copy", "wait", "then", "says"),
    [
        (_PLAIN, _READ, "*z = y[63];", "writing"),
        (_PLAIN, _READ, "*z = y[64];", ""),
        (_PLAIN, _WHOLE, "*z = y[63];", ""),
        (_PLAIN, _READ + _WHOLE, "*z = y[63];", ""),
        (_PLAIN, _READ, "y[0] = 1;", "writing"),
        (_PLAIN, _READ, "atomicAdd(y, 1.0f);", "writing"),
        (_ADDING, _READ, "atomicAdd(y, 1.0f);", ""),
        (_ADDING, _READ, "*z = *y;", "adding to"),
        (_ADDING, _WHOLE, "*z = *y;", ""),
    ],
)
def test_what_a_bulk_copy_still_writes(copy: str, wait: str, then: str, says: str) -> None:
    kernel = Kernel(_STORE.format(copy=copy, wait=wait, then=then), "store")
    arguments = np.zeros(65, np.float32), np.zeros(1, np.float32)
    findings = kernel.run(1, 64, arguments, check="collect", record=False).findings
    assert [(f.kind, f.line, f.other_line) for f in findings] == [("race", 11, 8)] * bool(says)
    assert all(f"an asynchronous copy may still be {says}." in f.message for f in findings)


_LOAD = """#define S(p) static_cast<unsigned>(__cvta_generic_to_shared(p))
extern "C" __global__ void load(float* x, float* y, int early) {
  __shared__ alignas(16) float tile[64];
  __shared__ unsigned long long bar;
  if (threadIdx.x > 0) return;
  asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(S(&bar)) : "memory");
  asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], 256;" ::"r"(S(&bar)) : "memory");
  asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], 256, [%2];"
               ::"r"(S(tile)), "l"(x), "r"(S(&bar)) : "memory");
  if (early) x[3] = 5;
  asm volatile("{ .reg .pred p; w: mbarrier.try_wait.parity.shared.b64 p, [%0], 0; @!p bra w; }"
               ::"r"(S(&bar)) : "memory");
  x[4] = 6;
  *y = tile[3];
}"""


@pytest.mark.parametrize("early", [0, 1])
def test_what_a_bulk_copy_still_reads(early: int) -> None:
    arguments = np.zeros(64, np.float32), np.zeros(1, np.float32), early
    findings = Kernel(_LOAD, "load").run(1, 32, arguments, check="collect", record=False).findings
    assert [(f.line, f.symbol) for f in findings] == [(10, "x[3]")] * early


@pytest.mark.parametrize(("first", "found"), [(66, False), (65, True)])
def test_a_fetch_reads_as_many_bytes_as_it_is_told(first: int, found: bool) -> None:
    """The rest of the 16 bytes is filled with zeros, and others may write what stands there in global memory."""
    source = """extern "C" __global__ void ragged(float* x, float4* y, int n, int first) {
  __shared__ float4 s[32];
  int t = threadIdx.x, bytes = max(0, min(16, (n - 4 * t) * 4));
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;"
               ::"r"((unsigned)__cvta_generic_to_shared(&s[t])), "l"(x + 4 * t), "r"(bytes) : "memory");
  x[first + t] = 5;
  asm volatile("cp.async.wait_all;" ::: "memory");
  y[t] = s[t];
}"""
    arguments = np.ones(128, np.float32), np.zeros(128, np.float32), 66, first
    findings = Kernel(source, "ragged").run(1, 32, arguments, check="collect", record=False).findings
    assert {(f.line, f.symbol) for f in findings} == ({(6, "x[65]")} if found else set())


def _stamps(*cells: int, time: int = 1, first: int = 0) -> Stamps:
    """Accesses of neighbouring lanes, one cell each."""
    return Stamps(np.array(cells), first + np.arange(len(cells)), time, 0)


def _ended(site: int, *lanes: int, pieces: Any = None) -> Any:
    return SimpleNamespace(site=SimpleNamespace(index=site), lane=np.array(lanes), pieces=pieces)


def _in_flight(flights: Flights, does: str = WRITING, base: int = 1000) -> list[int]:
    """The cells, of ten, in which an access would clash with copies."""
    return flights.clash(base, _stamps(*range(10), time=9), does)[0].position.tolist()


def test_a_copy_ends_for_its_instruction_and_its_lanes() -> None:
    flights = Flights()
    assert not flights
    flights.begin(1000, 10, 3, _stamps(0, 1, 2))
    flights.begin(1000, 10, 7, _stamps(4, 5, 6, time=2))
    flights.begin(1000, 10, 5, _stamps(8, 9, time=3))
    assert _in_flight(flights) == [0, 1, 2, 4, 5, 6, 8, 9]
    assert _in_flight(flights, base=2000) == []
    flights.end(_ended(5, 1, 2))
    assert _in_flight(flights) == [0, 1, 2, 4, 5, 6, 8]
    flights.end(_ended(7, 0, 1, 2))
    assert _in_flight(flights) == [0, 1, 2, 8]
    flights.end(_ended(3, 0, 1, 2))
    flights.end(_ended(5, 0))
    assert _in_flight(flights) == []
    assert not flights


def test_of_copies_of_one_instruction_a_lane_ends_the_earliest() -> None:
    flights = Flights()
    flights.begin(1000, 10, 3, _stamps(0, 1, 2))
    flights.begin(1000, 10, 3, _stamps(4, 5, 6, time=2))
    flights.end(_ended(3, 1))
    assert _in_flight(flights) == [0, 2, 4, 5, 6]
    flights.end(_ended(3, 0, 1))
    assert _in_flight(flights) == [2, 4, 6]


def test_a_bulk_copy_ends_with_its_pieces() -> None:
    flights, one, other = Flights(), object(), object()
    flights.begin(1000, 10, 3, _stamps(0, 1), pieces=one)
    flights.begin(1000, 10, 3, _stamps(4, 5), pieces=other)
    flights.end(_ended(3, 0, pieces=object()))
    assert _in_flight(flights) == [0, 1, 4, 5]
    flights.end(_ended(3, 0, pieces=other))
    assert _in_flight(flights) == [0, 1]
    assert flights
    flights.end(_ended(3, 0, pieces=one))
    assert not flights


@pytest.mark.parametrize(
    ("copies", "clashes"),
    [(READING, [WRITING, REDUCING]), (WRITING, [READING, WRITING, REDUCING]), (REDUCING, [READING, WRITING])],
)
def test_what_a_copy_clashes_with(copies: str, clashes: list[str]) -> None:
    """Reads agree with reads, and sums with sums. The clash has the stamp of the copy."""
    for does in (READING, WRITING, REDUCING):
        flights = Flights()
        flights.begin(1000, 10, 3, _stamps(2, 1, 7, time=5, first=8), does=copies)
        clash, other = flights.clash(1000, _stamps(7, 3, 1, time=9), does)
        if does in clashes:
            made = _stamps(2, 1, 7, time=5, first=8).stamp
            assert (clash.position.tolist(), clash.stamp.tolist(), other) == ([0, 2], made[[2, 1]].tolist(), copies)
        else:
            assert (len(clash), other) == (0, "")
