"""The paths through a function's machine code: which instructions may come after each one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property

from softlab.cuda.machine_instructions import MachineInstruction
from softlab.cuda.registers import opcodes

_JUMPS = frozenset(opcodes("BRA JMP BRX BRXU JMX JMXU WARPSYNC"))
_ENDS = frozenset(opcodes("EXIT RET KILL JMP BRX BRXU JMX JMXU"))


class MachinePaths:
    """``follow``: for each instruction, by position, the positions that may come next.

    ``not_followed``: sentences about calls of code that is not here; a path ends there. A warp that waits for its other
    lanes (``BSYNC``) goes on at the next instruction. A return leads behind every call of the code in which it stands.
    A jump through a table (``BRX``), whose targets are not printed, may lead to every block.
    """

    def __init__(self, instructions: Sequence[MachineInstruction]) -> None:
        self._instructions = instructions
        self._at = {i.address: n for n, i in enumerate(instructions)}
        notes: dict[str, None] = {}
        self.follow = [tuple(dict.fromkeys(self._followers(n, notes))) for n in range(len(instructions))]
        self.not_followed = tuple(notes)

    def _targets(self, instruction: MachineInstruction) -> list[int]:
        return [self._at[target] for target in instruction.targets if target in self._at]

    def _next(self, index: int) -> Iterator[int]:
        """The instruction behind it, unless control always goes elsewhere."""
        instruction = self._instructions[index]
        # BRA.DIV and BRA.U have their condition as an operand in front of the target.
        always = instruction.opcode in _ENDS or (instruction.opcode == "BRA" and len(instruction.operands) < 2)
        if (instruction.guard or not always) and index + 1 < len(self._instructions):
            yield index + 1

    def _followers(self, index: int, notes: dict[str, None]) -> Iterator[int]:
        instruction = self._instructions[index]
        targets = self._targets(instruction)
        if instruction.opcode == "CALL":
            if not targets:
                notes[f"{instruction.text} calls code outside this section"] = None
            yield from targets
            if instruction.guard:
                yield from self._next(index)
            return
        if instruction.opcode in _JUMPS:
            yield from targets
            if not targets and instruction.opcode != "WARPSYNC":
                yield from self._blocks
        if instruction.opcode == "RET":
            yield from self._returns.get(index, ())
        yield from self._next(index)

    @cached_property
    def _blocks(self) -> list[int]:
        """The first instruction of each block that a jump names, or to which nothing leads otherwise."""
        named = {target for i in self._instructions for target in self._targets(i)}
        behind = {n + 1 for n in range(len(self._instructions) - 1) if not list(self._next(n))}
        return sorted(named | behind)

    @cached_property
    def _returns(self) -> dict[int, list[int]]:
        """Position of a return -> the positions behind the calls of the code that it is in."""
        found: dict[int, list[int]] = {}
        for index, call in enumerate(self._instructions):
            for target in self._targets(call) if call.opcode == "CALL" else ():
                for inside in self._body(target):
                    if self._instructions[inside].opcode == "RET":
                        found.setdefault(inside, []).extend(self._next(index))
        return found

    def _body(self, entry: int) -> set[int]:
        """The instructions of a called piece of code, without those that it calls itself."""
        seen: set[int] = set()
        waiting = [entry]
        while waiting:
            index = waiting.pop()
            if index not in seen:
                seen.add(index)
                if self._instructions[index].opcode in _JUMPS:
                    waiting += self._targets(self._instructions[index])
                waiting += self._next(index)
        return seen
