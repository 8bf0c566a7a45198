"""The registry of opcodes: one decorated function per opcode, with what the rest of the emulator must know of it.

There are three kinds, each with its own decorator: pure opcodes (:data:`PURE`, lane by lane, without side effect),
effects (:data:`softlab.emulator.opcodes.effects.EFFECTS`: memory, warp-wide instructions, printf) and terminators
(:data:`softlab.emulator.opcodes.control_flow.TERMINATORS`: what ends a basic block). All share one registry: a name is
registered once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from softlab.emulator.opcodes.emitter import NativeForm
from softlab.emulator.ptx.syntax import Instruction, Operand
from softlab.emulator.ptx.unsupported import unsupported
from softlab.errors import Error


@dataclass(frozen=True, slots=True)
class Semantics:
    """What an instruction computes, lane by lane, with no side effect.

    ``function`` takes one value per source and gives one value (or a tuple, one per result). A value is a NumPy array,
    or a NumPy scalar that all lanes share, of the dtype ``ptx.DTYPES`` has for its type. The arrays of one call
    broadcast against each other: (blocks, threads), with 1 where all blocks or all threads share a value, or (lanes,).
    The function broadcasts, never writes to its sources, gives a scalar when all sources are scalars, and is called
    with NumPy's floating-point warnings off. Results have exactly the dtype of their type.
    ``sources`` and ``results`` are the PTX types of the operands in order, vectors flattened: destinations are
    ``results``, all others ``sources``, immediates too (an opcode that has specialised on one ignores the value). Where
    the sign does not matter the type is untyped ("b32" for ``add.s32``), so that no reinterpretation is needed.
    A predicate written ``!%p`` is inverted by the machine before the call.
    ``carry_in``: the last source, of type pred, is CC.CF and no operand; ``carry_out``: the last result is.
    ``native`` is the compiled form (:mod:`softlab.emulator.opcodes.emitter`): the same bits for every lane. An opcode
    without one is called in hot blocks, too. ``weight``: it costs as much as that many opcodes of one NumPy call, to
    run and to compile. ``shared`` gives the same in two steps.
    """

    function: Callable
    sources: tuple[str, ...]
    results: tuple[str, ...]
    carry_in: bool = False
    carry_out: bool = False
    native: NativeForm | None = None
    weight: int = 1
    shared: SharedPart | None = None


@dataclass(frozen=True, slots=True)
class SharedPart:
    """A pure opcode in two steps: ``first`` computes from one source what ``rest`` takes after all sources.

    Instructions of a block with the same source share what ``first`` gives.
    """

    source: int
    first: Semantics
    rest: Semantics


Lowering = Callable[[Instruction], Semantics]
#: The operands of a terminator that are read.
OperandsRead = Callable[[Instruction], tuple[Operand, ...]]


@dataclass(frozen=True, slots=True)
class Opcode:
    """A registered opcode.

    Arguments:
        name: the opcode, or the opcode and its first modifiers ("cp.async").
        kind: "pure", "effect" or "terminator".
        function: the decorated function.
        has_result: whether its first operand is written.
        warp_synchronous: whether the lanes of a warp that its mask (the last operand) names execute it together.
        masked: whether a warp-synchronous opcode has that mask; without one all lanes of the warp are meant.
        waits: "blocks" or "polls" where it waits for an event (:class:`softlab.emulator.ptx.blocks.Block`), else "".
        ends: how it ends a basic block (``Block.end``), "" where it does not.
        reads: for a terminator: the operands (u32) whose values its function gets.
        updates: whether its first operand, which is written, is read, too.
    """

    name: str
    kind: str
    function: Callable[..., Any]
    has_result: bool = True
    warp_synchronous: bool = False
    waits: str = ""
    ends: str = ""
    reads: OperandsRead | None = None
    masked: bool = True
    updates: bool = False


class Registry:
    """Opcode name -> :class:`Opcode`."""

    def __init__(self) -> None:
        self._opcodes: dict[str, Opcode] = {}
        self._longest = 1

    def add(self, opcode: Opcode) -> None:
        """Register it; a name that is taken already is an error."""
        if opcode.name in self._opcodes:
            other = self._opcodes[opcode.name].function
            raise Error(f"opcode {opcode.name!r} is registered twice: {other} and {opcode.function}")
        self._opcodes[opcode.name] = opcode
        self._longest = max(self._longest, opcode.name.count(".") + 1)

    def find(self, instruction: Instruction) -> Opcode | None:
        """The opcode of an instruction, the one with the longest name; None where it is not known."""
        words = (instruction.opcode, *instruction.modifiers[: self._longest - 1])
        for count in range(len(words), 0, -1):
            found = self._opcodes.get(".".join(words[:count]))
            if found is not None:
                return found
        return None


#: All opcodes that the emulator knows.
OPCODES = Registry()

Function = TypeVar("Function", bound=Callable)


class OpcodeTable(Generic[Function]):
    """The opcodes of one kind, and the decorator that registers them."""

    def __init__(self, kind: str, registry: Registry) -> None:
        self._kind = kind
        self._registry = registry
        self._functions: dict[str, Function] = {}

    def opcode(
        self,
        *names: str,
        has_result: bool = True,
        warp_synchronous: bool = False,
        waits: str = "",
        ends: str = "",
        reads: OperandsRead | None = None,
        masked: bool = True,
        updates: bool = False,
    ) -> Callable[[Function], Function]:
        """Register the decorated function for these opcodes; the other arguments are the fields of :class:`Opcode`."""

        def register(function: Function) -> Function:
            for name in names:
                opcode = Opcode(
                    name, self._kind, function, has_result, warp_synchronous, waits, ends, reads, masked, updates
                )
                self._registry.add(opcode)
                self._functions[name] = function
            return function

        return register

    def __getitem__(self, name: str) -> Function:
        return self._functions[name]

    def __contains__(self, name: str) -> bool:
        return name in self._functions

    def __iter__(self) -> Iterator[str]:
        return iter(sorted(self._functions))


class PureTable(OpcodeTable[Lowering]):
    """Opcode name -> function that gives an instruction's :class:`Semantics`."""

    def lower(self, instruction: Instruction, file: str | None = None) -> Semantics:
        """The instruction's meaning; ``file`` is the kernel's own source file.

        Raises:
            UnsupportedInstruction: no such opcode, or not with these modifiers (a lowering raises
            ``NotImplementedError``).
        """
        if instruction.opcode not in self:
            raise unsupported(instruction, file=file)
        try:
            return self[instruction.opcode](instruction)
        except NotImplementedError as error:
            raise unsupported(instruction, str(error), file=file) from error


