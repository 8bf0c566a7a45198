"""Copies by a tensor map (``cp.async.bulk.tensor``), in tile mode: a box of an array to or from shared memory.

Source of the rules: PTX ISA, "Tensors" and "cp.async.bulk.tensor".
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from softlab.cuda.tensor_maps import MAP_ALIGN, MAP_BYTES, TiledTensor, decoded
from softlab.emulator.host import FaultReporter
from softlab.emulator.lanes import Lanes, Value
from softlab.emulator.memory.bulk_copies import BulkCopies, BulkSites, each_lane
from softlab.emulator.memory.copies import Pieces
from softlab.emulator.memory.elements import moved
from softlab.emulator.memory.global_memory import GlobalMemory
from softlab.emulator.memory.reductions import Reduction, reduction
from softlab.emulator.ptx.linker import LOCAL_WINDOW, SHARED_WINDOW, WINDOW_BYTES
from softlab.emulator.sites import Site
from softlab.errors import Error

#: A tile begins at a multiple of it in shared memory, in bytes (PTX ISA, "cp.async.bulk.tensor").
_TILE_ALIGN = 128
_CHUNK_SHIFT, _LINE_SHIFT = 4, 7
#: The PTX type whose arithmetic a reduction takes, by the type of the elements. Bytes and uint16 have none.
_REDUCED = {
    "uint32": "u32", "int32": "s32", "uint64": "u64", "int64": "s64", "float16": "f16", "bfloat16": "bf16",
    "float32": "f32", "float64": "f64",
}  # fmt: skip
#: The NaN that is filled in, in 16 bits; a wider element has it several times (measured on an H200).
_NAN_BITS = 0x7FF7
#: A box begins at a multiple of it along the innermost axis, in bytes (measured on an H200).
_BOX_ALIGN = 16
#: The reductions of int64. An H200 stops at the others with an illegal instruction; uint64 has them.
_OF_SIGNED = ("min", "max")
_HOW = "Pass softlab.TensorMap(array, box=...) for a parameter `const __grid_constant__ CUtensorMap`"


@dataclass(frozen=True)
class TensorSites:
    """The sites of a copy by a tensor map: ``map_offset`` belongs to the map's address, ``axes`` are in the name."""

    bulk: BulkSites
    map_offset: int
    axes: int
    operation: str = ""


