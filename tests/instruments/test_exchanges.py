"""Shuffles and votes do not order memory: lanes see what others wrote only behind a barrier."""

from __future__ import annotations

import numpy as np
import pytest

from softlab.kernel import Kernel

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


def _findings(body: str, exchange: str, space: str, barrier: str = "") -> list[tuple[str, int | None, int | None]]:
    source = f"""extern "C" __global__ void k(int* scratch, int* y) {{
int lane = threadIdx.x % 32, v = threadIdx.x * 5 % 7;
{_SPACES[space]}
words[threadIdx.x] = lane;
__syncthreads();
{body.format(exchange=f"{_EXCHANGES[exchange]} {barrier}")}
y[threadIdx.x] = v;
}}"""
    arguments = np.zeros(64, np.int32), np.zeros(64, np.int32)
    run = Kernel(source, "k").run(1, 64, arguments, check="collect", record=False)
    return [(finding.kind, finding.line, finding.other_line) for finding in run.findings]


@pytest.mark.parametrize("space", _SPACES)
@pytest.mark.parametrize("exchange", _EXCHANGES)
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
