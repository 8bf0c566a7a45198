"""Hints from what a wrong kernel does, and from the code between the lines of a fault."""

from __future__ import annotations

import numpy as np
import pytest

from softlab.course.behaviour import OVER_ZERO, behaviour
from softlab.course.causes import barrier_conditions, fault_cause, with_barrier_at_the_end
from softlab.course.launch_cases import LaunchCase
from softlab.course.relations import of_elements, of_rows, scaled_and_shifted, taken_off
from softlab.errors import Error, KernelFault
from softlab.kernel import Kernel

X = np.random.default_rng(0).permutation(64).astype(np.float32) + 1
NEW = np.full(64, np.nan, np.float32)


def source(body: str) -> str:
    return f"__global__ void k(const float* x, float* y) {{\n  int i = threadIdx.x;\n{body}\n}}"


def said(body: str, wanted: np.ndarray, start: np.ndarray = NEW) -> str:
    kernel, launch = Kernel(source(body), "k"), LaunchCase(1, 64, {"x": X, "y": start}, {"y": wanted})
    args = launch.fresh()
    kernel.run(1, 64, tuple(args.values()), record=False)
    return behaviour(kernel, launch, "y", args["y"])


ONE = np.zeros(1, np.float32)
MOVED = "y has the right numbers in other places: "


@pytest.mark.parametrize(
    ("body", "wanted", "words"),
    [
        (
            "if (i < 32) y[i] = x[i];",
            X,
            "y[32] to y[63], the last one, are never stored. 64 threads ran for 64 "
            "elements: several have one index, or a test keeps some out.",
        ),
        ("", X, "Nothing is stored to y."),
        ("", np.where(np.arange(64) % 2, X, NEW), "Nothing is stored to y."),
        ("y[i] = x[63 - i];", X, f"{MOVED}the order of all is reversed."),
        ("y[i] = x[i ^ 1];", X, f"{MOVED}elements that are 1 apart have changed places."),
        ("y[i] = x[0];", X * X, "x[1], x[2] and others up to x[63] change nothing in y, and others do."),
        ("y[i] = 1;", X * X, "No number of x that was tried changes y."),
    ],
)
def test_what_a_kernel_does_with_its_inputs(body, wanted, words):
    assert words in said(body, wanted)


def test_numbers_in_places_of_no_order():
    """Where each came from can be said only if no number is wanted twice."""
    body = "y[i] = {}x[(5 * i + 3) % 64]{};"
    moved = f"{MOVED}y[0] has that of y[3], y[1] has that of y[8], y[63] has that of y[{(5 * 63 + 3) % 64}]"
    assert moved in said(body.format("", ""), X)
    assert MOVED not in said(body.format("floorf(", " / 2)"), np.floor(X / 2))


ADD = "for (int k = {}; k < {}; ++k) s += x[k];\n  if (i == 0) *y = s;"


@pytest.mark.parametrize(
    ("start", "body", "words"),
    [
        ("1", ADD.format(0, 64), "With x all 0, y is 1"),
        ("0", ADD.format(0, 63), "In the sum x[63] count nothing"),
        ("x[0]", ADD.format(0, 64), "In the sum x[0] count twice"),
        ("0", ADD.format(0, 64).replace("= s", "= 3 * s"), "y is 3 times what it should be"),
    ],
)
def test_what_counts_in_a_sum(start, body, words):
    assert words in said(f"  float s = {start};\n  {body}", X.sum(keepdims=True), ONE)


def test_a_maximum_that_begins_too_high():
    body = "  float m = 0;\n  for (int k = 0; k < 64; ++k) m = fmaxf(m, x[k] - 100);\n  if (i == 0) *y = m + 100;"
    assert "the maximum begins too high" in said(body, X.max(keepdims=True), ONE)


def fault(body: str, block: int = 64) -> tuple[str, KernelFault]:
    kernel, launch = Kernel(source(body), "k", file="cell.cu"), LaunchCase(1, block, {"x": X, "y": NEW}, {})
    with pytest.raises(KernelFault) as caught:
        kernel.run(1, block, tuple(launch.fresh().values()), record=False)
    return fault_cause(caught.value, source(body), launch), caught.value


