"""Random straight-line programs, always the same: CUDA C++ through NVRTC, and chains of PTX instructions.

Each reads four random 64-bit words per thread and gives three results. Nothing in them depends on the bits of a NaN, on
undefined results, or (but for a last function in some) on an approximation, so that the emulator must give what a GPU
gives, bit by bit.
"""

from __future__ import annotations

import hashlib
import random
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import cycle

import numpy as np

from softlab.cuda.compile import Program, compile_program
from softlab.emulator.ptx.syntax import DTYPES
from softlab.kernel import Kernel
from tests.emulator.opcodes.cases import lower
from tests.emulator.opcodes.hardware import FORMS

ARCH = "sm_90"
WORDS = 4
RESULTS = 3
CUDA_PROGRAMS = 140
PTX_PROGRAMS = 100
#: Programs compiled together.
TOGETHER = 20
#: Threads of a program whose results are recorded.
RECORDED = 32


@dataclass(frozen=True)
class Straight:
    """One program: kernel ``name`` of ``module``; ``results`` are PTX types, ``ulps`` how far the second may be off."""

    name: str
    module: int
    threads: int
    results: tuple[str, str, str]
    text: str
    ulps: int = 0
    function: str = ""

    @property
    def lanes(self) -> np.ndarray:
        """The threads that are recorded."""
        return np.linspace(0, self.threads - 1, RECORDED).astype(int)

    @property
    def inputs(self) -> np.ndarray:
        """(words, threads) uint64: raw bits, small numbers, and the numbers at which arithmetic turns."""
        random = np.random.default_rng(list(self.name.encode()))
        shape = (WORDS, self.threads)
        raw = random.integers(0, 2**64, shape, np.uint64)
        small = (random.integers(-300, 300, shape)).astype(np.int64).view(np.uint64)
        floats = _SPECIAL_FLOATS[random.integers(0, len(_SPECIAL_FLOATS), (WORDS, self.threads, 2))]
        doubles = _SPECIAL_DOUBLES[random.integers(0, len(_SPECIAL_DOUBLES), shape)]
        near = (random.standard_normal((WORDS, self.threads, 2)) * 4).astype(np.float32)
        choices = [raw, small, floats.view(np.uint64)[..., 0], doubles.view(np.uint64), near.view(np.uint64)[..., 0]]
        return np.choose(random.integers(0, len(choices), shape), choices)


_SPECIAL_FLOATS = np.array(
    [0, -0.0, 1, -1, np.inf, -np.inf, np.nan, 1e-45, -1e-40, 1.17549435e-38, 3.4028235e38, 0.5, 1.5, 2.5, -2.5,
     8388607.5, 16777217, 2147483648, -2147483649, 4294967296, 65504, 65520, 5.96e-8, 0.33333334],
    np.float32,
)  # fmt: skip
_SPECIAL_DOUBLES = np.array(
    [0, -0.0, 1, -1, np.inf, -np.inf, np.nan, 5e-324, -1e-310, 2.2250738585072014e-308, 1.7976931348623157e308, 0.5,
     2.5, 4503599627370495.5, 9223372036854775808.0, -9223372036854775809.0, 18446744073709551616.0, 1e-40, 3.5e38,
     16777217, 2147483647.5, 1 / 3],
    np.float64,
)  # fmt: skip

