"""Module + entry -> :class:`Image`: one list of instructions with calls inlined (``calls.py``), a layout of memory."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from softlab.emulator.ptx.body import RESERVED_SHARED
from softlab.emulator.ptx.calls import Inliner, symbols_of
from softlab.emulator.ptx.syntax import (
    Function,
    Instruction,
    Module,
    Variable,
)
from softlab.errors import Error

#: Where each state space begins in the generic address space. Numbers of our own: no host memory is ever behind them.
PARAMETER_BASE = 0x0000_4000_0000_0000
FUNCTION_BASE = 0x0000_4800_0000_0000
MODULE_BASE = 0x0000_5000_0000_0000
ARGUMENT_BASE = 0x0000_6000_0000_0000
SHARED_WINDOW = 0x0000_7000_0000_0000
LOCAL_WINDOW = 0x0000_7100_0000_0000
WINDOW_BYTES = 1 << 32
#: In an address of ``shared::cluster`` the bits from here on are 0 for the block's own memory, else 1 + the rank of the
#: block of the cluster.
RANK_SHIFT = 24
#: cudaMalloc's alignment (CUDA C++ Programming Guide, "Device Memory Accesses": at least 256; 512 on every current
#: GPU).
ALLOCATION_ALIGN = 512
#: Unmapped bytes between two arrays, so that running off one is seen.
GUARD_BYTES = 1 << 24
#: Where dynamic shared memory may begin, so that it holds any type.
_DYNAMIC_ALIGN = 16
#: Between the addresses of two functions. Nothing is there.
_FUNCTION_BYTES = 16


@dataclass(frozen=True)
class Image:
    """A kernel ready to be cut into blocks.

    ``addresses`` maps a variable to its address in its own space (global and const: generic); ``spaces`` to its space;
    ``params`` are the kernel's parameters with their byte offsets; sizes are in bytes; ``cluster`` is the size of the
    thread-block clusters that the kernel was compiled for, None without.
    """

    name: str
    module: Module
    instructions: tuple[Instruction, ...]
    registers: dict[str, str]
    labels: dict[str, int]
    tables: dict[str, tuple[str, ...]]
    addresses: dict[str, int]
    spaces: dict[str, str]
    variables: tuple[Variable, ...]
    params: tuple[tuple[Variable, int], ...]
    param_bytes: int
    static_shared_bytes: int
    local_bytes: int
    cluster: tuple[int, int, int] | None = None

    @property
    def reserved_shared(self) -> range:
        """Where the driver's part of the shared memory is; empty without one."""
        start = self.addresses.get(RESERVED_SHARED.name)
        return range(0) if start is None else range(start, start + (RESERVED_SHARED.size or 0))


def link(module: Module, entry: str) -> Image:
    """The image of one kernel.

    Raises:
        Error: there is no such kernel in the module, or it needs a symbol that is not there.
        UnsupportedInstruction: a call that cannot be inlined.
    """
    function = module.functions.get(entry)
    if function is None or not function.entry or function.instructions is None:
        kernels = ", ".join(f.name for f in module.functions.values() if f.entry) or "none"
        raise Error(f"kernel {entry!r} is not in the PTX; it has {kernels}")
    flat = Inliner(module)
    flat.insert(function, {}, (), None, 0)
    layout = _Layout(module, function, flat)
    return Image(
        entry,
        module,
        tuple(flat.instructions),
        flat.registers,
        flat.labels,
        flat.tables,
        layout.addresses,
        layout.spaces,
        tuple(layout.in_global),
        tuple(layout.params),
        layout.param_bytes,
        layout.static_shared,
        _align(layout.local_bytes, 16),
        function.cluster,
    )


