"""The launches that judge the kernels of the bug clinic: one or two small ones per bug, the telling one first."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from softlab.course.launch_cases import LaunchCase

Launches = Callable[[], Iterator[LaunchCase]]
#: Name of a bug -> its launches.
LAUNCHES: dict[str, Launches] = {}


def _for(name: str) -> Callable[[Launches], Launches]:
    def register(launches: Launches) -> Launches:
        LAUNCHES[name] = launches
        return launches

    return register


def _whole(shape: int | tuple[int, ...], seed: int = 0) -> np.ndarray:
    """Whole numbers from -8 to 8 as float32: their sums are exact in any order."""
    return np.random.default_rng(seed).integers(-8, 9, shape).astype(np.float32)


def _empty(shape: int | tuple[int, ...]) -> np.ndarray:
    return np.full(shape, np.nan, np.float32)


def _case(grid: int, block: int | tuple[int, ...], args: dict[str, Any], about: str, **expected: Any) -> LaunchCase:
    relative = expected.pop("relative", 0.0)
    right = {name: np.asarray(value, args[name].dtype) for name, value in expected.items()}
    return LaunchCase(grid, block, args, right, relative=relative, about=about)


def _softmax(x: np.ndarray) -> np.ndarray:
    """Softmax of the last axis in double precision, 0 for a row of minus infinity."""
    wide = x.astype(np.float64)
    most = wide.max(axis=-1, keepdims=True)
    e = np.exp(wide - np.where(np.isinf(most), 0, most))
    total = e.sum(axis=-1, keepdims=True)
    return e / np.where(total == 0, 1, total)


@_for("one-slot")
def scaled_rows() -> Iterator[LaunchCase]:
    """Rows times a number each."""
    for rows in (3, 1):
        x, scale = _whole((rows, 64), rows), _whole(rows, 9)
        args = {"x": x, "scale": scale, "y": _empty(x.shape), "rows": rows}
        yield _case(1, 64, args, f"{rows} rows", y=x * scale[:, None])


@_for("tile-in-use")
@_for("one-tile-too-far")
def mirrored_sums() -> Iterator[LaunchCase]:
    """Sums over tiles of 64, the last number of a tile for the first thread."""
    for tiles in (5, 1, 2):
        x = _whole((tiles, 64), tiles)
        yield _case(1, 64, {"x": x, "y": _empty(64), "tiles": tiles}, f"{tiles} tiles", y=x.sum(axis=0)[::-1])


@_for("used-again")
def softmax_of_64() -> Iterator[LaunchCase]:
    """One row of 64."""
    x = np.random.default_rng(1).standard_normal(64, dtype=np.float32)
    yield _case(1, 64, {"x": x, "y": _empty(64)}, "64 numbers", y=_softmax(x), relative=1e-5)


@_for("four-slots-32-lanes")
def sums_of_128() -> Iterator[LaunchCase]:
    """The sum of 128 numbers, with four warps."""
    x = _whole(128)
    yield _case(1, 128, {"x": x, "total": _empty(1)}, "128 numbers", total=x.sum(keepdims=True))


@_for("last-warp")
def sums_of_64() -> Iterator[LaunchCase]:
    """The sum of 64 numbers."""
    x = _whole(64)
    yield _case(1, 64, {"x": x, "total": _empty(1)}, "64 numbers", total=x.sum(keepdims=True))


@_for("bins-not-clear")
def histograms() -> Iterator[LaunchCase]:
    """Numbers counted by their rest modulo 16."""
    for n in (200, 40):
        x = np.random.default_rng(n).integers(0, 99, n).astype(np.int32)
        args = {"x": x, "bins": np.full(16, -1, np.int32), "n": n}
        yield _case(1, 64, args, f"{n} numbers", bins=np.bincount(x % 16, minlength=16))


@_for("last-block")
def grid_sums() -> Iterator[LaunchCase]:
    """The sum of all blocks' numbers."""
    for blocks in (4, 1):
        x = _whole(32 * blocks, blocks)
        args = {"x": x, "part": _empty(blocks), "arrived": np.zeros(1, np.uint32), "total": _empty(1)}
        yield _case(blocks, 32, args, f"{blocks} blocks", total=x.sum(keepdims=True))


