"""Machine code for a run of pure opcodes: LLVM compiles it, and NumPy calls it as a ufunc.

llvmlite is an optional dependency. A compiled function has the form of the inner loops of NumPy's own ufuncs (NumPy C
API, "PyUFuncGenericFunction"), so NumPy broadcasts, allocates and gives scalars for scalars, as in the way without a
compiler. The ufunc is made through NumPy's C API ("PyUFunc_FromFuncAndData").
"""

from __future__ import annotations

import ctypes
import importlib.util
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal

import numpy as np

from softlab.emulator.opcodes.emitter import Emitter
from softlab.emulator.sites import Site
from softlab.errors import Error

#: A ufunc takes up to 64 operands (NumPy 2, NPY_MAXARGS).
MOST_OPERANDS = 60
#: What LLVM is told of the two loops (LLVM Language Reference, "llvm.loop"): more copies of a body cost more time to
#: compile than they save.
_HINTS = {
    "packed": """!900 = distinct !{!900, !901, !902}
!901 = !{!"llvm.loop.interleave.count", i32 1}
!902 = !{!"llvm.loop.unroll.disable"}""",
    "strided": """!910 = distinct !{!910, !911, !902}
!911 = !{!"llvm.loop.vectorize.enable", i1 false}""",
}
#: The position of PyUFunc_FromFuncAndData in NumPy's table of functions, and PyUFunc_None.
_MAKE_UFUNC, _NO_IDENTITY = 1, -1


@dataclass(frozen=True)
class Operation:
    """One step of a block's code.

    ``expression`` computes ``results`` in Python from ``sources``, which are names of variables and constants.
    ``native(emitter, *sources)`` gives the same values in LLVM's terms, one or a tuple; None where only Python can.
    ``direct``: the expression is one call into NumPy already. ``load``: the site of a load without a guard from the
    address in the only source.
    """

    results: tuple[str, ...]
    expression: str
    sources: tuple[str, ...]
    native: Callable[..., Any] | None = None
    direct: bool = False
    load: Site | None = None

    @property
    def line(self) -> str:
        """The step as a line of Python."""
        return f"{', '.join(self.results)} = {self.expression}" if self.results else self.expression


@cache
def available() -> bool:
    """Whether llvmlite is installed."""
    return importlib.util.find_spec("llvmlite") is not None


#: Which blocks of code are compiled: "none", "hot" ones (those that run often), "all", or "auto": hot ones where
#: llvmlite is installed.
Choice = Literal["none", "hot", "all", "auto"]
_CHOICE: ContextVar[Choice] = ContextVar("compiled_blocks", default="auto")


def compiled_blocks(choice: Choice | None = None) -> Literal["none", "hot", "all"]:
    """Which blocks a run compiles: as ``choice`` says, else as :func:`compiling` does.

    Raises:
        Error: it must compile, and llvmlite is not installed.
    """
    choice = choice or _CHOICE.get()
    if choice == "auto":
        return "hot" if available() else "none"
    if choice != "none" and not available():
        raise Error("compiling the emulator's blocks of code needs llvmlite: pip install 'softlab[fast]'")
    return choice


@contextmanager
def compiling(choice: Choice) -> Iterator[None]:
    """Within this, runs that do not say otherwise compile these blocks."""
    token = _CHOICE.set(choice)
    try:
        yield
    finally:
        _CHOICE.reset(token)


def started() -> bool:
    """Whether LLVM is loaded."""
    return _compiler.cache_info().currsize > 0


@dataclass(frozen=True)
class Turns:
    """A lane runs the operations again while the predicate ``condition`` holds, at most ``limit`` times.

    ``limit`` is a source, ``made`` the result that counts the turns (int64; "" for none), and ``condition`` may be None
    for exactly ``limit`` turns. ``carried``: source -> the variable or constant that it is in the next turn.
    """

    carried: dict[str, str]
    limit: str
    condition: str | None
    made: str = ""


class NativeFunction:
    """Operations as one ufunc. It keeps alive what NumPy only points to.

    Arguments:
        operations: each has a native form; in an order in which each follows those that it needs.
        sources, results: the variables that come in and those that go out.
        dtypes: the dtype of each variable.
        constants: the values that are known now.
        spread: the sources that change along the loop; the others are the same for all of it.
        turns: how often each lane runs the operations; None for once.
    """

    def __init__(
        self,
        operations: Sequence[Operation],
        sources: Sequence[str],
        results: Sequence[str],
        dtypes: dict[str, np.dtype],
        constants: dict[str, np.generic],
        spread: Sequence[str],
        turns: Turns | None = None,
    ) -> None:
        kinds = [dtypes[name] for name in (*sources, *results)]
        moving = [name in spread for name in sources] + [True] * len(results)
        text = _Loop(operations, tuple(sources), tuple(results), dtypes, constants, kinds, moving, turns).text()
        self._name = b"softlab"
        self._functions = (ctypes.c_void_p * 1)(_compiler().function(text))
        self._data = (ctypes.c_void_p * 1)(None)
        self._kinds = (ctypes.c_char * len(kinds))(*(bytes([kind.num]) for kind in kinds))
        self.ufunc: np.ufunc = _make_ufunc()(
            self._functions,
            self._data,
            self._kinds,
            1,
            len(sources),
            len(results),
            _NO_IDENTITY,
            self._name,
            self._name,
            0,
        )


