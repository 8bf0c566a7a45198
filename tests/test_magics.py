"""``%%cuda`` in an IPython shell: what runs, what is said of it, and what is wrong with a line."""

from __future__ import annotations

import re

import numpy as np
import pytest

from softlab.emulator import INSTRUCTION_BUDGET
from softlab.errors import KernelFault
from softlab.hardware.devices import Device
from softlab.magics import ESTIMATE, UsageError, estimating, only_kernel, read_command
from softlab.traces import Run

COPY = """
__global__ void copy(const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = x[i];
}
"""


@pytest.fixture(scope="module")
def shell(tmp_path_factory):
    from IPython.core.interactiveshell import InteractiveShell

    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("IPYTHONDIR", str(tmp_path_factory.mktemp("ipython")))
        shell = InteractiveShell.instance()
        shell.history_manager.enabled = False
        shell.run_line_magic("load_ext", "softlab")
        yield shell
        shell.history_manager.end_session()
        InteractiveShell.clear_instance()


@pytest.fixture
def names(shell):
    """The notebook's names, with arrays of 100 numbers."""
    shell.user_ns.update(x=np.arange(100, dtype=np.float32), y=np.zeros(100, np.float32), n=100)
    shell.user_ns.pop("run", None)
    return shell.user_ns


def cuda(shell, line: str, cell: str = COPY) -> dict[str, str]:
    """Run the magic; the texts of the report that it displays, by type."""
    (shown,) = displayed(shell, line, cell)
    return shown


def displayed(shell, line: str, cell: str | None = COPY, *, estimates: bool = False) -> list[dict[str, str]]:
    """The texts of all outputs, by type: of the estimates, or of all others."""
    from IPython.utils.capture import capture_output

    with capture_output() as captured:
        if cell is None:
            shell.run_line_magic("cuda", line)
        else:
            shell.run_cell_magic("cuda", line, cell)
    return [output.data for output in captured.outputs if estimates == (ESTIMATE in output.metadata)]


def test_a_kernel_in_a_cell(shell, names):
    shown = cuda(shell, "--grid 4 --block 32 --args x,y,n")
    assert names["y"].tolist() == names["x"].tolist()
    assert isinstance(names["run"], Run)
    assert names["run"].counters["global_load_requests"] == 4
    lines = shown["text/plain"].splitlines()
    assert lines[0] == "copy ran: 4 blocks of 32 threads, in the emulator, compiled for sm_90"
    assert lines[1].startswith("  registers per thread   ")
    assert lines[2:7] == [
        "  shared memory per block  0 bytes (0 static, 0 dynamic)",
        "  occupancy on H200        32 blocks per SM, 32 of 64 warps (50%), limited by blocks",
        "  x: float32 (100,), 0 of 100 changed: [0, 1, 2, 3, ..., 96, 97, 98, 99]",
        "  y: float32 (100,), 99 of 100 changed: [0, 1, 2, 3, ..., 96, 97, 98, 99]",
        "  line  instr.  ld sect.  st sect.  CUDA",
    ]
    figures = ["4", str(names["run"].by_line()[4]["instructions"]), "13", "13"]
    assert lines[-2].split() == [*figures, "if", "(i", "<", "n)", "y[i]", "=", "x[i];"]
    assert "ran: 4 blocks of 32 threads" in shown["text/html"]


def test_the_same_text_each_time(shell, names):
    first = cuda(shell, "--grid 4 --block 32 --args x,y,n")
    names["y"][:] = 0
    assert cuda(shell, "--grid 4 --block 32 --args x,y,n") == first


def test_expressions_and_blanks(shell, names):
    cuda(shell, "--grid -(-n//32) --block (8, 4) --args x[10:].copy(), y, len(x) - 10 --smem 2*8 --out mine")
    assert (names["mine"].grid, names["mine"].block) == ((4, 1, 1), (8, 4, 1))
    assert "run" not in names


def test_a_fault_stands_at_its_line(shell, names):
    shown = cuda(shell, "--grid 4 --block 32 --args x,y,128")
    assert names["run"] is None
    text = shown["text/plain"]
    assert text.startswith("copy stopped: global-out-of-bounds (4 blocks of 32 threads)\n")
    assert ">    4    if (i < n) y[i] = x[i];\n      | global-out-of-bounds: the thread reads 4 bytes" in text
    assert "at byte 400 of x (argument 0), which has 400 bytes" in text
    assert "(thread (4, 0, 0), block (3, 0, 0), address 400)" in text
    assert "global-out-of-bounds" in shown["text/html"]


