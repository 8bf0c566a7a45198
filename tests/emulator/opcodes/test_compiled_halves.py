"""Further forms of halves and conversions, compiled, give the bits of their NumPy forms: those nobody recorded."""

from __future__ import annotations

import numpy as np
import pytest

from softlab.emulator.machine.native import available
from softlab.emulator.ptx.unsupported import UnsupportedInstruction
from tests.emulator.opcodes.cases import bits, lower
from tests.emulator.opcodes.hardware import emulated, sources_for
from tests.emulator.opcodes.test_compiled import compiled

pytestmark = pytest.mark.skipif(not available(), reason="llvmlite is not installed")

LANES = 6000
NARROW = ("f16", "bf16")
MODES = ("rn", "rz", "rm", "rp")
INTEGERS = tuple(f"{sign}{width}" for sign in "su" for width in (8, 16, 32, 64))

ARITHMETIC = [
    *(f"{op}.{m}.{t} d, a, b" for op in ("add", "sub", "mul") for m in ("ftz", "ftz.sat") for t in ("f16", "f16x2")),
    *(f"fma.rn.{m}.{t} d, a, b, c" for m in ("ftz", "sat", "ftz.sat", "ftz.relu") for t in ("f16", "f16x2")),
    *(f"{op}{m}.{t} d, a, b" for op in ("min", "max") for m in (".NaN.xorsign.abs", ".xorsign.abs") for t in NARROW),
    *(f"{op}.ftz.{t} d, a" for op in ("abs", "neg") for t in ("f16", "f16x2")),
]
COMPARISONS = [
    *(f"setp.{c}.ftz.{t} p, a, b" for c in ("lt", "geu", "nan") for t in ("f16", "f16x2")),
    *(f"setp.{c}.{j}.{t} p, a, b, c" for c, j in (("gt", "and"), ("leu", "xor")) for t in (*NARROW, "f16x2", "bf16x2")),
    *(f"setp.{c}.or.{t} p|q, a, b, c" for c in ("ne", "equ") for t in ("f16x2", "bf16x2")),
    *(f"set.gtu.and.{r}.{t} d, a, b, c" for r, t in (("u32", "bf16"), ("f32", "f16"), ("u32", "f16x2"))),
]
BETWEEN_FLOATS = [
    *(f"cvt.{m}.{r}.{s} d, a" for m in MODES for r in NARROW for s in ("f32", "f64", *NARROW) if r != s),
    *(f"cvt.{m}.relu.{r}.{s} d, a" for m in ("rn", "rz") for r in NARROW for s in ("f32", "f64")),
    *(f"cvt.{m}.sat.{t} d, a" for m in ("rn", "rp") for t in ("f16.f32", "f16.f64", "f16.bf16", "f32.f64")),
    *(f"cvt.{m}.ftz.{t} d, a" for m in MODES for t in ("f16.f32", "bf16.f32", "f32.f64")),
    *(f"cvt.{m}.bf16.bf16 d, a" for m in ("rni", "rzi", "rmi", "rpi")),
    *(f"cvt.{m}.f32.f32 d, a" for m in ("rni.ftz", "rni.sat", "rmi.ftz.sat")),
    *(f"cvt.{t} d, a" for t in ("sat.f32.f16", "sat.f16.f16", "relu.f16.f16", "relu.bf16.bf16", "sat.f64.f32")),
    *(f"cvt.{m}.relu.{t}x2.f32 d, a, b" for m in ("rn", "rz") for t in NARROW),
]
FROM_INTEGERS = [
    *(f"cvt.{m}.{r}.{s} d, a" for m in ("rn", "rp") for r in NARROW for s in ("s8", "u8")),
    *(f"cvt.rn.sat.{r}.{s} d, a" for r in ("f16", "f32") for s in INTEGERS),
]
GROUPS = {
    "arithmetic": ARITHMETIC,
    "comparisons": COMPARISONS,
    "between floats": BETWEEN_FLOATS,
    "from integers": FROM_INTEGERS,
}


@pytest.mark.parametrize("group", GROUPS)
def test_the_bits_are_those_of_the_numpy_form(group: str) -> None:
    for text in GROUPS[group]:
        semantics = lower(text)
        assert semantics.native is not None, text
        sources = sources_for(semantics, LANES, seed=7)
        with np.errstate(all="ignore"):
            made = compiled(semantics)(*sources)
        for got, want in zip(made, emulated(semantics, sources), strict=True):
            assert got.dtype == want.dtype, text
            wrong = np.flatnonzero(bits(got) != bits(want))
            if len(wrong):
                given = [hex(int(bits(source)[wrong[0]])) for source in sources]
                pytest.fail(f"{text}: {given}: compiled {bits(got)[wrong[0]]:#x}, NumPy {bits(want)[wrong[0]]:#x}")


def next_to_halves(name: str, wide: type[np.floating]) -> np.ndarray:
    """All numbers of a format of 16 bits and what is between two of them, with the neighbours of both."""
    every = np.arange(1 << 16, dtype=np.uint32)
    numbers = (every << 16).astype(np.uint32).view(np.float32) if name == "bf16" else every.astype(np.uint16).view("f2")
    with np.errstate(all="ignore"):
        numbers = numbers.astype(wide)
        middles = (numbers[:-1] + numbers[1:]) / wide(2)
        both = np.concatenate([numbers, middles])
        return np.concatenate([both, *(np.nextafter(both, wide(side)) for side in (-np.inf, np.inf))])


@pytest.mark.parametrize("name", NARROW)
@pytest.mark.parametrize("source", ["f32", "f64"])
def test_ties_and_their_neighbours_are_rounded_alike_in_each_mode(name: str, source: str) -> None:
    x = next_to_halves(name, np.float32 if source == "f32" else np.float64)
    for mode in MODES:
        semantics = lower(f"cvt.{mode}.{name}.{source} d, a")
        (got,), (want,) = compiled(semantics)(x), emulated(semantics, [x])
        wrong = np.flatnonzero(bits(got) != bits(want))
        assert not len(wrong), (mode, x[wrong[0]], bits(got)[wrong[0]], bits(want)[wrong[0]])


@pytest.mark.parametrize("source", ["s64", "u64"])
@pytest.mark.parametrize("name", NARROW)
def test_integers_of_64_bits_are_rounded_once(name: str, source: str) -> None:
    """Also those that a float64 rounds to the middle between two numbers of the format."""
    semantics = lower(f"cvt.rn.{name}.{source} d, a")
    shifts, heads = np.meshgrid(np.arange(64, dtype=np.uint64), np.arange(1, 1 << 13, 2, dtype=np.uint64))
    middles = (heads << shifts).ravel()
    x = np.concatenate([middles + np.uint64(step) for step in (0, 1, (1 << 64) - 1)])
    x = x if source == "u64" else x.view(np.int64)
    (got,), (want,) = compiled(semantics)(x), emulated(semantics, [x])
    assert np.array_equal(bits(got), bits(want))


@pytest.mark.parametrize("form", ["cvt.relu.f32.f16", "cvt.rn.relu.f32.f64", "cvt.relu.f64.f32"])
def test_relu_is_for_results_of_16_bits(form: str) -> None:
    with pytest.raises(UnsupportedInstruction, match="relu"):
        lower(f"{form} d, a")
