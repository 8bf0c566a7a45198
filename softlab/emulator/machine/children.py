"""Runs a grid that device code launches, with the memory of the launch that it is a part of."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from softlab.emulator.machine.launch import Launch
from softlab.emulator.memory.child_grids import ChildGrid
from softlab.emulator.ptx.linker import PARAMETER_BASE
from softlab.errors import Error

#: cudaErrorInvalidConfiguration (driver_types.h).
_INVALID_CONFIGURATION = 9
#: Threads of a block, and how deep launches nest (CUDA C++ Programming Guide, "Compute Capabilities" and "Dynamic
#: Parallelism").
_MOST_THREADS, _DEEPEST = 1024, 24


def start(launch: Launch, run: Callable[[Launch], int], child: ChildGrid) -> int:
    """Run a grid that a kernel of ``launch`` launches; returns the error code of its launch. ``run`` runs a launch.

    Raises:
        KernelFault: the grid did what it must not.
        Error: launches nest too deep, or the function is no kernel.
    """
    module = launch.program.image.module
    names = {launch.program.image.addresses[f.name]: f.name for f in module.functions.values() if f.instructions}
    function = module.functions.get(names.get(child.function, ""))
    if function is None or not function.entry:
        raise Error(f"device code launches {child.function:#x}, which is no kernel of the program")
    if launch.depth >= _DEEPEST:
        raise Error(f"{launch.program.image.name} launches {function.name} more than {_DEEPEST} launches deep")
    threads = child.block[0] * child.block[1] * child.block[2]
    if not (all(child.grid) and 0 < threads <= _MOST_THREADS):
        return _INVALID_CONFIGURATION
    program = launch.program.of_entry(function.name)
    parameters = child.parameters[: program.image.param_bytes]
    inner = replace(
        launch,
        program=program,
        grid=child.grid,
        block=child.block,
        parameters=parameters,
        dynamic_shared=child.shared,
        warp_order=(),
        cooperative=False,
        grid_workspace=0,
        observers=tuple(launch.child_observers(program)),
        names=None,
        depth=launch.depth + 1,
    )
    launch.started.append(function.name)
    outer = launch.memory.replace(PARAMETER_BASE, np.frombuffer(parameters, np.uint8))
    try:
        run(inner)
    finally:
        launch.memory.replace(PARAMETER_BASE, outer)
    return 0
