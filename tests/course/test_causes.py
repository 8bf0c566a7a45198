"""Why nothing keeps two accesses apart: each sentence for code and a fault that it fits, without a run."""

from __future__ import annotations

import re
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from softlab.course import causes
from softlab.course.causes import fault_cause
from softlab.course.launch_cases import LaunchCase
from softlab.course.ways import Way
from softlab.errors import FaultSite, KernelFault

LAUNCH = LaunchCase(4, 64, {"x": np.zeros(100, np.float64), "y": np.zeros(100, np.float32), "n": 5}, {})
KERNEL = """__global__ void k(const double* x, float* y) {{
  __shared__ float s[64];
  int i = threadIdx.x;
{}
}}"""


#: Lines above the kernel where it stands far down: numbers of lines are then equal without being the same object.
DOWN = 1000
NAMED_LINES = re.compile(r"\b[Ll]ines? \d+(?:(?:, | and | to )\d+)*")


def cause(body, kind, message="two threads meet", launch=LAUNCH, **site):
    """What is said of a fault. The same holds for a kernel far down in its file, with other numbers of lines."""
    said = fault_cause(KernelFault(kind, message, FaultSite(**site)), KERNEL.format(body), launch)
    moved = {name: int(str(site[name] + DOWN)) for name in ("line", "other_line") if site.get(name) is not None}
    fault = KernelFault(kind, message, FaultSite(**{**site, **moved}))
    assert fault_cause(fault, "\n" * DOWN + KERNEL.format(body), launch) == NAMED_LINES.sub(
        lambda named: re.sub(r"\d+", lambda number: str(int(number[0]) + DOWN), named[0]), said
    )
    return said


def race(body, first, then, thread=5, other=40, **site):
    return cause(body, "race", line=then, other_line=first, thread=(thread, 0, 0), other_thread=(other, 0, 0), **site)


@pytest.mark.parametrize("block", [3, 0])
@pytest.mark.parametrize(
    ("thread", "element", "said"),
    [
        (12, 1, "wants the element of its own number. There are 100, so a test has to keep it out."),
        (12, 2, "wants element {}, 2 times its number."),
        (12, 64, "wants element {}, 64 times its number."),
        (12, 65, "wants element {}, and the last one is 99."),
        (12, 1.5, "wants element {}, and the last one is 99."),
    ],
)
@pytest.mark.parametrize(("argument", "size"), [(0, 8), (1, 4)])
def test_which_element_a_thread_wants(block, thread, element, said, argument, size):
    number = block * 64 + thread
    wanted = int(number * element)
    site = {"thread": (thread, 0, 0), "block": (block, 0, 0), "address": wanted * size + size - 1, "argument": argument}
    got = cause("", "global-out-of-bounds", **site)
    assert got == f"Thread {thread} of block {block}, number {number} of the grid, {said.format(wanted)}"
    for name in site:
        assert cause("", "global-out-of-bounds", **{**site, name: None}) == ""
    for shape in ({"block": (64, 1)}, {"grid": (4, 1)}):
        wide = LaunchCase(**{"grid": 4, "block": 64, "args": LAUNCH.args, "expected": {}, **shape})
        assert cause("", "global-out-of-bounds", launch=wide, **site) == "", "only for one dimension"


def test_thread_0_wants_no_multiple_of_its_number():
    site = {"thread": (0, 0, 0), "block": (0, 0, 0), "argument": 1}
    assert cause("", "global-out-of-bounds", address=400, **site).endswith("wants element 100, and the last one is 99.")


