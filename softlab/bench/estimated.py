"""Estimates that the explorers show beside their counters: a table, since a picture may not wait for the model.

    python -m softlab.bench.estimated          estimate all launches again (some minutes, no GPU)

The model takes about half a second for a launch, and an explorer answers in a tenth of that. So the launches are
estimated in advance, for an H200 with a cold L2, and the table is a file like a recording. It keeps a digest of the
model and of the kernels: an explorer says so if its figures are those of an earlier model.
"""

from __future__ import annotations

import argparse
import datetime
import hashlib
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

import softlab
from softlab.bench import fusing, recordings
from softlab.bench.fusing import FusionCase
from softlab.bench.recordings import Recording, Table, select
from softlab.cuda.compile import included, kernel_sources, nvrtc_version
from softlab.dtypes import ELEMENT_TYPES
from softlab.errors import PlanError
from softlab.hardware.devices import Device
from softlab.hardware.occupancies import occupancy
from softlab.kernel import Kernel
from softlab.operators.executors import program_of
from softlab.plans import Plan, forced
from softlab.timing.estimates import Estimate

DEVICE = "H200"
FILE = recordings.folder() / "estimated" / "explorers_h200.json"
#: Bytes of the input of a softmax, as in the recordings: several times L2.
INPUT_BYTES = 1 << 28
#: Elements of the input of a fused softmax, as in its recording.
FUSED_ELEMENTS = 1 << 25
#: An estimate at a row length within this factor of the asked one may speak for it; the picture names its row length.
NEAR = 2.0
BLOCK_COLS = (1024, 2048, 4096, 8192, 12_272)
PACK_COLS = (256, 1024, 4096)
PACKS = (1, 2, 4, 8)
KERNELS = ("warp", "block_smem", "block_uncached")
FUSED_COLS = (64, 256, 1024)
#: Element types that the recordings have, too.
DTYPES = ("float32", "float16")
#: Fused parts that are estimated for float16, too: those that were recorded.
_RECORDED = ((), ("scale",), ("scale", "mask"), ("scale", "causal"), ("scale", "mask", "dropout"), fusing.PARTS)
#: Threads of the one block of the bank and pack explorers.
_BLOCK_SIZE = 128
_WIDEST = 16
_COPY_BLOCKS = (1, 2, 3, 4, 5, 6, 8, 10, 12, 16)
_COPY = """
extern "C" __global__ void copy4(const float* x, float* y) {
  const long long i = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  y[i] = x[i];
}
extern "C" __global__ void copy16(const float4* x, float4* y) {
  const long long i = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  y[i] = x[i];
}
"""
KEYS = {
    "softmax": ("kernel", "block_size", "pack_size", "layout", "dtype"),
    "fused": ("dtype", "way"),
    "copies": ("pack_bytes",),
}


@dataclass(frozen=True)
class Estimated:
    """One estimated launch: on rows of ``cols``, its time, what bounds it, and the first stall reason of its warps."""

    cols: int
    microseconds: float
    bound: str
    reason: str


@lru_cache(maxsize=1)
def table() -> Recording:
    """The estimates that ship with softlab, as the tables of a recording.

    Raises:
        OSError, ValueError: the file is missing or broken.
    """
    return recordings.read(FILE)


@lru_cache(maxsize=1)
def model_digest() -> str:
    """A digest of the model: its code, and the atlas of the GPU that it takes its figures from."""
    package = Path(softlab.__file__).resolve().parent
    digest = hashlib.sha256()
    atlas = package / "hardware" / "data" / f"atlas_{DEVICE.lower()}.json"
    for path in (*sorted((package / "timing").glob("*.py")), atlas):
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


@lru_cache(maxsize=1)
def kernels_digest() -> str:
    """A digest of the kernels that are estimated, with the headers that they include."""
    sources = kernel_sources()
    files = [f"softmax_{kernel}.cuh" for kernel in KERNELS]
    names = {name for file in files for name in (file, *included(sources[file]))}
    text = "\0".join(f"{name}\0{sources[name]}" for name in sorted(names)) + fusing.SOURCE + _COPY
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def stale() -> str:
    """What has changed since the estimates were made, as the end of a sentence; "" where nothing has."""
    changed = [
        *(["the model"] if table().versions["model"] != model_digest() else []),
        *(["a kernel"] if table().sources != kernels_digest() else []),
    ]
    return f"{' and '.join(changed)} has changed since" if changed else ""


def stamp() -> str:
    """Where the figures come from, for the end of a picture."""
    found, since = table(), stale()
    return f"estimated for an {DEVICE} with a cold L2, {found.date}{f'; {since}' if since else ''}"


