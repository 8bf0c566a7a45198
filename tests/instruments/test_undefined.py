"""Local variables without a value: what is tracked, what is passed on, and what is reported."""

from __future__ import annotations

import numpy as np
import pytest

from softlab.emulator.machine.compiler import EmulatedProgram
from softlab.emulator.ptx.parser import parse
from softlab.errors import KernelFault
from softlab.instruments.source_names import unset_variables_of_line
from softlab.kernel import Kernel
from tests.faults.cases_objects import UNDEFINED
from tests.sampled import turns

_HEAD = """.version 8.3
.target sm_90
.address_size 64
.visible .entry k(.param .u64 out, .param .u32 n) {
  .reg .pred %p<4>; .reg .b32 %r<10>; .reg .f32 %f<6>; .reg .b64 %rd<6>;
  ld.param.u64 %rd1, [out];
  ld.param.u32 %r1, [n];
  mov.u32 %r2, %tid.x;
  mul.wide.u32 %rd2, %r2, 4;
  add.s64 %rd3, %rd1, %rd2;
  setp.ge.u32 %p1, %r2, %r1;
"""


def _tracked(body: str):
    return EmulatedProgram(parse(f"{_HEAD}{body} ret; }}"), "k").tracked


def test_a_register_that_every_path_writes_is_not_tracked():
    body = "@%p1 bra A; mov.b32 %r3, 1; bra B; A: mov.b32 %r3, 2; B: add.s32 %r4, %r3, 1; st.global.u32 [%rd3], %r4;"
    assert not _tracked(body).registers


def test_a_register_that_one_path_leaves_out_is_tracked_with_all_that_depends_on_it():
    found = _tracked("@%p1 bra B; mov.b32 %r3, 2; B: add.s32 %r4, %r3, 1; mov.b32 %f1, %r4; st.global.u32 [%rd3], %r4;")
    assert (found.suspects, found.registers, found.probes) == ({"%r3"}, {"%r3", "%r4", "%f1"}, frozenset())


def test_a_loop_reads_what_its_last_turn_wrote():
    body = "mov.b32 %r5, 0; A: @%p1 st.global.u32 [%rd3], %r3; mov.b32 %r3, 1; add.s32 %r5, %r5, 1; "
    found = _tracked(body + "setp.lt.u32 %p2, %r5, %r1; @%p2 bra A;")
    assert found.suspects == {"%r3"}
    assert len(found.probes) == 1


def test_what_is_written_to_no_register_gives_none_a_value():
    assert _tracked("mov.b64 {_, %r3}, %rd1; st.global.u32 [%rd3], %r5;").suspects == {"%r5"}


def test_a_guarded_write_may_leave_the_register_without_a_value():
    assert _tracked("@%p1 mov.b32 %r3, 1; st.global.u32 [%rd3], %r3;").suspects == {"%r3"}


_MAXIMUM = """extern "C" __global__ void k(const float* x, int* y, int n) {
  int best;
  float largest = 0.0f;
  for (int i = 0; i < n; ++i)
    if (x[i] > largest) { largest = x[i]; best = i; }
  y[threadIdx.x] = best;
}"""


def test_whether_a_variable_has_a_value_depends_on_the_data():
    kernel, y = Kernel(_MAXIMUM, "k"), np.zeros(32, np.int32)
    kernel.run(1, 32, (np.float32([1, 3, 2, 0, 5]), y, 5))
    assert set(y.tolist()) == {4}
    with pytest.raises(KernelFault, match=r"a local variable \(best\) that has no value") as caught:
        kernel.run(1, 32, (-np.float32([1, 3, 2, 0, 5]), y, 5))
    fault = caught.value
    assert (fault.kind, fault.line, fault.thread, fault.symbol) == ("uninitialized-local", 6, (0, 0, 0), "best")


