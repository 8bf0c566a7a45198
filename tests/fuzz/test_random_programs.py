"""Random straight-line programs: the emulator gives what an H200 gave."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from softlab.emulator.ptx.syntax import DTYPES
from tests.emulator.opcodes.cases import bits, same
from tests.emulator.opcodes.hardware import ulps
from tests.fuzz.programs import Straight, digest, emulated, narrow, programs
from tests.sampled import each

RECORD = Path(__file__).parents[1] / "data" / "random_programs_h200.npz"
MODULES = sorted({program.module for program in programs()})


@pytest.fixture(scope="module")
def recorded() -> dict[str, np.ndarray]:
    with np.load(RECORD) as file:
        return dict(file)


def test_the_record_is_of_these_programs(recorded: dict[str, np.ndarray]) -> None:
    about = json.loads(bytes(recorded["about"]))
    assert about["gpu"].startswith("NVIDIA H200")
    assert about["digest"] == digest(), "record them again: tests/fuzz/on_gpu.py"
    assert len(programs()) >= 200
    assert len(recorded) == 1 + 3 * len(programs())


def differing(program: Straight, recorded: dict[str, np.ndarray]) -> list[str]:
    """A line for each result in which they differ: how many threads, and the first of them."""
    results = emulated(program)
    found = []
    for row, kind in enumerate(program.results):
        got = narrow(results[row], kind)[program.lanes].view(DTYPES[kind])
        wanted = recorded[f"{program.name} {row}"].view(DTYPES[kind])
        equal = same(got, wanted, kind)
        if program.ulps and row == 1:
            near = np.isfinite(got) & np.isfinite(wanted)
            equal |= near & (ulps(got, wanted) <= program.ulps)
        if not equal.all():
            lane = int(np.flatnonzero(~equal)[0])
            found.append(
                f"{program.name}: result {row} ({kind}) differs in {(~equal).sum()} of {len(equal)} threads; thread "
                f"{program.lanes[lane]} has {bits(wanted)[lane]:#x} on hardware, {bits(got)[lane]:#x} here\n"
                f"{program.text}"
            )
    return found


@pytest.mark.parametrize("module", each(3, MODULES))
def test_as_recorded(module: int, recorded: dict[str, np.ndarray]) -> None:
    found = [line for p in programs() if p.module == module for line in differing(p, recorded)]
    assert not found, "\n".join(found)