@pytest.mark.parametrize(
    ("body", "first", "then", "said"),
    [
        ("  s[i] = 1;\n  y[i] = s[63 - i];", 4, 5, "Line 5 comes after line 4, and no barrier stands between."),
        ("  y[i] = s[63 - i];\n  s[i] = 1;", 5, 4,
         "One thread may be at line 4 while another one is at line 5, and nothing makes either wait."),
        ("  s[0] = i;", 4, 4,
         "One thread may store on line 4 while another one stores there, too, and nothing makes either wait."),
        ("  __syncthreads();\n  s[0] = i;", 5, 5,
         "One thread may store on line 5 while another one stores there, too, and nothing makes either wait: the "
         "barrier of line 4 stands before both, and not between these two."),
        ("  while (n--) {\n    s[0] = i;\n    __syncthreads();\n  }", 5, 5,
         "On line 5 two threads store to one place in the same round: the barrier of line 6 keeps rounds apart, and "
         "nothing keeps the stores of a round apart."),
        ("  while (i--) {\n    s[0] = i;\n  }", 5, 5,
         "Line 5 comes round again, and in each round another thread is at the same line, and no barrier stands "
         "between."),
        ("  do {\n    y[i] = s[63 - i];\n    s[i] = 1;\n  } while (i--);", 6, 5,
         "Line 5 in the loop's next round comes after line 6, and no barrier stands between."),
        ("  for (;;) {\n    __syncthreads();\n    y[i] = s[63 - i];\n    s[i] = 1;\n  }", 7, 6,
         "Line 6 in the loop's next round comes after line 7, and the barrier of line 5 does not stand between these "
         "two."),
        ("  for (;;) {\n    y[i] = s[63 - i];\n    __syncthreads();\n    s[i] = 1;\n  }", 7, 5,
         "Line 5 in the loop's next round comes after line 7, and no barrier stands between."),
        ("  s[i] = 1;\n  if (i < 32) {\n    __syncthreads();\n  }\n  y[i] = s[63 - i];", 4, 8,
         "Line 8 comes after line 4, and the barrier of line 6 stands under `if (i < 32)`: it is not there each "
         "time."),
        ("  if (i) {\n    s[i] = 1;\n    __syncthreads();\n    y[i] = s[63 - i];\n  }", 5, 7,
         "Line 7 comes after line 5, and the barrier of line 6 does not stand between these two."),
        ("  s[i] = 1;\n  float v = __shfl_down_sync(~0u, i, 1) + __ballot_sync(~0u, i);\n  y[i] = s[63 - i];", 4, 6,
         "Line 6 comes after line 4, and no barrier stands between."),
        ("  s[i] = 1;\n  block.sync();\n  y[i] = s[63 - i];", 4, 6,
         "Line 6 comes after line 4, and the barrier of line 5 does not stand between these two."),
    ],
)  # fmt: skip
def test_why_nothing_keeps_two_accesses_apart(body, first, then, said):
    assert race(body, first, then) == said


@pytest.mark.parametrize(
    ("body", "line", "said"),
    [
        ("  s[i] += s[i / 2];", 4,
         "One thread may store on line 4 while another one still loads there, and nothing makes either wait."),
        ("  __syncthreads();\n  s[i] += s[i / 2];", 5,
         "One thread may store on line 5 while another one still loads there, and nothing makes either wait: the "
         "barrier of line 4 stands before both, and not between load and store."),
        ("  s[i] += s[i / 2];\n  __syncwarp();", 4,
         "One thread may store on line 4 while another one still loads there, and nothing makes either wait: the "
         "__syncwarp() of line 5 stands behind both, and not between load and store."),
        ("  while (n--) {\n    s[i] += s[i / 2];\n    __syncthreads();\n  }", 5,
         "On line 5 a lane stores what another one loads on the same line in the same round: the barrier of line 6 "
         "keeps rounds apart, and nothing keeps the loads of a round before its stores."),
    ],
)  # fmt: skip
@pytest.mark.parametrize(
    "message", ["writes a word that other threads read since the barrier", "the thread reads s[2], which another wrote"]
)
def test_a_load_and_a_store_of_one_line(body, line, said, message):
    assert cause(body, "race", message, line=line, other_line=line) == said


WARP_BARRIER = "  s[i] = 1;\n  __syncwarp();\n  y[i] = s[63 - i];"


@pytest.mark.parametrize(
    ("threads", "alone"), [((31, 32), True), ((0, 31), False), ((32, 63), False), ((63, 64), True), (None, True)]
)
def test_a_barrier_of_a_warp_between_two_threads(threads, alone):
    places = zip(("thread", "other_thread"), threads or (), strict=False)
    said = cause(WARP_BARRIER, "race", line=6, other_line=4, **{name: (lane, 0, 0) for name, lane in places})
    assert said == "Line 6 comes after line 4, and " + (
        "only the __syncwarp() of line 5 stands between: for one warp alone." if alone
        else "the __syncwarp() of line 5 does not stand between these two."
    )  # fmt: skip


