"""Calls: each called function's body stands at the call, with names of its own."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from functools import cached_property

from softlab.emulator.ptx.syntax import (
    DTYPES,
    Address,
    Frame,
    Function,
    Immediate,
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
from softlab.emulator.ptx.wide import OPCODES, WIDE, halves, split_wide
from softlab.errors import UnsupportedInstruction

#: Device functions that the machine brings itself.
BUILTINS = ("vprintf", "__assertfail", "malloc", "free", "__cudaCDP2GetParameterBufferV2", "__cudaCDP2LaunchDeviceV2")
_MAX_DEPTH = 64
#: A recursive function is copied into itself so often: as deep as these many copies allow, at most that deep.
_RECURSIVE_COPIES, _DEEPEST_RECURSION = 512, 128
#: A function that calls itself in several places: instructions of all its levels together, which take about two seconds
#: to prepare, and levels that a long function has in any case.
_INSTRUCTIONS_OF_LEVELS, _LEAST_LEVELS = 1 << 14, 16
_VECTORS = ("v2", "v4", "v8")


def is_vector_atomic(instruction: Instruction) -> bool:
    """Whether an instruction is an atomic on several elements, ``atom.add.v4.f32``."""
    return instruction.opcode in ("atom", "red") and instruction.has(*_VECTORS) and bool(instruction.types)


def _target(call: Instruction) -> Operand:
    """The function that a call names, behind its results."""
    return call.operands[1] if isinstance(call.operands[0], Vector) and len(call.operands) > 1 else call.operands[0]


def _values_of(call: Instruction) -> list[Operand]:
    """The results of a call, and what it gives."""
    vectors = [operand.elements for operand in call.operands if isinstance(operand, Vector)]
    return [element for elements in vectors for element in elements]


def _has_register_address(instruction: Instruction) -> bool:
    address = instruction.operands[-1]
    return isinstance(address, Address) and isinstance(address.base, Register)


def symbols_of(operand: Operand) -> Iterable[str]:
    """The names of the symbols in an operand."""
    if isinstance(operand, Symbol):
        yield operand.name
    elif isinstance(operand, Address) and isinstance(operand.base, Symbol):
        yield operand.base.name
    elif isinstance(operand, Vector):
        for element in operand.elements:
            yield from symbols_of(element)


@dataclass
class _SharedCopy:
    """One copy of a function that calls itself in several places: all of these places call one further copy.

    ``names``: that copy's parameters and results, which all places fill. ``number``: the register with the number of
    the place that is called from. ``places``: the labels where a call goes on. ``call``: the first one.
    """

    names: dict[str, str]
    number: Register
    entry: str
    places: list[str] = field(default_factory=list)
    call: Instruction | None = None


class Inliner:
    """Puts each called function's body at the call, with names of its own.

    Parameters need no copy: the callee's ``.param`` variables become those that the caller filled. A function that
    calls itself in several places has one copy per level, which returns to the place that it was called from.
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
        self._levels: list[_SharedCopy | None] = []

    def insert(
        self, function: Function, rename: dict[str, str], site: tuple[Frame, ...], end: str | None, depth: int
    ) -> None:
        """Put a function's body at the end, with these names instead of its own; it returns to ``end``."""
        suffix = f"#{self.copies}" if depth else ""
        self.copies += 1
        self.calls.append(function.name)
        self._declare(function, suffix)
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
        level = self._level(function, rename, suffix)
        self._levels.append(level)
        at: dict[int, list[str]] = {}
        for label, index in function.labels.items():
            at.setdefault(index, []).append(label + suffix)
        for index, instruction in enumerate(function.instructions or ()):
            for label in at.get(index, ()):
                self.labels[label] = len(self.instructions)
            own_instruction = _renamed(instruction, suffix, rename, site)
            self._place(own_instruction, end, depth)
        for label in at.get(len(function.instructions or ()), ()):
            self.labels[label] = len(self.instructions)
        if level is not None and level.call is not None:
            self._insert_level(function, level, level.call, end, depth)
        self._levels.pop()
        self.calls.pop()

    def _level(self, function: Function, rename: dict[str, str], suffix: str) -> _SharedCopy | None:
        """How a copy of a function calls itself; None where the copy at each of its calls is its own.

        ``rename`` gets the names that all of its calls share: those of the first call.
        """
        calls = self._calls_of_itself(function) if function.name in self._sharing else []
        if not calls:
            return None
        parameters = [variable.name for variable in (*function.results, *function.params)]
        filled = [[operand.name for operand in _values_of(call) if isinstance(operand, Symbol)] for call in calls]
        shared = [rename.get(name, name) for name in filled[0]]
        for names in filled:
            rename |= dict(zip(names, shared, strict=True))
        number = Register(f"%place{suffix}", "u32")
        self.registers[number.name] = number.type
        return _SharedCopy(dict(zip(parameters, shared, strict=True)), number, f"$level{suffix}")

    @cached_property
    def _sharing(self) -> set[str]:
        """The functions that call themselves in several places, and in no other way than by name."""
        taken = {function.name for function in self._targets}
        found = set()
        for function in self.module.functions.values():
            calls = self._calls_of_itself(function)
            arity = len(function.results) + len(function.params)
            plain = all(
                len(values := _values_of(call)) == arity and all(isinstance(value, Symbol) for value in values)
                for call in calls
            )
            ways = self._ways_back(function.name, function.name, frozenset()) if len(calls) > 1 else 0
            if ways > 1 and ways == len(calls) and plain and function.name not in taken:
                found.add(function.name)
        return found

    def _calls_of_itself(self, function: Function) -> list[Instruction]:
        calls = (one for one in function.instructions or () if one.opcode == "call")
        return [call for call in calls if _target(call) == Symbol(function.name)]

    def _insert_level(
        self, function: Function, level: _SharedCopy, call: Instruction, end: str | None, depth: int
    ) -> None:
        """The copy that the calls of a level share, and the way back to each of them."""
        plain, exit_ = replace(call, guard=None, negated=False), f"{level.entry}.exit"
        if end is not None:
            self._emit(plain, opcode="bra", modifiers=(), operands=(Symbol(end),))
        self.labels[level.entry] = len(self.instructions)
        if self._is_deep(function, depth):
            self._emit(plain, opcode="call", modifiers=("recursion",), operands=())  # refused where a lane gets there
        else:
            self.insert(function, level.names, call.frames, exit_, depth + 1)
        self.labels[exit_] = len(self.instructions)
        self.tables[f"{level.entry}.places"] = tuple(level.places)
        places = Symbol(f"{level.entry}.places")
        self._emit(plain, opcode="brx", modifiers=("idx",), operands=(level.number, places))

    def _call_level(self, call: Instruction, level: _SharedCopy) -> None:
        """A call of the copy that all calls of a level share."""
        back = f"{level.entry}.{len(level.places)}"
        if call.guard is not None:
            self._emit(call, opcode="bra", modifiers=(), operands=(Symbol(back),), negated=not call.negated)
        plain = replace(call, guard=None, negated=False)
        self._emit(plain, opcode="mov", modifiers=("u32",), operands=(level.number, Immediate(len(level.places))))
        self._emit(plain, opcode="bra", modifiers=(), operands=(Symbol(level.entry),))
        self.labels[back] = len(self.instructions)
        level.places.append(back)
        level.call = level.call or call

    def _place(self, instruction: Instruction, end: str | None, depth: int) -> None:
        """Put one instruction at the end, in the form that the emulator has."""
        if instruction.opcode == "call":
            self._call(instruction, depth)
        elif instruction.opcode in ("bar", "barrier") and instruction.has("red"):
            self._block_vote(instruction)
        elif instruction.opcode in OPCODES and instruction.has(WIDE):
            self.instructions += split_wide(instruction)
        elif is_vector_atomic(instruction):
            self._vector_atomic(instruction)
        elif instruction.opcode == "ret" and end is not None:
            self._emit(instruction, opcode="bra", modifiers=(), operands=(Symbol(end),))
        elif depth and instruction.opcode == "ld" and instruction.has("param") and _has_register_address(instruction):
            # Unlike a kernel's, the parameter of a function stands in local memory.
            self._emit(instruction, modifiers=tuple("local" if m == "param" else m for m in instruction.modifiers))
        else:
            self.instructions.append(instruction)

    def _declare(self, function: Function, suffix: str) -> None:
        """Enter a function's registers; one of 128 bits is two."""
        for name, kind in function.registers.items():
            named = halves(name + suffix) if kind == WIDE else (Register(name + suffix, kind),)
            self.registers.update({one.name: one.type for one in named})

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

    def _vector_atomic(self, instruction: Instruction) -> None:
        """One atomic per element: PTX promises no more than that each element is atomic by itself."""
        *destinations, address, values = instruction.operands
        if not isinstance(address, Address) or not isinstance(values, Vector):
            raise self._unsupported(instruction, "a vector of this form is not known")
        modifiers = tuple(m for m in instruction.modifiers if m not in _VECTORS)
        size = DTYPES[instruction.types[-1]].itemsize
        for k, value in enumerate(values.elements):
            old = [d.elements[k] if isinstance(d, Vector) else d for d in destinations]
            element = replace(address, offset=address.offset + size * k)
            whole = size * len(values.elements) if k == 0 else 0
            self._emit(instruction, modifiers=modifiers, operands=(*old, element, value), vector_bytes=whole)

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
        if self.calls[-1] == callee.name and (level := self._levels[-1]) is not None:
            self._call_level(call, level)
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
                    taken.update(s for operand in i.operands for s in symbols_of(operand))
        return [f for f in functions.values() if f.name in taken and not f.entry and f.instructions is not None]

    def _is_deep(self, callee: Function, depth: int) -> bool:
        return depth >= _DEEPEST_RECURSION or self.calls.count(callee.name) >= self._deepest(callee)

    def _deepest(self, callee: Function) -> int:
        """How often a function may stand in itself: its calls of itself multiply at each level, if none is shared."""
        if callee.name not in self._depths:
            through = sum(i.opcode == "call" and isinstance(_target(i), Register) for i in callee.instructions or ())
            if callee.name in self._sharing:
                levels = _INSTRUCTIONS_OF_LEVELS // len(callee.instructions or (1,))
                return min(max(levels, _LEAST_LEVELS), _DEEPEST_RECURSION)
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
