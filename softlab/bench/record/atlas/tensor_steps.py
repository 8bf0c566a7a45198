"""The classes of matrix instructions, as steps of a chain or of streams.

Sources: PTX ISA, "Warp Level Matrix Multiply-Accumulate Instructions" (the registers of a fragment), and
``tests/hardware/record_tensor.py`` (which machine instructions the assembler makes of them).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from softlab.bench.record.atlas.memory_steps import SHARED_WORDS
from softlab.bench.record.atlas.templates import SINK, PtxStep

_TYPES = {"r": "u32", "d": "double"}
#: Values of each kind behind ``in`` that the recorder gives, in parts of 1024.
_GIVEN_PARTS = 8


@dataclass(frozen=True)
class MatrixStep:
    """One step of inline PTX on fragments; see :class:`softlab.bench.record.atlas.templates.MeasuredStep`.

    In ``ptx``, ``{x}`` stands for the ``registers`` that the next step needs, and ``{a}``, ``{b}`` and ``{c}`` for
    loaded fragments of ``operands`` registers. All registers are of the asm constraint ``kind``.
    """

    ptx: str
    registers: int
    operands: tuple[int, int, int]
    kind: str = "r"
    attributes: str = ""

    def text(self, variable: str, number: int) -> str:
        """The asm statement of one step."""
        ptx, at = self.ptx, 0
        for name, count in (("x", self.registers), *zip("abc", self.operands, strict=True)):
            ptx = ptx.replace(f"{{{name}}}", "{" + ", ".join(f"%{at + k}" for k in range(count)) + "}")
            at += count
        results = ", ".join(f'"+{self.kind}"({name})' for name in self._of(variable))
        given = ", ".join(f'"{self.kind}"({name})' for name in self._given())
        return f'asm volatile("{ptx}" : {results} : {given});\n'

    def declared(self, variables: list[str]) -> str:
        """The fragments that stay, and the first results."""
        kind = _TYPES[self.kind]
        lines = [f"const {kind}* given = (const {kind}*)(in + 65536);\n"]
        names = [*self._given(), *(name for variable in variables for name in self._of(variable))]
        for k, name in enumerate(names):
            lines.append(f"{kind} {name} = given[threadIdx.x + {1024 * (k % _GIVEN_PARTS)}];\n")
        return "".join(lines)

    def sunk(self, variables: list[str]) -> str:
        """Stores that keep the steps alive."""
        names = [name for variable in variables for name in self._of(variable)]
        kind = _TYPES[self.kind]
        return "".join(
            f"(({kind}*)(out + {SINK}))[threadIdx.x + {1024 * i}] = {name};\n" for i, name in enumerate(names)
        )

    def kept(self, variables: list[str]) -> str:
        """Wait for the last results before the clock is read."""
        names = [name for variable in variables for name in self._of(variable)]
        return "".join(f'asm volatile("" : "+{self.kind}"({name}));\n' for name in names)

    def _of(self, variable: str) -> list[str]:
        return [f"{variable}_{k}" for k in range(self.registers)]

    def _given(self) -> list[str]:
        return [f"{name}{k}" for name, count in zip("abc", self.operands, strict=True) for k in range(count)]


@dataclass(frozen=True)
class MatrixClass:
    """A class of products: the pattern of its machine instruction, its steps, and how many streams there are.

    ``chain``: each step adds to the result of the one before. ``operand``: it multiplies that result, None where a
    result is no factor.
    """

    wanted: str
    chain: MatrixStep
    operand: MatrixStep | None
    streams: int


def _product(wanted: str, shape: str, types: str, registers: tuple[int, int, int], kind: str = "r") -> MatrixClass:
    """``registers``: of the result, of A and of B. ``types``: of D, A, B and C."""
    of_result, of_a, of_b = registers
    beginning = f"mma.sync.aligned.{shape}.row.col.{types}"
    chain = MatrixStep(f"{beginning} {{x}}, {{a}}, {{b}}, {{x}};", of_result, (of_a, of_b, 0), kind)
    operand = None
    if of_result == of_a:
        operand = replace(chain, ptx=f"{beginning} {{x}}, {{x}}, {{b}}, {{c}};", operands=(0, of_b, of_result))
    elif of_result == of_b:
        operand = replace(chain, ptx=f"{beginning} {{x}}, {{a}}, {{x}}, {{c}};", operands=(of_a, 0, of_result))
    # As many results as leave room for 16 warps per scheduler; those of doubles take two registers each.
    streams = {2: 8, 4: 4}[of_result] if kind == "r" else 2 if of_a > 4 else 4
    return MatrixClass(wanted, chain, operand, streams)


#: Class, as nvdisasm prints it -> its steps.
PRODUCTS: dict[str, MatrixClass] = {
    "HMMA.1688.F32": _product(r"HMMA\.1688\.F32", "m16n8k8", "f32.f16.f16.f32", (4, 2, 1)),
    "HMMA.1688.F16": _product(r"HMMA\.1688\.F16", "m16n8k8", "f16.f16.f16.f16", (2, 2, 1)),
    "HMMA.16816.F32": _product(r"HMMA\.16816\.F32", "m16n8k16", "f32.f16.f16.f32", (4, 4, 2)),
    "HMMA.16816.F16": _product(r"HMMA\.16816\.F16", "m16n8k16", "f16.f16.f16.f16", (2, 4, 2)),
    "HMMA.1688.F32.BF16": _product(r"HMMA\.1688\.F32\.BF16", "m16n8k8", "f32.bf16.bf16.f32", (4, 2, 1)),
    "HMMA.16816.F32.BF16": _product(r"HMMA\.16816\.F32\.BF16", "m16n8k16", "f32.bf16.bf16.f32", (4, 4, 2)),
    "HMMA.1684.F32.TF32": _product(r"HMMA\.1684\.F32\.TF32", "m16n8k4", "f32.tf32.tf32.f32", (4, 2, 1)),
    "HMMA.1688.F32.TF32": _product(r"HMMA\.1688\.F32\.TF32", "m16n8k8", "f32.tf32.tf32.f32", (4, 4, 2)),
    "IMMA.8816.S8.S8": _product(r"IMMA\.8816\.S8\.S8", "m8n8k16", "s32.s8.s8.s32", (2, 1, 1)),
    "IMMA.16816.S8.S8": _product(r"IMMA\.16816\.S8\.S8", "m16n8k16", "s32.s8.s8.s32", (4, 2, 1)),
    "IMMA.16832.S8.S8": _product(r"IMMA\.16832\.S8\.S8", "m16n8k32", "s32.s8.s8.s32", (4, 4, 2)),
    "IMMA.16832.U8.U8": _product(r"IMMA\.16832\.U8\.U8", "m16n8k32", "s32.u8.u8.s32", (4, 4, 2)),
    "DMMA.8x8x4": _product(r"DMMA\.8x8x4", "m8n8k4", "f64.f64.f64.f64", (2, 1, 1), "d"),
    "DMMA.16x8x4": _product(r"DMMA\.16x8x4", "m16n8k4", "f64.f64.f64.f64", (4, 2, 1), "d"),
    "DMMA.16x8x8": _product(r"DMMA\.16x8x8", "m16n8k8", "f64.f64.f64.f64", (4, 4, 2), "d"),
    "DMMA.16x8x16": _product(r"DMMA\.16x8x16", "m16n8k16", "f64.f64.f64.f64", (4, 8, 4), "d"),
}
#: Products that are measured without the reuse cache, too, and of one warp with other stall counts.
UNKEPT = ("HMMA.1688.F32", "HMMA.16816.F32", "HMMA.16816.F16", "HMMA.1688.F32.TF32", "IMMA.16832.S8.S8")
STALLS = (2, 4, 5)
#: Name -> pattern and a step on the register ``{r}`` of a result.
OTHERS = {
    "FFMA": (r"FFMA", "{ .reg .f32 f; mov.b32 f, {r}; fma.rn.f32 f, f, f, f; mov.b32 {r}, f; }"),
    "LOP3": (r"LOP3\.LUT", "lop3.b32 {r}, {r}, %4, %4, 0x6a;"),
    "IMAD": (r"IMAD", "mad.lo.u32 {r}, {r}, {r}, {r};"),
    "DFMA": (r"DFMA", "fma.rn.f64 {r}, {r}, {r}, {r};"),
    "HFMA2": (r"HFMA2", "fma.rn.f16x2 {r}, {r}, {r}, {r};"),
}
#: Products -> what works on their results behind them.
AMONG: dict[str, tuple[str, ...]] = {
    "HMMA.1688.F32": ("FFMA",),
    "HMMA.16816.F32": ("FFMA", "LOP3", "IMAD", "HFMA2"),
    "IMMA.16832.S8.S8": ("FFMA", "LOP3"),
    "DMMA.8x8x4": ("DFMA",),
}
#: Kind of register -> how many registers of a result others work on.
WORKED_ON = {"r": (1, 2, 4), "d": (1, 2)}
#: Pairs of products of the same fragments, in every other stream.
PAIRS = {"HMMA.16816.F32": "IMMA.16832.S8.S8", "HMMA.16816.F16": "HMMA.1688.F16"}


def worked_on(name: str, other: str, count: int) -> MatrixStep:
    """A product, and behind it an instruction for each of the first registers of its result.

    The next product needs them, so that the compiler cannot put all products together.
    """
    chain = PRODUCTS[name].chain
    behind = "".join(" " + OTHERS[other][1].replace("{r}", f"%{k}") for k in range(count))
    return replace(chain, ptx=chain.ptx + behind)


#: A word holds the address of the row that its lane gives next: of the 8 rows of the first matrix, p0 bytes apart,
#: lane 4 j + w gets word w of row j. Transposed, a lane gets two halves of a column, the second of an odd row.
_ROWS = f"""extern __shared__ __align__(128) u32 smem[];
const u32 base = smem_address(smem), lane = threadIdx.x & 31;
for (u32 i = threadIdx.x; i < {SHARED_WORDS}; i += blockDim.x) smem[i] = 0;
__syncthreads();
"""
_PLAIN = f"""{_ROWS}for (u32 i = threadIdx.x; i < 32; i += blockDim.x) smem[(i / 4 * p0) / 4 + i % 4] = base + p0 * i;
__syncthreads();
"""
_TRANSPOSED = f"""{_ROWS}for (u32 i = threadIdx.x; i < 32; i += blockDim.x)
  ((u16*)smem)[i % 4 * p0 + i / 4] = (u16)(base + p0 * i);
