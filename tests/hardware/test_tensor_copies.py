"""Copies by tensor maps: a GPU beside the emulator, in random boxes, and beside what the emulator assumes."""

from __future__ import annotations

import numpy as np
import pytest

import softlab
from tests.emulator.test_tensor_copies import case, expected_tile, loader, storer, transposed

pytestmark = pytest.mark.gpu


def loaded(cupy, load, array, tile, start, nbytes: int) -> np.ndarray:
    """The bytes that a GPU has in shared memory after the load of a box."""
    out = cupy.zeros(nbytes, cupy.int8)
    at = cupy.asarray(np.array(start[::-1], np.int32))
    load.run(1, 32, (tile.with_array(lambda _: array), at, out, nbytes), smem=nbytes)
    return out.get()


def on_gpu(cupy, seed: int):
    """(a random array, the same on the GPU, its map, where a box begins, the bytes of a box)."""
    array, tile, start = case(seed)
    if array.dtype.name == "bfloat16":  # CuPy has no such type; its bits are those of uint16
        array = array.view(np.uint16)
        tile = tile.with_array(lambda old: old.view(np.uint16))
    whole = cupy.asarray(array if array.base is None else array.base.reshape(-1).view(array.dtype))
    there = cupy.ndarray(array.shape, array.dtype, whole.data, array.strides)
    return array, there, tile, start, expected_tile(array, tile, start)


@pytest.mark.parametrize("axes", [1, 2, 3, 4, 5])
def test_loads_of_random_boxes(axes):
    cupy = pytest.importorskip("cupy")
    for seed in range(axes - 1, 400, 5):
        array, there, tile, start, expected = on_gpu(cupy, seed)
        found = loaded(cupy, loader(axes), there, tile, start, expected.nbytes)
        assert (found.view(array.dtype) == expected).all(), seed


@pytest.mark.parametrize("axes", [1, 2, 3, 4, 5])
def test_stores_of_random_boxes(axes):
    cupy = pytest.importorskip("cupy")
    store = storer(axes)
    for seed in range(axes - 1, 400, 5):
        array, there, tile, start, expected = on_gpu(cupy, seed)
        given = np.random.default_rng(seed).integers(0, 99, expected.nbytes).astype(np.int8)
        start = [max(0, first) for first in start]  # a GPU stops where a store begins before the array
        at, options = np.array(start[::-1], np.int32), {"smem": expected.nbytes}
        on = tile.with_array(lambda _, there=there: there)
        store.run(1, 32, (on, cupy.asarray(at), cupy.asarray(given), expected.nbytes), **options)
        store.run(1, 32, (tile, at, given, expected.nbytes), **options)
        assert (there.get() == array).all(), seed


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_the_bits_of_nan(dtype):
    cupy = pytest.importorskip("cupy")
    x = np.ones((2, 16), dtype)
    tile, nbytes = softlab.TensorMap(x, (2, 16), fill="nan"), x.nbytes
    out = np.zeros(nbytes, np.int8)
    loader(2).run(1, 32, (tile, np.array([8, 0], np.int32), out, nbytes), smem=nbytes)
    assert loaded(cupy, loader(2), cupy.asarray(x), tile, (0, 8), nbytes).tobytes() == out.tobytes()


@pytest.mark.parametrize("swizzle", [32, 64, 128])
def test_rows_narrower_than_their_swizzle_take_a_span_each(swizzle):
    """The emulator refuses such boxes."""
    cupy = pytest.importorskip("cupy")
    x = np.arange(1, 65, dtype=np.int32).reshape(4, 16)
    tile = softlab.TensorMap(x, (4, 4), f"{swizzle}B")
    out, at = cupy.zeros(4 * swizzle, cupy.int8), cupy.zeros(2, np.int32)
    loader(2, counted=64).run(1, 32, (tile.with_array(lambda _: cupy.asarray(x)), at, out, out.nbytes), smem=out.nbytes)
    lines = out.get().view(np.int32).reshape(4, -1)
    chunks = np.arange(4) * swizzle // 128 % (swizzle // 16)  # the chunk of a row that its only one takes
    found = np.stack([line[4 * c : 4 * c + 4] for line, c in zip(lines, chunks, strict=True)])
    assert (found == x[:, :4]).all()


@pytest.mark.parametrize("operation", ["add", "min", "max", "and", "xor"])
@pytest.mark.parametrize("dtype", [np.uint32, np.int32, np.float16, np.float32, np.int64])
def test_reductions(operation, dtype):
    cupy = pytest.importorskip("cupy")
    if np.dtype(dtype).kind == "f" and (operation in ("and", "xor") or (operation != "add" and dtype == np.float32)):
        pytest.skip("PTX has no such reduction")
    if dtype == np.int64 and operation not in ("min", "max"):
        pytest.skip("a GPU stops at it")
    rng = np.random.default_rng(3)
    x, given = (rng.integers(0, 99, shape).astype(dtype) for shape in ((5, 32), (3, 16)))
    there, raw, at = cupy.asarray(x), given.reshape(-1).view(np.int8), np.array([8, 2], np.int32)
    store, tile = storer(2, operation), softlab.TensorMap(x, (3, 16))
    store.run(1, 32, (tile, at, raw, raw.nbytes), smem=raw.nbytes)
    on = tile.with_array(lambda _: there)
    store.run(1, 32, (on, cupy.asarray(at), cupy.asarray(raw), raw.nbytes), smem=raw.nbytes)
    assert (there.get() == x).all()


def test_the_transpose_of_the_gallery():
    cupy = pytest.importorskip("cupy")
    _, x, out = transposed(cupy.asarray)
    assert (out.get() == x.T).all()
