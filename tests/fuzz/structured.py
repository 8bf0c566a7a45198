"""Random programs with control flow, warp-wide operations, shared memory, atomics and matrices, and what they give.

A program is a tree of statements. It is written twice: as PTX for the emulator, and as masked NumPy code, which knows
nothing of the emulator. A program has no race and no undefined value, so every check must stay silent, and every order
of the warps must give the same bits.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, field

import ml_dtypes
import numpy as np

from softlab.cuda.compile import Program
from softlab.kernel import Kernel

REGISTERS = 6
#: Threads per block: whole warps, and blocks whose last warp is not full.
BLOCKS = (1, 7, 31, 32, 33, 48, 64, 95, 96, 128)
GRIDS = (1, 2, 3)
DEPTH = 3

_BINARY: dict[str, Callable[[np.ndarray, np.ndarray], np.ndarray]] = {
    "add.u32": np.add,
    "sub.u32": np.subtract,
    "mul.lo.u32": np.multiply,
    "and.b32": np.bitwise_and,
    "or.b32": np.bitwise_or,
    "xor.b32": np.bitwise_xor,
    "min.u32": np.minimum,
    "max.u32": np.maximum,
    "min.s32": lambda a, b: np.minimum(a.view(np.int32), b.view(np.int32)).view(np.uint32),
    "max.s32": lambda a, b: np.maximum(a.view(np.int32), b.view(np.int32)).view(np.uint32),
    "shl.b32": lambda a, b: np.where(b > 31, np.uint32(0), a << np.minimum(b, np.uint32(31))),
    "shr.u32": lambda a, b: np.where(b > 31, np.uint32(0), a >> np.minimum(b, np.uint32(31))),
}
_COMPARE: dict[str, Callable[[np.ndarray, np.ndarray], np.ndarray]] = {
    "eq.u32": np.equal,
    "ne.u32": np.not_equal,
    "lt.u32": np.less,
    "ge.u32": np.greater_equal,
    "lt.s32": lambda a, b: a.view(np.int32) < b.view(np.int32),
    "gt.s32": lambda a, b: a.view(np.int32) > b.view(np.int32),
}
_REDUCE: dict[str, Callable[[np.ndarray], np.generic]] = {
    "add.u32": lambda values: np.add.reduce(values, dtype=np.uint32),
    "min.u32": np.minimum.reduce,
    "max.u32": np.maximum.reduce,
    "and.b32": np.bitwise_and.reduce,
    "or.b32": np.bitwise_or.reduce,
    "xor.b32": np.bitwise_xor.reduce,
}


def _two_bytes(low: np.ndarray, high: np.ndarray, limit: float, to: type) -> np.ndarray:
    """Both values rounded to eight bits, the largest number where they are larger; a NaN is 0x7f."""
    found = []
    for bits in (low, high):
        value = bits.view(np.float32)
        byte = np.clip(value, -limit, limit).astype(to).view(np.uint8)
        found.append(np.where(np.isnan(value), np.uint8(0x7F), byte).astype(np.uint32))
    return found[0] | found[1] << np.uint32(8)


#: Conversions of one register, with what NumPy makes of its bits.
_CONVERT: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "cvt.rn.f32.u32": lambda a: a.astype(np.float32).view(np.uint32),
    "cvt.rn.f32.s32": lambda a: a.view(np.int32).astype(np.float32).view(np.uint32),
    "cvt.s32.s8": lambda a: a.astype(np.uint8).view(np.int8).astype(np.int32).view(np.uint32),
    "cvt.u32.u16": lambda a: a & np.uint32(0xFFFF),
    "cvt.s32.s16": lambda a: a.astype(np.uint16).view(np.int16).astype(np.int32).view(np.uint32),
    "cvt.sat.u32.s32": lambda a: np.maximum(a.view(np.int32), 0).view(np.uint32),
}
#: Conversions of two floats to two bytes.
_TWO_BYTES: dict[str, Callable[[np.ndarray, np.ndarray], np.ndarray]] = {
    "e4m3x2": lambda low, high: _two_bytes(low, high, 448.0, ml_dtypes.float8_e4m3fn),
    "e5m2x2": lambda low, high: _two_bytes(low, high, 57344.0, ml_dtypes.float8_e5m2),
}


@dataclass
class Text:
    """The PTX written so far: its lines, and how many labels, masks, predicates and counters it uses."""

    lines: list[str] = field(default_factory=list)
    labels: int = 0
    masks: int = 1
    predicates: int = 0
    counters: int = 0

    def add(self, *lines: str) -> None:
        """Append lines."""
        self.lines += lines

    def label(self) -> str:
        """A new label."""
        self.labels += 1
        return f"$L_{self.labels}"

    def mask(self) -> str:
        """A new register for a mask of lanes."""
        self.masks += 1
        return f"%m{self.masks - 1}"

    def predicate(self) -> str:
        """A new predicate."""
        self.predicates += 1
        return f"%p{self.predicates - 1}"

    def counter(self) -> str:
        """A new register for a loop's counter."""
        self.counters += 1
        return f"%i{self.counters - 1}"