@pytest.mark.parametrize(
    ("between", "words"),
    [
        ("", "Line 5 comes after line 4, and no barrier stands between."),
        ("  __syncwarp();\n", "for one warp alone"),
    ],
)
def test_why_nothing_orders_a_race(between, words):
    cause, _ = fault(f"  __shared__ float s[64];\n  s[i] = x[i];\n{between}  y[i] = s[63 - i];")
    assert words in cause


def test_a_store_of_the_next_round():
    loop = "  for (int k = 0; k < 3; ++k) {\n    s[i] = x[i] + k;\n    __syncthreads();\n    y[i] = s[63 - i];\n  }"
    cause, _ = fault(f"  __shared__ float s[64];\n{loop}")
    assert cause == "Line 5 in the loop's next round comes after line 7, and no barrier stands between."


def test_which_element_a_thread_wants():
    assert "wants element 64, 2 times its number" in fault("  y[i] = x[2 * i];")[0]
    cause, _ = fault("  y[i] = x[i];", block=96)
    assert "wants the element of its own number. There are 64" in cause


def test_barriers_in_branches():
    text = source("  if (i < 32) {\n    __syncthreads();\n    y[i] = 1;\n  }\n  __syncthreads();")
    assert barrier_conditions(text) == {4: "if (i < 32)"}
    assert with_barrier_at_the_end(text, "k") == text.removesuffix("}") + " __syncthreads(); }"
    assert with_barrier_at_the_end(text, "other") == ""


@pytest.mark.parametrize(
    ("body", "wanted", "words"),
    [
        ("y[i] = x[i] * x[i];", 2 * X, "y[i] is x[i] * x[i]."),
        ("y[i] = i < 32 ? 2 * x[i] : -x[i];", 2 * X, "Where it is wrong, y[i] is -x[i]."),
    ],
)
def test_numbers_that_are_an_operation_of_the_inputs(body, wanted, words):
    assert words in said(body, wanted)


A, B = np.random.default_rng(2).standard_normal((2, 12)).astype(np.float32)


@pytest.mark.parametrize(
    ("words", "numbers"),
    [
        ("a[i]", A),
        ("-a[i]", 0 - A),
        ("2 * a[i]", A + A),
        ("a[i] * a[i]", A**2),
        ("a[i] + 1", A - -1),
        ("a[i] + 2", A - -2),
        ("a[i] / 2", A * 0.5),
        ("the absolute value of a[i]", np.where(A < 0, -A, A)),
        ("e to the power of a[i]", np.e**A),
        ("a[i] + b[i]", A - -B),
        ("a[i] - b[i]", A + -B),
        ("b[i] - a[i]", B + -A),
        ("a[i] * b[i]", A / (1 / B)),
        ("the larger of a[i] and b[i]", np.where(A > B, A, B)),
        ("the smaller of a[i] and b[i]", np.where(A > B, B, A)),
        ("", A + B * B),
    ],
)
def test_each_operation_of_the_inputs_is_known(words: str, numbers: np.ndarray) -> None:
    found = of_elements("y", numbers.astype(np.float32), np.ones(12, bool), {"a": A, "b": B})
    assert found == (f"y[i] is {words}." if words else "")


def test_numbers_of_a_row_that_are_not_wrong_in_a_way():
    """One number for all rows is told elsewhere, and so are fewer than four."""
    assert of_rows("y", np.full(8, 5.0), 5 - MOST, {"x": MATRIX}) == ""
    spread = np.linspace(2, 3, 8).astype(np.float32)
    level = np.tile(spread[:, None], 40)
    assert of_rows("y", spread, spread * 0 + 9, {"x": level}) == "y[i] is the largest number of its row of x alone."
    right = MATRIX.sum(axis=1)
    for wrong in (3, 4):
        some = np.where(np.arange(8) < wrong, right - MOST, right)
        assert bool(of_rows("y", some, right, {"x": MATRIX})) == (wrong == 4)


MATRIX = (np.random.default_rng(1).standard_normal((8, 40)) * 3).astype(np.float32)
MOST = MATRIX.max(axis=1)


