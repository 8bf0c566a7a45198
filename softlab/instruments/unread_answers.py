"""Waits whose answer decides nothing.

``mbarrier.test_wait`` and ``mbarrier.try_wait`` say whether the phase is over; ``try_wait`` gives up after a time (PTX
ISA, "mbarrier.test_wait / mbarrier.try_wait"). A thread that asks, and goes on whatever the answer is, has not waited.
"""

from __future__ import annotations

from softlab.emulator.machine.definedness import reads_and_writes
from softlab.emulator.opcodes.effects import space_of
from softlab.emulator.ptx.linker import Image
from softlab.emulator.ptx.syntax import Instruction, Register


def unread_answers(image: Image) -> frozenset[int]:
    """The indices of these waits: their answer reaches no guard, no branch, and no memory that the block can read."""
    asks = [index for index, instruction in enumerate(image.instructions) if _asks(instruction)]
    if not asks:
        return frozenset()
    users: dict[str, list[Instruction]] = {}
    for instruction in image.instructions:
        for name in dict.fromkeys(reads_and_writes(instruction)[0]):
            users.setdefault(name, []).append(instruction)
    return frozenset(index for index in asks if not _decides(image.instructions[index], users))


def _asks(instruction: Instruction) -> bool:
    return instruction.opcode == "mbarrier" and instruction.has("test_wait", "try_wait")


def _decides(ask: Instruction, users: dict[str, list[Instruction]]) -> bool:
    """Whether something depends on the answer, other than values that are computed or go to global memory."""
    answer = ask.operands[0]
    pending = [answer.name] if isinstance(answer, Register) else []
    seen = set(pending)
    while pending:
        name = pending.pop()
        for user in users.get(name, ()):
            is_guard = user.guard is not None and user.guard.name == name
            stores = user.opcode in ("st", "atom", "red") and space_of(user) != "global"
            definitions = reads_and_writes(user)[1]
            if is_guard or stores or (not definitions and user.opcode not in ("st", "red")):
                return True
            new = set(definitions) - seen
            seen |= new
            pending += new
    return False
