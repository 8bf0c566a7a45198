"""The first rungs of the ladder (naive_row, naive_block, online_warp) against the oracle."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
import pytest

from softlab.cuda import gpu
from softlab.cuda.compile import Program
from softlab.dtypes import ELEMENT_TYPES, element_type
from softlab.kernel import Kernel
from tests.kernels.cases import matrix, program, special_rows
from tests.reference import assert_within, reference
from tests.sampled import sampled

T = TypeVar("T")

ARCH = "sm_90"
#: (rows, cols): odd and even lengths, both sides of a warp and of the longest block, one row and more than one block.
SHAPES = (
    (1, 1),
    (3, 2),
    (5, 7),
    (130, 5),
    (9, 31),
    (4, 32),
    (6, 33),
    (5, 100),
    (3, 511),
    (3, 512),
    (2, 1023),
    (5, 1024),
)
#: Lengths that naive_block does not take.
LONG_SHAPES = ((3, 1025), (2, 3000))
SPECIAL_COLS = (1, 2, 3, 31, 32, 33, 64, 65, 127, 1000)
#: exp(-x) is 0 in float and in double beyond this difference.
NO_MORE_THAN_ZERO = 750.0


@dataclass(frozen=True)
class FirstRung:
    """One kernel and its launch: ``rows_per_block``; a block of the row's length where ``block`` is 0."""

    kernel: str
    rows_per_block: int
    block: int = 0

    def program(self, dtype: str) -> Program:
        return program(f"{self.kernel}.cuh", f"{self.kernel}<{element_type(dtype).cuda}>", ARCH, ())

    def launch(self, x: np.ndarray) -> tuple[int, int, int]:
        """Blocks, threads per block and bytes of dynamic shared memory."""
        rows, cols = x.shape
        block = self.block or 1 << (cols - 1).bit_length()
        itemsize = 8 if x.dtype == np.float64 else 4
        return -(-rows // self.rows_per_block), block, 0 if self.block else block * itemsize

    def takes(self, cols: int) -> bool:
        return self.block > 0 or cols <= 1024

    def additions(self, cols: int) -> int:
        """The most roundings of a row's sum: each addition is one, and a rescaled sum of online_warp has four more."""
        return {"naive_row": cols, "naive_block": 10, "online_warp": 5 * (-(-cols // 32) + 1) + 5}[self.kernel]


RUNGS = (FirstRung("naive_row", 128, 128), FirstRung("naive_block", 1), FirstRung("online_warp", 4, 128))
every_rung = pytest.mark.parametrize("rung", RUNGS, ids=lambda rung: rung.kernel)


def emulated(rung: FirstRung, x: np.ndarray, *, in_place: bool = False) -> np.ndarray:
    """What the kernel makes of x, with all checks; the result starts as NaN, so that no element is left out."""
    source = x.copy()
    y = source if in_place else np.full_like(x, np.nan)
    grid, block, smem = rung.launch(x)
    kernel = Kernel.from_program(rung.program(x.dtype.name))
    args = (source, y, *map(np.int64, x.shape))
    kernel.run(grid, block, args, smem=smem, check=True, record=False)  # raises for any finding
    return y


def assert_softmax(got: np.ndarray, x: np.ndarray, rung: FirstRung, what: str) -> None:
    """Within the oracle's tolerance and this kernel's own roundings of the sum."""
    expected = reference(x)
    unit = float(np.finfo(np.float64 if x.dtype == np.float64 else np.float32).eps) / 2
    values = np.where(np.isfinite(x), x, 0).astype(np.longdouble)
    # The rescaling of online_warp takes exponentials of up to the row's range: 2.4 u for each unit, and u to subtract.
    spread = np.minimum(np.ptp(values, axis=-1, keepdims=True), NO_MORE_THAN_ZERO)
    roundings = rung.additions(x.shape[1]) + 4 * spread * (rung.kernel == "online_warp")
    size = np.where(np.isfinite(expected.value), np.abs(expected.value), 0)
    assert_within(got, expected.value, expected.tolerance + roundings * unit * size, what)


def shapes(rung: FirstRung) -> list[tuple[int, int]]:
    return [shape for shape in SHAPES + LONG_SHAPES if rung.takes(shape[1])]


#: `.ci/run` runs each eighth case of a type, so that half of the cases meet one type; `make test` runs all.
every_part = pytest.mark.parametrize("part", sampled(range(8), lambda part: part == 0))


def of_part(cases: Sequence[T], dtype: str, part: int) -> Sequence[T]:
    return cases[(2 * list(ELEMENT_TYPES).index(dtype) + part) % 8 :: 8]


@every_rung
@every_part
@pytest.mark.parametrize("dtype", ELEMENT_TYPES)
def test_every_shape(rung: FirstRung, dtype: str, part: int) -> None:
    for rows, cols in of_part(shapes(rung), dtype, part):
        x = matrix(rows, cols, dtype)
        assert_softmax(emulated(rung, x), x, rung, f"{rung.kernel}, {rows} x {cols} {dtype}")


@every_rung
@every_part
@pytest.mark.parametrize("dtype", ELEMENT_TYPES)
def test_special_values(rung: FirstRung, dtype: str, part: int) -> None:
    for cols in of_part(SPECIAL_COLS, dtype, part):
        x = special_rows(cols, dtype)
        y = emulated(rung, x)
        assert_softmax(y, x, rung, f"{rung.kernel}, special rows of {cols} {dtype}")
        assert np.all(y[np.isneginf(x) & ~np.isnan(y)] == 0)


@every_rung
def test_rows_that_grow(rung: FirstRung) -> None:
    """Each element is a new maximum: a running sum is rescaled in every step."""
    x = np.linspace(-60, 60, 2000, dtype=np.float32)[None, : 2000 if rung.takes(2000) else 1000]
    assert_softmax(emulated(rung, x), x, rung, f"{rung.kernel}, growing")


@every_rung
def test_in_place(rung: FirstRung) -> None:
    x = matrix(7, 1000, "float32")
    assert np.array_equal(emulated(rung, x, in_place=True), emulated(rung, x))


@every_rung
def test_no_spills(rung: FirstRung) -> None:
    for dtype in ELEMENT_TYPES:
        made = rung.program(dtype)
        assert (made.local_bytes, made.spill_bytes, made.static_smem_bytes) == (0, 0, 0), made.name


@pytest.mark.gpu
@every_rung
@pytest.mark.parametrize("dtype", ELEMENT_TYPES)
def test_on_the_gpu(rung: FirstRung, dtype: str) -> None:
    import cupy

    def launched(x: np.ndarray) -> np.ndarray:
        source: Any = cupy.asarray(x)
        target = cupy.full_like(source, np.nan)
        grid, block, smem = rung.launch(x)
        gpu.launch(rung.program(dtype), (grid,), (block,), (source, target, *map(np.int64, x.shape)), smem)
        return target.get()

    for rows, cols in shapes(rung):
        x = matrix(rows, cols, dtype)
        assert_softmax(launched(x), x, rung, f"{rung.kernel}, {rows} x {cols} {dtype}")
    for cols in SPECIAL_COLS:
        x = special_rows(cols, dtype)
        assert_softmax(launched(x), x, rung, f"{rung.kernel}, special rows of {cols} {dtype}")
