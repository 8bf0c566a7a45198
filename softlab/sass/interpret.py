"""Interpret the machine code of some blocks of a launch."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from math import prod
from typing import Any, Protocol

import numpy as np

import softlab.sass.opcodes  # noqa: F401 - importing registers
from softlab.cuda.compile import Program
from softlab.cuda.disassembly import disassemble
from softlab.emulator.machine.arguments import Mapped
from softlab.emulator.machine.prepare import VariableValues, pack_and_map
from softlab.emulator.memory.allocations import Allocations
from softlab.emulator.memory.heap import HEAP_BYTES
from softlab.emulator.ptx.linker import Image, link
from softlab.emulator.ptx.parser import parsed
from softlab.errors import EstimateError
from softlab.hardware.devices import Device
from softlab.sass.calls import DriverCalls, function_handles, may_recurse
from softlab.sass.constants import PARAMETERS_ADDRESS, RESERVED_SHARED, Constants, Given, first_bank
from softlab.sass.cubin import Cubin
from softlab.sass.decode import Code, Instruction, decode
from softlab.sass.lanes import WARP
from softlab.sass.loop_frames import BadAddress
from softlab.sass.machine import Machine
from softlab.sass.memory import MOST_LOCAL_BYTES, GlobalMemory, Stacks
from softlab.sass.setup import Index3, Setup
from softlab.sass.steps import Steps
from softlab.sass.streams import Streams
from softlab.sass.taking import Dealing

#: The architecture whose machine code is known.
ARCHITECTURE = "sm_90"
#: Instructions that all interpreted warps together may issue, and that each may issue on average: some 50 ms of a GPU.
BUDGET, _OF_WARP = 200_000_000, 20_000_000
_STACK_ALIGN = 16
_ADDRESS_OF_PARAMETERS = f"c[0x0][{PARAMETERS_ADDRESS:#x}]"
#: What the driver gives to the grid of a cooperative launch: the bytes of the workspace, and the word of the grid's
#: barrier (``grid_workspace`` in ``cooperative_groups/details/driver_abi.h``).
_WORKSPACE = np.array([8, 0], np.uint32).view(np.uint8)


class CompiledKernel(Protocol):
    """What :class:`softlab.Kernel` is here."""

    program: Program


@dataclass(frozen=True)
class Interpretation:
    """What the interpreted blocks executed, and what they wrote.

    ``code``: the decoded instructions; ``WarpStream.instructions`` are indices into it. ``streams``: one per warp, the
    blocks in the order of their linear indices. ``blocks``: these indices, without those that were given up.
    ``driver_calls``: the driver's functions
    that were called, such as ``vprintf``, whose instructions are not in the streams. ``stack_bytes``: the largest stack
    of a thread, where functions call themselves; else 0. ``places``: (address, bytes) of each array of the arguments,
    those in structs and tables of pointers among them, and of each variable in global memory: the sectors of
    ``streams`` are in them.
    """

    code: tuple[Instruction, ...]
    streams: Streams
    blocks: tuple[int, ...]
    driver_calls: tuple[str, ...]
    stack_bytes: int
    places: tuple[tuple[int, int], ...]
    _memory: GlobalMemory = field(repr=False)
    _arrays: dict[int, tuple[Mapped, np.ndarray]] = field(repr=False)

    @cached_property
    def executed(self) -> np.ndarray:
        """How often warps issued each instruction of ``code``, in ``streams``: int64."""
        return np.bincount(self.streams.instructions, minlength=len(self.code)).astype(np.int64)

    @property
    def instructions(self) -> int:
        """Instructions that the warps issued: Nsight Compute's ``smsp__inst_executed.sum`` of these blocks."""
        return int(self.executed.sum() + self.streams.beyond.sum())

    def let_go(self) -> None:
        """Nobody will ask for an :meth:`output`: later launches may have the memory."""
        self._memory.let_go()

    def output(self, argument: int) -> np.ndarray:
        """A copy of an array argument as the interpreted blocks left it, of the argument's shape and dtype."""
        if argument not in self._arrays:
            raise ValueError(f"argument {argument} is no array; the arrays are {sorted(self._arrays)}")
        mapped, array = self._arrays[argument]
        data = self._memory.content_at(mapped.base, mapped.nbytes) if mapped.nbytes else np.zeros(0, np.uint8)
        return data.view(array.dtype).reshape(array.shape)


