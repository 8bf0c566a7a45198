"""Tensor maps as kernel arguments: an array, and the box of it that one copy moves (``CUtensorMap``).

Source of the rules: CUDA Driver API, ``cuTensorMapEncodeTiled``; PTX ISA, "Tensors".
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from operator import index
from typing import Any

import numpy as np

from softlab.cuda.host_memory import check_no_mask, spanned

#: Bytes of a ``CUtensorMap``, and the alignment of its address.
MAP_BYTES, MAP_ALIGN = 128, 64
#: Addresses and strides are multiples of it, and so are the bytes of a box along the last axis.
_UNIT = 16
_MOST_AXES, _MOST_BOX, _MOST_STEP = 5, 256, 8
_MOST_STRIDE = 1 << 40
#: Name -> bytes of the span in which 16-byte chunks change places.
SWIZZLES = {"none": 0, "32B": 32, "64B": 64, "128B": 128}
FILLS = ("zero", "nan")
_PROMOTIONS = ("none", "64B", "128B", "256B")
#: Elements of a map, in the order of ``CUtensorMapDataType``.
KINDS = ("uint8", "uint16", "uint32", "int32", "uint64", "int64", "float16", "float32", "float64", "bfloat16")
#: Types whose bits a map moves as those of another one.
_SAME_BITS = {"bool": "uint8", "int8": "uint8", "float8_e4m3fn": "uint8", "float8_e5m2": "uint8", "int16": "uint16"}
_MAGIC = b"softlab1"
#: What the emulator puts into the 128 bytes. Those of a GPU are the driver's secret.
_ENCODED = np.dtype([
    ("magic", "S8"), ("address", "u8"), ("pitches", "u8", 5), ("sizes", "u8", 5), ("box", "u2", 5), ("steps", "u1", 5),
    ("axes", "u1"), ("kind", "u1"), ("swizzle", "u1"), ("nan", "u1"),
])  # fmt: skip


@dataclass(frozen=True)
class TiledTensor:
    """What a map says, as the hardware sees it: all axes innermost first.

    ``address`` of the first element; ``sizes`` of the tensor and ``box`` in elements; ``pitches`` between elements of
    each axis in bytes; ``steps``: each how many-th element of a box is copied; ``swizzle``: bytes of the span.
    """

    address: int
    kind: str
    sizes: tuple[int, ...]
    pitches: tuple[int, ...]
    box: tuple[int, ...]
    steps: tuple[int, ...]
    swizzle: int
    nan: bool

    @property
    def itemsize(self) -> int:
        """Bytes per element."""
        return 2 if self.kind == "bfloat16" else np.dtype(self.kind).itemsize

    @property
    def tile(self) -> tuple[int, ...]:
        """Elements of a box in shared memory, along each axis. The innermost axis has no step."""
        return self.box[0], *(-(-size // step) for size, step in zip(self.box[1:], self.steps[1:], strict=True))

    @property
    def nbytes(self) -> int:
        """Bytes of a box in shared memory: what its mbarrier counts."""
        return int(np.prod(self.tile)) * self.itemsize

    def encoded(self) -> bytes:
        """The 128 bytes that the emulator's kernels get."""
        one = np.zeros((), _ENCODED)
        one["magic"], one["address"], one["axes"] = _MAGIC, self.address, len(self.sizes)
        one["kind"], one["swizzle"], one["nan"] = KINDS.index(self.kind), self.swizzle, self.nan
        for name in ("pitches", "sizes", "box", "steps"):
            one[name][: len(self.sizes)] = getattr(self, name)
        return one.tobytes().ljust(MAP_BYTES, b"\0")


def decoded(raw: bytes) -> TiledTensor | None:
    """The map in these bytes; None where there is none."""
    one = np.frombuffer(raw, _ENCODED, 1)[0]
    if bytes(one["magic"]) != _MAGIC:
        return None
    axes = int(one["axes"])
    sizes, pitches, box, steps = (tuple(one[n][:axes].tolist()) for n in ("sizes", "pitches", "box", "steps"))
    kind = KINDS[int(one["kind"])]
    return TiledTensor(int(one["address"]), kind, sizes, pitches, box, steps, int(one["swizzle"]), bool(one["nan"]))


