"""How each kind of row is measured on the GPU. It needs only NumPy and CuPy, so that it runs on a bare machine.

A method takes a :class:`Bench`, the names of the job's kernels and its parameters, and gives one value per key, in the
order of the keys. Cycles are those of the SM's clock, read in the kernel.
"""

from __future__ import annotations

import json
import statistics
import zipfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

#: Bytes of the memory that is measured, of the results and of the inputs.
MEMORY, OUT, IN = 36 << 30, 16 << 20, 32 << 20
#: Launches of which the median counts.
REPEATS = 5
#: Where the first results of kernels with results per block or line lie, in words.
BASE = 64
_DTYPES = {"r": np.uint32, "f": np.float32, "d": np.float64, "l": np.uint64, "h": np.uint16}


class Bench:
    """The GPU, its memory and the kernels of a folder that ``prepare`` wrote."""

    def __init__(self, folder: Path) -> None:
        from cupy.cuda import runtime

        self.runtime = runtime
        self.plan = json.loads((folder / "plan.json").read_text())
        self.kernels: dict[str, dict[str, Any]] = self.plan["kernels"]
        self._archive = zipfile.ZipFile(folder / "kernels.zip")
        self._modules: dict[str, Any] = {}
        self._functions: dict[str, Any] = {}
        properties = runtime.getDeviceProperties(runtime.getDevice())
        self.name, self.sms = properties["name"].decode(), int(properties["multiProcessorCount"])
        self.l2_bytes = int(properties["l2CacheSize"])
        # On a small GPU the rows that need more memory fail by themselves.
        self.memory_bytes = min(MEMORY, int(runtime.memGetInfo()[0] * 0.9))
        self.memory = runtime.malloc(self.memory_bytes)
        self.out, self.given = runtime.malloc(OUT), runtime.malloc(IN)
        self.mhz = 0.0

    def function(self, name: str) -> Any:
        """A kernel, loaded."""
        if name not in self._functions:
            self._functions[name] = self._loaded(name, self._archive.read(name))
        return self._functions[name]

    def _loaded(self, name: str, cubin: bytes) -> Any:
        from cupy.cuda.function import Module

        module = self._modules[name] = Module()
        module.load(cubin)
        return module.get_function(self.kernels[name]["entry"])

    def launch(self, name: str, grid: int, threads: int, *, rounds: int = 0, mode: int = 0, p0: int = 0, p1: int = 0,
               smem: int = 0) -> None:  # fmt: skip
        """Queue one launch."""
        numbers = [np.uint32(number) for number in (rounds, mode, p0, p1)]
        addresses = [np.uint64(address) for address in (self.out, self.given, self.memory)]
        function = self.function(name)
        if smem > 48 << 10:
            from cupy.cuda import driver

            driver.funcSetAttribute(function.ptr, 8, smem)  # CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
        function((grid, 1, 1), (threads, 1, 1), (*addresses, *numbers), smem)

    def wait(self) -> None:
        """Wait for the GPU."""
        self.runtime.deviceSynchronize()

    def words(self, count: int, first: int = 0) -> np.ndarray:
        """Words of the results, (count,) uint32, when all launches are done."""
        host = np.empty(count, np.uint32)
        self.wait()
        self.runtime.memcpy(host.ctypes.data, self.out + 4 * first, host.nbytes, 2)
        return host

    def give(self, host: np.ndarray, offset: int = 0) -> None:
        """Copy an array to the inputs."""
        host = np.ascontiguousarray(host)
        self.wait()
        self.runtime.memcpy(self.given + offset, host.ctypes.data, host.nbytes, 1)

    def give_operands(self, name: str) -> None:
        """Operands a and b of the kernel's type, c = 0, and the first values of its streams."""
        kinds = [_DTYPES[self.kernels[name][what]] for what in ("operand", "kind")]
        rng = np.random.default_rng(1)
        for offset, dtype, count in ((0, kinds[0], 3072), (65536, kinds[1], 8 * 1024)):
            if np.issubdtype(dtype, np.floating):
                values = (1 + rng.random(count) / 1024).astype(dtype)
            else:
                values = rng.integers(1, 1 << 15, count).astype(dtype)
            values[2048:3072] = values[2048:3072] * (offset != 0)
            self.give(values, offset)
        self.runtime.memset(self.memory, 0, 1 << 20)

    def constants(self, name: str, table: np.ndarray) -> None:
        """Load the kernel with other constants: its table is a part of its cubin."""
        at = self.kernels[name]["constants"]
        cubin, given = self._archive.read(name), table.astype(np.uint32).tobytes()
        self.wait()
        self._functions[name] = self._loaded(name, cubin[:at] + given + cubin[at + len(given) :])

    def links(self, offsets: np.ndarray) -> None:
        """Make each place of the memory hold the address of the next one, and the last one that of the first."""
        pairs = np.stack([offsets, np.roll(offsets, -1)], 1).astype(np.uint64)
        self.give(pairs)
        self.launch("links", 64, 256, rounds=len(offsets))
        self.wait()

    def flush(self) -> None:
        """Overwrite 512 MiB at the end of the memory: what L2 held is gone."""
        start = self.memory
        self.memory = start + self.memory_bytes - (512 << 20)
        self.launch("flush", 4 * self.sms, 512, p0=512 << 10)
        self.memory = start
        self.wait()

    def microseconds(self, queue: Callable[[], None], repeats: int = REPEATS) -> float:
        """The median time between two events around what ``queue`` launches."""
        return statistics.median([self.once(queue) for _ in range(repeats + 1)][1:])

    def once(self, queue: Callable[[], None]) -> float:
        """Microseconds between two events around what ``queue`` launches on the current stream."""
        from cupy.cuda import Event, get_elapsed_time

        start, stop = Event(), Event()
        start.record()
        queue()
        stop.record()
        stop.synchronize()
        return 1000.0 * float(get_elapsed_time(start, stop))

    def megahertz(self) -> float:
        """The SM's clock now, from 5 million cycles against the GPU's timer."""
        self.launch("frequency", 1, 32, rounds=5_000_000)
        cycles, nanoseconds = self.words(4).view(np.uint64)
        self.mhz = float(cycles) / float(nanoseconds) * 1e3
        return self.mhz


