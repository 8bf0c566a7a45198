"""Straight runs of machine code as blocks of a loop (:mod:`.loop_code`), where the compiler knows all they do.

It knows pure steps that can be traced, loads and stores of global and shared memory and of local memory that does not
grow, atomics of integers and sums of floats, shuffles, votes and reductions of a warp, constants, special registers,
branches, BSSY and BSYNC, calls and returns. A barrier is left to the machine, alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from softlab.sass import loop_code, registry
from softlab.sass.atomic_forms import meaning
from softlab.sass.calls import may_recurse
from softlab.sass.decode import Code, Instruction
from softlab.sass.form import SINK, Form, Named, Slots, is_per_warp
from softlab.sass.lanes import Value
from softlab.sass.loop_code import Access, Block, Branch, Exchange, Section
from softlab.sass.native_loops import BRANCHES, FALLS, MEETS, RETURNS
from softlab.sass.native_warps import (
    ALL,
    AND,
    ANY,
    BFLY,
    BY,
    CONTROL,
    DOWN,
    EQ,
    IDX,
    MAX,
    MAX_SIGNED,
    MIN,
    MIN_SIGNED,
    OR,
    SUM,
    UP,
    XOR,
)
from softlab.sass.segments import PureStep
from softlab.sass.specials import OF_LANES, OF_WARPS
from softlab.sass.steps import Steps
from softlab.sass.streams import Kind, Space
from softlab.sass.widths import SIGNED, WIDTHS, width_of

#: Who sees an access in order, as where it is volatile: all see all in order here.
_ORDERED = ("STRONG", "SM", "GPU", "SYS")
#: Modifiers of loads and stores that are known, besides the widths, and their spaces.
_ACCESSES: dict[str, tuple[Space, tuple[str, ...]]] = {
    "LDG": (Space.GLOBAL, ("E", "CONSTANT", *_ORDERED)), "STG": (Space.GLOBAL, ("E", *_ORDERED)),
    "LDS": (Space.SHARED, ()), "STS": (Space.SHARED, ()), "LDL": (Space.LOCAL, ()), "STL": (Space.LOCAL, ()),
}  # fmt: skip
#: Ends of a run that the compiler knows.
_ENDS = ("BRA", "BSYNC", "CALL", "RET")
#: Bytes of a constant at most.
_CONSTANT_BYTES = 8


class _Made:
    """A block that is being made. ``target``: where it goes on if it does not branch."""

    def __init__(self, target: int) -> None:
        self.target = target
        self.begins, self.barrier, self.end = -1, 0, FALLS
        self.branch: Branch | None = None
        self._sections: list[Section] = []
        self._steps: list[tuple[int, PureStep]] = []
        self._reads, self._writes, self._constants = set[int](), set[int](), list[Named]()

    def step(self, offset: int, step: PureStep) -> None:
        """Add a pure step."""
        self._steps.append((offset, step))
        self.take(step.reads, step.writes, step.constants)

    def last(self, last: Access | Exchange) -> None:
        """Add what ends a section."""
        self._sections.append(Section(tuple(self._steps), last))
        self._steps = []

    def take(self, reads: Iterable[int], writes: Iterable[int], constants: Iterable[Named]) -> None:
        """Note what an instruction reads and writes."""
        self._reads.update(reads)
        self._writes.update(writes)
        self._constants += constants

    def block(self, start: int, done: Sequence[Instruction]) -> Block:
        """All of it.

        Raises:
            NotImplementedError: the compiler does not know this.
        """
        wide = any(nbytes > _CONSTANT_BYTES for _, _, nbytes in self._constants)
        if (self.end == MEETS and self.begins >= 0) or wide:
            raise NotImplementedError
        if self._steps or not self._sections:
            self._sections.append(Section(tuple(self._steps)))
        return Block(
            start, len(done), self.end, self.target, self.begins, self.barrier, tuple(self._sections), self.branch,
            frozenset(self._reads - {SINK}), frozenset(self._writes - {SINK}), tuple(dict.fromkeys(self._constants)),
            tuple(f"{one.machine.encoding:x} {one.targets}" for one in done), swaps_what_it_read(done),
        )  # fmt: skip


class Describer:
    """Straight runs of a code as blocks, where the compiler knows them."""

    def __init__(self, code: Code, heads: frozenset[int], steps: Steps, left: frozenset[int] = frozenset()) -> None:
        """``left``: instructions that are left to the machine."""
        self._code, self._heads, self._steps, self._left = code, heads, steps, left
        self._known: dict[int, Block | None] = {}
        self._stacks_grow = may_recurse(code)
        self._behind_calls = tuple(one.index + 1 for one in code.instructions if one.opcode == "CALL")

    def end_of(self, start: int) -> int:
        """The instruction behind the run that begins at ``start``. What stands before a barrier, or another end that is
        left to the machine, is a run of its own."""
        instructions, at = self._code.instructions, start
        while True:
            name = instructions[at].opcode
            opcode = registry.find(name)
            ends = opcode is None or opcode.kind == "end"
            if ends and at > start and name not in _ENDS:
                return at
            at += 1
            if ends or at >= len(instructions) or at in self._heads:
                return at

    def following(self, start: int) -> tuple[int, ...]:
        """The instructions at which runs begin to which the lanes of this one may come."""
        end = self.end_of(start)
        last = self._code.instructions[end - 1]
        found = set(last.targets)
        if last.opcode == "RET":
            return self._behind_calls
        if last.opcode in ("CALL", "EXIT") or (last.opcode == "BRA" and last.guard is None and len(last.operands) == 1):
            return tuple(found) if last.opcode != "EXIT" or last.guard is None else (end,)
        return tuple(sorted(found | ({end} if end < len(self._code.instructions) else set())))

    def block(self, start: int, choice: str) -> Block | None:
        """The run that begins at ``start``; None where the compiler does not know it."""
        if start not in self._known:
            try:
                self._known[start] = self._described(start, choice)
            except NotImplementedError:
                self._known[start] = None
        return self._known[start]

    def forget(self, start: int) -> None:
        """The compiler does not know this run."""
        self._known[start] = None

    def _described(self, start: int, choice: str) -> Block:
        done = self._code.instructions[start : self.end_of(start)]
        made = _Made(done[-1].index + 1)
        for offset, instruction in enumerate(done):
            opcode = registry.find(instruction.opcode)
            if opcode is None or instruction.index in self._left:
                raise NotImplementedError
            if opcode.kind == "pure":
                step = self._steps.pure(opcode, instruction, choice)
                if not self._steps.traced(instruction) or not step.code:
                    raise NotImplementedError
                made.step(offset, step)
            elif instruction.opcode == "LDC":
                made.step(offset, self._constant_load(instruction))
            elif instruction.opcode in ("S2R", "S2UR", "CS2R"):
                made.step(offset, _special_register(Form(instruction, self._steps.slots), self._steps.slots))
            else:
                form = Form(instruction, self._steps.slots)
                self._add(made, form, offset)
                made.take(form.reads, form.writes, form.constants)
        return made.block(start, done)

    def _constant_load(self, instruction: Instruction) -> PureStep:
        operand = instruction.operands[1]
        if operand.base is not None or operand.uniform is not None:
            raise NotImplementedError
        return self._steps.constant_load(instruction)

    def _add(self, made: _Made, form: Form, offset: int) -> None:
        """Add an instruction that is not pure."""
        instruction, name = form.instruction, form.instruction.opcode
        if name in _ACCESSES:
            if self._stacks_grow and _ACCESSES[name][0] == Space.LOCAL:
                raise NotImplementedError
            made.last(_access(form, offset))
        elif name in ("RED", "REDG", "ATOMG", "ATOMS"):
            made.last(_atomic(form, offset))
        elif name in _EXCHANGES:
            made.last(_EXCHANGES[name](form, offset))
        elif name == "BSSY" and made.begins < 0 and form.guard is None:
            made.begins = _barrier(instruction)
        elif name == "BSYNC" and form.guard is None and len(instruction.operands) == 1:
            made.end, made.barrier = MEETS, _barrier(instruction)
        elif name in ("BRA", "CALL") and not form.has("DIV", "ANY") and len(instruction.targets) == 1:
            form.only("U", "UNI", "CONV", "REL", "NOINC")
            if instruction.operands[0].kind in ("R", "UR"):
                raise NotImplementedError
            made.end, made.target = BRANCHES, self._target(instruction)
            made.branch = Branch(offset, form.guard, form.condition())
        elif name == "RET" and form.guard is None and form.has("REL") and not form.predicates():
            label = next((o.name for o in form.operands if o.kind == "label"), "")
            if label not in self._code.starts:
                raise NotImplementedError
            made.end, made.branch = RETURNS, Branch(offset, target=form.u64(0), base=self._code.starts[label])
        else:
            raise NotImplementedError

    def _target(self, instruction: Instruction) -> int:
        label = next((o.name for o in instruction.operands if o.name in self._code.starts), None)
        if instruction.opcode == "CALL" and label is not None:
            return self._code.starts[label]
        return instruction.targets[0]


def swaps_what_it_read(instructions: Sequence[Instruction]) -> bool:
    """Whether they are a turn of a loop that reads shared memory, computes, and swaps."""
    loads = any(one.opcode == "LDS" for one in instructions)
    return loads and any(one.opcode == "ATOMS" and "CAST" in one.modifiers for one in instructions)


def _barrier(instruction: Instruction) -> int:
    operand = instruction.operands[0]
    if operand.kind != "B":
        raise NotImplementedError
    return operand.index


def _access(form: Form, offset: int) -> Access:
    """A load or store of neighbouring words at an address that a register has."""
    opcode = form.instruction.opcode
    space, modifiers = _ACCESSES[opcode]
    form.only(*modifiers, *WIDTHS)
    stores, kinds = opcode.startswith("ST"), tuple(operand.kind for operand in form.operands)
    if kinds != (("address", "R") if stores else ("R", "address")):
        raise NotImplementedError
    width, number = width_of(form), int(stores)
    words = form.destinations(number, max(1, width // 4))
    if stores:
        form.reads.update(words)
        form.writes.clear()
    reads, add = form.address(1 - number)
    signed = any(m in SIGNED for m in form.modifiers)
    form.reads.update(words)
    kind = Kind.STORE if stores else Kind.LOAD
    return Access(offset, -1, space, width, signed, reads, add, form.guard, words, kind)


def _atomic(form: Form, offset: int) -> Access:
    """An atomic or reduction of integers, or a sum of floats, as :mod:`softlab.sass.opcodes.atomics` has it."""
    opcode = form.instruction.opcode
    number = next(k for k, operand in enumerate(form.operands) if operand.kind == "address")
    returns, counts = opcode.startswith("ATOM"), opcode == "ATOMS" and form.has("POPC")
    dtype, operation = (np.dtype(np.uint32), "add.u32") if counts else meaning(form)
    name, _, suffix = operation.partition(".")
    floats = suffix[0] in "fb"
    if (floats and name != "exch" and operation not in ("add.f32", "add.f64")) or (counts and not form.has("INC")):
        raise NotImplementedError
    if returns and form.operands[0].kind == "P" and form.destination(0) != SINK:
        raise NotImplementedError
    words = dtype.itemsize // 4
    given = tuple(_words(form, number + 1 + k, words) for k in range(0 if counts else 2 if name == "cas" else 1))
    first = next((k for k, operand in enumerate(form.operands) if operand.kind == "R"), 0)
    results = form.destinations(first, words) if returns else ()
    form.reads.update(results)
    reads, add = form.address(number)
    kind = Kind.ATOMIC if returns and not counts else Kind.REDUCTION
    space, says = Space.SHARED if opcode == "ATOMS" else Space.GLOBAL, form.has("CAST")
    return Access(
        offset, -1, space, dtype.itemsize, False, reads, add, form.guard, results, kind, operation, given, says
    )


def _words(form: Form, number: int, count: int) -> tuple[int, ...]:
    """The registers of an operand's words; SINK for zeros."""
    operand = form.operands[number]
    if operand.kind not in ("R", "UR"):
        raise NotImplementedError
    before = set(form.reads)
    form.reads.clear()
    for k in range(count):
        form.register_after(number, k)
    found = tuple(sorted(form.reads)) or (SINK,) * count
    form.reads.update(before)
    return found


