"""Where a kernel may access registers of ``wgmma`` that a product still uses, or gives it some without a fence.

Both are questions about paths, answered before the kernel runs. While it runs, an access counts only if the warp has
such a product in flight (:class:`softlab.emulator.opcodes.group_unit.GroupMatrices`).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field

from softlab.emulator.machine.definedness import reads_and_writes, successors
from softlab.emulator.opcodes.group_unit import RegisterFacts
from softlab.emulator.opcodes.wgmma import product_registers
from softlab.emulator.ptx.blocks import Block
from softlab.emulator.ptx.linker import Image
from softlab.emulator.ptx.syntax import Immediate, Instruction

#: Groups that are told apart by how many came after them; older ones count as one.
_AGES = 8
NO_FACTS = RegisterFacts({}, {})


@dataclass
class _State:
    """What is true on some path: registers -> the ages of the groups that use them, in bits (bit 0: no group yet), and
    registers that an instruction wrote since the last fence -> that instruction.
    """

    used: dict[str, int] = field(default_factory=dict)
    written: dict[str, int] = field(default_factory=dict)

    def copy(self) -> _State:
        return _State(dict(self.used), dict(self.written))

    def join(self, other: _State) -> bool:
        """Take over what is true in the other one; returns whether that was new."""
        changed = False
        for name, ages in other.used.items():
            if ages & ~self.used.get(name, 0):
                self.used[name] = self.used.get(name, 0) | ages
                changed = True
        for name, index in other.written.items():
            if name not in self.written:
                self.written[name] = index
                changed = True
        return changed


def group_registers(image: Image, blocks: Sequence[Block]) -> RegisterFacts:
    """The analysis of a kernel."""
    if not any(i.opcode == "wgmma" for i in image.instructions):
        return NO_FACTS
    return _Analysis(image, blocks).facts()


class _Analysis:
    def __init__(self, image: Image, blocks: Sequence[Block]) -> None:
        self.instructions = image.instructions
        self.blocks = blocks
        products = [i for i in self.instructions if i.opcode == "wgmma" and i.has("mma_async")]
        self.given = frozenset().union(*(product_registers(i) for i in products))
        self.touches: dict[int, frozenset[str]] = {}
        self.unfenced: dict[int, int] = {}
        #: Register -> those that were copied into it.
        self.origins: defaultdict[str, set[str]] = defaultdict(set)

    def facts(self) -> RegisterFacts:
        before = {0: _State()}
        pending = [0]
        while pending:
            index = pending.pop()
            state = before[index].copy()
            block = self.blocks[index]
            for number in range(block.start, block.stop):
                self._step(self.instructions[number], number, state)
            for follow in successors(block):
                if follow >= len(self.blocks):
                    continue
                known = before.get(follow)
                if known is None:
                    before[follow] = state.copy()
                    pending.append(follow)
                elif known.join(state):
                    pending.append(follow)
        return RegisterFacts({i: self._with_origins(names) for i, names in self.touches.items()}, self.unfenced)

    def _with_origins(self, names: frozenset[str]) -> frozenset[str]:
        found, new = set(names), list(names)
        while new:
            more = self.origins[new.pop()] - found
            found |= more
            new += more
        return frozenset(found)

    def _step(self, instruction: Instruction, number: int, state: _State) -> None:
        if instruction.opcode == "wgmma":
            self._ordered(instruction, number, state)
            return
        uses, definitions = reads_and_writes(instruction)
        if instruction.opcode == "mov" and instruction.guard is None and len(definitions) == 1:
            self._copy(uses, definitions[0], state)
            return
        if hit := frozenset(name for name in (*uses, *definitions) if name in state.used):
            self.touches[number] = self.touches.get(number, frozenset()) | hit
        for name in definitions:
            state.used.pop(name, None)
            if name in self.given:
                state.written[name] = number

    def _copy(self, sources: list[str], target: str, state: _State) -> None:
        """The compiler moves registers of products, and puts constants next to them: only other instructions count."""
        self.origins[target].update(sources)
        for facts in (state.used, state.written):
            facts.pop(target, None)
            for source in sources:
                if source in facts:
                    facts[target] = facts[source]

    def _ordered(self, instruction: Instruction, number: int, state: _State) -> None:
        if instruction.has("fence"):
            state.written.clear()
        elif instruction.has("commit_group"):
            for name, ages in state.used.items():
                state.used[name] = ages << 1 & (1 << _AGES) - 1 | ages & 1 << _AGES - 1
        elif instruction.has("wait_group"):
            newest = instruction.operands[0] if instruction.operands else None
            count = int(newest.value) if isinstance(newest, Immediate) else _AGES
            kept = (1 << min(count, _AGES) + 1) - 1
            state.used = {name: ages & kept for name, ages in state.used.items() if ages & kept}
        else:
            names = product_registers(instruction)
            for name in names:
                if name in state.written:
                    self.unfenced[number] = state.written[name]
                state.used[name] = state.used.get(name, 0) | 1
