"""What generated code knows of an instruction before it runs: the site of an access, or of any other effect."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from softlab.emulator.ptx.syntax import Instruction

#: Bytes per lane -> the dtype that moves them in one piece.
ITEMS: dict[int, np.dtype] = {
    1: np.dtype("u1"),
    2: np.dtype("u2"),
    4: np.dtype("u4"),
    8: np.dtype("u8"),
    16: np.dtype("c16"),
    32: np.dtype("V32"),
}


@dataclass(frozen=True, eq=False)
class InstructionSite:
    """An instruction that is no access to memory: its ``index`` in the image and a ``mode``, such as "bfly"."""

    index: int
    instruction: Instruction
    mode: str = ""


@dataclass(frozen=True, eq=False)
class Site:
    """One memory instruction: what every lane does there, apart from the address.

    ``index`` is the instruction's index in the image. Each lane moves ``elements`` elements of ``dtype``, together
    ``width`` bytes. ``offset`` is added to each address. ``store`` says whether the instruction writes. ``operation``
    is what an atomic does, "" for loads and stores. ``space`` is "global", "shared", "cluster", "local" or "generic".
    ``vector_bytes``: the bytes of the vector that an atomic begins, 0 for others. Addresses must be multiples of
    ``alignment`` bytes: of ``width``, or of that vector.
    """

    index: int
    instruction: Instruction
    space: str
    dtype: np.dtype
    elements: int = 1
    offset: int = 0
    store: bool = False
    operation: str = ""
    vector_bytes: int = 0
    width: int = field(init=False)
    alignment: int = field(init=False)
    item: np.dtype = field(init=False)
    shift: np.uint64 = field(init=False)

    def __post_init__(self) -> None:
        width = self.dtype.itemsize * self.elements
        if width not in ITEMS:
            raise NotImplementedError(f"an access of {width} bytes per lane")
        object.__setattr__(self, "width", width)
        object.__setattr__(self, "item", ITEMS[width])
        object.__setattr__(self, "shift", np.uint64(width.bit_length() - 1))
        object.__setattr__(self, "alignment", max(width, self.vector_bytes))

    def moved(self, offset: int) -> Site:
        """The same instruction with another constant offset."""
        return replace(self, offset=offset)

    def at(self, space: str) -> Site:
        """The same instruction in the space that its address is in; the offset is already added."""
        return replace(self, space=space, offset=0)