@pytest.mark.parametrize(
    ("shape", "one", "other", "alone"),
    [
        ((8, 4, 2), (7, 3, 0), (0, 0, 1), True), ((8, 4, 2), (0, 0, 0), (7, 3, 0), False),
        ((8, 4, 2), (0, 0, 1), (7, 3, 1), False), ((16, 8), (15, 1, 0), (0, 2, 0), True),
        ((16, 8), (0, 2, 0), (15, 3, 0), False), ((64,), (31, 0, 0), (32, 0, 0), True),
    ],
)  # fmt: skip
def test_warps_of_a_block_of_several_dimensions(shape, one, other, alone):
    launch = LaunchCase(1, shape, LAUNCH.args, {})
    said = cause(WARP_BARRIER, "race", launch=launch, line=6, other_line=4, thread=one, other_thread=other)
    assert ("for one warp alone" in said) == alone


def test_a_barrier_of_the_block_counts_before_one_of_a_warp():
    body = WARP_BARRIER.replace("  y", "  __syncthreads();\n  y")
    assert race(body, 4, 7).endswith("and the barrier of line 6 does not stand between these two.")


def test_lines_that_are_not_known_or_of_other_files_say_nothing():
    assert race("  s[i] = 1;", None, 4) == race("  s[i] = 1;", 4, None) == ""
    assert race("  s[i] = 1;", 4, 4, file="a.cuh", other_file="k.cu") == ""


BLOCKS = {"block": (0, 0, 0), "other_block": (1, 0, 0)}


def test_of_fences_of_a_block_alone_the_first_is_named():
    body = "  y[0] = 1;\n  __threadfence_block();\n  __threadfence_block();\n  x[i] = y[0];"
    said = cause(body, "race", "thread 0 reads it", line=7, other_line=4, **BLOCKS)
    assert said.endswith("the sign and not the number. That of line 5 reaches its own block alone.")


@pytest.mark.parametrize(
    ("body", "first", "then", "said"),
    [
        ("  y[0] = 1;\n  atomicAdd(n, 1);\n  x[i] = y[0];", 4, 6, "No fence stands behind the store of line 4"),
        ("  y[0] = 1;\n  __threadfence_block();\n  x[i] = y[0];", 4, 6, "No fence stands behind the store of line 4"),
        ("  __threadfence();\n  y[0] = 1;\n  atomicAdd(n, 1);\n  x[i] = y[0];", 5, 7,
         "The fence of line 4 stands before the store. It has to stand between the store of line 5 and the sign of "
         "line 6."),
        ("  y[0] = 1;\n  atomicAdd(n, 1);\n  __threadfence();\n  x[i] = y[0];", 4, 7,
         "The fence of line 6 stands behind the sign. It has to stand between the store of line 4 and the sign of "
         "line 5."),
        ("  y[0] = 1;\n  __threadfence();\n  atomicAdd(n, 1);\n  x[i] = y[0];", 4, 7,
         "The store of line 4 has its fence. But line 7 runs without having seen the sign of that block: it does not "
         "ask whether the count says that all have come."),
        ("  y[0] = 1;\n  __threadfence();\n  atomicAdd(n, 1);\n  if (i < 9)\n    x[i] = y[0];", 4, 8,
         "The store of line 4 has its fence. But line 8 runs, under `if (i < 9)`, without having seen the sign of that "
         "block: it does not ask whether the count says that all have come."),
        ("  atomicAdd(n, 1);\n  y[0] = 1;\n  __threadfence();\n  x[i] = y[0];", 5, 7,
         "The store of line 5 has its fence, and no atomic tells line 7 that it is done."),
        ("  __threadfence();\n  y[0] = 1;\n  x[i] = y[0];", 5, 6,
         "The store of line 5 has no fence behind it, and no atomic tells line 6 that it is done."),
    ],
)  # fmt: skip
def test_what_two_blocks_lack(body, first, then, said):
    site = {"line": then, "other_line": first, **BLOCKS}
    assert cause(body, "race", "thread 0 reads it", **site).startswith(said)
    both = cause(body, "race", "both store\n  it reads", **site)
    assert both.startswith("Two blocks come to one element, and blocks run in any order")
    turned = cause(body, "race", "both store\n  it reads", line=first, other_line=then, **BLOCKS)
    assert turned == both, "whichever of the two comes first"
    for name in BLOCKS:
        assert "block" not in cause("  y[0] = x[0];", "race", line=4, other_line=4, **{**BLOCKS, name: None})
    assert "lock" not in cause("  y[0] = x[0];", "race", line=4, other_line=4, block=(1, 0, 0), other_block=(1, 0, 0))