Parameters = dict[str, Any]


def _how(parameters: Parameters, *names: str) -> Parameters:
    return {name: parameters[name] for name in (*names, "p0", "p1", "smem") if name in parameters}


def _middle(values: Sequence[float]) -> float:
    return float(statistics.median(values))


def chain(bench: Bench, kernels: Sequence[str], parameters: Parameters) -> list[float]:
    """Cycles per step of a dependent chain: the slowest warp of the block."""
    (name,) = kernels
    bench.give_operands(name)
    threads = parameters.get("threads", 32)
    found = []
    for _ in range(REPEATS):
        bench.launch(name, 1, threads, rounds=4, **_how(parameters))
        short, long = bench.words(4 * (threads // 32)).reshape(-1, 4)[:, :2].T.astype(np.int64)
        found.append(float((long - short).max()) / bench.kernels[name]["count"])
    return [_middle(found)]


def stream(bench: Bench, kernels: Sequence[str], parameters: Parameters) -> list[float]:
    """Cycles per step of independent streams: ``per`` scheduler, SM or GPU."""
    (name,) = kernels
    bench.give_operands(name)
    warps, grid = parameters["warps"], parameters.get("grid", 1)
    grid = bench.sms if grid == "sms" else grid
    blocks = max(1, warps // 32)
    if blocks > 1:
        grid = blocks * bench.sms
    threads = 32 * (warps // blocks)
    # The second block of an SM starts later, so that two of them need a longer run.
    rounds = 16 if parameters["per"] != "scheduler" else 32 if blocks == 1 else 256
    found = []
    for _ in range(REPEATS):
        spans = []
        for mode in (0, 1):
            bench.launch(name, grid, threads, rounds=rounds, mode=mode, **_how(parameters))
            results = bench.words(4 * grid * threads // 32).reshape(-1, 4)
            spans.append(_span(results, blocks))
        steps = rounds * bench.kernels[name]["count"]
        found.append((spans[1] - spans[0]) / steps)
    if parameters["per"] == "scheduler":
        return [_middle(found) / (warps / 4)]
    total = warps if parameters["per"] == "sm" else warps * grid
    return [_middle(found) / total]


def _span(results: np.ndarray, blocks: int) -> float:
    """From the first clock of an SM to its last, the median of the SMs that ran ``blocks`` blocks together."""
    spans = []
    for sm in np.unique(results[:, 0]):
        _, begin, end = results[results[:, 0] == sm][:, :3].T
        first = begin[0]
        since = (begin - first).astype(np.int32)
        until = (end - first).astype(np.int32)
        spans.append(float(until.max() - since.min()))
    return _middle(spans)


def slope(bench: Bench, kernels: Sequence[str], parameters: Parameters) -> list[float]:
    """Cycles per round from two numbers of rounds; with ``bytes`` the bytes per cycle of a block."""
    (name,) = kernels
    grid, threads = parameters.get("grid", 1), parameters.get("threads", 32)
    found = []
    for _ in range(REPEATS):
        spans = []
        for rounds in parameters["rounds"]:
            bench.launch(name, grid, threads, rounds=rounds, **_how(parameters, "mode"))
            bench.launch(name, grid, threads, rounds=rounds, **_how(parameters, "mode"))
            spans.append(float(bench.words(1)[0]))
        less, more = parameters["rounds"]
        found.append((spans[1] - spans[0]) / (more - less))
    cycles = _middle(found)
    return [parameters["bytes"] / cycles if "bytes" in parameters else cycles / parameters.get("divisor", 1)]


def single(bench: Bench, kernels: Sequence[str], parameters: Parameters) -> list[float]:
    """The result of one launch over a divisor."""
    found = []
    for _ in range(REPEATS):
        bench.launch(kernels[0], 1, 32)
        found.append(float(bench.words(1)[0]) / parameters["divisor"])
    return [_middle(found)]


def branches(bench: Bench, kernels: Sequence[str], parameters: Parameters) -> list[float]:
    """Cycles of a branch, without the 32 IMAD of 4 cycles each that it is over, where they run."""
    bench.give(np.zeros(4, np.uint32))
    found = []
    for _ in range(REPEATS):
        bench.launch(kernels[0], 1, 32, rounds=4, mode=parameters["mode"], p1=3)
        found.append(float(bench.words(1)[0]) / 16 - (0 if parameters["mode"] == 1 else 128))
    return [_middle(found)]
