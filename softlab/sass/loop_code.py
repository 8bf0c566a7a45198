"""LLVM's code of the blocks of a loop: :func:`softlab.sass.native_loops.execute`. :mod:`.loop_runner` calls it.

A block is a straight run of machine code. Its pure steps are traced (:mod:`softlab.sass.traces`) in sections, each up
to an access of memory or the end of the block. A section computes all 32 lanes of a warp in a loop that LLVM turns into
vector instructions, and keeps the registers of lanes that do not execute it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from inspect import signature
from typing import Any

import numpy as np

from softlab.emulator.machine.native_loop import constant, memory_type, turns, with_hints
from softlab.emulator.machine.native_python import DATA_OFFSET, define_with
from softlab.emulator.opcodes.emitter import Emitter
from softlab.sass import native_loops, native_warps
from softlab.sass.form import PAIRS, PREDICATE, SINK, Named, Reader, is_per_warp
from softlab.sass.lanes import WARP, Value
from softlab.sass.memory import PAGE_BITS
from softlab.sass.native_floats import TracedRegisters
from softlab.sass.segments import PureStep, traced
from softlab.sass.streams import Kind, Space
from softlab.sass.traces import Trace, Traced, Untraced

_ONE = np.dtype(np.bool_)
#: The banks of special registers, where constants are named: a value per lane, and one per warp.
OF_LANES, OF_WARPS = -1, -2
#: Operations of atomics on integers, in LLVM's words: of the old value and the operand.
_ATOMICS = {"add": "add", "and": "and_", "or": "or_", "xor": "xor"}
#: NaN of float32 and float64 that x86 makes, and the bit that makes a NaN quiet.
_NANS = {32: (0xFFC00000, 1 << 22), 64: (0xFFF8 << 48, 1 << 51)}


@dataclass(frozen=True)
class Access:
    """A load, store or atomic: the instruction in its block, its number in the loop, the space, the bytes and whether a
    load extends a sign. ``reads`` gives the address without ``add``. ``words``: the registers of its words.

    ``operation``: of an atomic, such as "add.u32"; "" for others. ``given``: the registers of its operands' words.
    ``says``: it gives whether it swapped, and serves a lane per bank.
    """

    offset: int
    number: int
    space: Space
    width: int
    signed: bool
    reads: Reader
    add: int
    guard: Reader | None
    words: tuple[int, ...]
    kind: Kind = Kind.LOAD
    operation: str = ""
    given: tuple[tuple[int, ...], ...] = ()
    says: bool = False

    @property
    def stores(self) -> bool:
        """Whether it may change memory."""
        return self.kind != Kind.LOAD

    @property
    def pieces(self) -> int:
        """In how many pieces a lane's item lies: the words of local memory are not neighbours."""
        return max(1, self.width // 4) if self.space == Space.LOCAL else 1


@dataclass(frozen=True)
class Exchange:
    """What lanes of a warp do with each other: the instruction in its block, and the function and mode of
    :mod:`.native_warps`. ``reads`` gives its operands, packed. ``out`` and ``flag``: the registers of its results."""

    offset: int
    function: str
    mode: int
    reads: Reader
    guard: Reader | None
    out: int
    flag: int = SINK


@dataclass(frozen=True)
class Branch:
    """How a block ends that does not fall to the next one: the instruction in its block, its guard, and which lanes go
    to the target. ``target``: of a return, the address in the function, which begins at the instruction ``base``."""

    offset: int
    guard: Reader | None = None
    taken: Reader | None = None
    target: Reader | None = None
    base: int = 0


@dataclass(frozen=True)
class Section:
    """Pure steps, with the instruction of each in its block, and the access or exchange behind them."""

    steps: tuple[tuple[int, PureStep], ...]
    last: Access | Exchange | None = None

    @property
    def access(self) -> Access | None:
        """The access behind the steps; None where there is none."""
        return self.last if isinstance(self.last, Access) else None

    @property
    def exchange(self) -> Exchange | None:
        """The exchange behind the steps; None where there is none."""
        return self.last if isinstance(self.last, Exchange) else None


@dataclass(frozen=True)
class Block:
    """A straight run: its first instruction, how many there are, and the numbers of :mod:`.native_loops`.

    ``reads`` and ``writes``: registers. ``constants``: what its instructions read of them, and special registers, which
    stand in the banks ``OF_LANES`` and ``OF_WARPS``. ``encoding``: of its instructions. ``alone``: one warp of a thread
    block executes it at a time.
    """

    start: int
    length: int
    end: int
    target: int
    begins: int
    barrier: int
    sections: tuple[Section, ...]
    branch: Branch | None
    reads: frozenset[int]
    writes: frozenset[int]
    constants: tuple[Named, ...]
    encoding: tuple[str, ...]
    alone: bool = False

    @property
    def accesses(self) -> tuple[Access, ...]:
        """Its loads and stores."""
        return tuple(section.access for section in self.sections if section.access is not None)

    @cached_property
    def parts(self) -> tuple[tuple[Section, ...], ...]:
        """What all warps do one after the other: all of it, or where it stores what others may load each section."""
        sections, stores = list(self.sections), any(one.stores and one.space != Space.LOCAL for one in self.accesses)
        if not sections or (sections[-1].last is not None and (self.branch is not None or stores)):
            sections.append(Section(()))
        if stores:
            return tuple((section,) for section in sections)
        return (tuple(sections),)

    @property
    def guards(self) -> int:
        """How many guards an execution logs."""
        found = sum(step.guard is not None for section in self.sections for _, step in section.steps)
        found += sum(one.last is not None and one.last.guard is not None for one in self.sections)
        return found + (self.branch is not None and self.branch.guard is not None)


@dataclass
class _Stage:
    """What a section leaves, as values of its trace."""

    trace: Trace
    final: dict[int, Value]
    guards: list[tuple[int, Value]]
    #: The lanes that a load or branch takes, and the number that each lane gives.
    taken: Value = None
    wide: Value = None
    names: dict[str, Any] = field(default_factory=dict)


class LoopCode:
    """The code of a loop of these blocks.

    ``constants`` and ``registers``: in the order of the arrays. ``specials``: the special registers, whose arrays stand
    behind those of the registers.
    """

    def __init__(
        self, blocks: Sequence[Block], slot_of: Callable[[Named], int], constants: Sequence[Named],
        registers: Sequence[int], specials: Sequence[Named] = (),
    ) -> None:  # fmt: skip
        self._blocks, self._slot_of, self._constants = blocks, slot_of, tuple(constants)
        self._specials = {slot_of(one): one for one in specials}
        self._place = {register: at for at, register in enumerate((*registers, *self._specials))}

    def text(self) -> str:
        """The module in LLVM's assembly.

        Raises:
            Untraced: a step of a block does what cannot be written down; the block's first instruction.
        """
        from llvmlite import ir

        self._ir, self._module, self._size = ir, ir.Module("loop"), ir.IntType(64)
        self._write()
        return with_hints(str(self._module))

    def _function(self, name: str, arguments: Sequence[Any]) -> tuple[Any, Any]:
        function = self._ir.Function(self._module, self._ir.FunctionType(self._size, arguments), name)
        function.linkage = "internal"
        function.attributes.add("noinline")
        return function, self._ir.IRBuilder(function.append_basic_block("entry"))

    def _write(self) -> None:
        """The function ``loop``, which does what :func:`softlab.sass.native_loops.execute` says."""
        size = self._size
        self._find = define_with(self._ir, self._module, native_loops.find, {}, "find")
        self._find_in_row = define_with(self._ir, self._module, native_loops.find_in_row, {}, "find_in_row")
        self._of_warps: dict[str, Any] = {}
        made: list[Any] = []
        for block in self._blocks:
            for at, sections in enumerate(block.parts):
                last = at == len(block.parts) - 1
                try:
                    made.append(self._part(len(made), sections, block.branch if last else None))
                except Untraced as error:
                    raise Untraced(block.start) from error
        function, b = self._function("loop", [size] * len(signature(native_loops.execute).parameters))
        function.linkage = "external"
        none = function.append_basic_block("none")
        switch = b.switch(function.args[0], none)
        for number, one in enumerate(made):
            at = function.append_basic_block(f"part{number}")
            switch.add_case(size(number), at)
            here = self._ir.IRBuilder(at)
            here.ret(here.call(one, function.args[1:]))
        self._ir.IRBuilder(none).ret(size(0))

    # A part of a block

    def _part(self, number: int, sections: Sequence[Section], branch: Branch | None) -> Any:
        """``part(warp, mask, entry, registers, constants, state, arrays, guards, requests, addresses, targets)``."""
        size, ir = self._size, self._ir
        function, b = self._function(f"part{number}", [size] * 11)
        warp, mask, entry = function.args[:3]
        registers, constants, state, arrays, guards, requests, addresses, targets = (
            b.inttoptr(one, size.as_pointer()) for one in function.args[3:]
        )
        taken: Any = size(0)
        shared = any(one.access is not None and one.access.space == Space.SHARED for one in sections)
        self._row_of_block = self._shared_row(b, warp, state) if shared else None
        for at, section in enumerate(sections):
            access, exchange = section.access, section.exchange
            stage = self._stage(section, branch if at == len(sections) - 1 else None)
            counts = len(stage.guards) + 1
            bits = b.alloca(ir.IntType(WARP), size(counts))
            row = b.load(b.gep(state, [size(native_loops.ASKED)]))
            wide = b.gep(addresses, [b.mul(row, size(WARP))]) if access is not None else targets
            self._call_stage(b, f"stage{number}_{at}", stage, warp, mask, registers, constants, bits, wide)
            for k, (offset, _) in enumerate(stage.guards):
                held = b.zext(b.load(b.gep(bits, [size(k)])), size)
                self._note(b, state, native_loops.NOTED, guards, entry, size(offset), held)
            last = b.zext(b.load(b.gep(bits, [size(counts - 1)])), size)
            if access is not None:
                with b.if_then(b.icmp_unsigned("!=", last, size(0))):
                    served = self._served(b, access, warp, last, wide, registers) if access.says else last
                    self._note(b, state, native_loops.ASKED, requests, entry, size(access.number), served)
                    self._access(b, access, warp, served, wide, registers, state, arrays)
            elif exchange is not None:
                with b.if_then(b.icmp_unsigned("!=", last, size(0))):
                    self._exchange(b, exchange, warp, mask, last, wide, registers, state)
            elif stage.taken is not None:
                taken = last
        b.ret(taken)
        return function

    def _note(self, b: Any, state: Any, counter: int, table: Any, *row: Any) -> None:
        """Append a row to a table."""
        size = self._size
        place = b.gep(state, [size(counter)])
        at = b.load(place)
        for k, value in enumerate(row):
            b.store(value, b.gep(table, [b.add(b.mul(at, size(len(row))), size(k))]))
        b.store(b.add(at, size(1)), place)

    def _stage(self, section: Section, branch: Branch | None) -> _Stage:
        """The trace of a section.

        Raises:
            Untraced: a step does what cannot be written down.
        """
        trace = Trace()
        steps = [step for _, step in section.steps]
        written = sorted(frozenset[int]().union(*(step.writes for step in steps)) - {SINK})
        known = (*self._constants, *self._specials.values())
        registers = TracedRegisters([None] * (max([PAIRS, *map(self._slot_of, known)]) + 1), trace)
        registers[PAIRS] = {}
        for k in self._place:
            registers[k] = trace.source(f"s{k}", _dtype(k))
        for one in self._constants:
            registers[self._slot_of(one)] = trace.source(f"s{self._slot_of(one)}", np.dtype(f"u{one[2]}"))
        guards = [(section.steps[at][0], guard) for at, guard in traced(steps, registers)]
        stage = _Stage(trace, {}, guards)
        last = section.last
        try:
            if last is not None:
                stage.wide = last.reads(registers).astype(np.uint64)
                if isinstance(last, Access):
                    stage.wide = stage.wide + np.uint64(last.add & (1 << 64) - 1)
                stage.taken = np.True_ if last.guard is None else last.guard(registers)
                if last.guard is not None:
                    guards.append((last.offset, stage.taken))
            elif branch is not None:
                if branch.target is not None:
                    address = branch.target(registers).view(np.int64)
                    stage.wide = np.right_shift(address, np.int64(4)) + np.int64(branch.base)
                if branch.guard is not None:
                    guards.append((branch.offset, branch.guard(registers)))
                stage.taken = None if branch.taken is None else branch.taken(registers)
        except (AttributeError, TypeError, ValueError) as error:
            raise Untraced from error
        stage.final = {k: registers[k] for k in written if not _is_own(registers[k], k)}
        return stage

    def _call_stage(
        self, b: Any, name: str, stage: _Stage, warp: Any, mask: Any, registers: Any, constants: Any, bits: Any,
        wide: Any,
    ) -> None:  # fmt: skip
        """Write the function of a section, and call it."""
        ir, size = self._ir, self._size
        values = [*stage.final.values(), *(guard for _, guard in stage.guards), stage.taken, stage.wide]
        wanted = [one.name for one in values if isinstance(one, Traced)]
        operations = stage.trace.needed(wanted)
        sources = {one for operation in operations for one in operation.sources} | set(wanted)
        used = sorted({int(one[1:]) for one in sources if one[0] == "s"} | set(stage.final))
        slots = {self._slot_of(one): at for at, one in enumerate(self._constants)}
        taken = [k for k in used if k not in slots]
        kinds = [memory_type(ir, _dtype(k)).as_pointer() for k in taken]
        word = ir.IntType(WARP)
        function = ir.Function(
            self._module,
            ir.FunctionType(ir.VoidType(), [word, size.as_pointer(), word.as_pointer(), size.as_pointer(), *kinds]),
            name,
        )
        function.linkage = "internal"
        function.attributes.add("noinline")
        for argument in function.args[1:]:
            argument.add_attribute("noalias")
        given = []
        for k, kind in zip(taken, kinds, strict=True):
            pointer = self._items(b, registers, k, kind)
            given.append(b.gep(pointer, [warp if self._is_per_warp(k) else b.mul(warp, size(WARP))]))
        b.call(function, [b.trunc(mask, word), constants, bits, wide, *given])
        once = frozenset(k for k in taken if self._is_per_warp(k))
        _StageWriter(ir, function, stage, operations, taken, slots, once).write([k for k in used if k in slots])

    def _is_per_warp(self, number: int) -> bool:
        """Whether a warp has a register or special register once."""
        return self._specials[number][0] == OF_WARPS if number in self._specials else is_per_warp(number)

    def _items(self, b: Any, registers: Any, register: int, kind: Any) -> Any:
        """Where the items of a register's array are."""
        array = b.load(b.gep(registers, [self._size(self._place[register])]))
        return b.load(b.inttoptr(b.add(array, self._size(DATA_OFFSET)), kind.as_pointer()))

    def _access(
        self, b: Any, access: Access, warp: Any, bits: Any, wide: Any, registers: Any, state: Any, arrays: Any
    ) -> None:  # fmt: skip
        """Load or store the items of the lanes in ``bits``."""
        ir, size = self._ir, self._size
        rest = b.alloca(size)
        b.store(bits, rest)
        find = self._finder(b, access, warp, state, arrays)
        used = {*access.words, *(one for words in access.given for one in words)} - {SINK}
        rows = {k: self._row(b, k, warp, registers) for k in sorted(used)}
        body, end = b.append_basic_block("lane"), b.append_basic_block("lanes_end")
        b.branch(body)
        b.position_at_end(body)
        left = b.load(rest)
        lane = b.cttz(left, ir.IntType(1)(1))
        place = find(b.load(b.gep(wide, [lane])), lane)
        with b.if_else(b.icmp_signed("==", place, size(0))) as (wrong, right):
            with wrong:
                b.store(size(1), b.gep(state, [size(native_loops.WRONG)]))
            with right:
                if access.operation:
                    self._change(b, access, place, lane, rows, state)
                else:
                    self._move(b, access, place, lane, rows)
        left = b.and_(left, b.sub(left, size(1)))
        b.store(left, rest)
        b.cbranch(b.icmp_unsigned("!=", left, size(0)), body, end)
        b.position_at_end(end)
        if access.kind in (Kind.STORE, Kind.REDUCTION):
            self._count(b, state, size(1))

    def _count(self, b: Any, state: Any, times: Any) -> None:
        """Memory has changed, so often."""
        stored = b.gep(state, [self._size(native_loops.STORED)])
        b.store(b.add(b.load(stored), times), stored)

    def _finder(self, b: Any, access: Access, warp: Any, state: Any, arrays: Any) -> Callable[[Any, Any], Any]:
        """A function of an address and a lane that writes what finds the bytes; their place is 0 where it is bad. What
        the lanes of a warp share is worked out here."""
        size = self._size
        if access.space == Space.GLOBAL:
            return lambda address, lane: self._found(b, access, address, state, arrays)

        def number(which: int) -> Any:
            return b.load(b.gep(state, [size(which)]))

        if access.space == Space.LOCAL:
            each = number(native_loops.LOCAL_BYTES)
            first = b.add(number(native_loops.LOCAL), b.mul(b.mul(warp, size(WARP)), each))
            limit, bits = number(native_loops.LOCAL_LIMIT), size(native_loops.LOCAL_OFFSET)
        else:
            first, each = self._row_of_block, size(0)
            limit, bits = number(native_loops.SHARED_LIMIT), size(native_loops.SHARED_OFFSET)

        def find(address: Any, lane: Any) -> Any:
            row = b.add(first, b.mul(lane, each))
            return b.call(self._find_in_row, [address, size(access.width), row, limit, bits])

        return find

    def _shared_row(self, b: Any, warp: Any, state: Any) -> Any:
        """Where the shared memory of a warp's block begins."""
        size = self._size
        first, each, warps = (
            b.load(b.gep(state, [size(which)]))
            for which in (native_loops.SHARED, native_loops.SHARED_BYTES, native_loops.BLOCK_WARPS)
        )
        return b.add(first, b.mul(b.sdiv(warp, warps), each))

    def _found(self, b: Any, access: Access, address: Any, state: Any, arrays: Any) -> Any:
        """Where an address of global memory is; 0 where it is bad."""
        size, numbers = self._size, b.ptrtoint(state, self._size)
        where = b.alloca(size)
        b.store(size(0), where)
        at = b.call(self._find, [address, size(access.width), b.ptrtoint(arrays, size), numbers])
        with b.if_then(b.icmp_signed(">=", at, size(0))):
            b.store(self._place_in(b, arrays, at, address, stores=access.stores), where)
        return b.load(where)

    def _place_in(self, b: Any, arrays: Any, at: Any, address: Any, *, stores: bool) -> Any:
        """Where an address of an array is: in its bytes, or in the page that the kernel wrote. A store makes the page;
        0 where the kernel may not."""
        size = self._size

        def number(which: int) -> Any:
            return b.load(b.gep(arrays, [b.add(at, size(which))]))

        offset, place = b.sub(address, number(native_loops.ORIGIN)), b.alloca(size)
        b.store(size(0) if stores else b.add(number(native_loops.BYTES), offset), place)
        own = number(native_loops.OWN)
        with b.if_then(b.icmp_unsigned("!=", own, size(0))):
            byte = self._ir.IntType(8)
            page = b.add(number(native_loops.PAGES), b.lshr(offset, size(PAGE_BITS)))
            page = b.inttoptr(page, byte.as_pointer())
            written = b.icmp_unsigned("!=", b.load(page), byte(0))
            if stores:
                with b.if_then(b.not_(written)):
                    first = b.and_(offset, size(-(1 << PAGE_BITS) & (1 << 64) - 1))
                    behind = b.sub(number(native_loops.LIMIT), number(native_loops.ORIGIN))
                    left = b.sub(behind, first)
                    count = b.select(b.icmp_signed("<", left, size(1 << PAGE_BITS)), left, size(1 << PAGE_BITS))
                    to, source = (
                        b.inttoptr(b.add(one, first), byte.as_pointer()) for one in (own, number(native_loops.BYTES))
                    )
                    copy = self._module.declare_intrinsic("llvm.memcpy", [to.type, source.type, size])
                    b.call(copy, [to, source, count, self._ir.IntType(1)(0)])
                    b.store(byte(1), page)
                b.store(b.add(own, offset), place)
            else:
                with b.if_then(written):
                    b.store(b.add(own, offset), place)
        return b.load(place)

    def _move(self, b: Any, access: Access, place: Any, lane: Any, rows: dict[int, Any]) -> None:
        """Move the item at a place to the registers of a lane, or from there. rows: where those of the warp are."""
        size, word = self._size, self._ir.IntType(32)
        narrow = self._ir.IntType(8 * min(access.width, 4))
        pointer = b.inttoptr(place, narrow.as_pointer())
        for k, register in enumerate(access.words):
            item, value = b.gep(pointer, [size(k)]), word(0)
            if register != SINK:
                cell = _cell(b, rows, register, lane)
                value = b.load(cell) if access.stores else value
            if access.stores:
                b.store(value if narrow == word else b.trunc(value, narrow), item, align=1)
                continue
            value = b.load(item, align=1)
            if narrow != word:
                value = b.sext(value, word) if access.signed else b.zext(value, word)
            if register != SINK:
                b.store(value, cell)

    # Atomics

    def _change(self, b: Any, access: Access, place: Any, lane: Any, rows: dict[int, Any], state: Any) -> None:
        """A lane's turn at a cell: what it holds, and what the lane gets."""
        kind, word = self._ir.IntType(8 * access.width), self._ir.IntType(32)
        cell = b.inttoptr(place, kind.as_pointer())
        old = b.load(cell, align=1)
        operands = [_joined(b, words, kind, lane, rows) for words in access.given] or [kind(1)]
        new = self._operated(b, access.operation, old, operands)
        b.store(new, cell, align=1)
        result = b.zext(b.icmp_unsigned("==", old, operands[0]), kind) if access.says else old
        for k, register in enumerate(access.words):
            if register != SINK:
                part = result if kind == word else b.trunc(b.lshr(result, kind(32 * k)), word)
                b.store(part, _cell(b, rows, register, lane))
        if access.kind == Kind.ATOMIC:
            self._count(b, state, b.zext(b.icmp_unsigned("!=", old, new), self._size))

    def _operated(self, b: Any, operation: str, old: Any, operands: Sequence[Any]) -> Any:
        """What a cell holds behind an operation such as "add.u32"."""
        name, _, kind = operation.partition(".")
        value = operands[0]
        if name == "exch":
            return value
        if name == "cas":
            return b.select(b.icmp_unsigned("==", old, value), operands[1], old)
        if kind[0] == "f":
            return self._sum_of_floats(b, old, value)
        if name in _ATOMICS:
            return getattr(b, _ATOMICS[name])(old, value)
        if name in ("min", "max"):
            compare = b.icmp_signed if kind[0] == "s" else b.icmp_unsigned
            return b.select(compare("<" if name == "min" else ">", value, old), value, old)
        one, zero = old.type(1), old.type(0)
        if name == "inc":
            return b.select(b.icmp_unsigned(">=", old, value), zero, b.add(old, one))
        wraps = b.or_(b.icmp_unsigned("==", old, zero), b.icmp_unsigned(">", old, value))
        return b.select(wraps, value, b.sub(old, one))

    def _sum_of_floats(self, b: Any, old: Any, value: Any) -> Any:
        """The bits of a sum of floats. Of a NaN they are those that NumPy gives: of the first operand that is one."""
        ir, bits = self._ir, old.type
        kind = ir.FloatType() if bits.width == 32 else ir.DoubleType()
        default, quiet = _NANS[bits.width]
        one, other = b.bitcast(old, kind), b.bitcast(value, kind)
        total = b.fadd(one, other)
        nan = b.select(b.fcmp_unordered("uno", other, other), b.or_(value, bits(quiet)), bits(default))
        nan = b.select(b.fcmp_unordered("uno", one, one), b.or_(old, bits(quiet)), nan)
        return b.select(b.fcmp_unordered("uno", total, total), nan, b.bitcast(total, bits))

    # What lanes do with each other

    def _of_lanes(self, b: Any, function: Callable[..., int], *given: Any) -> Any:
        """Call a function of :mod:`.native_warps`: with numbers, and the addresses of items for arrays."""
        name = function.__name__
        if name not in self._of_warps:
            self._of_warps[name] = define_with(self._ir, self._module, function, {}, f"lanes_{name}")
        size = self._size
        numbers = [size(one) if isinstance(one, int) else one for one in given]
        numbers = [b.ptrtoint(one, size) if one.type != size else one for one in numbers]
        return b.call(self._of_warps[name], numbers)

    def _row(self, b: Any, register: int, warp: Any, registers: Any) -> Any:
        """Where the items of a warp's register are."""
        kind = memory_type(self._ir, _dtype(register)).as_pointer()
        at = warp if is_per_warp(register) else b.mul(warp, self._size(WARP))
        return b.gep(self._items(b, registers, register, kind), [at])

    def _served(self, b: Any, access: Access, warp: Any, bits: Any, wide: Any, registers: Any) -> Any:
        """The lanes that a compare-and-swap serves. The others get 0: they have not swapped."""
        served = self._of_lanes(b, native_warps.served, bits, wide, access.width.bit_length() - 1)
        for register in access.words:
            if register != SINK:
                row = self._row(b, register, warp, registers)
                self._of_lanes(b, native_warps.put_word, b.and_(bits, b.not_(served)), 0, row)
        return served

    def _exchange(
        self, b: Any, exchange: Exchange, warp: Any, mask: Any, bits: Any, wide: Any, registers: Any, state: Any
    ) -> None:  # fmt: skip
        """Do an exchange for the lanes in ``bits``."""
        size = self._size
        if exchange.function == "shuffle":
            rows = [
                b.gep(wide, [size((2 + k) * WARP)]) if register == SINK else self._row(b, register, warp, registers)
                for k, register in enumerate((exchange.out, exchange.flag))
            ]
            live = b.inttoptr(b.load(b.gep(state, [size(native_loops.LIVE)])), self._ir.IntType(WARP).as_pointer())
            live = b.zext(b.load(b.gep(live, [warp])), size)
            known = b.select(b.icmp_unsigned("==", mask, live), size((1 << WARP) - 1), mask)
            found = b.gep(wide, [size(WARP)])
            self._of_lanes(b, native_warps.shuffle, exchange.mode, known, bits, wide, found, *rows)
        elif exchange.function == "vote":
            yes = self._of_lanes(b, native_warps.vote, bits, wide)
            agreed = self._of_lanes(b, native_warps.agreed, exchange.mode, yes, bits)
            self._put(b, exchange.out, warp, bits, yes, registers)
            self._put(b, exchange.flag, warp, bits, agreed, registers)
        else:
            value = self._of_lanes(b, native_warps.reduce, exchange.mode, bits, wide)
            self._put(b, exchange.out, warp, bits, value, registers)

    def _put(self, b: Any, register: int, warp: Any, bits: Any, value: Any, registers: Any) -> None:
        """Write one value into a register of the lanes in ``bits``, or of the warp if it has it once."""
        if register == SINK:
            return
        row = self._row(b, register, warp, registers)
        put = native_warps.put_word if _dtype(register) != _ONE else native_warps.put_flag
        self._of_lanes(b, put, 1 if is_per_warp(register) else bits, value, row)


def _cell(b: Any, rows: dict[int, Any], register: int, lane: Any) -> Any:
    """Where a register of a lane is. rows: where those of the warp are."""
    return rows[register] if is_per_warp(register) else b.gep(rows[register], [lane])


def _joined(b: Any, words: Sequence[int], kind: Any, lane: Any, rows: dict[int, Any]) -> Any:
    """The value of some registers of a lane, the lowest word first."""
    value = kind(0)
    for k, register in enumerate(words):
        if register != SINK:
            part = b.load(_cell(b, rows, register, lane))
            value = part if len(words) == 1 else b.or_(value, b.shl(b.zext(part, kind), kind(32 * k)))
    return value


class _StageWriter:
    """Writes the function of a section: ``stage(mask, constants, bits, wide, registers...)``."""

    def __init__(
        self, ir: Any, function: Any, stage: _Stage, operations: Sequence[Any], taken: Sequence[int],
        slots: dict[int, int], once: frozenset[int],
    ) -> None:  # fmt: skip
        """``once``: what a warp has once, of ``taken``."""
        self._ir, self._size, self._function, self._once = ir, ir.IntType(64), function, once
        self._stage, self._operations, self._taken, self._slots = stage, operations, taken, slots
        self._values: dict[str, Any] = {}

    def write(self, constants: Sequence[int]) -> None:
        """All of it."""
        size, stage = self._size, self._stage
        b = self._ir.IRBuilder(self._function.append_basic_block("entry"))
        mask, given, bits, wide, *pointers = self._function.args
        pointer_of = dict(zip(self._taken, pointers, strict=True))
        for k in constants:
            value = b.load(b.gep(given, [size(self._slots[k])]))
            narrow = self._ir.IntType(8 * stage.trace.dtypes[f"s{k}"].itemsize)
            self._values[f"s{k}"] = value if narrow == size else b.trunc(value, narrow)
        for k in self._taken:
            if k in self._once:
                self._values[f"s{k}"] = self._as_value(b, k, b.load(pointer_of[k]))
        of_lanes = self._operate(b, self._operations, only_alike=True)
        for k, value in stage.final.items():
            if k in self._once:
                b.store(self._as_memory(b, self._value(value), k), pointer_of[k])
        for k, value in enumerate(self._all_lanes(b, of_lanes, mask, wide, pointer_of)):
            b.store(value, b.gep(bits, [size(k)]))
        b.ret_void()

    def _all_lanes(
        self, b: Any, operations: Sequence[Any], mask: Any, wide: Any, pointer_of: dict[int, Any]
    ) -> list[Any]:  # fmt: skip
        """The loop over the lanes; of each guard, and of what is taken, the lanes where it holds."""
        stage, word, before = self._stage, self._ir.IntType(WARP), b.block
        masks = [one for one in (*(guard for _, guard in stage.guards), stage.taken) if one is not None]
        lanes = [k for k in self._taken if k not in self._once]
        with turns("packed", self._ir, b, self._size(WARP)) as lane:
            kept = [(one, b.phi(word)) for one in masks]
            at = b.trunc(lane, word)
            runs = b.trunc(b.lshr(mask, at), self._ir.IntType(1))
            old = {k: b.load(b.gep(pointer_of[k], [lane])) for k in lanes}
            for k in lanes:
                self._values[f"s{k}"] = self._as_value(b, k, old[k])
            self._operate(b, operations)
            for k, value in stage.final.items():
                if k not in self._once:
                    new = self._as_memory(b, self._value(value), k)
                    b.store(b.select(runs, new, old[k]), b.gep(pointer_of[k], [lane]))
            if stage.wide is not None:
                b.store(self._value(stage.wide), b.gep(wide, [lane]))
            found = []
            for one, so_far in kept:
                here = b.and_(self._value(one), runs)
                found.append(b.or_(so_far, b.shl(b.zext(here, word), at)))
                so_far.add_incoming(word(0), before)
                so_far.add_incoming(found[-1], b.block)
        return found

    def _operate(self, b: Any, operations: Sequence[Any], *, only_alike: bool = False) -> list[Any]:
        """Do the operations whose sources are known; those that are left.

        Arguments:
            only_alike: those alone that all lanes share.
        """
        emitter, left = Emitter(b, self._ir), []
        for operation in operations:
            if only_alike and any(one[0] != "c" and one not in self._values for one in operation.sources):
                left.append(operation)
                continue
            sources = [self._named(one) for one in operation.sources]
            (result,) = operation.results
            self._values[result] = operation.native(emitter, *sources)
        return left

    def _named(self, name: str) -> Any:
        return self._values[name] if name in self._values else constant(self._ir, self._stage.trace.constants[name])

    def _value(self, value: Value) -> Any:
        if not isinstance(value, Traced):
            return constant(self._ir, value)
        if value.name not in self._values:
            raise Untraced  # a register of a warp gets what lanes have
        return self._values[value.name]

    def _as_value(self, b: Any, register: int, loaded: Any) -> Any:
        return b.trunc(loaded, self._ir.IntType(1)) if _dtype(register) == _ONE else loaded

    def _as_memory(self, b: Any, value: Any, register: int) -> Any:
        wanted = memory_type(self._ir, _dtype(register))
        if _dtype(register) == _ONE:
            value = b.zext(value, wanted)
        if value.type != wanted:
            raise Untraced
        return value


def _is_own(value: Value, register: int) -> bool:
    """Whether a register holds what it did."""
    return isinstance(value, Traced) and value.name == f"s{register}"


def _dtype(register: int) -> np.dtype:
    return np.dtype(np.bool_ if PREDICATE <= register < SINK else np.uint32)


def names_of(blocks: Sequence[Block]) -> Iterator[str]:
    """What says what the blocks compute."""
    for block in blocks:
        yield f"{block.start} {block.length}"
        yield from block.encoding
