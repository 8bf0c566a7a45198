"""Random fragments for all forms of ``mma.sync``, and a kernel that multiplies them on a GPU.

A fragment follows from a seed and its number alone, by a hash of integers, so NumPy and CuPy make the same ones. Eight
kinds of fragments take turns (``MIXES``): all exponents, near ones, zeros, subnormals, infinities and NaNs, ...
"""

from __future__ import annotations

from typing import Any

import numpy as np

#: Bits of exponent and of fraction.
FIELDS = {
    "f16": (5, 10),
    "bf16": (8, 7),
    "tf32": (8, 23),
    "f32": (8, 23),
    "f64": (11, 52),
    "e4m3": (4, 3),
    "e5m2": (5, 2),
}
MIXES = ("all", "near", "middle", "zeros", "tiny", "specials", "sparse", "large")
_FP8 = ("e4m3", "e5m2")


def forms() -> list[str]:
    """All forms, as PTX writes what follows ``mma.sync.aligned``."""
    found = []
    orders = [f"{a}.{b}" for a in ("row", "col") for b in ("row", "col")]
    for d in ("f16", "f32"):
        found += [f"{shape}.row.col.{d}.f16.f16.{d}" for shape in ("m16n8k8", "m16n8k16")]
        accumulators = ("f16",) if d == "f16" else ("f16", "f32")
        found += [f"m8n8k4.{order}.{d}.f16.f16.{c}" for order in orders for c in accumulators]
        pairs = [f"{a}.{b}" for a in _FP8 for b in _FP8]
        found += [f"{shape}.row.col.{d}.{pair}.{d}" for shape in ("m16n8k16", "m16n8k32") for pair in pairs]
    found += [f"{shape}.row.col.f32.bf16.bf16.f32" for shape in ("m16n8k8", "m16n8k16")]
    found += [f"{shape}.row.col.f32.tf32.tf32.f32" for shape in ("m16n8k4", "m16n8k8")]
    found += [f"{shape}.row.col.f64.f64.f64.f64" for shape in ("m8n8k4", "m16n8k4", "m16n8k8", "m16n8k16")]
    bytes_, nibbles = ("m8n8k16", "m16n8k16", "m16n8k32"), ("m8n8k32", "m16n8k32", "m16n8k64")
    for types, shapes in ((("s8", "u8"), bytes_), (("s4", "u4"), nibbles)):
        pairs = [f"{a}.{b}" for a in types for b in types]
        limits = ("", ".satfinite")
        found += [f"{shape}.row.col{limit}.s32.{p}.s32" for shape in shapes for limit in limits for p in pairs]
    for shape in ("m8n8k128", "m16n8k128", "m16n8k256"):
        found += [f"{shape}.row.col.s32.b1.b1.s32.{operation}.popc" for operation in ("xor", "and")]
    return found


def hashed(seed: int, shape: tuple[int, ...], xp: Any = np, start: int = 0) -> Any:
    """Random uint64 of this shape (splitmix64); the same with NumPy and CuPy. ``start``: of the first row."""
    count = int(np.prod(shape))
    first = start * (count // shape[0])
    x = xp.arange(first, first + count, dtype=xp.uint64) + xp.uint64((seed * 0x9E3779B97F4A7C15 + 1) & (2**64 - 1))
    x = x * xp.uint64(0x9E3779B97F4A7C15)
    x = (x ^ (x >> xp.uint64(30))) * xp.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> xp.uint64(27))) * xp.uint64(0x94D049BB133111EB)
    return (x ^ (x >> xp.uint64(31))).reshape(shape)