@dataclass(frozen=True)
class _Compiled:
    """What is the same for all launches of a program.

    ``banks``: constant banks that are the same, but for what variables hold. ``stack``: bytes of a thread's stack.
    ``idle``: machines that have ended a launch. ``parameters``: of each its offset in PTX and in the constant bank, and
    its size. ``asks_for_parameters``: whether an instruction reads their address.
    """

    image: Image
    code: Code
    cubin: Cubin
    recursive: bool
    handles: Mapping[int, int]
    banks: Mapping[int, bytes]
    steps: Steps
    stack: int
    idle: list[Machine]
    parameters: tuple[tuple[int, int, int], ...]
    asks_for_parameters: bool


@lru_cache(maxsize=32)
def _compiled(program: Program) -> _Compiled:
    if not program.arch.startswith(ARCHITECTURE):
        raise EstimateError(
            f"no estimate of {program.name}: it is compiled for {program.arch}, and the machine code of {ARCHITECTURE} "
            f'alone is known. Compile it with arch="{ARCHITECTURE}"; of a plan: plan for device="H200"'
        )
    image = link(parsed(program.ptx, program.file), program.entry)
    instructions = disassemble(program, alone=True)  # says what is missing where there is no machine code
    cubin = Cubin(program.cubin)
    functions = cubin.functions_of(program.entry)
    handles = function_handles(functions, cubin.constant_bank(2, program.entry, {}) or b"")
    code = decode(instructions, functions, program.file)
    known = {image.addresses[name]: handle for name, handle in handles.items() if name in image.addresses}
    addresses = image.addresses | handles
    of_driver = addresses | DriverCalls(cubin.undefined, None).addresses
    banks = {number: cubin.constant_bank(number, program.entry, of_driver) for number in (2, 3, 4)}
    return _Compiled(
        replace(image, addresses=addresses),
        code,
        cubin,
        may_recurse(code),
        known,
        {number: bytes(data) for number, data in banks.items() if data is not None},
        Steps(),
        _stack(program, cubin),
        [],
        _parameters(image, cubin, program.entry),
        any(_ADDRESS_OF_PARAMETERS in operand for one in code.instructions for operand in one.machine.operands),
    )


def interpret(
    kernel: CompiledKernel,
    grid: int | Sequence[int],
    block: int | Sequence[int],
    args: Sequence[Any] = (),
    *,
    smem: int = 0,
    blocks: Sequence[int] | None = None,
    budget: int | None = None,
    variables: VariableValues | None = None,
    paced: bool = False,
    sharers: int = 0,
    **watched: Any,
) -> Interpretation:
    """Interpret the machine code of a launch. The arrays stay as they are.

    Arguments:
        kernel: compiled for sm_90. grid, block: blocks of the grid and threads per block, ints or up to three each.
        args: one for each parameter, as :meth:`softlab.Kernel.run` takes them (NumPy arrays).
        smem: dynamic shared memory per block in bytes.
        blocks: linear indices of the blocks to interpret. Whole clusters are interpreted. None: all.
        budget: instructions that all warps together may issue; by default 20 million per warp, 200 million at most. A
            launch that issues more is taken for one that never ends. watched: as :meth:`Machine.run` takes it.
        variables: what the kernel's variables hold; by default each has its initialiser. They stay as they are.
        paced: what has taken the least time goes on first (:mod:`softlab.sass.pace`), as blocks that wait for each
            other need it. Else all go on together as far as they can.
        sharers: the number of blocks that take work from the same counters (:mod:`softlab.sass.taking`). The
            interpreted blocks get their part of it. 0: they take all work.

    Raises:
        UnsupportedInstruction: an instruction that is executed is not known; it names the line.
        KernelFault: an access out of bounds or misaligned, or blocks that wait for ever.
        EstimateError: the program is for another architecture.
        TypeError, ValueError: arguments that do not fit the parameters, or blocks that are not in the grid.
    """
    shape = kernel.program, _three(grid), _three(block), smem, blocks, budget, sharers
    try:
        return _interpreted_launch(*shape, args, variables, paced, True, watched)
    except BadAddress:
        return _interpreted_launch(*shape, args, variables, paced, False, watched)