def test_a_number_of_the_row_that_is_missing():
    found = of_rows("y", MATRIX.sum(axis=1) - MOST, MATRIX.sum(axis=1), {"x": MATRIX})
    assert found == "y[i] is the right number less the largest number of its row of x."
    assert of_rows("y", MATRIX.sum(axis=1) + 1, MATRIX.sum(axis=1), {"x": MATRIX}) == ""


@pytest.mark.parametrize(
    ("words", "numbers"),
    [
        ("the largest number of its row", np.sort(MATRIX)[:, -1]),
        ("the smallest number of its row", np.sort(MATRIX)[:, 0]),
        ("the first number of its row", MATRIX.T[0]),
        ("the last number of its row", MATRIX.T[39]),
        ("the sum of its row", MATRIX @ np.ones(40)),
        ("the mean of its row", MATRIX @ np.full(40, 1 / 40)),
        ("e to the power of the largest number of its row", np.e ** np.sort(MATRIX)[:, -1]),
    ],
)
def test_each_number_of_a_row_is_known(words: str, numbers: np.ndarray) -> None:
    right = np.arange(1.0, 9) ** 2
    for got, said in (
        (numbers, "{} alone"),
        (right - numbers, "the right number less {}"),
        (right + numbers, "the right number plus {}"),
        (right - 2 * numbers, "the right number less twice {}"),
        (right * numbers, "the right number times {}"),
        (right / numbers, "the right number divided by {}"),
    ):
        assert of_rows("y", got, right, {"x": MATRIX}) == f"y[i] is {said.format(f'{words} of x')}."


def test_a_number_of_the_row_is_sought_in_one_number_or_two_per_row():
    sums = MATRIX.sum(axis=1)
    for wanted in (np.stack([sums, MOST], axis=1), np.stack([sums, MOST, sums], axis=1)):
        got = wanted.copy()
        got[:, 1] = MATRIX.min(axis=1)
        found = of_rows("y", got, wanted, {"x": MATRIX})
        assert found == ("y[i, 1] is the smallest number of its row of x alone." if wanted.shape[1] == 2 else "")


def test_the_number_that_a_row_is_taken_off():
    row = MATRIX[2].astype(np.float64)
    best = int(row.argmax())
    found = taken_off("y", "x", 2, row - row[5], row - row[best], row)
    assert found == f"In row 2, y is x less x[2, 5], where x less x[2, {best}] belongs."
    assert "plus" in taken_off("y", "x", 2, row + row[best], row - row[best], row)
    assert taken_off("y", "x", 2, row - row[best], row - row[best], row) == ""


@pytest.mark.parametrize(("off", "told"), [(1e-8, True), (3e-7, True), (3e-6, False)])
def test_a_row_less_one_number_may_be_rounded(off: float, told: bool):
    """By a few roundings of a float32, of the largest number of the row."""
    row = np.array([0.5, 8.0, -3.0, 2.0, 7.0])
    noise = off * 8 * np.array([1, -1, 0, 1, -1])
    assert bool(taken_off("y", "x", 2, row - 7 + noise, row - 8, row)) == told
    assert bool(taken_off("y", "x", 2, row - 7, row - 8 + noise, row)) == told
    assert bool(taken_off("y", "x", 2, row - 8 + noise, row - 8, row)) is False
    assert taken_off("y", "x", 2, row - 8 + off * 2, row - 8, row) == ""
    assert "less 6.5," in taken_off("y", "x", 2, row - 6.5, row - 8, row), "no number of the row"
    small = row / 100
    assert bool(taken_off("y", "x", 2, small - 0.07 + noise / 8, small - 0.08, small)) == told, "beside 1"


@pytest.mark.parametrize(("got", "told"), [(4e-4, False), (2e-2, True)])
def test_a_row_is_shifted_by_more_than_rounding(got: float, told: bool):
    row = np.linspace(-1, 3, 9)
    assert bool(scaled_and_shifted(1, row / 2 + got, row)) == told
    assert scaled_and_shifted(1, row * (1 + got / 100) + 1, row) == "", "not scaled"
    assert scaled_and_shifted(1, np.full(9, 2.0), row) == ""
    assert "less 1: the row" in scaled_and_shifted(1, 3 * row - 1, row)
    for scale in (0.01, 1000):
        assert bool(scaled_and_shifted(1, scale * (row / 2 + got), scale * row)) == told, "beside the numbers"
    bent = 3 * row - 1
    bent[4] += got
    assert bool(scaled_and_shifted(1, bent, row)) != told


