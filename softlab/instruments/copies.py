"""How many iterations of a loop one block of the machine code holds, where the assembler unrolled the loop."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

from softlab.cuda.machine_instructions import MachineInstruction
from softlab.instruments.branches import PtxBranches

#: Opcodes of which an iteration has one per PTX instruction, in all copies of the loop's body.
_ACCESSES = (
    *("LD", "LDG", "LDL", "LDS", "LDSM", "LDGSTS", "ST", "STG", "STL", "STS", "STSM"),
    *("ATOM", "ATOMG", "ATOMS", "RED", "REDG", "SHFL"),
)


def told_copies(instructions: Iterable[MachineInstruction], branch: int, branches: PtxBranches) -> int:
    """The copies in a block, as what the loop counts tells, or else its accesses; 0 if neither does.

    An iteration adds a constant to a register, and a block of k iterations adds k times as much.
    """
    body = _of_body(instructions, branch, branches)
    steps = branches.steps(branch)
    ratios: dict[int, int] = {}
    for instruction in body:
        for added in _constants(instruction) if instruction.ptx_line in steps else ():
            step = steps[instruction.ptx_line]
            if added % step == 0 and added // step > 0:
                ratios[instruction.ptx_line] = max(ratios.get(instruction.ptx_line, 0), added // step)
    if ratios:
        return Counter(ratios.values()).most_common(1)[0][0]
    accesses = set(Counter(i.ptx_line for i in body if i.opcode in _ACCESSES).values())
    return accesses.pop() if len(accesses) == 1 else 0


def likely_copies(instructions: Iterable[MachineInstruction], branch: int, branches: PtxBranches) -> int:
    """The copies in a block, as most of its instructions have it: a guess for where nothing else tells."""
    body = _of_body(instructions, branch, branches)
    times = Counter(Counter((i.ptx_line, i.opcode, i.modifiers) for i in body).values())
    return max(times, key=lambda count: (times[count], count), default=1)


def _of_body(
    instructions: Iterable[MachineInstruction], branch: int, branches: PtxBranches
) -> list[MachineInstruction]:
    """The instructions that are made from the loop's body and that lanes execute.

    The assembler puts ``@!PT LDS RZ, [RZ]`` three times before an asynchronous copy to shared memory.
    """
    inside = branches.body(branch)
    return [i for i in instructions if not i.idle and branches.block_at(i.ptx_line) in inside]


def _constants(instruction: MachineInstruction) -> Iterator[int]:
    """The integers among the operands, as numbers of 32 bits with a sign."""
    for operand in instruction.operands:
        try:
            yield (int(operand, 0) + (1 << 31)) % (1 << 32) - (1 << 31)
        except ValueError:
            continue