__syncthreads();
"""
_START = "base + lane * p0"
#: The number of matrices -> the end of the PTX name, the end of the machine instruction's, registers beyond the first.
_COUNTS = {"": ("x1", ""), ".2": ("x2", ", t"), ".4": ("x4", ", t, u, v")}


def _loaded(count: str, trans: bool) -> PtxStep:
    name, more = _COUNTS[count]
    ptx = f"ldmatrix.sync.aligned.m8n8.{name}{'.trans' if trans else ''}.shared.b16 {{{{x}}{more}}}, [{{x}}];"
    prelude = _TRANSPOSED if trans else _PLAIN
    return PtxStep(f".reg .u32 t, u, v; {ptx}", prelude=prelude, start=_START, memory=True)


def _stored(count: str, trans: bool) -> PtxStep:
    name, _ = _COUNTS[count]
    values = {"": "{a}", ".2": "{a}, {b}", ".4": "{a}, {b}, {c}, {a}"}[count]
    ptx = f"stmatrix.sync.aligned.m8n8.{name}{'.trans' if trans else ''}.shared.b16 [{{x}}], {{{values}}};"
    return PtxStep(ptx, prelude=_ROWS, start=_START, memory=True)


#: Class -> its pattern and its step.
MATRIX_LOADS = {
    f"LDSM.16.{kind}{count}": (rf"LDSM\.16\.{kind}{count.replace('.', chr(92) + '.')}", _loaded(count, trans))
    for kind, trans in (("M88", False), ("MT88", True))
    for count in _COUNTS
}
MATRIX_STORES = {
    f"STSM.16.{kind}{count}": (rf"STSM\.16\.{kind}{count.replace('.', chr(92) + '.')}", _stored(count, trans))
    for kind, trans in (("M88", False), ("MT88", True))
    for count in _COUNTS
}
#: A store of one matrix, whose rows are neighbours, and each lane's load of the word that it has stored.
STORED_AND_LOADED = PtxStep(
    "stmatrix.sync.aligned.m8n8.x1.shared.b16 [{x}], {{x}}; ld.volatile.shared.u32 {x}, [{m}];",
    prelude=_ROWS,
    start=_START,
    memory=True,
    address="r(base + lane * 4)",
)
MOVED = PtxStep("movmatrix.sync.aligned.m8n8.trans.b16 {x}, {x};")