@pytest.mark.parametrize("scope", ["_block", "", "_system"])
@pytest.mark.parametrize(("first", "then"), [(4, 4), (4, 5), (5, 4)])
def test_an_atomic_of_a_block_says_nothing_to_another_one(scope, first, then):
    """It is the cause where both blocks come to its line, and no other atomic of that scope is."""
    body = f"  atomicAdd{scope}(n, 1);\n  y[0] = 1;\n  atomicAdd_block(n, 1);"
    said = cause(body, "race", "both store", line=then, other_line=first, **BLOCKS)
    words = f"The atomic of line {then} holds among the threads of one block, and here two blocks meet."
    assert (said == words) == (scope == "_block" and first == then == 4)
    alone = cause(body, "race", "both store", line=5, other_line=5, **BLOCKS)
    assert alone.startswith("Two blocks come to one element on line 5. Blocks run in any order")


EARLY = "Line {} reads before line {} has stored"


@pytest.mark.parametrize(
    ("body", "read", "store", "said"),
    [
        ("  v = y[0];\n  y[0] = 1;", 4, 5, f"{EARLY.format(4, 5)}, and waits for no sign of it."),
        ("  __syncthreads();\n  v = y[0];\n  y[0] = 1;", 5, 6, f"{EARLY.format(5, 6)}, and waits for no sign of it."),
        ("  while (n[0] == 0) {}\n  v = y[0];\n  y[0] = 1;", 5, 6,
         f"{EARLY.format(5, 6)}: who waits on line 4 waits for itself, and no barrier between line 4 and line 5 makes "
         "the other threads wait, too."),
        ("  while (n[0] == 0) {}\n  __syncthreads();\n  v = y[0];\n  y[0] = 1;", 6, 7,
         f"{EARLY.format(6, 7)}: the wait of line 4, `while (n[0] == 0)`, ends too early."),
        ("  while (n[0] == 0) {}\n  __syncthreads();\n  v = y[0];\n  y[0] = 1;\n  atomicAdd(n, 1);", 6, 7,
         "The sign of line 8 is up as soon as one thread has stored: no barrier between line 7 and it gathers the "
         "others."),
        ("  while (n[0] == 0) {}\n  __syncthreads();\n  v = y[0];\n  y[0] = 1;\n  __syncthreads();\n  atomicAdd(n, 1);",
         6, 7, f"{EARLY.format(6, 7)}: the wait of line 4, `while (n[0] == 0)`, ends too early."),
        ("  v = y[0];\n  while (n[0] == 0) {}\n  y[0] = 1;", 4, 6,
         f"{EARLY.format(4, 6)}, and waits for no sign of it."),
    ],
)  # fmt: skip
def test_a_block_that_reads_before_another_one_has_stored(body, read, store, said):
    message = "the thread writes an element which a thread of another block read"
    assert cause(body, "race", message, line=store, other_line=read, **BLOCKS) == said


LONG = " && ".join(f"i > {k}" for k in range(9))


