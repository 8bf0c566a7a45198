"""Textures and surfaces as kernel arguments: an array, and how a fetch reads it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from softlab.cuda.host_memory import check_no_mask

_FILTERS = ("point", "linear")
_ADDRESSES = ("wrap", "clamp", "mirror", "border")
_READS = ("element", "normalized")
#: Types that a texture's element may have: integers and floats of 8, 16 and 32 bits (CUDA C++ Programming Guide,
#: "Texture Object API").
_TYPES = ("int8", "uint8", "int16", "uint16", "int32", "uint32", "float16", "float32")
_CHANNELS = (1, 2, 4)
#: The faces of a cube.
FACES = 6


@dataclass(frozen=True, eq=False)
class Image:
    """An array that kernels reach through a texture or a surface.

    Arguments:
        array: C-contiguous, of the shape (width,), (height, width) or (depth, height, width), as a NumPy array or a
            CUDA array. With ``channels`` greater than 1 the last axis is that of the channels. With ``layered`` the
            first axis is that of the layers.
        channels: values per element, 1, 2 or 4: 4 for ``float4`` or ``uchar4``.
        layered: for ``tex2DLayered`` and the like.
    """

    array: Any
    channels: int = 1
    layered: bool = False
    #: Whether it is a cube, which a :class:`Texture` alone can be.
    cube = False

    def __post_init__(self) -> None:
        check_no_mask(self.array)
        dtype, shape = getattr(self.array, "dtype", None), getattr(self.array, "shape", ())
        what = type(self).__name__
        if dtype is None or str(dtype).removeprefix("torch.") not in _TYPES:
            raise TypeError(f"{what} of {dtype or type(self.array).__name__}: it takes arrays of {', '.join(_TYPES)}")
        if self.channels not in _CHANNELS:
            raise ValueError(f"channels = {self.channels!r}: it must be 1, 2 or 4")
        if self.channels > 1 and (not shape or shape[-1] != self.channels):
            raise ValueError(
                f"channels = {self.channels}, and the array's last axis is not: its shape is {tuple(shape)}"
            )
        dimensions = len(self.size)
        if self.cube and (dimensions != 2 or shape[int(self.layered)] != FACES or len(set(self.size)) > 1):
            raise ValueError(f"an array of the shape {tuple(shape)} is no cube: it needs {FACES} square faces")
        if not 1 <= dimensions <= 3 or (self.layered and dimensions == 3):
            raise ValueError(
                f"an array of the shape {tuple(shape)} has {dimensions} dimensions besides layers and channels: "
                f"{what} takes 1 to 3, or 1 and 2 with layers"
            )
        if not all(shape):
            raise ValueError(f"an array of the shape {tuple(shape)} has no elements")

    @property
    def size(self) -> tuple[int, ...]:
        """The extents (width,), (height, width) or (depth, height, width), without layers, faces and channels."""
        shape = tuple(self.array.shape)
        return shape[int(self.layered) + int(self.cube) : len(shape) - (self.channels > 1)]

    @property
    def layers(self) -> int:
        """The layers; 1 without. Each face of a cube is one."""
        return (int(self.array.shape[0]) if self.layered else 1) * (FACES if self.cube else 1)

    def with_array(self, convert: Callable[[Any], Any]) -> Self:
        """The same with ``convert(array)``."""
        from dataclasses import replace

        return replace(self, array=convert(self.array))


@dataclass(frozen=True, eq=False)
class Texture(Image):
    """A texture: what a kernel gets for a parameter of type ``cudaTextureObject_t``.

    Fetches follow the CUDA C++ Programming Guide, "Texture Fetching". The emulator reads the array as it is at each
    fetch; a GPU reads a copy that is made at the launch. There is one mip level.

    Beside an H100 (``tests/data/textures_h100.json``) fetches with the filter "point" are equal but for 2 of 100 000
    where a normalized coordinate lies on an edge. With "linear" 96 to 99.9 % of the values are equal in one and two
    dimensions, and 82 to 99.9 % in three. The others differ in the last bits, or by steps of 1/256 in a weight.

    The faces of a cube are those of +x, -x, +y, -y, +z and -z ("Cubemap Textures" in the same guide). Fetches do not go
    over the edge of a face: there the address mode counts. Cubes were not compared with a GPU.

    Arguments:
        array, channels, layered: see :class:`Image`.
        cube: for ``texCubemap``: the array's first axis is that of the 6 square faces; with ``layered`` the second one,
            after the layers. The coordinates are a direction, so ``normalized`` is True.
        filter: "point" for the nearest element, "linear" between neighbours, with weights of 8 fractional bits.
        address: what coordinates outside give: "clamp", "border" (0), "wrap" or "mirror"; one for all axes, or one per
            axis in the order x, y, z. The last two need ``normalized``.
        normalized: coordinates go from 0 to 1.
        read: "element" gives elements as they are, "normalized" gives integers of 8 and 16 bits as floats from 0 (or
            -1) to 1.

    Raises:
        TypeError, ValueError: an array or a mode that textures do not have.
    """

    filter: str = "linear"
    address: str | tuple[str, ...] = "clamp"
    normalized: bool = False
    read: str = "element"
    cube: bool = False

    def __init__(
        self,
        array: Any,
        filter: str = "linear",
        address: str | tuple[str, ...] = "clamp",
        *,
        normalized: bool = False,
        read: str = "element",
        channels: int = 1,
        layered: bool = False,
        cube: bool = False,
    ) -> None:
        fields = {"array": array, "channels": channels, "layered": layered, "cube": cube, "filter": filter}
        fields |= {"address": address, "normalized": normalized or cube, "read": read}
        for name, value in fields.items():
            object.__setattr__(self, name, value)
        self.__post_init__()

    def __post_init__(self) -> None:
        super().__post_init__()
        for name, value, known in (("filter", self.filter, _FILTERS), ("read", self.read, _READS)):
            if value not in known:
                raise ValueError(f"{name} = {value!r}: it must be {' or '.join(map(repr, known))}")
        for mode in self.addresses:
            if mode not in _ADDRESSES:
                raise ValueError(f"address = {mode!r}: it must be {' or '.join(map(repr, _ADDRESSES))}")
            if mode in ("wrap", "mirror") and not self.normalized:
                raise ValueError(f'address = {mode!r} needs normalized=True; a GPU would take it as "clamp"')
        kind, bits = np.dtype(self.dtype_name).kind, 8 * np.dtype(self.dtype_name).itemsize
        if self.read == "normalized" and (kind == "f" or bits > 16):
            raise ValueError(f'read = "normalized" needs integers of 8 or 16 bits, not {self.dtype_name}')
        if self.filter == "linear" and kind != "f" and self.read == "element":
            raise ValueError(
                f'filter = "linear" gives floats, and the elements are {self.dtype_name}: take filter="point" or '
                'read="normalized"'
            )

    @property
    def dtype_name(self) -> str:
        """The elements' dtype, "float32"."""
        return str(self.array.dtype).removeprefix("torch.")

    @property
    def addresses(self) -> tuple[str, ...]:
        """The address mode of each axis, x first."""
        given = (self.address,) * 3 if isinstance(self.address, str) else tuple(self.address)
        if len(given) < len(self.size):
            raise ValueError(f"address = {self.address!r}: give one mode, or one for each of {len(self.size)} axes")
        return given[: len(self.size)]


@dataclass(frozen=True, eq=False)
class Surface(Image):
    """A surface: what a kernel gets for a parameter of type ``cudaSurfaceObject_t``. It may write the array.

    In the emulator the array changes in place, at each store. On a GPU the launch works on a copy, which is copied back
    at its end.
    """
