"""What an H200 gave for each instruction, recorded, and on the GPU present: the emulator gives the same."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from softlab.emulator.ptx.syntax import DTYPES
from tests.emulator.opcodes.cases import bits, lower, same
from tests.emulator.opcodes.hardware import FORMS, SEED, emulated, module_of, on_gpu, probe, sources_for, ulps

RECORD = Path(__file__).parents[2] / "data" / "opcodes_h200.npz"

# How far from hardware the approximate functions may be; all else is the same bit by bit, but for the bits of a NaN.
ULPS = {"rcp.approx.ftz.f64": 1, "sqrt": 1, "rsqrt": 2, "rcp": 0, "ex2": 0, "div.approx": 0, "div.full": 0}
ABSOLUTE = {"lg2": 2.0**-22, "sin": 2.0**-20.5, "cos": 2.0**-20.5}
#: 16-bit forms: units in the last place.
HALF_ULPS = 1
TANH_RELATIVE = 2.0**-16


@pytest.fixture(scope="module")
def recorded() -> dict[str, np.ndarray]:
    with np.load(RECORD) as file:
        return dict(file)


def agrees(text: str, got: np.ndarray, hardware: np.ndarray, name: str) -> np.ndarray:
    """Where the emulator agrees with hardware, within the bounds above."""
    equal = same(got, hardware, name)
    if ".approx" not in text and ".full" not in text:
        return equal
    form = text.split()[0]
    if "16" in form:
        apart = bits(got).view(np.uint16).astype(int) - bits(hardware).view(np.uint16)
        return (np.abs(apart) <= HALF_ULPS).reshape(len(got), -1).all(axis=1)
    near = got.astype(np.float64) - hardware
    opcode = form if form.startswith("div") else form.split(".")[0]
    if opcode == "tanh":
        return equal | (np.abs(near) <= TANH_RELATIVE * np.abs(hardware))
    if opcode in ABSOLUTE:
        relative = ABSOLUTE[opcode] * np.maximum(1, np.abs(hardware))
        return equal | (np.abs(near) <= relative)
    # The .ftz.f64 forms have results of 32 bits.
    unit = 1 << 32 if form.endswith("approx.ftz.f64") else 1
    allowed = next(limit for start, limit in ULPS.items() if form.startswith(start))
    return equal | (ulps(got, hardware) <= allowed * unit)


def hold(text: str, sources: list[np.ndarray], hardware: tuple[np.ndarray, ...]) -> None:
    semantics = lower(text)
    if text.split(".")[0] in ("sub", "subc"):  # the probe gives and takes a borrow
        sources = [*sources[:-1], ~sources[-1]] if semantics.carry_in else sources
        hardware = (*hardware[:-1], ~hardware[-1]) if semantics.carry_out else hardware
    for got, want, name in zip(emulated(semantics, sources), hardware, semantics.results, strict=True):
        right = agrees(text, got, want, name)
        if text.startswith("fns"):
            right |= (sources[1] > 31) | (sources[2] == -(2**31))  # not defined; see the opcode
        if not right.all():
            lane = int(np.flatnonzero(~right)[0])
            given = ", ".join(f"{source[lane]} ({bits(source)[lane]:#x})" for source in sources)
            pytest.fail(
                f"{text}: {(~right).sum()} of {len(right)} lanes differ; {given} gives {want[lane]} "
                f"({bits(want)[lane]:#x}) on hardware, {got[lane]} ({bits(got)[lane]:#x}) here"
            )


def test_the_record_is_of_all_forms(recorded: dict[str, np.ndarray]) -> None:
    about = json.loads(bytes(recorded["about"]).decode())
    assert about["device"] == "NVIDIA H200"
    assert about["forms"] == FORMS
    assert len(set(FORMS)) == len(FORMS) > 900


@pytest.mark.parametrize("opcode", sorted({text.split(".")[0] for text in FORMS}))
def test_as_recorded(opcode: str, recorded: dict[str, np.ndarray]) -> None:
    for number, text in enumerate(FORMS):
        if text.split(".")[0] != opcode:
            continue
        semantics = lower(text)
        sources = [
            recorded[f"source {index} {name}"].view(DTYPES[name]) for index, name in enumerate(semantics.sources)
        ]
        results = tuple(
            recorded[f"result {index} {number}"].view(DTYPES[name]) for index, name in enumerate(semantics.results)
        )
        hold(text, sources, results)


@pytest.mark.gpu
def test_on_the_gpu_present() -> None:
    import cupy

    if int(cupy.cuda.Device().compute_capability) < 90:
        pytest.skip("bf16 arithmetic and packed integers need compute capability 9.0")
    probes = [probe(text) for text in FORMS]
    module = cupy.cuda.function.Module()
    module.load(module_of(probes).encode())
    for number, what in enumerate(probes):
        sources = sources_for(what.semantics, 1 << 16, SEED + 1)
        hold(what.text, sources, on_gpu(module.get_function(f"probe{number}"), what, sources))
