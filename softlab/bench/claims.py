"""The claims about the reference design, judged by a recording.

Each claim becomes one or more statements that are true or false of a single case. A claim holds when all of them are
true in all cases, and does not hold when none is in any; in between it holds partly, and the numbers show how far.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from softlab.bench.cases import DTYPES, ITEM_BYTES, LAYOUT_COLS, PACK_COLS, rows_of
from softlab.bench.consequences import copy_gb_per_second, gb_per_second
from softlab.bench.recordings import Recording, Table, select
from softlab.plans import Plan, forced, plan
from softlab.plans.instantiations import BLOCK_SIZES

#: What counts as faster: more than this. 19 of 20 cases differ by less between the two passes of the recording.
NOISE = 0.02
#: What "close to the limit" and "far above" mean.
CLOSE, FAR_ABOVE = 0.9, 1.5
AT_LEAST = 0.2


@dataclass(frozen=True)
class Evidence:
    """A ``statement`` about single cases, in how many of them it is true, and the ``figures`` in words.

    ``beyond``: more than the claim states; it has no part in the verdict.
    """

    statement: str
    true: int
    cases: int
    figures: str
    beyond: bool = False


@dataclass(frozen=True)
class Claim:
    """A claim and what was found."""

    number: int
    claim: str
    findings: tuple[Evidence, ...]

    @property
    def verdict(self) -> str:
        """ "holds", "holds partly" or "does not hold"."""
        judged = [finding for finding in self.findings if not finding.beyond]
        true, cases = sum(f.true for f in judged), sum(f.cases for f in judged)
        return "holds" if true == cases else "holds partly" if true else "does not hold"

    def __str__(self) -> str:
        lines = [f"{self.number}. {self.claim}: {self.verdict}"]
        for f in self.findings:
            lines += [f"   {f.true:2} of {f.cases:2}  {'beyond it: ' if f.beyond else ''}{f.statement}"]
            lines += [f"             ({f.figures})"]
        return "\n".join(lines)


def judge(recording: Recording) -> tuple[Claim, ...]:
    """All claims, in order."""
    return tuple(
        Claim(number, claim, tuple(find(recording))) for number, (claim, find) in enumerate(_CLAIMS.items(), 1)
    )


_Find = Callable[[Recording], Iterator[Evidence]]
_CLAIMS: dict[str, _Find] = {}


def _claim(words: str) -> Callable[[_Find], _Find]:
    def register(find: _Find) -> _Find:
        _CLAIMS[words] = find
        return find

    return register


# What the recording holds, arranged for a claim; the pictures are drawn from the same.


def planned(recording: Recording, dtype: str) -> list[Plan]:
    """The dispatcher's plan of every recorded row length."""
    sizes = select(recording.tables["timings"], dtype=dtype, kernel="torch")
    device = recording.device.removeprefix("NVIDIA ")
    pairs = sorted(zip(sizes["cols"].tolist(), sizes["rows"].tolist(), strict=True))
    return [plan(rows, cols, dtype, device=device) for cols, rows in pairs]


def speed(recording: Recording, made: Plan) -> float:
    """The recorded speed of a plan, 10^9 bytes per second; NaN where it was not recorded."""
    found = select(
        recording.tables["timings"], kernel=made.kernel, block_size=made.block_size, pack_size=made.pack_size,
        layout=made.layout or "", dtype=made.dtype, cols=made.cols,
    )  # fmt: skip
    return float(gb_per_second(found)[0]) if len(found["cols"]) else float("nan")


def peer_speeds(recording: Recording, peer: str, dtype: str) -> tuple[np.ndarray, np.ndarray]:
    """Row lengths and speeds of "torch" or "cudnn", 10^9 bytes per second."""
    found = select(recording.tables["timings"], kernel=peer, dtype=dtype)
    order = np.argsort(found["cols"])
    return found["cols"][order], gb_per_second(found)[order]


def alternatives(made: Plan, kernel: str) -> list[Plan]:
    """The plan with the named kernel at every block size that fits."""
    return [other.plan for other in made.alternatives() if other.kernel == kernel and other.plan]


def best_speed(recording: Recording, made: Plan, kernel: str) -> float:
    """The recorded speed of the named kernel on the plan's problem, in its fastest block size."""
    return max(speed(recording, other) for other in alternatives(made, kernel))


def block_size_speeds(recording: Recording, dtype: str, cols: Sequence[int]) -> dict[int, list[float]]:
    """Block size -> speed of the shared-memory kernel at each row length; NaN where it does not fit."""
    plans = {made.cols: made for made in planned(recording, dtype)}
    found: dict[int, list[float]] = {size: [] for size in BLOCK_SIZES}
    for length in cols:
        speeds = {p.block_size: speed(recording, p) for p in alternatives(plans[length], "block_smem")}
        for size in BLOCK_SIZES:
            found[size].append(speeds.get(size, float("nan")))
    return found