@dataclass
class State:
    """NumPy's side: all threads of a launch. ``r`` (registers, blocks, threads), ``shared`` (blocks, threads + 1)."""

    r: np.ndarray
    shared: np.ndarray
    total: np.ndarray
    alive: np.ndarray

    @property
    def threads(self) -> int:
        """Threads per block."""
        return self.r.shape[2]

    def warps(self, on: np.ndarray) -> list[tuple[int, np.ndarray]]:
        """(block, thread numbers) of each warp's lanes that are on; warps with none are left out."""
        found = []
        for block in range(self.r.shape[1]):
            for first in range(0, self.threads, 32):
                lanes = first + np.flatnonzero(on[block, first : first + 32])
                if len(lanes):
                    found.append((block, lanes))
        return found


class Statement:
    """One statement: ``write`` it as PTX, and ``do`` it for the threads that are on."""

    def write(self, text: Text, mask: str) -> None:
        """Append the PTX; ``mask`` is the register with the lanes of the warp that come here."""
        raise NotImplementedError

    def do(self, state: State, on: np.ndarray) -> None:
        """Change the state; ``on`` is (blocks, threads) bool."""
        raise NotImplementedError


@dataclass(frozen=True)
class Binary(Statement):
    opcode: str
    to: int
    a: int
    b: int

    def write(self, text: Text, mask: str) -> None:
        text.add(f"{self.opcode} %r{self.to}, %r{self.a}, %r{self.b};")

    def do(self, state: State, on: np.ndarray) -> None:
        state.r[self.to][on] = _BINARY[self.opcode](state.r[self.a], state.r[self.b])[on]


@dataclass(frozen=True)
class Immediate(Statement):
    opcode: str
    to: int
    a: int
    value: int

    def write(self, text: Text, mask: str) -> None:
        text.add(f"{self.opcode} %r{self.to}, %r{self.a}, {self.value};")

    def do(self, state: State, on: np.ndarray) -> None:
        values = np.full_like(state.r[self.a], self.value)
        state.r[self.to][on] = _BINARY[self.opcode](state.r[self.a], values)[on]


@dataclass(frozen=True)
class Branch(Statement):
    """``if`` with ``else``. Each side may use warp-wide operations: the lanes of each side are asked for by a vote."""

    compare: str
    a: int
    b: int
    yes: tuple[Statement, ...]
    no: tuple[Statement, ...]

    def write(self, text: Text, mask: str) -> None:
        p, yes, no = text.predicate(), text.mask(), text.mask()
        other, end = text.label(), text.label()
        text.add(f"setp.{self.compare} {p}, %r{self.a}, %r{self.b};", f"vote.sync.ballot.b32 {yes}, {p}, {mask};")
        text.add(f"not.b32 {no}, {yes};", f"and.b32 {no}, {no}, {mask};", f"@!{p} bra {other};")
        for statement in self.yes:
            statement.write(text, yes)
        text.add(f"bra {end};", f"{other}:")
        for statement in self.no:
            statement.write(text, no)
        text.add(f"{end}:", f"bar.warp.sync {mask};")

    def do(self, state: State, on: np.ndarray) -> None:
        p = _COMPARE[self.compare](state.r[self.a], state.r[self.b])
        for statement in self.yes:
            statement.do(state, on & p)
        for statement in self.no:
            statement.do(state, on & ~p)


