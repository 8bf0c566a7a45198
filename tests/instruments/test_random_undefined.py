"""Random programs whose registers and local memory have values on some paths only, held against NumPy."""

from __future__ import annotations

import random
import re
from dataclasses import dataclass, field

import numpy as np

from softlab.cuda.compile import Program
from softlab.kernel import Kernel

BLOCKS, THREADS, REGISTERS, WORDS, PREDICATES = 3, 96, 6, 3, 4
#: Opcode -> whether one source with a value is enough.
BINARY = {"add.u32": False, "mul.lo.u32": False, "max.s32": False, "and.b32": True, "xor.b32": True}


@dataclass
class State:
    """Which lanes have no value: (registers, blocks, threads) and (words of local memory, blocks, threads) bool.

    ``p``: the predicates, which all have values; ``on``: the lanes that run the present statement.
    """

    p: np.ndarray
    on: np.ndarray = field(default_factory=lambda: np.ones((BLOCKS, THREADS), bool))
    r: np.ndarray = field(default_factory=lambda: np.ones((REGISTERS, BLOCKS, THREADS), bool))
    local: np.ndarray = field(default_factory=lambda: np.ones((WORDS, BLOCKS, THREADS), bool))


def statement(draw: random.Random, state: State, lines: list[str], whole_warps: bool) -> None:
    """Append one instruction and do what it does to the values of the lanes that are on."""
    to, a, b = (draw.randrange(REGISTERS) for _ in range(3))
    word, p = draw.randrange(WORDS), draw.randrange(PREDICATES)
    on, guard = state.on, ""
    if draw.random() < 0.4 or not whole_warps:
        sign = draw.choice(["", "!"])
        guard = f"@{sign}%p{p} "
        on = on & (~state.p[p] if sign else state.p[p])
    new = np.zeros_like(on)
    match draw.choice(["set", "move", "binary", "binary", "select", "store", "load", "shuffle", "reduce"]):
        case "set":
            lines.append(f"{guard}mov.b32 %r{to}, {draw.randrange(9)};")
        case "move":
            lines.append(f"{guard}mov.b32 %r{to}, %r{a};")
            new = state.r[a]
        case "binary":
            opcode = draw.choice(list(BINARY))
            lines.append(f"{guard}{opcode} %r{to}, %r{a}, %r{b};")
            new = state.r[a] & state.r[b] if BINARY[opcode] else state.r[a] | state.r[b]
        case "select":
            q = draw.randrange(PREDICATES)
            lines.append(f"selp.b32 %r{to}, %r{a}, %r{b}, %p{q};")
            on, new = state.on, np.where(state.p[q], state.r[a], state.r[b])
        case "store":
            lines.append(f"{guard}st.local.u32 [__local_depot0+{4 * word}], %r{a};")
            state.local[word][on] = state.r[a][on]
            return
        case "load":
            lines.append(f"{guard}ld.local.u32 %r{to}, [__local_depot0+{4 * word}];")
            new = state.local[word]
        case "shuffle" if whole_warps:
            mask = draw.choice([1, 2, 5, 16, 31])
            lines.append(f"shfl.sync.bfly.b32 %r{to}, %r{a}, {mask}, 31, -1;")
            on, new = state.on, state.r[a][:, np.arange(THREADS) ^ mask]
        case _ if whole_warps:
            lines.append(f"redux.sync.max.u32 %r{to}, %r{a}, -1;")
            on = state.on
        case _:
            return
    state.r[to] = np.where(on, new, state.r[to])


def program(number: int) -> tuple[Kernel, np.ndarray, State]:
    """A kernel ``k(in, out)``, its input, and which registers have no value at its end."""
    draw = random.Random(f"undefined {number}")
    data = np.random.default_rng(number).integers(0, 1 << PREDICATES, (BLOCKS, THREADS), np.uint32)
    state = State(np.stack([data >> bit & 1 == 1 for bit in range(PREDICATES)]))
    lines: list[str] = []
    for part in range(draw.randrange(3, 8)):
        if draw.random() < 0.3:
            p, before = draw.randrange(PREDICATES), state.on
            lines.append(f"@%p{p} bra L{part};")
            state.on = ~state.p[p]
            for _ in range(draw.randrange(1, 4)):
                statement(draw, state, lines, False)
            lines.append(f"L{part}:")
            lines.append("bar.warp.sync -1;")
            state.on = before
        else:
            for _ in range(draw.randrange(1, 4)):
                statement(draw, state, lines, True)
    head = [f"and.b32 %t, %in, {1 << bit}; setp.ne.u32 %p{bit}, %t, 0;" for bit in range(PREDICATES)]
    ends = [f"st.global.u32 [%out+{4 * k}], %r{k};" for k in range(REGISTERS)]
    text = f"""
.version 8.3
.target sm_90
.address_size 64
.visible .entry k(.param .u64 p_in, .param .u64 p_out) {{
.local .align 4 .b8 __local_depot0[{4 * WORDS}];
.reg .pred %p<{PREDICATES}>; .reg .b32 %r<{REGISTERS}>; .reg .b32 %t, %in, %tidx, %n; .reg .u64 %at, %out, %w;
ld.param.u64 %at, [p_in]; ld.param.u64 %out, [p_out];
mov.u32 %tidx, %tid.x; mov.u32 %n, %ntid.x; mov.u32 %t, %ctaid.x; mad.lo.u32 %tidx, %t, %n, %tidx;
mul.wide.u32 %w, %tidx, 4; add.u64 %at, %at, %w; ld.global.u32 %in, [%at];
mul.wide.u32 %w, %tidx, {4 * REGISTERS}; add.u64 %out, %out, %w;
""" + "\n".join([*head, *lines, *ends, "ret;", "}"])
    made = Program(
        source="", name="k", file="k.ptx", arch="sm_90", options=(), nvrtc="", entry="k", ptx=text + "\n", cubin=b"",
        registers=0, static_smem_bytes=0, local_bytes=4 * WORDS, spill_bytes=0,
    )  # fmt: skip
    return Kernel.from_program(made), data, state


def differences(number: int) -> str:
    """How the findings differ from what NumPy says; "" where they do not."""
    kernel, data, state = program(number)
    out = np.zeros((BLOCKS, THREADS, REGISTERS), np.uint32)
    found = kernel.run(BLOCKS, THREADS, (data, out), check="collect", record=False).findings
    expected = {k: _count_and_first(state.r[k]) for k in range(REGISTERS) if state.r[k].any()}
    told = {}
    for finding in found:
        # The finding names the load that gives such a value first, if there is one, and then the store.
        register = re.search(r"st\.global\.u32 \[%out(?:\+\d+)?\], %r(\d)", finding.message)
        if finding.kind != "uninitialized-local" or register is None:
            return f"{finding}"
        told[int(register[1])] = (finding.count, finding.block, finding.thread)
    return "" if told == expected else f"told {told}, expected {expected}"


def _count_and_first(undefined: np.ndarray) -> tuple[int, tuple[int, int, int], tuple[int, int, int]]:
    block, thread = np.argwhere(undefined)[0].tolist()
    return int(undefined.sum()), (block, 0, 0), (thread, 0, 0)


def test_what_has_no_value_is_what_numpy_says() -> None:
    wrong = {number: found for number in range(60) if (found := differences(number))}
    assert not wrong
    states = [program(number)[2].r for number in range(60)]
    assert sum(bool(r.any() and not r.all()) for r in states) > 30
