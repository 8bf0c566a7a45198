"""Changes to the machine code of a microbenchmark, where the compiler does not write what is to be measured.

The fields of an instruction of sm_90 (read off ``nvdisasm``): destination in bits 16 to 23, the sources A, B and C in
bits 24 to 31, 32 to 39 and 64 to 71.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import cycle

from softlab.bench.record.atlas.checks import CheckError, full_name
from softlab.cuda import control_codes
from softlab.cuda.compile import Program
from softlab.cuda.disassembly import disassemble
from softlab.cuda.machine_instructions import MachineInstruction

#: The number of the register that is always 0.
_RZ = 255
#: Name -> lowest bit of a register's number.
FIELDS = {"d": 16, "a": 24, "b": 32, "c": 64}


def get(encoding: int, field: str) -> int:
    """The register's number in a field."""
    return encoding >> FIELDS[field] & 0xFF


def put(encoding: int, **registers: int) -> int:
    """The encoding with other registers."""
    for field, number in registers.items():
        encoding = encoding & ~(0xFF << FIELDS[field]) | number << FIELDS[field]
    return encoding


def text_offset(program: Program, instructions: Sequence[MachineInstruction]) -> int:
    """Where the kernel's code begins in the cubin.

    Raises:
        CheckError: the code is not there, or it is there twice.
    """
    code = b"".join(_encoding(i).to_bytes(16, "little") for i in instructions)
    at = program.cubin.find(code)
    if at < 0 or program.cubin.find(code, at + 1) >= 0:
        raise CheckError("the machine code as printed is not in the cubin once")
    return at


def _encoding(instruction: MachineInstruction) -> int:
    if instruction.encoding is None:
        raise CheckError(f"no encoding of {instruction.text}")
    return instruction.encoding


def patched(program: Program, change: Callable[[MachineInstruction], int | None]) -> Program:
    """The program with other encodings: ``change`` gives the new one of an instruction, or None to leave it."""
    instructions = disassemble(program).kernel.instructions
    at = text_offset(program, instructions)
    cubin = bytearray(program.cubin)
    for i in instructions:
        encoding = change(i)
        if encoding is not None:
            cubin[at + i.address : at + i.address + 16] = encoding.to_bytes(16, "little")
    return replace(program, cubin=bytes(cubin))


def only(program: Program, wanted: str, other: str) -> Program:
    """Make every instruction that matches ``other`` one that matches ``wanted``, with its destination.

    Both must be the same step: their destination is source A of the wanted one.

    Raises:
        CheckError: there is no wanted instruction of that form.
    """
    instructions = disassemble(program).kernel.instructions
    models = [_encoding(i) for i in instructions if re.fullmatch(wanted, full_name(i))]
    models = [m for m in models if get(m, "d") == get(m, "a")]
    if not models:
        raise CheckError(f"no {wanted} has its destination as source A")

    def change(instruction: MachineInstruction) -> int | None:
        if not re.fullmatch(other, full_name(instruction)) or get(_encoding(instruction), "a") == _RZ:
            return None  # one without a source sets the loop's counter to 0
        if " 0x1, " in instruction.text:
            return None  # the loop's counter
        to = get(_encoding(instruction), "d")
        return put(models[-1], d=to, a=to)

    return patched(program, change)


#: The sources A, B and C of the instructions of a stream in turn: of the even or the odd bank, every letter another
#: register of it; the last one again where there are fewer than three. "*": kept for the same slot of the next one.
PATTERNS = {
    "turns": "eeo eoo",
    "every.4": "eeo o o o",
    "first": "eeo",
    "last": "eoo",
    "before.both": "eeo eo o o",
    "before.same": "eeo e o o",
    "twice": "eeo eeo o o",
    "halves": "ee oo",
    "apart": "eeo eo eoo eo",
    "kept": "ee*o eeo",
}
_PLAIN_REGISTER = re.compile(r"R\d+(\.reuse)?")


def banks(program: Program, wanted: str, count: int, reuse: bool) -> Program:
    """Give every instruction that matches ``wanted`` registers of our choice: how many different sources are in one of
    the two banks.

    A register is in the bank of its number's lowest bit. All accumulators are in one bank. ``count`` 3: both other
    sources are there, too; 2: one is; 1: both are one register of the other bank. With ``reuse`` the first source comes
    from the reuse cache.
    """
    found, spare = _registers(program, wanted)
    bank = max((0, 1), key=lambda parity: sum(r % 2 == parity for r in found))
    accumulators, same, other = [r for r in found if r % 2 == bank], spare[bank], spare[1 - bank]
    if len(accumulators) < 4 or len(same) < 2 or not other:
        raise CheckError(f"too few registers: accumulators {accumulators}, others {same} and {other}")
    first, second = {3: (same[0], same[1]), 2: (same[0], other[0]), 1: (other[0], other[0])}[count]
    return _streamed(program, wanted, [(to, first, second, to) for to in accumulators], [int(reuse)])