@pytest.mark.parametrize(
    ("body", "line", "other", "conditions"),
    [
        ("  if (i < 32)\n    __syncthreads();", 5, None, "`if (i < 32)`"),
        ("  for (int k = 0;\n       k < i; ++k) {\n    __syncthreads();\n  }", 6, None,
         "`for (int k = 0; k < i; ++k)`"),
        ("  while (i--) {\n    if (i > 3) {\n      while (n--) __syncthreads();\n    }\n  }", 6, None, "`if (i > 3)`"),
        ("  if (i > 3) {\n    __syncthreads();\n  }\n  else if (i > n) {\n    __syncthreads();\n  }", 5, 8,
         "`if (i > 3)` and `if (i > n)`"),
        ("  if (i) {\n    __syncthreads();\n  }\n  else if (n) {\n    __syncthreads();\n  }", 5, 8, "`if (i)`"),
        ("  if (i) {\n    __syncthreads();\n    __syncthreads();\n  }", 5, 6, "`if (i)`"),
        (f"  if ({LONG[:54]}) {{\n    __syncthreads();\n  }}", 5, None, f"`if ({LONG[:54]})`"),
        (f"  if ({LONG}) {{\n    __syncthreads();\n  }}", 5, None, f"`if ({LONG[:53]}...`"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("kind", ["barrier-divergence", "inactive-lane"])
def test_a_branch_that_not_all_threads_take(body, line, other, conditions, kind):
    what = "barrier"
    if kind == "inactive-lane":
        body, what, other = body.replace("__syncthreads()", "__shfl_sync(~0u, i, 0)"), "shuffle", None
        conditions = conditions.partition(" and ")[0]
    said = f"The {what} stands under {conditions}: not all of its threads come there alike."
    assert cause(body, kind, line=line, other_line=other) == said
    assert cause(body, kind, line=3) == cause(body, kind) == ""


@pytest.mark.parametrize(
    ("call", "what"),
    [
        ("__syncwarp()", "__syncwarp()"), ("v = __shfl_down_sync(~0u, i, 1)", "shuffle"),
        ("v = w.shfl(i, 0)", "shuffle"), ("__syncwarp(__ballot_sync(~0u, i))", "__syncwarp()"),
        ("v = __any_sync(~0u, i)", "vote"),
        ("v = __all_sync(~0u, i)", "vote"), ("v = __reduce_add_sync(~0u, i)", "reduction"),
        ("w.sync()", "warp-synchronous instruction"),
    ],
)  # fmt: skip
def test_what_a_warp_does_together(call, what):
    got = cause(f"  if (i > 2)\n    {call};", "inactive-lane", line=5)
    assert got == f"The {what} stands under `if (i > 2)`: not all of its threads come there alike."
    message = "the mask does not name it"
    got = cause(f"  {call};", "inactive-lane", message, line=4, thread=(37, 0, 0))
    assert got == f"Lane 5 comes to the {what} of line 4, and the mask there leaves it out."


def test_of_lanes_without_a_line_nothing_is_said():
    """Also where the whole kernel is one line, the first."""
    kernel = "__global__ void k(int* x) { int i = threadIdx.x; if (i > 2) __syncwarp(); x[i] = __any_sync(~0u, i); }"
    faults = [KernelFault("inactive-lane", "", FaultSite(line=line)) for line in (1, None)]
    known, unknown = (fault_cause(fault, kernel, LAUNCH) for fault in faults)
    assert known.endswith("stands under `if (i > 2)`: not all of its threads come there alike.")
    assert unknown == ""


def test_lanes_that_have_left_before():
    body = "  if (i > 2)\n    return;\n  v = __shfl_sync(~0u, i, 0);"
    assert cause(body, "inactive-lane", line=6) == (
        "The shuffle comes after line 5, where lanes leave under `if (i > 2)`: not all of its threads come there alike."
    )
    assert cause(body.replace("(i", "(n"), "inactive-lane", line=6) == "", "all threads have the same n"


@pytest.mark.parametrize(
    ("declared", "symbol", "size", "said"),
    [
        ("float s[64]", "s[64]", 256, ", and s has the elements 0 to 63."),
        ("short s[64]", "s[64]", 128, ", and s has the elements 0 to 63."),
        ("double s[8][8]", "s[8][0]", 512, ", and s has 64 elements."),
        ("Pair s[64]", "s[64]", 512, ", beyond the end of s."),
    ],
)
def test_who_comes_to_an_element_that_is_not_there(declared, symbol, size, said):
    source = KERNEL.format("  if (i > 2) s[i] = 1;").replace("float s[64]", declared)
    site = FaultSite(line=4, thread=(7, 0, 0), symbol=symbol)
    fault = KernelFault("shared-out-of-bounds", f"writes {symbol}, which has {size} bytes", site)
    assert (
        fault_cause(fault, source, LAUNCH) == f"Thread 7 comes to {symbol}{said} The test `if (i > 2)` lets it through."
    )
    none = KernelFault("shared-out-of-bounds", f"writes {symbol}, which has 0 bytes", site)
    assert fault_cause(none, source, LAUNCH) == "s has no element in this launch."
    for unknown in ("line", "thread", "symbol"):
        less = KernelFault("shared-out-of-bounds", str(fault), replace(site, **{unknown: None}))
        assert fault_cause(less, source, LAUNCH) == "", unknown
    assert fault_cause(KernelFault("shared-out-of-bounds", f"writes {symbol}", site), source, LAUNCH) == ""


@pytest.mark.parametrize(
    ("body", "symbol", "said"),
    [
        ("  y[i] = s[i];", "s[5]", "No line stores to s."),
        ("  s[0] = 1;\n  y[i] = s[i];", "s[5]", "s is stored to on line 4, and s[5] is read here, which nobody"),
        ("  s[0] = 1; s[1] = 2;\n  y[i] = s[i];", "s[5]", "s is stored to on line 4, and s[5] is read here"),
        ("  s[0] = 1;\n  y[i] = s[i];", None, "s is stored to on line 4, and s[3] is read here, which nobody"),
        ("  if (i > 7) s[0] = 1;\n  s[1]++;\n  atomicAdd(&s[2], 1);\n  s[3] = 1;", "s[5]",
         "s is stored to on line 4 and line 5 and line 6, under `if (i > 7)`, and s[5] is read here"),
        ("  __shared__ int t[4];\n  t[0] = s[i];", None, ""),
        ("  f(s);\n  y[i] = s[0];", "s[5]", "No line stores to s."),
    ],
)  # fmt: skip
def test_what_nobody_has_stored(body, symbol, said):
    got = cause(body, "uninitialized-shared", symbol=symbol, address=15)
    assert got.startswith(said)
    assert bool(got) == bool(said)


@pytest.mark.parametrize(
    ("declared", "address", "read"),
    [
        ("float s[8][8]", 8, "s[0][2]"), ("float s[8][8]", 44, "s[1][3]"), ("int s[2][3][4]", 92, "s[1][2][3]"),
        ("double s[8][8]", 88, "s[1][3]"), ("short s[64]", 6, "s[3]"), ("Pair s[64]", 8, "another element"),
        ("float s[8][N]", 8, "another element"),
    ],
)  # fmt: skip
def test_an_element_of_a_table_is_named_by_its_place(declared, address, read):
    source = KERNEL.format("  s[0][1] = 1;\n  y[i] = s[i][0];").replace("float s[64]", declared)
    fault = KernelFault("uninitialized-shared", "nobody", FaultSite(address=address))
    said = f"s is stored to on line 4, and {read} is read here, which nobody has stored."
    assert fault_cause(fault, source, LAUNCH) == said


def test_other_faults_have_no_cause():
    assert cause("  if (i) y[i] = 1;", "misaligned", line=4) == ""


CALLS = """__device__ float f(float v) {{
  __shared__ float s[64];
  s[threadIdx.x] = v;
  __syncthreads();
  float w = s[63 - threadIdx.x];
{}
  return w;
}}
__global__ void k(const float* x, float* y) {{
{}
}}"""
NEXT = "Line 3 in the next call of f comes after line 5 in the call before, and "
MEET = "Both calls come to s[7]. A thread may store there for the next call while another one still reads"


@pytest.mark.parametrize(
    ("end", "calls", "words"),
    [
        ("", "  f(1);\n  f(2);", f"{NEXT}no barrier stands between. {MEET}"),
        ("", "  f(f(1));", f"{NEXT}no barrier stands between. {MEET}"),
        ("", "  for (int r = 0; r < 3; ++r)\n    f(r);", f"{NEXT}no barrier stands between. {MEET}"),
        ("", "  f(1);\n  __syncthreads();\n  f(2);\n  f(3);", f"{NEXT}no barrier stands between. {MEET}"),
        ("  __syncwarp();", "  f(1);\n  f(2);", f"{NEXT}only the __syncwarp() of line 6 stands between"),
        ("", "  f(1);\n  if (x[0] > 0) __syncthreads();\n  f(2);", f"{NEXT}the barrier of line 11 stands under"),
        ("", "  f(1);", "One thread may be at line 3 while another one is at line 5, and nothing makes either wait."),
    ],
)
def test_two_calls_of_one_function(end, calls, words):
    site = FaultSite(line=3, other_line=5, thread=(7, 0, 0), other_thread=(56, 0, 0), symbol="s[7]")
    fault = KernelFault("race", "the thread writes a word of shared memory that other threads read", site)
    assert words in fault_cause(fault, CALLS.format(end, calls), LAUNCH)
    stored = KernelFault("race", "the thread reads a word of shared memory that another one wrote", site)
    assert "still reads" not in fault_cause(stored, CALLS.format(end, calls), LAUNCH)


def test_the_last_line_of_a_function_stands_between_two_calls():
    site = FaultSite(line=3, other_line=5, thread=(7, 0, 0), other_thread=(56, 0, 0), symbol="s[7]")
    fault = KernelFault("race", "the thread writes a word of shared memory that other threads read", site)
    text = CALLS.format("", "  f(1);\n  f(2);").replace("  return w;\n}", "  __syncwarp(); return w; }")
    assert f"{NEXT}only the __syncwarp() of line 7 stands between" in fault_cause(fault, text, LAUNCH)


CLUSTER = """__global__ void k(float* y) {{
  __shared__ float s[64];
  cg::cluster_group g = cg::this_cluster();
  s[threadIdx.x] = 1;
{}
  y[0] = *g.map_shared_rank(s, 1);
{}
}}"""
OWN_ALONE = " The barrier of line {} waits for the threads of its own block alone."
ENDED = "the thread reads shared memory of block (1, 0, 0), which may have ended before"
BEGUN = "the thread reads shared memory of another block, which may not have begun"
OTHERS = "the thread reads a word of the shared memory of another block that others wrote"
NOT_BEGUN = "the other block need not have begun"


@pytest.mark.parametrize(
    ("message", "before", "behind", "words"),
    [
        (ENDED, "  g.sync();", "", "The other block may end before line 6 has read from it."),
        (ENDED, "  g.sync();", "  __syncthreads();", f"at a barrier of the cluster.{OWN_ALONE.format(7)}"),
        (BEGUN, "", "", f"{NOT_BEGUN}, and need not have written what is read here."),
        (BEGUN, "  __syncthreads();", "", f"what is read here.{OWN_ALONE.format(5)}"),
        (BEGUN.replace("reads", "writes"), "", "", f"{NOT_BEGUN}."),
        (OTHERS, "  __syncthreads();", "", f"no barrier of the cluster stands between.{OWN_ALONE.format(5)}"),
        ("the thread reads a word of shared memory that another one wrote", "", "",
         "Line 6 goes to the other blocks, too: it takes a barrier of the cluster."),
    ],
)  # fmt: skip
def test_the_shared_memory_of_another_block(message, before, behind, words):
    fault = KernelFault("race", message, FaultSite(line=6, other_line=4, thread=(0, 0, 0), other_thread=(1, 0, 0)))
    assert words in fault_cause(fault, CLUSTER.format(before, behind), LAUNCH)


@pytest.mark.parametrize(
    ("message", "before", "behind", "line", "named"),
    [
        (OTHERS, 2, 0, 7, 6), (BEGUN, 2, 0, 7, 6), (ENDED, 0, 2, 5, 6), (ENDED, 0, 1, 5, 6), (OTHERS, 1, 2, 6, 5),
    ],
)  # fmt: skip
def test_of_several_barriers_of_a_block_the_nearest_is_named(message, before, behind, line, named):
    barriers = ["\n".join(["  __syncthreads();"] * count) for count in (before, behind)]
    source = CLUSTER.format(*barriers) if before else CLUSTER.replace("{}\n", "", 1).format(barriers[1])
    site = FaultSite(line=line, other_line=4, thread=(0, 0, 0), other_thread=(1, 0, 0))
    assert fault_cause(KernelFault("race", message, site), source, LAUNCH).endswith(OWN_ALONE.format(named))


@pytest.mark.parametrize("change", ["atomicAdd(&s[i], 1)", "s[i] += 1", "s[i]++"])
def test_a_word_that_is_changed_before_it_is_set(change):
    got = cause(f"  {change};", "uninitialized-shared", line=4, thread=(5, 0, 0), symbol="s[5]")
    assert got == "Line 4 changes s[5], and nobody has stored to it before."


def test_a_way_has_the_lines_of_both_accesses() -> None:
    straight: Any = SimpleNamespace(loop=lambda first, then: None, function=lambda line: None)
    way = Way.between(4, 6, straight)
    assert way is not None
    assert (way.lines, way.calls) == ({4, 5, 6}, False)
    assert Way.between(6, 4, straight) is None
    assert Way.between(4, 4, straight) is None


@pytest.mark.parametrize("block", [64, (24, 4), (5, 7, 3), (33, 2, 2), (8, 8), (96,), (40, 2, 1)])
def test_threads_of_one_warp_are_neighbours_with_x_first(block):
    """Beside the numbers of all threads: z, then y, then x. A thread that is not known may be in any warp."""
    wide, high, deep = (block, 1, 1) if isinstance(block, int) else (*block, 1, 1)[:3]
    number = np.arange(wide * high * deep).reshape(deep, high, wide)
    launch = LaunchCase(1, block, {}, {})
    threads = [(x, y, z) for z in range(deep) for y in range(high) for x in range(wide)]

    def differ(one, other):
        return causes._warps_differ(KernelFault("race", "", FaultSite(thread=one, other_thread=other)), launch)

    for one in threads[::7]:
        mine = number[one[2], one[1], one[0]] // 32
        for other in threads:
            assert differ(one, other) == (mine != number[other[2], other[1], other[0]] // 32), (one, other)
    assert differ(None, threads[0])
    assert differ(threads[0], None)


FENCED = "The store of line {} has its fence. But line {} runs without having seen the sign of that block"


@pytest.mark.parametrize(
    ("body", "first", "then", "said"),
    [
        ("  y[i] = 1;\n  if (i == 0)\n    __threadfence();\n  __syncthreads();\n  if (i == 0)\n    atomicAdd(n, 1);\n"
         "  x[i] = y[0];", 4, 10,
         "The fence of line 6 stands under `if (i == 0)`, before the barrier of line 7: it orders the number of that "
         "thread, and those of the others have no fence."),
        ("  y[i] = 1;\n  if (i == 0)\n    __threadfence();\n  __syncthreads();\n  __threadfence();\n  if (i == 0)\n"
         "    atomicAdd(n, 1);\n  x[i] = y[0];", 4, 11,
         "The fence of line 6 stands under `if (i == 0)`, before the barrier of line 7: it orders the number of that "
         "thread, and those of the others have no fence."),
        ("  y[i] = 1;\n  __syncthreads();\n  if (i == 0)\n    __threadfence();\n  if (i == 0)\n    atomicAdd(n, 1);\n"
         "  x[i] = y[0];", 4, 10, FENCED.format(4, 10)),
        ("  __syncthreads();\n  y[i] = 1;\n  __threadfence();\n  if (i == 0)\n    atomicAdd(n, 1);\n"
         "  x[i] = y[0];", 5, 9,
         "No barrier stands between the store of line 5 and the sign of line 8, which one thread sets: it may be up "
         "before the others have stored."),
        ("  y[i] = 1;\n  __threadfence();\n  if (i == 0)\n    atomicAdd(n, 1);\n  __syncthreads();\n"
         "  x[i] = y[0];", 4, 9,
         "No barrier stands between the store of line 4 and the sign of line 7, which one thread sets: it may be up "
         "before the others have stored."),
        ("  y[i] = 1;\n  __threadfence();\n  __syncwarp();\n  if (i == 0)\n    atomicAdd(n, 1);\n  x[i] = y[0];", 4, 9,
         "No barrier stands between the store of line 4 and the sign of line 8, which one thread sets: it may be up "
         "before the others have stored. The __syncwarp() of line 6 is for one warp."),
        ("  y[i] = 1;\n  __threadfence();\n  __syncthreads();\n  if (i == 0)\n    atomicAdd(n, 1);\n"
         "  x[i] = y[0];", 4, 9,
         FENCED.format(4, 9)),
    ],
)  # fmt: skip
def test_a_fence_and_a_barrier_stand_between_a_store_and_its_sign(body, first, then, said):
    got = cause(body, "race", "thread 0 reads it", line=then, other_line=first, **BLOCKS)
    assert got.startswith(said)
    assert got == said or said.startswith(FENCED[:12])


@pytest.mark.parametrize(("first", "then"), [(4, 5), (5, 4)])
@pytest.mark.parametrize("atomic", [4, 5])
def test_both_accesses_have_to_be_atomic(first, then, atomic):
    lines = ["  y[0] = 1;", "  atomicExch(n, 1);"]
    body = "\n".join(lines if atomic == 5 else lines[::-1])
    got = cause(body, "race", "it writes what is an atomic", line=then, other_line=first, **BLOCKS)
    assert got == f"The access of line {9 - atomic} is no atomic, and that of line {atomic} is one: both have to be."