# CUDA C++. Each letter names a variable of a type: i int, u unsigned, l and w of 64 bits, f float, d double.
_TYPES = {"i": "int", "u": "unsigned", "l": "long long", "w": "unsigned long long", "f": "float", "d": "double"}
_EXPRESSIONS = {
    "i": """i+i i-i i*i i&i i|i i^i ~i -i i<<(u&31) i>>(u&31) i/((i&4095)|1) i%((i&255)|1) min(i,i) max(i,i) abs(i)
        __mulhi(i,i) (i<i?i:i) (u<u?i:i) (f<f?i:i) (d>=d?i:i) __clz(i) __popc(u) __ffs(i) (int)l (int)w (short)i
        (int)(tiny)i __dp4a(i,i,i) (int)f (int)d __float2int_rn(f) __float2int_ru(f) __double2int_rd(d)
        __funnelshift_r(i,i,u) __sad(i,i,u) i*i+i (i>i)+(l>l) (f!=f) isinf(f) i*5 i-7 i*i*i (i&1?i:-i) __rhadd(i,i)""",
    "u": """u+u u-u u*u u&u u|u u^u ~u u<<(u&31) u>>(u&31) u/((u&4095)|1) u%((u&255)|1) min(u,u) max(u,u) __umulhi(u,u)
        __brev(u) __byte_perm(u,u,u) (unsigned)w (unsigned)i (unsigned)f (unsigned)d __float2uint_rn(f)
        (unsigned)(short)i (unsigned)(byte)u __vadd4(u,u) __vmaxs2(u,u) __vabsdiffu4(u,u) __vcmpeq4(u,u)
        __funnelshift_l(u,u,u)
        (i>=i?u:u) (u>>7)+(u<<25) __popcll(w) u*u+u __usad(u,u,u) (u^(u>>16))*0x45d9f3b (l<l)*u __uhadd(u,u)""",
    "l": """l+l l-l l*l l&l l^l -l l<<(u&63) l>>(u&63) l/((l&1048575)|1) l%((i&4095)|1) min(l,l) max(l,l) __mul64hi(l,l)
        (l<l?l:l) (long)i*i (long)i (long)f (long)d __double2ll_rn(d) __float2ll_rd(f) llabs(l) (long)w __clzll(l)
        l+i l*u l*l+l (f>f?l:-l)""",
    "w": """w+w w-w w*w w&w w|w w^w ~w w<<(u&63) w>>(u&63) w/((w&65535)|1) w%((w&1023)|1) min(w,w) max(w,w)
        __umul64hi(w,w) __brevll(w) (word)u*u (word)u (word)f (word)d (w<w?w:w) w+u ((word)u<<32|u) w*31 __ffsll(l)""",
    "f": """f+f f-f f*f f/f fmaf(f,f,f) f*f+f fminf(f,f) fmaxf(f,f) fabsf(f) -f sqrtf(f) truncf(f) floorf(f) ceilf(f)
        rintf(f) (f<f?f:f) (i>i?f:f) (float)i (float)u (float)l (float)w (float)d __fadd_rz(f,f) __fmul_ru(f,f)
        __fmaf_rd(f,f,f) __frcp_rn(f) __fsqrt_rz(f) __fdiv_rd(f,f) __saturatef(f) __int2float_rz(i) __ull2float_ru(w)
        __double2float_rd(d) __half2float(__float2half(f)) __half2float(__hadd(__float2half(f),__float2half(f)))
        __half2float(__hfma(__float2half(f),__float2half(f),__float2half(f))) fdimf(f,f) f*0.5f f+1.0f f*f-f
        __half2float(__int2half_rn(i)) __fsub_ru(f,f)""",
    "d": """d+d d-d d*d d/d fma(d,d,d) d*d+d fmin(d,d) fmax(d,d) fabs(d) -d sqrt(d) trunc(d) floor(d) ceil(d) rint(d)
        (d<d?d:d) (double)i (double)u (double)l (double)w (double)f __dadd_rz(d,d) __dmul_rd(d,d) __fma_ru(d,d,d)
        __drcp_rn(d) __dsqrt_rd(d) __ddiv_ru(d,d) __ll2double_rz(l) fdim(d,d) d*0.1 (f==f?d:d+1)""",
}
#: Of functions that are approximate: ulps by CUDA's documentation (CUDA C++ Programming Guide, "Mathematical
#: Functions"). The emulator and the GPU may each be off by that much, to either side.
_FUNCTIONS = {"expf": 2, "exp2f": 2, "exp10f": 2, "logf": 1, "log2f": 1, "log10f": 2, "log1pf": 1, "sinf": 2, "cosf": 2,
              "tanhf": 2, "rsqrtf": 2, "cbrtf": 1, "erff": 2, "atanf": 2, "sinhf": 3, "expm1f": 1}  # fmt: skip
_NAMES = "using word = unsigned long long; using byte = unsigned char; using tiny = signed char;\n"
_WORD = re.compile(r"\b([iulwfd])\b(?!\()")


def _cuda_program(number: int) -> tuple[str, str, int]:
    """(body of the kernel, approximate function at its end or "", its ulps)."""
    draw = random.Random(f"cuda {number}")
    variables = {kind: [f"{kind}0", f"{kind}1"] for kind in _TYPES}
    lines = [
        "const int t = threadIdx.x, n = blockDim.x;",
        "word x0 = in[t], x1 = in[n + t], x2 = in[2 * n + t], x3 = in[3 * n + t];",
        "int i0 = x0, i1 = x2; unsigned u0 = x1 >> 32, u1 = x3; long long l0 = x1, l1 = x2; word w0 = x3, w1 = x0;",
        "float f0 = __uint_as_float(x0 >> 32), f1 = __uint_as_float(x2);",
        "double d0 = __longlong_as_double(x1), d1 = __longlong_as_double(x3);",
    ]
    for step in range(draw.randint(10, 30)):
        kind = draw.choice("iiuulwffffdd")
        template = draw.choice(_EXPRESSIONS[kind].split())
        name = f"{kind}{step + 2}"
        # Mostly what was computed last, so that long chains grow.
        expression = _WORD.sub(lambda m: _pick(draw, variables[m.group(1)]), template)
        lines.append(f"{_TYPES[kind]} {name} = {expression};".replace("(long)", "(long long)"))
        variables[kind].append(name)
    integers = [name for kind in "iulw" for name in variables[kind]]
    whole = " ^ ".join(f"(word){name} * {2 * number + 1}u" for number, name in enumerate(integers))
    function = draw.choice(list(_FUNCTIONS)) if number % 4 == 3 else ""
    single = variables["f"][-1]
    lines += [
        f"out[t] = {whole};",
        f"out[n + t] = __float_as_uint({function}({single}));",
        f"out[2 * n + t] = __double_as_longlong({variables['d'][-1]});",
    ]
    return "\n  ".join(lines), function, 2 * _FUNCTIONS.get(function, 0)