@dataclass(frozen=True)
class Loop(Statement):
    """Each thread takes ``r[trips] & limit`` turns. A vote at the head tells who takes the next one."""

    trips: int
    limit: int
    body: tuple[Statement, ...]

    def write(self, text: Text, mask: str) -> None:
        p, now, before, i = text.predicate(), text.mask(), text.mask(), text.counter()
        head, end = text.label(), text.label()
        text.add(f"and.b32 {i}, %r{self.trips}, {self.limit};", f"mov.b32 {before}, {mask};", f"{head}:")
        text.add(f"setp.ne.u32 {p}, {i}, 0;", f"vote.sync.ballot.b32 {now}, {p}, {before};", f"@!{p} bra {end};")
        for statement in self.body:
            statement.write(text, now)
        text.add(f"sub.u32 {i}, {i}, 1;", f"mov.b32 {before}, {now};", f"bra {head};")
        text.add(f"{end}:", f"bar.warp.sync {mask};")

    def do(self, state: State, on: np.ndarray) -> None:
        left = state.r[self.trips] & np.uint32(self.limit)
        for turn in range(self.limit):
            for statement in self.body:
                statement.do(state, on & (left > turn))


@dataclass(frozen=True)
class Redux(Statement):
    opcode: str
    to: int
    a: int

    def write(self, text: Text, mask: str) -> None:
        text.add(f"redux.sync.{self.opcode} %r{self.to}, %r{self.a}, {mask};")

    def do(self, state: State, on: np.ndarray) -> None:
        for block, lanes in state.warps(on):
            state.r[self.to, block, lanes] = _REDUCE[self.opcode](state.r[self.a, block, lanes])


@dataclass(frozen=True)
class Ballot(Statement):
    compare: str
    to: int
    a: int
    b: int

    def write(self, text: Text, mask: str) -> None:
        p = text.predicate()
        text.add(f"setp.{self.compare} {p}, %r{self.a}, %r{self.b};", f"vote.sync.ballot.b32 %r{self.to}, {p}, {mask};")

    def do(self, state: State, on: np.ndarray) -> None:
        p = _COMPARE[self.compare](state.r[self.a], state.r[self.b])
        for block, lanes in state.warps(on):
            bits = np.uint32(1) << (lanes[p[block, lanes]] % 32).astype(np.uint32)
            state.r[self.to, block, lanes] = np.bitwise_or.reduce(bits, initial=np.uint32(0))


@dataclass(frozen=True)
class Match(Statement):
    """Which lanes hold the same low bits."""

    to: int
    a: int

    def write(self, text: Text, mask: str) -> None:
        text.add(f"and.b32 %t0, %r{self.a}, 3;", f"match.any.sync.b32 %r{self.to}, %t0, {mask};")

    def do(self, state: State, on: np.ndarray) -> None:
        for block, lanes in state.warps(on):
            low = state.r[self.a, block, lanes] & np.uint32(3)
            bits = np.uint32(1) << (lanes % 32).astype(np.uint32)
            same = low[:, None] == low[None, :]
            state.r[self.to, block, lanes] = np.bitwise_or.reduce(np.where(same, bits[None, :], np.uint32(0)), axis=1)


@dataclass(frozen=True)
class Broadcast(Statement):
    """Every lane takes the value of the first lane that is here."""

    to: int
    a: int

    def write(self, text: Text, mask: str) -> None:
        text.add(f"brev.b32 %t0, {mask};", "bfind.shiftamt.u32 %t0, %t0;")
        text.add(f"shfl.sync.idx.b32 %r{self.to}, %r{self.a}, %t0, 31, {mask};")

    def do(self, state: State, on: np.ndarray) -> None:
        for block, lanes in state.warps(on):
            state.r[self.to, block, lanes] = state.r[self.a, block, lanes[0]]


