"""Extended-precision arithmetic: the condition code CC.CF is one more source or result.

Source: PTX ISA, "Extended-Precision Integer Arithmetic Instructions". ``Semantics.carry_in`` says that the last source,
of type pred, is CC.CF; ``Semantics.carry_out`` that the last result is. Neither is among the instruction's operands.

CC.CF is the carry of the adder, on an H100 and for the compiler: ``sub`` adds the complement, so that its carry is 1
where there is no borrow. The compiler divides numbers of 128 bits with an ``addc`` behind a ``sub.cc``, which reads
that. The PTX ISA calls the carry of a subtraction a borrow; ``subc`` behind ``sub.cc`` gives the same either way.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from softlab.emulator.opcodes.forms import Form, bits_type, pure
from softlab.emulator.opcodes.parts import high_product
from softlab.emulator.opcodes.registry import Semantics

_TYPES = ("s32", "u32", "s64", "u64", "b32", "b64")


def _semantics(function: Callable, sources: tuple[str, ...], result: str, carry_in: bool, carry_out: bool) -> Semantics:
    """``function`` gives (value, carry); the carry is dropped where it is no result."""
    return Semantics(
        function if carry_out else (lambda *values: function(*values)[0]),
        (*sources, "pred") if carry_in else sources,
        (result, "pred") if carry_out else (result,),
        carry_in=carry_in,
        carry_out=carry_out,
    )


def _add(a, b):
    total = np.add(a, b)
    return total, total < a


def _add_carry(a, b, carry):
    total = np.add(np.add(a, b), carry)
    return total, (total < a) | ((total == a) & carry)


def _subtract(a, b):
    return np.subtract(a, b), a >= b


def _subtract_borrow(a, b, carry):
    return np.subtract(np.subtract(a, b), ~carry), (a > b) | ((a == b) & carry)


# With carry in: total == a means b + carry is 0 or 2**bits; it is the latter exactly where the carry is 1.
_PLAIN = {"add": _add, "sub": _subtract}
_CHAINED = {"addc": _add_carry, "subc": _subtract_borrow}


@pure("addc", "subc", types=_TYPES)
def _chained(form: Form) -> Semantics:
    name = bits_type(form.one_type())
    return _semantics(_CHAINED[form.opcode], (name, name), name, True, form.flag("cc"))


def with_carry_out(form: Form) -> Semantics:
    """``add.cc`` or ``sub.cc``."""
    name = bits_type(form.one_type())
    return _semantics(_PLAIN[form.opcode], (name, name), name, False, True)


def multiply_add_with_carry(form: Form, carry_in: bool, carry_out: bool) -> Semantics:
    """``mad.cc``, ``madc`` and ``madc.cc``: half of a product, plus c, plus CC.CF."""
    name = form.one_type()
    bits = bits_type(name)
    unsigned = np.dtype(f"u{int(bits[1:]) // 8}")
    high = high_product(name) if form.one_of("lo", "hi") == "hi" else None

    def product(a, b):
        return (np.multiply(a, b) if high is None else high(a, b)).view(unsigned)

    if carry_in:
        return _semantics(
            lambda a, b, c, carry: _add_carry(product(a, b), c, carry), (name, name, bits), bits, True, carry_out
        )
    return _semantics(lambda a, b, c: _add(product(a, b), c), (name, name, bits), bits, False, carry_out)


@pure("madc", types=("s32", "u32", "s64", "u64"))
def _madc(form: Form) -> Semantics:
    return multiply_add_with_carry(form, True, form.flag("cc"))
