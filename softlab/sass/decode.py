"""Machine instructions with their operands taken apart: text of nvdisasm -> frozen records.

Immediate floats are read from the encoding, whose upper half of the lower 64 bits holds them. The text is a decimal
number that would have to be rounded again.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from softlab.cuda.control_codes import ControlCode
from softlab.cuda.machine_instructions import Disassembly, MachineFunction, MachineInstruction
from softlab.emulator.ptx.places import Place, place_of
from softlab.emulator.ptx.syntax import Frame
from softlab.errors import UnsupportedInstruction

#: Bytes of an instruction.
INSTRUCTION_BYTES = 16
#: Register numbers that hold no value: RZ, URZ, PT, UPT.
ZERO, UNIFORM_ZERO, TRUE = 255, 63, 7


@dataclass(frozen=True, slots=True)
class Operand:
    """One operand.

    ``kind``: "R" and "UR" (registers of a lane, of a warp), "P" and "UP" (their predicates), "B" (convergence
    barriers), "SR" (special registers), "PR" (all predicates), "integer", "float", "constant", "address", "label".
    ``index``: of the register, or of the constant bank. ``value``: an integer, the bits of a float, or the offset of an
    address in bytes. ``name``: of a special register or label, or what is not known. ``negated`` for ``-R1``,
    ``absolute`` for ``|R1|``, ``inverted`` for ``~R1`` and ``!P1``. ``suffixes``: "H0_H0", "64", "reuse" and so on.
    ``base`` and ``uniform``: the registers of an address or of a constant's offset (None for none).
    """

    kind: str
    index: int = 0
    value: int = 0
    name: str = ""
    negated: bool = False
    absolute: bool = False
    inverted: bool = False
    suffixes: tuple[str, ...] = ()
    base: Operand | None = None
    uniform: Operand | None = None


@dataclass(frozen=True, slots=True)
class Instruction:
    """One machine instruction.

    ``index``: its index in the code of all functions (address // 16 in the kernel itself). ``opcode`` ("IMAD") and
    ``modifiers`` ("WIDE", "U32"); ``operands``, destinations first; ``guard`` the predicate of ``@!P0`` or None;
    ``targets``: the indices that a branch names; ``control``: its control code; ``machine``: the record that it comes
    from, with its text and its lines; ``file``: the kernel's own source file, "" where that is not known.
    """

    index: int
    opcode: str
    modifiers: tuple[str, ...]
    operands: tuple[Operand, ...]
    guard: Operand | None
    targets: tuple[int, ...]
    control: ControlCode | None
    machine: MachineInstruction
    file: str = ""

    @property
    def text(self) -> str:
        """As nvdisasm prints it."""
        return self.machine.text

    @property
    def place(self) -> Place:
        """Where it is in the source, as the errors of a run name the place of a PTX instruction."""
        return place_of(tuple(Frame(*frame) for frame in self.machine.frames), self.file)

    @property
    def line(self) -> int | None:
        """The line of its place; None where it is not known."""
        return self.place.line

    def unsupported(self, reason: str = "") -> UnsupportedInstruction:
        """The error that names it."""
        place = self.place
        found = f"the interpreter of machine code does not know {self.text!r}{f' ({place})' if place.line else ''}"
        return UnsupportedInstruction(
            found + (f": {reason}" if reason else ""),
            instruction=self.text, line=place.line, file=place.file or None, header=place.header,
        )  # fmt: skip


@dataclass(frozen=True)
class Code:
    """The instructions of all functions of a cubin: the kernel first, then those that it may call.

    ``starts``: function -> index of its first instruction. ``functions``: these indices of the device functions.
    """

    instructions: tuple[Instruction, ...]
    starts: dict[str, int]
    functions: frozenset[int] = frozenset()


def decode(disassembly: Disassembly, functions: Mapping[str, int] | None = None, file: str = "") -> Code:
    """The decoded code. Other kernels of the cubin are left out: no instruction leads there.

    Arguments:
        functions: device functions within the kernel's code -> their addresses there.
        file: the kernel's own source file.
    """
    kernel = disassembly.kernel
    others = [f for f in disassembly.functions if f is not kernel and _called(kernel, f)]
    starts: dict[str, int] = {}
    decoded: list[Instruction] = []
    for function in (kernel, *others):
        starts[function.name] = len(decoded)
        decoded.extend(_function(function, len(decoded), file))
    inner = (address // INSTRUCTION_BYTES for address in (functions or {}).values())
    return Code(tuple(decoded), starts, frozenset({*inner, *starts.values()} - {0}))


def _called(kernel: MachineFunction, other: MachineFunction) -> bool:
    return any(f"({other.name})" in i.text and i.opcode in ("CALL", "MOV", "JMP") for i in kernel.instructions)


def _function(function: MachineFunction, start: int, file: str) -> Iterator[Instruction]:
    for machine in function.instructions:
        targets = tuple(start + target // INSTRUCTION_BYTES for target in machine.targets)
        guard = _operand(("!" if machine.negated else "") + machine.guard, 0) if machine.guard else None
        if not machine.guard and machine.negated:  # @!PT
            guard = Operand("P", TRUE, inverted=True)
        immediate = (machine.encoding or 0) >> 32 & 0xFFFFFFFF
        yield Instruction(
            start + machine.address // INSTRUCTION_BYTES,
            machine.opcode,
            machine.modifiers,
            tuple(_operand(text, immediate) for part in machine.operands for text in _parts(part)),
            guard,
            targets,
            machine.control,
            machine,
            file,
        )


_REGISTER = re.compile(r"(?P<kind>UR|UP|R|P|B)(?P<number>\d+|Z|T)(?P<suffixes>(?:\.\w+)*)$")
_CONSTANT = re.compile(r"c\[0x(?P<bank>[0-9a-f]+)\]\[(?P<inside>[^\]]*)\](?P<suffixes>(?:\.\w+)*)$")
#: Integers are printed in base 16, so that a plain 1 is a float.
_INTEGER = re.compile(r"-?0x[0-9a-f]+$")
_FLOAT = re.compile(r"[-+]?(?:\d+\.?\d*(?:e[-+]?\d+)?|INF|QNAN|SNAN)$")
_KINDS = {"Z": {"R": ZERO, "UR": UNIFORM_ZERO}, "T": {"P": TRUE, "UP": TRUE}}
_PLAIN_BRANCH = re.compile(r"(?P<register>U?R\d+)\s+(?P<offset>-?0x[0-9a-f]+)$")
_RETURN = re.compile(r"(?P<register>U?R\d+)\s+(?P<label>`.*)$")


def _parts(text: str) -> tuple[str, ...]:
    """BRX and RET print two operands without a comma."""
    found = _PLAIN_BRANCH.match(text) or _RETURN.match(text)
    return (text,) if found is None else (found.group(1), found.group(2))


def _operand(text: str, immediate: int) -> Operand:
    """One operand. ``immediate``: the 32 bits of the encoding where an immediate stands."""
    text = text.strip()
    inverted = text.startswith(("!", "~"))
    body = text[1:] if inverted else text
    negated = body.startswith("-") and not _INTEGER.match(body) and not _FLOAT.match(body)
    body = body[1:] if negated else body
    absolute = body.startswith("|")
    if absolute:
        close = body.rindex("|")
        body = body[1:close] + body[close + 1 :]
    marks: dict[str, Any] = {"negated": negated, "absolute": absolute, "inverted": inverted}
    found = _REGISTER.match(body)
    if found:
        kind, number = found["kind"], found["number"]
        index = int(number) if number.isdigit() else _KINDS[number].get(kind, 0)
        return Operand(kind, index, suffixes=tuple(found["suffixes"].split(".")[1:]), **marks)
    found = _CONSTANT.match(body)
    if found:
        base, uniform, offset = _address(found["inside"])
        suffixes = tuple(found["suffixes"].split(".")[1:])
        return Operand(
            "constant", int(found["bank"], 16), offset, suffixes=suffixes, base=base, uniform=uniform, **marks
        )
    if body.endswith("]"):
        base, uniform, offset = _address(body[body.rindex("[") + 1 : -1])
        return Operand("address", 0, offset, name=body[: body.rindex("[")], base=base, uniform=uniform)
    if body.startswith(("SR", "`")):
        return Operand("SR" if body.startswith("SR") else "label", name=body.strip("`()"))
    if _INTEGER.match(body):
        return Operand("integer", value=int(body, 0), name=body, **marks)
    if _FLOAT.match(body):
        return Operand("float", value=immediate, name=body, **marks)
    return Operand("PR" if body == "PR" else "other", name=body)


def _address(inside: str) -> tuple[Operand | None, Operand | None, int]:
    """What stands in brackets: (register, uniform register, offset)."""
    base = uniform = None
    offset = 0
    for part in inside.replace("+-", "+ -").split("+"):
        part = part.strip()
        if _INTEGER.match(part):
            offset += int(part, 0)
            continue
        register = _operand(part, 0)
        if register.kind == "R":
            base = register
        elif register.kind == "UR":
            uniform = register
    return base, uniform, offset