@dataclass(frozen=True)
class Add(Statement):
    """Add to the block's counter in shared memory, or to its counter in global memory, by an atomic."""

    a: int
    shared: bool

    def write(self, text: Text, mask: str) -> None:
        text.add(
            f"red.shared.add.u32 [%cell], %r{self.a};" if self.shared else f"red.global.add.u32 [%total], %r{self.a};"
        )

    def do(self, state: State, on: np.ndarray) -> None:
        sums = np.where(on, state.r[self.a], np.uint32(0)).sum(axis=1, dtype=np.uint32)
        if self.shared:
            state.shared[:, -1] += sums
        else:
            state.total += sums


@dataclass(frozen=True)
class Exchange(Statement):
    """Between barriers, through shared memory: a thread takes what thread ``(tid * factor + shift) % n`` put there."""

    to: int
    a: int
    factor: int
    shift: int

    def write(self, text: Text, mask: str) -> None:
        text.add(f"st.shared.u32 [%mine], %r{self.a};", "bar.sync 0;")
        text.add(f"mad.lo.u32 %t0, %tidx, {self.factor}, {self.shift};", "rem.u32 %t0, %t0, %n;")
        text.add("mad.lo.u32 %t0, %t0, 4, %base;", f"ld.shared.u32 %r{self.to}, [%t0];", "bar.sync 0;")

    def do(self, state: State, on: np.ndarray) -> None:
        state.shared[:, :-1][on] = state.r[self.a][on]
        where = (np.arange(state.threads) * self.factor + self.shift) % state.threads
        state.r[self.to][on] = state.shared[:, where][on]


@dataclass(frozen=True)
class Convert(Statement):
    opcode: str
    to: int
    a: int

    def write(self, text: Text, mask: str) -> None:
        text.add(f"{self.opcode} %r{self.to}, %r{self.a};")

    def do(self, state: State, on: np.ndarray) -> None:
        state.r[self.to][on] = _CONVERT[self.opcode](state.r[self.a])[on]


@dataclass(frozen=True)
class ToBytes(Statement):
    """Two floats become two bytes of a register."""

    form: str
    to: int
    low: int
    high: int

    def write(self, text: Text, mask: str) -> None:
        text.add(
            f"cvt.rn.satfinite.{self.form}.f32 %h0, %r{self.high}, %r{self.low};", f"cvt.u32.u16 %r{self.to}, %h0;"
        )

    def do(self, state: State, on: np.ndarray) -> None:
        state.r[self.to][on] = _TWO_BYTES[self.form](state.r[self.low], state.r[self.high])[on]


@dataclass(frozen=True)
class Product(Statement):
    """A product of matrices of whole numbers per warp, by ``mma``: all lanes of full warps are here.

    ``kind``: "u8" or "s8", 8 x 16 times 16 x 8, or "b1", 8 x 128 times 128 x 8 bits.
    """

    kind: str
    to: tuple[int, int]
    a: int
    b: int
    c: tuple[int, int]

    def write(self, text: Text, mask: str) -> None:
        form = f"m8n8k16.row.col.s32.{self.kind}.{self.kind}.s32"
        if self.kind == "b1":
            form = "m8n8k128.row.col.s32.b1.b1.s32.xor.popc"
        first, second = self.to
        text.add(
            f"mma.sync.aligned.{form} {{%r{first}, %r{second}}}, {{%r{self.a}}}, {{%r{self.b}}}, "
            f"{{%r{self.c[0]}, %r{self.c[1]}}};"
        )

    def do(self, state: State, on: np.ndarray) -> None:
        for block, lanes in state.warps(on):
            a, b = (
                np.ascontiguousarray(state.r[register, block, lanes]).reshape(8, 4) for register in (self.a, self.b)
            )
            if self.kind == "b1":
                left, right = (np.unpackbits(x.view(np.uint8), axis=1) for x in (a, b))
                product = (left[:, None] ^ right[None]).sum(axis=2, dtype=np.int64)
            else:
                left, right = (x.view(self.kind.replace("s", "i").replace("8", "1")).astype(np.int64) for x in (a, b))
                product = left @ right.T
            old = np.stack([state.r[register, block, lanes] for register in self.c], axis=1).reshape(8, 8)
            sums = (product.astype(np.uint32) + old).reshape(32, 2)
            for column, register in enumerate(self.to):
                state.r[register, block, lanes] = sums[:, column]