@_for("flag-too-early")
def handed_over() -> Iterator[LaunchCase]:
    """Twice the numbers, the last one first."""
    x = _whole(64)
    args = {"x": x, "between": _empty(64), "ready": np.zeros(1, np.int32), "y": _empty(64)}
    yield _case(2, 64, args, "64 numbers", y=2 * x[::-1])


@_for("smooth-in-place")
def smoothed() -> Iterator[LaunchCase]:
    """Means of three neighbours; both ends keep what they are."""
    for n in (128, 100, 2):
        a = np.random.default_rng(n).standard_normal(128, dtype=np.float32)
        right = a.copy()
        right[1 : n - 1] = (a[: n - 2] + a[1 : n - 1] + a[2:n]) / 3
        yield LaunchCase(1, 128, {"a": a, "n": n}, {"a": right}, relative=1e-5, about=f"n = {n}")


@_for("same-array-twice")
def sums_with_neighbours() -> Iterator[LaunchCase]:
    """Once in place, once into another array."""
    x = _whole(128)
    right = x + np.roll(x, -1)
    yield _case(1, 128, {"x": x, "y": x}, "y the same array as x", y=right)
    yield _case(1, 128, {"x": x, "y": _empty(128)}, "two arrays", y=right)


@_for("barrier-for-some")
def turned() -> Iterator[LaunchCase]:
    """Fewer numbers than threads, then as many."""
    for n in (50, 64):
        x = _whole(n, n)
        right = np.append(np.zeros(64 - n), x)
        yield _case(1, 64, {"x": x, "y": _empty(64), "n": n}, f"n = {n}", y=right)


@_for("uneven-loop")
def largest_steps() -> Iterator[LaunchCase]:
    """The last tile is half full, or full; then the larger one of the first and the last thread, and so on."""
    for n in (96, 128):
        x = _whole(n, n)
        steps = np.zeros(128, np.float32)
        steps[:n] = np.abs(x - x.reshape(-1, 2)[:, ::-1].reshape(-1))
        own = steps.reshape(2, 64).max(axis=0)
        yield _case(1, 64, {"x": x, "most": _empty(64), "n": n}, f"n = {n}", most=np.maximum(own, own[::-1]))


@_for("lanes-that-stayed-away")
def sums_of_a_warp() -> Iterator[LaunchCase]:
    """Up to 32 numbers."""
    for n in (20, 32):
        x = _whole(n, n)
        yield _case(1, 32, {"x": x, "total": _empty(1), "n": n}, f"n = {n}", total=x.sum(keepdims=True))


@_for("mask-of-the-tail")
def differences() -> Iterator[LaunchCase]:
    """The last element of d keeps what it was."""
    for n in (20, 32):
        x, d = _whole(n, n), np.full(n, -1, np.float32)
        yield _case(1, 32, {"x": x, "d": d, "n": n}, f"n = {n}", d=np.append(x[1:] - x[:-1], d[-1:]))


@_for("one-past-the-end")
def squares() -> Iterator[LaunchCase]:
    """Fewer numbers than threads, then as many."""
    for n in (100, 128):
        x = _whole(n, n)
        yield _case(2, 64, {"x": x, "y": _empty(n), "n": n}, f"n = {n}", y=x * x)


@_for("slots-of-nobody")
def maxima() -> Iterator[LaunchCase]:
    """Blocks of three warps and of one, all numbers below -10."""
    for threads in (96, 32):
        x = -20 + _whole(threads, threads)
        x[-5] = -11  # the largest one, in the last warp
        yield _case(1, threads, {"x": x, "most": _empty(1)}, f"{threads} threads", most=x.max(keepdims=True))