#: The pure (side-effect free) opcodes.
PURE = PureTable("pure", OPCODES)


# What lowerings share: each refuses a form that it does not know by NotImplementedError, and nothing else does.


def modifier_of(instruction: Instruction, *choices: str) -> str:
    """The one modifier of these that the instruction has."""
    found = next((m for m in instruction.modifiers if m in choices), None)
    if found is None:
        raise NotImplementedError(f"one of {', '.join(choices)} is needed")
    return found


def operands_of(instruction: Instruction, count: int, most: int | None = None) -> tuple[Operand, ...]:
    """The operands of an instruction that takes ``count``, or up to ``most``."""
    return counted(instruction.operands, count, most)


def counted(operands: tuple[Operand, ...], count: int, most: int | None = None) -> tuple[Operand, ...]:
    """These operands, which are ``count``, or up to ``most``."""
    if not count <= len(operands) <= (most or count):
        raise NotImplementedError(f"{len(operands)} operands where {count} are known")
    return operands


def last_type(instruction: Instruction, types: object) -> str:
    """The last modifier, which must be one of these types (a container of names)."""
    kind = instruction.modifiers[-1] if instruction.modifiers else ""
    if kind not in types:  # type: ignore[operator]
        raise NotImplementedError(f"the type {kind!r}")
    return kind