@dataclass(frozen=True)
class Rows(Statement):
    """Between barriers, an 8 x 8 matrix of 16 bits per warp through shared memory, by ``ldmatrix``."""

    to: int
    a: int
    transposed: bool

    def write(self, text: Text, mask: str) -> None:
        text.add(f"st.shared.u32 [%mine], %r{self.a};", "bar.sync 0;")
        text.add("and.b32 %t0, %tidx, 7;", "shl.b32 %t0, %t0, 4;", "and.b32 %t1, %tidx, -32;", "shl.b32 %t1, %t1, 2;")
        text.add("add.u32 %t0, %t0, %t1;", "add.u32 %t0, %t0, %base;")
        form = ".trans" if self.transposed else ""
        text.add(f"ldmatrix.sync.aligned.m8n8.x1{form}.shared.b16 {{%r{self.to}}}, [%t0];", "bar.sync 0;")

    def do(self, state: State, on: np.ndarray) -> None:
        state.shared[:, :-1][on] = state.r[self.a][on]
        for block, lanes in state.warps(on):
            matrix = np.ascontiguousarray(state.shared[block, lanes]).view(np.uint16).reshape(8, 8)
            taken = np.ascontiguousarray(matrix.T if self.transposed else matrix)
            state.r[self.to, block, lanes] = taken.view(np.uint32).reshape(32)


@dataclass(frozen=True)
class ReadCounter(Statement):
    to: int

    def write(self, text: Text, mask: str) -> None:
        text.add("bar.sync 0;", f"ld.shared.u32 %r{self.to}, [%cell];", "bar.sync 0;")

    def do(self, state: State, on: np.ndarray) -> None:
        state.r[self.to][on] = np.broadcast_to(state.shared[:, -1:], on.shape)[on]


@dataclass(frozen=True)
class Leave(Statement):
    """Some threads store what they have and exit. Barriers no longer wait for them."""

    compare: str
    a: int
    b: int

    def write(self, text: Text, mask: str) -> None:
        p, stay = text.predicate(), text.label()
        text.add(f"setp.{self.compare} {p}, %r{self.a}, %r{self.b};", f"vote.sync.ballot.b32 %t0, {p}, {mask};")
        text.add("not.b32 %t0, %t0;", f"and.b32 {mask}, {mask}, %t0;", f"@!{p} bra {stay};")
        text.add(*_RESULTS, "ret;", f"{stay}:")

    def do(self, state: State, on: np.ndarray) -> None:
        state.alive &= ~(on & _COMPARE[self.compare](state.r[self.a], state.r[self.b]))


_RESULTS = [f"st.global.u32 [%out+{4 * k}], %r{k};" for k in range(REGISTERS)]
_START = [
    "ld.param.u64 %in, [p_in];", "ld.param.u64 %out, [p_out];", "ld.param.u64 %total, [p_total];",
    "mov.u32 %tidx, %tid.x;", "mov.u32 %n, %ntid.x;", "mov.u32 %t0, %ctaid.x;",
    "mul.wide.u32 %w, %t0, 4;", "add.u64 %total, %total, %w;", "mad.lo.u32 %t0, %t0, %n, %tidx;",
    f"mul.wide.u32 %w, %t0, {4 * REGISTERS};", "add.u64 %in, %in, %w;", "add.u64 %out, %out, %w;",
    *(f"ld.global.u32 %r{k}, [%in+{4 * k}];" for k in range(REGISTERS)),
    "mov.u32 %base, words;", "mad.lo.u32 %mine, %tidx, 4, %base;", "mov.u32 %cell, counter;",
    "st.shared.u32 [%mine], %tidx;", "setp.ne.u32 %first, %tidx, 0;", "@!%first st.shared.u32 [%cell], 0;",
    "bar.sync 0;", "activemask.b32 %m0;",
]  # fmt: skip