def _integers(name: str, given: Sequence[Any]) -> tuple[int, ...]:
    try:
        return tuple(map(index, given))
    except TypeError:
        raise TypeError(f"{name} = {given!r}: it takes an integer, or one for each axis") from None


@dataclass(frozen=True, eq=False)
class TensorMap:
    """A tensor map: what a kernel gets for a parameter ``const __grid_constant__ CUtensorMap map``.

    ``cp.async.bulk.tensor`` copies boxes of the array between global and shared memory. Sizes are given in the order of
    the array's axes. Coordinates in the kernel are in the opposite order: the last axis comes first.

    >>> tile = softlab.TensorMap(x, box=(32, 32), swizzle="128B")  # x: float32, (rows, cols)
    >>> k.run(grid, block, (tile, y))  # in the kernel: cp.async.bulk.tensor.2d ... [map, {col, row}]

    Arguments:
        array: a NumPy array, or a CUDA array, of 1 to 5 axes: integers of 8 to 64 bits, float16, bfloat16, float32,
            float64, or 8-bit floats. The last axis is contiguous. Other axes may have strides, as ``x[:, :100]`` has.
        box: elements per copy along each axis, 1 to 256 each.
        swizzle: "none", "32B", "64B" or "128B": the span in which chunks of 16 bytes change places in shared memory,
            so that a column of the tile lies in different banks.
        fill: what a load gives outside of the array: "zero", or "nan" for floats.
        element_strides: each how many-th element is copied along each axis, 1 to 8; the hardware ignores it for the
            last axis. A copy has ``ceil(box / element_stride)`` elements there.
        l2_promotion: "none", "64B", "128B" or "256B": how much a GPU brings to its L2 cache. The emulator ignores it.

    Raises:
        TypeError, ValueError: what ``cuTensorMapEncodeTiled`` refuses, with the rule.
    """

    array: Any
    box: tuple[int, ...]
    swizzle: str = "none"
    fill: str = "zero"
    element_strides: tuple[int, ...] = ()
    l2_promotion: str = "none"

    def __init__(
        self,
        array: Any,
        box: int | Sequence[int],
        swizzle: str = "none",
        *,
        fill: str = "zero",
        element_strides: int | Sequence[int] = 1,
        l2_promotion: str = "none",
    ) -> None:
        axes = len(getattr(array, "shape", ()))
        given = {
            "array": array,
            "box": (box,) if isinstance(box, int) else _integers("box", box),
            "swizzle": swizzle,
            "fill": fill,
            "element_strides": (element_strides,) * axes
            if isinstance(element_strides, int)
            else _integers("element_strides", element_strides),
            "l2_promotion": l2_promotion,
        }
        for name, value in given.items():
            object.__setattr__(self, name, value)
        self._check_array()
        self._check_box()

    @property
    def kind(self) -> str:
        """The type of the elements as the map has it, one of ``KINDS``."""
        name = str(self.array.dtype).removeprefix("torch.")
        return _SAME_BITS.get(name, name)

    @property
    def _strides(self) -> tuple[int, ...]:
        """Bytes between neighbours along each axis."""
        if callable(getattr(self.array, "stride", None)):  # a tensor of PyTorch counts in elements
            return tuple(int(step) * self.array.element_size() for step in self.array.stride())
        return tuple(self.array.strides)

    @property
    def _itemsize(self) -> int:
        return int(getattr(self.array.dtype, "itemsize", 1))

    def _check_array(self) -> None:
        check_no_mask(self.array)
        dtype, shape = getattr(self.array, "dtype", None), tuple(getattr(self.array, "shape", ()))
        if dtype is None or self.kind not in KINDS:
            raise TypeError(
                f"TensorMap of {dtype or type(self.array).__name__}: it takes arrays of {', '.join(KINDS)} and of "
                f"{', '.join(_SAME_BITS)}"
            )
        if not 1 <= len(shape) <= _MOST_AXES:
            raise ValueError(f"an array of the shape {shape} has {len(shape)} axes: a tensor map takes 1 to 5")
        if not all(shape):
            raise ValueError(f"an array of the shape {shape} has no elements")
        *outer, inner = self._strides
        if inner != self._itemsize and shape[-1] > 1:
            raise ValueError(
                f"the array's last axis has a stride of {inner} bytes, and an element has {self._itemsize}: the last "
                "axis of a tensor map is contiguous. Pass numpy.ascontiguousarray(x)"
            )
        for axis, stride in enumerate(outer):
            if stride % _UNIT or not 0 < stride < _MOST_STRIDE:
                raise ValueError(
                    f"axis {axis} of the array has a stride of {stride} bytes: strides of a tensor map are multiples "
                    f"of {_UNIT}, above 0 and below 2^40. Pad the rows: take x[:, :cols] of an array with more columns"
                )

    def _check_box(self) -> None:
        axes = len(self.array.shape)
        for name, sizes, most in (("box", self.box, _MOST_BOX), ("element_strides", self.element_strides, _MOST_STEP)):
            if len(sizes) != axes:
                raise ValueError(f"{name} = {sizes!r}: the array has {axes} axes, give one number for each")
            if not all(1 <= size <= most for size in sizes):
                raise ValueError(f"{name} = {sizes!r}: each is 1 to {most}")
        named = (("swizzle", self.swizzle, SWIZZLES), ("fill", self.fill, FILLS))
        for name, value, known in (*named, ("l2_promotion", self.l2_promotion, _PROMOTIONS)):
            if value not in known:
                raise ValueError(f"{name} = {value!r}: it must be one of {', '.join(map(repr, known))}")
        inner = self.box[-1] * self._itemsize
        if inner % _UNIT:
            raise ValueError(
                f"box = {self.box!r} has {inner} bytes along the last axis: they must be a multiple of {_UNIT}"
            )
        if self.swizzle != "none" and inner > SWIZZLES[self.swizzle]:
            raise ValueError(
                f"box = {self.box!r} has {inner} bytes along the last axis, and swizzle={self.swizzle!r} takes at most "
                f"{SWIZZLES[self.swizzle]}. Copy several boxes side by side"
            )
        if self.fill == "nan" and "float" not in self.kind:
            raise ValueError(f'fill = "nan" needs floats, not {self.kind}')

    @property
    def memory(self) -> Any:
        """The memory from the first element to the last one; of an array on a GPU the array itself."""
        if isinstance(self.array, np.ndarray):
            return spanned(self.array)
        return self.array

    def with_array(self, convert: Callable[[Any], Any]) -> TensorMap:
        """The same with ``convert(array)``."""
        return TensorMap(
            convert(self.array), self.box, self.swizzle, fill=self.fill, element_strides=self.element_strides,
            l2_promotion=self.l2_promotion,
        )  # fmt: skip

    def tensor(self, address: int) -> TiledTensor:
        """The map of the array at an address.

        Raises:
            ValueError: the address is no multiple of 16.
        """
        if address % _UNIT:
            raise ValueError(
                f"the array of a tensor map begins {address % _UNIT} bytes behind a multiple of {_UNIT}: a GPU takes "
                f"addresses that are multiples of {_UNIT}. Begin at another element, or pass a copy"
            )
        pitches = [*self._strides[:-1], self._itemsize][::-1]
        return TiledTensor(
            address, self.kind, tuple(self.array.shape)[::-1], tuple(pitches), self.box[::-1],
            self.element_strides[::-1], SWIZZLES[self.swizzle], self.fill == "nan",
        )  # fmt: skip

    def promotion(self) -> int:
        """The number that the driver has for ``l2_promotion``."""
        return _PROMOTIONS.index(self.l2_promotion)