@cache
def _make_ufunc() -> Callable[..., Any]:
    from numpy._core import _multiarray_umath  # type: ignore[attr-defined]

    pointer = ctypes.pythonapi.PyCapsule_GetPointer
    pointer.restype, pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    table = ctypes.cast(pointer(_multiarray_umath._UFUNC_API, None), ctypes.POINTER(ctypes.c_void_p))
    integer, text, address = ctypes.c_int, ctypes.c_char_p, ctypes.c_void_p
    prototype = ctypes.PYFUNCTYPE(
        ctypes.py_object, address, address, address, integer, integer, integer, integer, text, text, integer
    )
    made = table[_MAKE_UFUNC]
    assert made is not None
    return prototype(made)


class _Compiler:
    """LLVM for this machine."""

    def __init__(self) -> None:
        import llvmlite.binding as llvm

        llvm.initialize_native_target()
        llvm.initialize_native_asmprinter()
        self._llvm = llvm
        self._passes_for = self._machine()
        self._engine = llvm.create_mcjit_compiler(llvm.parse_assembly(""), self._machine())
        self._known: dict[str, int] = {}

    def _machine(self) -> Any:
        llvm = self._llvm
        try:
            features = llvm.get_host_cpu_features().flatten()
        except RuntimeError:  # LLVM does not know them for every processor
            features = ""
        target = llvm.Target.from_default_triple()
        return target.create_target_machine(cpu=llvm.get_host_cpu_name(), features=features, opt=1)

    def function(self, text: str) -> int:
        """The address of the function ``loop`` of this module."""
        if text in self._known:
            return self._known[text]
        name = f"loop_{len(self._known)}"
        module = self._llvm.parse_assembly(text.replace('"loop"', f'"{name}"'))
        tuning = self._llvm.create_pipeline_tuning_options(speed_level=1)
        tuning.loop_vectorization = True
        tuning.slp_vectorization = False
        passes = self._llvm.create_pass_builder(self._passes_for, tuning)
        passes.getModulePassManager().run(module, passes)
        self._engine.add_module(module)
        self._engine.finalize_object()
        found = self._known[text] = self._engine.get_function_address(name)
        return found


def compiled_function(text: str) -> int:
    """The address of the function ``loop`` of a module in LLVM's assembly."""
    return _compiler().function(text)


@cache
def _compiler() -> _Compiler:
    return _Compiler()