def _special_register(form: Form, slots: Slots) -> PureStep:
    """The step of a special register that does not change."""
    instruction = form.instruction
    name, of_warp = form.operands[1].name, instruction.opcode == "S2UR"
    names = OF_WARPS if of_warp else OF_LANES
    if name not in names:
        raise NotImplementedError
    named = loop_code.OF_WARPS if of_warp else loop_code.OF_LANES, names.index(name), 4
    slot, wide = slots.of(named), instruction.opcode == "CS2R" and not form.has("32")
    put, destination = (form.destination64(0) if wide else None), form.destination(0)

    def step(r: list) -> None:
        if put is not None:
            put(r, r[slot].astype(np.uint64))
        else:
            r[destination] = r[slot]

    return PureStep(instruction.index, step, form.guard, frozenset(form.reads), frozenset(form.writes), (named,))


def _shuffle(form: Form, offset: int) -> Exchange:
    mode = {"IDX": IDX, "UP": UP, "DOWN": DOWN, "BFLY": BFLY}[form.one_of("IDX", "UP", "DOWN", "BFLY")]
    flag, out = form.destination(0), form.destination(1)
    a, b, c = form.u32(2), form.u32(3), form.u32(4)
    form.reads.update({flag, out} - {SINK})

    def reads(r: list) -> Value:
        by, control = (b(r) & np.uint32(31)).astype(np.uint64), (c(r) & np.uint32(0x1F1F)).astype(np.uint64)
        return a(r).astype(np.uint64) | by << np.uint64(BY) | control << np.uint64(CONTROL)

    return Exchange(offset, "shuffle", mode, reads, form.guard, out, flag)


