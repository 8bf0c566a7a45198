"""Opcodes of floats as one compiled function of register contents: what NumPy takes ten calls and more for.

LLVM's form of an opcode is that of the PTX emulator, or stands beside the NumPy form in :mod:`softlab.sass.opcodes`. It
gives the same bits for every lane. A function is compiled when NumPy has taken as long as compiling it takes, in this
process and in those before it (:mod:`softlab.emulator.machine.spent`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from time import perf_counter
from typing import Protocol

import numpy as np

from softlab.emulator.machine.native import NativeFunction, compiled_blocks, key_of, loop_text, started
from softlab.emulator.machine.operations import Operation
from softlab.emulator.machine.spent import Spent
from softlab.emulator.opcodes.emitter import Emitter, Native, NativeForm
from softlab.sass.decode import ZERO, Operand
from softlab.sass.form import Form, Reader
from softlab.sass.lanes import Value

#: Seconds that compiling a function takes, and LLVM's start.
_COMPILE, _START = 0.02, 0.15
#: The same of a function whose machine code is on the disk.
_STORED, _STORED_START = 0.0004, 0.03
#: Of an operand: whether its absolute value is taken, whether it is negated then, and whether it is the same for all
#: lanes of all launches.
_Mark = tuple[bool, bool, bool]
_ZERO = Operand("R", ZERO)
_NO_SIGNS: tuple[_Mark, ...] = ((False, False, False),)


#: The compiled functions.
_OF_UFUNC: dict[np.ufunc, LaneFunction] = {}


class LaneFunction:
    """One opcode: a function of the bits of floats, of ``dtype``, that gives bits, too, or bool where it ``tests``."""

    def __init__(self, native: NativeForm, marks: Sequence[_Mark], dtype: type, tests: bool) -> None:
        self._native, self._marks, self.tests = native, tuple(marks), tests
        self.dtype = np.dtype(dtype)
        self._taken = 0.0
        self._made: NativeFunction | None = None
        self._key = ""  # once somebody has looked whether it is on the disk
        self._spent = Spent()
        #: The compiled function, once it is there.
        self.ufunc: np.ufunc | None = None

    def take(self, seconds: float, choice: str) -> None:
        """NumPy has taken this long."""
        self._taken += seconds
        if choice == "all":
            self.compile()
            return
        has_started = started()
        if not self._key and self._taken > _STORED + (0 if has_started else _STORED_START):
            operation, names, dtypes, moving = self._given()
            self._key = key_of((loop_text([operation], names, ("d",), dtypes, {}, moving),))
            self._use(NativeFunction.of_key(self._key, list(dtypes.values()), len(names)))
        if self._key and self.ufunc is None:
            taken = self._spent.of_all(self._taken, self._taken, lambda: self._key)
            if taken > _COMPILE + (0 if has_started else _START):
                self.compile(kept=True)

    def compile(self, *, kept: bool = False) -> None:
        """Make the ``ufunc``. kept: its machine code is kept on the disk."""
        operation, names, dtypes, moving = self._given()
        self._use(NativeFunction([operation], names, ("d",), dtypes, {}, moving, kept=kept))

    def _given(self) -> tuple[Operation, tuple[str, ...], dict[str, np.dtype], list[str]]:
        """The operation, its sources, the dtypes of these and of the result, and which sources lanes have."""
        names = tuple(f"s{k}" for k in range(len(self._marks)))
        operation = Operation(("d",), "", names, self.apply)
        dtypes = dict.fromkeys(names, self.dtype) | {"d": np.dtype(np.bool_) if self.tests else self.dtype}
        moving = [name for name, (_, _, same) in zip(names, self._marks, strict=True) if not same]
        return operation, names, dtypes, moving

    def _use(self, made: NativeFunction | None) -> None:
        if made is not None:
            self._made, self.ufunc = made, made.ufunc
            _OF_UFUNC[made.ufunc] = self

    @staticmethod
    def of_ufunc(ufunc: np.ufunc) -> LaneFunction | None:
        """The opcode whose compiled function this is; None where it is another one."""
        return _OF_UFUNC.get(ufunc)

    def apply(self, e: Emitter, *bits: Native) -> Native:
        """The opcode in LLVM's terms."""
        floats, sign = [], 1 << 8 * self.dtype.itemsize - 1
        for value, (absolute, negated, _) in zip(bits, self._marks, strict=True):
            size = e.and_(value, value.type(sign - 1)) if absolute else value
            floats.append(e.as_float(e.xor(size, size.type(sign)) if negated else size))
        found = self._native(e, *floats)
        return found if self.tests else e.bits(found)