class TensorCopies:
    """The copies by tensor maps of a batch."""

    def __init__(self, faults: FaultReporter, global_: GlobalMemory, bulk: BulkCopies) -> None:
        self._faults = faults
        self._global = global_
        self._bulk = bulk

    def load(self, lanes: Lanes, sites: TensorSites, into: Value, at: Value, mbarrier: Value, *rest: Value) -> None:
        """``cp.async.bulk.tensor`` into shared memory; ``rest``: the coordinates, and the mask of a multicast."""
        assert sites.bulk.mbarrier is not None
        into, mbarrier = moved(into, sites.bulk.into.offset), moved(mbarrier, sites.bulk.mbarrier.offset)
        for one, (target, place, bar, *numbers) in each_lane(lanes, into, at, mbarrier, *rest):
            tensor = self._tensor(sites, place)
            coordinates, ranks = numbers[: sites.axes], numbers[-1] if sites.bulk.multicast else 0
            self._check_tile(one, sites.bulk.into, target)
            self._check_start(one, sites.bulk.into, tensor, coordinates[0])
            box = _Box.of(tensor, coordinates)
            data = self._gathered(tensor, box, target)
            self._bulk.deliver(one, sites.bulk, target, bar, ranks, data, box.pieces)

    def store(self, lanes: Lanes, sites: TensorSites, at: Value, out_of: Value, *rest: Value) -> None:
        """``cp.async.bulk.tensor`` and ``cp.reduce.async.bulk.tensor`` out of shared memory."""
        out_of = moved(out_of, sites.bulk.out_of.offset)
        for one, (place, source, *coordinates) in each_lane(lanes, at, out_of, *rest):
            tensor = self._tensor(sites, place)
            self._check_tile(one, sites.bulk.out_of, source)
            self._check_start(one, sites.bulk.out_of, tensor, coordinates[0])
            self._check_not_negative(one, sites.bulk.out_of, coordinates)
            bulk = replace(sites.bulk, reduction=_reduction(sites, tensor)) if sites.operation else sites.bulk
            box = _Box.of(tensor, coordinates)
            span, tile = self._span(tensor, store=True), box.of_tile(_swizzled(tensor, source))
            put = partial(_put_tile, span, box.offsets(tensor), tile, bulk.reduction)
            self._bulk.take(one, bulk, source, tensor.nbytes, box.pieces, put)

    def prefetch(self, lanes: Lanes, sites: TensorSites, at: Value, *coordinates: Value) -> None:
        """``cp.async.bulk.prefetch.tensor``: there is no cache, but the map must be one."""
        for place in np.unique(lanes.full_extent(at)).tolist():
            self._tensor(sites, place)

    def _gathered(self, tensor: TiledTensor, box: _Box, target: int) -> np.ndarray:
        """The bytes of a box as they lie in shared memory from ``target`` on."""
        data = np.zeros(tensor.nbytes, np.uint8)
        if tensor.nan:
            data.view(np.uint16)[:] = _NAN_BITS
        data[box.of_tile(_swizzled(tensor, target))] = self._span(tensor, store=False)[box.offsets(tensor)]
        return data

    def _span(self, tensor: TiledTensor, store: bool) -> np.ndarray:
        """The bytes of the whole tensor."""
        last = sum((size - 1) * pitch for size, pitch in zip(tensor.sizes, tensor.pitches, strict=True))
        found = self._global.span(tensor.address, last + tensor.itemsize, store)
        if found is None:
            raise Error(f"the tensor map names memory that is no argument of this launch. {_HOW}")
        return found

    def _tensor(self, sites: TensorSites, place: int) -> TiledTensor:
        """The map at an address.

        Raises:
            softlab.Error: there is none, or it has another number of axes.
        """
        place += sites.map_offset
        text = f"`{sites.bulk.into.instruction.text}`"
        for window, space in ((LOCAL_WINDOW, "local"), (SHARED_WINDOW, "shared")):
            if window <= place < window + WINDOW_BYTES:
                raise Error(
                    f"{text} takes its tensor map from {space} memory. A GPU reads maps from parameters, constants and "
                    f"global memory: declare the parameter `const __grid_constant__ CUtensorMap`"
                )
        raw = self._global.span(place, MAP_BYTES, False)
        tensor = decoded(raw.tobytes()) if raw is not None else None
        if tensor is None or place % MAP_ALIGN:
            raise Error(f"{text} finds no tensor map at its address. {_HOW}")
        if len(tensor.sizes) != sites.axes:
            raise Error(f"{text} copies a box of {sites.axes} axes, and the tensor map has {len(tensor.sizes)}")
        if tensor.swizzle and tensor.box[0] * tensor.itemsize < tensor.swizzle and len(tensor.tile) > 1:
            raise Error(
                f"{text}: the box has {tensor.box[0] * tensor.itemsize} bytes along the last axis, and the swizzle "
                f"spans {tensor.swizzle}. On a GPU each row then takes a whole span, which the emulator does not have: "
                "take a box as wide as the swizzle, or a smaller swizzle"
            )
        return tensor

    def _check_tile(self, lanes: Lanes, site: Site, address: int) -> None:
        if address % _TILE_ALIGN:
            raise self._faults.fault(
                "misaligned",
                f"the thread copies a tile at byte {address} of shared memory, which is no multiple of {_TILE_ALIGN}. "
                f"Declare the tile __align__({_TILE_ALIGN}), with a swizzle __align__(1024)",
                site.instruction, lanes, np.bool_(True), address,
            )  # fmt: skip

    def _check_start(self, lanes: Lanes, site: Site, tensor: TiledTensor, first: int) -> None:
        if first * tensor.itemsize % _BOX_ALIGN:
            raise self._faults.fault(
                "misaligned",
                f"the thread copies a box that begins at element {first} along the last axis, "
                f"{first * tensor.itemsize} bytes. A GPU stops at such a copy with an illegal instruction. Take a "
                f"coordinate that is a multiple of {_BOX_ALIGN} bytes: of {_BOX_ALIGN // tensor.itemsize} elements",
                site.instruction, lanes, np.bool_(True), first * tensor.itemsize,
            )  # fmt: skip

    def _check_not_negative(self, lanes: Lanes, site: Site, coordinates: Sequence[int]) -> None:
        """A store or a reduction; loads may begin before the array (measured on an H200)."""
        if min(coordinates) < 0:
            named = ", ".join(map(str, coordinates))
            raise self._faults.fault(
                "global-out-of-bounds",
                f"the thread stores a box that begins before the array, at {{{named}}}. A GPU stops at it with "
                "an illegal instruction. Behind the end a box may stick out, but not before the beginning",
                site.instruction, lanes, np.bool_(True),
            )  # fmt: skip


