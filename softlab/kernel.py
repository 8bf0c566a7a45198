"""Any CUDA C++ kernel, launched on either executor: the emulator for NumPy arrays, the GPU for CUDA arrays."""

from __future__ import annotations

import re
import time
from collections.abc import Sequence
from functools import cached_property
from math import prod
from operator import index
from typing import Any

import numpy as np

from softlab.compile import Program, compile_program
from softlab.devices import Device
from softlab.errors import Error
from softlab.occupancies import occupancy
from softlab.structs import Struct, arrays_of
from softlab.traces import Accesses, Buffer, Run, Shuffles

#: Largest grid and block (CUDA C++ Programming Guide, "Compute Capabilities", the same since 3.0).
_GRID_LIMIT = (2**31 - 1, 65535, 65535)
_BLOCK_LIMIT = (1024, 1024, 64)
#: Blocks of a cluster that every GPU with clusters takes, and that some take where the launch allows it (CUDA C++
#: Programming Guide, "Thread Block Clusters").
_PORTABLE_CLUSTER, _LARGEST_CLUSTER = 8, 16
#: Seconds before a run shows a progress bar.
_PROGRESS_AFTER = 2.0


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
        source: CUDA C++. It may include CUB, ``cuda_fp16.h`` and softlab's own headers.
        name: an ``extern "C"`` kernel, or a template instantiation such as ``"copy<float, 4>"``.
        arch: the architecture to compile for, such as "sm_90".
        options: further NVRTC options.
        file: the name of the source in errors and by-line counts.

    Raises:
        CompileError: the source does not compile; the message has the compiler's log and the lines.
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
        self.program = compile_program(source, name, arch=arch, options=options, file=file)

    @classmethod
    def from_program(cls, program: Program) -> Kernel:
        """The kernel of a program that is compiled already."""
        kernel = cls.__new__(cls)
        kernel.program = program
        return kernel

    def __repr__(self) -> str:
        return f"Kernel({self.program.name!r}, arch={self.program.arch!r})"

    def run(
        self,
        grid: int | Sequence[int],
        block: int | Sequence[int],
        args: Sequence[Any] = (),
        smem: int = 0,
        check: bool = True,
        *,
        record: bool = True,
        blocks: Sequence[int] = (0,),
        budget: int = 2_000_000,
        warp_order: Sequence[int] | None = None,
        cooperative: bool = False,
    ) -> Run:
        """Launch the kernel and wait for it.

        Arguments:
            grid: number of blocks, an int or up to three; whole clusters where the kernel has ``__cluster_dims__``.
            block: threads a block, an int or up to three.
            args: one for each parameter: arrays for pointers, NumPy scalars of the parameter's type, Python ints and
                floats, which are converted to it, or ``softlab.structs.Struct`` for a struct. NumPy arrays run in the
                emulator and change in place; CuPy arrays (and other CUDA arrays) run on their GPU.
            smem: dynamic shared memory of a block in bytes.
            check: look for faults that a GPU would not report (emulator). Accesses out of bounds and misaligned ones
                are always found.
            record: count, and keep the accesses and shuffles of ``blocks`` (emulator). Without it the run is faster and
                has no counters.
            blocks: linear indices of the blocks whose accesses are kept.
            budget: instructions that some blocks together may issue before they count as endless (emulator).
            warp_order: the warps of a block in some order, such as (1, 0): each goes as far as it can, to a barrier or
                to its end, before the next begins (emulator). Default: all in lock step. A GPU may take any order, so a
                kernel whose result depends on it is wrong.
            cooperative: run all blocks of the grid at once, so that each may wait for any other. They must fit on the
                GPU, or on the largest that softlab knows of ``arch`` (emulator).

        Returns:
            The run: its counters, by-line counts and records; on a GPU these are empty.

        Raises:
            KernelFault: the kernel did what it must not; it has the kind, line, thread, block and address.
            UnsupportedInstruction: the emulator does not know an instruction that the kernel came to.
            TypeError, ValueError: arguments that do not fit the parameters, or a launch over the device's limits.
            Error: a cooperative launch of more blocks than the GPU holds at once.
        """
        shape = (_three("grid", grid, _GRID_LIMIT), _three("block", block, _BLOCK_LIMIT))
        smem = _count("smem", smem)
        self._check_limits(*shape, smem)
        args = tuple(args)
        if any(_on_gpu(array) for argument in args for array in arrays_of(argument)):
            return self._launch(*shape, args, smem, cooperative)
        if cooperative:
            self._check_all_held(*shape, smem)
        return self._emulate(
            *shape,
            args,
            smem,
            check=check,
            record=record,
            blocks=blocks,
            budget=budget,
            warp_order=warp_order,
            cooperative=cooperative,
        )

    def _check_limits(self, grid: tuple[int, int, int], block: tuple[int, int, int], smem: int) -> None:
        self._check_cluster(grid)
        device = Device.named(self.program.arch)
        threads = prod(block)
        if threads > device.max_threads_per_block:
            raise ValueError(
                f"block {block} has {threads} threads; a block of {self.program.arch} has at most "
                f"{device.max_threads_per_block}. Use a smaller block and more of them"
            )
        total = self.program.static_smem_bytes + smem
        if total > device.smem_per_block_optin:
            raise ValueError(
                f"a block needs {total} bytes of shared memory ({self.program.static_smem_bytes} static, {smem} "
                f"dynamic); {self.program.arch} has at most {device.smem_per_block_optin} a block. Keep less there"
            )

    def _check_all_held(self, grid: tuple[int, int, int], block: tuple[int, int, int], smem: int) -> None:
        """As the driver does before a cooperative launch."""
        device = Device.named(self.program.arch)
        held = occupancy(self.program, threads=prod(block), smem=smem)
        most = held.blocks_per_sm * device.sm_count
        if prod(grid) > most:
            raise Error(
                f"the grid {grid} has {prod(grid)} blocks, and a cooperative launch runs all of them at once; the "
                f"{device.name} holds {most}: {held.blocks_per_sm} on each of its {device.sm_count} SMs, limited by "
                f"{' and '.join(held.limiters)}. {held.reason or 'Launch fewer blocks, and let each do more'}"
            )

    def _check_cluster(self, grid: tuple[int, int, int]) -> None:
        cluster = self.cluster
        blocks = prod(cluster)
        if blocks > _LARGEST_CLUSTER:
            raise ValueError(
                f"clusters of {cluster} have {blocks} blocks; a cluster has at most {_LARGEST_CLUSTER}, and more than "
                f"{_PORTABLE_CLUSTER} not on every GPU that has clusters. Compile with smaller __cluster_dims__"
            )
        for axis, size, inner in zip("xyz", grid, cluster, strict=True):
            if size % inner:
                raise ValueError(
                    f"grid.{axis} is {size}, no multiple of {inner}, the kernel's clusters of {cluster} blocks along "
                    f"{axis}. Launch whole clusters: {-(-size // inner) * inner} blocks"
                )

    @cached_property
    def cluster(self) -> tuple[int, int, int]:
        """Blocks of a cluster along x, y and z, as ``__cluster_dims__`` has them; (1, 1, 1) without.

        Clusters need sm_90: for an older architecture the compiler refuses them. More than 8 blocks a cluster are not
        portable: they run in the emulator, and on a GPU where it allows them.
        """
        entry = re.escape(self.program.entry)
        found = re.search(rf"\.entry\s+{entry}\b[^{{]*\.reqnctapercluster\s+([\d, ]+)", self.program.ptx)
        sizes = [int(size) for size in found[1].split(",")] if found else []
        x, y, z = (*sizes, 1, 1, 1)[:3]
        return x, y, z

    # The emulator

    @cached_property
    def _emulated(self) -> Any:
        import softlab.emulator.opcodes  # noqa: F401 - importing registers
        from softlab.emulator.compiler import Program as EmulatedProgram
        from softlab.emulator.parser import parse

        return EmulatedProgram(parse(self.program.ptx, file=self.program.file), self.program.entry)

    @cached_property
    def _counted(self) -> Any:
        from softlab.instruments.counters import Counted

        return Counted.of(self._emulated.image, self._machine_code)

    @cached_property
    def _machine_code(self) -> Any:
        """What the assembler made of the accesses; None where nvdisasm is missing."""
        from softlab.disassembly import DisassemblyError, disassemble
        from softlab.instruments.machine_code import machine_code

        try:
            code = disassemble(self.program)
        except DisassemblyError:
            return None
        return machine_code(self._emulated.image, self._emulated.blocks, code)

    def _emulate(
        self,
        grid: tuple[int, int, int],
        block: tuple[int, int, int],
        args: tuple[Any, ...],
        smem: int,
        *,
        check: bool,
        record: bool,
        blocks: Sequence[int],
        budget: int,
        warp_order: Sequence[int] | None,
        cooperative: bool,
    ) -> Run:
        from softlab.emulator.launch import prepare
        from softlab.emulator.machine import run
        from softlab.instruments.cluster_hazards import ClusterHazards
        from softlab.instruments.counters import Counters
        from softlab.instruments.recorder import Recorder

        program = self._emulated
        counters = Counters(self._counted) if record else None
        recorder = Recorder(self.program.file, blocks, machine=self._machine_code) if record else None
        hazards = ClusterHazards() if check else None
        launch, mapped = prepare(
            program,
            grid,
            block,
            args,
            smem,
            file=self.program.file,
            sm_count=Device.named(self.program.arch).sm_count,
            check=check,
            budget=budget,
            warp_order=_order(warp_order, block),
            cooperative=cooperative,
            observers=[observer for observer in (hazards, counters, recorder) if observer is not None],
        )
        with _Progress(launch.blocks) as progress:
            lane_instructions = run(launch, progress)
        return Run(
            executor="emulator",
            grid=grid,
            block=block,
            arch=self.program.arch,
            file=self.program.file,
            source=self.program.source,
            buffers=tuple(Buffer(m.index, m.base, m.nbytes, m.dtype) for m in mapped),
            instructions=counters.result() if counters else None,
            shared=recorder.shared() if recorder else Accesses.empty(),
            global_=recorder.global_() if recorder else Accesses.empty(),
            shuffles=recorder.shuffles() if recorder else Shuffles.empty(),
            lane_instructions=lane_instructions,
            level="machine code" if record and self._machine_code else "PTX",
            fused=self._machine_code.fused if record and self._machine_code else (),
        )

    # The GPU

    def _launch(
        self,
        grid: tuple[int, int, int],
        block: tuple[int, int, int],
        args: tuple[Any, ...],
        smem: int,
        cooperative: bool,
    ) -> Run:
        import cupy

        from softlab import gpu

        given = [array for argument in args for array in arrays_of(argument)]
        if any(isinstance(array, np.ndarray) for array in given):
            raise TypeError(
                "args mix arrays on a GPU and NumPy arrays: move all of them to one side (cupy.asarray, x.get())"
            )
        with gpu.working_place(next(array for array in given if _on_gpu(array))):
            arrays = tuple(self._for_driver(i, a) for i, a in enumerate(args))
            gpu.launch(self.program, grid, block, arrays, smem, cooperative=cooperative)
            cupy.cuda.get_current_stream().synchronize()
        return Run(
            executor="gpu",
            grid=grid,
            block=block,
            arch=self.program.arch,
            file=self.program.file,
            source=self.program.source,
            buffers=tuple(
                Buffer(i, a.data.ptr, a.nbytes, a.dtype.name)
                for i, a in enumerate(arrays)
                if hasattr(a, "data") and not isinstance(a, np.generic)
            ),
        )

    def _for_driver(self, number: int, value: Any) -> Any:
        """An argument as the driver takes it; a Python number as the parameter's type."""
        from softlab import gpu
        from softlab.emulator.arguments import scalar_for_driver

        if isinstance(value, Struct):
            return value.with_arrays(gpu.as_cupy)
        if _on_gpu(value):
            return gpu.as_cupy(value)
        return scalar_for_driver(self._emulated.image, number, value)


