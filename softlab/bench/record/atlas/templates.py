"""The CUDA source of the two microbenchmarks that measure instructions: a dependent chain, and independent streams.

Both repeat a step of inline PTX as straight code. What the compiler made of it is read from the machine code
(:mod:`softlab.bench.record.atlas.checks`); nothing here is believed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

#: Steps of a chain: before the first clock, between the first two, between the last two.
CHAIN_STEPS = (8, 32, 160)
#: Steps of a stream's body, which are multiples of the streams: of the short loop and of the long one.
STREAM_STEPS = (64, 192)
STREAMS = 8
#: Words behind which the results lie: the clocks come first, then what keeps the steps alive.
SINK = 65536

_TYPES = {"r": "u32", "f": "float", "d": "double", "l": "u64", "h": "u16"}
_HEAD = """typedef unsigned short u16; typedef unsigned u32; typedef unsigned long long u64; typedef long long i64;
__device__ __forceinline__ u32 smem_address(const void* p) { return (u32)__cvta_generic_to_shared(p); }
"""
_CLOCK = 'asm volatile("mov.u32 %0, %%clock;" : "=r"({}) :: "memory");\n'
_SIGNATURE = "(u32* out, const char* in, char* memory, u32 rounds, u32 mode, u32 p0, u32 p1)"


class MeasuredStep(Protocol):
    """A step of a chain or a stream, and the C++ around it."""

    @property
    def attributes(self) -> str:
        """Attributes of the kernel."""

    def text(self, variable: str, number: int) -> str:
        """The asm statement of one step."""

    def declared(self, variables: list[str]) -> str:
        """The operands and the first values."""

    def sunk(self, variables: list[str]) -> str:
        """Stores that keep the steps alive."""

    def kept(self, variables: list[str]) -> str:
        """Wait for the last results before the clock is read."""


@dataclass(frozen=True)
class PtxStep:
    """One step of inline PTX.

    In ``ptx``, ``{x}`` is the value that the next step needs, of the asm constraint ``kind``; ``{a}`` to ``{c}`` are
    loaded values of ``operand`` (that of ``kind`` where it is empty) that the compiler does not know; ``{n}`` is the
    number of the step. ``prelude`` is C++ before the clock. ``start`` is C++ for the first ``x`` of stream ``i``;
    without one it is loaded. ``uniform`` makes all of them parameters, the same in all threads. ``address``
    is C++ for an address that stays, ``{m}``: "l(...)" a pointer, "r(...)" an address of shared memory.
    """

    ptx: str
    kind: str = "r"
    operand: str = ""
    prelude: str = ""
    start: str = ""
    memory: bool = False
    attributes: str = ""
    uniform: bool = False
    address: str = ""

    def text(self, variable: str, number: int) -> str:
        """The asm statement of one step."""
        operand = self.operand or self.kind
        ptx = self.ptx.replace("%", "%%")
        for name, at in (("x", "%0"), ("a", "%1"), ("b", "%2"), ("c", "%3"), ("m", "%4")):
            ptx = ptx.replace(f"{{{name}}}", at)
        ptx = ptx.replace("{n}", str(number))
        clobber = ' : "memory"' if self.memory else ""
        inputs = ", ".join(f'"{operand}"({name})' for name in "abc")
        inputs += f', "{self.address[0]}"{self.address[1:]}' if self.address else ""
        return f'asm volatile("{{ {ptx} }}" : "+{self.kind}"({variable}) : {inputs}{clobber});\n'

    def declared(self, variables: list[str]) -> str:
        """The operands and the first values."""
        kind, operand = _TYPES[self.kind], _TYPES[self.operand or self.kind]
        if self.uniform:
            return "u32 a = p0, b = p1, c = mode;\n" + "".join(
                f"u32 {name} = p1 + {i};\n" for i, name in enumerate(variables)
            )
        lines = [f"const {operand}* given = (const {operand}*)in;\n"]
        lines += [f"{operand} {name} = given[threadIdx.x + {1024 * k}];\n" for k, name in enumerate("abc")]
        lines.append(self.prelude)
        for i, name in enumerate(variables):
            start = self.start.replace("{i}", str(i)) or f"(({kind}*)(in + 65536))[threadIdx.x + {1024 * i}]"
            lines.append(f"{kind} {name} = {start};\n")
        return "".join(lines)

    def sunk(self, variables: list[str]) -> str:
        """Stores that keep the steps alive."""
        kind = _TYPES[self.kind]
        return "".join(
            f"(({kind}*)(out + {SINK}))[threadIdx.x + {1024 * i}] = {name};\n" for i, name in enumerate(variables)
        )

    def kept(self, variables: list[str]) -> str:
        """Wait for the last results before the clock is read."""
        return "".join(f'asm volatile("" : "+{self.kind}"({name}));\n' for name in variables)


def _kernel(step: MeasuredStep, body: str) -> str:
    bounds = step.attributes or "__launch_bounds__(1024)"
    return f'{_HEAD}extern "C" __global__ void {bounds} k{_SIGNATURE} {{\n{body}}}\n'


def chain(step: MeasuredStep) -> str:
    """A chain: each step needs the one before it. ``out[4 * warp]`` gets the cycles of the short and the long part.

    Their difference is the time of ``CHAIN_STEPS[2] - CHAIN_STEPS[1]`` steps, without the cost of the clock.
    """
    parts = [
        "".join(step.text("x", n) for n in range(count)) + _CLOCK.format(f"t{k}") for k, count in enumerate(CHAIN_STEPS)
    ]
    body = step.declared(["x"]) + "u32 t0 = 0, t1 = 0, t2 = 0;\n#pragma unroll 1\nfor (u32 k = 0; k < rounds; ++k) {\n"
    body += "".join(parts) + "}\nif ((threadIdx.x & 31) == 0) { u32* o = out + (threadIdx.x >> 5) * 4;\n"
    body += "o[0] = t1 - t0; o[1] = t2 - t1; }\n" + step.sunk(["x"])
    return _kernel(step, body)


def stream(step: MeasuredStep, streams: int = STREAMS, second: MeasuredStep | None = None, every: int = 2) -> str:
    """Independent streams of steps, one of ``every`` of them of the second step.

    ``mode`` 0 runs the short body ``rounds`` times, ``mode`` 1 the long one.

    ``out[4 * w]`` of warp w of the grid gets the SM, the clock before the loop and the clock behind it.
    """
    names = [f"x{i}" for i in range(streams)]
    loops = []
    for count in STREAM_STEPS:
        turns = (*[step] * (every - 1), second or step)
        steps = "".join(turns[n % every].text(names[n % streams], n) for n in range(count))
        loops.append(f"#pragma unroll 1\nfor (u32 k = 0; k < rounds; ++k) {{\n{steps}}}\n")
    body = step.declared(names) + "u32 begin, end, sm;\n__syncthreads();\n" + _CLOCK.format("begin")
    body += f"if (mode) {{\n{loops[1]}}} else {{\n{loops[0]}}}\n"
    body += step.kept(names) + _CLOCK.format("end")
    body += 'asm volatile("mov.u32 %0, %%smid;" : "=r"(sm));\n'
    body += "if ((threadIdx.x & 31) == 0) {\n"
    body += (
        "u32* o = out + ((blockIdx.x * blockDim.x + threadIdx.x) >> 5) * 4; o[0] = sm; o[1] = begin; o[2] = end; }\n"
    )
    return _kernel(step, body + step.sunk(names))