def test_a_run_that_collects_reports_each_mistake_once():
    run = Kernel(_MAXIMUM, "k").run(2, 32, (np.zeros(5, np.float32), np.zeros(32, np.int32), 5), check="collect")
    found = [f for f in run.findings if f.kind == "uninitialized-local"]
    assert [(f.line, f.count, f.severity) for f in found] == [(6, 64, "error")]


def test_lanes_that_shuffle_what_has_no_value_harm_nobody_until_it_is_used():
    source = """extern "C" __global__ void k(const float* x, float* y, int n, int from) {
  float value;
  if (threadIdx.x < n) value = x[threadIdx.x];
  float other = __shfl_sync(0xffffffff, value, from);
  if (threadIdx.x == 0) y[0] = other;
}"""
    kernel, x, y = Kernel(source, "k"), np.arange(8, dtype=np.float32), np.zeros(1, np.float32)
    kernel.run(1, 32, (x, y, 8, 7))
    assert y[0] == 7
    with pytest.raises(KernelFault) as caught:
        kernel.run(1, 32, (x, y, 8, 8))
    assert (caught.value.kind, caught.value.line, caught.value.thread) == ("uninitialized-local", 5, (0, 0, 0))


_IN_ONE_BRANCH = """extern "C" __global__ void k(const int* x, int* y) {
  int value;
  if (x[threadIdx.x] > 0) value = 2 * x[threadIdx.x];
  y[threadIdx.x] = __shfl_xor_sync(0xffffffff, value, 1);
}"""


def test_a_function_passes_on_what_has_no_value():
    """Without optimisation the shuffle is a call, and its parameters are in memory."""
    kernel, y = Kernel(_IN_ONE_BRANCH, "k", options=["-G"]), np.zeros(32, np.int32)
    kernel.run(1, 32, (np.ones(32, np.int32), y))
    with pytest.raises(KernelFault) as caught:
        kernel.run(1, 32, (np.arange(32, dtype=np.int32), y))
    assert (caught.value.kind, caught.value.line, caught.value.thread) == ("uninitialized-local", 4, (1, 0, 0))


@pytest.mark.parametrize("option", [(), ("-G",)])
def test_what_the_compiler_drops_is_found_without_optimisation(option):
    source = _IN_ONE_BRANCH.replace("__shfl_xor_sync(0xffffffff, value, 1)", "value")
    findings = (
        Kernel(source, "k", options=option)
        .run(1, 32, (np.zeros(32, np.int32), np.zeros(32, np.int32)), check="collect")
        .findings
    )
    assert [(f.kind, f.line, f.count, f.symbol) for f in findings] == [("uninitialized-local", 4, 32, "value")] * len(
        option
    )


@pytest.mark.parametrize("name", ["padded structures", "part of a pack", "two paths", "unused element"])
def test_good_kernels_without_optimisation(name):
    good = UNDEFINED[name]
    kernel = Kernel(good.source, good.kernel, options=["-G"])
    assert kernel.run(good.grid, good.block, good.arguments(), check="collect", record=False).findings == ()


@pytest.mark.parametrize(
    ("lines", "found"),
    [
        ("float a; int b = 3;\ny[i] = a + b;", ("a",)),
        ("float a, c;\ny[i] = a + c;", ("a", "c")),
        ("int queue[16];\ny[i] = queue[3];", ("queue",)),
        ("float a = 1;\ny[i] = a;", ()),
        ("__shared__ float a[8];\ny[i] = a[3];", ()),
        ("return a;\ny[i] = a;", ()),
    ],
)
def test_variables_of_a_line_that_are_declared_without_a_value(lines, found):
    assert unset_variables_of_line(lines, 2) == found