@_for("halo-of-one-side")
def blurred() -> Iterator[LaunchCase]:
    """64 numbers; beyond an end stands the end's own number."""
    x = _whole(64)
    left, right = np.append(x[:1], x[:-1]), np.append(x[1:], x[-1:])
    yield _case(1, 64, {"x": x, "y": _empty(64)}, "64 numbers", y=left / 4 + x / 2 + right / 4)


@_for("four-at-once")
def copied_rows() -> Iterator[LaunchCase]:
    """Rows whose length four does not divide, nor two, and rows where it does."""
    for cols in (66, 65, 64):
        x = _whole((3, cols), cols)
        yield _case(3, 32, {"x": x, "y": _empty(x.shape), "cols": cols}, f"rows of {cols}", y=x)


@_for("exp-of-a-hundred")
def softmax_of_large_numbers() -> Iterator[LaunchCase]:
    """Around 100, around -200, a 0 among numbers around 800 and the reverse: no double has e to the power of 800."""
    for about in (100, -200):
        x = (about + np.random.default_rng(0).standard_normal((2, 32))).astype(np.float32)
        yield _case(2, 32, {"x": x, "y": _empty(x.shape)}, f"numbers around {about}", y=_softmax(x), relative=1e-4)
    x = (800 + np.random.default_rng(1).standard_normal((3, 32))).astype(np.float32)
    x[0, 0] = x[1, 5] = 0
    x[2, 1:] = 0
    yield _case(3, 32, {"x": x, "y": _empty(x.shape)}, "numbers around 800 and 0", y=_softmax(x), relative=1e-4)


@_for("row-of-minus-infinity")
def softmax_of_masked_rows() -> Iterator[LaunchCase]:
    """A row that is masked as a whole, one in part, one not at all; then a row with a NaN, which stays."""
    x = np.random.default_rng(0).standard_normal((3, 32), dtype=np.float32)
    x[0] = -np.inf
    x[1, ::3] = -np.inf
    yield _case(3, 32, {"x": x, "y": _empty(x.shape)}, "three rows", y=_softmax(x), relative=1e-5)
    x = np.random.default_rng(1).standard_normal((2, 32), dtype=np.float32)
    x[1, 3] = np.nan
    yield _case(2, 32, {"x": x, "y": _empty(x.shape)}, "a NaN in row 1", y=_softmax(x), relative=1e-5)


@_for("sum-in-half")
def sums_of_half() -> Iterator[LaunchCase]:
    """Columns of halves. Their sums, whole numbers, are exact in float."""
    x = np.ones((40, 32), np.float16)
    x[0] = 4096  # its neighbours in half are 4 away
    args = {"x": x, "sums": _empty(32), "rows": len(x)}
    yield _case(1, 32, args, "40 rows", sums=x.astype(np.float64).sum(axis=0))


@_for("down-the-columns")
def transposed() -> Iterator[LaunchCase]:
    """A matrix of 32 x 32."""
    x = _whole((32, 32))
    yield _case(1, (32, 4), {"x": x, "y": _empty(x.shape)}, "32 x 32 numbers", y=x.T)


@_for("a-piece-for-each-thread")
def doubled() -> Iterator[LaunchCase]:
    """Two blocks of 64 threads, eight numbers per thread."""
    x = _whole(1024)
    yield _case(2, 64, {"x": x, "y": _empty(1024)}, "1024 numbers", y=2 * x)


@_for("everybody-adds")
def counted() -> Iterator[LaunchCase]:
    """How many of the even and of the odd numbers are positive."""
    x = _whole(256)
    right = [(x[0::2] > 0).sum(), (x[1::2] > 0).sum()]
    yield _case(4, 64, {"x": x, "count": np.zeros(2, np.int32)}, "256 numbers", count=right)
