"""``softlab doctor``: what this machine has, what you lose without each missing part, and how to get it.

Each check tries the part: the compiler compiles a kernel with CUB, the emulator runs a softmax, a file is written to
the cache folder. A check is one registered function. No error of a check leaves ``examine``.
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
class Diagnosis:
    """One part that softlab uses.

    present: whether it works; detail: what was found (a version, a path) or why it does not work; cost: what you cannot
    do without it; remedy: how to get it (both "" where the part is present); essential: no lesson runs without it.
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
    """A probe raises it: why the part is missing or does not work."""


_PARTS: list[_Part] = []


def _part(name: str, *, cost: str, remedy: str, essential: bool = False):
    def register(probe: Callable[[], str]) -> Callable[[], str]:
        _PARTS.append(_Part(name, probe, cost, remedy, essential))
        return probe

    return register


def examine() -> tuple[Diagnosis, ...]:
    """Check every part; a part comes after those that it needs. Takes a few seconds and raises nothing."""
    return tuple(_examined(part) for part in _PARTS)


def _examined(part: _Part) -> Diagnosis:
    try:
        return Diagnosis(part.name, True, part.probe(), essential=part.essential)
    except Exception as error:  # a broken driver may raise anything, and the report has to be complete
        detail = str(error) if isinstance(error, _Missing) else f"{type(error).__name__}: {error}"
        return Diagnosis(part.name, False, " ".join(detail.split()), part.cost, part.remedy, part.essential)


def exit_status(findings: Iterable[Diagnosis]) -> int:
    """1 when an essential part is missing, else 0."""
    return int(any(finding.essential and not finding.present for finding in findings))


def to_json(findings: Iterable[Diagnosis]) -> str:
    """The findings as a JSON list of objects with the fields of :class:`Diagnosis`."""
    import json

    return json.dumps([asdict(finding) for finding in findings], indent=2)


def render(findings: Iterable[Diagnosis], *, width: int | None = None) -> str:
    """The findings as text, one paragraph per part. width: in characters (default: the terminal's, at most 100)."""
    findings = tuple(findings)
    width = width or min(shutil.get_terminal_size((100, 24)).columns, 100)
    label = max((len(finding.name) for finding in findings), default=0)
    lines = [line for finding in findings for line in _paragraph(finding, label, width)]
    return "\n".join([*lines, "", _summary(findings)])


def _paragraph(finding: Diagnosis, label: int, width: int) -> list[str]:
    """The lines of one part; ``label``: the width of the column of names."""
    import textwrap

    state = "ok" if finding.present else "MISSING" if finding.essential else "missing"
    head, indent = f"{state:8}  {finding.name:{label}}  ", " " * (label + 12)
    texts = [finding.detail]
    if not finding.present:
        texts += [f"Without it: {finding.cost}", f"To get it: {finding.remedy}"]
    lines: list[str] = []
    for number, text in enumerate(texts):
        # A path or a command is there to be copied, so it stays whole even where it is wider than the terminal.
        lines += textwrap.wrap(
            text,
            width,
            initial_indent=head if number == 0 else indent,
            subsequent_indent=indent,
            break_long_words=False,
            break_on_hyphens=False,
        ) or [head.rstrip()]
    return lines


def _summary(findings: Iterable[Diagnosis]) -> str:
    """The last line: whether the lessons run."""
    missing = [finding for finding in findings if not finding.present]
    essential = [finding.name for finding in missing if finding.essential]
    if essential:
        return f"Essential and missing: {', '.join(essential)}. The lessons do not run."
    if missing:
        return "The lessons run here. Without the missing parts you lose only what their lines say."
    return "Everything is here."


def chromium() -> Path | None:
    """A Chromium or Chrome that can be driven: on the PATH, in its usual macOS folder, or Playwright's own download."""
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


# The parts --------------------------------------------------------------------------------------------------


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
    cost="nothing runs on a GPU, and no kernel of your own compiles: softlab calls NVRTC through CuPy.",
    remedy="pip install 'softlab[cuda12]' or 'softlab[cuda13]', but not both. CuPy does not exist for macOS.",
)
def _cupy() -> str:
    import cupy

    return cupy.__version__


@_part(
    "NVRTC",
    cost="a kernel of your own, or one that you change, does not compile. The lessons' kernels run in the emulator.",
    remedy="pip install 'softlab[cuda12]'. It needs no GPU and no driver. NVIDIA makes none for macOS: there, "
    "pip install 'softlab[clang]' brings another compiler.",
)
def _nvrtc() -> str:
    from softlab.cuda import compile as compiler

    known = compiler.supported_architectures()
    return f"{compiler.nvrtc_version()}, compiles for {known[0]} to {known[-1]}"