@dataclass(frozen=True)
class Structured:
    """One program and its launch."""

    number: int
    grid: int
    block: int
    statements: tuple[Statement, ...]

    def ptx(self) -> str:
        """The program as PTX of a kernel ``fuzzed(in, out, total)``."""
        body = Text()
        for statement in self.statements:
            statement.write(body, "%m0")
        declared = [
            ".reg .u64 %in, %out, %total, %w;",
            f".reg .b32 %tidx, %n, %base, %mine, %cell, %t0, %t1, %r<{REGISTERS}>;",
            ".reg .b16 %h0;",
            f".reg .b32 %m<{body.masks}>, %i<{body.counters + 1}>;",
            f".reg .pred %first, %p<{body.predicates + 1}>;",
            f".shared .align 16 .b8 words[{4 * self.block}];",
            ".shared .align 4 .b8 counter[4];",
        ]
        lines = [*declared, *_START, *body.lines, *_RESULTS, "ret;"]
        head = ".version 8.3\n.target sm_90\n.address_size 64\n"
        entry = ".visible .entry fuzzed(.param .u64 p_in, .param .u64 p_out, .param .u64 p_total)"
        return f"{head}{entry}\n{{\n" + "\n".join(lines) + "\n}\n"

    def inputs(self) -> np.ndarray:
        """(grid, block, REGISTERS) uint32: small numbers and raw bits."""
        draw = np.random.default_rng([self.number, 1])
        shape = (self.grid, self.block, REGISTERS)
        raw = draw.integers(0, 2**32, shape, np.uint32)
        return np.where(draw.random(shape) < 0.6, raw % np.uint32(9), raw)

    def expected(self) -> tuple[np.ndarray, np.ndarray]:
        """(out, total) by NumPy alone."""
        registers = np.ascontiguousarray(np.moveaxis(self.inputs(), 2, 0))
        shared = np.zeros((self.grid, self.block + 1), np.uint32)
        shared[:, :-1] = np.arange(self.block)
        state = State(registers, shared, np.zeros(self.grid, np.uint32), np.ones((self.grid, self.block), bool))
        for statement in self.statements:
            statement.do(state, state.alive.copy())
        return np.ascontiguousarray(np.moveaxis(state.r, 0, 2)), state.total

    def kernel(self) -> Kernel:
        """The program, ready to run in the emulator."""
        program = Program(
            source="", name="fuzzed", file="fuzzed.ptx", arch="sm_90", options=(), nvrtc="", entry="fuzzed",
            ptx=self.ptx(), cubin=b"", registers=0, static_smem_bytes=0, local_bytes=0, spill_bytes=0,
        )  # fmt: skip
        return Kernel.from_program(program)


def _register(draw: random.Random) -> int:
    return draw.randrange(REGISTERS)


_VALUES = [0, 1, 2, 3, 5, 31, 32, 255, 65536, 2**31 - 1, 2**31, 2**32 - 1]
#: How a statement without parts is drawn. Each takes the comparison that was drawn before it.
_SIMPLE: dict[str, Callable[[random.Random, str], Statement]] = {
    "binary": lambda draw, _: Binary(draw.choice(list(_BINARY)), _register(draw), _register(draw), _register(draw)),
    "immediate": lambda draw, _: _immediate(draw, draw.choice(_VALUES)),
    "redux": lambda draw, _: Redux(draw.choice(list(_REDUCE)), _register(draw), _register(draw)),
    "ballot": lambda draw, compare: Ballot(compare, _register(draw), _register(draw), _register(draw)),
    "match": lambda draw, _: Match(_register(draw), _register(draw)),
    "broadcast": lambda draw, _: Broadcast(_register(draw), _register(draw)),
    "add": lambda draw, _: Add(_register(draw), draw.random() < 0.5),
    "exchange": lambda draw, _: Exchange(
        _register(draw), _register(draw), draw.choice([1, 3, 5, 0]), draw.randrange(40)
    ),
    "counter": lambda draw, _: ReadCounter(_register(draw)),
    "leave": lambda draw, compare: Leave(compare, _register(draw), _register(draw)),
    "convert": lambda draw, _: Convert(draw.choice(list(_CONVERT)), _register(draw), _register(draw)),
    "bytes": lambda draw, _: ToBytes(draw.choice(list(_TWO_BYTES)), _register(draw), _register(draw), _register(draw)),
    "product": lambda draw, _: _product(draw, draw.sample(range(REGISTERS), 2)),
    "rows": lambda draw, _: Rows(_register(draw), _register(draw), draw.random() < 0.5),
}


