"""How the sets of launches for the timing model that are predicted first, then measured, are put together."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from tests.hardware.timing_cases import Array, TimingCase

#: Adds a launch: category, kernel, grid, block, arguments, and by name ``smem`` and ``series``.
Adder = Callable[..., None]


def launches(parts: Iterable[Callable[[Adder], None]]) -> list[TimingCase]:
    """The launches that the parts of a set add; their names are different."""
    found: list[TimingCase] = []

    def add(
        category: str, kernel: str, grid: Any, block: Any, *arguments: Any, smem: int = 0, series: str = ""
    ) -> None:
        grid, block = (g if isinstance(g, tuple) else (g,) for g in (grid, block))
        name = f"{kernel}, {'x'.join(map(str, grid))} of {'x'.join(map(str, block))}"
        given = [a[1] for a in arguments if isinstance(a, tuple) and a[0] in ("i4", "u4")]
        name += f", {given}" if given else ""
        if any(one.name == name for one in found):
            name += f", {[a.size for a in arguments if isinstance(a, Array)]}"
        found.append(TimingCase(name, category, kernel, grid, block, arguments, smem, series))

    for part in parts:
        part(add)
    return found


def by_series(cases: Iterable[TimingCase]) -> dict[str, list[str]]:
    """Name of a series -> the names of its launches, by threads per block."""
    found: dict[str, list[str]] = {}
    for case in cases:
        if case.series:
            found.setdefault(case.series, []).append(case.name)
    return found


def spread(
    add: Adder, category: str, kernel: str, threads: int, blocks: Any, *arguments: Any, smem: Any = 0, series: str = ""
) -> None:
    """Add the same threads in blocks of different sizes; three sizes and more are a series.

    ``smem``: bytes of shared memory per block, or a function of the threads per block. ``series``: the name of the
    series, else that of the kernel.
    """
    blocks = blocks if isinstance(blocks, tuple) else (blocks,)
    name = (series or kernel) if len(blocks) > 2 else ""
    for block in blocks:
        bytes_ = smem(block) if callable(smem) else smem
        add(category, kernel, -(-threads // block), block, *arguments, smem=bytes_, series=name)


def within(
    add: Adder, category: str, kernel: str, grid: Any, blocks: Any, *arguments: Any, smem: int = 0, series: str = ""
) -> None:
    """Add as many blocks of different sizes, whose work is the same; three sizes and more are a series.

    ``series``: the name of the series, else that of the kernel.
    """
    blocks = blocks if isinstance(blocks, tuple) else (blocks,)
    name = (series or kernel) if len(blocks) > 2 else ""
    for block in blocks:
        add(category, kernel, grid, block, *arguments, smem=smem, series=name)


def in_shapes(
    add: Adder, category: str, kernel: str, width: int, height: int, blocks: Any, *arguments: Any, smem: int = 0
) -> None:
    """Add a picture in blocks of different shapes; three shapes and more are a series."""
    name = kernel if len(blocks) > 2 else ""
    for x, y in blocks:
        add(category, kernel, (-(-width // x), -(-height // y)), (x, y), *arguments, smem=smem, series=name)
