"""Fetches from textures, and loads and stores of surfaces.

Source of the rules: CUDA C++ Programming Guide, "Texture Fetching"; PTX ISA, "Texture Instructions" and "Surface
Instructions".
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from softlab.cuda.textures import FACES, Image, Surface, Texture
from softlab.emulator.host import FaultReporter
from softlab.emulator.lanes import Lanes, Value
from softlab.emulator.sites import InstructionSite
from softlab.errors import Error

#: Weights have 8 fractional bits, and 1.0 is exact ("9-bit fixed point format with 8 bits of fractional value").
_WEIGHT = 256
#: Axes of each geometry, without the layer.
DIMENSIONS = {"1d": 1, "2d": 2, "3d": 3, "a1d": 1, "a2d": 2, "cube": 2, "acube": 2}


class Textures:
    """The textures and surfaces of a launch, by the handle that the kernel gets."""

    def __init__(self, handles: Mapping[int, Any], faults: FaultReporter) -> None:
        self._handles = handles
        self._faults = faults
        self.writes = 0

    def fetch(self, lanes: Lanes, site: InstructionSite, handle: Value, *coordinates: Value) -> tuple[Value, ...]:
        """The four values at each lane's coordinates, as the type of the destination."""
        geometry, kind, into = site.mode.split()
        texture = self._one(handle, site, Texture)
        channels, size = _texels(texture, geometry, site), texture.size
        layer, rest = _split(texture, geometry, coordinates)
        if texture.cube:
            layer, rest = _on_faces(texture, layer, rest)
        per_axis = [np.asarray(c) for c in rest[: len(size)]]
        if kind == "s32":
            found = _point(channels, [_border(p.astype(np.int64), n) for p, n in _by_axis(per_axis, size)], layer)
        elif texture.filter == "point":
            axes = [_nearest(p, n, mode, texture.normalized) for p, n, mode in _modes(texture, per_axis)]
            found = _point(channels, axes, layer)
            if texture.read == "normalized":
                found = np.maximum(found / _largest(texture), -1).astype(np.float32)
        else:
            found = _linear(texture, channels, per_axis, layer)
        return tuple(_as_result(found[..., k], into) for k in range(4))

    def gather(self, lanes: Lanes, site: InstructionSite, handle: Value, *coordinates: Value) -> tuple[Value, ...]:
        """One component of the four elements that a linear fetch would read."""
        component, into = site.mode.split()
        texture = self._one(handle, site, Texture)
        channels = _texels(texture, "2d", site)
        (x0, x1, _), (y0, y1, _) = [
            _neighbours(np.asarray(c), n, mode, texture.normalized)
            for c, n, mode in _modes(texture, list(coordinates[:2]))
        ]
        corners = [(x0, y1), (x1, y1), (x1, y0), (x0, y0)]  # PTX ISA, "tld4": counter-clockwise from the lower left
        channel = "rgba".index(component)
        found = [_point(channels, [x, y], None)[..., channel] for x, y in corners]
        if texture.read == "normalized":
            found = [np.maximum(one / _largest(texture), -1) for one in found]
        return tuple(_as_result(one, into) for one in found)

    def load(self, lanes: Lanes, site: InstructionSite, handle: Value, *coordinates: Value) -> Any:
        """Bytes of a surface from each lane's x (in bytes) on, as ``count`` elements of ``bits`` bits."""
        _, bits, count, _ = site.mode.split()
        data, index, inside = self._place(lanes, site, handle, coordinates)
        width = int(bits) // 8 * int(count)
        found = data.reshape(-1)[np.minimum(index, data.size - width)[..., None] + np.arange(width)]
        values = np.ascontiguousarray(found).view(f"u{int(bits) // 8}")
        values = np.where(np.asarray(inside)[..., None], values, values.dtype.type(0))
        one = tuple(values[..., k][()] for k in range(int(count)))
        return one if len(one) > 1 else one[0]

    def store(self, lanes: Lanes, site: InstructionSite, handle: Value, *rest: Value) -> None:
        """Write elements to a surface, from each lane's x (in bytes) on."""
        _, bits, count, _ = site.mode.split()
        coordinates, values = rest[: -int(count)], rest[-int(count) :]
        data, index, inside = self._place(lanes, site, handle, coordinates)
        index, kept = lanes.full_extent(index), lanes.full_extent(inside)
        size = int(bits) // 8
        for number, value in enumerate(values):
            raw = np.ascontiguousarray(lanes.full_extent(value).astype(f"u{size}")).view(np.uint8).reshape(-1, size)
            data.reshape(-1)[(index[kept] + number * size)[:, None] + np.arange(size)] = raw[kept]
        self.writes += 1

    def _place(
        self, lanes: Lanes, site: InstructionSite, handle: Value, coordinates: Sequence[Value]
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """(the surface's bytes, byte of each lane, whether it is inside)."""
        geometry, bits, count, outside = site.mode.split()
        surface = self._one(handle, site, Surface)
        width = int(bits) // 8 * int(count)
        raw = surface.array.reshape(-1).view(np.uint8)
        layer, rest = _split(surface, geometry, coordinates)
        _check_geometry(surface, geometry, site)
        extents = [surface.size[-1] * surface.array.dtype.itemsize * surface.channels, *surface.size[-2::-1]]
        at = [np.asarray(c).view(np.int32).astype(np.int64) for c in rest[: len(extents)]]
        bounds = [extent - (width - 1 if axis == 0 else 0) for axis, extent in enumerate(extents)]
        inside = np.asarray(True)
        for coordinate, bound in zip(at, bounds, strict=True):
            inside = inside & (coordinate >= 0) & (coordinate < bound)
        if outside == "trap" and not inside.all():
            sentence = f"the surface access is outside of the surface of {tuple(surface.size)} elements"
            raise self._faults.fault("global-out-of-bounds", sentence, site.instruction, lanes, ~inside)
        at = [np.clip(coordinate, 0, bound - 1) for coordinate, bound in zip(at, bounds, strict=True)]
        index, step = np.asarray(0), 1
        for coordinate, extent in zip(at, extents, strict=True):
            index, step = index + coordinate * step, step * extent
        if layer is not None:
            index = index + np.clip(np.asarray(layer).astype(np.int64), 0, surface.layers - 1) * step
        index, inside = np.broadcast_arrays(index, inside if outside == "zero" else np.asarray(True))
        return raw, index, inside

    def _one(self, handle: Value, site: InstructionSite, kind: type[Any]) -> Any:
        numbers = np.unique(handle)
        found = self._handles.get(int(numbers[0]))
        name = kind.__name__
        if len(numbers) > 1:
            raise NotImplementedError("lanes of one instruction use different textures")
        if not isinstance(found, kind):
            what = "no texture or surface" if found is None else f"a {type(found).__name__}"
            raise Error(
                f"`{site.instruction.text}` needs a {name}, and the kernel got {what}: pass softlab.{name}(array) for "
                f"the parameter of type cuda{name}Object_t. A variable of the file takes it by "
                f"kernel.constants['name'] = softlab.{name}(array)"
            )
        return found


def _check_geometry(image: Image, geometry: str, site: InstructionSite) -> None:
    wanted, layered = DIMENSIONS[geometry], geometry.startswith("a")
    cube = geometry.endswith("cube")
    if len(image.size) != wanted or image.layered != layered or image.cube != cube:
        has = f"{'a cube' if image.cube else f'{len(image.size)} dimensions'}{' and layers' if image.layered else ''}"
        takes = "a cube (cube=True)" if cube else f"{wanted} dimension{'s' * (wanted > 1)}"
        takes += " and layers (layered=True)" if layered else ""
        raise Error(f"`{site.instruction.text}` reads {takes}, and the {type(image).__name__} has {has}")


def _texels(texture: Texture, geometry: str, site: InstructionSite) -> np.ndarray:
    """The texture's elements: (layers, depth, height, width, 4), missing channels filled in.

    Those that are read as normalized floats are numbers of 16 bits.
    """
    _check_geometry(texture, geometry, site)
    array = texture.array
    shape = (texture.layers, *(1,) * (3 - len(texture.size)), *texture.size, texture.channels)
    values = array.reshape(shape)
    if texture.read == "normalized":
        values = values * (_largest(texture) / np.iinfo(array.dtype).max)
    elif array.dtype.kind == "f":
        values = values.astype(np.float32, copy=False)
    if texture.channels == 4:
        return values
    full = np.zeros((*values.shape[:-1], 4), values.dtype)
    full[..., : texture.channels] = values
    full[..., 3] = _largest(texture) if texture.read == "normalized" else 1
    return full


def _split(image: Image, geometry: str, coordinates: Sequence[Value]) -> tuple[Value | None, Sequence[Value]]:
    """(layer, the other coordinates): a layer comes first."""
    if geometry.startswith("a"):
        return np.asarray(coordinates[0]), coordinates[1:]
    return None, coordinates


def _on_faces(texture: Texture, layer: Value | None, direction: Sequence[Value]) -> tuple[np.ndarray, list[np.ndarray]]:
    """(layer, normalized coordinates on the face) of a direction (x, y, z) ("Cubemap Textures").

    Where two coordinates are the largest, the guide says nothing; here z goes before y, and y before x.
    """
    x, y, z = np.broadcast_arrays(*(np.asarray(one, np.float64) for one in direction[:3]))
    along_z = (abs(z) >= abs(y)) & (abs(z) >= abs(x))
    along_y = ~along_z & (abs(y) >= abs(x))
    axes = [along_z, along_y]
    largest = np.select(axes, [z, y], x)
    s = np.select(axes, [np.where(z < 0, -x, x), x], np.where(x < 0, z, -z))
    t = np.select(axes, [-y, np.where(y < 0, -z, z)], -y)
    face = np.select(axes, [4, 2], 0) + (largest < 0)
    with np.errstate(divide="ignore", invalid="ignore"):
        found = [(one / abs(largest) + 1) / 2 for one in (s, t)]
    last = texture.layers // FACES - 1
    first = 0 if layer is None else np.clip(np.asarray(layer).astype(np.int64), 0, last) * FACES
    return face + first, [one.astype(np.float32) for one in found]


def _by_axis(coordinates: Sequence[np.ndarray], size: tuple[int, ...]) -> list[tuple[np.ndarray, int]]:
    return list(zip(coordinates, size[::-1], strict=True))


def _modes(texture: Texture, coordinates: Sequence[np.ndarray]) -> list[tuple[np.ndarray, int, str]]:
    """(coordinates, extent, address mode) of each axis, x first."""
    return list(zip(coordinates, texture.size[::-1], texture.addresses, strict=True))


def _border(index: np.ndarray, extent: int) -> np.ndarray:
    """-1 for what is outside."""
    return np.where((index >= 0) & (index < extent), index, -1)


def _texel_coordinate(coordinate: np.ndarray, extent: int, mode: str, normalized: bool) -> np.ndarray:
    """The coordinate in elements, float64; the address modes of normalized coordinates are done."""
    x = np.nan_to_num(np.asarray(coordinate, np.float64), nan=0.0, posinf=1e30, neginf=-1e30)
    if not normalized:
        return x
    if mode == "wrap":
        x = x - np.floor(x)
    elif mode == "mirror":
        whole = np.floor(x)
        x = np.where(whole % 2 == 0, x - whole, 1 - (x - whole))
    return x * extent


def _bounded(index: np.ndarray, extent: int, mode: str) -> np.ndarray:
    """An element's index after the address mode; -1 for the border."""
    index = np.clip(index, -(2.0**40), 2.0**40).astype(np.int64)
    if mode == "border":
        return _border(index, extent)
    if mode == "wrap":
        return index % extent
    return np.clip(index, 0, extent - 1)


def _nearest(coordinate: np.ndarray, extent: int, mode: str, normalized: bool) -> np.ndarray:
    return _bounded(np.floor(_texel_coordinate(coordinate, extent, mode, normalized)), extent, mode)


def _neighbours(
    coordinate: np.ndarray, extent: int, mode: str, normalized: bool
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(index before, index after, weight of the one after in 1/256) of a linear fetch."""
    at = np.floor((_texel_coordinate(coordinate, extent, mode, normalized) - 0.5) * _WEIGHT + 0.5)
    before = np.floor(at / _WEIGHT)
    weight = (at - before * _WEIGHT).astype(np.int64)
    return _bounded(before, extent, mode), _bounded(before + 1, extent, mode), weight


def _point(channels: np.ndarray, axes: Sequence[np.ndarray], layer: Value | None) -> np.ndarray:
    """The elements at these indices (x, y, z), 0 where one of them is -1: (..., 4)."""
    indices = list(np.broadcast_arrays(*axes, *(() if layer is None else (layer,))))
    which: Any = 0
    if layer is not None:
        which = np.clip(indices.pop().astype(np.int64), 0, len(channels) - 1)
    z, y, x = [*[np.zeros_like(indices[0])] * (3 - len(indices)), *indices[::-1]]
    inside = (x >= 0) & (y >= 0) & (z >= 0)
    return np.where(np.asarray(inside)[..., None], channels[which, z, y, x], channels.dtype.type(0))


def _linear(texture: Texture, channels: np.ndarray, coordinates: list[np.ndarray], layer: Value | None) -> np.ndarray:
    """The weighted sum of the neighbours, rounded as an H100 rounds it (``tests/hardware/textures.py``)."""
    axes = [_neighbours(p, n, mode, texture.normalized) for p, n, mode in _modes(texture, coordinates)]
    total: Any = 0.0
    for corner, weight in _weights([fraction for _, _, fraction in axes]).items():
        index = [after if second else before for (before, after, _), second in zip(axes, corner, strict=True)]
        total = total + np.asarray(weight)[..., None] * _point(channels, index, layer).astype(np.float64)
    total = total / _WEIGHT
    if texture.read == "normalized":
        largest = _largest(texture)
        return (np.maximum(np.floor(total + 0.5), -largest) / largest).astype(np.float32)
    return _rounded(total, np.dtype(texture.dtype_name)).astype(np.float32)


def _largest(texture: Texture) -> float:
    """Integers are brought to 16 bits before they are read as normalized floats; the largest is 1.0."""
    return float(np.iinfo("uint16" if np.dtype(texture.dtype_name).kind == "u" else "int16").max)


def _weights(fractions: Sequence[np.ndarray]) -> dict[tuple[int, ...], np.ndarray]:
    """(x, y, z), 1 for the neighbour after -> its weight in 1/256. The weights are whole numbers, and their sum is 256.

    An H100 shares the weight out axis by axis: along z, then x, then y. Halves go to the neighbour after along x. Along
    y they go to the one that is on the same side as along x.
    """
    x = fractions[0]
    if len(fractions) == 1:
        return {(1,): x, (0,): _WEIGHT - x}
    y, found = fractions[1], {}
    for k, along_z in enumerate((_WEIGHT - fractions[2], fractions[2]) if len(fractions) == 3 else (_WEIGHT,)):
        second = (along_z * x + _WEIGHT // 2) // _WEIGHT
        for i, along_x in enumerate((along_z - second, second)):
            last = (along_x * y + _WEIGHT // 2 - 1 + i) // _WEIGHT
            for j, weight in enumerate((along_x - last, last)):
                found[(i, j, k)[: len(fractions)]] = weight
    return found


def _rounded(values: np.ndarray, dtype: np.dtype) -> np.ndarray:
    """Values of float64 in a float type: to the nearest one, halves away from zero."""
    near = values.astype(dtype)
    other = np.nextafter(near, np.copysign(np.inf, values).astype(dtype))
    tie = np.abs(other.astype(np.float64) - values) == np.abs(near.astype(np.float64) - values)
    return np.where(tie & np.isfinite(other), other, near)


def _as_result(values: np.ndarray, into: str) -> Value:
    """The value in the register's type: integers are extended, floats keep their bits."""
    if into == "f32":
        return values.astype(np.float32)[()]
    if values.dtype.kind == "f":
        return values.astype(np.float32).view(np.uint32 if into == "u32" else np.int32)[()]
    wide = values.astype(np.int64) & 0xFFFFFFFF
    return wide.astype(np.uint32).view(np.uint32 if into == "u32" else np.int32)[()]
