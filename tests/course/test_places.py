"""Which thread comes to which element, and where a stored infinity is made, as a run shows it."""

from __future__ import annotations

import numpy as np
import pytest

from softlab.course import places
from softlab.course.launch_cases import LaunchCase
from softlab.course.origins import origins
from softlab.course.places import Visits, outside, read, read_again, stands_still, stored, visits
from softlab.kernel import Kernel


def made(body: str, *, grid: int = 1, shape: tuple[int, ...] = (256,)) -> tuple[Kernel, LaunchCase]:
    """A kernel of blocks of 64 threads, and its launch."""
    x = np.arange(np.prod(shape), dtype=np.float32).reshape(shape)
    source = f"__global__ void k(const float* x, float* y) {{\n  int t = threadIdx.x, b = blockIdx.x;\n  {body}\n}}"
    return Kernel(source, "k"), LaunchCase(grid, 64, {"x": x, "y": np.full_like(x, np.nan)}, {"y": x})


LOOP = "for (int i = 0; i < 4; ++i) {{ int k = {}; y[k] = x[k]; }}"


@pytest.mark.parametrize(
    ("body", "grid", "words"),
    [
        (LOOP.format("t"), 1, "Thread 0 stores y[0] 4 times: its index does not change from turn to turn."),
        (
            LOOP.format("32 * i + t"),
            1,
            "y[32] is stored by thread 32 and by thread 0. From turn to turn a thread goes 32",
        ),
        ("y[4 * b + t] = 1;", 4, "blocks are 4 apart, which is the number of blocks, and a block has 64 threads."),
        ("y[t] = 1;", 1, "each of the 64 threads stores 1 element, which makes 64. There are 256: 4 per thread."),
        ("y[64 * b + t] = 1;", 4, ""),
    ],
)
def test_why_elements_are_not_stored(body, grid, words):
    kernel, launch = made(body, grid=grid)
    said = stored(kernel, launch, "y")
    assert words in said
    assert bool(words) == bool(said)


@pytest.mark.parametrize(
    ("access", "words"),
    [
        (
            "((float4*)y)[32 * i + t] = make_float4(1, 2, 3, 4)",
            "From turn to turn a thread goes 128 further, and a block has 64 threads that take 4 elements each, 256 "
            "together.",
        ),
        (
            "y[2 * t + 64 * i] = 1",
            "From turn to turn a thread goes 64 further, and a block has 64 threads, whose elements are 2 apart.",
        ),
    ],
)
@pytest.mark.parametrize("turns", [2, 4])
def test_how_far_the_threads_of_a_block_go_in_a_turn(access, words, turns):
    kernel, launch = made(f"for (int i = 0; i < {turns}; ++i) {access};", shape=(768,))
    assert stored(kernel, launch, "y").endswith(words)


def test_columns_that_are_taken_modulo_the_rows():
    kernel, launch = made("int i = 64 * b + t; y[i / 64 * 64 + i % 4] = 1;", grid=4, shape=(4, 64))
    assert "in the columns 0 to 3 alone, and has 64: the column is taken modulo 4" in stored(kernel, launch, "y")


@pytest.mark.parametrize(
    ("step", "words"), [(63, "x[63] is read by thread 63 and by thread 0"), (65, "nobody reads x[64]"), (64, "")]
)
def test_the_step_of_a_loop_that_reads(step, words):
    kernel, launch = made(f"float s = 0; for (int i = t; i < 256; i += {step}) s += x[i]; y[t] = s;")
    said = read(kernel, launch, "x")
    assert words in said
    assert bool(words) == bool(said)