@dataclass(frozen=True)
class _Box:
    """The part of a box that is inside of its tensor.

    ``address`` of the first byte of each row there, (n,) int64; ``nbytes`` of a row; ``rows`` and ``columns`` say which
    rows, and which bytes of a row, of the tile they are.
    """

    address: np.ndarray
    nbytes: int
    rows: np.ndarray
    columns: slice

    @classmethod
    def of(cls, tensor: TiledTensor, coordinates: Sequence[int]) -> _Box:
        """The box at these coordinates, innermost first."""
        address, inside = np.full(1, tensor.address, np.int64), np.ones(1, bool)
        for axis in range(len(tensor.sizes) - 1, 0, -1):
            index = coordinates[axis] + np.arange(tensor.tile[axis]) * tensor.steps[axis]
            address = (address[:, None] + index * tensor.pitches[axis]).reshape(-1)
            inside = (inside[:, None] & (index >= 0) & (index < tensor.sizes[axis])).reshape(-1)
        begin = max(0, coordinates[0])
        nbytes = max(0, min(tensor.sizes[0], coordinates[0] + tensor.box[0]) - begin) * tensor.itemsize
        rows = np.flatnonzero(inside) if nbytes else np.zeros(0, np.int64)
        first = (begin - coordinates[0]) * tensor.itemsize
        return cls(address[rows] + begin * tensor.itemsize, nbytes, rows, slice(first, first + nbytes))

    @property
    def pieces(self) -> Pieces:
        """Where it is in global memory."""
        return Pieces(self.address, self.nbytes)

    def offsets(self, tensor: TiledTensor) -> np.ndarray:
        """Its bytes behind the tensor's first one, (rows, bytes)."""
        return self.address[:, None] - tensor.address + np.arange(self.nbytes)

    def of_tile(self, tile: np.ndarray) -> np.ndarray:
        """The same part of what each byte of a tile has, (rows, bytes)."""
        return tile[self.rows, self.columns]


def _reduction(sites: TensorSites, tensor: TiledTensor) -> Reduction:
    try:
        if tensor.kind == "int64" and sites.operation not in _OF_SIGNED:
            raise NotImplementedError
        return reduction(sites.operation, _REDUCED.get(tensor.kind, tensor.kind))
    except NotImplementedError as error:
        text = sites.bulk.into.instruction.text
        raise Error(f"`{text}`: there is no .{sites.operation} of {tensor.kind}, the type of the tensor map") from error


def _swizzled(tensor: TiledTensor, start: int) -> np.ndarray:
    """Where each byte of a tile lies behind its start, (rows, bytes of a row).

    The chunk's number in its span changes by the number of its 128-byte line in shared memory.
    """
    at = start + np.arange(tensor.nbytes)
    if tensor.swizzle:
        at ^= ((at >> _LINE_SHIFT) & (tensor.swizzle // 16 - 1)) << _CHUNK_SHIFT
    return (at - start).reshape(-1, tensor.box[0] * tensor.itemsize)


def _put_tile(
    span: np.ndarray, offsets: np.ndarray, tile: np.ndarray, reduction: Reduction | None, data: np.ndarray
) -> None:
    """Put a tile's bytes into the tensor's memory: ``offsets`` there, ``tile`` the offsets in the tile."""
    new = data[tile]
    span[offsets] = new if reduction is None else reduction.apply(span[offsets], new)