def layout_speeds(recording: Recording, dtype: str) -> dict[str, list[float]]:
    """Layout -> speed at each of ``LAYOUT_COLS``, with the block size that the dispatcher takes."""
    device = recording.device.removeprefix("NVIDIA ")
    return {
        layout: [
            speed(recording, forced(4096, cols, dtype, kernel="block_smem", layout=layout, device=device))
            for cols in LAYOUT_COLS
        ]
        for layout in ("column", "row", "row_scalar")
    }


def pack_speeds(recording: Recording, dtype: str) -> dict[int, list[float]]:
    """Pack size -> speed at each of ``PACK_COLS``, with the kernel and block that the dispatcher takes; NaN: none."""
    device = recording.device.removeprefix("NVIDIA ")
    found: dict[int, list[float]] = {}
    for cols in PACK_COLS:
        made = plan(4096, cols, dtype, device=device)
        some = select(
            recording.tables["timings"], kernel=made.kernel, block_size=made.block_size, dtype=dtype, cols=cols,
            layout=made.layout or "",
        )  # fmt: skip
        speeds = dict(zip(some["pack_size"].tolist(), gb_per_second(some).tolist(), strict=True))
        for pack_size in (1, 2, 4, 8):
            found.setdefault(pack_size, []).append(speeds.get(pack_size, float("nan")))
    return found


def rereads(recording: Recording) -> Table:
    """Of each counted launch of the uncached kernel: block_size, dtype, cols; ``in_flight``, the bytes of the rows that
    the whole GPU works on at a time; ``dram``, bytes read from DRAM as a multiple of the input; the hit rates."""
    some = select(recording.tables["counters"], kernel="block_uncached")
    whole = [rows == rows_of(*of) for rows, *of in zip(some["rows"], some["cols"], some["dtype"], strict=True)]
    some = {name: column[whole] for name, column in some.items()}
    size = np.array([ITEM_BYTES[dtype] for dtype in some["dtype"]])
    device = recording.device.removeprefix("NVIDIA ")
    flight = []
    for block_size, dtype, cols, rows in zip(*(some[n] for n in ("block_size", "dtype", "cols", "rows")), strict=True):
        made = forced(
            int(rows), int(cols), str(dtype), kernel="block_uncached", block_size=int(block_size), device=device
        )
        blocks = min(made.occupancy.blocks_per_sm * made.device.sm_count, made.grid)
        flight.append(blocks * int(cols) * ITEM_BYTES[dtype])
    return {
        **{name: some[name] for name in ("block_size", "dtype", "cols", "l1_hit_percent", "l2_hit_percent")},
        "in_flight": np.array(flight),
        "dram": some["dram_read_bytes"] / (some["rows"] * some["cols"] * size),
    }


def achieved(recording: Recording) -> list[tuple[Plan, float, float]]:
    """(plan, theoretical, achieved occupancy in percent) of the counted launches that the dispatcher would make."""
    found = []
    counters = recording.tables["counters"]
    for k in range(len(counters["cols"])):
        made = forced(
            int(counters["rows"][k]), int(counters["cols"][k]), str(counters["dtype"][k]),
            kernel=str(counters["kernel"][k]), block_size=int(counters["block_size"][k]),
            device=recording.device.removeprefix("NVIDIA "),
        )  # fmt: skip
        natural = plan(made.rows, made.cols, made.dtype, device=made.device)
        if (natural.kernel, natural.block_size) == (made.kernel, made.block_size):
            found.append((made, 100 * made.occupancy.fraction, float(counters["achieved_occupancy_percent"][k])))
    return sorted(found, key=lambda entry: (entry[0].cols, entry[0].rows))


# The claims


@_claim("Bandwidth close to the theoretical limit, far above cuDNN")
def _bandwidth(recording: Recording) -> Iterator[Evidence]:
    ceiling = copy_gb_per_second(recording)
    shares: dict[str, list[float]] = {}
    times_cudnn = []
    for dtype in DTYPES:
        cudnn = dict(zip(*(a.tolist() for a in peer_speeds(recording, "cudnn", dtype)), strict=True))
        for made in planned(recording, dtype):
            ours = speed(recording, made)
            shares.setdefault(f"{made.kernel} {dtype}", []).append(ours / ceiling)
            times_cudnn.append(ours / cudnn[made.cols])
    every = [share for values in shares.values() for share in values]
    words = ", ".join(f"{who} {_range(values)}" for who, values in shares.items())
    yield _finding(f"the planned kernel has {CLOSE:.0%} of a device copy's speed", [s >= CLOSE for s in every], words)
    words = f"from {min(times_cudnn):.1f} to {max(times_cudnn):.1f} times cuDNN, median {np.median(times_cudnn):.1f}"
    yield _finding(f"it is {FAR_ABOVE} times as fast as cuDNN", [t >= FAR_ABOVE for t in times_cudnn], words)