def elements(kind: str, seed: int, shape: tuple[int, int], factor: str = "", xp: Any = np, start: int = 0) -> Any:
    """(fragments, elements) bits in uint64. ``factor``: of an accumulator the type of A; fragment i has mix i % 8."""
    r = hashed(seed, shape, xp, start)
    if kind not in FIELDS:
        return _integers(kind, r, start, xp)
    exponent_bits, fraction_bits = FIELDS[kind]
    bias, top = (1 << exponent_bits - 1) - 1, (1 << exponent_bits) - (1 if kind == "e4m3" else 2)
    sign = r >> xp.uint64(63)
    fraction = r & xp.uint64((1 << fraction_bits) - 1)
    pick = ((r >> xp.uint64(52)) & xp.uint64(2047)).astype(xp.int64) if kind != "f64" else (
        hashed(seed + 77, shape, xp, start) & xp.uint64(2047)).astype(xp.int64)  # fmt: skip
    chance = ((r >> xp.uint64(32)) & xp.uint64(63)).astype(xp.int64)
    mix = ((xp.arange(shape[0]) + start) % 8)[:, None]
    exponents, zero = [], []
    for name in MIXES:
        low, high = _range(name, kind, factor, bias, top)
        exponents.append(low + pick % (high - low + 1))
        zero.append(chance < {"zeros": 32, "sparse": 48}.get(name, 0 if not factor else 8))
    exponent = xp.clip(xp.choose(mix, exponents), 0, top)
    special = (mix == 5) & (chance == 63)
    if kind == "e4m3":
        fraction = xp.where((exponent == top) & (fraction == 7), xp.uint64(6), fraction)
        exponent = xp.where(special, 15, exponent)
        fraction = xp.where(special, xp.uint64(7), fraction)
    else:
        exponent = xp.where(special, top + 1, exponent)
        fraction = xp.where(special & (pick % 3 != 0), xp.uint64(0), fraction)
    bits = (
        sign << xp.uint64(exponent_bits + fraction_bits)
        | exponent.astype(xp.uint64) << xp.uint64(fraction_bits)
        | fraction
    )
    nothing = xp.choose(mix, zero)
    return xp.where(nothing, sign << xp.uint64(exponent_bits + fraction_bits), bits)


def _range(name: str, kind: str, factor: str, bias: int, top: int) -> tuple[int, int]:
    """The least and the greatest exponent field of a mix."""
    if factor:
        bits = FIELDS[factor][0]
        of_factor = (1 << bits - 1) - 1
        centre = {"tiny": 2 * (2 - of_factor), "large": 2 * (of_factor - 1)}.get(name, 0)
        if name == "all" or (name in ("tiny", "large") and kind == factor):
            return 0, top
        reach = 4 if name == "near" else 28
        return bias + centre - reach, bias + centre + reach
    reach = 3 if bias < 10 else 12
    return {
        "all": (0, top),
        "middle": (bias - reach, bias + reach),
        "sparse": (bias - reach, bias + reach),
        "tiny": (0, 2),
        "large": (top - 2, top),
    }.get(name, (bias - 2, bias + 1))


def _integers(kind: str, r: Any, start: int, xp: Any) -> Any:
    bits = {"s8": 8, "u8": 8, "s4": 4, "u4": 4, "b1": 32, "s32": 32}[kind]
    value = r & xp.uint64((1 << bits) - 1)
    if kind != "s32":
        return value
    small = ((xp.arange(r.shape[0]) + start) % 2 == 0)[:, None]
    # Half of the accumulators are near the limits, so that sums overflow.
    limit = (r >> xp.uint64(40)) % xp.uint64(1 << 17)
    edge = xp.where(r >> xp.uint64(63) == 0, xp.uint64(0x7FFFFFFF) - limit, xp.uint64(0x80000000) + limit)
    return xp.where(small, edge, value)


def kinds_of(form: str) -> tuple[str, str, str, str]:
    """The types of D, A, B and C."""
    words = [word for word in form.split(".") if word not in ("xor", "and", "popc", "satfinite", "row", "col")]
    return words[1], words[2], words[3], words[4]


