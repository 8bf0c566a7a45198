"""The code of a ufunc's inner loop, in LLVM's assembly."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

from softlab.emulator.machine.operations import Operation, Turns
from softlab.emulator.opcodes.emitter import Emitter

#: What LLVM is told of the loops (LLVM Language Reference, "llvm.loop"): more copies of a body cost more time to
#: compile than they save.
_HINTS = {
    "packed": """!900 = distinct !{!900, !901, !902}
!901 = !{!"llvm.loop.interleave.count", i32 1}
!902 = !{!"llvm.loop.unroll.disable"}""",
    "parts": """!910 = distinct !{!910, !911, !902}
!911 = !{!"llvm.loop.vectorize.enable", i1 false}""",
    "copy": """!920 = distinct !{!920, !911, !902}""",
}
#: Lanes at a time where operands lie with gaps: some KiB on the stack for each operand.
_AT_ONCE = 128


@dataclass(frozen=True)
class Loop:
    """The LLVM code of a ufunc's inner loop: ``loop(pointers, counts, strides, data)``.

    It calls ``packed``, a loop that LLVM turns into vector instructions: once where the operands lie without gaps, else
    for some lanes at a time, whose values are copied to where they do. A source that does not move is the same for all
    lanes. NumPy gives a source of fewer dimensions than the result a stride of 0, or copies it: both happen.
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
        steps = [element(strides, i) if moves else size(0) for i, moves in enumerate(self.moving)]
        packs = [builder.bitcast(builder.alloca(memory_type(ir, kind), size(_AT_ONCE)), pointer) for kind in self.kinds]
        dense = ir.IntType(1)(1)
        for step, kind, moves in zip(steps, self.kinds, self.moving, strict=True):
            if moves:
                dense = builder.and_(dense, builder.icmp_signed("==", step, size(kind.itemsize)))
        with builder.if_else(dense) as (then, otherwise):
            with then:
                self._call(builder, packed, count, starts)
            with otherwise, turns("parts", ir, builder, _parts(builder, count)) as turn:
                first = builder.mul(turn, size(_AT_ONCE))
                left = builder.sub(count, first)
                some = builder.select(builder.icmp_signed("<", left, size(_AT_ONCE)), left, size(_AT_ONCE))
                at = [builder.gep(s, [builder.mul(first, step)]) for s, step in zip(starts, steps, strict=True)]
                self._call(builder, packed, some, self._in_packs(ir, builder, some, at, steps, packs))
                for number in range(len(self.sources), len(self.kinds)):
                    spread = _copy(ir, module, self.kinds[number].itemsize)
                    width = size(self.kinds[number].itemsize)
                    builder.call(spread, [at[number], steps[number], packs[number], width, some])
        builder.ret_void()
        return with_hints(str(module))

    def _in_packs(
        self, ir: Any, builder: Any, count: Any, at: list[Any], steps: list[Any], packs: list[Any]
    ) -> list[Any]:
        """Where the lanes of a part lie without gaps: sources that move are copied there, results will be."""
        found = []
        for number, (kind, moves) in enumerate(zip(self.kinds, self.moving, strict=True)):
            if not moves:
                found.append(at[number])
                continue
            if number < len(self.sources):
                gather = _copy(ir, builder.module, kind.itemsize)
                width = ir.IntType(64)(kind.itemsize)
                builder.call(gather, [packs[number], width, at[number], steps[number], count])
            found.append(packs[number])
        return found

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
        with turns("packed", ir, builder, function.args[0]) as turn:
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


def _parts(builder: Any, count: Any) -> Any:
    """How many parts of lanes there are."""
    return builder.sdiv(builder.add(count, count.type(_AT_ONCE - 1)), count.type(_AT_ONCE))


def _copy(ir: Any, module: Any, width: int) -> Any:
    """The function ``copy(to, its stride, from, its stride, count)`` for elements of this many bytes."""
    name = f"copy_{width}"
    if name in module.globals:
        return module.globals[name]
    pointer, size, kind = ir.PointerType(ir.IntType(8)), ir.IntType(64), ir.IntType(8 * width)
    function = ir.Function(module, ir.FunctionType(ir.VoidType(), [pointer, size, pointer, size, size]), name)
    function.linkage = "internal"
    function.attributes.add("noinline")
    builder = ir.IRBuilder(function.append_basic_block("entry"))
    to, to_step, source, source_step, count = function.args
    with turns("copy", ir, builder, count) as turn:
        value = builder.load(builder.bitcast(builder.gep(source, [builder.mul(turn, source_step)]), kind.as_pointer()))
        builder.store(value, builder.bitcast(builder.gep(to, [builder.mul(turn, to_step)]), kind.as_pointer()))
    builder.ret_void()
    return function


@contextmanager
def turns(name: str, ir: Any, builder: Any, count: Any) -> Iterator[Any]:
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


def with_hints(text: str) -> str:
    """The module with the hints of its loops."""
    for name, hints in _HINTS.items():
        text = text.replace(f'label %"{name}_end"', f'label %"{name}_end", !llvm.loop {hints.split()[0]}')
    return "\n".join([text, *_HINTS.values()])
