"""Inline PTX for the random kernels of :mod:`tests.fuzz.kernels`: a function per instruction of the emulator's tests.

A function has the name ``ptx_N`` for the form N of ``tests.emulator.opcodes.hardware.FORMS``. A source says only those
that it calls.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from types import MappingProxyType

from tests.emulator.opcodes.cases import lower
from tests.emulator.opcodes.hardware import FORMS
from tests.fuzz.vocabulary import TYPES

#: PTX type -> letter of the variable, constraint of the operand, how the function makes the operand of its parameter.
_OPERANDS: Mapping[str, tuple[str, str, str]] = MappingProxyType(
    {
        "b16": ("S", "h", "{0}"), "u16": ("S", "h", "{0}"), "s16": ("s", "h", "{0}"),
        "b32": ("u", "r", "{0}"), "u32": ("u", "r", "{0}"), "s32": ("i", "r", "{0}"),
        "u16x2": ("u", "r", "{0}"), "s16x2": ("u", "r", "{0}"),
        "b64": ("w", "l", "{0}"), "u64": ("w", "l", "{0}"), "s64": ("l", "l", "{0}"),
        "f16": ("h", "h", "__half_as_ushort({0})"), "bf16": ("g", "h", "__bfloat16_as_ushort({0})"),
        "f16x2": ("H", "r", "(unsigned)raw({0})"), "bf16x2": ("G", "r", "(unsigned)raw({0})"),
        "f32": ("f", "f", "{0}"), "f64": ("d", "d", "{0}"), "pred": ("p", "r", "(int){0}"),
    }
)  # fmt: skip
#: PTX type of a result -> what the function gives of ``x``.
_GIVEN = MappingProxyType(
    {
        "f16": "__ushort_as_half(x)", "bf16": "__ushort_as_bfloat16(x)", "f16x2": "pair(x)", "bf16x2": "brain_pair(x)",
        "pred": "x != 0",
    }
)  # fmt: skip
_HELD = MappingProxyType({"h": "ushort", "r": "unsigned", "l": "word", "f": "float", "d": "double"})
#: The sign of a NaN would come out, the result is not defined or approximate, CC is needed; or ptxas 12.9 itself gives
#: other results than the PTX says: it takes ``x - (x - y)`` for y where the subtraction saturates, 1.0 of ``set`` for
#: -1, f16 for bf16 in a conversion of a conversion, and 32768 for the s16 that is the negative of -32768.
_LEFT_OUT = re.compile(
    r"copysign|xorsign|tf32|approx|\.full|fns|\.cc|^addc|^subc|^madc|^mov|\{|\||^set\.|^(add|sub|mul|fma)\S*\.sat\S*f"
    r"|^cvt\S*\.b?f16\.b?f16|^testp|^(neg|abs)\.s16"
)
_CALL = re.compile(r"\bptx_(\d+)\(")


@lru_cache(maxsize=1)
def inline_expressions() -> Mapping[str, tuple[str, ...]]:
    """Letter -> calls with ``$x`` for variables, as in ``vocabulary.EXPRESSIONS``."""
    found: dict[str, list[str]] = {letter: [] for letter in TYPES}
    for number, text in enumerate(FORMS):
        kinds = _kinds(text)
        if kinds:
            *sources, result = kinds
            call = ",".join(f"${_OPERANDS[kind][0]}" for kind in sources)
            found[_OPERANDS[result][0]].append(f"ptx_{number}({call})")
    return MappingProxyType({letter: tuple(texts) for letter, texts in found.items()})


@lru_cache(maxsize=2048)
def _kinds(text: str) -> tuple[str, ...]:
    """PTX types of the sources and the result of a form, or none where it is left out."""
    if _LEFT_OUT.search(text):
        return ()
    semantics = lower(text)
    kinds = (*semantics.sources, *semantics.results)
    fits = len(_letters(text)) == len(kinds) and len(semantics.results) == 1 and set(kinds) <= set(_OPERANDS)
    return kinds if fits else ()


def _letters(text: str) -> list[str]:
    return re.findall(r"(?<=[ ,])[a-z](?=,|$)", text)


def inline_functions(source: str) -> str:
    """The definitions of the functions ``ptx_N`` that a source calls."""
    return "".join(map(_definition, sorted({int(number) for number in _CALL.findall(source)})))


def _definition(number: int) -> str:
    text = FORMS[number]
    *sources, result = _kinds(text)
    opcode, operands = text.split(" ", 1)
    places, before, inputs, parameters = ["%0"], "", [], []
    letters = iter(range(len(sources)))
    for operand in operands.split(", ")[1:]:
        if not re.fullmatch("[a-z]", operand):
            places.append(operand)
            continue
        index = next(letters)
        letter, constraint, made = _OPERANDS[sources[index]]
        parameters.append(f"{TYPES[letter]} a{index}")
        inputs.append(f'"{constraint}"({made.format(f"a{index}")})')
        places.append(f"%{index + 1}")
        if sources[index] == "pred":
            before += f".reg .pred p{index}; setp.ne.s32 p{index}, %{index + 1}, 0; "
            places[-1] = f"p{index}"
    letter, constraint, _ = _OPERANDS[result]
    after = ""
    if result == "pred":
        before, places[0], after = f".reg .pred q; {before}", "q", " selp.b32 %0, 1, 0, q;"
    body = f"{{ {before}{opcode} {', '.join(places)};{after} }}"
    return (
        f"SMALL {TYPES[letter]} ptx_{number}({', '.join(parameters)}) {{ {_HELD[constraint]} x; "
        f'asm("{body}" : "={constraint}"(x) : {", ".join(inputs)}); return {_GIVEN.get(result, "x")}; }}\n'
    )