def banks_in_turn(program: Program, wanted: str, pattern: str, to: str = "", stall: int = 1) -> Program:
    """The same with other sources from one instruction to the next, as ``PATTERNS`` has them. No result is a source.

    to: "even" or "odd" for results that all lie in one bank. stall: of each instruction; from 2 on warps take turns.
    """
    found, spare = _registers(program, wanted)
    found = [r for r in found if not to or r % 2 == ("even", "odd").index(to)]
    if min(map(len, spare)) < 2:
        raise CheckError(f"too few registers: {spare}")
    steps = PATTERNS[pattern].split()
    chosen, kept = [], []
    for turn, result in enumerate(found * len(steps)):
        step = steps[turn % len(steps)]
        letters = step.replace("*", "")
        sources = [spare["eo".index(one)][letters[:slot].count(one)] for slot, one in enumerate(letters)]
        chosen.append((result, *(sources[min(slot, len(sources) - 1)] for slot in range(3))))
        kept.append(1 << step.index("*") - 1 if "*" in step else 0)
    return _streamed(program, wanted, chosen, kept, stall)


def _registers(program: Program, wanted: str) -> tuple[list[int], tuple[list[int], list[int]]]:
    """The destinations of a stream, and the kernel's other registers by their bank."""
    steps = (i for i in disassemble(program).kernel.instructions if _of_registers(i, wanted))
    found = sorted({get(_encoding(i), "d") for i in steps})
    even, odd = ([r for r in range(2, program.registers - 1) if r % 2 == bank and r not in found] for bank in (0, 1))
    return found, (even, odd)


def _streamed(
    program: Program, wanted: str, chosen: Sequence[tuple[int, ...]], kept: Sequence[int], stall: int = 1
) -> Program:
    """Destination and sources of the instructions of a stream in turn, and as bits the slots whose source the reuse
    cache keeps; each follows the one before in ``stall`` cycles."""
    turns = cycle(zip(chosen, cycle(kept)))

    def change(instruction: MachineInstruction) -> int | None:
        if not _of_registers(instruction, wanted) or instruction.control is None:
            return None
        registers, slots = next(turns)
        encoding = put(_encoding(instruction), **dict(zip("dabc", registers, strict=True)))
        code = replace(instruction.control, reuse=slots, stall_cycles=stall, yields=True)
        return control_codes.encode(encoding, code, program.arch)

    return patched(program, change)


def stalled(program: Program, wanted: str, cycles: int) -> Program:
    """Give every instruction that matches ``wanted`` another stall count. Results are then no longer waited for."""

    def change(instruction: MachineInstruction) -> int | None:
        if not re.fullmatch(wanted, full_name(instruction)) or instruction.control is None:
            return None
        code = replace(instruction.control, stall_cycles=cycles)
        return control_codes.encode(_encoding(instruction), code, program.arch)

    return patched(program, change)


def unkept(program: Program, wanted: str) -> Program:
    """Let every instruction that matches ``wanted`` keep no source for reuse."""

    def change(instruction: MachineInstruction) -> int | None:
        if not re.fullmatch(wanted, full_name(instruction)) or instruction.control is None:
            return None
        return control_codes.encode(_encoding(instruction), replace(instruction.control, reuse=0), program.arch)

    return patched(program, change)


def _of_registers(instruction: MachineInstruction, wanted: str) -> bool:
    """Whether it is a wanted one whose three sources are registers."""
    sources = instruction.operands[1:4]
    return bool(re.fullmatch(wanted, full_name(instruction))) and all(map(_PLAIN_REGISTER.fullmatch, sources))


#: The first uniform register that the patched streams use. The compiler counts from 4 and does not come so far here.
_UNIFORM = 40


def uniform(program: Program, model: MachineInstruction) -> Program:
    """Make every IADD3 of a stream a copy of the model, an instruction of the uniform datapath, on registers of ours.

    Each stream's register becomes another uniform register, which is the destination and source A.
    """
    found = sorted({get(_encoding(i), "d") for i in disassemble(program).kernel.instructions if _adds(i)})
    numbers = {register: _UNIFORM + 2 * k for k, register in enumerate(found)}

    def change(instruction: MachineInstruction) -> int | None:
        if not _adds(instruction) or instruction.control is None:
            return None
        number = numbers[get(_encoding(instruction), "d")]
        encoding = put(_encoding(model), d=number, **({} if "c[" in model.text else {"a": number}))
        return control_codes.encode(encoding, replace(instruction.control, reuse=0), program.arch)

    return patched(program, change)


def _adds(instruction: MachineInstruction) -> bool:
    encoding = _encoding(instruction)
    if " 0x1, " in instruction.text:
        return False  # the loop's counter
    return full_name(instruction) == "IADD3" and get(encoding, "d") in (get(encoding, field) for field in "abc")