def test_races_are_looked_for_unless_told_not_to(shell, names):
    racy = """
__global__ void turn(float* x) {
  __shared__ float part[64];
  part[threadIdx.x] = x[threadIdx.x];
  x[threadIdx.x] = part[63 - threadIdx.x];
}
"""
    assert "turn stopped: race" in cuda(shell, "--block 64 --args x", racy)["text/plain"]
    assert "turn ran" in cuda(shell, "--block 64 --args x --no-check", racy)["text/plain"]


def test_what_the_compiler_says_stands_at_the_line(shell, names):
    shown = cuda(shell, "--args x,y,n", COPY.replace("= x[i]", "= z[i] + w"))
    text = shown["text/plain"]
    assert text.startswith("copy does not compile for sm_90\n")
    assert '>    4    if (i < n) y[i] = z[i] + w;\n      | error: identifier "z" is undefined' in text
    assert 'identifier "w" is undefined' in text
    assert names["run"] is None


def test_a_trap_stands_at_its_line(shell, names):
    source = "__global__ void guard(int n) {\n  if (threadIdx.x >= n) __trap();\n}"
    text = cuda(shell, "--args 31", source)["text/plain"]
    assert text.startswith("guard stopped: trap")
    assert ">    2    if (threadIdx.x >= n) __trap();\n      | trap: the thread executes a trap\n" in text
    assert "      | (thread (31, 0, 0), block (0, 0, 0))" in text


def test_a_kernel_that_is_not_there(shell, names):
    assert "it has copy" in cuda(shell, "--name cpoy --args x,y,n")["text/plain"]


def test_template_and_options(shell, names):
    source = "template <typename T, int k> __global__ void add(T* x) { x[threadIdx.x] += k * SCALE; }"
    cuda(shell, "--name 'add<float, 2>' --option -DSCALE=10 --args x --device RTX 4090", source)
    assert names["x"][0] == 20
    assert names["run"].arch == "sm_89"


def test_the_kernel_prints(shell, names, capsys):
    source = '__global__ void speak() { if (threadIdx.x == 7) printf("lane %d\\n", threadIdx.x); }'
    shell.run_cell_magic("cuda", "", source)
    assert capsys.readouterr().out.startswith("lane 7\n")


def test_accesses_that_the_assembler_fuses(shell, names):
    source = """
__global__ void pairs(float* y) {
  __shared__ float part[64];
  for (int k = 0; k < 2; ++k) part[threadIdx.x * 2 + k] = y[threadIdx.x + k];
  __syncwarp();
  y[threadIdx.x] = part[threadIdx.x] + part[threadIdx.x + 32];
}
"""
    text = cuda(shell, "--args y", source)["text/plain"]
    if names["run"].level == "machine code":
        assert "fused by the assembler   line 4: 2 accesses of the PTX are one of 8 bytes per lane (STS.64)" in text
    else:
        assert "since nvdisasm is missing" in text


def test_a_file(shell, names, tmp_path):
    path = tmp_path / "copy.cu"
    path.write_text(COPY.replace("i < n", "i < m"))
    (shown,) = displayed(shell, f"--file {path} --block 100 --args x,y,n", None)
    assert 'identifier "m" is undefined' in shown["text/plain"]
    path.write_text(COPY)
    displayed(shell, f"--file {path} --block 100 --args x,y,n", None)
    assert names["run"].file == "copy.cu"


def test_a_file_of_a_program_with_a_header_beside_it(shell, names, tmp_path):
    (tmp_path / "sizes.h").write_text("#define FACTOR 3\n")
    path = tmp_path / "scale.cu"
    path.write_text(
        '#include "sizes.h"\n' + COPY.replace("= x[i]", "= FACTOR * x[i]") + "int main() { return FACTOR; }\n"
    )
    displayed(shell, f"--file {path} --block 100 --args x,y,n", None)
    np.testing.assert_array_equal(names["y"][: names["n"]], 3 * names["x"][: names["n"]])


def test_ptx_and_machine_code_on_request(shell, names):
    _, listing = displayed(shell, "--block 100 --args x,y,n --code")
    assert "ld.global" in listing["text/html"]


