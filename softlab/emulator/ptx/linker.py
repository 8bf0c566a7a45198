"""Module + entry -> :class:`Image`: one list of instructions, with calls inlined, and a layout of memory."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property

from softlab.emulator.ptx.syntax import (
    Address,
    Frame,
    Function,
    Instruction,
    Module,
    Operand,
    Pair,
    Register,
    Symbol,
    Variable,
    Vector,
)
from softlab.emulator.ptx.unsupported import unsupported
from softlab.errors import Error, UnsupportedInstruction

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
#: Device functions that the machine brings itself.
BUILTINS = ("vprintf", "__assertfail", "malloc", "free")
#: Where dynamic shared memory may begin, so that it holds any type.
_DYNAMIC_ALIGN = 16
_MAX_DEPTH = 64
#: Between the addresses of two functions. Nothing is there.
_FUNCTION_BYTES = 16
#: A recursive function is copied into itself so often: as deep as these many copies allow, at most that deep.
_RECURSIVE_COPIES, _DEEPEST_RECURSION = 512, 128


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
    flat = _Inliner(module)
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

    def __init__(self, module: Module, function: Function, flat: _Inliner) -> None:
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
        # The place of a variable is the same for all kernels of the module.
        places = {v.name: v for v in (*module.variables.values(), *self.in_global) if v.space in ("global", "const")}
        used, base = {v.name for v in self.in_global}, MODULE_BASE
        for variable in places.values():
            if variable.name in used:
                self.addresses[variable.name] = base
            base = _align(base + (variable.size or 0) + GUARD_BYTES, ALLOCATION_ALIGN)
        self.spaces.update({v.name: v.space for v in (*shared, *self.in_global)})
        functions = (f.name for f in module.functions.values() if f.instructions is not None and not f.entry)
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


def _target(call: Instruction) -> Operand:
    """The function that a call names, behind its results."""
    return call.operands[1] if isinstance(call.operands[0], Vector) and len(call.operands) > 1 else call.operands[0]


def _symbols(operand: Operand) -> Iterable[str]:
    if isinstance(operand, Symbol):
        yield operand.name
    elif isinstance(operand, Address) and isinstance(operand.base, Symbol):
        yield operand.base.name
    elif isinstance(operand, Vector):
        for element in operand.elements:
            yield from _symbols(element)


def _referenced(module: Module, instructions: Iterable[Instruction]) -> list[str]:
    """Names of all variables that the instructions, or the initialisers of such variables, speak of; in order."""
    names = list(dict.fromkeys(s for i in instructions for operand in i.operands for s in _symbols(operand)))
    for name in names:  # grows while it runs
        variable = module.variables.get(name)
        for relocation in variable.relocations if variable else ():
            if relocation.symbol not in names:
                names.append(relocation.symbol)
    return names


class _Inliner:
    """Puts each called function's body at the call, with names of its own.

    Parameters need no copy: the callee's ``.param`` variables become those that the caller filled.
    """

    def __init__(self, module: Module) -> None:
        self.module = module
        self.instructions: list[Instruction] = []
        self.registers: dict[str, str] = {}
        self.labels: dict[str, int] = {}
        self.tables: dict[str, tuple[str, ...]] = {}
        self.variables: list[Variable] = []
        self.copies = 0
        self.calls: list[str] = []
        self._depths: dict[str, int] = {}
        self._shared: set[str] = set()

    def insert(
        self, function: Function, rename: dict[str, str], site: tuple[Frame, ...], end: str | None, depth: int
    ) -> None:
        suffix = f"#{self.copies}" if depth else ""
        self.copies += 1
        self.calls.append(function.name)
        for name, kind in function.registers.items():
            self.registers[name + suffix] = kind
        for variable in function.variables:
            own = variable if variable.space == "shared" else replace(variable, name=variable.name + suffix)
            if own.name not in self._shared:
                self.variables.append(own)
            if own.space == "shared":
                self._shared.add(own.name)
            rename = {**rename, variable.name: own.name}
        rename = {**rename, **{label: label + suffix for label in (*function.labels, *function.tables)}}
        for name, targets in function.tables.items():
            self.tables[name + suffix] = tuple(t + suffix for t in targets)
        at: dict[int, list[str]] = {}
        for label, index in function.labels.items():
            at.setdefault(index, []).append(label + suffix)
        for index, instruction in enumerate(function.instructions or ()):
            for label in at.get(index, ()):
                self.labels[label] = len(self.instructions)
            own_instruction = _renamed(instruction, suffix, rename, site)
            if instruction.opcode == "call":
                self._call(own_instruction, depth)
            elif instruction.opcode in ("bar", "barrier") and instruction.has("red"):
                self._block_vote(own_instruction)
            elif instruction.opcode == "ret" and end is not None:
                self._emit(own_instruction, opcode="bra", modifiers=(), operands=(Symbol(end),))
            else:
                self.instructions.append(own_instruction)
        for label in at.get(len(function.instructions or ()), ()):
            self.labels[label] = len(self.instructions)
        self.calls.pop()

    def _unsupported(self, call: Instruction, why: str) -> UnsupportedInstruction:
        return unsupported(call, why, file=self.module.file)

    def _emit(self, instruction: Instruction, **changes: object) -> None:
        self.instructions.append(replace(instruction, **changes))  # type: ignore[arg-type]

    def _block_vote(self, instruction: Instruction) -> None:
        """``bar.red`` as a barrier to which each thread brings its predicate, and after it the read of the result."""
        result, *arguments = instruction.operands
        self._emit(instruction, modifiers=("sync", "red"), operands=tuple(arguments))
        mode = next((m for m in instruction.modifiers if m in ("popc", "and", "or")), "")
        self._emit(instruction, opcode="barred", modifiers=(mode,), operands=(result,), text="")

    def _call(self, call: Instruction, depth: int) -> None:
        operands = list(call.operands)
        first = operands[0]
        results = first.elements if isinstance(first, Vector) else ()
        operands = operands[1:] if isinstance(first, Vector) else operands
        target = operands[0]
        arguments = operands[1].elements if len(operands) > 1 and isinstance(operands[1], Vector) else ()
        if isinstance(target, Register):
            self._call_through(call, target, results, arguments, depth)
            return
        if not isinstance(target, Symbol) or target.name not in self.module.functions:
            raise self._unsupported(call, "its target is no function of the PTX")
        callee = self.module.functions[target.name]
        if callee.instructions is None:
            if callee.name not in BUILTINS:
                raise self._unsupported(call, f"the device function {callee.name} has no body in the PTX")
            self._emit(call, opcode=callee.name, modifiers=(), operands=(*results, *arguments))
            return
        if callee.name in self.calls and self._is_deep(callee, depth):
            self._emit(call, opcode="call", modifiers=("recursion",), operands=())  # refused where a lane gets there
            return
        if depth > _MAX_DEPTH + _DEEPEST_RECURSION:  # before Python's own limit
            raise self._unsupported(call, f"calls are nested more than {_MAX_DEPTH + _DEEPEST_RECURSION} deep")
        end = f"$end#{self.copies}"
        if call.guard is not None:
            self._emit(call, opcode="bra", modifiers=(), operands=(Symbol(end),), negated=not call.negated)
        self._insert_call(call, callee, results, arguments, end, depth)
        self.labels[end] = len(self.instructions)

    def _insert_call(
        self,
        call: Instruction,
        callee: Function,
        results: tuple[Operand, ...],
        arguments: tuple[Operand, ...],
        end: str,
        depth: int,
    ) -> None:
        names: dict[str, str] = {}
        for parameters, values in ((callee.results, results), (callee.params, arguments)):
            if len(parameters) != len(values):
                raise unsupported(call, f"{callee.name} has {len(parameters)} such operands, the call {len(values)}")
            for parameter, value in zip(parameters, values, strict=True):
                if not isinstance(value, Symbol):
                    raise self._unsupported(call, "call operands must be .param variables")
                names[parameter.name] = value.name
        self.insert(callee, names, call.frames, end, depth + 1)

    def _call_through(
        self,
        call: Instruction,
        target: Register,
        results: tuple[Operand, ...],
        arguments: tuple[Operand, ...],
        depth: int,
    ) -> None:
        """A call of a function pointer: each function that it may be, behind a comparison with its address.

        These are the functions whose address is taken somewhere, with as many parameters.
        """
        end = f"$end#{self.copies}"
        if call.guard is not None:
            self._emit(call, opcode="bra", modifiers=(), operands=(Symbol(end),), negated=not call.negated)
        plain = replace(call, guard=None, negated=False)
        for callee in self._targets:
            if (len(callee.params), len(callee.results)) != (len(arguments), len(results)):
                continue
            other = Register(f"%other#{self.copies}", "pred")
            self.registers[other.name] = "pred"
            after = f"$other#{self.copies}"
            self._emit(plain, opcode="setp", modifiers=("ne", "u64"), operands=(other, target, Symbol(callee.name)))
            self._emit(plain, opcode="bra", modifiers=(), operands=(Symbol(after),), guard=other)
            if callee.name in self.calls and self._is_deep(callee, depth):
                self._emit(plain, opcode="call", modifiers=("recursion",), operands=())
            else:
                self._insert_call(plain, callee, results, arguments, end, depth)
                self._emit(plain, opcode="bra", modifiers=(), operands=(Symbol(end),))
            self.labels[after] = len(self.instructions)
        self._emit(plain, opcode="call", modifiers=("nothing",), operands=())
        self.labels[end] = len(self.instructions)

    @cached_property
    def _targets(self) -> list[Function]:
        """The functions whose address is taken, by an instruction or by the initialiser of a variable."""
        functions = self.module.functions
        taken = {r.symbol for v in self.module.variables.values() for r in v.relocations}
        for function in functions.values():
            for i in function.instructions or ():
                if i.opcode != "call":
                    taken.update(s for operand in i.operands for s in _symbols(operand))
        return [f for f in functions.values() if f.name in taken and not f.entry and f.instructions is not None]

    def _is_deep(self, callee: Function, depth: int) -> bool:
        return depth >= _DEEPEST_RECURSION or self.calls.count(callee.name) >= self._deepest(callee)

    def _deepest(self, callee: Function) -> int:
        """How often a function may stand in itself: its calls of itself multiply at each level."""
        if callee.name not in self._depths:
            through = sum(i.opcode == "call" and isinstance(_target(i), Register) for i in callee.instructions or ())
            again = through * len(self._targets) + self._ways_back(callee.name, callee.name, frozenset())
            depth, copies = 1, again
            while copies <= _RECURSIVE_COPIES and depth < _DEEPEST_RECURSION:
                depth, copies = depth + 1, copies * max(1, again) if again > 1 else 1
            self._depths[callee.name] = depth
        return self._depths[callee.name]

    def _ways_back(self, name: str, wanted: str, seen: frozenset[str]) -> int:
        """Calls in a function, or in those that it calls, that lead to the wanted function."""
        found = 0
        for i in self.module.functions[name].instructions or ():
            target = _target(i) if i.opcode == "call" else None
            if isinstance(target, Symbol) and target.name in self.module.functions:
                if target.name == wanted:
                    found += 1
                elif target.name not in seen:
                    found += self._ways_back(target.name, wanted, seen | {name})
        return found


def _renamed(instruction: Instruction, suffix: str, rename: dict[str, str], site: tuple[Frame, ...]) -> Instruction:
    if not suffix and not rename:
        return instruction

    def register(r: Register) -> Register:
        return Register(r.name + suffix, r.type)

    def operand(o: Operand) -> Operand:
        if isinstance(o, Register):
            return register(o)
        if isinstance(o, Symbol):
            return Symbol(rename.get(o.name, o.name))
        if isinstance(o, Address):
            return Address(operand(o.base), o.offset)  # type: ignore[arg-type]
        if isinstance(o, Vector):
            return Vector(tuple(operand(e) for e in o.elements))
        if isinstance(o, Pair):
            return Pair(o.first and register(o.first), o.second and register(o.second))
        return o

    return replace(
        instruction,
        operands=tuple(operand(o) for o in instruction.operands),
        guard=instruction.guard and register(instruction.guard),
        frames=instruction.frames + site,
    )
