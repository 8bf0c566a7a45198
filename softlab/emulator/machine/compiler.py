"""Block -> one Python function of NumPy calls. The same function serves all lanes and any set of them.

A hot block gets a second function, in which runs of pure opcodes are compiled (:mod:`.fusing`): the same bits, faster.

A block's function takes the set of lanes and the registers it reads, and gives the registers it writes and what its
last instruction decides. It is made once per batch, by a function that takes the units of the batch and finds there
what carries out each effect. Registers are typed as PTX types them; a 32-bit register read as a float is a view.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any, NamedTuple, TypeVar

import numpy as np

from softlab.emulator.lanes import Lanes, Value
from softlab.emulator.machine.code import Code, CompiledBlock
from softlab.emulator.machine.contraction import contracted
from softlab.emulator.machine.definedness import tracked_registers
from softlab.emulator.machine.flow import blocks_of, uses_and_definitions
from softlab.emulator.machine.fusing import Variables
from softlab.emulator.machine.group_registers import group_registers
from softlab.emulator.machine.loop_facts import LoopFacts
from softlab.emulator.machine.looping import Loop, NumPyLoop, Turning, is_loop
from softlab.emulator.machine.lowering import flatten, guarded, immediate, lowered
from softlab.emulator.machine.operations import Operation
from softlab.emulator.machine.regions import Region, regions_of
from softlab.emulator.opcodes.control_flow import terminator_of
from softlab.emulator.opcodes.effects import Effect
from softlab.emulator.opcodes.emitter import NativeForm, choose, invert, reinterpret, resize
from softlab.emulator.opcodes.forms import select
from softlab.emulator.opcodes.registry import OPCODES, Semantics, SharedPart
from softlab.emulator.opcodes.units import Units
from softlab.emulator.ptx.blocks import Block
from softlab.emulator.ptx.linker import Image, link
from softlab.emulator.ptx.syntax import (
    DTYPES,
    Address,
    Immediate,
    Instruction,
    Module,
    Operand,
    Register,
    Special,
    Symbol,
)
from softlab.emulator.ptx.unsupported import unsupported
from softlab.emulator.sites import Site
from softlab.errors import Error

#: The condition code CC.CF. No branch is ever between its writer and its reader: it lives within one block.
_CARRY = Register("CC.CF", "pred")
_WIDE_SPECIALS = {"clock64": "u64", "globaltimer": "u64", "gridid": "u64", "is_explicit_cluster": "pred"}

_Fact = TypeVar("_Fact")


class EmulatedProgram:
    """A kernel as compiled blocks. Blocks are compiled when they first run.

    ``registers`` maps a register's name to its number; ``initial`` holds the value of each before anything is written.
    ``tracked``: the registers that may be read before they have a value. ``of_groups``: what is known of the registers
    of ``wgmma``. ``in_turns``: the blocks are those of warps that take turns. ``fused``: whether the assembler makes
    one instruction of a product and the sum behind it.
    """

    def __init__(self, module: Module, entry: str, *, in_turns: bool = False, fused: bool = True) -> None:
        image = link(module, entry)
        self.image: Image = contracted(image) if fused else image
        self._fused = fused
        self.in_turns = in_turns
        self.blocks = blocks_of(self.image, in_turns=in_turns)
        self.tracked = tracked_registers(self.image, self.blocks)
        self.of_groups = group_registers(self.image, self.blocks)
        self.registers = {name: number for number, name in enumerate(self.image.registers)}
        self.loops = LoopFacts(self.image, self.blocks, self.registers)
        self._dtypes = _storage_types(self.image)
        self.initial = [self._dtypes[name].type(0) for name in self.registers]
        #: For each block, the part that its runs have cost of what compiling it costs. It is hot from
        #: ``Heat.compiles_from`` on.
        self.heat = [0.0] * len(self.blocks)
        self._compiled: list[CompiledBlock | None] = [None] * len(self.blocks)
        self._loops: dict[tuple[int, bool], Turning | None] = {}
        self._facts: dict[Callable[[Image], Any], Any] = {}
        self._programs: dict[str, EmulatedProgram] = {entry: self}

    def of_entry(self, entry: str) -> EmulatedProgram:
        """Another kernel of the module, made once for all kernels that lead to it from here."""
        if entry not in self._programs:
            other = EmulatedProgram(self.image.module, entry, in_turns=self.in_turns, fused=self._fused)
            self._programs[entry] = other
            other._programs = self._programs
        return self._programs[entry]

    def fact(self, of: Callable[[Image], _Fact]) -> _Fact:
        """What this function says of the image. It is asked once for all launches."""
        if of not in self._facts:
            self._facts[of] = of(self.image)
        found: _Fact = self._facts[of]
        return found

    def block(self, index: int) -> CompiledBlock:
        """The compiled block.

        Raises:
            UnsupportedInstruction: an instruction in it is not known.
        """
        found = self._compiled[index]
        if found is None:
            found = self._compiled[index] = self.writer(self.blocks[index]).compile()
        return found

    def writer(self, block: Block) -> BlockWriter:
        """What writes the code of a block."""
        return BlockWriter(self, block)

    def loop(self, index: int, *, native: bool) -> Turning | None:
        """The loop that a block is by itself, compiled if ``native``; None for most blocks."""
        key = index, native
        if key not in self._loops:
            code = self.block(index)
            self._loops[key] = (Loop(code) if native else NumPyLoop(code)) if is_loop(code) else None
        return self._loops[key]

    @cached_property
    def regions(self) -> dict[int, Region]:
        """Block -> the loop of several blocks that it is in, where that can be compiled as a whole."""
        return regions_of(self, self.image.instructions)

    def dtype(self, register: str) -> np.dtype:
        """The dtype that a register has between blocks."""
        return self._dtypes.get(register, np.dtype(np.bool_))


def _storage_types(image: Image) -> dict[str, np.dtype]:
    """For each register the type that most instructions give it: so that few views are needed between blocks."""
    votes: dict[str, Counter[np.dtype]] = {name: Counter() for name in image.registers}
    for instruction in image.instructions:
        types = instruction.types
        if not types:
            continue
        uses, definitions = uses_and_definitions(instruction)
        for names, kind in ((definitions, types[0]), (uses, types[-1])):
            for name in names:
                votes[name][DTYPES[kind]] += 1
    chosen = {}
    for name, kind in image.registers.items():
        declared = DTYPES.get(kind, DTYPES["b64"])  # instructions of the others are refused
        if kind[0] == "b" and kind not in ("bf16", "bf16x2"):
            fitting = [d for d, _ in votes[name].most_common() if d.itemsize == declared.itemsize and d != np.bool_]
            declared = fitting[0] if fitting else declared
        chosen[name] = declared
    return chosen


def _choice(units: Units) -> Callable[[int, Lanes, Value], Any]:
    return units.on_choice or _unheard


def _unheard(index: int, lanes: Lanes, value: Value) -> None:
    pass


def _touch(units: Units) -> Callable[[Lanes, int], Any]:
    return units.group_matrices.touch


def _special(units: Units) -> Callable[[Lanes, str], Value]:
    return units.special


class _Step(NamedTuple):
    """What an :class:`Operation` is beside its results."""

    expression: str
    sources: tuple[str, ...]
    native: NativeForm | None = None
    direct: bool = False
    load: Site | None = None
    weight: int = 1


class BlockWriter:
    """Writes the source of one block."""

    def __init__(self, program: EmulatedProgram, block: Block) -> None:
        self.program = program
        self.image = program.image
        self.block = block
        self.operations: list[Operation] = []
        self.constants: dict[str, Any] = {"select": select, "invert": np.logical_not, "guarded": guarded}
        self.scalars: dict[str, np.generic] = {}
        self.dtypes: dict[str, np.dtype] = {}
        self.bindings: dict[Callable[[Units], Any], str] = {}
        self.known: dict[tuple[type, Any, str], str] = {}
        self.values: dict[str, dict[np.dtype, str]] = {}
        self.first_parts: dict[tuple[Callable, str], str] = {}
        self.count = 0

    def compile(self) -> CompiledBlock:
        """The code of the block."""
        block = self.block
        arguments = []
        for name in block.reads:
            variable = self._new(self.program.dtype(name))
            arguments.append(variable)
            self.values[name] = {self.program.dtype(name): variable}
        decision: tuple[str, tuple[str, ...]] = "None", ()
        for index in range(block.start, block.stop):
            instruction = self.image.instructions[index]
            if instruction is block.terminator:
                decision = self._decision(instruction)
            else:
                self._instruction(instruction, index)
        results = [self._as(name, self.program.dtype(name)) for name in block.writes]
        code = Code(
            f"block_{block.index}",
            f"<block {block.index} of {self.image.name}>",
            tuple(arguments),
            tuple(self.operations),
            tuple(results),
            *decision,
            {self.constant(bind, "bind"): name for bind, name in self.bindings.items()},
            Variables(self.dtypes, self.scalars, self.constants),
        )
        bind, source = code.bind([operation.line for operation in code.operations])
        number = self.program.registers
        return CompiledBlock(
            block,
            bind,
            terminator_of(block),
            tuple(number[name] for name in block.reads),
            tuple(number[name] for name in block.writes),
            source,
            code,
        )

    # Names

    def _new(self, dtype: np.dtype) -> str:
        self.count += 1
        name = f"v{self.count}"
        self.dtypes[name] = dtype
        return name

    def constant(self, value: Any, hint: str = "k") -> str:
        """A name for an object that is known now."""
        scalar = isinstance(value, np.generic)
        key = (type(value), value.tobytes() if scalar else id(value), hint)
        if key not in self.known:
            name = self.known[key] = f"{hint}{len(self.constants)}"
            self.constants[name] = value
            if scalar:
                self.scalars[name] = value
                self.dtypes[name] = value.dtype
        return self.known[key]

    def bound(self, bind: Callable[[Units], Any], hint: str) -> str:
        """A name for what ``bind`` gives for the units of a batch."""
        return self.bindings.setdefault(bind, f"{hint}{len(self.bindings)}_")

    def emit(
        self, expression: str, dtype: np.dtype, sources: tuple[str, ...] = (), native: NativeForm | None = None
    ) -> str:
        """A new variable that holds the expression of these variables; ``native`` is its compiled form."""
        variable = self._new(dtype)
        one_call = native is not None and native is not choose
        self.operations.append(Operation((variable,), expression, sources, native, one_call))
        return variable

    # Reading and writing registers

    def _as(self, name: str, wanted: np.dtype) -> str:
        """The variable that holds a register as a dtype of its width or less."""
        forms = self.values.setdefault(name, {})
        if not forms:  # never written on any path: zero
            dtype = self.program.dtype(name)
            forms[dtype] = self.constant(dtype.type(0))
        if wanted not in forms:
            have = next((d for d in forms if d.itemsize >= wanted.itemsize), next(iter(forms)))
            forms[wanted] = self._convert(forms[have], have, wanted)
        return forms[wanted]

    def _convert(self, variable: str, have: np.dtype, wanted: np.dtype) -> str:
        """Bits as another dtype: the low ones where it is narrower; extended by sign or zero where it is wider."""
        if have == wanted:
            return variable
        if wanted == np.bool_:
            raise Error(f"PTX takes a register of type {have} for a predicate in block {self.block.index}")
        if have.itemsize == wanted.itemsize and np.bool_ not in (have, wanted):
            return self._view(variable, wanted)
        if have.itemsize < wanted.itemsize and have.kind == "i":
            middle = np.dtype(f"i{wanted.itemsize}")
            return self._convert(self._resize(variable, middle, signed=True), middle, wanted)
        bits = np.dtype(f"u{have.itemsize}")
        if have.kind not in "ub":
            variable = self._view(variable, bits)
        middle = np.dtype(f"u{wanted.itemsize}")
        return self._convert(self._resize(variable, middle, signed=False), middle, wanted)

    def _view(self, variable: str, wanted: np.dtype) -> str:
        expression = f"{variable}.view({self.constant(wanted)})"
        return self.emit(expression, wanted, (variable,), reinterpret(wanted))

    def _resize(self, variable: str, wanted: np.dtype, signed: bool) -> str:
        expression = f"{variable}.astype({self.constant(wanted)})"
        return self.emit(expression, wanted, (variable,), resize(wanted.itemsize * 8, signed))

    def read(self, operand: Operand, kind: str) -> str:
        """An expression for a source operand, as the PTX type."""
        wanted = DTYPES[kind]
        if isinstance(operand, Register):
            return self._as(operand.name, wanted)
        if isinstance(operand, Immediate):
            return self.constant(immediate(operand.value, wanted))
        if isinstance(operand, Special):
            have = DTYPES[_WIDE_SPECIALS.get(operand.name, "u32")]
            special = self.bound(_special, "special")
            return self._convert(self.emit(f"{special}(L, {operand.name!r})", have), have, wanted)
        if isinstance(operand, Symbol | Address):
            return self.constant(immediate(self.address_of(operand), wanted))
        raise NotImplementedError(f"operand {operand!r}")

    def address_of(self, operand: Symbol | Address) -> int:
        """The address of a symbol (with an offset), in its own space."""
        symbol, offset = (operand, 0) if isinstance(operand, Symbol) else (operand.base, operand.offset)
        if not isinstance(symbol, Symbol) or symbol.name not in self.image.addresses:
            raise NotImplementedError(f"operand {operand!r}")
        return self.image.addresses[symbol.name] + offset

    def address(self, operand: Operand) -> tuple[str, int]:
        """(expression for the base, constant offset) of an address operand."""
        if not isinstance(operand, Address):
            raise NotImplementedError(f"address {operand!r}")
        if isinstance(operand.base, Register):
            kind = "u64" if DTYPES[operand.base.type].itemsize == 8 else "u32"
            return self._as(operand.base.name, DTYPES[kind]), operand.offset
        address = operand.offset if operand.base is None else self.address_of(operand)
        return self.constant(np.uint64(address & (1 << 64) - 1)), 0

    def write(self, operand: Operand, kind: str, variable: str, guard: str | None) -> None:
        """Give a destination its value; with a guard only where it holds."""
        if operand is None:
            return
        if not isinstance(operand, Register):
            raise NotImplementedError(f"destination {operand!r}")
        have, width = DTYPES[kind], DTYPES[operand.type].itemsize
        if have.itemsize < width:
            wide = np.dtype(f"{'i' if have.kind == 'i' else 'u'}{width}")
            variable, have = self._convert(variable, have, wide), wide
        if guard is not None:
            old = self._as(operand.name, have)
            variable = self.emit(f"select({guard}, {variable}, {old})", have, (guard, variable, old), choose)
        self.values[operand.name] = {have: variable}

    # Instructions

    def _guard(self, instruction: Instruction) -> str | None:
        if instruction.guard is None:
            return None
        predicate = self._as(instruction.guard.name, DTYPES["pred"])
        if not instruction.negated:
            return predicate
        return self.emit(f"invert({predicate})", DTYPES["pred"], (predicate,), invert)

    def _decision(self, instruction: Instruction) -> tuple[str, tuple[str, ...]]:
        """What the last instruction decides, as an expression, and the variables in it."""
        guard = self._guard(instruction)
        opcode = OPCODES.find(instruction)
        assert opcode is not None
        if opcode.reads is None:
            return guard or "None", (guard,) if guard else ()
        try:
            values = [self.read(operand, "u32") for operand in opcode.reads(instruction)]
        except NotImplementedError as error:
            raise unsupported(instruction, str(error), file=self.image.module.file) from error
        read = (*values, guard) if guard else tuple(values)
        return f"({guard}, ({''.join(value + ', ' for value in values)}))", read

    def _instruction(self, instruction: Instruction, index: int) -> None:
        try:
            if index in self.program.tracked.probes:
                self._probe(instruction, index)
            if index in self.program.of_groups.touches:
                touch = self.bound(_touch, "touch")
                self.operations.append(Operation((), f"{touch}(L, {index})", ()))
            meaning = lowered(instruction, index, self.image)
            if isinstance(meaning, Effect):
                self._effect(instruction, meaning)
            else:
                self._pure(instruction, meaning)
        except NotImplementedError as error:
            raise unsupported(instruction, str(error), file=self.image.module.file) from error

    def _probe(self, instruction: Instruction, index: int) -> None:
        """Tell the predicate of a guard or of a ``selp``."""
        if instruction.guard is not None:
            predicate = self.read(instruction.guard, "pred")
        else:
            predicate = self.read(instruction.operands[-1], "pred")
        call = f"{self.bound(_choice, 'choice')}({index}, L, {predicate})"
        self.operations.append(Operation((), call, (predicate,)))

    def _pure(self, instruction: Instruction, semantics: Semantics) -> None:
        operands = flatten(instruction.operands)
        count = len(semantics.results) - semantics.carry_out
        destinations, sources = operands[:count], operands[count:]
        if semantics.carry_out:
            destinations.append(_CARRY)
        if semantics.carry_in:
            sources.append(_CARRY)
        if len(sources) != len(semantics.sources):
            raise NotImplementedError(f"{len(sources)} sources where {len(semantics.sources)} are known")
        values = [self.read(o, kind) for o, kind in zip(sources, semantics.sources, strict=True)]
        if semantics.shared is not None:
            values.append(self._first_part(semantics.shared, values))
            semantics = semantics.shared.rest
        self._assign(destinations, semantics.results, self._step_of(semantics, values), self._guard(instruction))

    def _step_of(self, semantics: Semantics, values: Sequence[str]) -> _Step:
        call = f"{self.constant(semantics.function, 'f')}({', '.join(values)})"
        direct = isinstance(semantics.function, np.ufunc)
        return _Step(call, tuple(values), semantics.native, direct, weight=semantics.weight)

    def _first_part(self, part: SharedPart, values: Sequence[str]) -> str:
        """The variable that holds the first part of an opcode, made once for each source."""
        source = values[part.source]
        key = part.first.function, source
        if key not in self.first_parts:
            variable = self.first_parts[key] = self._new(DTYPES[part.first.results[0]])
            self.operations.append(Operation((variable,), *self._step_of(part.first, [source])))
        return self.first_parts[key]

    def _assign(self, destinations: list[Operand], results: tuple[str, ...], step: _Step, guard: str | None) -> None:
        if len(destinations) != len(results):
            raise NotImplementedError(f"{len(destinations)} destinations where {len(results)} are known")
        variables = tuple(self._new(DTYPES[kind]) for kind in results)
        self.operations.append(Operation(variables, *step))
        for destination, kind, variable in zip(destinations, results, variables, strict=True):
            self.write(destination, kind, variable, guard)

    def _effect(self, instruction: Instruction, effect: Effect) -> None:
        values: list[str] = []
        site = effect.site
        for operand, kind in effect.sources:
            if kind == "address":
                variable, offset = self.address(operand)
                values.append(variable)
                if offset:
                    site = site.moved(offset)
            else:
                values.append(self.read(operand, kind))
        destinations = flatten(effect.destinations)
        guard = self._guard(instruction)
        name = self.constant(site, "s")
        function = self.bound(effect.bind, "effect")
        if guard is None:
            call = f"{function}({', '.join(['L', name, *values])})"
            load = site if instruction.opcode in ("ld", "ldu") and len(values) == 1 else None
            self._assign(destinations, effect.results, _Step(call, tuple(values), load=load), None)
            return
        olds = []
        for destination, kind in zip(destinations, effect.results, strict=False):
            if isinstance(destination, Register):
                olds.append(self._as(destination.name, DTYPES[kind]))
            else:
                olds.append(self.constant(DTYPES[kind].type(0)))
        kept, given = (f"({''.join(name + ', ' for name in names)})" for names in (olds, values))
        call = f"guarded(L, {guard}, {function}, {name}, {kept}, {given})"
        self._assign(destinations, effect.results, _Step(call, (guard, *olds, *values)), None)
