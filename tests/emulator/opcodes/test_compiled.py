"""The compiled form of each opcode gives the bits of its NumPy form."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from softlab.emulator.machine.fusing import Variables, fused
from softlab.emulator.machine.native import available
from softlab.emulator.machine.operations import Operation
from softlab.emulator.opcodes.emitter import unsigned_view
from softlab.emulator.opcodes.registry import Semantics
from softlab.emulator.ptx.syntax import DTYPES
from tests.emulator.opcodes.cases import bits, lower
from tests.emulator.opcodes.hardware import FORMS, emulated, sources_for
from tests.sampled import sampled

pytestmark = pytest.mark.skipif(not available(), reason="llvmlite is not installed")

LANES = 4000
#: Operands -> forms that nearly all kernels consist of. Each of them is compiled.
COMMON = {
    "d, a": ["neg.s32", "abs.s32", "not.b32", "neg.f32", "abs.f32", "cvt.s64.s32", "cvt.u32.u64", "cvt.rn.f32.s32"],
    "d, a, b": ["add.s32", "sub.s32", "mul.lo.s32", "mul.wide.s32", "mul.hi.u32", "min.s32", "and.b32", "or.b32"],
    "d, b, a": ["shl.b32", "shr.s32", "add.rn.f32", "sub.f32", "mul.rn.f32", "add.ftz.f32", "add.sat.f32", "min.f32"],
    "c, a, b": ["div.approx.f32", "div.full.f32", "div.approx.ftz.f32", "div.rn.f32"],
    "e, a": ["sqrt.rn.f32", "sqrt.rn.ftz.f32", "sqrt.approx.ftz.f32", "rsqrt.approx.f32", "rsqrt.approx.ftz.f32"],
    "c, a": ["ex2.approx.f32", "ex2.approx.ftz.f32", "rcp.approx.f32", "rcp.approx.ftz.f32", "rcp.rn.f32"],
    "e, c": ["sin.approx.f32", "cos.approx.ftz.f32", "lg2.approx.f32", "lg2.approx.ftz.f32", "tanh.approx.f32"],
    "p, a, b": ["setp.lt.s32", "setp.ge.u32", "setp.eq.b32", "setp.lt.f32", "setp.neu.f32"],
    "d, a, b, c": ["mad.lo.s32", "shf.l.wrap.b32", "selp.b32", "fma.rn.f32", "fma.rn.ftz.f32"],
}


def test_halves_and_integers_are_integers_to_llvm() -> None:
    """NumPy has no bfloat16; it is in uint16 here."""
    kinds = {np.dtype(kind): kind not in ("f4", "f8") for kind in ("?", "i1", "i4", "i8", "u2", "u8", "f2", "f4", "f8")}
    assert {dtype: unsigned_view(dtype) for dtype in kinds} == kinds


def compiled(semantics: Semantics) -> Callable:
    """The compiled form as a function of arrays and scalars."""
    sources = tuple(f"a{i}" for i in range(len(semantics.sources)))
    results = tuple(f"r{i}" for i in range(len(semantics.results)))
    kinds = (*semantics.sources, *semantics.results)
    dtypes = {name: DTYPES[kind] for name, kind in zip((*sources, *results), kinds, strict=True)}
    namespace: dict = {}
    run = Operation(results, "not used", sources, semantics.native)
    (line,) = fused([run], results, Variables(dtypes, {}, namespace))
    source = f"def run({', '.join(sources)}):\n    {line}\n    return {', '.join(results)},"
    exec(source, namespace)
    return namespace["run"]


def with_compiled_forms(opcode: str) -> list[str]:
    texts = [text for text in FORMS if text.split(".")[0].split()[0] == opcode]
    return [text for text in texts if lower(text).native is not None]


OPCODES = sorted({text.split(".")[0].split()[0] for text in FORMS})


def test_the_common_forms_are_compiled() -> None:
    for operands, names in COMMON.items():
        for name in names:
            assert lower(f"{name} {operands}").native is not None, name


@pytest.mark.parametrize("part", sampled(range(3), lambda part: part == 0))
@pytest.mark.parametrize("opcode", [opcode for opcode in OPCODES if with_compiled_forms(opcode)])
def test_the_bits_are_those_of_the_numpy_form(opcode: str, part: int) -> None:
    """`.ci/run` takes a third of an opcode's forms, `make test` all."""
    for text in with_compiled_forms(opcode)[part::3]:
        semantics = lower(text)
        function = compiled(semantics)
        sources = sources_for(semantics, LANES, seed=3)
        shapes = [
            sources,
            [source.reshape(40, -1) for source in sources],
            [source[:64].reshape(1, 64) if n % 2 else source[:40].reshape(40, 1) for n, source in enumerate(sources)],
            [source[:64].reshape(1, 64) if n % 2 else source[7] for n, source in enumerate(sources)],
            [source[::3] for source in sources],
            *([source[lane] for source in sources] for lane in range(0, LANES, 401)),
        ]
        for given in shapes:
            with np.errstate(all="ignore"):
                made = function(*given)
            for got, want in zip(made, emulated(semantics, given), strict=True):
                if all(np.ndim(value) == 0 for value in given):
                    assert isinstance(got, np.generic), text
                assert np.asarray(got).dtype == np.asarray(want).dtype, text
                wrong = bits(got) != bits(want)
                if np.any(wrong):
                    lane = np.unravel_index(int(np.argmax(wrong)), np.shape(wrong))
                    inputs = [hex(int(np.broadcast_to(bits(g), np.shape(wrong))[lane])) for g in given]
                    pytest.fail(f"{text}: {inputs}: compiled {bits(got)[lane]:#x}, NumPy {bits(want)[lane]:#x}")


