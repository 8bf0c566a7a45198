"""Random programs with control flow give what NumPy gives. See :mod:`tests.fuzz.structured`."""

from __future__ import annotations

import numpy as np
import pytest

from softlab.errors import KernelFault
from tests.fuzz import __main__ as command
from tests.fuzz import structured
from tests.sampled import sampled

PROGRAMS = 240
SHARDS = 12
#: Programs without matrices that went wrong once: a warp vote of two of three blocks under checks.
ONCE_WRONG = (44, 52)


@pytest.mark.parametrize("shard", sampled(range(SHARDS), lambda shard: shard == 0))
def test_as_numpy_has_it(shard: int) -> None:
    """`.ci/run` takes one of twelve, `make test` all."""
    failures = [command.attempt("programs", number)[1] for number in range(shard, PROGRAMS, SHARDS)]
    assert not any(failures), "\n".join(filter(None, failures))


@pytest.mark.parametrize("number", ONCE_WRONG)
def test_once_wrong(number: int) -> None:
    assert structured.differences(number, matrices=False) == []


def test_the_programs_have_everything() -> None:
    texts = "".join(structured.program(number).ptx() for number in range(PROGRAMS))
    for opcode in (
        "redux.sync", "vote.sync", "match.any", "shfl.sync", "red.shared", "red.global", "ret;", "bra ",
        "mma.sync", "ldmatrix.sync", "e4m3x2", "cvt.rn.f32",
    ):  # fmt: skip
        assert texts.count(opcode) > 50, opcode


def test_a_wrong_result_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(structured._BINARY, "add.u32", np.subtract)
    assert any(command.attempt("programs", number)[1] for number in range(20))


def test_a_missing_barrier_is_seen() -> None:
    """The checks that stay silent on these programs are not blind."""
    program = structured.Structured(0, 1, 64, (structured.Exchange(to=0, a=1, factor=1, shift=33),))
    text = program.ptx()
    start = text.index("bar.sync 0;", text.index("activemask"))
    kernel = program.kernel()
    object.__setattr__(kernel.program, "ptx", text[:start] + text[start + len("bar.sync 0;") :])
    inputs = program.inputs()
    with pytest.raises(KernelFault, match="race"):
        kernel.run(1, 64, (inputs, np.zeros_like(inputs), np.zeros(1, np.uint32)))


@pytest.mark.further
def test_the_command_says_what_failed(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    assert command.main(["programs", "--count", "3", "--processes", "1"]) == 0
    assert "3 as NumPy has it" in capsys.readouterr().out
    assert command.attempt("straight", 7)[:2] == ("the same bits", "")
    monkeypatch.setitem(command.CASES, "ptx", lambda number: 1 // 0)
    assert command.attempt("ptx", 5)[1].startswith("ptx 5: ZeroDivisionError at ")
