"""What a call costs the host before the kernel runs: a 32 x 32 softmax, beside PyTorch's and CuPy's calls.

    python -m softlab.bench.record.launch_overhead [OUT.json]      # needs a GPU with CuPy

It prints a table and, given a file, writes the recording. Without PyTorch it leaves PyTorch's calls out.
"""

from __future__ import annotations

import statistics
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import softlab
from softlab.bench import recordings
from softlab.bench.record.describing import described
from softlab.cuda import native_launches
from softlab.cuda.compile import nvrtc_version

ROWS = COLS = 32
#: Calls in one span. Their kernels take the GPU less time than the host takes to launch them, and all fit in its queue,
#: so that the host never waits for the GPU.
CALLS = 200
SPANS = 61
METHOD = (
    f"Host time of a call in microseconds: the median of {SPANS} spans of {CALLS} calls each, after a warm-up, with "
    "the GPU idle at the start of each span and waited for after its end. All calls take turns, a span each. "
    f"'low' and 'high' are the quartiles. x is {ROWS} x {COLS} float32. softlab is called as it comes: policy='fast'. "
    "It launches by machine code where the versions have llvmlite, else through CuPy."
)
_RAW_KERNEL = 'extern "C" __global__ void nothing(const float* x, float* y, long long rows, long long cols) {}'

Call = Callable[[], Any]


def compiler() -> dict[str, str]:
    """The version of llvmlite where it compiles launches."""
    if not native_launches.available():
        return {}
    import llvmlite

    return {"llvmlite": llvmlite.__version__}


def calls() -> tuple[dict[str, Call], dict[str, str]]:
    """What is called, by name, and the versions of the libraries beyond CuPy and the compiler."""
    import cupy
    import numpy as np
    from cupyx.scipy.special import softmax as cupyx_softmax

    x = cupy.random.standard_normal((ROWS, COLS), dtype=np.float32)
    out = cupy.empty_like(x)
    kernel = cupy.RawKernel(_RAW_KERNEL, "nothing")
    arguments = (x, out, np.int64(ROWS), np.int64(COLS))
    found: dict[str, Call] = {
        "softlab.softmax, out=": lambda: softlab.softmax(x, out=out),
        "softlab.softmax": lambda: softlab.softmax(x),
        "softlab.softmax_backward, out=": lambda: softlab.softmax_backward(x, x, out=out),
        "softlab.softmax of columns (axis=0)": lambda: softlab.softmax(x, 0),
        "cupy.exp, out=": lambda: cupy.exp(x, out=out),
        "cupy.empty_like": lambda: cupy.empty_like(x),
        "cupy.RawKernel that does nothing": lambda: kernel((8,), (128,), arguments),
        "cupyx.scipy.special.softmax": lambda: cupyx_softmax(x, -1),
    }
    try:
        import torch
    except ImportError:
        return found, {}
    tensor = torch.randn(ROWS, COLS, device="cuda")
    target = torch.empty_like(tensor)
    watched = tensor.clone().requires_grad_()
    found |= {
        "torch.softmax, out=": lambda: torch.softmax(tensor, -1, out=target),
        "torch.softmax": lambda: torch.softmax(tensor, -1),
        "torch.softmax, requires_grad": lambda: torch.softmax(watched, -1),
        "softlab.softmax of a tensor, out=": lambda: softlab.softmax(tensor, out=target),
        "softlab.softmax of a tensor": lambda: softlab.softmax(tensor),
        "softlab.torch.softmax, requires_grad": lambda: softlab.torch.softmax(watched),
        "cupy.from_dlpack(tensor)": lambda: cupy.from_dlpack(tensor),
    }
    return found, {"PyTorch": torch.__version__}


def measure(found: dict[str, Call]) -> recordings.Table:
    """Columns call, microseconds, low, high."""
    import cupy

    synchronize = cupy.cuda.runtime.deviceSynchronize
    spans: dict[str, list[float]] = {name: [] for name in found}
    for iteration in range(SPANS + 2):
        for name, call in found.items():
            synchronize()
            start = time.perf_counter_ns()
            for _ in range(CALLS):
                call()
            taken = time.perf_counter_ns() - start
            synchronize()
            if iteration > 1:  # the first two warm up
                spans[name].append(taken / 1e3 / CALLS)
    rows = []
    for name, taken_by in spans.items():
        low, middle, high = (round(value, 3) for value in statistics.quantiles(taken_by, n=4))
        rows.append({"call": name, "microseconds": middle, "low": low, "high": high})
    return recordings.table_of(rows)


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    if softlab.Device.present() is None:
        print("no NVIDIA GPU with CuPy here: nothing to measure", file=sys.stderr)
        return 1
    found, versions = calls()
    table = measure(found)
    for name, taken, low, high in zip(*(table[k] for k in ("call", "microseconds", "low", "high")), strict=True):
        print(f"{name:40s} {taken:8.2f} us   ({low:.2f} to {high:.2f})")
    if given:
        out = Path(given[0])
        recording = described(
            out,
            "launch_overhead",
            about="What a call costs the host before the kernel runs, on a small array",
            method=METHOD,
            nvrtc=nvrtc_version(),
            versions=compiler() | versions,
            tables={"calls": table},
        )
        recordings.write(out, recording, {"calls": ["call"]})
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