STILL = "Thread 0 stores {}, and reads x[0] for all of them: the index of the read does not change from turn to turn."


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ("for (int i = 0; i < 4; ++i) y[64 * i + t] = x[t];", STILL.format("y[0], y[64], y[128] and y[192]")),
        ("for (int i = 0; i < 2; ++i) y[64 * i + t] = x[t];", STILL.format("y[0] and y[64]")),
        (
            "for (int i = 0; i < 8; ++i) y[32 * i + t % 32] = x[t];",
            STILL.format("y[0], y[32], y[64] and y[96]"),
        ),
        ("for (int i = 0; i < 4; ++i) y[64 * i + t] = ((volatile const float*)x)[t];",
         STILL.format("y[0], y[64], y[128] and y[192]")),
        ("for (int i = 0; i < 4; ++i) y[64 * i + t] = x[64 * i + t];", ""),
        ("for (int i = 0; i < 4; ++i) y[64 * i + t] = x[t / 2];", ""),
        ("for (int i = 0; i < 4; ++i) ((volatile float*)y)[t] = x[t];", ""),
        ("y[t] = x[t];", ""),
        ("for (int i = 0; i < 4; ++i) if (t) y[64 * i + t] = x[t];", ""),
        ("for (int i = 0; i < 4; ++i) y[64 * i + t] = x[t] + x[t + 64];", ""),
        ("for (int i = 0; i < 4; ++i) y[64 * i + t] = x[t] +\n x[t + 64];", ""),
    ],
)  # fmt: skip
def test_a_read_that_stands_still(body, words):
    assert stands_still(*made(body), "x", "y") == words


def test_a_read_of_an_array_of_another_size_stands_for_nothing():
    kernel, launch = made("for (int i = 0; i < 2; ++i) y[64 * i + t] = x[t];", shape=(128,))
    launch.args["x"] = launch.args["x"][:64]
    assert stands_still(kernel, launch, "x", "y") == ""


@pytest.mark.parametrize(
    ("body", "shape", "words"),
    [
        (
            "int i = 64 * b + t; y[i] = x[2 * i];",
            (256,),
            "Thread t reads element 2 t of x, and has to come to element t",
        ),
        ("int i = 64 * b + t; ((float4*)y)[i] = ((const float4*)x)[i];", (256,), "256 elements are 64 packs"),
        ("int i = 64 * b + t; y[i] = ((const float4*)x)[4 * i].x;", (256,), ""),
        ("int i = 64 * b + t; y[i] = x[i / 4 * 64 + i % 4];", (4, 64), "after 4 threads, which is the number of rows"),
        ("int i = 64 * b + t; y[i] = x[i % 64 * 64 + i / 64];", (4, 64), "Row and column are exchanged"),
    ],
)
def test_how_threads_come_beyond_the_end(body, shape, words):
    kernel, launch = made(body, grid=4, shape=shape)
    assert words in outside(kernel, launch, "x", 3, store=False)


def test_too_few_threads_tell_nothing_of_rows_and_columns():
    kernel, launch = made("int i = 64 * b + t; y[i] = x[i / 4 * 64 + i % 4];", grid=2, shape=(4, 64))
    assert outside(kernel, launch, "x", 3, store=False) == ""


def test_the_line_of_an_infinity_that_is_stored():
    source = """__global__ void k(const float* x, float* y) {
  float low = -3.4e38f - x[0];
  low = low * 2;
  float none = exp2f(low);
  float most = 3e38f * x[1];
  y[0] = fmaxf(none, most);
}"""
    x, y = np.array([1, 2], np.float32), np.zeros(1, np.float32)
    assert origins(Kernel(source, "k").steps(1, 32, (x, y))) == {5}
    assert origins(Kernel(source, "k").steps(1, 32, (x / 4, y))) is None


@pytest.mark.parametrize(
    ("load", "again"),
    [
        ("float4 v = ((const float4*)x)[t % 16]; y[t] = v.x + v.y + v.z + v.w;", True),
        ("float4 v = ((const float4*)x)[t]; y[t] = v.x + v.y + v.z + v.w;", False),
        ("float2 v = ((const float2*)x)[t % 16]; y[t] = v.x + v.y;", False),
        ("y[t] = x[t % 16];", False),
    ],
)
def test_an_element_that_wide_loads_read_again(load, again):
    """16 bytes per load say nothing of how often an element is loaded; of narrower loads something else is said."""
    said = read_again(*made(load))
    assert said.startswith("Each load has 16 bytes. But x[0] is read by thread 0 and by thread 16") == again
    assert bool(said) == again


