"""``softlab doctor``: what this machine has, what each missing part costs, and how to get it.

Nothing is guessed from names: the compiler compiles a kernel with CUB, the emulator runs a softmax, the cache folder is
written to. Each check is one registered function; none of them raises.
"""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Finding:
    """One part that softlab uses.

    ``present`` is whether it works; ``detail`` what was found (a version, a path) or why it does not work. ``cost`` is
    what cannot be done without it and ``remedy`` how to get it, both "" where the part is present. Without an
    ``essential`` part no lesson runs.
    """

    name: str
    present: bool
    detail: str
    cost: str = ""
    remedy: str = ""
    essential: bool = False


@dataclass(frozen=True)
class _Part:
    """A part to look for: ``probe`` returns what was found, or raises ``_Missing``."""

    name: str
    probe: Callable[[], str]
    cost: str
    remedy: str
    essential: bool


class _Missing(Exception):
    """Raised by a probe: why the part is missing, or cannot be used."""


_PARTS: list[_Part] = []


def _part(name: str, *, cost: str, remedy: str, essential: bool = False):
    def register(probe: Callable[[], str]) -> Callable[[], str]:
        _PARTS.append(_Part(name, probe, cost, remedy, essential))
        return probe

    return register


def examine() -> tuple[Finding, ...]:
    """Look at every part, in the order in which they build on each other. Takes a few seconds; raises nothing."""
    return tuple(_examined(part) for part in _PARTS)


def _examined(part: _Part) -> Finding:
    try:
        return Finding(part.name, True, part.probe(), essential=part.essential)
    except Exception as error:  # a broken driver or library raises what it likes; the report is for just that machine
        detail = str(error) if isinstance(error, _Missing) else f"{type(error).__name__}: {error}"
        return Finding(part.name, False, " ".join(detail.split()), part.cost, part.remedy, part.essential)


def exit_status(findings: Iterable[Finding]) -> int:
    """1 when an essential part is missing, else 0."""
    return int(any(finding.essential and not finding.present for finding in findings))


def to_json(findings: Iterable[Finding]) -> str:
    """The findings as a JSON list of objects, one field for each of :class:`Finding`."""
    import json

    return json.dumps([asdict(finding) for finding in findings], indent=2)


def render(findings: Iterable[Finding], *, width: int | None = None) -> str:
    """The findings as text, one part a paragraph; ``width`` in columns, default the terminal's (at most 100)."""
    import textwrap

    findings = tuple(findings)
    width = width or min(shutil.get_terminal_size((100, 24)).columns, 100)
    label = max((len(finding.name) for finding in findings), default=0)
    indent = " " * (label + 12)
    lines: list[str] = []
    for finding in findings:
        state = "ok" if finding.present else "MISSING" if finding.essential else "missing"
        head = f"{state:8}  {finding.name:{label}}  "
        texts = [finding.detail]
        if not finding.present:
            texts += [f"Costs: {finding.cost}", f"To get it: {finding.remedy}"]
        for number, text in enumerate(texts):
            # A path or a command stays whole, even when it is wider than the terminal: it is there to be copied.
            lines += textwrap.wrap(
                text,
                width,
                initial_indent=head if number == 0 else indent,
                subsequent_indent=indent,
                break_long_words=False,
                break_on_hyphens=False,
            ) or [head.rstrip()]
    missing = [finding for finding in findings if not finding.present]
    essential = [finding.name for finding in missing if finding.essential]
    if essential:
        lines += ["", f"Essential and missing: {', '.join(essential)}. The lessons do not run."]
    elif missing:
        lines += ["", "The lessons run here. What is missing only takes away what its line says."]
    else:
        lines += ["", "Everything is here."]
    return "\n".join(lines)


def chromium() -> Path | None:
    """A Chromium or Chrome that can be driven: on the PATH, in its usual macOS place, or Playwright's own download."""
    names = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
    for name in names:
        if found := shutil.which(name):
            return Path(found)
    for application in ("Chromium", "Google Chrome"):
        path = Path(f"/Applications/{application}.app/Contents/MacOS/{application}")
        if path.exists():
            return path
    if importlib.util.find_spec("playwright"):
        from playwright.sync_api import sync_playwright

        with sync_playwright() as playwright:
            path = Path(playwright.chromium.executable_path)
        if path.exists():
            return path
    return None