def _immediate(draw: random.Random, value: int) -> Immediate:
    return Immediate(draw.choice(list(_BINARY)), _register(draw), _register(draw), value)


def _product(draw: random.Random, to: list[int]) -> Product:
    kind, old = draw.choice(["u8", "s8", "b1"]), (_register(draw), _register(draw))
    return Product(kind, (to[0], to[1]), _register(draw), _register(draw), old)


@dataclass(frozen=True)
class _Where:
    """Where statements are drawn: how deep, whether all threads come here, and whether matrices may be there."""

    depth: int
    block_wide: bool
    matrices: bool
    full_warps: bool = False

    def kinds(self) -> list[str]:
        """The kinds of statement, each as often as its weight."""
        kinds = ["binary"] * 6 + ["immediate"] * 3 + ["redux", "ballot", "match", "broadcast", "add"]
        if self.depth:
            kinds += ["branch"] * 3 + ["loop"] * 2
        if self.block_wide:
            # Matrices take whole warps: such a program has no thread that leaves early.
            kinds += ["exchange", "counter"] + (["product", "rows"] * 3 if self.full_warps else ["leave"])
        return kinds + ["convert", "bytes"] * self.matrices


def _statement(draw: random.Random, where: _Where) -> Statement:
    compare = draw.choice(list(_COMPARE))
    kind, inside = draw.choice(where.kinds()), _Where(where.depth - 1, False, where.matrices)
    if kind == "branch":
        yes, no = [_statements(draw, inside, draw.randint(0, 4)) for _ in range(2)]
        return Branch(compare, _register(draw), _register(draw), yes, no)
    if kind == "loop":
        return Loop(_register(draw), draw.choice([1, 3, 7]), _statements(draw, inside, draw.randint(1, 4)))
    return _SIMPLE[kind](draw, compare)


def _statements(draw: random.Random, where: _Where, count: int) -> tuple[Statement, ...]:
    return tuple(_statement(draw, where) for _ in range(count))


def program(number: int, matrices: bool = True) -> Structured:
    """The program of this number: always the same one. ``matrices``: with matrices and conversions."""
    draw = random.Random(f"structured {number}")
    block = draw.choice(BLOCKS)
    full_warps = matrices and block % 32 == 0 and draw.random() < 0.7
    where = _Where(DEPTH, True, matrices, full_warps)
    return Structured(number, draw.choice(GRIDS), block, _statements(draw, where, draw.randint(4, 14)))


def differences(number: int, matrices: bool = True) -> list[str]:
    """How the emulator differs from NumPy, with and without checks, and with the warps in other orders: [] is right.

    ``matrices``: as :func:`program` takes it.

    Raises:
        Exception: whatever the emulator raises; no error is right here.
    """
    case = program(number, matrices)
    kernel, inputs = case.kernel(), case.inputs()
    expected, total = case.expected()
    order = list(range(-(-case.block // 32)))
    random.Random(number).shuffle(order)
    found = []
    for how, options in (
        ("with all checks", {}),
        ("plain", {"check": False, "record": False}),
        (f"with warp_order={order}", {"warp_order": order}),
        (f"with random_order={number}", {"random_order": number}),
    ):
        out, sums = np.zeros_like(inputs), np.zeros(case.grid, np.uint32)
        kernel.run(case.grid, case.block, (inputs, out, sums), **options)
        if not np.array_equal(out, expected):
            found.append(f"{how}: {(out != expected).sum()} of {out.size} results differ")
        if not np.array_equal(sums, total):
            found.append(f"{how}: the sums by atomics differ")
    return found