def test_of_inputs_alone_it_is_said_that_wide_loads_read_them_again():
    """A result may be read as often as it takes, and a number has no elements."""
    body = (
        "float4 v = ((const float4*)x)[t], w = ((float4*)y)[t % 16]; ((float4*)y)[t] = make_float4(v.x, v.y, w.z, n);"
    )
    x = np.arange(256, dtype=np.float32)
    source = f"__global__ void k(const float* x, float* y, int n) {{\n  int t = threadIdx.x;\n  {body}\n}}"
    launch = LaunchCase(1, 64, {"x": x, "y": np.zeros_like(x), "n": 3}, {"y": x})
    assert read_again(Kernel(source, "k"), launch) == ""
    turned = source.replace("const float4*)x)[t]", "const float4*)x)[t % 16]")
    assert "x[0] is read by thread 0 and by thread 16" in read_again(Kernel(turned, "k"), launch)


def elements_of(element, *, width=1, block=4, shape=(16,), store=True, line=7):
    return Visits("y", line, store, np.array(element), width, block, shape)


TURNS = [[0, 1, 2, 3, 8, 9, 10, -1], [4, 5, 6, 7, 12, 13, -1, -1]]


def test_what_is_known_of_the_accesses_of_a_line():
    line = elements_of(TURNS)
    assert (line.size, line.verb, line.thread(3), line.thread(6)) == (
        16,
        "stores",
        "thread 3 of block 0",
        "thread 2 of block 1",
    )
    assert line.times().tolist() == [1] * 11 + [0, 1, 1, 0, 0]
    assert (line.step(), line.apart()) == (4, 1)
    assert line.who(0) == [(0, 0)]
    assert line.who(13) == [(5, 1)]
    assert line.who(11) == []
    assert elements_of([[0, 5, 5, -1]]).who(5) == [(1, 0), (2, 0)]
    wide = elements_of([[0, 4, 14, -1]], width=4, store=False)
    assert wide.times().tolist() == [1] * 8 + [0] * 6 + [1, 1], "what lies beyond the end is no element"
    assert [wide.who(number) for number in (3, 4, 13, 14)] == [[(0, 0)], [(1, 0)], [], [(2, 0)]]
    assert (wide.verb, wide.thread(3), wide.step(), wide.apart()) == ("reads", "thread 3", None, None)
    assert elements_of([[-1, -1, -1, -1]], width=2).who(0) == []
    assert elements_of([[0, 2, 4, 6], [1, 3, 5, 9]]).step() is None
    assert elements_of([[0, 1], [-1, 3], [4, 5]], block=2).step() == 2, "a turn that a thread leaves out is no step"
    assert elements_of([[0, 2, -1, 6], [9, 9, 9, 9]]).apart() is None
    assert elements_of([[0, 2, -1, 6, 3, 5, 7, -1]]).apart() == 2, "the last thread of a block has no neighbour"
    assert (elements_of(TURNS, shape=(4, 4)).at(7), line.at(7)) == ("y[1, 3]", "y[7]")


@pytest.mark.parametrize(
    ("body", "store", "width", "turns"),
    [
        ("y[64 * b + t] = x[2 * t];", False, 1, [[*range(0, 128, 2)] * 2]),
        ("y[64 * b + t] = x[2 * t];", True, 1, [range(128)]),
        (
            "if (b == 1 && (t < 2 || t >= 40)) for (int i = 0; i < 2; ++i) y[64 * i + t] = 1;",
            True,
            1,
            [
                [-1] * 64 + [first, first + 1, *[-1] * 38, *range(first + 40, first + 64)]
                for first in (0, 64)
            ],
        ),
        (
            "for (int i = 0; i < 1 + (t < 32); ++i) { float2 v = ((const float2*)x)[32 * b + t % 32 + 16 * i]; "
            "y[64 * b + t] = v.x * v.y; }",
            False,
            2,
            [
                [first + 2 * (t % 32) for first in (0, 64) for t in range(64)],
                [first + 2 * t + 32 if t < 32 else -1 for first in (0, 64) for t in range(64)],
            ],
        ),
    ],
)  # fmt: skip
def test_who_comes_to_which_element_in_a_run(body, store, width, turns):
    kernel, launch = made(body, grid=2, shape=(160,))
    (line,) = visits(kernel, launch, "y" if store else "x")
    assert (line.line, line.store, line.width, line.block, line.shape) == (3, store, width, 64, (160,))
    assert line.element.tolist() == [list(turn) for turn in turns]


