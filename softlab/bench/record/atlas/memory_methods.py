"""How the rows of memory, of code and of launches are measured. It needs only NumPy and CuPy."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np

from softlab.bench.record.atlas.methods import BASE, REPEATS, Bench, Parameters, _middle, _span

#: Bytes of a line, of a page, and of the region that a block of `loaded` has for its links.
LINE, PAGE, LINKED = 128, 2 << 20, 128 << 10
#: MiB behind which the links of `loaded` lie: beyond the region that it streams.
LINKS_AT = 5120
_ONE = 0x3F800000
#: Cycles from which a load is taken to have missed L2.
MISS = 520.0


def _followed(bench: Bench, kernel: str, offsets: np.ndarray, rounds: int, sm: int = 0) -> float:
    """Cycles of 16 * rounds links, from the first offset on, followed by a thread of an SM."""
    bench.launch(kernel, bench.sms, 32, rounds=rounds, mode=sm, p0=int(offsets[0]) // 8)
    return float(bench.words(1)[0])


def _per_link(bench: Bench, kernel: str, offsets: np.ndarray, steps: int) -> float:
    """Cycles per link, in the caches that the ring of offsets fits into.

    Of a long ring each measurement takes other links, so that none of them is in a cache from the one before it.
    """
    bench.links(offsets)
    rounds = max(4, steps // 16)
    _followed(bench, kernel, offsets, len(offsets) // 16 + 1)
    found = []
    for k in range(REPEATS):
        if len(offsets) >= 2 * REPEATS * 16 * rounds:
            found.append(_followed(bench, kernel, offsets[2 * k * 16 * rounds :], rounds) / (16 * rounds))
            continue
        spans = [_followed(bench, kernel, offsets, k * rounds) for k in (1, 2)]
        found.append((spans[1] - spans[0]) / (16 * rounds))
    return _middle(found)


def chase(bench: Bench, kernels: Sequence[str], parameters: Parameters) -> list[float]:
    """Cycles per link of a ring of lines in random order."""
    nbytes = parameters["kib"] << 10
    lines = np.random.default_rng(2).permutation(nbytes // LINE)
    return [_per_link(bench, kernels[0], lines.astype(np.uint64) * np.uint64(LINE), min(len(lines), 8192))]


def near_and_far(bench: Bench, kernels: Sequence[str], parameters: Parameters) -> list[float]:
    """Latencies of SM 0: of the nearer and the farther half of 4 MiB of lines, of all of them, and the farther share;
    and of the lines in either partition of L2, where more lines are used than one partition holds.

    Lines of the other partition that this SM reads again and again come from a copy in its own partition, as long as
    there is room. So the partitions show only beyond half of L2.
    """
    count, pitch = 2048, 17 * LINE
    bench.runtime.memset(bench.memory, 0, count * pitch)
    bench.launch("lines", bench.sms, 32, rounds=4, mode=0, p0=count, p1=pitch)
    spent = bench.words(count, BASE).astype(float)
    low, high = np.percentile(spent, [5, 95])
    far = spent > (low + high) / 2
    order = np.random.default_rng(3).permutation(count)
    found = []
    for chosen in (order[~far[order]], order[far[order]], order):
        offsets = chosen.astype(np.uint64) * np.uint64(pitch)
        found.append(_per_link(bench, "chase_cg", offsets, min(len(offsets), 1024)))
    clock = float(np.median(spent)) - found[2]
    return [*found, float(far.mean()), *_partitions(bench, clock)]


def _partitions(bench: Bench, clock: float) -> list[float]:
    """Latency of hits in the near and in the far partition, and the share of far ones: 0.7 of L2, read twice in order.

    ``clock``: cycles that a load and two reads of the clock take more than a load.
    """
    count = int(0.7 * bench.l2_bytes) // LINE
    bench.runtime.memset(bench.memory, 0, count * LINE)
    bench.launch("lines", bench.sms, 32, rounds=2, mode=0, p0=count, p1=LINE)
    spent = bench.words(count, BASE).astype(float) - clock
    hits = spent[spent < MISS]
    low, high = np.percentile(hits, [1, 99])
    borders = np.linspace(float(low), float(high), 200)[1:-1]
    between = [(hits < b).mean() * (hits >= b).mean() * _apart(hits, b) ** 2 for b in borders]
    border = borders[int(np.argmax(between))]
    return [
        float(np.median(hits[hits < border])),
        float(np.median(hits[hits >= border])),
        float((hits >= border).mean()),
    ]


def _apart(values: np.ndarray, border: float) -> float:
    low, high = values[values < border], values[values >= border]
    return float(high.mean() - low.mean()) if len(low) and len(high) else 0.0


def dram(bench: Bench, kernels: Sequence[str], parameters: Parameters) -> list[float]:
    """Cycles of a load that misses L2 and hits the TLB, on an idle GPU."""
    rng = np.random.default_rng(4)
    pages, count = 8, 2048
    found = []
    for _ in range(REPEATS):
        start = int(rng.integers(512, 4096)) * PAGE
        lines = rng.choice(pages * PAGE // LINE, 2 * count, replace=False)
        lines = lines[lines % (PAGE // LINE) >= 8][:count].astype(np.uint64)
        offsets = np.uint64(start) + lines * np.uint64(LINE)
        bench.links(offsets)
        bench.flush()
        _touch(bench, start, pages)
        found.append(_followed(bench, "chase_cg", offsets, count // 16) / count)
    return [_middle(found)]


def _touch(bench: Bench, start: int, pages: int) -> None:
    """Read the first sectors of some pages from every SM, so that their translations are cached."""
    base = bench.memory
    bench.memory = base + start
    bench.launch("pages", bench.sms, 32, p0=pages, p1=PAGE >> 10)
    bench.memory = base
    bench.wait()


def tlb(bench: Bench, kernels: Sequence[str], parameters: Parameters) -> list[float]:
    """Cycles per link of a ring with one line per page, whose lines are in L2."""
    pages = (parameters["mib"] << 20) // PAGE
    if parameters["mib"] << 20 > bench.memory_bytes:
        raise ValueError(f"{parameters['mib']} MiB are not there")
    order = np.random.default_rng(5).permutation(pages).astype(np.uint64)
    offsets = order * np.uint64(PAGE) + (order * np.uint64(37) % np.uint64(PAGE // LINE)) * np.uint64(LINE)
    return [_per_link(bench, "chase_cg", offsets, max(1024, pages))]


def bandwidth(bench: Bench, kernels: Sequence[str], parameters: Parameters) -> list[float]:
    """Bytes per cycle from launches of n and of 2n rounds: of the GPU, or with ``per_sm`` of one SM."""
    warps, blocks = parameters["warps"], parameters.get("blocks", 1)
    grid = blocks * parameters.get("sms", bench.sms)
    moved = parameters["bytes"] * warps * grid
    rounds = max(8, (parameters["mib"] << 20) // moved)
    how = {name: parameters[name] for name in ("mode", "p0", "p1") if name in parameters}
    spans = []
    for k in (1, 2):
        launch = partial(bench.launch, kernels[0], grid, 32 * warps, rounds=k * rounds, **how)
        spans.append(bench.microseconds(launch))
    cycles = (spans[1] - spans[0]) * bench.megahertz()
    return [moved * rounds / cycles / (bench.sms if "per_sm" in parameters else 1)]


def loaded(bench: Bench, kernels: Sequence[str], parameters: Parameters) -> list[float]:
    """Latency of a load beside warps that stream, and the bytes per cycle that these move, of the GPU."""
    rng, lines = np.random.default_rng(6), LINKED // LINE
    rings = []
    for block in range(bench.sms):
        order = np.concatenate([[0], 1 + rng.permutation(lines - 1)]).astype(np.uint64)
        ring = np.uint64((LINKS_AT << 20) + block * LINKED) + order * np.uint64(LINE)
        rings.append(np.stack([ring, np.roll(ring, -1)], 1))
    pairs = np.concatenate(rings)
    bench.give(pairs)
    bench.launch("links", 64, 256, rounds=len(pairs))
    rounds, latencies, speeds = 4, [], []
    for _ in range(REPEATS):
        if parameters["cold"]:
            bench.flush()
        bench.launch(kernels[0], bench.sms, 32 * (parameters["warps"] + 1), rounds=rounds, p0=parameters["kib"],
                     p1=LINKS_AT)  # fmt: skip
        cycles, packs = bench.words(4 * bench.sms, BASE).reshape(-1, 4)[:, :2].T.astype(float)
        latencies.append(float(np.median(cycles)) / (64 * rounds))
        speeds.append(float((packs * 512 / (cycles * (rounds + 1) / rounds)).sum()))
    return [_middle(latencies), _middle(speeds)]


def constants(bench: Bench, kernels: Sequence[str], parameters: Parameters) -> list[float]:
    """Cycles per LDC that needs the one before it, in random order over some KiB of constants, 64 bytes apart."""
    count = (parameters["kib"] << 10) // 64
    order = np.random.default_rng(7).permutation(count)
    table = np.zeros(16384, np.uint32)
    table[order * 16] = np.roll(order, -1) * 64
    bench.constants(kernels[0], table)
    found = []
    for _ in range(REPEATS):
        spans = []
        for rounds in (2 * max(count // 8, 8), 4 * max(count // 8, 8)):
            bench.launch(kernels[0], 1, 32, rounds=rounds, p0=int(order[0]) * 64)
            spans.append((rounds, float(bench.words(1)[0])))
        found.append((spans[1][1] - spans[0][1]) / (spans[1][0] - spans[0][0]) / 8)
    return [_middle(found)]


def constant_stream(bench: Bench, kernels: Sequence[str], parameters: Parameters) -> list[float]:
    """Cycles per LDC of an SM."""
    bench.constants(kernels[0], np.arange(16384, dtype=np.uint32) * np.uint32(4))
    warps = parameters["warps"]
    found = []
    for _ in range(REPEATS):
        spans = []
        for rounds in (8, 24):
            bench.launch(kernels[0], 1, 32 * warps, rounds=rounds)
            spans.append(_span(bench.words(4 * warps).reshape(-1, 4), 1))
        found.append((spans[1] - spans[0]) / (16 * 64 * warps))
    return [_middle(found)]


def cold_constants(bench: Bench, kernels: Sequence[str], parameters: Parameters) -> list[float]:
    """Cycles of LDC and IMAD: of a constant that is read for the first time, and of one that is cached."""
    bench.constants(kernels[0], np.zeros(16384, np.uint32))
    cold, warm = [], []
    for _ in range(REPEATS):
        bench.launch(kernels[1], 1, 32, rounds=1, p0=128, p1=_ONE)
        bench.launch(kernels[0], 1, 32, rounds=3)
        first, _, last = bench.words(3, BASE).astype(float)
        cold.append(first / 24)
        warm.append(last / 24)
    return [_middle(cold), _middle(warm)]


def code_loop(bench: Bench, kernels: Sequence[str], parameters: Parameters) -> list[float]:
    """Cycles per instruction of a loop over some chunks of code."""
    chunks = parameters["chunks"]
    found = []
    for _ in range(REPEATS):
        bench.launch(kernels[0], 1, 32 * parameters.get("warps", 1), rounds=6, p0=chunks, p1=_ONE)
        found.append(float(bench.words(2, BASE)[1]) / (128 * chunks))
    return [_middle(found)]


def cold_code(bench: Bench, kernels: Sequence[str], parameters: Parameters) -> list[float]:
    """Cycles per 128 bytes of code that runs for the first time: its lines in L2, in DRAM; and the third time."""
    chunks, grid = parameters["chunks"], parameters["grid"]
    results, warm = [], []
    for flushed in (False, True):
        found = []
        for _ in range(REPEATS):
            bench.launch(kernels[1], bench.sms, 32, rounds=1, p0=128, p1=_ONE)
            if flushed:
                bench.flush()
            bench.launch(kernels[0], grid, 32, rounds=3, p0=chunks, p1=_ONE)
            first, last = bench.words(4 * grid, BASE).reshape(-1, 4)[:, :2].T.astype(float)
            found.append(float(np.median(first)) / (16 * chunks))
            warm.append(float(np.median(last)) / (16 * chunks))
        results.append(_middle(found))
    return [*results, _middle(warm)]


def graph(bench: Bench, kernels: Sequence[str], parameters: Parameters) -> list[float]:
    """Microseconds per launch of a graph of 200 launches in a row."""
    from cupy.cuda import Stream

    count = 200
    bench.function(kernels[0])
    with Stream(non_blocking=True) as stream:
        stream.begin_capture()
        for _ in range(count):
            bench.launch(kernels[0], parameters["grid"], parameters["threads"])
        recorded = stream.end_capture()
        return [bench.microseconds(lambda: recorded.launch(stream)) / count]


def block_interval(bench: Bench, kernels: Sequence[str], parameters: Parameters) -> list[float]:
    """Cycles of the whole GPU per empty block, from grids of 64 and of 192 blocks per SM."""
    spans = []
    for blocks in (64, 192):
        launch = partial(bench.launch, kernels[0], blocks * bench.sms, parameters["threads"])
        spans.append(bench.microseconds(launch, 15))
    return [(spans[1] - spans[0]) * bench.megahertz() / (128 * bench.sms)]


def turnaround(bench: Bench, kernels: Sequence[str], parameters: Parameters) -> list[float]:
    """Cycles from the end of a block to the begin of the next one on its SM, which holds one block."""
    grid, found = 6 * bench.sms, []
    for _ in range(REPEATS):
        bench.launch(kernels[0], grid, parameters["threads"], rounds=4000, smem=parameters["smem"])
        rows = bench.words(4 * grid, BASE).reshape(-1, 4)[:, :3]
        for sm in np.unique(rows[:, 0]):
            begin, end = rows[rows[:, 0] == sm, 1:].T
            order = np.argsort((begin - begin[0]).astype(np.int32))
            found += (begin[order][1:] - end[order][:-1]).astype(np.int32).tolist()
    return [_middle(found)]


def first_touch(bench: Bench, kernels: Sequence[str], parameters: Parameters) -> list[float]:
    """Microseconds of a launch whose SMs all read some pages: not used for long, and used just before."""
    pages, others = parameters["pages"], min(16384, bench.memory_bytes // PAGE - 1)
    read = partial(bench.launch, kernels[0], bench.sms, 256, p0=pages, p1=PAGE >> 10)
    cold: list[float] = []
    warm: list[float] = []
    for _ in range(REPEATS):
        bench.launch(kernels[0], bench.sms, 256, p0=others, p1=PAGE >> 10)
        for spans in (cold, warm):
            bench.launch("frequency", 1, 32, rounds=200_000)  # meanwhile the host queues the launch
            spans.append(bench.once(read))
    return [_middle(cold), _middle(warm)]