@pytest.mark.parametrize("form", ["div.approx.f32", "div.full.f32"])
def test_a_quotient_in_two_steps_is_the_same(form: str) -> None:
    """Divisors around 2**-126 and 2**126, where a reciprocal is scaled."""
    semantics = lower(f"{form} d, a, b")
    part = semantics.shared
    assert part is not None
    a, b = sources_for(semantics, LANES, seed=5)
    exponents = np.array([0, 1, 127, 252, 253, 254, 255], np.uint32).repeat(LANES // 7 + 1)[:LANES]
    b = (bits(b) & np.uint32(0x807FFFFF) | exponents << 23).view(np.float32)
    for divisor in (b, np.resize(b[exponents == 127], LANES)):
        (want,) = emulated(semantics, [a, divisor])
        with np.errstate(all="ignore"):
            for first, rest in (
                (part.first.function, part.rest.function),
                (lambda x: compiled(part.first)(x)[0], lambda *x: compiled(part.rest)(*x)[0]),
            ):
                assert np.array_equal(bits(rest(a, divisor, first(divisor))), bits(want))


@pytest.mark.parametrize("name", ["ex2", "rcp"])
@pytest.mark.parametrize("ftz", ["", ".ftz"])
def test_the_bits_are_the_same_where_results_become_subnormal_or_infinite(name: str, ftz: str) -> None:
    """Arguments whose exponents are near the last ones, on both sides of each whole power of two."""
    semantics = lower(f"{name}.approx{ftz}.f32 d, a")
    whole = np.concatenate([np.arange(-152.0, -120), np.arange(-3.0, 4), np.arange(120.0, 132)]).astype(np.float32)
    centres = (
        whole if name == "ex2" else np.concatenate([np.ldexp(np.float32(s), whole.astype(int)) for s in (1, -1.5)])
    )
    near = [np.nextafter(centres, side, dtype=np.float32) for side in (np.float32(-np.inf), np.float32(np.inf))]
    x = np.concatenate([centres, *near, centres + np.float32(0.25), centres - np.float32(0.625)])
    with np.errstate(all="ignore"):
        (got,), (want,) = compiled(semantics)(x), emulated(semantics, [x])
    assert got.view(np.uint32).tolist() == want.view(np.uint32).tolist()


@pytest.mark.parametrize("form", ["sin.approx", "cos.approx", "lg2.approx", "tanh.approx", "lg2.approx.ftz"])
def test_the_bits_are_the_same_for_angles_and_numbers_of_all_sizes(form: str) -> None:
    """Multiples of an eighth of a turn and their neighbours, powers of two, subnormals, and what is no number."""
    semantics = lower(f"{form}.f32 d, a")
    eighths = np.concatenate([np.arange(50), 2.0 ** np.arange(7, 30), 2.0 ** np.arange(7, 30) + 1]) * (np.pi / 4)
    ordinary = np.concatenate([np.linspace(0, 25, 3000), np.linspace(0.5, 2, 3000), np.logspace(-45, 38, 3000)])
    powers, others = 2.0 ** np.arange(-149, 128), [0.0, np.inf, np.nan, 1e-45, 3e-39, 3.4e38]
    size = np.concatenate([eighths, ordinary, powers, others]).astype(np.float32)
    near = [np.nextafter(size, np.float32(side)) for side in (0, np.inf)]
    x = np.concatenate([size, -size, *near])
    with np.errstate(all="ignore"):
        (got,), (want,) = compiled(semantics)(x), emulated(semantics, [x])
    assert got.view(np.uint32).tolist() == want.view(np.uint32).tolist()