FOURS = "int i = 64 * b + t; float4 v = ((const float4*)x)[{}]; y[i] = v.x * v.y + v.z * v.w;"
TWOS = "int i = 64 * b + t; float2 v = ((const float2*)x)[{}]; y[i] = v.x * v.y;"
OWN = "int i = 64 * b + t; y[i] = x[{}];"
LOOP_READ = "for (int i = 0; i < 4; ++i) y[64 * i + t] = x[{}];"


@pytest.mark.parametrize(
    ("body", "shape", "words"),
    [
        (
            FOURS.format("4 * i"),
            (256,),
            "Thread t reads 4 elements from element 16 t on, where 4 t comes next: an index of packs counts packs of "
            "4, not elements.",
        ),
        (
            FOURS.format("i"),
            (256,),
            "Thread t reads 4 elements from element 4 t on: 256 elements are 64 packs, number 0 to number 63.",
        ),
        (FOURS.format("i + 1"), (256,), ""),
        (
            TWOS.format("2 * i"),
            (256,),
            "Thread t reads 2 elements from element 4 t on, where 2 t comes next: an index of packs counts packs of "
            "2, not elements.",
        ),
        (
            TWOS.format("i"),
            (256,),
            "Thread t reads 2 elements from element 2 t on: 256 elements are 128 packs, number 0 to number 127.",
        ),
        (
            LOOP_READ.format("4 * t + 64 * i"),
            (256,),
            "In each turn neighbouring threads are 4 elements apart, and from turn to turn a thread goes 64 further. "
            "The 64 threads of a block need one of the two: neighbours 1 apart and turns 64 apart, or neighbours 4 "
            "apart and turns 1 apart.",
        ),
        (LOOP_READ.format("4 * t + 63 * i"), (256,), ""),
        (LOOP_READ.format("t + 80 * i"), (256,), ""),
        (OWN.format("2 * i"), (256,), "Thread t reads element 2 t of x, and has to come to element t."),
        (OWN.format("2 * i"), (16, 16), "Thread t reads element 2 t of x, and has to come to element t."),
        (OWN.format("2 * i + 1"), (256,), ""),
        (OWN.format("256 - i"), (256,), ""),
        (
            OWN.format("i / 4 * 64 + i % 4"),
            (4, 64),
            "Threads 0 to 3 come to row 0, and thread 4 comes to row 1, column 0: the row changes after 4 threads, "
            "which is the number of rows. A row has 64 columns.",
        ),
        (
            OWN.format("i % 64 * 64 + i / 64"),
            (4, 64),
            "Thread 1 comes to row 1, column 0, and thread 4 to row 4, which does not exist: the row is the remainder "
            "by 64. Row and column are exchanged: a row changes after 64 threads, so the row is the quotient.",
        ),
        (OWN.format("i % 4 * 64 + i / 4 + 64"), (4, 64), ""),
    ],
)
def test_all_that_is_said_of_threads_beyond_the_end(body, shape, words):
    kernel, launch = made(body, grid=4, shape=shape)
    assert outside(kernel, launch, "x", 3, store=False) == words
    assert outside(kernel, launch, "x", 3, store=True) == outside(kernel, launch, "x", 2, store=False) == ""


TWICE = "for (int i = 0; i < 2; ++i) {}"


