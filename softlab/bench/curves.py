"""Recorded speeds over the row length, as curves: the planned kernel, each kernel at its best, and other libraries."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from softlab.bench import claims
from softlab.bench.consequences import gb_per_second, seconds
from softlab.bench.recordings import Recording, Table, select


@dataclass(frozen=True)
class Sample:
    """One recorded launch: on rows of ``cols``, ``gb_per_second`` counting each element once in and once out; ``what``
    ran, "block_smem, blocks of 256"."""

    cols: int
    gb_per_second: float
    microseconds: float
    what: str


@dataclass(frozen=True)
class Curve:
    """Samples over the row length, ascending. label: what it is called."""

    label: str
    samples: tuple[Sample, ...]

    def at(self, cols: int) -> Sample | None:
        """The sample at just this row length."""
        return next((sample for sample in self.samples if sample.cols == cols), None)


#: Label -> makes the samples of a recording and dtype.
_CURVES: dict[str, Callable[[Recording, str], Iterator[Sample]]] = {}
_Make = Callable[[Recording, str], Iterator[Sample]]


def _curve(label: str) -> Callable[[_Make], _Make]:
    def register(make: _Make) -> _Make:
        _CURVES[label] = make
        return make

    return register


def labels() -> tuple[str, ...]:
    """The curves that there are."""
    return tuple(_CURVES)


def curves(recording: Recording, dtype: str) -> tuple[Curve, ...]:
    """All curves of a recording of ``record_claims`` for one dtype; those without a sample are left out."""
    found = (
        Curve(label, tuple(sorted(make(recording, dtype), key=lambda s: s.cols))) for label, make in _CURVES.items()
    )
    return tuple(curve for curve in found if curve.samples)


@_curve("softlab, as planned")
def _planned(recording: Recording, dtype: str) -> Iterator[Sample]:
    for made in claims.planned(recording, dtype):
        some = select(
            recording.tables["timings"], kernel=made.kernel, block_size=made.block_size, pack_size=made.pack_size,
            layout=made.layout or "", dtype=dtype, cols=made.cols,
        )  # fmt: skip
        yield from _samples(some)


def _fastest(kernel: str) -> _Make:
    def make(recording: Recording, dtype: str) -> Iterator[Sample]:
        some = select(recording.tables["timings"], kernel=kernel, dtype=dtype, layout=["", "column"])
        # Other packs than the reference's are experiments of their own.
        usual = some["pack_size"] == np.where(some["cols"] % 2, 1, 2)
        some = {name: column[usual] for name, column in some.items()}
        best: dict[int, Sample] = {}
        for sample in _samples(some):
            if sample.cols not in best or sample.gb_per_second > best[sample.cols].gb_per_second:
                best[sample.cols] = sample
        yield from best.values()

    return make


for _kernel in ("warp", "block_smem", "block_uncached"):
    _curve(f"{_kernel}, best" if _kernel != "warp" else "warp")(_fastest(_kernel))


def _peer(kernel: str) -> _Make:
    def make(recording: Recording, dtype: str) -> Iterator[Sample]:
        yield from _samples(select(recording.tables["timings"], kernel=kernel, dtype=dtype))

    return make


_curve("PyTorch")(_peer("torch"))
_curve("cuDNN")(_peer("cudnn"))


def _samples(timings: Table) -> Iterator[Sample]:
    speeds, times = gb_per_second(timings), seconds(timings) * 1e6
    for k in np.argsort(timings["cols"], kind="stable").tolist():
        kernel, size = str(timings["kernel"][k]), int(timings["block_size"][k])
        what = f"{kernel}, blocks of {size}" if size else {"torch": "PyTorch", "cudnn": "cuDNN"}.get(kernel, kernel)
        yield Sample(int(timings["cols"][k]), float(speeds[k]), float(times[k]), what)