def test_a_row_that_is_scaled_and_shifted():
    row = MATRIX[0].astype(np.float64)
    assert "0.5 times the right one plus 3" in scaled_and_shifted(0, row / 2 + 3, row)
    assert scaled_and_shifted(0, row / 2, row) == ""
    assert scaled_and_shifted(0, row**2, row) == ""


def test_a_division_by_zero_is_no_overflow():
    assert said("y[i] = x[i] / (x[i] - x[i]);", X) == OVER_ZERO


def test_only_an_infinity_that_is_wrong_comes_from_a_division_by_zero():
    """A NaN that no arithmetic made is told by no division, even next to infinities that are right."""
    right = X.copy()
    right[0] = np.inf
    given = 'asm("mov.b32 %0, 0x7fffffff;" : "=f"(y[i])); if (i == 0) y[i] = x[i] / (x[i] - x[i]);'
    assert said(given, right) != OVER_ZERO
    assert said(given, X) == OVER_ZERO


def test_a_number_that_reaches_some_of_the_results_that_are_alike():
    alike = np.repeat(X.reshape(-1, 32).max(axis=1), 32)
    body = (
        "  float v = x[i];\n  for (int far = 16; far > 1; far /= 2) v = fmaxf(v, __shfl_xor_sync(~0u, v, far));\n"
        "  y[i] = v;"
    )
    assert "which has to be the same number" in said(body, alike)


def test_parts_of_a_sum_that_count_several_times():
    halves = X.reshape(2, 32).sum(axis=1)
    start = np.full(2, np.nan, np.float32)
    body = "  float s = 0;\n  for (int k = 0; k < 64; ++k) s += x[k];\n  if (i < 2) y[i] = s;"
    assert "In all of y together x[0], x[1] and others up to x[63] count twice" in said(body, halves, start)


@pytest.mark.parametrize("each", [1, 2])
@pytest.mark.parametrize("axis", [0, 1])
def test_a_number_that_reaches_the_result_of_another_row_or_column(axis: int, each: int):
    """A kernel that adds the squares of the next row (column), where sums of powers of the own one are asked for."""
    x = X[:32].reshape(8, 4)
    sums, (along, across) = (x**3).sum(axis=1 - axis), ((1, 4), (4, 1))[axis]
    start = np.full((len(sums), each), np.nan, np.float32)
    body = (
        f"  float s = 0;\n  const float* own = x + (i / {each} + 1) % {len(sums)} * {across};\n"
        f"  for (int k = 0; k < {32 // len(sums)}; ++k) s += own[k * {along}] * own[k * {along}];\n"
        f"  if (i < {start.size}) y[i] = s;"
    )
    kernel = Kernel(source(body), "k")
    launch = LaunchCase(1, 64, {"x": x, "y": start}, {"y": np.repeat(sums[:, None], each, axis=1)})
    args = launch.fresh()
    kernel.run(1, 64, tuple(args.values()), record=False)
    what, last = ("row", "column")[axis], len(sums) - 1
    assert behaviour(kernel, launch, "y", args["y"]) == (
        f"x[0, 0] changes the result of {what} {last}, and not that of its own {what}."
    )


