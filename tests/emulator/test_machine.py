"""Control flow, memory and geometry of whole kernels, against the same computation thread by thread in Python."""

from __future__ import annotations

import numpy as np
import pytest

from softlab.emulator.machine.clocks import clock
from softlab.emulator.machine.compiler import EmulatedProgram
from softlab.emulator.machine.prepare import prepare
from softlab.emulator.ptx.parser import parse
from softlab.errors import Error, UnsupportedInstruction
from softlab.kernel import Kernel


def run(source: str, grid, block, *args, **how):
    return Kernel('extern "C" __global__ void k' + source, "k").run(grid, block, args, **how)


@pytest.mark.parametrize("block", [1, 31, 32, 33, 100, 256, 1000])
def test_loops_whose_length_depends_on_the_data(block):
    """Collatz steps: every lane leaves the loop at a time of its own."""
    n = 3 * block
    start = np.arange(1, n + 1, dtype=np.uint32)
    steps = np.zeros(n, np.int32)
    run(
        """(const unsigned* x, int* steps) {
          int i = blockIdx.x * blockDim.x + threadIdx.x; unsigned v = x[i]; int n = 0;
          while (v != 1) { if (v % 2) v = 3 * v + 1; else v /= 2; ++n; }
          steps[i] = n; }""",
        3, block, start, steps,
    )  # fmt: skip

    def collatz(v: int) -> int:
        n = 0
        while v != 1:
            v = 3 * v + 1 if v % 2 else v // 2
            n += 1
        return n

    assert steps.tolist() == [collatz(v) for v in range(1, n + 1)]


def test_branches_in_branches_and_a_switch():
    values = np.random.default_rng(0).integers(-20, 20, 320).astype(np.int32)
    out = np.zeros_like(values)
    run(
        """(const int* x, int* y) {
          int i = blockIdx.x * blockDim.x + threadIdx.x, v = x[i], r = 0;
          if (v > 0) { if (v & 1) r = v * 3; else { r = v / 2; if (r > 4) r -= 100; } }
          else if (v < -10) r = -v;
          switch (v & 7) { case 0: r += 1; break; case 1: r ^= 5; case 2: r += 7; break; case 5: y[i] = r; return;
                           case 6: r *= 2; break; case 7: r = 3 - r; break; }
          y[i] = r + 1000; }""",
        2, 160, values, out,
    )  # fmt: skip

    def scalar(v: int) -> int:
        r = 0
        if v > 0:
            r = v * 3 if v & 1 else v // 2
            if not v & 1 and r > 4:
                r -= 100
        elif v < -10:
            r = -v
        case = v & 7
        if case == 5:
            return r
        if case == 1:
            r ^= 5
        r = {0: r + 1, 1: r + 7, 2: r + 7, 6: r * 2, 7: 3 - r}.get(case, r)
        return r + 1000

    assert out.tolist() == [scalar(int(v)) for v in values]


