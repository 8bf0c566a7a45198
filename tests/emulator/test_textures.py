"""Textures and surfaces, against the formulas of the CUDA C++ Programming Guide written out for one coordinate."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import softlab
from tests.hardware import textures

SOURCE = """
#define N blockIdx.x * blockDim.x + threadIdx.x
extern "C" __global__ void one(cudaTextureObject_t t, const float* x, float* y) { y[N] = tex1D<float>(t, x[N]); }
extern "C" __global__ void two(cudaTextureObject_t t, const float2* x, float* y) {
  y[N] = tex2D<float>(t, x[N].x, x[N].y) + 1000 * tex2DLod<float>(t, x[N].x, x[N].y, 0.0f);
}
extern "C" __global__ void three(cudaTextureObject_t t, const float4* x, float* y) {
  y[N] = tex3D<float>(t, x[N].x, x[N].y, x[N].z);
}
extern "C" __global__ void layers(cudaTextureObject_t t, const float4* x, float4* y) {
  y[N] = tex2DLayered<float4>(t, x[N].x, x[N].y, (int)x[N].z);
}
extern "C" __global__ void cube(cudaTextureObject_t t, const float4* x, float* y) {
  y[N] = texCubemap<float>(t, x[N].x, x[N].y, x[N].z);
}
extern "C" __global__ void cubes(cudaTextureObject_t t, const float4* x, float* y) {
  y[N] = texCubemapLayered<float>(t, x[N].x, x[N].y, x[N].z, (int)x[N].w);
}
extern "C" __global__ void fetch(cudaTextureObject_t t, const int* x, int* y) { y[N] = tex1Dfetch<int>(t, x[N]); }
extern "C" __global__ void gather(cudaTextureObject_t t, const float2* x, float4* y) {
  y[N] = tex2Dgather<float4>(t, x[N].x, x[N].y, 1);
}
extern "C" __global__ void flip(cudaSurfaceObject_t from, cudaSurfaceObject_t to, int w) {
  int x = threadIdx.x, y = threadIdx.y;
  uchar4 v = surf2Dread<uchar4>(from, x * 4, y);
  surf2Dwrite(v, to, (w - 1 - x) * 4, y);
}
extern "C" __global__ void edge(cudaSurfaceObject_t s, float* y) {
  y[0] = surf2Dread<float>(s, 4 * 100, 1, cudaBoundaryModeZero);
  y[1] = surf2Dread<float>(s, 4 * 100, 1, cudaBoundaryModeClamp);
  surf2Dwrite(7.0f, s, -4, 0, cudaBoundaryModeZero);
  y[2] = surf2Dread<float>(s, 4 * 100, 1);
}
__constant__ cudaTextureObject_t shared_texture;
struct Scene { int count; cudaTextureObject_t colours; };
extern "C" __global__ void held(Scene scene, float* y) {
  y[0] = tex1D<float>(scene.colours, 1.5f) + tex1D<float>(shared_texture, 0.5f);
}
"""
RNG = np.random.default_rng(7)
#: What an H100 gave for random elements, at coordinates with a weight of each whole step.
RECORDED = dict(np.load(Path(__file__).parents[1] / "data" / "texture_fetches_h100.npz"))


def kernel(name: str) -> softlab.Kernel:
    return softlab.Kernel(SOURCE, name)


def index(i: int, n: int, mode: str) -> int | None:
    if mode == "border":
        return i if 0 <= i < n else None
    return i % n if mode == "wrap" else min(max(i, 0), n - 1)


def coordinate(x: float, n: int, mode: str, normalized: bool) -> float:
    if normalized and mode == "wrap":
        x -= math.floor(x)
    if normalized and mode == "mirror":
        x = x - math.floor(x) if math.floor(x) % 2 == 0 else 1 - (x - math.floor(x))
    return x * n if normalized else x


def sample(array: np.ndarray, place: tuple[float, ...], filter: str, mode: str, normalized: bool) -> float:
    """The fetch at (x, y, z), one corner after the other, weights in 1/256."""
    corners: list[tuple[tuple[int | None, ...], float]] = [((), 1.0)]
    for x, n in zip(place, array.shape[::-1], strict=True):
        at = coordinate(float(x), n, mode, normalized)
        if filter == "point":
            choices = [(index(math.floor(at), n, mode), 1.0)]
        else:
            steps = math.floor((at - 0.5) * 256 + 0.5)
            first, weight = steps // 256, steps % 256 / 256
            choices = [(index(first, n, mode), 1 - weight), (index(first + 1, n, mode), weight)]
        corners = [((i, *inner), w * weight) for inner, w in corners for i, weight in choices]
    return sum(0.0 if None in place else w * float(array[place]) for place, w in corners)


@pytest.mark.parametrize("filter", ["point", "linear"])
@pytest.mark.parametrize(
    ("mode", "normalized"),
    [("clamp", False), ("border", False), ("clamp", True), ("border", True), ("wrap", True), ("mirror", True)],
)
@pytest.mark.parametrize("dimensions", [1, 2, 3])
def test_fetches(filter: str, mode: str, normalized: bool, dimensions: int) -> None:
    array = RNG.standard_normal((4, 5, 7)[3 - dimensions :]).astype(np.float32)
    width = {1: 1, 2: 2, 3: 4}[dimensions]
    places = RNG.uniform(-2, 9, (96, width)).astype(np.float32) / (np.float32(4) if normalized else 1)
    places[0] = 0.5
    y = np.zeros(96, np.float32)
    texture = softlab.Texture(array, filter=filter, address=mode, normalized=normalized)
    kernel(("one", "two", "three")[dimensions - 1]).run(3, 32, (texture, places, y))
    expected = np.array([sample(array, tuple(p[:dimensions]), filter, mode, normalized) for p in places])
    # Beyond one dimension, weights are whole steps of 1/256: each is up to one step from the product.
    step = 2**-8 * 2**dimensions * np.abs(array).max() if filter == "linear" and dimensions > 1 else 0.0
    scale = 1001 if dimensions == 2 else 1
    np.testing.assert_allclose(y, expected * scale, rtol=2e-6, atol=scale * (step + 2e-6))


@pytest.mark.parametrize("dtype", ["float32", "float16", "int8", "uint8", "int16", "uint16"])
def test_sums_are_those_of_an_h100(dtype: str) -> None:
    places = np.zeros((len(RECORDED["places"]), 4), np.float32)
    places[:, 0] = RECORDED["places"]
    read = "element" if dtype.startswith("float") else "normalized"
    found = textures.fetched(textures.kernels()[0], RECORDED[f"texels_{dtype}"], places, np, read=read)
    expected = RECORDED[f"fetched_{dtype}"]
    # The GPU's sum has a few bits more than its result. How it rounds them is not known.
    assert (found == expected).mean() >= {"int8": 0.94, "float32": 0.996, "float16": 0.996}.get(dtype, 1.0)
    np.testing.assert_allclose(found, expected, rtol=0, atol={"float32": 3e-8, "float16": 5e-4}.get(dtype, 3.1e-5))


@pytest.mark.parametrize("dimensions", [2, 3])
def test_weights_are_those_of_an_h100(dimensions: int) -> None:
    """A fetch between elements of which one is 1 and the others are 0 gives the weight of that one."""
    places = np.zeros((3000, 4), np.float32)
    places[:, :dimensions] = 0.5 + RECORDED[f"fractions{dimensions}"] / np.float32(256)
    for corner, weights in enumerate(RECORDED[f"weights{dimensions}"].T):
        array = np.zeros(2**dimensions, np.float32)
        array[corner] = 1
        array = array.reshape((2,) * dimensions)
        found = textures.fetched(textures.kernels()[dimensions - 1], array, places, np)
        np.testing.assert_array_equal(found * 256, weights)


def test_layers_and_channels() -> None:
    array = RNG.integers(0, 256, (3, 4, 5, 4)).astype(np.uint8)
    texture = softlab.Texture(array, "point", read="normalized", channels=4, layered=True)
    corners = [(x, y, layer) for layer in range(-1, 4) for y in range(2) for x in range(3)]
    places = np.array([(x + 0.5, y + 0.5, layer, 0) for x, y, layer in corners], np.float32)
    y = np.zeros((30, 4), np.float32)
    kernel("layers").run(1, 30, (texture, places, y))
    # A layer is an unsigned number: -1 is beyond the last one.
    expected = [array[min(layer % 2**32, 2), y, x] / 255 for x, y, layer in corners]
    np.testing.assert_allclose(y, expected, rtol=1e-6)


#: Per face of a cube, the direction to a point of it, of right-hand and downward coordinates from -1 to 1 ("Cubemap
#: Textures": OpenGL's faces, seen from inside).
FACES = [
    lambda s, t: (1, -t, -s), lambda s, t: (-1, -t, s), lambda s, t: (s, 1, t),
    lambda s, t: (s, -1, -t), lambda s, t: (s, -t, 1), lambda s, t: (-s, -t, -1),
]  # fmt: skip


@pytest.mark.parametrize("layers", [0, 3])
def test_the_faces_of_a_cube(layers: int) -> None:
    n, count = 4, max(layers, 1)
    array = RNG.random((count, 6, n, n)).astype(np.float32)
    texture = softlab.Texture(array if layers else array[0], "point", cube=True, layered=bool(layers))
    places = list(np.ndindex(count, 6, n, n))
    along = [np.array(FACES[f](2 * (x + 0.5) / n - 1, 2 * (y + 0.5) / n - 1)) for _, f, y, x in places]
    # A direction has any length.
    directions = [(*(one * (1 + k % 5)), places[k][0]) for k, one in enumerate(along)]
    y = np.zeros(len(places), np.float32)
    kernel("cubes" if layers else "cube").run(count, 6 * n * n, (texture, np.array(directions, np.float32), y))
    np.testing.assert_array_equal(y, array.reshape(-1))


def test_between_the_elements_of_a_face() -> None:
    array = np.zeros((6, 2, 2), np.float32)
    array[2] = [[0, 4], [8, 12]]
    places = np.array([(0, 1, 0, 0), (-0.25, 1, 0.25, 0), (0.75, 1, 0.75, 0), (-1, -2, 1, 0)], np.float32)
    y = np.zeros(4, np.float32)
    kernel("cube").run(1, 4, (softlab.Texture(array, cube=True), places, y))
    assert y.tolist() == [6, 7, 12, 0]


def test_a_cube_and_layers_are_not_the_same() -> None:
    array, y = np.zeros((6, 2, 2), np.float32), np.zeros(1, np.float32)
    with pytest.raises(softlab.Error, match=r"reads a cube \(cube=True\), and the Texture has 2 dimensions and layers"):
        kernel("cube").run(1, 1, (softlab.Texture(array, layered=True), np.zeros(4, np.float32), y))
    with pytest.raises(softlab.Error, match=r"reads 3 dimensions, and the Texture has a cube"):
        kernel("three").run(1, 1, (softlab.Texture(array, cube=True), np.zeros(4, np.float32), y))


def test_signed_normalized_values_and_missing_channels() -> None:
    array = np.array([[-128, 127], [-127, 0]], np.int8)
    y = np.zeros((2, 4), np.float32)
    modes: dict[str, Any] = {"filter": "point", "read": "normalized", "channels": 2, "layered": True}
    texture = softlab.Texture(array.reshape(1, 1, 2, 2), **modes)
    kernel("layers").run(1, 2, (texture, np.array([[0, 0, 0, 0], [1, 0, 0, 0]], np.float32), y))
    assert y.tolist() == [[-1, 1, 0, 1], [-1, 0, 0, 1]]
    texture = softlab.Texture(array[None], **modes)
    with pytest.raises(softlab.Error, match=r"reads 2 dimensions and layers .layered=True., and the Texture has 1"):
        kernel("layers").run(1, 2, (texture, np.zeros((2, 4), "f4"), y))


def test_fetch_by_index() -> None:
    y = np.full(6, 9, np.int32)
    texture = softlab.Texture(np.array([5, -6, 7], np.int16), "point")
    kernel("fetch").run(1, 6, (texture, np.array([0, 1, 2, 3, -1, 1], np.int32), y))
    assert y.tolist() == [5, -6, 7, 0, 0, -6]


def test_gather() -> None:
    array = np.arange(24, dtype=np.float32).reshape(3, 4, 2)
    y = np.zeros((1, 4), np.float32)
    kernel("gather").run(1, 1, (softlab.Texture(array, channels=2), np.array([[2.2, 1.9]], np.float32), y))
    assert y.tolist() == [[array[2, 1, 1], array[2, 2, 1], array[1, 2, 1], array[1, 1, 1]]]


def test_surfaces() -> None:
    array = RNG.integers(0, 256, (3, 5, 4)).astype(np.uint8)
    to = np.zeros_like(array)
    run = kernel("flip").run(1, (5, 3), (softlab.Surface(array, channels=4), softlab.Surface(to, channels=4), 5))
    np.testing.assert_array_equal(to, array[:, ::-1])
    assert "textures and surfaces are not counted" in run.remarks[0]


def test_the_edge_of_a_surface() -> None:
    array, y = np.arange(6, dtype=np.float32).reshape(2, 3), np.full(3, -1, np.float32)
    with pytest.raises(softlab.KernelFault, match=r"outside of the surface of .2, 3. elements") as caught:
        kernel("edge").run(1, 1, (softlab.Surface(array), y))
    assert y.tolist() == [0, 5, -1]
    assert array[0].tolist() == [0, 1, 2]
    assert caught.value.kind == "global-out-of-bounds"
    assert caught.value.line == SOURCE.splitlines().index("  y[2] = surf2Dread<float>(s, 4 * 100, 1);") + 1


def test_textures_in_structs_and_constants() -> None:
    first, second = softlab.Texture(np.array([1, 2], np.float32)), softlab.Texture(np.array([30, 40], np.float32))
    held = kernel("held")
    held.constants["shared_texture"] = second
    y = np.zeros(1, np.float32)
    held.run(1, 1, ({"count": 1, "colours": first}, y))
    assert y[0] == 32


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"array": np.zeros(3)}, "Texture of float64: it takes arrays of int8"),
        ({"array": np.zeros((2, 3), np.uint8)}, 'filter = "linear" gives floats, and the elements are uint8'),
        ({"array": np.zeros(3, np.float32), "address": "wrap"}, "needs normalized=True"),
        ({"array": np.zeros(3, np.float32), "address": "edge"}, "address = 'edge': it must be 'wrap' or"),
        ({"array": np.zeros(3, np.float32), "filter": "cubic"}, "filter = 'cubic'"),
        ({"array": np.zeros(3, np.float32), "channels": 4}, "the array's last axis is not"),
        ({"array": np.zeros((1, 1, 1, 1), np.float32)}, "has 4 dimensions"),
        ({"array": np.zeros((5, 2, 2), np.float32), "cube": True}, "is no cube: it needs 6 square faces"),
        ({"array": np.zeros((6, 2, 3), np.float32), "cube": True}, "is no cube: it needs 6 square faces"),
        ({"array": np.zeros(3, np.uint32), "filter": "point", "read": "normalized"}, "integers of 8 or 16 bits"),
    ],
)
def test_what_textures_do_not_have(arguments: dict[str, object], message: str) -> None:
    with pytest.raises((TypeError, ValueError), match=message):
        softlab.Texture(**arguments)  # type: ignore[arg-type]


def test_a_number_is_no_texture() -> None:
    with pytest.raises(softlab.Error, match="needs a Texture, and the kernel got no texture or surface: pass softlab"):
        kernel("one").run(1, 1, (np.uint64(0), np.zeros(1, np.float32), np.zeros(1, np.float32)))


def test_the_comparison_with_a_gpu() -> None:
    """The emulator beside itself: what the script writes where nothing differs."""
    found = textures.compared(np, 64)
    assert len(found) == 48
    assert all(mode["equal"] == mode["samples"] == 64 and not mode["far"] for mode in found)
    assert textures.weights(np)["nearest, halves up"] == 4096


@pytest.mark.gpu
def test_textures_and_surfaces_on_a_gpu() -> None:
    cupy = pytest.importorskip("cupy")
    for mode in textures.compared(cupy, 4096):
        # tests/data/textures_h100.json: in three dimensions with clamped edges some weights differ by a step.
        least = 0.999 if mode["filter"] == "point" else 0.95 if mode["dimensions"] < 3 else 0.8
        assert mode["equal"] >= 4096 * least, mode
        assert mode["filter"] == "point" or mode["largest_difference"] < 2**-5, mode
    array = RNG.integers(0, 256, (3, 5, 4)).astype(np.uint8)
    to = cupy.zeros_like(cupy.asarray(array))
    arch = softlab.Device.present().arch
    flip = softlab.Kernel(SOURCE, "flip", arch=arch)
    flip.run(1, (5, 3), (softlab.Surface(cupy.asarray(array), channels=4), softlab.Surface(to, channels=4), 5))
    np.testing.assert_array_equal(to.get(), array[:, ::-1])
    y = cupy.zeros(6, np.int32)
    fetch = softlab.Kernel(SOURCE, "fetch", arch=arch)
    texture = softlab.Texture(cupy.array([5, -6, 7], np.int16), "point")
    fetch.run(1, 6, (texture, cupy.array([0, 1, 2, 3, -1, 1], np.int32), y))
    assert y.tolist() == [5, -6, 7, 0, 0, -6]
    held = softlab.Kernel(SOURCE, "held", arch=arch)
    held.constants["shared_texture"] = softlab.Texture(cupy.array([30, 40], np.float32))
    z = cupy.zeros(1, np.float32)
    held.run(1, 1, ({"count": 1, "colours": softlab.Texture(cupy.array([1, 2], np.float32))}, z))
    assert z.tolist() == [32]