def _pick(draw: random.Random, names: Sequence[str]) -> str:
    return names[-1] if draw.random() < 0.4 else draw.choice(list(names))


# PTX. Registers of one of these types may be put where another of the same pool is asked for.
_POOLS = {
    **dict.fromkeys(("b16", "u16", "s16"), "b16"),
    **dict.fromkeys(("b32", "u32", "s32", "u16x2", "s16x2"), "b32"),
    **dict.fromkeys(("b64", "u64", "s64"), "b64"),
    **{kind: kind for kind in ("f16", "bf16", "f16x2", "bf16x2", "f32", "f64", "pred")},
}
_DECLARED = {"f16": "b16", "bf16": "b16", "f16x2": "b32", "bf16x2": "b32", "f32": "f32", "f64": "f64", "pred": "pred"}
#: The sign of a NaN would come out, a register would hold bits of a NaN, the result is not defined, or CC is needed.
_LEFT_OUT = re.compile(r"copysign|xorsign|tf32|approx|\.full|fns|\.cc|^addc|^subc|^madc|^mov|\{|\||pack")


@lru_cache(maxsize=1)
def _chain_forms() -> list[tuple[str, tuple[str, ...], tuple[str, ...]]]:
    """(instruction's text with letters for operands, source types, result types)."""
    found = []
    for text in FORMS:
        semantics = lower(text)
        letters = re.findall(r"(?<=[ ,])[a-z](?=,|$)", text)
        fits = len(letters) == len(semantics.sources) + 1 and len(semantics.results) == 1
        if fits and not _LEFT_OUT.search(text) and {*semantics.sources, *semantics.results} <= set(_POOLS):
            found.append((text, semantics.sources, semantics.results))
    return found


def _ptx_program(number: int, most: int = 24) -> tuple[str, tuple[str, ...]]:
    """(body of the entry, types of the results). ``most``: instructions with a result that is no predicate."""
    draw = random.Random(f"ptx {number}")
    pools: dict[str, list[str]] = {pool: [] for pool in set(_POOLS.values())}
    lines: list[str] = []

    def declare(pool: str) -> str:
        name = f"%{pool}_{sum(map(len, pools.values()))}"
        lines.append(f".reg .{_DECLARED.get(pool, pool)} {name};")
        pools[pool].append(name)
        return name

    for word in range(WORDS):
        lines.append(f"ld.global.u64 %x{word}, [%a];\n add.u64 %a, %a, %s;")
        lines.append(f"mov.b64 {{%lo{word}, %hi{word}}}, %x{word};")
    for word, pool in enumerate(("b64", "f64", "b64", "f64")):
        lines.append(f"mov.b64 {declare(pool)}, %x{word};")
    halves = cycle([f"%{half}{word}" for half in ("hi", "lo") for word in range(WORDS)])
    for pool in ("b32", "f32", "f16x2", "bf16x2", "f32", "b32"):
        lines.append(f"mov.b32 {declare(pool)}, {next(halves)};")
    for pool in ("b16", "f16", "bf16"):
        lines.append(f"cvt.u16.u32 {declare(pool)}, {next(halves)};")
    lines.append(f"setp.lt.u32 {declare('pred')}, %lo0, %hi1;")
    results: list[tuple[str, str]] = []
    forms = _chain_forms()
    while len(results) < most:
        text, sources, (result,) = draw.choice(forms)
        names = iter([_pick(draw, pools[_POOLS[kind]]) for kind in sources])
        destination = declare(_POOLS[result])
        opcode, operands = text.split(" ", 1)
        placed = [destination]
        for operand in operands.split(", ")[1:]:
            placed.append(next(names) if re.fullmatch("[a-z]", operand) else operand)
        lines.append(f"{opcode} {', '.join(placed)};")
        if result != "pred":
            results.append((destination, _POOLS[result]))
    last = results[-RESULTS:]
    for name, pool in last:
        lines.append(f"st.global.b{8 * DTYPES[pool].itemsize} [%o], {name};\n add.u64 %o, %o, %s;")
    return "\n ".join(lines), tuple(pool for _, pool in last)