def _order(given: Sequence[int] | None, block: tuple[int, int, int]) -> tuple[int, ...]:
    """A checked order of a block's warps; () for lock step."""
    if given is None:
        return ()
    warps = -(-block[0] * block[1] * block[2] // 32)
    order = tuple(index(warp) for warp in given)
    if sorted(order) != list(range(warps)):
        raise ValueError(
            f"warp_order = {order}: a block of {block} has the warps 0 to {warps - 1}; name each of them once"
        )
    return order


def _on_gpu(argument: Any) -> bool:
    if isinstance(argument, np.ndarray | np.generic | int | float | bytes):
        return False
    from softlab import gpu

    return gpu.is_cuda_array(argument)


def _count(name: str, value: Any) -> int:
    try:
        number = index(value)
    except TypeError:
        raise TypeError(f"{name} must be an integer, not {value!r}") from None
    if number < 0:
        raise ValueError(f"{name} = {number}: it must be 0 or more")
    return number


def _three(name: str, value: int | Sequence[int], limits: tuple[int, int, int]) -> tuple[int, int, int]:
    values = tuple(value) if isinstance(value, tuple | list) else (value,)
    if not 1 <= len(values) <= 3:
        raise ValueError(f"{name} {value!r} has {len(values)} sizes: give an int, or up to three")
    sizes = [_count(name, size) for size in values] + [1] * (3 - len(values))
    for axis, size, limit in zip("xyz", sizes, limits, strict=True):
        if not 1 <= size <= limit:
            raise ValueError(f"{name}.{axis} is {size}: it must be from 1 to {limit}")
    return sizes[0], sizes[1], sizes[2]


class _Progress:
    """A bar, on the terminal or in the notebook, for a run that takes more than 2 seconds."""

    def __init__(self, blocks: int) -> None:
        self._blocks = blocks
        self._done = 0
        self._start = time.monotonic()
        self._bar: Any = None

    def __enter__(self) -> _Progress:
        return self

    def __exit__(self, *error: object) -> None:
        if self._bar is not None:
            self._bar.close()

    def __call__(self, blocks: int) -> None:
        """So many more blocks are done."""
        self._done += blocks
        if self._bar is not None:
            self._bar.update(blocks)
        elif time.monotonic() - self._start > _PROGRESS_AFTER and self._done < self._blocks:
            from tqdm.auto import tqdm

            self._bar = tqdm(total=self._blocks, initial=self._done, unit="block", leave=False, desc="emulating")