def counts_of(form: str) -> tuple[int, int, int, int]:
    """Elements of D, A, B and C per lane, and how many of them a register has is ``per_register``."""
    shape, *_ = form.split(".")
    m, n, k = (int(word) for word in shape[1:].replace("n", " ").replace("k", " ").split())
    if "b1" in kinds_of(form):
        k //= 32
    four = 4 if shape == "m8n8k4" and "f64" not in form else 1
    return tuple(four * size // 32 for size in (m * n, m * k, n * k, m * n))  # type: ignore[return-value]


def per_register(kind: str) -> int:
    """Elements of a type in a register."""
    return {"f16": 2, "bf16": 2, "e4m3": 4, "e5m2": 4, "s8": 4, "u8": 4, "s4": 8, "u4": 8}.get(kind, 1)


def registers(form: str, seed: int, count: int, xp: Any = np, start: int = 0) -> tuple[Any, Any, Any]:
    """A, B and C of ``count`` fragments from number ``start`` on: (count, 32, registers) uint32, f64 uint64."""
    made = []
    for number, (kind, held) in enumerate(zip(kinds_of(form)[1:], counts_of(form)[1:], strict=True)):
        factor = kinds_of(form)[1] if number == 2 and kind in FIELDS else ""
        bits = elements(kind, seed * 3 + number, (count, 32 * held), factor, xp, start)
        if kind == "f64":
            made.append(bits.reshape(count, 32, held))
            continue
        each = per_register(kind)
        width = 32 // each
        parts = bits.reshape(count, 32, held // each, each)
        whole = parts[..., 0]
        for element in range(1, each):
            whole = whole | parts[..., element] << xp.uint64(width * element)
        made.append(whole.astype(xp.uint32))
    return made[0], made[1], made[2]


def source(form: str, number: int) -> str:
    """CUDA code of the kernel ``multiply<number>(a, b, c, d, count)``: one fragment per warp and turn."""
    kinds, counts = kinds_of(form), counts_of(form)
    held = [count // per_register(kind) for kind, count in zip(kinds, counts, strict=True)]
    word = "unsigned long long" if kinds[0] == "f64" else "unsigned"
    letters = ["d" if kind == "f64" else "f" if kind == "f32" else "r" for kind in kinds]

    def value(kind: str, text: str) -> str:
        return {"f64": f"__longlong_as_double({text})", "f32": f"__uint_as_float({text})"}.get(kind, text)

    names = [f"%{i}" for i in range(sum(held))]
    groups, at = [], 0
    for size in held:
        groups.append("{" + ", ".join(names[at : at + size]) + "}")
        at += size
    inputs = []
    for i, name in ((1, "a"), (2, "b"), (3, "c")):
        loads = (f"{name}[(f * {held[i]} + {r}) * 32 + lane]" for r in range(held[i]))
        inputs += [f'"{letters[i]}"({value(kinds[i], load)})' for load in loads]
    outputs = ", ".join(f'"={letters[0]}"(o{r})' for r in range(held[0]))
    c_type = {"d": "double", "f": "float", "r": "unsigned"}[letters[0]]
    back = {"d": "__double_as_longlong({})", "f": "__float_as_uint({})", "r": "{}"}[letters[0]]
    stores = "\n    ".join(f"d[(f * {held[0]} + {r}) * 32 + lane] = {back.format(f'o{r}')};" for r in range(held[0]))
    declared = ", ".join(f"o{r}" for r in range(held[0]))
    return f"""
extern "C" __global__ void multiply{number}(const {word}* a, const {word}* b, const {word}* c, {word}* d, int count) {{
  const int lane = threadIdx.x % 32;
  for (long long f = (blockIdx.x * blockDim.x + threadIdx.x) / 32; f < count; f += gridDim.x * blockDim.x / 32) {{
    {c_type} {declared};
    asm volatile("mma.sync.aligned.{form} {", ".join(groups)};" : {outputs} : {", ".join(inputs)});
    {stores}
  }}
}}
"""


def by_register(values: Any) -> Any:
    """(count, 32, registers) -> (count, registers, 32), as the kernel has them, or the other way round."""
    return values.swapaxes(-1, -2)