class Tracer(Protocol):
    """What writes operations down instead of doing them (:mod:`softlab.sass.traces`)."""

    def floats(self, function: LaneFunction, bits: Sequence[Value]) -> Value:
        """What a compiled form gives."""

    def converted(self, native: NativeForm, value: Value, dtype: np.dtype) -> Value:
        """What a compiled form makes of one value."""


class TracedRegisters(list):
    """The registers of a trace."""

    def __init__(self, values: Iterable[Value], trace: Tracer) -> None:
        super().__init__(values)
        self.trace = trace


@lru_cache(maxsize=512)
def _function(native: NativeForm, marks: tuple[_Mark, ...], dtype: type, tests: bool) -> LaneFunction:
    return LaneFunction(native, marks, dtype, tests)


def _mark(operand: Operand) -> _Mark:
    return operand.absolute, operand.negated, operand.kind == "float" or operand == _ZERO


def of_floats(
    form: Form,
    numbers: Sequence[int],
    function: Callable[..., Value],
    native: NativeForm | None,
    *,
    tests: bool = False,
) -> Reader:
    """A function of the registers that gives the bits of a float32, or a bool where it ``tests``.

    Arguments:
        numbers: the operands. function: of float32 values. native: the same for LLVM, one object for each meaning; None
            where there is none.
    """
    floats = [form.f32(number) for number in numbers]

    def by_numpy(r: list) -> Value:
        found = function(*[read(r) for read in floats])
        return found if tests else found.view(np.uint32)

    marks = tuple(_mark(form.operands[number]) for number in numbers)
    return _fast(by_numpy, [form.bits(n) for n in numbers], native and _function(native, marks, np.uint32, tests))


def of_word(form: Form, number: int, function: Callable[..., Value], native: NativeForm) -> Reader:
    """A function of the registers that gives the bits of a float32 of an operand's 32 bits, uint32.

    Arguments: as of :func:`of_floats`, for LLVM as a float of these bits. An operand without signs.
    """
    bits = form.u32(number)

    def by_numpy(r: list) -> Value:
        return function(bits(r)).view(np.uint32)

    return _fast(by_numpy, [bits], _function(native, _NO_SIGNS, np.uint32, False))


def of_words(
    form: Form, operands: Sequence[Operand], by_numpy: Reader, native: NativeForm | None, *, tests: bool = False
) -> Reader:
    """A function of the registers that gives 32 bits, or a bool where it ``tests``.

    Arguments:
        by_numpy: it by NumPy. native: for LLVM, of floats with the bits of the operands without their signs, one object
            for each meaning; None where there is none.
    """
    bits = [form.bits_of(operand) for operand in operands]
    marks = tuple((False, False, operand.kind in ("float", "integer") or operand == _ZERO) for operand in operands)
    return _fast(by_numpy, bits, native and _function(native, marks, np.uint32, tests))


def of_doubles(
    form: Form,
    numbers: Sequence[int],
    function: Callable[..., Value],
    native: NativeForm,
    *,
    fast: NativeForm | None = None,
    tests: bool = False,
) -> Reader:
    """A function of the registers that gives the bits of a float64, or a bool where it ``tests``.

    Arguments: as of :func:`of_floats`, of float64 values. ``native`` says also which bits a NaN has, and stands for the
        function where steps are compiled together. fast: what one step alone is compiled as, if that pays; NumPy gives
        the result where it has a NaN.
    """
    floats, bits = [form.f64(number) for number in numbers], [form.u64(number) for number in numbers]

    def by_numpy(r: list) -> Value:
        found = function(*[read(r) for read in floats])
        return found if tests else found.view(np.uint64)

    marks = tuple(_mark(form.operands[number]) for number in numbers)
    whole = _function(native, marks, np.uint64, tests)
    alone = None if fast is None else _fast(by_numpy, bits, _function(fast, marks, np.uint64, tests))

    def read(r: list) -> Value:
        if isinstance(r, TracedRegisters):
            return r.trace.floats(whole, [one(r) for one in bits])
        if alone is None:
            return by_numpy(r)
        found = alone(r)
        return by_numpy(r) if np.count_nonzero(np.isnan(found.view(np.float64))) else found

    return read


def _fast(by_numpy: Reader, bits: Sequence[Reader], lanes: LaneFunction | None) -> Reader:
    """A function of the registers by NumPy, and by the compiled function of the bits once this is there."""
    choice = compiled_blocks()
    if lanes is None or choice == "none":
        return by_numpy

    def read(r: list) -> Value:
        if lanes.ufunc is not None:
            return lanes.ufunc(*[one(r) for one in bits])
        if isinstance(r, TracedRegisters):
            return r.trace.floats(lanes, [one(r) for one in bits])
        start = perf_counter()
        found = by_numpy(r)
        lanes.take(perf_counter() - start, choice)
        return found

    return read