@_part(
    "clang",
    cost="where NVRTC is missing, a kernel of your own, or one that you change, does not compile.",
    remedy="pip install 'softlab[clang]' (100 MB; for Macs above all). Where there is NVRTC, you do not need it.",
)
def _clang() -> str:
    from softlab.cuda import clang
    from softlab.cuda import compile as compiler

    if not clang.has_clang():
        raise _Missing("not installed")
    used = "compiles kernels here" if compiler.compiler_in_use() == "clang" else "not used: NVRTC compiles kernels here"
    return f"{clang.clang_version()}, {used}"


@_part(
    "Compiled kernels",
    cost="without NVRTC no kernel runs.",
    remedy="reinstall softlab: softlab/cuda/data/programs.zip is part of it.",
    essential=True,
)
def _compiled_kernels() -> str:
    from softlab.cuda import shipped_programs

    count = shipped_programs.shipped_count()
    if not count:
        raise _Missing("the archive is missing")
    return f"{count} of the lessons and explorers, by NVRTC {shipped_programs.shipped_compiler()}"


@_part(
    "nvdisasm",
    cost="you see no machine code (SASS) of your own kernels, and their counters count the PTX.",
    remedy="pip install nvidia-cuda-nvdisasm (it is part of 'softlab[cuda12]').",
)
def _nvdisasm() -> str:
    from softlab.cuda.disassembly import find_nvdisasm

    path = find_nvdisasm()
    if path is None:
        raise _Missing("none found")
    return f"{_first_line(str(path), '--version', last=True) or 'version unknown'}, {path}"


@_part(
    "llvmlite",
    cost="the emulator is slower, for kernels of few warps several times, and a launch on a GPU takes the host longer.",
    remedy="pip install 'softlab[fast]', which is part of 'softlab[cuda12]' and 'softlab[cuda13]'.",
)
def _llvmlite() -> str:
    import llvmlite

    return llvmlite.__version__


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
)
def _headers() -> str:
    from softlab.cuda import compile as compiler
    from softlab.errors import CompileError

    try:
        # Without the cache: an old entry would hide that the headers are gone.
        program = compiler.compile_program(_PROBE_KERNEL, "probe", file="probe.cu", cache=False)
    except CompileError as error:
        errors = [line for line in str(error).splitlines() if "error" in line]
        raise _Missing(errors[0] if errors else str(error)) from None
    return f"a block sum of halves compiles for {program.arch}, {program.registers} registers per thread"


@_part(
    "Cache folder",
    cost="every session compiles each kernel again: 0.3 to 3 s each.",
    remedy="make the folder writable, or name another one in XDG_CACHE_HOME.",
)
def _cache() -> str:
    from softlab.cuda import compile as compiler

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
    remedy="install what is missing above. If nothing is, this is a defect of softlab: report it with this output.",
    essential=True,
)
def _emulator() -> str:
    import numpy as np

    _check_softmax(np)
    return "runs a softmax, and the result is right"


def _check_softmax(array_module: Any) -> None:
    """The softmax of equal numbers is 1 / cols by symmetry, and exactly that for a power of two."""
    import softlab

    y = softlab.softmax(array_module.full((2, 64), 3.0, "float32"))
    if not bool((y == 1 / 64).all()):
        raise _Missing(f"the softmax of 64 equal numbers came out as {float(y[0, 0])!r}, not 1/64")


@_part(
    "NVIDIA driver",
    cost="nothing runs or is timed on a GPU. The emulator runs every lesson.",
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
    cost="the same as without a driver.",
    remedy="an NVIDIA GPU and its driver. If you have both, CUDA_VISIBLE_DEVICES may hide the GPU.",
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
    cost="you cannot compare the counters with this machine's hardware.",
    remedy="ncu, from NVIDIA's CUDA toolkit. It is useful only with a GPU.",
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
_package("jupyterlab", cost="`softlab lab` cannot open the notebooks.", remedy=_LAB)
_package("ipywidgets", cost="no sliders and switches: the explorers do not start.", remedy=_LAB)
_package("plotly", cost="no charts.", remedy=_LAB)
_package("anywidget", cost="no diagrams (lane by bank, butterfly).", remedy=_LAB)


@_part(
    "Chromium",
    cost="the browser tests and `make screenshots` do not run. The lessons run in any browser.",
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