# What the parts are --------------------------------------------------------------------------------------------------


@_part(
    "Python", cost="softlab does not start.", remedy="Python 3.11 or newer, from python.org or conda.", essential=True
)
def _python() -> str:
    return f"{'.'.join(map(str, sys.version_info[:3]))}, {sys.executable}"


@_part("NumPy", cost="nothing runs.", remedy="pip install softlab", essential=True)
def _numpy() -> str:
    import numpy

    return numpy.__version__


@_part(
    "CuPy",
    cost="no GPU runs, and no compiler: NVRTC is reached through CuPy, with or without a GPU.",
    remedy="pip install 'softlab[cuda12]' (or 'softlab[cuda13]'; not both). There is none for macOS.",
    essential=True,
)
def _cupy() -> str:
    import cupy

    return cupy.__version__


@_part(
    "NVRTC",
    cost="no kernel can be compiled, so none can be run, not even in the emulator.",
    remedy="pip install 'softlab[cuda12]'. It needs no GPU and no driver.",
    essential=True,
)
def _nvrtc() -> str:
    from softlab import compile as compiler

    known = compiler.supported_architectures()
    return f"{compiler.nvrtc_version()}, compiles for {known[0]} to {known[-1]}"


@_part(
    "nvdisasm",
    cost="no machine code to look at (SASS), and counters speak of the PTX where the assembler changed an access.",
    remedy="pip install nvidia-cuda-nvdisasm (it is part of 'softlab[cuda12]').",
)
def _nvdisasm() -> str:
    from softlab.disassembly import find_nvdisasm

    path = find_nvdisasm()
    if path is None:
        raise _Missing("none found")
    return f"{_first_line(str(path), '--version', last=True) or 'version unknown'}, {path}"


_PROBE_KERNEL = """\
#include <cuda_fp16.h>
#include <cub/block/block_reduce.cuh>

extern "C" __global__ void probe(const __half* x, float* y) {
  using Reduce = cub::BlockReduce<float, 32>;
  __shared__ typename Reduce::TempStorage storage;
  float sum = Reduce(storage).Sum(__half2float(x[threadIdx.x]));
  if (threadIdx.x == 0) *y = sum;
}
"""


@_part(
    "CUDA headers, CUB",
    cost="softlab's kernels cannot be compiled; a kernel of your own that includes nothing can.",
    remedy="pip install 'softlab[cuda12]': CUB comes in CuPy's wheel, cuda_fp16.h in nvidia-cuda-runtime-cu12.",
    essential=True,
)
def _headers() -> str:
    from softlab import compile as compiler
    from softlab.errors import CompileError

    try:
        # Without the cache: an old entry would say that headers are here which have gone since.
        program = compiler.compile_program(_PROBE_KERNEL, "probe", file="probe.cu", cache=False)
    except CompileError as error:
        errors = [line for line in str(error).splitlines() if "error" in line]
        raise _Missing(errors[0] if errors else str(error)) from None
    return f"a block sum of halves compiles for {program.arch}, {program.registers} registers a thread"


@_part(
    "Cache folder",
    cost="each kernel is compiled anew in every session: 0.3 to 3 s each.",
    remedy="make the folder writable, or name another one in XDG_CACHE_HOME.",
)
def _cache() -> str:
    from softlab import compile as compiler

    folder = compiler.cache_folder()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        raise _Missing(f"{folder}: {error.strerror or error}") from None
    return str(folder)


@_part(
    "Emulator",
    cost="no kernel runs without a GPU.",
    remedy="first what is missing above; else it is a fault of softlab: please report it with this output.",
    essential=True,
)
def _emulator() -> str:
    import numpy as np

    _check_softmax(np)
    return "runs a softmax, and the result is right"