def estimated(plan: Plan) -> Estimated | None:
    """The estimate of the plan's kernel, block, pack and layout at the nearest row length; None for none."""
    if plan.op != "softmax" or plan.device.name != DEVICE:
        return None
    rows = select(
        table().tables["softmax"], kernel=plan.kernel, block_size=plan.block_size, pack_size=plan.pack_size,
        layout=plan.layout or "", dtype=plan.dtype,
    )  # fmt: skip
    return _nearest(rows, plan.cols)


def fused(problem: FusionCase) -> tuple[Estimated, dict[str, Estimated]] | None:
    """The estimates of the fused kernel, and of each separate one by its part, at the recorded number of elements."""
    if problem.device != DEVICE:
        return None
    rows = select(table().tables["fused"], dtype=problem.dtype)
    one = _nearest(select(rows, way="fused", parts=_named(problem.parts)), problem.cols)
    apart = {
        part: _nearest(select(rows, way="alone", parts=part), problem.cols) for part in (*problem.parts, "softmax")
    }
    known = {part: found for part, found in apart.items() if found}
    return (one, known) if one and len(known) == len(apart) else None


def copies(pack_bytes: int) -> tuple[np.ndarray, np.ndarray]:
    """(warps per SM, 10^9 bytes per second read and written) of a copy in which each thread moves one pack."""
    rows = select(table().tables["copies"], pack_bytes=pack_bytes)
    return rows["warps"], rows["bytes"] / rows["microseconds"] / 1e3


def _named(parts: Sequence[str]) -> str:
    return "+".join(part for part in fusing.PARTS if part in parts) or "softmax"


def _nearest(rows: Table, cols: int) -> Estimated | None:
    if not len(rows["cols"]):
        return None
    k = int(np.argmin(np.abs(np.log(rows["cols"] / cols))))
    at = int(rows["cols"][k])
    if not 1 / NEAR <= at / cols <= NEAR:
        return None
    return Estimated(at, float(rows["microseconds"][k]), str(rows["bound"][k]), str(rows["reason"][k]))


# The table


def plans() -> Iterator[Plan]:
    """The launches of softmax that the explorers of block sizes, banks and packs can show."""
    asked: dict[tuple[Any, ...], None] = {}
    for dtype in DTYPES:
        for size in (128, 256, 512, 1024):
            asked |= {("block_smem", size, 2, "column", dtype, cols): None for cols in BLOCK_COLS}
    for dtype in DTYPES:
        for pack in (pack for pack in PACKS if pack * ELEMENT_TYPES[dtype].itemsize <= _WIDEST):
            for cols in PACK_COLS:
                layouts = ("column", "row", "row_scalar") if pack > 1 else ("column",)
                asked |= {("block_smem", _BLOCK_SIZE, pack, layout, dtype, cols): None for layout in layouts}
                asked[("block_uncached", _BLOCK_SIZE, pack, None, dtype, cols)] = None
                asked[("warp", None, pack, None, dtype, cols)] = None
    for kernel, size, pack, layout, dtype, cols in asked:
        rows = INPUT_BYTES // (cols * ELEMENT_TYPES[dtype].itemsize)
        choices = {"kernel": kernel, "pack_size": pack, "block_size": size, "layout": layout}
        try:
            yield forced(
                rows,
                cols,
                dtype,
                device=DEVICE,
                **{name: value for name, value in choices.items() if value is not None},
            )
        except PlanError:
            continue  # such a launch does not fit, or no kernel is built for it


def softmax_rows() -> Iterator[dict[str, Any]]:
    """The table of the plans."""
    for made in plans():
        key = {"kernel": made.kernel, "block_size": made.block_size, "pack_size": made.pack_size}
        of = {**key, "layout": made.layout or "", "dtype": made.dtype, "cols": made.cols}
        yield {**of, **_figures(softlab.estimate(made, device=DEVICE))}


def _subsets() -> Iterator[tuple[str, ...]]:
    for bits in range(1 << len(fusing.PARTS)):
        yield tuple(part for k, part in enumerate(fusing.PARTS) if bits >> k & 1)


