"""A kernel in the emulator: what it needs of one compilation, and of one run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import softlab.emulator.opcodes  # noqa: F401 - importing registers
from softlab.cuda.compile import Program
from softlab.cuda.disassembly import DisassemblyError, disassemble
from softlab.emulator.machine.arguments import Mapped
from softlab.emulator.machine.compiler import EmulatedProgram
from softlab.emulator.machine.launch import Launch
from softlab.emulator.machine.native import Choice
from softlab.emulator.machine.observers import Observer
from softlab.emulator.machine.prepare import prepare
from softlab.emulator.ptx.calls import is_vector_atomic
from softlab.emulator.ptx.parser import parsed
from softlab.emulator.ptx.syntax import Module
from softlab.findings import FaultSink
from softlab.hardware.devices import Device
from softlab.instruments.address_names import AddressNames
from softlab.instruments.cluster_hazards import ClusterHazards
from softlab.instruments.counters import CountedKernel, Counters
from softlab.instruments.global_hazards import GlobalHazards
from softlab.instruments.machine_code import MachineCode, machine_code
from softlab.instruments.object_bounds import ObjectBounds
from softlab.instruments.recorder import Recorder
from softlab.instruments.source_names import Parameter, parameters
from softlab.instruments.undefined import Undefined
from softlab.instruments.variables import may_leave_a_variable
from softlab.kernel.limits import LaunchShape, random_order, warp_order
from softlab.kernel.mangled_names import qualified_name
from softlab.kernel.records import program_fields
from softlab.kernel.variables import VariableStore
from softlab.traces import Accesses, Buffer, Run, Shuffles


@dataclass(frozen=True)
class EmulationOptions:
    """How to run: the keywords of :meth:`softlab.Kernel.run` that concern the emulator."""

    check: bool | str
    record: bool
    blocks: Sequence[int]
    budget: int
    warp_order: Sequence[int] | None
    random_order: int | None
    cooperative: bool
    compiled: Choice | None

    @property
    def collect(self) -> bool:
        """Whether faults are collected, and none is raised."""
        return self.check == "collect"


@dataclass(frozen=True)
class Emulation:
    """One run: its launch, the mapped arrays, and the observers that count and record (None without ``record``)."""

    launch: Launch
    mapped: tuple[Mapped, ...]
    counters: Counters | None
    recorder: Recorder | None


#: What a run of a kernel without machine code says about its counters.
COUNTED_BY_PTX = "counters by PTX: {compiler} compiled this kernel, and there is no machine code of it"


class EmulatedKernel:
    """A compiled kernel as the emulator runs it. Make it once per compilation.

    ``in_turns``: for warps that take turns in a random order.
    """

    def __init__(self, program: Program, *, in_turns: bool = False) -> None:
        self._compiled = program
        module = parsed(program.ptx, program.file)
        self.program = EmulatedProgram(module, program.entry, in_turns=in_turns, fused=program.fuses_products)

    @cached_property
    def machine_code(self) -> MachineCode | None:
        """What the assembler made of the accesses; None without nvdisasm."""
        try:
            code = disassemble(self._compiled, alone=True)
        except DisassemblyError:
            return None
        return machine_code(self.program.image, self.program.blocks, code)

    @cached_property
    def _counted(self) -> CountedKernel:
        return CountedKernel.of(self.program.image, self.machine_code)

    @cached_property
    def _parameters(self) -> tuple[Parameter, ...]:
        return parameters(self._compiled.source, self._compiled.name)

    @cached_property
    def names(self) -> AddressNames:
        """What the source calls the addresses of the kernel."""
        return AddressNames(self.program.image, self._compiled.source, self._compiled.file, self._parameters)

    @cached_property
    def module(self) -> Module:
        """The PTX that the kernel is a part of."""
        return self.program.image.module

    def prepare(
        self, shape: LaunchShape, args: Sequence[Any], options: EmulationOptions, variables: VariableStore | None = None
    ) -> Emulation:
        """All that one run needs.

        Raises:
            TypeError, ValueError: arguments that do not fit the parameters, or another order of the warps.
        """
        file = self._compiled.file
        counters = Counters(self._counted) if options.record else None
        recorder = Recorder(file, options.blocks, machine=self.machine_code) if options.record else None
        sink = FaultSink(collects=options.collect)
        hazards = self._hazards(sink) if options.check else []
        launch, mapped = prepare(
            self.program,
            shape.grid,
            shape.block,
            args,
            shape.smem,
            file=file,
            sm_count=Device.named(self._compiled.arch).sm_count,
            check=bool(options.check),
            budget=options.budget,
            warp_order=warp_order(options.warp_order, shape.block),
            random_order=random_order(options.random_order, options.warp_order),
            cooperative=options.cooperative,
            compiled=options.compiled,
            observers=[o for o in (*hazards, counters, recorder) if o is not None],
            sink=sink,
            names=self.names,
            child_observers=partial(self._of_child, sink) if options.check else None,
            variables=variables,
        )
        return Emulation(launch, mapped, counters, recorder)

    def _hazards(self, sink: FaultSink) -> list[Observer]:
        bounds = [ObjectBounds(self.names)] if may_leave_a_variable(self.program.image) else []
        undefined = [Undefined(self.program, self._compiled.source)] if self.program.tracked.registers else []
        return [*bounds, *undefined, ClusterHazards(), GlobalHazards(sink, self._parameters)]

    def _of_child(self, sink: FaultSink, program: EmulatedProgram) -> list[Observer]:
        """What looks for faults in a grid that device code launches."""
        undefined = [Undefined(program, self._compiled.source)] if program.tracked.registers else []
        return [*undefined, ClusterHazards(), GlobalHazards(sink, ())]

    @cached_property
    def _not_counted(self) -> tuple[str, ...]:
        """What the kernel does that no counter shows, or not as the hardware counts it."""
        functions = self.module.functions.values()
        vectors = any(is_vector_atomic(i) for f in functions for i in f.instructions or ())
        fetches = any(i.opcode in ("tex", "tld4", "suld", "sust") for i in self.program.image.instructions)
        bulk = any(i.opcode == "cp" and i.has("bulk") and i.operands for i in self.program.image.instructions)
        sentences = {
            COUNTED_BY_PTX.format(compiler=self._compiled.compiler): bool(self._compiled.clang),
            "accesses of textures and surfaces are not counted: no request, no sector": fetches,
            "bulk copies are not counted, with or without a tensor map: they make no request of L1": bulk,
            "an atomic on a vector is counted as one atomic per element": vectors,
        }
        return tuple(sentence for sentence, holds in sentences.items() if holds)

    def _of_counters(self, counters: Counters | None) -> tuple[str, ...]:
        """What the counters leave out or cannot know."""
        return (*counters.remarks.sentences(self._compiled.file), *self._not_counted) if counters else ()

    def result(self, emulation: Emulation, lane_instructions: int) -> Run:
        """The record of a run that is over."""
        counters, recorder, program = emulation.counters, emulation.recorder, self._compiled
        code = self.machine_code if recorder else None
        return Run(
            executor="emulator",
            grid=emulation.launch.grid,
            block=emulation.launch.block,
            buffers=tuple(Buffer(m.index, m.base, m.nbytes, m.dtype) for m in emulation.mapped),
            instructions=counters.result() if counters else None,
            estimated_instructions=counters.estimated if counters else 0,
            remarks=(*program.remarks, *_of_launches(emulation.launch), *self._of_counters(counters)),
            shared=recorder.shared() if recorder else Accesses.empty(),
            global_=recorder.global_() if recorder else Accesses.empty(),
            shuffles=recorder.shuffles() if recorder else Shuffles.empty(),
            lane_instructions=lane_instructions,
            level="machine code" if code else "PTX",
            fused=code.fused if code else (),
            smem_bytes=emulation.launch.dynamic_shared,
            findings=emulation.launch.sink.findings,
            **program_fields(program),
        )


def _of_launches(launch: Launch) -> tuple[str, ...]:
    """What to say of a kernel that launched kernels."""
    if not launch.started:
        return ()
    names = ", ".join(sorted({qualified_name(symbol) for symbol in launch.started}))
    return (
        f"device code launched {len(launch.started)} grids ({names}): each ran at its launch, and races are looked for "
        "within each grid alone. Counters and records are those of the kernel itself",
    )
