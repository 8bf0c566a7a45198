"""Recorded speeds over the row length, as curves: the planned kernel, each kernel at its best, and other libraries.

A curve is made from one table of a recording: "timings" of ``record.claims``, or "forward" of ``record.fast``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np

from softlab.bench import claims
from softlab.bench.consequences import copy_gb_per_second, gb_per_second, seconds
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


_Make = Callable[[Recording, str], Iterator[Sample]]
#: (table, label) -> makes the samples of a recording that has the table, for a dtype.
_CURVES: dict[tuple[str, str], _Make] = {}


def _curve(label: str, table: str = "timings") -> Callable[[_Make], _Make]:
    def register(make: _Make) -> _Make:
        _CURVES[table, label] = make
        return make

    return register


def labels(recording: Recording) -> tuple[str, ...]:
    """The curves that a recording has, of whatever type."""
    found = {curve.label for dtype in dtypes(recording) for curve in curves(recording, dtype)}
    return tuple(label for table, label in _CURVES if table in recording.tables and label in found)


def dtypes(recording: Recording) -> tuple[str, ...]:
    """The types that it has curves of, the one that most curves are looked at in first."""
    found = {name for table in _tables(recording) for name in table["dtype"].tolist()}
    return tuple(name for name in ("float32", "float16", "bfloat16", "float64") if name in found)


def curves(recording: Recording, dtype: str) -> tuple[Curve, ...]:
    """All curves of a recording for one dtype; those without a sample are left out."""
    found = (
        Curve(label, tuple(sorted(make(recording, dtype), key=lambda s: s.cols)))
        for (table, label), make in _CURVES.items()
        if table in recording.tables
    )
    return tuple(curve for curve in found if curve.samples)


def ceiling(recording: Recording) -> float:
    """The median device copy of the recording, GB/s."""
    if "copies" in recording.tables:
        return copy_gb_per_second(recording)
    return float(np.median(select(recording.tables["forward"], peer="copy")["gigabytes_per_second"]))


def _tables(recording: Recording) -> Iterator[Table]:
    yield from (
        recording.tables[name] for name in dict.fromkeys(table for table, _ in _CURVES) if name in recording.tables
    )


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


#: The label of what is no softmax.
COPY = "device copy"
#: Names in ``record.fast`` -> label.
PEER_LABELS = MappingProxyType(
    {
        "fast": "softlab, fast", "oneflow": "softlab, oneflow", "torch": "PyTorch", "inductor": "Inductor",
        "cudnn": "cuDNN", "triton": "Triton", "liger": "Liger", "quack": "QuACK",
        "flashinfer": "FlashInfer", "jax": "JAX", "cupy": "CuPy", "copy": COPY,
    }
)  # fmt: skip


def _side_by_side(peer: str, label: str) -> _Make:
    def make(recording: Recording, dtype: str) -> Iterator[Sample]:
        some = select(recording.tables["forward"], op="softmax", peer=peer, dtype=dtype)
        columns = ("cols", "gigabytes_per_second", "microseconds", "kernel")
        for cols, speed, spent, kernel in zip(*(some[name].tolist() for name in columns), strict=True):
            yield Sample(cols, speed, spent, kernel or label)

    return make


for _peer_name, _label in PEER_LABELS.items():
    _curve(_label, "forward")(_side_by_side(_peer_name, _label))


def _samples(timings: Table) -> Iterator[Sample]:
    speeds, times = gb_per_second(timings), seconds(timings) * 1e6
    for k in np.argsort(timings["cols"], kind="stable").tolist():
        kernel, size = str(timings["kernel"][k]), int(timings["block_size"][k])
        what = f"{kernel}, blocks of {size}" if size else {"torch": "PyTorch", "cudnn": "cuDNN"}.get(kernel, kernel)
        yield Sample(int(timings["cols"][k]), float(speeds[k]), float(times[k]), what)