@pytest.mark.parametrize(
    ("body", "grid", "shape", "words"),
    [
        ("if (t < 4) y[4 * b + t] = 1;", 4, (256,), ""),
        ("y[96 * b + t] = 1;", 2, (256,), ""),
        ("y[t] = 1;", 1, (200,), ""),
        (
            "y[32 * b + t] = 1;",
            4,
            (256,),
            "Block 0 begins with y[0] and block 1 with y[32]: blocks are 32 apart, and a block has 64 threads.",
        ),
        (
            "y[4 * b + t] = 1;",
            3,
            (256,),
            "Block 0 begins with y[0] and block 1 with y[4]: blocks are 4 apart, and a block has 64 threads.",
        ),
        ("y[t] = 1;", 3, (256,), "y[0] is stored by thread 0 of block 0 and by thread 0 of block 1."),
        (
            "((float2*)y)[t] = make_float2(1, 2);",
            1,
            (256,),
            "On line 3 each of the 64 threads stores 2 elements, which makes 128. There are 256: 4 per thread.",
        ),
        (
            TWICE.format("y[2 * t + i] = 1;"),
            1,
            (256,),
            "On line 3 each of the 64 threads stores 2 elements, which makes 128. There are 256: 4 per thread.",
        ),
        (
            TWICE.format("y[t + 64 * i] = 1;"),
            1,
            (256,),
            "On line 3 each of the 64 threads stores 2 elements, which makes 128. There are 256: 4 per thread.",
        ),
        (
            TWICE.format("y[t + 80 * i] = 1;"),
            1,
            (256,),
            "On line 3 nobody stores y[64]. From turn to turn a thread goes 80 further, and a block has 64 threads.",
        ),
        (
            TWICE.format("y[64 * b + t + 160 * i] = 1;"),
            2,
            (320,),
            "On line 3 nobody stores y[128]. From turn to turn a thread goes 160 further, and the launch has 128 "
            "threads.",
        ),
        (
            TWICE.format("y[32 * i + 64 * b + t] = 1;"),
            2,
            (256,),
            "y[32] is stored by thread 32 of block 0 and by thread 0 of block 0. From turn to turn a thread goes 32 "
            "further, and the launch has 128 threads.",
        ),
        (
            TWICE.format("((float2*)y)[64 * b + t + 160 * i] = make_float2(1, 2);"),
            2,
            (640,),
            "On line 3 nobody stores y[256]. From turn to turn a thread goes 320 further, and the launch has 128 "
            "threads that take 2 elements each, 256 together.",
        ),
        (TWICE.format("y[t / 2 + 16 * i] = 1;"), 1, (256,), "y[0] is stored by thread 0 and by thread 1."),
        (
            TWICE.format("((float2*)y)[64 * b + t + 32 * i] = make_float2(1, 2);"),
            2,
            (1024,),
            "y[64] is stored by thread 32 of block 0 and by thread 0 of block 0. From turn to turn a thread goes 64 "
            "further, and the launch has 128 threads that take 2 elements each, 256 together.",
        ),
        (
            TWICE.format("((float2*)y)[100 * b + t + 32 * i] = make_float2(1, 2);"),
            2,
            (1024,),
            "y[64] is stored by thread 32 of block 0 and by thread 0 of block 0. From turn to turn a thread goes 64 "
            "further, and a block has 64 threads that take 2 elements each, 128 together.",
        ),
        (
            TWICE.format("((float2*)y)[32 * b + t + 16 * i] = make_float2(1, 2);"),
            2,
            (1024,),
            "Block 0 begins with y[0] and block 1 with y[64]: blocks are 64 apart, and a block has 64 threads.",
        ),
        (
            "int i = 64 * b + t; y[i / 64 * 64 + i % 8] = 1;",
            4,
            (4, 64),
            "Each row is stored in the columns 0 to 7 alone, and has 64.",
        ),
        (
            "int i = 64 * b + t; y[i / 64 * 64 + i % 8 + 1] = 1;",
            4,
            (4, 64),
            "y[0, 1] is stored by thread 0 of block 0 and by thread 8 of block 0.",
        ),
        (
            TWICE.format("if (t > 2) ((volatile float*)y)[t] = 1;"),
            1,
            (256,),
            "Thread 3 stores y[3] 2 times: its index does not change from turn to turn.",
        ),
    ],
)
def test_all_that_is_said_of_elements_that_nobody_stores(body, grid, shape, words):
    kernel, launch = made(body, grid=grid, shape=shape)
    assert stored(kernel, launch, "y") == words


@pytest.mark.parametrize("thread", [0, 5, 256, 300, 999])
def test_a_thread_that_comes_again(thread):
    """It is the same one, whatever its number."""
    element = np.arange(2000).reshape(2, 1000)
    element[1, thread] = element[0, thread]
    line = Visits("y", 3, True, element, 1, 100, (2000,))
    words = f"{line.at(thread)} is stored by {line.thread(thread)} again."
    assert places._again(line) == words
    element[1, thread], element[1, thread - 1] = 5000, element[0, thread]
    assert places._again(Visits("y", 3, True, element, 1, 100, (9000,))) != words
