"""What is measured for the claims about the reference design, and the programs that it takes.

Programs are compiled where there is NVRTC and can be carried to where the GPU is, so that the GPU runs the same machine
code as the emulator and the table of registers.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from softlab.cuda.compile import Program, compile_program, kernel_sources
from softlab.errors import PlanError
from softlab.plans import Plan, forced, plan

DTYPES = ("float32", "float16")
ITEM_BYTES = {"float32": 4, "float16": 2}
#: Bytes that each case reads: several times the L2 cache of any GPU.
INPUT_BYTES = 1 << 28
SHORT = (32, 64, 128, 192, 256, 384, 512, 640, 768, 896, 1022, 1023)
MIDDLE = (*range(1024, 12_272, 512), 12_272)
LONG = (12_274, 16_384, 24_576, 32_768, 50_257, 65_536, 98_304, 131_072, 262_144)
LAYOUTS = ("column", "row", "row_scalar")
LAYOUT_COLS = (1024, 2048, 4096, 8192, 12_272)
PACK_COLS = (256, 512, 768, 1024, 2048, 4096, 8192, 16_384, 32_768, 65_536)
#: Rows for an achieved occupancy: fewer blocks than the GPU holds, a few waves of them, and many.
FEW_ROWS = (132, 3000)


@dataclass(frozen=True)
class TimedCase:
    """One launch: ``kernel`` with its choices, on rows x cols of a dtype. ``layout`` is "" for a kernel without one."""

    kernel: str
    block_size: int
    pack_size: int
    layout: str
    dtype: str
    cols: int
    rows: int

    @property
    def nbytes(self) -> int:
        """The least that has to move: each element once in, once out."""
        return 2 * self.rows * self.cols * ITEM_BYTES[self.dtype]


@dataclass(frozen=True)
class ReadyCase:
    """A case, ready to be launched."""

    case: TimedCase
    program: Program
    grid: int
    block: tuple[int, int]
    smem_bytes: int
    counted: bool = field(default=False)


def rows_of(cols: int, dtype: str) -> int:
    """Rows of ``cols`` columns that make up ``INPUT_BYTES``."""
    return INPUT_BYTES // ITEM_BYTES[dtype] // cols


def timed_plans(device: str | None) -> Iterator[Plan]:
    """Every plan whose time is taken: each kernel at each block size over the columns, the layouts, the packs."""
    for dtype in DTYPES:
        for cols in (*SHORT, *MIDDLE, *LONG):
            made = plan(rows_of(cols, dtype), cols, dtype, device=device)
            yield from (other.plan for other in made.alternatives() if other.plan)
        for cols in LAYOUT_COLS:
            for layout in LAYOUTS:
                yield forced(rows_of(cols, dtype), cols, dtype, kernel="block_smem", layout=layout, device=device)
        for cols in PACK_COLS:
            yield from _packs(cols, dtype, device)


def _packs(cols: int, dtype: str, device: str | None) -> Iterator[Plan]:
    """The planned kernel with every pack there is."""
    rows = rows_of(cols, dtype)
    made = plan(rows, cols, dtype, device=device)
    for pack_size in (1, 2, 4, 8):
        try:
            yield forced(
                rows, cols, dtype,
                kernel=made.kernel, pack_size=pack_size, block_size=made.block_size, device=device,
            )  # fmt: skip
        except PlanError:
            continue  # wider than 16 bytes


def counted_plans(device: str | None) -> Iterator[Plan]:
    """The plans that are launched under Nsight Compute: for the caches, and for the achieved occupancy."""
    for dtype in DTYPES:
        for cols in (16_384, 65_536, 262_144) if dtype == "float16" else (12_274, 16_384, 32_768, 65_536, 262_144):
            for block_size in (128, 256, 512, 1024):
                yield forced(
                    rows_of(cols, dtype), cols, dtype, kernel="block_uncached", block_size=block_size, device=device
                )
    for cols in (32, 256, 512, 1022, 1024, 4096, 8192, 12_272, 16_384, 262_144):
        yield plan(rows_of(cols, "float32"), cols, device=device)
    for rows in FEW_ROWS:
        yield from (plan(rows, cols, device=device) for cols in (512, 4096, 16_384))


def case_of(made: Plan) -> TimedCase:
    """The case of a plan."""
    return TimedCase(made.kernel, made.block_size, made.pack_size, made.layout or "", made.dtype, made.cols, made.rows)


def prepare(device: str | None, progress: Callable[[Iterable[Any]], Iterable[Any]] = iter) -> list[ReadyCase]:
    """All launches, each once, compiled."""
    plans: dict[tuple[TimedCase, bool], Plan] = {}
    for counted, group in ((False, timed_plans(device)), (True, counted_plans(device))):
        plans |= {(case_of(made), counted): made for made in group}
    return [prepared(case, made, counted) for (case, counted), made in progress(list(plans.items()))]


def prepared(case: TimedCase, made: Plan, counted: bool = False) -> ReadyCase:
    """The launch of a plan, compiled."""
    program = compile_program(kernel_sources()[made.file], made.name, arch=made.arch, file=made.file)
    return ReadyCase(case, program, made.grid, made.block, made.smem_bytes, counted)


def save(launches: Iterable[ReadyCase], folder: Path) -> None:
    """Write launches and their programs, each program once."""
    folder.mkdir(parents=True, exist_ok=True)
    numbers: dict[Program, int] = {}
    records = []
    for launch in launches:
        number = numbers.setdefault(launch.program, len(numbers))
        shape = {"grid": launch.grid, "block": launch.block, "smem_bytes": launch.smem_bytes, "counted": launch.counted}
        records.append({"case": asdict(launch.case), "program": number, **shape})
    # The PTX serves GPUs that the cubin is not for; here the two have the same one, and the cubin is a tenth as large.
    programs = [{**asdict(p), "source": "", "ptx": "", "cubin": p.cubin.hex()} for p in numbers]
    text = json.dumps({"launches": records, "programs": programs})
    (folder / "launches.json.gz").write_bytes(gzip.compress(text.encode(), mtime=0))


def read(folder: Path) -> list[ReadyCase]:
    """What :func:`save` wrote."""
    record = json.loads(gzip.decompress((folder / "launches.json.gz").read_bytes()))
    programs = [
        Program(**{**p, "cubin": bytes.fromhex(p["cubin"]), "options": tuple(p["options"])}) for p in record["programs"]
    ]
    return [
        ReadyCase(
            TimedCase(**entry["case"]),
            programs[entry["program"]],
            entry["grid"],
            tuple(entry["block"]),
            entry["smem_bytes"],
            entry["counted"],
        )
        for entry in record["launches"]
    ]
