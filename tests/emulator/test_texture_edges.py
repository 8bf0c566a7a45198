"""Fetches at the edges of what textures take: no numbers, ties between faces, layers beyond the last, wrong handles."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest

import softlab
from softlab.emulator.lanes import Lanes, lanes_of
from softlab.emulator.memory.textures import Textures
from softlab.emulator.ptx.syntax import Instruction
from softlab.emulator.sites import InstructionSite
from softlab.errors import Error

HANDLE = 7
LANES = lanes_of(np.ones((1, 32), bool))
NAN, INF = np.nan, np.inf


class Fault(Exception):
    """Its kind, and the lanes at fault."""


class Faults:
    """Makes faults that can be raised."""

    def fault(self, kind: str, sentence: str, instruction: Any, lanes: Lanes, bad: Any) -> Fault:
        return Fault(kind, sentence, np.asarray(bad).tolist())


def unit(**images: Any) -> Textures:
    return Textures({HANDLE + number: image for number, image in enumerate(images.values())}, Faults())  # type: ignore[arg-type]


def site(mode: str) -> InstructionSite:
    return InstructionSite(0, Instruction("tex", (), (), text="tex;"), mode)


def fetched(image: Any, mode: str, *coordinates: Any, channel: int = 0) -> list[float]:
    """What lanes get at these coordinates, (lanes,) each."""
    given = [np.asarray(one)[None] for one in coordinates]
    found = unit(image=image).fetch(LANES, site(mode), np.uint64(HANDLE), *given)
    assert len(found) == 4
    return np.broadcast_to(found[channel], np.broadcast_shapes(*(one.shape for one in given)))[0].tolist()


def floats(*values: float) -> np.ndarray:
    return np.array(values, np.float32)


ROW = np.array([10, 20, 30, 40], np.float32)


@pytest.mark.parametrize("filter", ["point", "linear"])
@pytest.mark.parametrize(("mode", "ends"), [("clamp", (40, 10)), ("border", (0, 0))])
def test_coordinates_that_are_no_numbers(filter: str, mode: str, ends: tuple[float, float]) -> None:
    """NaN counts as 0, infinity as a number beyond all elements."""
    texture = softlab.Texture(ROW, filter=filter, address=mode)
    found = fetched(texture, "1d f32 f32", floats(INF, -INF, 1e30, -1e30, 0.0, NAN))
    assert found[:2] == found[2:4] == list(ends)
    assert found[5] == found[4] == (10.0 if filter == "point" or mode == "clamp" else 5.0)


def test_the_first_and_the_last_element() -> None:
    """A coordinate on an edge belongs to the element after it; between two, half of each."""
    point = softlab.Texture(ROW, filter="point", address="border")
    below = float(np.nextafter(np.float32(4), np.float32(0)))
    assert fetched(point, "1d f32 f32", floats(0.0, -1e-9, 1.0, 0.999, 3.0, below, 4.0)) == [10, 0, 20, 10, 40, 40, 0]
    linear = softlab.Texture(ROW, address="border")
    assert fetched(linear, "1d f32 f32", floats(0.5, 1.0, 0.0, 4.0, 3.5, -0.5, 4.5)) == [10, 15, 5, 20, 40, 0, 0]
    wrap = softlab.Texture(ROW, address="wrap", normalized=True)
    assert fetched(wrap, "1d f32 f32", floats(0.0, 1.0, -1.0, 0.125, 1.125, 0.25)) == [25, 25, 25, 10, 10, 15]
    mirror = softlab.Texture(ROW, filter="point", address="mirror", normalized=True)
    assert fetched(mirror, "1d f32 f32", floats(0.1, 1.1, 1.9, 2.1, -0.1, -0.9)) == [10, 40, 10, 10, 10, 40]


def test_an_index_outside_gives_nothing() -> None:
    texture = softlab.Texture(np.array([5, 6, 7], np.int32), filter="point")
    index = np.array([-1, 0, 2, 3, 1 << 30], np.int32)
    assert fetched(texture, "1d s32 s32", index) == [0, 5, 7, 0, 0]
    assert fetched(texture, "1d s32 s32", index, channel=1) == [0] * 5, "a missing channel"
    assert fetched(texture, "1d s32 s32", index, channel=3) == [0, 1, 1, 0, 0], "the last one is 1"


@pytest.mark.parametrize(
    ("dtype", "into", "stored", "given"),
    [
        ("int8", "s32", -3, -3), ("int8", "u32", -3, (1 << 32) - 3), ("uint8", "s32", 200, 200),
        ("uint32", "u32", 1 << 31, 1 << 31), ("uint32", "s32", 1 << 31, -(1 << 31)), ("int16", "f32", -7, -7.0),
        ("float32", "u32", 1.5, 0x3FC00000), ("float32", "s32", -0.0, -(1 << 31)), ("float16", "f32", 0.5, 0.5),
    ],
)  # fmt: skip
def test_elements_as_the_type_of_a_register(dtype: str, into: str, stored: float, given: float) -> None:
    """Integers are extended, and floats keep the bits of a float32."""
    texture = softlab.Texture(np.array([stored], dtype), filter="point")
    assert fetched(texture, f"1d f32 {into}", floats(0.5)) == [given]


def cube(layers: int = 1) -> np.ndarray:
    """Each face has one number: that of the face, and ten times the layer."""
    faces = np.arange(6, dtype=np.float32)[:, None, None] + np.zeros((6, 2, 2), np.float32)
    return faces if layers == 1 else np.stack([faces + 10 * layer for layer in range(layers)])


@pytest.mark.parametrize(
    ("direction", "face"),
    [
        ((2, 1, 1), 0), ((-2, 1, 1), 1), ((1, 2, 1), 2), ((1, -2, 1), 3), ((1, 1, 2), 4), ((1, 1, -2), 5),
        ((1, 1, 1), 4), ((-1, 1, -1), 5), ((1, 1, 0), 2), ((1, -1, 0), 3), ((1, 0, 1), 4), ((0, 1, -1), 5),
        ((0, 0, 0), 4),
    ],
)  # fmt: skip
def test_the_face_of_a_direction(direction: tuple[float, ...], face: int) -> None:
    """That of the largest coordinate; of equal ones z goes before y, and y before x."""
    texture = softlab.Texture(cube(), filter="point", cube=True)
    assert fetched(texture, "cube f32 f32", *(floats(one) for one in direction)) == [face]


def test_where_on_a_face() -> None:
    """The coordinates on each face ("Cubemap Textures"): (s, t) of a direction that is nearest to one corner."""
    faces = np.arange(24, dtype=np.float32).reshape(6, 2, 2)  # face, row (t), column (s)
    texture = softlab.Texture(faces, filter="point", cube=True)
    for number, signs in enumerate(((1, 0), (-1, 0), (1, 1), (-1, 1), (1, 2), (-1, 2))):
        sign, axis = signs
        for u in (-0.5, 0.5):
            for v in (-0.5, 0.5):
                place = [u, v]
                direction = [*place[:axis], float(sign), *place[axis:]]
                x, y, z = direction
                s = {0: -z * sign, 1: x, 2: x * sign}[axis]
                t = {0: -y, 1: z * sign, 2: -y}[axis]
                found = fetched(texture, "cube f32 f32", floats(x), floats(y), floats(z))
                assert found == [4 * number + 2 * (t > 0) + (s > 0)], (direction, number)


def test_layers_beyond_the_last() -> None:
    """The last one. PTX takes the number of a layer without a sign, so one below 0 is beyond the last, too."""
    stacked = np.arange(3, dtype=np.float32)[:, None] * 10 + np.zeros((3, 2), np.float32)
    texture = softlab.Texture(stacked, filter="point", layered=True)
    layer = np.array([0, 1, 2, 3, 100, (1 << 32) - 1], np.uint32)
    assert fetched(texture, "a1d f32 f32", layer, floats(*[0.5] * 6)) == [0, 10, 20, 20, 20, 20]
    cubes = softlab.Texture(cube(2), filter="point", cube=True, layered=True)
    axes = (floats(*[2] * 6), floats(*[0] * 6), floats(*[0] * 6))
    assert fetched(cubes, "acube f32 f32", layer, *axes) == [0, 10, 10, 10, 10, 10]


def test_normalized_integers() -> None:
    """The largest value is 1, the smallest of signed ones -1; so it is between elements."""
    for dtype, low, high in (("uint8", 0, 255), ("int8", -128, 127), ("uint16", 0, 65535), ("int16", -32768, 32767)):
        values = np.array([low, high, high], dtype)
        for filter in ("point", "linear"):
            texture = softlab.Texture(values, filter=filter, read="normalized")
            found = fetched(texture, "1d f32 f32", floats(0.5, 1.5, 2.5))
            assert found == [-1.0 if low else 0.0, 1.0, 1.0], (dtype, filter)
            assert fetched(texture, "1d f32 f32", floats(0.5), channel=3) == [1.0]


def test_a_gather_goes_around_the_place() -> None:
    """From the lower left, counter-clockwise: (0, 1), (1, 1), (1, 0), (0, 0)."""
    image = np.arange(12, dtype=np.float32).reshape(3, 4)
    textures = unit(image=softlab.Texture(image))
    at = floats(2.0)[None], floats(1.0)[None]
    found = textures.gather(LANES, site("r f32"), np.uint64(HANDLE), *at)
    assert [float(one[0, 0]) for one in found] == [5.0, 6.0, 2.0, 1.0]
    found = textures.gather(LANES, site("a f32"), np.uint64(HANDLE), *at)
    assert [float(one[0, 0]) for one in found] == [1.0] * 4


@pytest.mark.parametrize(
    ("image", "geometry", "words"),
    [
        (softlab.Texture(ROW), "2d", "reads 2 dimensions, and the Texture has 1 dimensions"),
        (softlab.Texture(ROW[None]), "1d", "reads 1 dimension, and the Texture has 2 dimensions"),
        (softlab.Texture(ROW[None], layered=True), "1d",
         "reads 1 dimension, and the Texture has 1 dimensions and layers"),
        (softlab.Texture(ROW), "a1d", "reads 1 dimension and layers (layered=True), and the Texture has 1 dimensions"),
        (softlab.Texture(ROW[None]), "cube", "reads a cube (cube=True), and the Texture has 2 dimensions"),
        (softlab.Texture(cube(), cube=True), "2d", "reads 2 dimensions, and the Texture has a cube"),
        (softlab.Texture(cube(), cube=True), "acube",
         "reads a cube (cube=True) and layers (layered=True), and the Texture has a cube"),
    ],
)  # fmt: skip
def test_a_texture_of_another_geometry(image: softlab.Texture, geometry: str, words: str) -> None:
    with pytest.raises(Error) as error:
        unit(image=image).fetch(LANES, site(f"{geometry} f32 f32"), np.uint64(HANDLE), *[floats(1.0)[None]] * 4)
    assert str(error.value) == f"`tex;` {words}"


def test_what_is_no_texture() -> None:
    textures = unit(image=softlab.Texture(ROW), surface=softlab.Surface(ROW.copy()))
    for number, what in ((HANDLE + 1, "a Surface"), (HANDLE + 5, "no texture or surface")):
        with pytest.raises(Error, match=rf"needs a Texture, and the kernel got {what}: pass softlab\.Texture"):
            textures.fetch(LANES, site("1d f32 f32"), np.uint64(number), floats(1.0)[None])
    with pytest.raises(Error, match=r"needs a Surface, and the kernel got a Texture: pass softlab\.Surface"):
        textures.load(LANES, site("1d 32 1 zero"), np.uint64(HANDLE), np.array([[0]], np.uint32))
    both = np.array([[HANDLE, HANDLE + 1]], np.uint64)
    with pytest.raises(NotImplementedError, match="lanes of one instruction use different textures"):
        textures.fetch(LANES, site("1d f32 f32"), both, floats(1.0)[None])


@pytest.mark.parametrize("outside", ["zero", "clamp", "trap"])
@pytest.mark.parametrize(("bits", "count"), [(8, 1), (32, 1), (16, 2), (32, 2)])
def test_bytes_of_a_surface(bits: int, count: int, outside: str) -> None:
    """Each place of a layered surface of 3 x 5 floats, and those around it; x is in bytes."""
    width = bits // 8 * count
    array = np.arange(2 * 3 * 5, dtype=np.float32).reshape(2, 3, 5) + np.float32(0.3)
    raw = array.view(np.uint8).reshape(2, 3, 20)
    surface = unit(image=softlab.Surface(array, layered=True))
    for layer, y, x in product((0, 1, 2, -1), (-1, 0, 2, 3), range(-width, 20 + width, width)):
        inside = 0 <= x <= 20 - width and 0 <= y < 3
        given = [np.array([[one]], np.int32).view(np.uint32) for one in (layer, x, y)]
        if outside == "trap" and not inside:
            with pytest.raises(Fault, match=r"outside of the surface of \(3, 5\) elements"):
                surface.load(LANES, site(f"a2d {bits} {count} trap"), np.uint64(HANDLE), *given)
            continue
        found = surface.load(LANES, site(f"a2d {bits} {count} {outside}"), np.uint64(HANDLE), *given)
        row, first = raw[min(layer % (1 << 32), 1), min(max(y, 0), 2)], min(max(x, 0), 20 - width)
        there = row[first : first + width].copy().view(f"u{bits // 8}")
        expected = there if inside or outside == "clamp" else np.zeros_like(there)
        assert [int(one[0, 0]) for one in (found if count > 1 else (found,))] == expected.tolist(), (layer, y, x)