@pytest.mark.parametrize(("grid", "block"), [((2, 3, 2), (4, 3, 5)), ((5,), (7, 2)), (3, (1, 1, 64))])
def test_indices_in_three_dimensions(grid, block):
    sizes = [(*(s if isinstance(s, tuple) else (s,)), 1, 1)[:3] for s in (grid, block)]
    blocks, threads = (int(np.prod(s)) for s in sizes)
    out = np.full((blocks * threads, 12), -1, np.int32)
    run(
        """(int* out) {
          int b = (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
          int t = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
          int* o = out + (b * blockDim.x * blockDim.y * blockDim.z + t) * 12;
          int lane, warp; asm("mov.u32 %0, %%laneid;" : "=r"(lane)); asm("mov.u32 %0, %%warpid;" : "=r"(warp));
          o[0] = blockIdx.x; o[1] = blockIdx.y; o[2] = blockIdx.z; o[3] = threadIdx.x; o[4] = threadIdx.y;
          o[5] = threadIdx.z; o[6] = gridDim.y; o[7] = blockDim.z; o[8] = lane; o[9] = warp; o[10] = b; o[11] = t; }""",
        grid, block, out,
    )  # fmt: skip
    (gx, gy, gz), (bx, by, bz) = sizes
    expected = [
        [x, y, z, i, j, k, gy, bz, (t := (k * by + j) * bx + i) % 32, t // 32, (z * gy + y) * gx + x, t]
        for z in range(gz) for y in range(gy) for x in range(gx)
        for k in range(bz) for j in range(by) for i in range(bx)
    ]  # fmt: skip
    assert out.tolist() == expected


def test_a_grid_of_more_blocks_than_a_batch_holds():
    out = np.zeros(5000, np.int32)
    run("(int* out) { out[blockIdx.x] = blockIdx.x * gridDim.x; }", 5000, 1, out)
    assert (out == np.arange(5000) * 5000).all()


def test_shared_memory_starts_anew_in_each_batch():
    out = np.zeros(4000, np.int32)
    run(
        """(int* out) { __shared__ int s[32];
          if (blockIdx.x == 0) s[threadIdx.x] = 7;
          __syncthreads();
          if (threadIdx.x == 0) out[blockIdx.x] = s[3]; }""",
        4000, 32, out, check=False,
    )  # fmt: skip
    assert out[0] == 7
    assert not out[1:].any()


def test_barriers_and_early_exit():
    x = np.arange(200, dtype=np.float32)
    y = np.zeros_like(x)
    run(
        """(const float* x, float* y, int n) {
          __shared__ float s[128]; int t = threadIdx.x, i = blockIdx.x * 100 + t;
          if (t >= n) return;
          s[t] = x[i]; __syncthreads();
          for (int k = 0; k < 3; ++k) { float v = s[(t + 1) % n]; __syncthreads(); s[t] = v; __syncthreads(); }
          y[i] = s[t]; }""",
        2, 128, x, y, 100,
    )  # fmt: skip
    assert (y.reshape(2, 100) == np.roll(x.reshape(2, 100), -3, axis=1)).all()


def test_named_barriers_between_producers_and_consumers():
    out = np.zeros(32, np.int32)
    run(
        """(int* out) { __shared__ int s[32]; int t = threadIdx.x;
          if (t < 32) { s[t] = t * t; asm volatile("bar.arrive 1, 64;" ::: "memory"); }
          else { asm volatile("bar.sync 1, 64;" ::: "memory"); out[t - 32] = s[63 - t]; } }""",
        1, 64, out,
    )  # fmt: skip
    assert out.tolist() == [t * t for t in range(31, -1, -1)]


@pytest.mark.parametrize(("vector", "dtype", "count"), [
    ("float2", np.float32, 2), ("float4", np.float32, 4), ("double2", np.float64, 2), ("int4", np.int32, 4),
    ("short2", np.int16, 2), ("char4", np.int8, 4), ("ulonglong2", np.uint64, 2), ("ushort4", np.uint16, 4),
])  # fmt: skip
def test_vector_accesses(vector, dtype, count):
    x = np.random.default_rng(1).integers(0, 100, 64 * count).astype(dtype)
    y = np.zeros_like(x)
    run(
        f"""(const {vector}* x, {vector}* y) {{ __shared__ {vector} s[64]; int t = threadIdx.x;
          s[t] = x[t]; __syncthreads(); {vector} v = s[63 - t]; v.x += 1; y[t] = v; }}""",
        1, 64, x, y,
    )  # fmt: skip
    expected = x.reshape(64, count)[::-1].copy()
    expected[:, 0] += dtype(1)
    assert (y.reshape(64, count) == expected).all()


def test_a_pointer_that_may_be_shared_or_global_or_local():
    x = np.arange(96, dtype=np.int32)
    out = np.zeros(96, np.int32)
    run(
        """(int* x, int* out) { __shared__ int s[96]; int own[4]; int t = threadIdx.x;
          for (int i = 0; i < 4; ++i) own[(i + t) % 4] = 1000 + i;
          s[t] = 5 * t; __syncthreads();
          int* p = t % 3 == 0 ? s + t : t % 3 == 1 ? x + t : own + t % 4;
          out[t] = *p; *p = -t; __syncthreads();
          out[t] += s[t] + own[t % 4]; }""",
        1, 96, x, out,
    )  # fmt: skip
    expected = []
    for t in range(96):
        read = {0: 5 * t, 1: t, 2: 1000}[t % 3]
        expected.append(read + (-t if t % 3 == 0 else 5 * t) + (-t if t % 3 == 2 else 1000))
    assert out.tolist() == expected
    assert x.tolist() == [-t if t % 3 == 1 else t for t in range(96)]


def test_local_arrays_indexed_by_data():
    index = np.random.default_rng(2).integers(0, 16, 64).astype(np.int32)
    out = np.zeros(64, np.float64)
    run(
        """(const int* index, double* out) { double a[16]; int t = threadIdx.x;
          for (int i = 0; i < 16; ++i) a[i] = i * 0.5 + t;
          a[index[t]] *= 2; double s = 0; for (int i = 0; i < 16; ++i) s += a[i];
          out[t] = s + a[index[t]]; }""",
        1, 64, index, out,
    )  # fmt: skip
    for t in range(64):
        a = [i * 0.5 + t for i in range(16)]
        a[index[t]] *= 2
        assert out[t] == sum(a) + a[index[t]]


SYMBOLS = """
__device__ int table[4] = {10, 20, 30, 40};
__constant__ float factor[2] = {0.5f, 4.0f};
__device__ int counter;
struct Pair { int a; double b; };
__device__ __noinline__ double weigh(Pair p, float x) { return p.a * x + p.b; }
__device__ __noinline__ double twice(Pair p, float x) { if (x < 0) return -1; return 2 * weigh(p, x); }
extern "C" __global__ void k(Pair p, double* out) {
  int t = threadIdx.x;
  out[t] = twice(p, factor[t & 1] * table[t & 3] - (t == 5 ? 1000 : 0)) + counter;
  __syncthreads();
  if (t == 0) counter = 1;
}
"""


def test_device_functions_structures_and_module_variables():
    kernel = Kernel(SYMBOLS, "k")
    pair = np.zeros(1, [("a", "i4"), ("b", "f8")])
    pair = np.zeros(1, np.dtype([("a", "i4"), ("b", "f8")], align=True))
    pair["a"], pair["b"] = 3, 0.25
    for _ in range(2):
        kernel.reset()  # module variables start again
        out = np.zeros(8)
        kernel.run(1, 8, (pair[0], out))
        x = [[0.5, 4][t & 1] * [10, 20, 30, 40][t & 3] - (1000 if t == 5 else 0) for t in range(8)]
        assert out.tolist() == [-1 if v < 0 else 2 * (3 * v + 0.25) for v in x]


def test_printf(capsys):
    run(
        r"""(int n) { if (threadIdx.x < n) printf("%d|%5.2f|%s|%c|%lld|%x|%%\n", (int)threadIdx.x, threadIdx.x / 3.0,
          "text", 'A' + threadIdx.x, 1ll << 40, 255u); }""",
        1, 32, 2,
    )  # fmt: skip
    assert capsys.readouterr().out == "0| 0.00|text|A|1099511627776|ff|%\n1| 0.33|text|B|1099511627776|ff|%\n"


def test_clocks_grow():
    out = np.zeros(3, np.int64)
    run(
        """(long long* out, int n) { long long a = clock64(); int v = n;
          for (int i = 0; i < n; ++i) v = v * 3 + i;
          long long b = clock64(); out[0] = b - a; out[1] = v; out[2] = clock() >= 0; }""",
        1, 1, out, 50,
    )  # fmt: skip
    assert out[0] > 50


@pytest.mark.parametrize("steps", [0, 7, 2**32 - 1, 2**32, 5 * 2**32 + 7])
def test_a_clock_of_64_bits_is_two_of_32(steps: int):
    for whole, low, high in (("clock64", "clock", "clock_hi"), ("globaltimer", "globaltimer_lo", "globaltimer_hi")):
        assert (clock(whole, steps), clock(whole, steps).dtype) == (steps, np.uint64)
        halves = [clock(name, steps) for name in (low, high)]
        assert {half.dtype for half in halves} == {np.dtype(np.uint32)}
        assert int(halves[1]) << 32 | int(halves[0]) == steps


def test_lanes_may_wait_for_other_lanes_of_the_block():
    """A spin lock: threads make progress independently (Volta and later)."""
    x = np.zeros(2, np.int32)
    run(
        """(int* x) { while (atomicCAS(x, 0, 1) != 0); int v = ((volatile int*)x)[1]; ((volatile int*)x)[1] = v + 1;
          __threadfence(); atomicExch(x, 0); }""",
        1, 40, x,
    )  # fmt: skip
    assert x.tolist() == [0, 40]


def test_an_instruction_that_is_not_known_is_named_with_its_line():
    source = """(float* x) {
  x[0] = 1;
  asm volatile("txq.width.b32 %0, [%1];" : "=f"(x[0]) : "l"(0ll));
}"""
    source = source.replace('"=f"(x[0])', '"=r"(((int*)x)[0])')
    x = np.zeros(1, np.float32)
    with pytest.raises(UnsupportedInstruction, match="txq") as caught:
        run(source, 1, 1, x)
    assert caught.value.line == 3
    assert "txq" in caught.value.instruction


def test_an_unknown_instruction_that_is_not_reached_does_no_harm():
    x = np.zeros(1, np.float32)
    run(
        """(float* x, int n) {
          if (n) asm volatile("{ .reg .b32 r; txq.width.b32 r, [%0]; }" :: "l"(0ll));
          x[0] = 1; }""",
        1, 1, x, 0,
    )  # fmt: skip
    assert x[0] == 1


TABLE = """.version 8.8
.target sm_90
.address_size 64
.visible .entry k(.param .u64 x, .param .u64 y)
{
.reg .b32 %r<5>; .reg .b64 %rd<6>; .reg .pred %p<2>;
table: .branchtargets a, b, c;
ld.param.u64 %rd1, [x]; ld.param.u64 %rd2, [y];
mov.u32 %r1, %tid.x; mul.wide.u32 %rd3, %r1, 4; add.s64 %rd4, %rd1, %rd3; add.s64 %rd5, %rd2, %rd3;
ld.global.u32 %r2, [%rd4];
setp.lt.u32 %p1, %r1, 8;
mov.u32 %r3, 1;
GUARD brx.idx %r2, table;
mov.u32 %r3, 2; bra.uni done;
a: mov.u32 %r3, 10; bra.uni done;
b: mov.u32 %r3, 11; bra.uni done;
c: mov.u32 %r3, 12;
done: st.global.u32 [%rd5], %r3;
ret;
}
"""


@pytest.mark.parametrize(("guard", "jumps"), [("", range(16)), ("@%p1", range(8)), ("@!%p1", range(8, 16))])
@pytest.mark.parametrize("targets", [[0], [2], [0, 1, 2], [2, 2, 0, 1, 1]])
def test_a_jump_by_a_table(guard: str, jumps: range, targets: list[int]):
    """Lanes that do not jump go on behind it."""
    kernel, y = Kernel.from_ptx(TABLE.replace("GUARD", guard), "k"), np.zeros(16, np.int32)
    x = np.resize(np.array(targets, np.int32), 16)
    kernel.run(1, 16, (x, y))
    assert y.tolist() == [10 + x[lane] if lane in jumps else 2 for lane in range(16)]


def test_a_jump_by_a_table_in_a_function_that_is_called_twice():
    """Each call has a table of its own."""
    head, body = TABLE.split(".visible")
    table, code = "table: .branchtargets a, b, c;", "brx.idx %r2, table;\nmov.u32 %r3, 2; bra.uni done;\n"
    jump = body.partition("mov.u32 %r3, 2; bra.uni done;\n")[2].partition("done:")[0]
    function = (
        ".func (.param .b32 result) pick(.param .b32 which)\n{ .reg .b32 %r<5>;\n"
        f"{table}\nld.param.b32 %r2, [which]; {code}{jump}done: st.param.b32 [result+0], %r3; ret; }}\n"
    )
    call = (
        "{{ .param .b32 given; st.param.b32 [given+0], {given}; .param .b32 got;\n"
        "call.uni (got), pick, (given); ld.param.b32 {got}, [got+0]; }}\n"
    )
    calls = call.format(given="%r2", got="%r3") + "sub.s32 %r3, %r3, 10;\n" + call.format(given="%r3", got="%r3")
    start, end = body.partition("GUARD")[0].replace(table, ""), body.partition("done: ")[2]
    x, y = np.array([0, 1, 2, 1] * 4, np.int32), np.zeros(16, np.int32)
    Kernel.from_ptx(f"{head}{function}.visible{start}{calls}{end}", "k").run(1, 16, (x, y))
    assert y.tolist() == (10 + x).tolist()


@pytest.mark.parametrize("guard", ["", "@%p1"])
def test_a_jump_beyond_its_table(guard: str):
    kernel, x = Kernel.from_ptx(TABLE.replace("GUARD", guard), "k"), np.zeros(16, np.int32)
    x[[8, 5][bool(guard)]] = 3
    with pytest.raises(Error, match="jumps beyond its table"):
        kernel.run(1, 16, (x, x.copy()))
    x[5], x[9] = 0, 3
    if guard:  # lanes that do not jump may name no target
        kernel.run(1, 16, (x, x.copy()))


@pytest.mark.parametrize(("guard", "stops"), [("", True), ("@%p1", True), ("@!%p1", False)])
def test_a_trap_for_some_lanes_alone(guard: str, stops: bool):
    """All 8 threads have %p1."""
    text = TABLE.replace("GUARD brx.idx %r2, table;", f"{guard} trap;")
    kernel, y = Kernel.from_ptx(text, "k"), np.zeros(8, np.int32)
    if stops:
        with pytest.raises(Error, match="trap"):
            kernel.run(1, 8, (y.copy(), y))
    else:
        kernel.run(1, 8, (y.copy(), y))
        assert y.tolist() == [2] * 8


def test_a_trap_is_an_error_with_its_location():
    with pytest.raises(
        Error, match=r"executes a trap\n  at line 2 of kernel.cu, thread \(7, 0, 0\), block \(0, 0, 0\)"
    ):
        run("(int* x) {\n if (threadIdx.x == 7) __trap(); x[threadIdx.x] = 1; }", 1, 32, np.zeros(32, np.int32))


@pytest.mark.parametrize("operation", ["add", "sub"])
def test_chains_of_carries(operation):
    """128-bit arithmetic is made of add.cc and addc."""
    random = np.random.default_rng(3)
    a, b = (random.integers(0, 2**64, (50, 2), np.uint64) for _ in range(2))
    out = np.zeros((50, 2), np.uint64)
    sign = "+" if operation == "add" else "-"
    source = f"""extern "C" __global__ void k(const unsigned __int128* a, const unsigned __int128* b,
      unsigned __int128* out) {{ out[threadIdx.x] = a[threadIdx.x] {sign} b[threadIdx.x]; }}"""
    Kernel(source, "k", options=("--device-int128",)).run(1, 50, (a, b, out))

    def wide(row) -> int:
        return int(row[0]) + (int(row[1]) << 64)

    for row in range(50):
        exact = wide(a[row]) + wide(b[row]) if operation == "add" else wide(a[row]) - wide(b[row])
        assert wide(out[row]) == exact % 2**128


@pytest.mark.parametrize(
    "declaration", [".shared .b8 v[300000];", ".local .b8 v[600000];", ".global .b8 v[2000000000];"]
)
def test_variables_larger_than_any_gpu_gives_are_refused(declaration):
    module = parse(
        f".version 8.8\n.target sm_90\n.address_size 64\n.visible .entry k() {{ {declaration} .reg .b64 %r<2>;\n"
        "mov.u64 %r1, v; ret; }"
    )
    with pytest.raises(Error, match=r"bytes of .* at most"):
        prepare(EmulatedProgram(module, "k"), (1, 1, 1), (1, 1, 1), ())


def test_lane_masks_are_those_of_the_lanes_below_and_above():
    names = ("eq", "lt", "le", "gt", "ge")
    reads = "".join(
        f'asm("mov.u32 %0, %%lanemask_{name};" : "=r"(v)); y[{at} * 64 + threadIdx.x] = v;'
        for at, name in enumerate(names)
    )
    y = np.zeros((5, 2, 32), np.uint32)
    Kernel(f'extern "C" __global__ void k(unsigned* y) {{ unsigned v; {reads} }}', "k").run(1, 64, (y,))
    for lane in range(32):
        expected = {"eq": {lane}, "lt": set(range(lane)), "gt": set(range(lane + 1, 32))}
        expected |= {"le": expected["lt"] | {lane}, "ge": expected["gt"] | {lane}}
        for mask, name in zip(y[:, :, lane].tolist(), names, strict=True):
            assert mask == [sum(1 << other for other in expected[name])] * 2
