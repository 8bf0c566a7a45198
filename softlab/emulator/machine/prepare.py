"""A program and its arguments -> a :class:`~softlab.emulator.machine.launch.Launch`."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

import numpy as np

from softlab.emulator import INSTRUCTION_BUDGET
from softlab.emulator.machine.arguments import Mapped, pack
from softlab.emulator.machine.compiler import EmulatedProgram
from softlab.emulator.machine.faults import Index3, SourceNames
from softlab.emulator.machine.launch import Launch
from softlab.emulator.machine.native import Choice, compiled_blocks
from softlab.emulator.machine.observers import Observer
from softlab.emulator.memory.allocations import Allocations
from softlab.emulator.ptx.linker import LOCAL_WINDOW, PARAMETER_BASE, SHARED_WINDOW, Image
from softlab.emulator.ptx.syntax import Variable
from softlab.errors import Error
from softlab.findings import FaultSink

#: Shared memory that a block can have on any GPU, and local memory per thread (CUDA C++ Programming Guide, "Compute
#: Capabilities"); for module variables a limit of our own.
_MOST_SHARED_BYTES = 227 << 10
_MOST_LOCAL_BYTES = 512 << 10
_MOST_VARIABLE_BYTES = 1 << 30
#: Shared and local memory of all blocks of a cooperative launch, which exist at the same time: a limit of our own.
_MOST_BYTES_AT_ONCE = 2 << 30
#: Bytes of the workspace of a cooperative launch.
_WORKSPACE_BYTES = 8
#: Blocks of a cluster where the launch allows more than the portable 8, and the compute capability that brought them.
_MOST_CLUSTER, _FIRST_WITH_CLUSTERS = 16, 90


def prepare(
    program: EmulatedProgram,
    grid: Index3,
    block: Index3,
    arguments: Sequence[Any],
    dynamic_shared: int = 0,
    *,
    file: str = "kernel.cu",
    sm_count: int = 132,
    check: bool = False,
    budget: int = INSTRUCTION_BUDGET,
    warp_order: Sequence[int] = (),
    random_order: int | None = None,
    cooperative: bool = False,
    compiled: Choice | None = None,
    observers: Sequence[Observer] = (),
    sink: FaultSink | None = None,
    names: SourceNames | None = None,
    variables: VariableValues | None = None,
    child_observers: Callable[[EmulatedProgram], Sequence[Observer]] | None = None,
) -> tuple[Launch, tuple[Mapped, ...]]:
    """The launch, and where the array arguments are mapped. Without ``variables``, they are as initialised.

    Raises:
        TypeError, ValueError: as :func:`softlab.emulator.machine.arguments.pack`.
        Error: the kernel's own variables take more memory than any GPU gives, or those of all blocks of a cooperative
            launch more than the emulator does.
    """
    _check_sizes(program.image, dynamic_shared)
    _check_cluster(program.image, grid)
    memory = Allocations()
    parameters, mapped = pack_and_map(program.image, arguments, memory, variables)
    memory.add(np.frombuffer(parameters, np.uint8), name="the parameters", base=PARAMETER_BASE, writeable=False)
    launch = Launch(
        *(program, grid, block, parameters, memory, dynamic_shared, file, sm_count),
        check=check,
        budget=budget,
        warp_order=tuple(warp_order),
        random_order=random_order,
        cooperative=cooperative,
        compiled=compiled_blocks(compiled),
        grid_workspace=_map_workspace(memory) if cooperative else 0,
        observers=tuple(observers),
        sink=sink or FaultSink(),
        names=names,
        child_observers=child_observers or (lambda program: ()),
    )
    _check_cooperative(launch)
    return launch, mapped


def _map_workspace(memory: Allocations) -> int:
    """The address of what the driver gives to the grid of a cooperative launch.

    ``grid_workspace`` in ``cooperative_groups/details/driver_abi.h``: the size, and the word of the grid's barrier.
    """
    words = np.array([_WORKSPACE_BYTES, 0], np.uint32)
    return memory.add(words.view(np.uint8), name="the workspace of cooperative groups")


def _check_cooperative(launch: Launch) -> None:
    """All blocks of a cooperative launch have their memory at the same time."""
    total = launch.blocks * launch.bytes_per_block
    if launch.cooperative and total > _MOST_BYTES_AT_ONCE:
        raise Error(
            f"a cooperative launch runs all {launch.blocks} blocks at once, and they take {total} bytes of shared and "
            f"local memory ({launch.bytes_per_block} each); the emulator gives at most {_MOST_BYTES_AT_ONCE}. Launch "
            "fewer blocks, or let a thread keep less in arrays of its own"
        )


def _check_sizes(image: Image, dynamic_shared: int) -> None:
    """Before memory is taken for them: no PTX, however damaged, may exhaust the host."""
    shared = image.static_shared_bytes - len(image.reserved_shared) + dynamic_shared
    sizes = (
        ("shared memory per block", shared, _MOST_SHARED_BYTES),
        ("local memory per thread", image.local_bytes, _MOST_LOCAL_BYTES),
        ("global and constant variables", sum(v.size or 0 for v in image.variables), _MOST_VARIABLE_BYTES),
    )
    for what, size, most in sizes:
        if not 0 <= size <= most:
            raise Error(f"{image.name} needs {size} bytes of {what}; the emulator gives at most {most}")


def _check_cluster(image: Image, grid: Index3) -> None:
    cluster = image.cluster or (1, 1, 1)
    if any(size < 1 for size in cluster) or cluster[0] * cluster[1] * cluster[2] > _MOST_CLUSTER:
        raise Error(f"{image.name} has clusters of {cluster} blocks; a cluster has 1 to {_MOST_CLUSTER}")
    if any(size % inner for size, inner in zip(grid, cluster, strict=True)):
        raise Error(f"{image.name} has clusters of {cluster} blocks, and a grid of {grid} is no multiple of that")
    target = re.match(r"sm_(\d+)", image.module.target)
    if image.cluster and target and int(target[1]) < _FIRST_WITH_CLUSTERS:
        raise Error(
            f"{image.name} has clusters of {cluster} blocks; {image.module.target} has none: sm_90 and later do"
        )


class VariableValues(Protocol):
    """What variables hold between launches, by symbol."""

    @property
    def pointers(self) -> Mapping[str, Sequence[tuple[int, Any]]]:
        """The arrays whose addresses stand in a variable, with their offsets in it."""

    def data(self, symbol: str) -> np.ndarray | None:
        """(size,) uint8, to use in place; None while the variable holds its initialiser."""

    def keep(self, symbol: str, content: np.ndarray) -> None:
        """The kernel may write these bytes of a variable."""


def pack_and_map(
    image: Image, arguments: Sequence[Any], memory: Allocations, values: VariableValues | None = None
) -> tuple[bytes, tuple[Mapped, ...]]:
    """Map the arguments and the module's variables; returns the bytes of the parameters, and the mapped arrays.

    ``values``: what the variables hold; by default each has its initialiser.
    """
    pointers = {v.name: values.pointers.get(v.name, ()) for v in image.variables} if values is not None else {}
    arrays = [array for held in pointers.values() for _, array in held]
    parameters, mapped, found = pack(image, arguments, memory, arrays)
    addresses = iter(found)
    for variable in image.variables:
        data = values.data(variable.name) if values is not None else None
        data = _initial(image, variable) if data is None else data
        for offset, _ in pointers.get(variable.name, ()):
            data[offset : offset + 8] = np.frombuffer(next(addresses).to_bytes(8, "little"), np.uint8)
        if values is not None and variable.space != "const":
            values.keep(variable.name, data)
        memory.add(
            data,
            name=f"variable {variable.name}",
            base=image.addresses[variable.name],
            writeable=variable.space != "const",
        )
    return parameters, mapped


def _initial(image: Image, variable: Variable) -> np.ndarray:
    """The bytes of a variable's initialiser."""
    windows = {"shared": SHARED_WINDOW, "local": LOCAL_WINDOW}
    data = np.zeros(variable.size or 0, np.uint8)
    data[: len(variable.data)] = np.frombuffer(variable.data, np.uint8)
    for relocation in variable.relocations:
        address = image.addresses.get(relocation.symbol, 0) + relocation.addend
        if relocation.generic:
            address += windows.get(image.spaces.get(relocation.symbol, ""), 0)
        raw = (address & (1 << 8 * relocation.size) - 1).to_bytes(relocation.size, "little")
        data[relocation.offset : relocation.offset + relocation.size] = np.frombuffer(raw, np.uint8)
    return data
