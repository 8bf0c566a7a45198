"""The table of opcodes: one function an opcode gives its meaning. A missing or a duplicate one is a named error."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Generic, TypeVar

from softlab.emulator.ptx import Instruction
from softlab.errors import Error, UnsupportedInstruction


@dataclass(frozen=True, slots=True)
class Semantics:
    """What an instruction computes, lane by lane, with no side effect.

    ``function`` takes one value a source and gives one value (or a tuple, one a result). A value is a NumPy array, or a
    NumPy scalar that all lanes share, of the dtype ``ptx.DTYPES`` has for its type. The arrays of one call broadcast
    against each other: (blocks, threads), with 1 where all blocks or all threads share a value, or (lanes,). The
    function broadcasts, never writes to its sources, gives a scalar when all sources are scalars, and is called with
    NumPy's floating-point warnings off. Results have exactly the dtype of their type.
    ``sources`` and ``results`` are the PTX types of the operands in order, vectors flattened: destinations are
    ``results``, all others ``sources``, immediates too (an opcode that has specialised on one ignores the value). Where
    the sign does not matter the type is untyped ("b32" for ``add.s32``), so that no reinterpretation is needed.
    A predicate written ``!%p`` is inverted by the machine before the call.
    ``carry_in``: the last source, of type pred, is CC.CF and no operand; ``carry_out``: the last result is.
    """

    function: Callable
    sources: tuple[str, ...]
    results: tuple[str, ...]
    carry_in: bool = False
    carry_out: bool = False


Lowering = Callable[[Instruction], Semantics]


def unsupported(instruction: Instruction, why: str = "") -> UnsupportedInstruction:
    """The error for an instruction that the emulator cannot run; it names the instruction and its CUDA source line."""
    line = instruction.frames[0].line if instruction.frames else None
    where = f" (CUDA source line {line})" if line else ""
    return UnsupportedInstruction(
        f"the emulator does not know the PTX instruction `{instruction.text}`{where}{': ' + why if why else ''}. "
        "Compile for another architecture, write the operation another way, or run it on a GPU.",
        instruction=instruction.text,
        line=line,
    )


LoweringType = TypeVar("LoweringType", bound=Callable)


class OpcodeTable(Generic[LoweringType]):
    """Opcode name -> the function that gives an instruction's meaning. A name is registered once."""

    def __init__(self) -> None:
        self._lowerings: dict[str, LoweringType] = {}

    def opcode(self, *names: str) -> Callable[[LoweringType], LoweringType]:
        """Register the decorated function for these opcodes; a name taken already is an error."""

        def register(lowering: LoweringType) -> LoweringType:
            for name in names:
                if name in self._lowerings:
                    raise Error(f"opcode {name!r} is registered twice: {self._lowerings[name]} and {lowering}")
                self._lowerings[name] = lowering
            return lowering

        return register

    def __getitem__(self, name: str) -> LoweringType:
        return self._lowerings[name]

    def __contains__(self, name: str) -> bool:
        return name in self._lowerings

    def __iter__(self) -> Iterator[str]:
        return iter(sorted(self._lowerings))


class PureTable(OpcodeTable[Lowering]):
    """Opcode name -> function that gives an instruction's :class:`Semantics`."""

    def lower(self, instruction: Instruction) -> Semantics:
        """The instruction's meaning.

        Raises:
            UnsupportedInstruction: no such opcode, or not with these modifiers (a lowering raises
            ``NotImplementedError``).
        """
        try:
            return self[instruction.opcode](instruction)
        except (KeyError, NotImplementedError) as error:
            raise unsupported(instruction) from error


#: The pure (side-effect free) opcodes. Memory, control flow and warp-wide opcodes belong to the machine.
PURE = PureTable()
