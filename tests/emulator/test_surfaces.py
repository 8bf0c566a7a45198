"""Surfaces of each geometry and element, inside and outside, and gathers of each component: beside array indexing."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest

import softlab

#: Geometry -> the words of its functions, its coordinates behind x, the element, its type in NumPy and its channels.
GEOMETRIES: dict[str, tuple[str, str, str, str, int]] = {
    "line": ("1D", "", "float2", "float32", 2),
    "plane": ("2D", ", c.y", "short2", "int16", 2),
    "box": ("3D", ", c.y, c.z", "float", "float32", 1),
    "lines": ("1DLayered", ", c.w", "uchar4", "uint8", 4),
    "planes": ("2DLayered", ", c.y, c.w", "unsigned short", "uint16", 1),
}
SOURCE = "\n".join(
    f"""extern "C" __global__ void {name}(cudaSurfaceObject_t from, cudaSurfaceObject_t to, const int4* at,
                                          const {element}* x, {element}* zero, {element}* clamp) {{
      int i = blockIdx.x * blockDim.x + threadIdx.x;
      int4 c = at[i];
      int byte = c.x * (int)sizeof({element});
      zero[i] = surf{words}read<{element}>(from, byte{rest}, cudaBoundaryModeZero);
      clamp[i] = surf{words}read<{element}>(from, byte{rest}, cudaBoundaryModeClamp);
      surf{words}write(x[i], to, byte{rest}, cudaBoundaryModeZero);
    }}
    extern "C" __global__ void {name}_traps(cudaSurfaceObject_t from, const int4* at, {element}* y) {{
      int4 c = at[0];
      y[0] = surf{words}read<{element}>(from, c.x * (int)sizeof({element}){rest}, cudaBoundaryModeTrap);
    }}"""
    for name, (words, rest, element, _, _) in GEOMETRIES.items()
)
GATHERS = """extern "C" __global__ void gathers(cudaTextureObject_t t, const float2* x, float4* y) {
  float2 at = x[threadIdx.x];
  float4* mine = y + 4 * threadIdx.x;
  mine[0] = tex2Dgather<float4>(t, at.x, at.y, 0);
  mine[1] = tex2Dgather<float4>(t, at.x, at.y, 1);
  mine[2] = tex2Dgather<float4>(t, at.x, at.y, 2);
  mine[3] = tex2Dgather<float4>(t, at.x, at.y, 3);
}"""
EXTENTS = {"x": 5, "y": 3, "z": 2, "layers": 2}


class Numbers:
    """Random elements of one geometry, and where a coordinate (x, y, z, layer) leads."""

    def __init__(self, name: str) -> None:
        self.words, _, _, dtype, self.channels = GEOMETRIES[name]
        self.layered = self.words.endswith("Layered")
        axes = [EXTENTS[axis] for axis in "xyz"[: int(self.words[0])]]
        #: Extents of all axes: (layers, z, y, x).
        self.full = (EXTENTS["layers"] if self.layered else 1, *(1,) * (3 - len(axes)), *axes[::-1])
        self.shape = (*self.full[:1][: int(self.layered)], *axes[::-1], *(self.channels,) * (self.channels > 1))
        self.dtype = np.dtype(dtype)
        self.random = np.random.default_rng(len(name))

    def array(self) -> np.ndarray:
        return self.random.integers(1, 250, self.shape).astype(self.dtype)

    def surface(self, array: np.ndarray) -> softlab.Surface:
        return softlab.Surface(array, channels=self.channels, layered=self.layered)

    def coordinates(self) -> np.ndarray:
        """Each place inside, and those up to two beyond each end, in each layer."""
        layers, depth, height, width = self.full
        axes = [range(-2, n + 2) if n > 1 else range(1) for n in (width, height, depth)]
        return np.array(list(itertools.product(*axes, range(layers))), np.int32)

    def element(self, array: np.ndarray, at: np.ndarray, clamp: bool) -> np.ndarray:
        """The element at a coordinate; a layer beyond the last one is the last one."""
        flat = array.reshape(*self.full, self.channels)
        place = [int(min(max(c, 0), n - 1)) for c, n in zip(at[::-1], self.full, strict=True)]
        inside = all(0 <= c < n for c, n in zip(at[:3], self.full[:0:-1], strict=True))
        return flat[tuple(place)] if clamp or inside else np.zeros_like(flat[tuple(place)])


@pytest.mark.parametrize("name", GEOMETRIES)
def test_a_surface_is_its_array_inside_and_outside(name: str) -> None:
    numbers = Numbers(name)
    at = numbers.coordinates()
    before, to = numbers.array(), numbers.array()
    expected = to.copy().reshape(*numbers.full, numbers.channels)
    beyond = np.array([[0, 0, 0, EXTENTS["layers"] + 5]], np.int32)
    at = at[: len(at) // 8 * 8]
    x = numbers.random.integers(1, 250, (len(at), numbers.channels)).astype(numbers.dtype)
    zero, clamp = np.zeros_like(x), np.zeros_like(x)
    given = [numbers.surface(before), numbers.surface(to)]
    softlab.Kernel(SOURCE, name).run(8, len(at) // 8, (*given, at, x, zero, clamp))
    for place, value in zip(at, x, strict=True):
        if all(0 <= c < n for c, n in zip(place[:3], numbers.full[:0:-1], strict=True)):
            expected[tuple(place[::-1])] = value
    assert zero.tolist() == [numbers.element(before, place, clamp=False).tolist() for place in at]
    assert clamp.tolist() == [numbers.element(before, place, clamp=True).tolist() for place in at]
    assert to.reshape(expected.shape).tolist() == expected.tolist()
    if numbers.layered:
        softlab.Kernel(SOURCE, name).run(1, 1, (*given, beyond, x[:1], zero[:1], clamp[:1]))
        assert zero[0].tolist() == clamp[0].tolist() == numbers.element(before, beyond[0], clamp=True).tolist()
        assert to.reshape(expected.shape)[-1, 0, 0, 0].tolist() == x[0].tolist()


@pytest.mark.parametrize("name", GEOMETRIES)
def test_a_place_outside_is_a_fault_and_one_inside_is_not(name: str) -> None:
    numbers, kernel = Numbers(name), softlab.Kernel(SOURCE, f"{name}_traps")
    array, y = numbers.array(), np.zeros(numbers.channels, numbers.dtype)
    _, depth, height, width = numbers.full
    for axis, extent in enumerate((width, height, depth)[: int(numbers.words[0])]):
        for place in (-1, 0, extent - 1, extent):
            at = np.zeros((1, 4), np.int32)
            at[0, axis] = place
            if 0 <= place < extent:
                kernel.run(1, 1, (numbers.surface(array), at, y))
                assert y.tolist() == numbers.element(array, at[0], clamp=False).tolist()
            else:
                with pytest.raises(softlab.KernelFault, match="the surface access is outside of the surface of"):
                    kernel.run(1, 1, (numbers.surface(array), at, y))


@pytest.mark.parametrize(("read", "dtype"), [("element", "float32"), ("normalized", "int8"), ("normalized", "uint16")])
@pytest.mark.parametrize("mode", ["clamp", "border", "wrap", "mirror"])
def test_a_gather_takes_the_four_neighbours_of_each_component(mode: str, read: str, dtype: str) -> None:
    random = np.random.default_rng(4)
    array = (random.integers(-128, 128, (3, 5, 4)) if dtype == "int8" else random.integers(0, 128, (3, 5, 4))).astype(
        dtype
    )
    normalized = mode in ("wrap", "mirror")
    # In steps of 1/8 from the edges, where no rounding of the coordinate decides.
    places = (random.integers(-20, 60, (32, 2)) / 8 + 1 / 16).astype(np.float32)
    y = np.zeros((32, 4, 4), np.float32)
    given: dict[str, Any] = {"address": mode, "normalized": normalized, "channels": 4, "read": read}
    texture = softlab.Texture(array, "linear", **given)
    scaled = places / np.float32([8, 8]) if normalized else places
    softlab.Kernel(GATHERS, "gathers").run(1, 32, (texture, scaled, y))
    largest = np.iinfo(dtype).max if read == "normalized" else 1

    def of(place: float, extent: int) -> tuple[int | None, int | None]:
        """The two neighbours along one axis; None for the border."""
        if mode == "wrap":
            place = place % 1 * extent
        elif mode == "mirror":
            place = (place % 1 if place // 1 % 2 == 0 else 1 - place % 1) * extent
        first = math.floor(place - 0.5)
        both = (first, first + 1)
        if mode == "wrap":
            return both[0] % extent, both[1] % extent
        if mode == "border":
            return tuple(k if 0 <= k < extent else None for k in both)  # type: ignore[return-value]
        return tuple(min(max(k, 0), extent - 1) for k in both)  # type: ignore[return-value]

    for (px, py), found in zip(scaled.tolist(), y, strict=True):
        (x0, x1), (y0, y1) = of(px, 5), of(py, 3)
        for component in range(4):
            corners = [(y1, x0), (y1, x1), (y0, x1), (y0, x0)]
            numbers = [0 if None in corner else array[corner][component] / largest for corner in corners]
            np.testing.assert_allclose(found[component], np.maximum(numbers, -1), rtol=1e-6, err_msg=f"{px}, {py}")