@dataclass(frozen=True)
class _Loop:
    """The LLVM code of a ufunc's inner loop: ``loop(pointers, counts, strides, data)``.

    It calls ``packed``, a loop that LLVM turns into vector instructions: once where the operands lie without gaps, else
    for each lane by itself.
    """

    operations: Sequence[Operation]
    sources: tuple[str, ...]
    results: tuple[str, ...]
    dtypes: dict[str, np.dtype]
    constants: dict[str, np.generic]
    kinds: list[np.dtype]
    moving: list[bool]
    turns: Turns | None = None

    def text(self) -> str:
        """The module as LLVM's assembly."""
        from llvmlite import ir

        module = ir.Module("block")
        pointer, size = ir.PointerType(ir.IntType(8)), ir.IntType(64)
        packed = self._packed(ir, module)
        function = ir.Function(
            module, ir.FunctionType(ir.VoidType(), [pointer.as_pointer(), *[size.as_pointer()] * 2, pointer]), "loop"
        )
        pointers, counts, strides, _ = function.args
        builder = ir.IRBuilder(function.append_basic_block("entry"))

        def element(array: Any, index: int) -> Any:
            return builder.load(builder.gep(array, [size(index)]))

        count = element(counts, 0)
        starts = [element(pointers, i) for i in range(len(self.kinds))]
        steps = [element(strides, i) for i in range(len(self.kinds))]
        as_expected = ir.IntType(1)(1)
        for step, kind, moves in zip(steps, self.kinds, self.moving, strict=True):
            expected = size(kind.itemsize if moves else 0)
            as_expected = builder.and_(as_expected, builder.icmp_signed("==", step, expected))
        with builder.if_else(as_expected) as (then, otherwise):
            with then:
                self._call(builder, packed, count, starts)
            with otherwise, _turns("strided", ir, builder, count) as turn:
                at = [builder.gep(s, [builder.mul(turn, step)]) for s, step in zip(starts, steps, strict=True)]
                self._call(builder, packed, size(1), at)
        builder.ret_void()
        text = str(module)
        for name, hints in _HINTS.items():
            text = text.replace(f'label %"{name}_end"', f'label %"{name}_end", !llvm.loop {hints.split()[0]}')
        return "\n".join([text, *_HINTS.values()])

    def _packed(self, ir: Any, module: Any) -> Any:
        """The loop for operands without gaps; a source that does not move is read once."""
        size = ir.IntType(64)
        types = [memory_type(ir, kind).as_pointer() for kind in self.kinds]
        function = ir.Function(module, ir.FunctionType(ir.VoidType(), [size, *types]), "packed")
        function.linkage = "internal"
        function.attributes.add("noinline")
        for argument in function.args[1:]:
            argument.add_attribute("noalias")  # the results are new arrays
        builder = ir.IRBuilder(function.append_basic_block("entry"))
        where = function.args[1:]
        with _turns("packed", ir, builder, function.args[0]) as turn:
            self._body(
                ir, builder, [builder.gep(p, [turn]) if m else p for p, m in zip(where, self.moving, strict=True)]
            )
        builder.ret_void()
        return function

    @staticmethod
    def _call(builder: Any, packed: Any, count: Any, pointers: Sequence[Any]) -> None:
        typed = [builder.bitcast(p, a.type) for p, a in zip(pointers, packed.args[1:], strict=True)]
        builder.call(packed, [count, *typed])

    def _body(self, ir: Any, builder: Any, pointers: Sequence[Any]) -> None:
        """One lane."""
        given, taken = pointers[: len(self.sources)], pointers[len(self.sources) :]
        values: dict[str, Any] = {}
        for name, pointer in zip(self.sources, given, strict=True):
            value = builder.load(pointer)
            values[name] = builder.trunc(value, ir.IntType(1)) if self.dtypes[name] == np.bool_ else value
        if self.turns is None:
            self._operate(ir, builder, values)
        else:
            self._repeat(ir, builder, values, self.turns)
        for name, pointer in zip(self.results, taken, strict=True):
            value = values[name]
            builder.store(builder.zext(value, ir.IntType(8)) if self.dtypes[name] == np.bool_ else value, pointer)

    def _operate(self, ir: Any, builder: Any, values: dict[str, Any]) -> None:
        """The operations; their results are added to ``values``."""
        emitter = Emitter(builder, ir)
        for operation in self.operations:
            sources = [self._value(ir, values, name) for name in operation.sources]
            assert operation.native is not None
            made = operation.native(emitter, *sources)
            values.update(zip(operation.results, made if isinstance(made, tuple) else (made,), strict=True))

    def _value(self, ir: Any, values: dict[str, Any], name: str) -> Any:
        return values[name] if name in values else constant(ir, self.constants[name])

    def _repeat(self, ir: Any, builder: Any, values: dict[str, Any], turns: Turns) -> None:
        """The operations, turn after turn; ``values`` are then those of the last turn."""
        size, before = ir.IntType(64), builder.block
        body, end = builder.append_basic_block("turn_body"), builder.append_basic_block("turn_end")
        builder.branch(body)
        builder.position_at_end(body)
        number = builder.phi(size)
        number.add_incoming(size(0), before)
        carried = {}
        for name in turns.carried:
            carried[name] = builder.phi(values[name].type)
            carried[name].add_incoming(values[name], before)
        values.update(carried)
        self._operate(ir, builder, values)
        made = builder.add(number, size(1))
        number.add_incoming(made, builder.block)
        for name, following in turns.carried.items():
            carried[name].add_incoming(self._value(ir, values, following), builder.block)
        again = builder.icmp_signed("<", made, values[turns.limit])
        if turns.condition is not None:
            again = builder.and_(again, values[turns.condition])
        builder.cbranch(again, body, end)
        builder.position_at_end(end)
        if turns.made:
            values[turns.made] = made


@contextmanager
def _turns(name: str, ir: Any, builder: Any, count: Any) -> Iterator[Any]:
    """A loop around what is built within; it gives the number of the turn."""
    size, function, before = ir.IntType(64), builder.function, builder.block
    body, end = function.append_basic_block(f"{name}_body"), function.append_basic_block(f"{name}_end")
    builder.cbranch(builder.icmp_signed(">", count, size(0)), body, end)
    builder.position_at_end(body)
    turn = builder.phi(size)
    turn.add_incoming(size(0), before)
    yield turn
    following = builder.add(turn, size(1))
    turn.add_incoming(following, builder.block)
    builder.cbranch(builder.icmp_signed("<", following, count), body, end)
    builder.position_at_end(end)


def memory_type(ir: Any, dtype: np.dtype) -> Any:
    """LLVM's type of a dtype in memory. Half precision is only moved: its bits."""
    if dtype == np.float32:
        return ir.FloatType()
    if dtype == np.float64:
        return ir.DoubleType()
    return ir.IntType(dtype.itemsize * 8)


def constant(ir: Any, value: np.generic) -> Any:
    """A NumPy scalar as a constant of LLVM, all its bits as they are."""
    if value.dtype == np.bool_:
        return ir.IntType(1)(int(value))
    bits = ir.IntType(value.dtype.itemsize * 8)(int(value.view(f"u{value.dtype.itemsize}")))
    kind = memory_type(ir, value.dtype)
    return bits if kind == bits.type else bits.bitcast(kind)