def test_usage_errors_reach_the_shell_without_a_traceback(shell, names, capsys):
    from IPython.core.error import UsageError as ShellUsageError

    with pytest.raises(ShellUsageError, match="2048: it must be from 1 to 1024"):
        shell.run_cell_magic("cuda", "--block 2048 --args x,y,n", COPY)
    with pytest.raises(ShellUsageError, match=r"kernel takes 3 arguments .* got 1"):
        shell.run_cell_magic("cuda", "--args x", COPY)


def test_help(shell, capsys):
    shell.run_line_magic("cuda", "--help")
    assert "--block" in capsys.readouterr().out


NAMES = {"x": np.zeros(4), "k": 3, "f": 2.5}


@pytest.mark.parametrize(
    ("line", "cell", "said"),
    [
        ("--grid", COPY, "--grid: expected at least one argument"),
        ("--colour 3", COPY, "unrecognized arguments: --colour 3"),
        ("--grid f", COPY, "--grid f is 2.5; it takes whole numbers"),
        ("--grid True", COPY, "takes whole numbers"),
        ("--grid 1,2,3,4", COPY, "--grid takes one to three numbers"),
        ("--smem 1,2", COPY, "--smem takes one number"),
        ("--budget 1,2", COPY, "--budget takes one number"),
        ("--args x,missing", COPY, "name 'missing' is not defined. Define it in a cell above"),
        ("--args x,1/0", COPY, "ZeroDivisionError"),
        ("--args x,,3", COPY, "no list of Python expressions"),
        ("--args 'x", COPY, "No closing quotation"),
        ("--out a-b", COPY, "no name that a variable can have"),
        ("", "", "the cell has no source"),
        ("--file /nowhere/k.cu", "", "cannot be read"),
        ("--file k.cu", COPY, "there is a source in the cell"),
        ("", "__device__ void f() {}", "no function is marked __global__"),
        ("", COPY + COPY.replace("copy", "copy2"), "has the kernels copy, copy2. Say which one with --name"),
        ("", "template <typename T> __global__ void t(T* x) {}", "t is a template"),
    ],
)
def test_what_is_wrong_with_a_line(line, cell, said):
    with pytest.raises(UsageError, match=said.replace("(", r"\(")):
        read_command(line, cell, NAMES)


def test_a_request():
    request = read_command("--args -1.5,x,-k --grid k --option -O3 --option --use_fast_math", COPY, NAMES)
    assert [value for _, value in request.args][::2] == [-1.5, -3]
    assert [text for text, _ in request.args] == ["-1.5", "x", "-k"]
    assert (request.grid, request.block, request.smem) == ((3,), (32,), 0)
    assert request.options == ("-O3", "--use_fast_math")
    assert (request.device, request.arch, request.name) == (Device.named("H200"), "sm_90", "copy")
    assert (request.check, request.out, request.budget) == (True, "run", INSTRUCTION_BUDGET)
    assert read_command("--budget 10*k", COPY, NAMES).budget == 30


def test_budget_of_a_line(shell):
    endless = 'extern "C" __global__ void turn(int* x) { for (unsigned i = 9; i >= 0; --i) x[i % 8] = i; }'
    shell.push({"x": np.zeros(8, np.int32)})
    assert "has issued 5000 instructions" in cuda(shell, "--block 1 --args x --budget 5_000", endless)["text/plain"]


@pytest.mark.parametrize(
    ("source", "name"),
    [
        ('extern "C" __global__ void a(int* x) {}', "a"),
        ("__global__ __launch_bounds__(256, 2) void b(int) {}", "b"),
        ("__global__ void __launch_bounds__(64) c() {}", "c"),
        ("__global__ void __cluster_dims__(2, 1, 1) __launch_bounds__(64) of_clusters(float* x) {}", "of_clusters"),
        ("static __global__\nvoid\nd (int* __restrict__ x) {}", "d"),
        ("// __global__ void no(int)\n/* __global__ void nor() {} */ __global__ void e() {}", "e"),
        ('__device__ const char* s = "__global__ void no(";\n__global__ void f() {}', "f"),
        ("template <typename T> __device__ T twice(T v) { return v + v; }\n__global__ void g(float* x) {}", "g"),
        ("__global__ void h(int*);\n__global__ void h(int* x) { *x = 1; }", "h"),
    ],
)
def test_the_only_kernel_of_a_source(source, name):
    assert only_kernel(source) == name