def _interpreted_launch(
    program: Program,
    grid: Index3,
    block: Index3,
    smem: int,
    blocks: Sequence[int] | None,
    budget: int | None,
    sharers: int,
    args: Sequence[Any],
    variables: VariableValues | None,
    paced: bool,
    loops: bool,
    watched: dict[str, Any],
) -> Interpretation:
    """As :func:`interpret`.

    Arguments:
        loops: whether loops are compiled. Where an address is bad, the machine says which one if it does all itself.
    """
    compiled, memory = _compiled(program), Allocations()
    values = _Unchanged(variables, compiled.handles) if variables is not None else None
    parameters, mapped = pack_and_map(compiled.image, args, memory, values)
    setup = _setup(program, grid, block, smem, blocks, budget, parameters, memory)
    if sharers:
        setup = replace(setup, dealing=Dealing(setup.blocks, sharers))
    with _machine(compiled) as machine:
        machine.begin(setup, paced=paced, loops=loops)
        machine.run(**watched)
        return _interpretation(machine, compiled.image, mapped, args)


@contextmanager
def _machine(compiled: _Compiled) -> Iterator[Machine]:
    """A machine for the code that nobody uses. After a fault it is not used again."""
    machine = compiled.idle.pop() if compiled.idle else Machine(compiled.code, compiled.steps)
    yield machine
    machine.end()
    compiled.idle.append(machine)


def _interpretation(machine: Machine, image: Image, mapped: Sequence[Mapped], args: Sequence[Any]) -> Interpretation:
    """What a machine has executed."""
    setup = machine.setup
    variables = [(image.addresses[one.name], one.size or 0) for one in image.variables if one.space == "global"]
    arrays = {m.index: (m, args[m.index]) for m in mapped if isinstance(args[m.index], np.ndarray)}
    streams, blocks = machine.log.streams(), setup.interpreted[~machine.left_out].tolist()
    return Interpretation(
        machine.code.instructions,
        streams if len(blocks) == setup.blocks else streams.of_blocks(blocks),
        tuple(blocks),
        tuple(setup.driver.called),
        machine.local.used if isinstance(machine.local, Stacks) else 0,
        (*((m.base, m.nbytes) for m in mapped), *variables),
        setup.memory,
        arrays,
    )