class _Layout:
    """The addresses of the variables that the instructions refer to."""

    def __init__(self, module: Module, function: Function, flat: Inliner) -> None:
        own = {v.name: v for v in flat.variables}
        names = _referenced(module, flat.instructions)
        variables = [v for name in names if (v := own.get(name) or module.variables.get(name))]
        self.params, self.param_bytes = _layout(function.params)
        self.addresses = {variable.name: PARAMETER_BASE + offset for variable, offset in self.params}
        self.spaces = {variable.name: "kernel-param" for variable in function.params}
        # The assembler lays them out in the order of declaration, not of use (seen in its machine code).
        declared = {name: number for number, name in enumerate(own)}
        shared = [v for v in variables if v.space == "shared"]
        self.static_shared = self._lay_out_shared(sorted(shared, key=lambda v: declared.get(v.name, len(declared))))
        self.local_bytes = self._lay_out_stack(variables)
        self.in_global = [v for v in variables if v.space in ("global", "const")]
        # The address of a variable is the same for all kernels of the module.
        addressed = {v.name: v for v in (*module.variables.values(), *self.in_global) if v.space in ("global", "const")}
        used, base = {v.name for v in self.in_global}, MODULE_BASE
        for variable in addressed.values():
            if variable.name in used:
                self.addresses[variable.name] = base
            base = _align(base + (variable.size or 0) + GUARD_BYTES, ALLOCATION_ALIGN)
        self.spaces.update({v.name: v.space for v in (*shared, *self.in_global)})
        defined = [f for f in module.functions.values() if f.instructions is not None]
        functions = [f.name for f in sorted(defined, key=lambda f: f.entry)]
        self.addresses.update({name: FUNCTION_BASE + _FUNCTION_BYTES * k for k, name in enumerate(functions)})

    def _lay_out_stack(self, variables: list[Variable]) -> int:
        """Local variables and those for the parameters of calls; returns their bytes."""
        own = (v for v in variables if v.space in ("local", "param") and v.name not in self.spaces)
        stack, nbytes = _layout(own)
        self.addresses.update({variable.name: offset for variable, offset in stack})
        self.spaces.update({variable.name: "local" for variable, _ in stack})
        return nbytes

    def _lay_out_shared(self, variables: list[Variable]) -> int:
        """Static variables one after the other, dynamic ones all at the end of those; returns the static bytes."""
        static, end = _layout(v for v in variables if v.size is not None)
        dynamic = [v for v in variables if v.size is None]
        if dynamic:
            end = _align(end, max(_DYNAMIC_ALIGN, *(v.align for v in dynamic)))
        self.addresses.update({variable.name: offset for variable, offset in static})
        self.addresses.update({variable.name: end for variable in dynamic})
        return end


def _align(offset: int, align: int) -> int:
    return -(-offset // align) * align


def _layout(variables: Iterable[Variable]) -> tuple[list[tuple[Variable, int]], int]:
    laid_out, offset = [], 0
    for variable in variables:
        offset = _align(offset, variable.align)
        laid_out.append((variable, offset))
        offset += variable.size or 0
    return laid_out, offset


def _referenced(module: Module, instructions: Iterable[Instruction]) -> list[str]:
    """Names of all variables that the instructions, or the initialisers of such variables, speak of; in order."""
    names = list(dict.fromkeys(s for i in instructions for operand in i.operands for s in symbols_of(operand)))
    for name in names:  # grows while it runs
        variable = module.variables.get(name)
        further = [relocation.symbol for relocation in variable.relocations] if variable else []
        further += _of_kernel(module, name)
        names += [symbol for symbol in dict.fromkeys(further) if symbol not in names]
    return names


def _of_kernel(module: Module, name: str) -> list[str]:
    """The global variables and the functions that a function names: it may be a kernel that device code launches."""
    function = module.functions.get(name)
    named = (
        s for i in (function and function.instructions) or () for operand in i.operands for s in symbols_of(operand)
    )
    return [
        symbol
        for symbol in named
        if symbol in module.functions
        or (symbol in module.variables and module.variables[symbol].space in ("global", "const"))
    ]
