"""Damaged PTX ends well. See :mod:`tests.fuzz.damaged`."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

from softlab.cuda.compile import compile_program
from softlab.errors import Error, KernelFault, UnsupportedInstruction
from softlab.kernel import Kernel
from tests.faults.cases import GOOD
from tests.fuzz.__main__ import main
from tests.fuzz.damaged import Hangs, _alarm, compiled, outcome
from tests.sampled import sampled

MUTANTS = 400
SHARDS = 8


@pytest.mark.parametrize(
    ("what", "by"),
    [
        pytest.param(r"@%p\d+ bra", "@%r1 bra", id="a number for a predicate"),
        pytest.param(r"(selp.*), %p\d+;", r"\1, %r1;", id="a number that selects"),
    ],
)
def test_registers_of_the_wrong_type_are_refused(what: str, by: str) -> None:
    good = GOOD["smooth"]
    text, count = re.subn(what, by, compiled("smooth").ptx)
    assert count
    with pytest.raises(Error, match="predicate"):
        Kernel.from_program(replace(compiled("smooth"), ptx=text)).run(good.grid, good.block, good.arguments())


def test_a_mask_of_64_bits_is_cut() -> None:
    text, count = re.subn(r"(shfl\.sync.*), (?:%r\d+|-1);", r"\1, %rd1;", compiled("warp softmax").ptx)
    assert count
    good = GOOD["warp softmax"]
    kernel = Kernel.from_program(replace(compiled("warp softmax"), ptx=text))
    with pytest.raises(KernelFault, match="mask"):
        kernel.run(good.grid, good.block, good.arguments())


@pytest.mark.parametrize("shard", sampled(range(SHARDS), lambda shard: shard == 0))
def test_damaged_ptx_ends_well(shard: int) -> None:
    """`.ci/run` takes one of eight, `make test` all."""
    told = Counter(outcome(number) for number in range(shard, MUTANTS, SHARDS))
    assert told["result"] < MUTANTS // SHARDS
    assert sum(told.values()) > told["result"] + told["Error"] > told["result"], told


def test_a_call_with_too_few_arguments() -> None:
    """Once a ValueError of zip."""
    source = """
    __device__ __noinline__ float twice(float a, float b) { return a * b + 2.0f; }
    extern "C" __global__ void call(float* x) { x[0] = twice(x[0], x[1]); }
    """
    program = compile_program(source, "call")
    text, count = re.subn(r"(call\.uni \(retval0\),\s*\S+,\s*\(\s*param0),\s*param1", r"\1", program.ptx)
    assert count == 1
    with pytest.raises(UnsupportedInstruction, match="2 such operands, the call 1"):
        Kernel.from_program(replace(program, ptx=text)).run(1, 1, (np.ones(2, np.float32),))


def test_a_case_that_takes_no_end_is_stopped() -> None:
    def forever() -> None:
        while True:
            pass

    with pytest.raises(Hangs), _alarm(1):
        forever()


def test_the_command_tells_what_its_cases_took(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["ptx", "--count", "3", "--first", "2", "--processes", "2"]) == 0
    *_, last = capsys.readouterr().out.splitlines()
    assert re.fullmatch(r"3 cases, \d+ s, \d+ s of CPU time; the longest is [234], \d+\.\d s of CPU time", last)
