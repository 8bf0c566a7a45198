"""Shuffles and votes do not order memory: lanes see what others wrote only behind a barrier."""

from __future__ import annotations

from itertools import product
from types import SimpleNamespace

import numpy as np
import pytest

from softlab.findings import Finding
from softlab.instruments.hazards import Hazards
from softlab.instruments.warp_syncs import NO_BARRIER
from softlab.kernel import Kernel
from tests.sampled import turns

_EXCHANGES = {
    "shuffle": "v = __shfl_xor_sync(0xffffffffu, v, 1);",
    "vote": "v += __any_sync(0xffffffffu, v > 3);",
    "match": "v += __match_any_sync(0xffffffffu, v & 1);",
    "reduction": "v += __reduce_max_sync(0xffffffffu, v);",
    "half": "v = __shfl_xor_sync(lane < 16 ? 0xffffu : 0xffff0000u, v, 1);",
}
_SPACES = {"shared": "__shared__ int words[64];", "global": "int* words = scratch;"}
_WRITE_THEN_READ = "words[threadIdx.x] = v;\n{exchange}\nv += words[threadIdx.x ^ 1];"
_READ_THEN_WRITE = "v += words[threadIdx.x ^ 1];\n{exchange}\nwords[threadIdx.x] = v;"


#: The last warp to draw a ticket sums up what all warps left, its own sum too.
_LAST_WARP = """extern "C" __global__ void k(float* sums, unsigned* tickets, float* y) {
int lane = threadIdx.x % 32, warp = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
unsigned ticket = 0;
if (lane == 0) {
sums[warp] = warp;
FENCE
ticket = atomicAdd(tickets, 1u);
}
ticket = __shfl_sync(0xffffffffu, ticket, 0);
if (ticket == gridDim.x * blockDim.x / 32 - 1)
y[lane] = sums[lane] + sums[lane ^ 1];
}"""


def _findings(body: str, exchange: str, space: str, barrier: str = "") -> list[tuple[str, int | None, int | None]]:
    return [(finding.kind, finding.line, finding.other_line) for finding in _run(body, exchange, space, barrier)]


def _run(body: str, exchange: str, space: str, barrier: str) -> tuple[Finding, ...]:
    source = f"""extern "C" __global__ void k(int* scratch, int* y) {{
int lane = threadIdx.x % 32, v = threadIdx.x * 5 % 7;
{_SPACES[space]}
words[threadIdx.x] = lane;
__syncthreads();
{body.format(exchange=f"{_EXCHANGES[exchange]} {barrier}")}
y[threadIdx.x] = v;
}}"""
    arguments = np.zeros(64, np.int32), np.zeros(64, np.int32)
    return Kernel(source, "k").run(1, 64, arguments, check="collect", record=False).findings


@pytest.mark.parametrize(("exchange", "space"), turns(2, _EXCHANGES, _SPACES))
def test_a_read_behind_an_exchange_does_not_see_what_another_lane_wrote(exchange: str, space: str) -> None:
    assert _findings(_WRITE_THEN_READ, exchange, space) == [("race", 8, 6)]
    assert _findings(_WRITE_THEN_READ, exchange, space, "__syncwarp();") == []


@pytest.mark.parametrize("space", _SPACES)
@pytest.mark.parametrize("exchange", _EXCHANGES)
def test_a_write_behind_an_exchange_comes_after_what_other_lanes_read(exchange: str, space: str) -> None:
    assert _findings(_READ_THEN_WRITE, exchange, space) == []


@pytest.mark.parametrize("space", _SPACES)
def test_an_exchange_orders_nothing_of_another_warp(space: str) -> None:
    found = _findings(_READ_THEN_WRITE.replace("^ 1", "^ 32"), "shuffle", space)
    assert found == [("race", 8, 6)]


@pytest.mark.parametrize(("exchange", "space"), turns(2, _EXCHANGES, _SPACES))
def test_a_fence_behind_the_write_and_an_exchange_order_a_read(exchange: str, space: str) -> None:
    fenced = _WRITE_THEN_READ.replace(" = v;", " = v; __threadfence_block();")
    assert _findings(fenced, exchange, space) == []
    assert _findings(fenced.replace("^ 1", "^ 32"), exchange, space) == [("race", 8, 6)]
    behind = _WRITE_THEN_READ.replace("{exchange}", "{exchange} __threadfence_block();")
    assert _findings(behind, exchange, space) == [("race", 8, 6)]


@pytest.mark.parametrize("space", _SPACES)
def test_the_finding_says_that_an_exchange_is_no_barrier(space: str) -> None:
    words = "is no barrier of memory"
    (found,) = _run(_WRITE_THEN_READ, "vote", space, "")
    assert words in found.message
    (found,) = _run(_WRITE_THEN_READ.replace("{exchange}", ""), "vote", space, "")
    assert words not in found.message
    (found,) = _run(_WRITE_THEN_READ.replace("^ 1", "^ 32"), "vote", space, "")
    assert words not in found.message


@pytest.mark.parametrize("wrote", [False, True])
@pytest.mark.parametrize("exchanged", list(product((False, True), repeat=2)))
@pytest.mark.parametrize("first", [0, 1])
def test_the_first_lane_that_clashes_decides_about_the_sentence(
    wrote: bool, exchanged: tuple[bool, ...], first: int
) -> None:
    """Only of an earlier write, and only where that lane's warp has exchanged values since."""
    access = SimpleNamespace(row="row", word="word", thread="thread")
    answers = {("row", "word", "thread"): np.array([*exchanged])}
    hazards = SimpleNamespace(shadow=SimpleNamespace(only_exchanged=lambda *asked: answers[asked]))
    clash = np.array([first == 0, True])
    said = Hazards.sentence(hazards, "reads it", access, clash, wrote=wrote)  # type: ignore[arg-type]
    plain = "the thread reads it. Put __syncthreads() (within a warp __syncwarp()) between the two"
    assert said == (f"{plain}. {NO_BARRIER}" if wrote and exchanged[first] else plain)


def test_the_last_warp_reads_what_its_own_lane_wrote_before_a_fence() -> None:
    for fence, expected in (("__threadfence();", []), ("", ["race"])):
        arguments = np.zeros(32, np.float32), np.zeros(1, np.uint32), np.zeros(32, np.float32)
        kernel = Kernel(_LAST_WARP.replace("FENCE", fence), "k")
        run = kernel.run(8, 128, arguments, check="collect", record=False)
        assert [finding.kind for finding in run.findings][:1] == expected