def _check_softmax(array_module: Any) -> None:
    """The softmax of equal numbers is 1 / cols by symmetry, exactly so for a power of two."""
    import softlab

    y = softlab.softmax(array_module.full((2, 64), 3.0, "float32"))
    if not bool((y == 1 / 64).all()):
        raise _Missing(f"the softmax of 64 equal numbers came out as {float(y[0, 0])!r}, not 1/64")


@_part(
    "NVIDIA driver",
    cost="no runs and no timings on a GPU. The emulator runs every lesson.",
    remedy="on a machine with an NVIDIA GPU: the driver from nvidia.com or the distribution.",
)
def _driver() -> str:
    import ctypes

    try:
        library = ctypes.CDLL("nvcuda.dll" if os.name == "nt" else "libcuda.so.1")
    except OSError:
        raise _Missing("no driver library") from None
    number = ctypes.c_int()
    if status := library.cuDriverGetVersion(ctypes.byref(number)):
        raise _Missing(f"the driver library answers with error {status}")
    supports = f"supports CUDA {number.value // 1000}.{number.value % 1000 // 10}"
    release = _first_line("nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader")
    return f"{release}, {supports}" if release else supports


@_part(
    "GPU",
    cost="as without a driver.",
    remedy="an NVIDIA GPU and its driver; where both are, CUDA_VISIBLE_DEVICES may hide the GPU.",
)
def _gpu() -> str:
    import cupy
    from cupy.cuda import runtime

    try:
        count = runtime.getDeviceCount()
    except runtime.CUDARuntimeError as error:
        raise _Missing(str(error)) from None
    if not count:
        raise _Missing("the driver shows none")
    found = []
    for index in range(count):
        properties = runtime.getDeviceProperties(index)
        memory = properties["totalGlobalMem"] / 2**30
        found.append(
            f"{properties['name'].decode()} (sm_{properties['major']}{properties['minor']}, "
            f"{properties['multiProcessorCount']} SMs, {memory:.0f} GiB)"
        )
    _check_softmax(cupy)
    return "; ".join(found) + "; runs a softmax, and the result is right"


@_part(
    "Nsight Compute",
    cost="counters cannot be compared with this machine's hardware.",
    remedy="ncu, from NVIDIA's CUDA toolkit; of use only with a GPU.",
)
def _ncu() -> str:
    path = shutil.which("ncu")
    if not path:
        raise _Missing("no ncu on the PATH")
    return f"{_first_line('ncu', '--version', last=True) or 'version unknown'}, {path}"


def _package(name: str, *, cost: str, remedy: str) -> None:
    def probe() -> str:
        try:
            return version(name)
        except PackageNotFoundError:
            raise _Missing("not installed") from None

    _part(name, cost=cost, remedy=remedy)(probe)


_LAB = "pip install 'softlab[lab]', or `make lab` in a checkout."
_package("jupyterlab", cost="the notebooks cannot be opened with `softlab lab`.", remedy=_LAB)
_package("ipywidgets", cost="no sliders and switches: the explorers do not start.", remedy=_LAB)
_package("plotly", cost="no charts.", remedy=_LAB)
_package("anywidget", cost="no diagrams (lane by bank, butterfly).", remedy=_LAB)


@_part(
    "Chromium",
    cost="the browser tests and `make screenshots` cannot run. The lessons run in any browser.",
    remedy="apt-get install chromium, or `playwright install chromium`. For developers only.",
)
def _chromium() -> str:
    path = chromium()
    if path is None:
        raise _Missing("none found")
    return f"{_first_line(str(path), '--version') or 'version unknown'}, {path}"


def _first_line(*command: str, last: bool = False) -> str:
    """The first (or last) line that a command prints; "" when it cannot be run or fails."""
    options: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL, "stdin": subprocess.DEVNULL}
    try:
        done = subprocess.run(command, timeout=20, text=True, check=True, **options)
    except (OSError, subprocess.SubprocessError):
        return ""
    lines = done.stdout.strip().splitlines()
    return lines[-1 if last else 0].strip() if lines else ""
