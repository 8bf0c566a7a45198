"""The public kernel: compiled once, launched in the emulator or on a GPU."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

from softlab.cuda.compile import Program
from softlab.cuda.disassembly import begin_disassembly
from softlab.cuda.structs import arrays_of
from softlab.emulator import INSTRUCTION_BUDGET
from softlab.kernel.arguments import checked_arguments
from softlab.kernel.files import compile_file, compile_text, sibling_of
from softlab.kernel.layouts import Layouts
from softlab.kernel.limits import (
    LaunchShape,
    check_cooperative,
    check_launch,
    cluster_of,
    instruction_budget,
    recorded_blocks,
)
from softlab.kernel.on_gpu import GpuKernel, is_on_gpu
from softlab.kernel.options import check_modes, checked_options
from softlab.kernel.progress import ProgressBar
from softlab.kernel.records import Launched
from softlab.kernel.variables import Variables, VariableStore
from softlab.traces import Run

if TYPE_CHECKING:
    from softlab.hardware.devices import Device
    from softlab.instruments.step_record import StepRecord
    from softlab.kernel.emulation import EmulatedKernel
    from softlab.timing.estimates import Estimate
    from softlab.timing.what_if import WhatIf


def _unpickled(program: Program, held: Mapping[str, Any]) -> Kernel:
    kernel = Kernel.from_program(program)
    if held:
        kernel.variables.hold(held)
    return kernel


class Kernel:
    """A compiled CUDA C++ kernel.

    >>> k = softlab.Kernel('extern "C" __global__ void twice(float* x) { x[threadIdx.x] *= 2; }', "twice")
    >>> x = np.arange(4, dtype=np.float32)
    >>> run = k.run(grid=1, block=4, args=(x,))
    >>> x
    array([0., 2., 4., 6.], dtype=float32)
    >>> run.counters["global_load_requests"]
    1

    Arguments:
        source: CUDA C++. It may include CUB, ``cuda_fp16.h`` and softlab's own headers. Where NVRTC refuses it for code
            of the host, or for what nvcc includes by itself, it is read as :meth:`from_file` reads a file.
        name: an ``extern "C"`` kernel, or a template instantiation such as ``"copy<float, 4>"``.
        arch: the architecture to compile for, such as "sm_90". A source of sm_90 that has ``wgmma`` or ``setmaxnreg``
            is compiled for sm_90a, since only that has these instructions.
        options: further NVRTC options. The architecture is none of them: give ``arch``.
        file: the name of the source in errors and by-line counts.

    Raises:
        CompileError: the source does not compile; the message has the compiler's log and the lines.
        ValueError: an option names an architecture, or the source has a NUL character.
        TypeError: the source or the name is no string, or ``options`` is no sequence of strings.
    """

    def __init__(
        self,
        source: str,
        name: str,
        *,
        arch: str = "sm_90",
        options: Sequence[str] = (),
        file: str = "kernel.cu",
    ) -> None:
        options = checked_options(options)
        self.program = compile_text(source, name, arch=arch, options=options, file=file)
        begin_disassembly(self.program)

    @classmethod
    def from_file(
        cls,
        path: str | os.PathLike[str],
        name: str | None = None,
        *,
        arch: str = "sm_90",
        options: Sequence[str] = (),
        files: Sequence[str | os.PathLike[str]] = (),
    ) -> Kernel:
        """A kernel of a .cu file as it is, with host code and all.

        The host's functions, variables and launches are left out; lines keep their numbers. Headers beside the file are
        read the same way. A header that is not there is taken from a folder such as ``include`` further up, or from the
        same checkout where one alone is nearest: ``run.remarks`` says which. Standard headers give what device code
        uses of them. Of a file with more than 16 kernels the other ones are left out, with their variables.

        Arguments:
            path: the file.
            name: the kernel, with template arguments where it has them: ``"copy<float, 4>"``. It may be left out where
                the file has one kernel, and template arguments where the host launches one instantiation.
            arch, options: as for ``Kernel``.
            files: further files of the program, which define functions or variables of the device that this file
                declares. Without them, the one file in the checkout that defines such a name is taken, or the nearest
                one: ``run.remarks`` says which. The kernels of these files are left out.

        Raises:
            CompileError: the kernel does not compile.
            TypeError: ``files`` or ``options`` is a string.
            ValueError: it is not clear which kernel is meant; the message lists the kernels, and the launches in the
                host code.
            OSError: the file cannot be read.
        """
        options = checked_options(options)
        if isinstance(files, str | os.PathLike):
            raise TypeError(f"files must be a list of paths, not {files!r}")
        kernel = cls.from_program(compile_file(path, name, arch=arch, options=options, files=files))
        begin_disassembly(kernel.program)
        return kernel

    @classmethod
    def from_ptx(
        cls,
        text: str,
        name: str | None = None,
        *,
        arch: str | None = None,
        source: str | None = None,
        file: str = "kernel.ptx",
    ) -> Kernel:
        """A kernel of PTX that any compiler has made: Triton's, CuTe DSL's, nvcc's.

        The emulator runs the PTX as it is. With NVIDIA's assembler (``pip install 'softlab[ptx]'``) it also gets
        machine code, so that counters, registers and estimates are those of the machine code; ``run.level`` says which.
        Without it ``program.registers`` is 0, and on a GPU the driver compiles the PTX.

        Arguments:
            text: the PTX.
            name: the kernel's symbol, or its name in C++ where one kernel has it. It may be left out where the PTX has
                one kernel.
            arch: the architecture; by default the PTX's ``.target``.
            source: the text that the ``.loc`` lines speak of. Without it, lines are those of the PTX.
            file: the name of the source in errors and by-line counts.

        Raises:
            Error: the text is not PTX that the emulator takes; the message names the line.
            ValueError: it is not clear which kernel is meant; the message lists the kernels. No target.
        """
        from softlab.kernel.ptx import ptx_program

        return cls.from_program(ptx_program(text, name, arch=arch, source=source, file=file))

    @classmethod
    def from_program(cls, program: Program, variables: VariableStore | None = None) -> Kernel:
        """The kernel of a program that is compiled already. ``variables``: those of another kernel, to share."""
        kernel = cls.__new__(cls)
        kernel.program = program
        if variables is not None:
            kernel.variables = variables
        return kernel

    def sibling(self, name: str) -> Kernel:
        """Another kernel of the same source. Both use the same ``__constant__`` and ``__device__`` variables.

        Kernels that are made one by one have variables of their own, also those of one file.

        Arguments:
            name: as for ``Kernel``; for a kernel of a file, the name with its template arguments.

        Raises:
            CompileError: the source has no such kernel.
        """
        kernel = Kernel.from_program(sibling_of(self.program, name), self.variables)
        self.variables.add(kernel._emulated.module.variables)
        return kernel

    @cached_property
    def variables(self) -> VariableStore:
        """What the variables of the module hold, by symbol: :attr:`constants` and :attr:`globals` give them by name."""
        return VariableStore(self._emulated.module.variables)

    @cached_property
    def constants(self) -> Variables:
        """The ``__constant__`` variables: ``k.constants["filter"] = values``, as the host does it before a launch.

        Names are those of the source; namespaces may be left out where the rest is clear. The dtype and the shape are
        those of the declaration: values must have them, Python numbers are converted. ``k.constants["filter", :9]``
        writes a part. A struct takes a dict or a tuple; a pointer takes an array. The values stay until they are
        written again or :meth:`reset` is called, and both executors use them. :meth:`sibling` gives a kernel that
        shares them.
        """
        return Variables(self.variables, self.layouts, self.program, "const")

    @cached_property
    def globals(self) -> Variables:
        """The ``__device__`` variables, read and written as :attr:`constants`. A kernel may change them.

        An array that is assigned to a pointer stands there at the beginning of each launch. An address that a kernel
        stores has no meaning in a later launch of the emulator.
        """
        return Variables(self.variables, self.layouts, self.program, "global")

    def reset(self) -> None:
        """Give all variables their initial values again."""
        self.variables.reset()

    @cached_property
    def layouts(self) -> Layouts | None:
        """The types of the source; None for PTX without one."""
        return Layouts(self.program) if self.program.is_compiled_here else None

    def __reduce__(self) -> tuple[Any, ...]:
        """A pickled kernel is its program and what its variables hold. It shares them with no other kernel any more."""
        return _unpickled, (self.program, self.variables.held() if "variables" in vars(self) else {})

    def __repr__(self) -> str:
        return f"Kernel({self.program.name!r}, arch={self.program.arch!r})"

    def run(
        self,
        grid: int | Sequence[int],
        block: int | Sequence[int],
        args: Sequence[Any] = (),
        smem: int = 0,
        check: bool | str = True,
        *,
        record: bool = True,
        blocks: Sequence[int] = (0,),
        budget: int = INSTRUCTION_BUDGET,
        warp_order: Sequence[int] | None = None,
        random_order: int | None = None,
        cooperative: bool = False,
        compiled: Literal["none", "hot", "all"] | None = None,
    ) -> Run:
        """Launch the kernel and wait for it.

        Arguments:
            grid: number of blocks, an int or up to three; whole clusters where the kernel has ``__cluster_dims__``.
            block: threads per block, an int or up to three.
            args: one for each parameter: arrays for pointers, NumPy scalars of the parameter's type, Python ints and
                floats, which are converted to it, a dict or a tuple of the fields for a struct such as ``float3``, a
                list of arrays for an array of pointers (``float**``), or None for a null pointer. An array must have
                the dtype of the declared type: float32 for ``float*``; for a pointer to a struct its fields, as
                ``numpy.dtype([...], align=True)`` has them, or numbers of any dtype. NumPy arrays run in the emulator
                and change in place; CuPy arrays (and other CUDA arrays) run on their GPU.
            smem: dynamic shared memory per block in bytes.
            check: look for faults that a GPU would not report, such as races in shared and global memory (emulator):
                True raises the first error; warnings are in ``run.findings``. "collect" raises none and keeps all:
                the run goes on, loads out of bounds give 0, and stores out of bounds are left out. False: accesses out
                of bounds and misaligned ones are still found and raised. The compiler often drops a local variable
                that has no value. A kernel compiled with options=["-G"] keeps and shows all of them.
            record: count, and record the accesses and shuffles of ``blocks`` (emulator). Without it the run is faster
                and has no counters.
            blocks: linear indices of the blocks whose accesses are recorded, each in the grid.
            budget: PTX instructions, 1 or more, that a batch of blocks may issue before the run is an infinite loop
                (emulator). A loop that provably never ends is reported at once.
            warp_order: the warps of a block in some order, such as (1, 0) (emulator). Each runs to its next barrier or
                to its end before the next one starts. Default: all in lock step. A GPU may take any order, so a kernel
                whose result depends on it is wrong.
            random_order: the number of an order in which the warps of all blocks take turns that are drawn (emulator).
                A turn ends at a branch, an atomic, a fence or a strong access. Blocks that find each other by flags,
                counts or locks may have a race that only some orders show, so try several numbers. Blocks of one batch
                take turns; those of a cooperative launch are one batch. The run is slower.
            cooperative: run all blocks of the grid at once, so that each may wait for any other. They must fit on the
                GPU, or on the largest one of ``arch`` that softlab knows (emulator).
            compiled: which blocks of code llvmlite compiles (emulator): "hot" ones, which run often, "all" or "none".
                Results, counters and faults are the same. Default: hot ones where llvmlite is installed.

        Returns:
            The run: its counters, by-line counts and records; on a GPU these are empty. Where lanes poll a word, an
            mbarrier or a clock, only the polls that may find a change run and are counted. A GPU counts more.

        Raises:
            KernelFault: the kernel made an error; it has the kind, line, thread, block, address and symbol. A race has
                the line, thread and block of both accesses. With check="collect" nothing is raised.
            UnsupportedInstruction: the emulator does not know an instruction that the kernel executes.
            TypeError, ValueError: arguments that do not fit the parameters, or a launch over the device's limits.
            Error: a cooperative launch of more blocks than the GPU holds at once.
        """
        check_modes(compiled=compiled, check=check, record=record, cooperative=cooperative)
        shape = LaunchShape.of(grid, block, smem)
        check_launch(self.program, shape)
        args = checked_arguments(self.program, args, self.layouts)
        if any(is_on_gpu(array) for argument in args for array in arrays_of(argument)):
            launched = Launched.of(self.program, self.variables, args)
            return replace(self._gpu.launch(shape, args, cooperative), launched=launched)
        if cooperative:
            check_cooperative(self.program, shape)
        from softlab.emulator.machine import machine
        from softlab.kernel.emulation import EmulationOptions

        recorded, most = recorded_blocks(blocks, shape.grid), instruction_budget(budget)
        options = EmulationOptions(check, record, recorded, most, warp_order, random_order, cooperative, compiled)
        emulated = self._emulated if random_order is None else self._emulated_in_turns
        emulation = emulated.prepare(shape, args, options, self.variables)
        with ProgressBar(emulation.launch.blocks) as progress:
            lane_instructions = machine.run(emulation.launch, progress)
        result = emulated.result(emulation, lane_instructions)
        unset = self.variables.never_written(emulated.program.image.variables, self.program)
        launched = Launched.of(self.program, self.variables, args)
        return replace(result, remarks=(*result.remarks, *unset), launched=launched)

    def estimate(
        self,
        grid: int | Sequence[int],
        block: int | Sequence[int],
        args: Sequence[Any] = (),
        *,
        smem: int = 0,
        device: Device | str | None = "H200",
        cache: str = "cold",
        sample: int | Sequence[int] | None = None,
        what_if: str = "",
        timeline: bool = False,
    ) -> Estimate:
        """How long a launch takes on a GPU, what bounds it and what each line waits for. It needs no GPU.

        Some blocks are interpreted from their machine code, and one SM is simulated with them (:mod:`softlab.timing`).
        The arrays stay as they are. :meth:`run` finds more faults: races, and indices that are bad in the source alone.

        Arguments:
            grid, block, args, smem: as for :meth:`run`.
            device: "H200" or "H100"; another GPU of compute capability 9.0 says "not validated".
            cache: "cold" (L2 holds nothing of the arrays) or "warm" (it holds what fits).
            sample: how many blocks are simulated, or which ones; by default up to four waves of one SM.
            what_if: "no bank conflicts", "twice the occupancy", "infinite L2" or "free barriers": the same launch with
                that change (:data:`softlab.timing.what_if.CHANGES`). "" changes nothing.
            timeline: whether the estimate has a ``timeline``: what each warp of the simulated SM does in which cycle.

        Raises:
            UnsupportedInstruction: the machine code has an instruction that softlab does not interpret.
            UnknownInstruction: it has one that the timing model has no pipe for.
            EstimateError: a kernel for another architecture, or blocks that wait for others and are too many.
            KernelFault: an interpreted block accesses memory out of bounds or misaligned, fails an assertion, or never
                ends; with the argument and the element where the address lies in or near an array.
            DisassemblyError: nvdisasm is missing.
            TypeError, ValueError: as for :meth:`run`; a GPU of another compute capability, or another ``cache``.
        """
        from softlab.kernel.estimation import sample_launch

        sampled = sample_launch(self, grid, block, args, smem, device, sample, (what_if,) if what_if else ())
        return sampled.estimate(device, cache, what_if=what_if, timeline=timeline)

    def what_if(
        self,
        grid: int | Sequence[int],
        block: int | Sequence[int],
        args: Sequence[Any] = (),
        *,
        smem: int = 0,
        device: Device | str | None = "H200",
        cache: str = "cold",
    ) -> WhatIf:
        """The estimate of a launch beside those with each change of :data:`softlab.timing.what_if.CHANGES`.

        The record says what each change gains, and which wait goes away. Arguments and errors as for :meth:`estimate`.
        """
        from softlab.kernel.estimation import sample_launch
        from softlab.timing.what_if import CHANGES

        return sample_launch(self, grid, block, args, smem, device, None, tuple(CHANGES)).what_if(device, cache)

    def steps(
        self,
        grid: int | Sequence[int],
        block: int | Sequence[int],
        args: Sequence[Any] = (),
        *,
        smem: int = 0,
        of: int = 0,
        warp: int = 0,
        limit: int | None = None,
        cooperative: bool = False,
    ) -> StepRecord:
        """Run the kernel in the emulator and record each PTX instruction of one warp. The arrays stay as they are.

        >>> record = kernel.steps(1, 64, (x, y, 64), warp=1)
        >>> record.at(12).values  # the bits of all registers after 12 steps, (registers, 32) uint64

        Arguments:
            grid, block, args, smem, cooperative: as for :meth:`run`.
            of, warp: the linear index of the block, and the number of the warp in it.
            limit: steps that are recorded at most (200 000 by default); ``truncated`` of the record says so where the
                warp makes more.

        Raises:
            TypeError, ValueError: as for :meth:`run`; or the launch has no such block or warp. A fault of the kernel is
                not raised: the record ends there, and its ``fault`` says what it was.
        """
        from softlab.instruments.step_record import MOST_STEPS, record

        shape = LaunchShape.of(grid, block, smem)
        check_launch(self.program, shape)
        if cooperative:
            check_cooperative(self.program, shape)
        checked, most = checked_arguments(self.program, args, self.layouts), MOST_STEPS if limit is None else limit
        return record(
            *(self.program, shape.grid, shape.block, checked, shape.smem),
            of=of, warp=warp, limit=most, cooperative=cooperative, variables=self.variables,
        )  # fmt: skip

    @cached_property
    def cluster(self) -> tuple[int, int, int]:
        """Blocks per cluster along x, y and z, as ``__cluster_dims__`` has them; (1, 1, 1) without.

        Clusters need sm_90: for an older architecture the compiler refuses them. More than 8 blocks per cluster are not
        portable: they run in the emulator, and on a GPU that allows them.
        """
        return cluster_of(self.program)

    @cached_property
    def _emulated(self) -> EmulatedKernel:
        from softlab.kernel.emulation import EmulatedKernel

        return EmulatedKernel(self.program)

    @cached_property
    def _emulated_in_turns(self) -> EmulatedKernel:
        from softlab.kernel.emulation import EmulatedKernel

        return EmulatedKernel(self.program, in_turns=True)

    @cached_property
    def _gpu(self) -> GpuKernel:
        return GpuKernel(self.program, self._emulated.program.image, self.variables)