def test_import_does_not_load_ipython():
    """`%load_ext softlab` works since the package has the hook; importing the package costs nothing of it."""
    import softlab

    assert callable(softlab.load_ipython_extension)
    assert issubclass(KernelFault, softlab.Error)


@pytest.mark.gpu
def test_the_same_cell_on_a_gpu(shell, names):
    import cupy

    names.update(x=cupy.asarray(names["x"]), y=cupy.asarray(names["y"]))
    shown = cuda(shell, "--grid 4 --block 32 --args x,y,n")
    assert names["y"].get().tolist() == list(range(100))
    assert "on the GPU" in shown["text/plain"]
    assert "99 of 100 changed" in shown["text/plain"]


RACY = """
__global__ void turn(float* x) {
  __shared__ float part[64];
  part[threadIdx.x] = x[threadIdx.x];
  x[threadIdx.x] = part[63 - threadIdx.x];
  x[threadIdx.x + 64] = 1;
}
"""


def test_collected_findings_stand_at_their_lines(shell, names):
    shown = cuda(shell, "--block 64 --args x --collect", RACY)
    run = names["run"]
    assert [(f.kind, f.line, f.other_line) for f in run.findings] == [
        ("race", 5, 4),
        ("global-out-of-bounds", 6, None),
    ]
    text = shown["text/plain"]
    assert text.startswith("turn ran, and 2 errors were found: 1 block of 64 threads")
    assert "error: race, 64 times" in text
    assert "    line 5, thread (0, 0, 0), block (0, 0, 0): x[threadIdx.x] = part[63 - threadIdx.x];" in text
    assert "    line 4, thread (63, 0, 0), block (0, 0, 0): part[threadIdx.x] = x[threadIdx.x];" in text
    assert "at byte 400 of x (argument 0), which has 400 bytes" in text
    assert "error: global-out-of-bounds, 28 times" in text
    assert ">    5" in text
    assert ">    6" in text
    assert names["x"][64] == 1
    assert "elements changed" in shown["text/html"]


def test_warnings_of_a_checked_run_are_shown(shell, names):
    source = "__global__ void halves(float* x) {\n  if (threadIdx.x < 32)\n    __syncthreads();\n  else\n" \
        "    __syncthreads();\n  x[threadIdx.x] = 1;\n}\n"  # fmt: skip
    text = cuda(shell, "--block 64 --args x", source)["text/plain"]
    assert text.startswith("halves ran, and 1 warning was found: 1 block")
    assert "CUDA C++ Programming Guide" in text
    assert names["x"][63] == 1


def test_collect_and_no_check_are_two_things(shell):
    with pytest.raises(UsageError, match="--collect and --no-check"):
        read_command("--args x --collect --no-check", COPY, {"x": 1})
    assert read_command("--args x --collect", COPY, {"x": 1}).check == "collect"


def test_the_stepper_follows_the_report_also_after_a_fault(shell, names):
    report, stepper = displayed(shell, "--grid 4 --block 32 --args x,y,n --step")
    assert "copy ran" in report["text/plain"]
    assert stepper["text/plain"].startswith("StepperExplorer(block=0, kernel='copy', shared_row=0, step=0")
    report, stepper = displayed(shell, "--block 32 --args x,y,n --step", COPY.replace("y[i]", "y[i + 99]"))
    assert "global-out-of-bounds" in report["text/plain"]
    assert stepper["text/plain"].startswith("StepperExplorer(")
    _, sentence = displayed(shell, "--grid 4 --block 32 --args x,x[4:],96 --step")
    assert sentence["text/plain"] == "No stepper: two arguments share memory, and it works on copies."


def estimated(shell, line: str, cell: str = COPY) -> str:
    """The text of the estimate that ends the report; "" without one."""
    return "".join(one["text/plain"] for one in displayed(shell, line, cell, estimates=True))


def test_the_report_ends_with_the_estimated_time(shell, names):
    import softlab

    text = estimated(shell, "--grid 4 --block 32 --args x,y,n")
    kernel = softlab.Kernel(COPY, "copy")
    found = kernel.estimate(4, 32, (names["x"], names["y"], 100))
    assert text.startswith(f"Estimated {found.microseconds:.1f} us on an H200 with a cold L2 cache, bound by ")
    assert "Line 4 (if (i < n) y[i] = x[i];) takes " in text
    assert "the model was off by " in text
    (html,) = displayed(shell, "--grid 4 --block 32 --args x,y,n", estimates=True)
    assert "if (i &lt; n)" in html["text/html"]
    assert 'data-line="4"' in html["text/html"]