@pytest.mark.parametrize(
    ("number", "words"),
    [("v", "Row {} is the softmax of x as it is: the numbers of x are not changed before."), ("0.75f * v", "")],
)
def test_rows_that_are_the_softmax_of_the_input_itself(number: str, words: str):
    """Here each row of x has to be halved first."""
    x = X.reshape(2, 32) / 8
    powers = np.exp(x / 2 - x.max(axis=1, keepdims=True) / 2)
    body = (
        "  float s = 0, most = 0;\n  const float* row = x + i / 32 * 32;\n"
        "  for (int k = 0; k < 32; ++k) most = fmaxf(most, row[k]);\n"
        f"  for (int k = 0; k < 32; ++k) {{ float v = row[k] - most; s += expf({number}); }}\n"
        f"  float v = x[i] - most;\n  y[i] = expf({number}) / s;"
    )
    kernel, start = Kernel(source(body), "k"), np.full_like(x, np.nan)
    launch = LaunchCase(1, 64, {"x": x, "y": start}, {"y": powers / powers.sum(axis=1, keepdims=True)})
    args = launch.fresh()
    kernel.run(1, 64, tuple(args.values()), record=False)
    said = behaviour(kernel, launch, "y", args["y"])
    assert (said in {words.format(row) for row in (0, 1)}) if words else "softmax of x" not in said


@pytest.mark.parametrize(
    ("made", "words"),
    [
        ("x[{0}] + x[{1}]", "x[0] + x[8]"),
        ("x[{0}] - x[{1}]", "x[0] - x[8]"),
        ("x[{1}] - x[{0}]", "x[8] - x[0]"),
        ("x[{0}] * x[{1}]", "x[0] * x[8]"),
        ("x[{0}] / x[{1}]", ""),
    ],
)
def test_a_result_that_is_made_of_two_numbers(made: str, words: str):
    """Where the sum of two others belongs."""
    found = said(f"y[i] = {made.format('i', '(i + 8) % 64')};", np.roll(X, -1) * np.roll(X, -5) + X)
    assert (f"y[0] is {words}." in found) if words else ("y[0] is made from x[0] and x[8]" in found)


@pytest.mark.parametrize("left_out", ["", "i == 60 ? y[i] : "])
def test_powers_that_are_too_large_are_an_operation_where_the_result_is_wrong(left_out: str):
    """Some results are right, some are infinite, and one may be stored by nobody."""
    x = 4 * X
    kernel = Kernel(source(f"y[i] = i % 2 ? 2 * x[i] : {left_out}expf(x[i]);"), "k")
    launch = LaunchCase(1, 64, {"x": x, "y": NEW}, {"y": 2 * x})
    args = launch.fresh()
    kernel.run(1, 64, tuple(args.values()), record=False)
    assert np.isinf(args["y"]).any()
    assert behaviour(kernel, launch, "y", args["y"]) == "Where it is wrong, y[i] is e to the power of x[i]."


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ("y[i] = x[i] - x[5];", "inf - inf"),
        ("y[i] = x[i] + -x[5];", "inf - inf"),
        ("y[i] = x[i] * (x[3] - x[3]);", "inf * 0"),
        ("double v = x[3] - x[3], u = v + 1;\n  y[i] = i == 5 ? v / v * u : 0;", "0 / 0"),
    ],
)
def test_the_operation_that_makes_nan_is_told(body: str, words: str):
    x = X.copy()
    x[5:7] = np.inf, -np.inf
    kernel, launch = Kernel(source(body), "k"), LaunchCase(1, 64, {"x": x, "y": NEW}, {"y": np.zeros_like(x)})
    args = launch.fresh()
    kernel.run(1, 64, tuple(args.values()), record=False)
    with np.errstate(invalid="ignore"):
        said = behaviour(kernel, launch, "y", args["y"])
    assert said == f"On line {3 + body.count(chr(10))}, {words} is NaN."


def test_an_infinite_input_is_no_number_to_exceed():
    """What the other numbers change is still asked, and a result that none changes is named."""
    x = X.copy()
    x[5] = np.inf
    kernel, launch = Kernel(source("y[i] = 1;"), "k"), LaunchCase(1, 64, {"x": x, "y": NEW}, {"y": X * X})
    assert "No number of x that was tried changes y" in behaviour(kernel, launch, "y", np.ones_like(x))


def test_a_launch_that_cannot_be_recorded_step_by_step_is_told_otherwise(monkeypatch: pytest.MonkeyPatch):
    def refuse(*_: object, **__: object) -> None:
        raise Error("too long")

    monkeypatch.setattr(Kernel, "steps", refuse)
    found = said("y[i] = x[i] * 3e38f;", X)
    assert "line" not in found
    assert found.startswith("x[")