def test_some_blocks_shuffle():
    """A part of the blocks of one step shuffles a register that may have no value."""
    source = r"""
extern "C" __global__ void some(const int* x, int* y, int n) {
  int v;
  if (threadIdx.x < n) v = x[threadIdx.x];
  if (blockIdx.x % 3) return;
  const int w = __shfl_xor_sync(~0u, v, (blockIdx.x & 1) + 1);
  y[blockIdx.x * 32 + threadIdx.x] = w;
}"""
    kernel = Kernel(source, "some")
    x, y = np.arange(32, dtype=np.int32), np.zeros((9, 32), np.int32)
    kernel.run(9, 32, (x, y, 32))
    assert (y[[0, 3, 6]] == [x ^ 1, x ^ 2, x ^ 1]).all()
    assert not y[[1, 2, 4, 5, 7, 8]].any()
    found = kernel.run(9, 32, (x, y, 31), check="collect").findings
    assert [(finding.kind, finding.count) for finding in found] == [("uninitialized-local", 3)]  # reads of lane 31


def test_half_of_a_number_is_not_a_value_but_half_of_a_structure_may_be_padding() -> None:
    body = "st.local.u32 [stack+8], %r1; ld.local.{kind} {register}, [stack+8]; st.global.{kind} [%rd1], {register};"
    head = _HEAD.replace("{\n", "{\n  .local .align 8 .b8 __local_depot0[16];\n  .reg .f64 %fd<2>;\n", 1)
    for kind, register, found in (("f64", "%fd1", True), ("b64", "%rd5", False)):
        ptx = f"{head}{body.format(kind=kind, register=register)} ret; }}".replace("stack", "__local_depot0")
        run = Kernel.from_ptx(ptx, "k").run(1, 1, (np.zeros(2, np.float64), 1), check="collect", record=False)
        assert [f.kind for f in run.findings] == ["uninitialized-local"] * found


@pytest.mark.parametrize(("kind", "used"), turns(3, ["u32", "v2.u16", "v4.u8"], [0b1, 0b100, 0b1000, 0b1010, 0b1111]))
def test_of_the_bytes_that_are_used_those_of_a_number_need_a_value(kind: str, used: int) -> None:
    """The compiler says which bytes are used. What the others hold does not matter, nor where they lie."""
    head = _HEAD.replace("{\n", "{\n  .local .align 8 .b8 __local_depot0[16];\n  .reg .b16 %rs<5>;\n", 1)
    name, numbers = ("%r", 1) if kind == "u32" else ("%rs", int(kind[1]))
    registers = ", ".join(f"{name}{5 - numbers + k if name == '%r' else k + 1}" for k in range(numbers))
    into = f"{{{registers}}}" if numbers > 1 else registers
    size = 4 // numbers
    for written in (0, 0b1, 0b11, 0b111, 0b1110, 0b1000, 0b0101):
        body = "".join(f"st.local.u8 [stack+{8 + k}], %r1; " for k in range(4) if written >> k & 1)
        body += f'.pragma "used_bytes_mask {used:#x}"; ld.local.{kind} {into}, [stack+8]; '
        body += "".join(f"st.global.u{8 * max(size, 2)} [%rd1], {one}; " for one in registers.split(", "))
        ptx = f"{head}{body} ret; }}".replace("stack", "__local_depot0")
        run = Kernel.from_ptx(ptx, "k").run(1, 1, (np.zeros(1, np.uint32), 77), check="collect", record=False)
        never = [
            k for k in range(numbers)
            if (own := [byte for byte in range(size * k, size * k + size) if used >> byte & 1])
            and not any(written >> byte & 1 for byte in own)
        ]  # fmt: skip
        assert bool(run.findings) == bool(never), (bin(used), bin(written))
        assert {finding.kind for finding in run.findings} <= {"uninitialized-local"}