_PTX_HEAD = ".version 8.3\n.target sm_90\n.address_size 64\n"
_PTX_START = """ .reg .u64 %a, %o, %s, %t64, %x<4>;
 .reg .u32 %t, %n, %lo<4>, %hi<4>;
 ld.param.u64 %a, [{name}_in]; ld.param.u64 %o, [{name}_out];
 mov.u32 %t, %tid.x; mov.u32 %n, %ntid.x; mul.wide.u32 %t64, %t, 8; mul.wide.u32 %s, %n, 8;
 add.u64 %a, %a, %t64; add.u64 %o, %o, %t64;
"""


def cuda_program(number: int, module: int = -1) -> Straight:
    """The random program of that number in CUDA C++."""
    name, threads = f"c{number}", (32, 64, 96, 256)[number % 4]
    body, function, ulps = _cuda_program(number)
    text = f'extern "C" __global__ void {name}(const word* in, word* out) {{\n  {body}\n}}\n'
    return Straight(name, module, threads, ("b64", "f32", "f64"), text, ulps, function)


def ptx_program(number: int, module: int = -1, most: int = 24) -> Straight:
    """The random program of that number in PTX. ``most``: instructions with a result that is no predicate."""
    name, threads = f"p{number}", (32, 128, 40, 256)[number % 4]
    body, results = _ptx_program(number, most)
    head = f".visible .entry {name}(.param .u64 {name}_in, .param .u64 {name}_out)\n{{\n"
    text = f"{head}{_PTX_START.format(name=name)} {body}\n ret;\n}}\n"
    return Straight(name, module, threads, results, text)  # type: ignore[arg-type]


@lru_cache(maxsize=1)
def programs() -> tuple[Straight, ...]:
    """All programs that are recorded."""
    first = -(-CUDA_PROGRAMS // TOGETHER)
    return (
        *(cuda_program(number, number // TOGETHER) for number in range(CUDA_PROGRAMS)),
        *(ptx_program(number, first + number // TOGETHER) for number in range(PTX_PROGRAMS)),
    )


@lru_cache(maxsize=64)
def compiled(module: int) -> Program:
    """The recorded programs that are compiled together, under the name of the first."""
    return together([program for program in programs() if program.module == module])


def together(group: Sequence[Straight]) -> Program:
    """Programs of one kind as one module, under the name of the first."""
    text = "".join(program.text for program in group)
    if group[0].name.startswith("c"):
        source = f"#include <cuda_fp16.h>\n{_NAMES}{text}"
        return compile_program(source, group[0].name, arch=ARCH, file="programs.cu")
    return Program(
        source="", name=group[0].name, file="programs.ptx", arch=ARCH, options=(), nvrtc="", entry=group[0].name,
        ptx=_PTX_HEAD + text, cubin=b"", registers=0, static_smem_bytes=0, local_bytes=0, spill_bytes=0,
    )  # fmt: skip


def emulated(program: Straight, module: Program | None = None) -> np.ndarray:
    """(results, threads) uint64, from the emulator. ``module`` has the program; None: the recorded one."""
    out = np.zeros((RESULTS, program.threads), np.uint64)
    kernel = Kernel.from_program(replace(module or compiled(program.module), entry=program.name))
    kernel.run(1, program.threads, (program.inputs, out), record=False)
    return out


def unequal(number: int) -> str:
    """Run a further PTX program with all checks and without: how the two differ, or ""."""
    program = ptx_program(number, most=random.Random(number).randint(RESULTS, 24))
    whole = together([program])
    kernel, inputs, outputs = Kernel.from_program(whole), program.inputs, []
    for check in (True, False):
        outputs.append(np.zeros((RESULTS, program.threads), np.uint64))
        kernel.run(1, program.threads, (inputs, outputs[-1]), check=check, record=check)
    same = np.array_equal(*outputs)
    return "" if same else f"{(outputs[0] != outputs[1]).sum()} results differ with and without checks"


def alone(program: Straight) -> str:
    """A PTX program as a module of its own."""
    return _PTX_HEAD + program.text


def narrow(results: np.ndarray, kind: str) -> np.ndarray:
    """The low bits of (threads,) uint64 that a result of this PTX type has."""
    size = DTYPES[kind].itemsize
    return results.view(f"u{size}")[:: 8 // size]


def digest() -> str:
    """Of all programs and their inputs: a record that names another is of other programs."""
    whole = hashlib.sha256()
    for program in programs():
        whole.update(program.text.encode() + program.inputs.tobytes())
    return whole.hexdigest()[:16]