@_claim("Column storage in shared memory: at least 20 %")
def _column(recording: Recording) -> Iterator[Evidence]:
    for layout in ("row", "row_scalar"):
        gains = []
        for dtype in DTYPES:
            speeds = layout_speeds(recording, dtype)
            gains += [column / other - 1 for column, other in zip(speeds["column"], speeds[layout], strict=True)]
        statement = f"column is {AT_LEAST:.0%} faster than {layout}"
        yield _finding(statement, [g >= AT_LEAST for g in gains], f"from {min(gains):+.1%} to {max(gains):+.1%}")


@_claim("Uncached: bigger blocks hit the cache more")
def _uncached(recording: Recording) -> Iterator[Evidence]:
    reads = rereads(recording)
    less, words = [], []
    for dtype in DTYPES:
        for cols in np.unique(reads["cols"][reads["dtype"] == dtype]).tolist():
            small, large = (
                float(select(reads, dtype=dtype, cols=cols, block_size=size)["dram"][0]) for size in (128, 1024)
            )
            less.append(large < small * (1 - NOISE))
            words.append(f"{cols} {dtype}: {small:.1f} to {large:.1f} inputs")
    yield _finding("blocks of 1024 read less from DRAM than blocks of 128", less, ", ".join(words))
    best = []
    for dtype in DTYPES:
        for made in planned(recording, dtype):
            if made.kernel == "block_uncached":
                speeds = {p.block_size: speed(recording, p) for p in alternatives(made, "block_uncached")}
                best.append(speeds[1024] / max(speeds.values()))
    words_ = f"blocks of 1024 have {_range(best)} of the fastest block's speed"
    yield _finding("blocks of 1024 are the fastest, or as fast", [b >= 1 - NOISE for b in best], words_, beyond=True)


@_claim("One row per warp, with shuffles, needs no shared memory or barrier")
def _warp(recording: Recording) -> Iterator[Evidence]:
    free, times = [], []
    for dtype in DTYPES:
        for made in planned(recording, dtype):
            if made.kernel == "warp":
                free.append(made.static_smem_bytes + made.smem_bytes == 0)
                times.append(speed(recording, made) / best_speed(recording, made, "block_smem"))
    yield _finding("it takes no shared memory", free, "as compiled; the emulator counts no barrier either")
    words = f"from {min(times):.2f} to {max(times):.1f} times the best block size of block_smem"
    yield _finding("it is faster than the shared-memory kernel", [t > 1 + NOISE for t in times], words, beyond=True)


@_claim("Most blocks per SM first, then the biggest block")
def _block_size(recording: Recording) -> Iterator[Evidence]:
    shares, times = [], []
    for dtype in DTYPES:
        for made in planned(recording, dtype):
            if made.kernel == "block_smem":
                ours = speed(recording, made)
                shares.append(ours / best_speed(recording, made, "block_smem"))
                times.append(ours / best_speed(recording, made, "block_uncached"))
    words = f"{_range(shares)} of the best block's speed"
    yield _finding(f"the block so chosen is within {NOISE:.0%} of the fastest", [s >= 1 - NOISE for s in shares], words)
    words = f"from {min(times):.2f} to {max(times):.2f} times the best block of block_uncached"
    yield _finding("reading the row three times is slower", [t > 1 + NOISE for t in times], words, beyond=True)


@_claim("Packs of 2 raise bandwidth")
def _packs(recording: Recording) -> Iterator[Evidence]:
    for dtype in DTYPES:
        speeds = pack_speeds(recording, dtype)
        gains = [two / one - 1 for one, two in zip(speeds[1], speeds[2], strict=True)]
        widest = np.nanmax([speeds[4], speeds[8]], axis=0) / np.array(speeds[2]) - 1
        words = (
            f"from {min(gains):+.1%} to {max(gains):+.1%}; wider packs add {widest.min():+.1%} to {widest.max():+.1%}"
        )
        yield _finding(f"{dtype}: packs of 2 are faster than packs of 1", [g > NOISE for g in gains], words)


def _finding(statement: str, true: Sequence[bool], figures: str, *, beyond: bool = False) -> Evidence:
    return Evidence(statement, sum(map(bool, true)), len(true), figures, beyond)


def _range(shares: Sequence[float]) -> str:
    return f"{min(shares):.0%} to {max(shares):.0%}"