@pytest.mark.parametrize(
    ("load", "store", "found"),
    [("u8 %rs1", "u8", False), ("u8 %rs1", "u16", True), ("v2.u8 {%rs1, %rs2}", "u8", False),
     ("u16 %rs1", "u8", True), ("v2.u16 {%rs1, %rs2}", "u8", True)],
)  # fmt: skip
def test_a_byte_may_be_copied_as_padding_and_not_be_computed_with(load: str, store: str, found: bool) -> None:
    """Only bytes that are loaded one by one may be padding: those of a text are often loaded two by two."""
    head = _HEAD.replace("{\n", "{\n  .local .align 8 .b8 __local_depot0[16];\n  .reg .b16 %rs<5>;\n", 1)
    kind, _, registers = load.partition(" ")
    body = f"ld.local.{kind} {registers}, [__local_depot0+8]; st.global.{store} [%rd1], %rs1;"
    run = Kernel.from_ptx(f"{head}{body} ret; }}", "k").run(1, 1, (np.zeros(2, np.uint32), 1), check="collect")
    assert [finding.kind for finding in run.findings] == ["uninitialized-local"] * found


def test_a_byte_in_a_register_that_was_never_set_is_no_padding() -> None:
    head = _HEAD.replace("{\n", "{\n  .reg .b16 %rs<5>;\n", 1)
    run = Kernel.from_ptx(f"{head}st.global.u8 [%rd1], %rs1; ret; }}", "k").run(
        1, 1, (np.zeros(2, np.uint32), 1), check="collect"
    )
    assert [finding.kind for finding in run.findings] == ["uninitialized-local"]


BYTES = r"""
struct __align__(4) Flags { unsigned char first, second, none, last; };
extern "C" __global__ void of_a_structure(const int* x, int* y, int n) {
  Flags flags[4];
  for (int i = 0; i < n; ++i) {
    flags[i & 3].first = x[i];
    flags[i & 3].second = x[i + 1];
    flags[i & 3].last = 3;
  }
  const Flags& one = flags[x[0] & 3];
  y[0] = one.first; y[1] = one.second; y[2] = one.last;
}
extern "C" __global__ void of_an_array(const int* x, int* y, int n) {
  unsigned char bytes[16];
  for (int i = 0; i < n; ++i) bytes[x[i] & 15] = i;
  y[0] = bytes[x[0] & 15];
}"""


@pytest.mark.parametrize(("name", "line"), [("of_a_structure", 11), ("of_an_array", 16)])
def test_bytes_that_nobody_wrote(name: str, line: int) -> None:
    """The compiler loads the structure as ld.local.v4.u8, and says that three of the bytes are used."""
    kernel = Kernel(BYTES, name)
    assert ("used_bytes_mask" in kernel.program.ptx.partition(name)[2]) == (name == "of_a_structure")
    for n, found in ((0, [("uninitialized-local", line)]), (8, [])):
        run = kernel.run(1, 1, (np.arange(9, dtype=np.int32), np.zeros(4, np.int32), n), check="collect")
        assert [(finding.kind, finding.line) for finding in run.findings] == found


@pytest.mark.parametrize("access", ["st.global.u32 [%d3], %r1;", "st.shared.u32 [%r4], %r1;"])
def test_an_address_without_a_value_is_said_before_the_race_that_it_brings(access: str) -> None:
    """All threads write to one element, because the index of each is 0 by accident."""
    ptx = f"""
.version 8.8
.target sm_90a
.address_size 64
.visible .entry k(.param .u64 x) {{
  .reg .b32 %r<5>; .reg .b64 %d<4>;
  .shared .align 4 .b8 s[512];
  ld.param.u64 %d1, [x];
  mov.u32 %r1, %tid.x;
  mul.wide.u32 %d2, %r2, 4;
  add.u64 %d3, %d1, %d2;
  shl.b32 %r3, %r2, 2;
  mov.u32 %r4, s;
  add.u32 %r4, %r4, %r3;
  {access}
  ret;
}}
"""
    kernel, x = Kernel.from_ptx(ptx, "k"), np.zeros(64, np.uint32)
    run = kernel.run(1, 64, (x,), check="collect", record=False)
    assert [finding.kind for finding in run.findings] == ["uninitialized-local", "race"]
    with pytest.raises(KernelFault, match=r"^uninitialized-local: the thread uses in an address"):
        kernel.run(1, 64, (x,), record=False)
