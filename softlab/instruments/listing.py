"""CUDA source, PTX and machine code side by side, each line with its counters: the record that a source view draws."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from softlab.cuda.compile import Program
from softlab.cuda.disassembly import DisassemblyError, disassemble
from softlab.cuda.machine_instructions import Disassembly, MachineInstruction
from softlab.emulator.ptx.linker import link
from softlab.emulator.ptx.parser import parsed
from softlab.instruments.scoreboards import waits
from softlab.traces import COUNTERS, InstructionCounters, Run


@dataclass(frozen=True)
class PtxLine:
    """One PTX instruction of the kernel.

    ``index`` in ``Run.instructions`` and in recorded accesses; ``line`` of the PTX text, from 1, and its ``text``;
    ``source``: the line of the listing's file to which it belongs (0: none); ``counters``, empty without a run;
    ``machine``: positions in ``Listing.machine`` of the instructions made from it. There is none if the assembler
    removed it or fused it into a wider access, and several if the assembler unrolled a loop.
    """

    index: int
    line: int
    text: str
    source: int
    counters: Mapping[str, int]
    machine: tuple[int, ...]


@dataclass(frozen=True)
class MachineLine:
    """One SASS ``instruction``, and the line of the listing's file to which it belongs (``source``, 0: none).

    ``waits``: (scoreboard, positions in ``Listing.machine`` of the instructions that may have set it) for each
    scoreboard that it waits for. It is empty where the control codes are not known.
    """

    instruction: MachineInstruction
    source: int
    waits: tuple[tuple[int, tuple[int, ...]], ...] = ()


@dataclass(frozen=True)
class SourceLine:
    """One line of the CUDA source.

    ``number`` from 1 and ``text``; ``counters`` of the run, summed over the line's PTX (as ``Run.by_line``), empty if
    it did nothing; ``ptx`` and ``machine``: positions in ``Listing.ptx`` and ``Listing.machine``, in order.
    """

    number: int
    text: str
    counters: Mapping[str, int]
    ptx: tuple[int, ...]
    machine: tuple[int, ...]


@dataclass(frozen=True)
class Listing:
    """A kernel in its three languages.

    ``lines``: all lines of ``file``; ``ptx``: the kernel's PTX instructions with device functions inlined; ``machine``:
    its SASS, empty if it is not available, and then ``why_no_machine_code`` says why. Code of headers belongs to the
    line of ``file`` that calls it.
    """

    file: str
    arch: str
    lines: tuple[SourceLine, ...]
    ptx: tuple[PtxLine, ...]
    machine: tuple[MachineLine, ...]
    why_no_machine_code: str = ""

    def heat(self, counter: str) -> tuple[int, ...]:
        """One counter of every source line, in order: 0 if the line did nothing.

        Raises:
            ValueError: there is no such counter.
        """
        if counter not in COUNTERS:
            raise ValueError(f"there is no counter {counter!r}; it is one of {', '.join(COUNTERS)}")
        return tuple(line.counters.get(counter, 0) for line in self.lines)


def listing(kernel: Any, run: Run | None = None) -> Listing:
    """The listing of a :class:`~softlab.Kernel`, or of a compiled program, with the counters of one of its runs.

    Missing machine code (no nvdisasm) is no error: the listing says why, and has the source and the PTX.
    """
    program: Program = getattr(kernel, "program", kernel)
    counters = run.instructions if run is not None else None
    image = link(parsed(program.ptx, program.file), program.entry)
    code, why = _machine_code(program)
    machine_lines = () if code is None else tuple(_machine_lines(code, program.file))
    machine = [line.instruction for line in machine_lines]
    made_from: dict[int, list[int]] = {}
    for position, instruction in enumerate(machine):
        made_from.setdefault(instruction.ptx_line, []).append(position)
    ptx = tuple(
        PtxLine(
            index,
            instruction.line,
            instruction.text,
            _source(tuple((f.file, f.line) for f in instruction.frames), program.file),
            _counted(counters, index),
            tuple(made_from.get(instruction.line, ())),
        )
        for index, instruction in enumerate(image.instructions)
        if instruction.text
    )
    return Listing(program.file, program.arch, _lines(program, run, ptx, machine_lines), ptx, machine_lines, why)


def _machine_code(program: Program) -> tuple[Disassembly | None, str]:
    try:
        return disassemble(program), ""
    except DisassemblyError as error:
        return None, str(error)


def _machine_lines(code: Disassembly, file: str) -> Iterator[MachineLine]:
    start = 0
    for function in code.functions:
        shown = [i for i in function.instructions if i.opcode != "NOP"]
        position = {i.address: start + number for number, i in enumerate(shown)}
        waited = waits(function, code.arch)
        for instruction in shown:
            yield MachineLine(
                instruction,
                _source(instruction.frames, file),
                tuple(
                    (wait.scoreboard, tuple(position[i.address] for i in wait.setters))
                    for wait in waited.get(instruction.address, ())
                ),
            )
        start += len(shown)


def _source(frames: tuple[tuple[str, int], ...], file: str) -> int:
    return next((line for name, line in frames if name == file), 0)


def _counted(counters: InstructionCounters | None, index: int) -> dict[str, int]:
    if counters is None:
        return {}
    return {name: int(value) for name, value in zip(COUNTERS, counters.counts[index], strict=True)}


def _lines(
    program: Program, run: Run | None, ptx: tuple[PtxLine, ...], machine: tuple[MachineLine, ...]
) -> tuple[SourceLine, ...]:
    by_line = run.by_line() if run is not None else {}
    of_ptx: dict[int, list[int]] = {}
    of_machine: dict[int, list[int]] = {}
    for position, instruction in enumerate(ptx):
        of_ptx.setdefault(instruction.source, []).append(position)
    for position, line in enumerate(machine):
        of_machine.setdefault(line.source, []).append(position)
    return tuple(
        SourceLine(
            number, text, by_line.get(number, {}), tuple(of_ptx.get(number, ())), tuple(of_machine.get(number, ()))
        )
        for number, text in enumerate(program.source.splitlines(), 1)
    )
