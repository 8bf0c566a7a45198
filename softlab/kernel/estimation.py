"""The estimate of a launch: which blocks, their streams from the machine code, and the timing model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from softlab.cuda.structs import Struct
from softlab.emulator.machine.arguments import Mapped
from softlab.hardware.devices import Device
from softlab.kernel.arguments import checked_arguments
from softlab.kernel.limits import LaunchShape, check_launch
from softlab.timing import model
from softlab.timing.estimates import Estimate
from softlab.timing.sampling import Sample, witness

if TYPE_CHECKING:
    from softlab.kernel.kernel import Kernel
    from softlab.sass.streams import WarpStream

_SECTOR = 32
#: Additions and multiplications that a lane does in one machine instruction of single precision.
_FP32_OPERATIONS = {"FADD": 1, "FMUL": 1, "FFMA": 2}


@dataclass(frozen=True)
class SampledLaunch:
    """A launch whose sampled blocks were interpreted: estimates of it for several devices and caches are cheap."""

    launch: model.Timed
    sample: Sample
    streams: tuple[WarpStream, ...]

    def estimate(self, device: Device | str | None = None, cache: str = "cold") -> Estimate:
        """The estimate for a device with as many SMs and as much of each SM as the one it was sampled for."""
        found = model.estimate(self.launch, self.streams, self.sample, model.device_of(device), cache)
        return replace(found, fp32_operations=self._fp32_operations())

    def _fp32_operations(self) -> float:
        """Of the whole launch, if all blocks are like those of the sample."""
        code = model.machine_function(self.launch.program).instructions
        weights = np.array([_FP32_OPERATIONS.get(one.opcode, 0) for one in code])
        done = sum(int(np.bitwise_count(s.active) @ weights[s.instructions]) for s in self.streams)
        return done * self.launch.blocks / len({s.block for s in self.streams}) if self.streams else 0.0


def sample_launch(
    kernel: Kernel, grid: Any, block: Any, args: Sequence[Any], smem: int, device: Device | str | None,
    sample: int | Sequence[int] | None = None,
) -> SampledLaunch:  # fmt: skip
    """Choose the blocks of a launch and interpret their machine code. The arrays stay as they are."""
    from softlab.sass import interpret

    gpu = model.device_of(device)
    shape = LaunchShape.of(grid, block, smem)
    check_launch(kernel.program, shape)
    given = [_on_host(argument) for argument in checked_arguments(kernel.program, args)]
    launch = model.Timed(kernel.program, shape.grid, shape.block, shape.smem, (), kernel.cluster)
    chosen = model.sample_of(launch, gpu, sample)
    blocks = sorted({*chosen.blocks, *(witness(chosen, launch.blocks, prod(kernel.cluster)) if sample is None else ())})
    found = interpret(kernel, shape.grid, shape.block, given, smem=shape.smem, blocks=blocks)
    launch = replace(launch, extents=_extents(found.mapped))
    return SampledLaunch(launch, chosen, tuple(found.streams))


def _on_host(argument: Any) -> Any:
    """An array of a GPU as a copy on the host; everything else as it is."""
    if isinstance(argument, Struct):
        return argument.with_arrays(_on_host)
    return argument.get() if hasattr(argument, "get") and hasattr(argument, "__cuda_array_interface__") else argument


def _extents(mapped: Sequence[Mapped]) -> tuple[tuple[int, int], ...]:
    """The first and last sector of each array."""
    return tuple(sorted({(m.base // _SECTOR, (m.base + m.nbytes - 1) // _SECTOR) for m in mapped if m.nbytes}))
