"""Textures and surfaces of a launch on a GPU, through CuPy's binding of the CUDA runtime."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any

import numpy as np

from softlab.cuda.structs import PackedStruct
from softlab.cuda.textures import Image, Surface, Texture

#: cudaArrayLayered, cudaArraySurfaceLoadStore and cudaArrayCubemap (driver_types.h).
_LAYERED, _STORE, _CUBE = 1, 2, 4


@contextmanager
def bound(args: Sequence[Any], linear: bool = False) -> Iterator[list[Any]]:
    """The arguments with a handle for each texture and surface, which hold copies of their arrays.

    What a kernel stores to a surface is copied back at the end.

    Arguments:
        linear: textures of one dimension are fetched by their index (``tex1Dfetch``): they then are plain memory.
    """
    made: dict[int, tuple[Image, Any, Any]] = {}

    def handle(image: Image) -> int:
        if id(image) not in made:
            made[id(image)] = (image, *texture_object(image, linear))
        return int(made[id(image)][1].ptr)

    def converted(argument: Any) -> Any:
        if isinstance(argument, Image):
            return np.uint64(handle(argument))
        if isinstance(argument, PackedStruct):
            return argument.with_arrays(
                lambda one: SimpleNamespace(data=SimpleNamespace(ptr=handle(one))) if isinstance(one, Image) else one
            )
        return argument

    yield [converted(argument) for argument in args]
    for image, _, memory in made.values():
        if isinstance(image, Surface):
            memory.copy_to(_flat(image))


def _flat(image: Image) -> Any:
    """The array as CuPy copies it: the channels of an element beside each other, and a cube's faces as layers."""
    shape = tuple(image.array.shape)
    if image.layered and image.cube:
        shape = (shape[0] * shape[1], *shape[2:])
    if image.channels > 1:
        shape = (*shape[:-2], shape[-2] * shape[-1])
    return image.array.reshape(shape)


def texture_object(image: Image, linear: bool) -> tuple[Any, Any]:
    """(texture or surface object, its memory)."""
    from cupy.cuda import runtime, texture

    kind = {"f": runtime.cudaChannelFormatKindFloat, "i": runtime.cudaChannelFormatKindSigned,
            "u": runtime.cudaChannelFormatKindUnsigned}[np.dtype(image.array.dtype).kind]  # fmt: skip
    bits = 8 * image.array.dtype.itemsize
    form = texture.ChannelFormatDescriptor(*(bits if k < image.channels else 0 for k in range(4)), kind)
    if linear and isinstance(image, Texture) and len(image.size) == 1:
        memory = image.array
        source = texture.ResourceDescriptor(
            runtime.cudaResourceTypeLinear, arr=memory, chDesc=form, sizeInBytes=memory.nbytes
        )
    else:
        flags = (_LAYERED if image.layered else 0) | (_STORE if isinstance(image, Surface) else 0)
        flags |= _CUBE if image.cube else 0
        width, height, depth = [*image.size[::-1], 0, 0][:3]
        memory = texture.CUDAarray(form, width, height, image.layers if flags & (_LAYERED | _CUBE) else depth, flags)
        memory.copy_from(_flat(image))
        source = texture.ResourceDescriptor(runtime.cudaResourceTypeArray, cuArr=memory)
    if isinstance(image, Texture):
        return texture.TextureObject(source, _modes(image)), memory
    return texture.SurfaceObject(source), memory


def _modes(image: Texture) -> Any:
    from cupy.cuda import runtime, texture

    address = {
        "wrap": runtime.cudaAddressModeWrap, "clamp": runtime.cudaAddressModeClamp,
        "mirror": runtime.cudaAddressModeMirror, "border": runtime.cudaAddressModeBorder,
    }  # fmt: skip
    return texture.TextureDescriptor(
        tuple(address[mode] for mode in image.addresses),
        runtime.cudaFilterModeLinear if image.filter == "linear" else runtime.cudaFilterModePoint,
        runtime.cudaReadModeNormalizedFloat if image.read == "normalized" else runtime.cudaReadModeElementType,
        normalizedCoords=int(image.normalized),
    )