def fused_rows() -> Iterator[dict[str, Any]]:
    """The table of fused kernels with everything that the explorer can tick, and of the separate ones."""
    for dtype in DTYPES:
        for cols in FUSED_COLS:
            for parts in _subsets():
                problem = _fusion(dtype, cols, parts)
                x, y, dropped = (np.zeros(problem.shape, problem.element.numpy) for _ in range(3))
                same = {"dtype": dtype, "cols": cols, "parts": _named(parts)}
                if not parts:
                    found = _figures(softlab.estimate(problem.plain_plan(), device=DEVICE))
                    yield {**same, "way": "fused", **found}
                    yield {**same, "way": "alone", **found}
                    continue
                if len(parts) == 1:
                    yield {**same, "way": "alone", **_figures(_alone(problem, x, y))}
                if dtype == "float32" or parts in _RECORDED:
                    made = problem.fused_plan()
                    args = fusing.arguments(problem, x, y, dropped, problem.operands)
                    kernel = Kernel.from_program(program_of(made))
                    estimate = kernel.estimate(made.grid, made.block, args, smem=made.smem_bytes, device=DEVICE)
                    yield {**same, "way": "fused", **_figures(estimate)}


def _fusion(dtype: str, cols: int, parts: tuple[str, ...]) -> FusionCase:
    rows = min(cols, 4096)
    return FusionCase(FUSED_ELEMENTS // (rows * cols), rows, cols, dtype, parts, DEVICE)


def _alone(problem: FusionCase, x: np.ndarray, y: np.ndarray) -> Estimate:
    """The separate kernel of a problem with one part."""
    (step,) = (step for step in problem.steps(problem.operands) if not step.plan)
    kernel = Kernel(fusing.SOURCE, f"{step.part}<{problem.element.cuda}>", arch=problem.plain_plan().arch)
    args = (x, y, np.int64(problem.size), *step.further)
    return kernel.estimate(problem.grid(), fusing.BLOCK, args, device=DEVICE)


def copy_rows() -> Iterator[dict[str, Any]]:
    """The table of copies: as many blocks per SM as shared memory allows, which is their only limit."""
    device = Device.named(DEVICE)
    x, y = (np.zeros(INPUT_BYTES // 4, np.float32) for _ in range(2))
    for pack_bytes in (4, 16):
        kernel = Kernel(_COPY, f"copy{pack_bytes}")
        for blocks in _COPY_BLOCKS:
            smem = device.smem_per_sm // blocks // 128 * 128 - device.smem_reserved_per_block
            smem = max(min(smem, device.smem_per_block_optin), 0)
            grid = INPUT_BYTES // (pack_bytes * _BLOCK_SIZE)
            held = occupancy(device, threads=_BLOCK_SIZE, registers=kernel.program.registers, smem=smem)
            found = kernel.estimate(grid, _BLOCK_SIZE, (x, y), smem=smem, device=DEVICE)
            yield {
                "pack_bytes": pack_bytes, "warps": held.warps_per_sm, "bytes": 2 * INPUT_BYTES, **_figures(found)
            }  # fmt: skip


def _figures(found: Estimate) -> dict[str, Any]:
    reason = next((name for name in found.stalls if name != "selected"), "")
    return {"microseconds": float(f"{found.microseconds:.4g}"), "bound": found.bound, "reason": reason}


def estimate_all(progress: bool = False) -> Recording:
    """All tables."""
    began = time.process_time()
    tables: dict[str, list[dict[str, Any]]] = {}
    for name, rows in (("copies", copy_rows()), ("softmax", softmax_rows()), ("fused", fused_rows())):
        found: list[dict[str, Any]] = []
        for row in rows:
            found.append(row)
            if progress and len(found) % 20 == 0:
                print(f"{name}: {len(found)} launches, {time.process_time() - began:.0f} s of this CPU", flush=True)
        tables[name] = found
    about = "Estimates of the launches that the explorers show."
    return described(FILE.stem, about, "python -m softlab.bench.estimated", tables)


def described(name: str, about: str, command: str, tables: Mapping[str, Sequence[Mapping[str, Any]]]) -> Recording:
    """Tables of estimates in the form of a recording, with the digests of the model and of the kernels."""
    return Recording(
        name=name,
        about=about,
        device=f"{DEVICE} (estimated, not measured)",
        date=datetime.date.today().isoformat(),
        command=command,
        method="softlab.timing with a cold L2; inputs as large as in the recordings beside which they are shown.",
        versions={"softlab": softlab.__version__, "NVRTC": nvrtc_version(), "model": model_digest()},
        sources=kernels_digest(),
        tables={table: recordings.table_of(rows) for table, rows in tables.items()},
    )


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("out", type=Path, nargs="?", default=FILE, help="the file to write (default: the shipped one)")
    given = parser.parse_args(arguments)
    given.out.parent.mkdir(exist_ok=True)
    recordings.write(given.out, estimate_all(progress=True), KEYS)
    print(f"{given.out.name}: {given.out.stat().st_size} bytes")
    return 0


if __name__ == "__main__":
    sys.exit(main())