def _vote(form: Form, offset: int) -> Exchange:
    mode = {"ANY": ANY, "ALL": ALL, "EQ": EQ}[form.one_of("ANY", "ALL", "EQ")]
    number = int(form.operands[0].kind in ("R", "UR"))
    out, flag = form.destination(0) if number else SINK, form.destination(number)
    source = form.predicate(number + 1)
    _refuse_guarded(form, out, flag)
    form.reads.update({flag, out} - {SINK})
    return Exchange(offset, "vote", mode, lambda r: source(r).astype(np.uint64), form.guard, out, flag)


def _reduce(form: Form, offset: int) -> Exchange:
    name, signed = form.one_of("SUM", "MIN", "MAX", "AND", "OR", "XOR", default="AND"), form.has("S32")
    modes = {
        "SUM": SUM, "AND": AND, "OR": OR, "XOR": XOR, "MIN": MIN_SIGNED if signed else MIN,
        "MAX": MAX_SIGNED if signed else MAX,
    }  # fmt: skip
    out, a = form.destination(0), form.u32(1)
    _refuse_guarded(form, out)
    form.reads.update({out} - {SINK})
    return Exchange(offset, "reduce", modes[name], lambda r: a(r).astype(np.uint64), form.guard, out)


def _refuse_guarded(form: Form, *results: int) -> None:
    """Refuse a guard where a warp has a result once: lanes may disagree."""
    if form.guard is not None and any(one != SINK and is_per_warp(one) for one in results):
        raise NotImplementedError


_EXCHANGES = {"SHFL": _shuffle, "VOTE": _vote, "VOTEU": _vote, "REDUX": _reduce}