def test_an_estimate_can_be_turned_off(shell, names):
    assert estimated(shell, "--grid 4 --block 32 --args x,y,n --no-estimate") == ""


def test_a_kernel_that_did_not_run_has_no_estimate(shell, names):
    assert estimated(shell, "--grid 4 --block 32 --args x,y,128") == ""
    assert estimated(shell, "--args x,y,n", "__global__ void k() { nonsense }") == ""


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ("--args x,y,128 --collect", "the run found errors"),
        ("--args x,y,n --arch sm_80", "the machine code of sm_90, and the kernel is compiled for sm_80"),
        ("--args x,x,n", "two arguments share memory"),
    ],
)
def test_why_there_is_no_estimate(shell, names, options, reason):
    text = estimated(shell, f"--grid 4 --block 32 {options}")
    assert text.startswith("No estimate of the time: ")
    assert reason in text


@pytest.mark.further
def test_a_long_launch_is_not_estimated(shell, names, monkeypatch):
    from softlab.kernel import Kernel

    monkeypatch.setattr(Kernel, "estimate", lambda *_, **__: pytest.fail("the model ran"))
    text = estimated(shell, "--args y,n*100 --out long_run",
        "__global__ void k(float* y, int n) { for (int i = 0; i < n; i++)"
        "{ y[threadIdx.x] += i; __syncthreads(); } }")  # fmt: skip
    assert re.search(r"No estimate of the time: the blocks .* execute about \d+ \d+ instructions, and a cell", text)
    assert "waits for 50 000 at most. softlab.estimate(long_run) in another cell has no such limit." in text


@pytest.mark.parametrize("error", [ValueError("odd.\nmore"), KeyError("odd"), RecursionError("odd")])
def test_an_estimate_that_fails_leaves_the_report(shell, names, monkeypatch, error):
    from softlab.kernel import Kernel

    def fail(*_, **__):
        raise error

    monkeypatch.setattr(Kernel, "estimate", fail)
    text = estimated(shell, "--grid 4 --block 32 --args x,y,n")
    assert text.startswith(f"No estimate of the time: {type(error).__name__}: ")
    assert "odd" in text
    assert names["run"] is not None


def test_an_unknown_instruction_is_named(shell, names, monkeypatch):
    from softlab.timing import program

    def refuse(*_, **__):
        raise program.UnknownInstruction("the timing model does not know 'FOO' (line 3): no pipe")

    monkeypatch.setattr(estimating.Kernel, "estimate", refuse)
    text = estimated(shell, "--grid 4 --block 32 --args x,y,n")
    assert text == "No estimate of the time: the timing model does not know 'FOO' (line 3): no pipe."


def test_the_estimate_sees_the_arrays_as_the_run_saw_them(shell, names):
    """The kernel counts its word down: after the run a loop over it would be over at once."""
    source = "__global__ void k(volatile int* left) { while (*left > 0) *left = *left - 1; }"
    names["left"] = np.array([500], np.int32)
    first = estimated(shell, "--block 1 --args left", source)
    assert names["left"][0] == 0
    second = estimated(shell, "--block 1 --args left", source)
    first, second = (float(text.split()[1]) for text in (first, second))
    assert first > 10 * second


def test_a_cell_beside_an_earlier_one(shell, names):
    from IPython.core.error import UsageError as ShellUsageError

    launch = "--grid 4 --block 32 --args x,y,n --no-estimate"
    displayed(shell, f"{launch} --out before")
    _, shown = displayed(shell, f"{launch} --compare before", COPY.replace("= x[i]", "= x[n - 1 - i]"))
    text = shown["text/plain"]
    assert text.startswith("Comparison of copy:")
    assert "Argument 1 differs in 100 of 100 elements, by up to 99 at (0,)." in text
    assert "global_load_sectors: 13, then 16" in text  # the last warp's four elements, and rows that begin elsewhere
    assert "What changed" in shown["text/html"]
    with pytest.raises(ShellUsageError, match="nothing is no run"):
        displayed(shell, f"{launch} --compare nothing")