def _setup(
    program: Program,
    grid: Index3,
    block: Index3,
    smem: int,
    blocks: Sequence[int] | None,
    budget: int | None,
    parameters: bytes,
    memory: Allocations,
) -> Setup:
    """The launch as the machine takes it: its shape, constants and memory."""
    compiled = _compiled(program)
    cluster = compiled.image.cluster or (1, 1, 1)
    driver = _driver(compiled.cubin, memory)
    stack = MOST_LOCAL_BYTES if compiled.recursive else compiled.stack
    sms, workspace = Device.named(program.arch).sm_count, memory.add(_WORKSPACE, name="the workspace of the grid")
    chosen = _interpreted(blocks, grid, cluster)
    if budget is None:
        budget = min(BUDGET, _OF_WARP * len(chosen) * -(-prod(block) // WARP))
    parameters = _placed(compiled, parameters)
    constants = any(variable.space == "const" for variable in compiled.image.variables)
    given = Given(stack, smem, sms, workspace, constants, _address(compiled, parameters, memory))
    first = first_bank(grid, block, compiled.image.cluster, parameters, given)
    return Setup(
        grid,
        block,
        cluster,
        chosen,
        _constants(compiled, first, memory),
        GlobalMemory(memory),
        RESERVED_SHARED + _static_bytes(compiled.image) + smem,
        smem,
        stack,
        sms,
        budget,
        compiled.recursive,
        driver,
    )


def _parameters(image: Image, cubin: Cubin, kernel: str) -> tuple[tuple[int, int, int], ...]:
    """Of each parameter its offset in PTX and in the constant bank, and its size."""
    known = cubin.parameters_of(kernel)
    return tuple((offset, *known[number]) for number, (_, offset) in enumerate(image.params) if number in known)


def _placed(compiled: _Compiled, parameters: bytes) -> bytes:
    """The parameters as they lie in the constant bank. parameters: as they lie in PTX."""
    if all(one == other for one, other, _ in compiled.parameters):
        return parameters
    placed = bytearray(max(other + size for _, other, size in compiled.parameters))
    for one, other, size in compiled.parameters:
        placed[other : other + size] = parameters[one : one + size]
    return bytes(placed)


def _address(compiled: _Compiled, parameters: bytes, memory: Allocations) -> int | None:
    """Where the parameters are for instructions that go by their address; None where none does."""
    if not compiled.asks_for_parameters:
        return None
    return memory.add(np.frombuffer(parameters, np.uint8), name="the parameters", writeable=False)


def _static_bytes(image: Image) -> int:
    """Static shared memory of a block in whole units, without what the driver reserves."""
    return -(-(image.static_shared_bytes - len(image.reserved_shared)) // 16) * 16


def _driver(cubin: Cubin, memory: Allocations) -> DriverCalls:
    """The functions of the driver that the code names, and a heap if it may ask for memory."""
    names = cubin.undefined
    heap = memory.add(np.zeros(HEAP_BYTES, np.uint8), name="the heap of malloc") if "malloc" in names else None
    return DriverCalls(names, heap)


class _Unchanged:
    """The values of variables for a launch that must not change them.

    ``handles``: the emulator's address of a device function -> its address in the machine code.
    """

    def __init__(self, values: VariableValues, handles: Mapping[int, int]) -> None:
        self._values, self._handles = values, handles
        self.pointers = values.pointers

    def data(self, symbol: str) -> np.ndarray | None:
        found = self._values.data(symbol)
        if found is None:
            return None
        data = found.copy()
        words = data[: len(data) // 8 * 8].view(np.uint64)
        for address, handle in self._handles.items():
            words[words == address] = handle
        return data

    def keep(self, symbol: str, content: np.ndarray) -> None:
        pass


def _three(size: int | Sequence[int]) -> Index3:
    sizes = (size,) if isinstance(size, int | np.integer) else tuple(size)
    if not 1 <= len(sizes) <= 3:
        raise ValueError(f"{size!r}: give an int or up to three")
    x, y, z = (*(int(s) for s in sizes), 1, 1)[:3]
    return x, y, z


def _stack(program: Program, cubin: Cubin) -> int:
    nbytes = max(program.local_bytes, cubin.stack_bytes(program.entry))
    return -(-nbytes // _STACK_ALIGN) * _STACK_ALIGN


def _interpreted(blocks: Sequence[int] | None, grid: Index3, cluster: Index3) -> np.ndarray:
    total = prod(grid)
    if blocks is None:
        return np.arange(total)
    chosen = np.sort(np.asarray(blocks, np.int64).reshape(-1))
    chosen = chosen[np.concatenate((np.ones(min(1, len(chosen)), bool), chosen[1:] != chosen[:-1]))]
    if not len(chosen) or chosen[0] < 0 or chosen[-1] >= total:
        raise ValueError(f"blocks {list(blocks)[:8]}: give at least one, each from 0 to {total - 1}")
    if prod(cluster) == 1:
        return chosen
    x, y, _ = grid
    first = [c // n * n for c, n in zip((chosen % x, chosen // x % y, chosen // (x * y)), cluster, strict=True)]
    inner = np.indices(cluster).reshape(3, -1)
    return np.unique(
        (first[0][:, None] + inner[0]) + x * ((first[1][:, None] + inner[1]) + y * (first[2][:, None] + inner[2]))
    )


def _constants(compiled: _Compiled, first: tuple[bytearray, bytes], memory: Allocations) -> Constants:
    zero, known = first
    banks: dict[int, bytes | bytearray] = {**compiled.banks, 0: zero}
    variables = compiled.cubin.variables_of(".nv.constant3")
    if 3 in banks and variables:  # the values that the variables have now
        held = {a.name.removeprefix("variable "): a for a in memory.all}
        values = banks[3] = bytearray(banks[3])
        for name, (offset, size) in variables.items():
            if name in held:
                content = held[name].data[:size].tobytes()
                values[offset : offset + len(content)] = content
    return Constants(banks, known)
