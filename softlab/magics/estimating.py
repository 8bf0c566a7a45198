"""The estimate that ends the report of a ``%%cuda`` cell: the time of its launch on a GPU, or why there is none."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from itertools import combinations
from math import prod
from typing import Any

import numpy as np

from softlab.errors import Error, first_line
from softlab.kernel import Kernel
from softlab.magics.command import CudaCommand
from softlab.timing.estimates import Estimate
from softlab.traces import Run
from softlab.views.estimates import estimate_sentences, stall_bars

#: Machine instructions of the sampled blocks' warps beyond which a cell does not wait for an estimate. That many take
#: the model about half a second.
MOST_INSTRUCTIONS = 50_000
_ARCHITECTURE = "sm_90"
_STYLE = "font-size:13px;line-height:20px;color:var(--jp-content-font-color1,inherit)"


@dataclass(frozen=True)
class EstimateCard:
    """What a cell says of its launch's time: ``sentences``, and the estimate of the kernel in ``source``, None where
    there is none."""

    sentences: tuple[str, ...]
    estimate: Estimate | None = None
    source: str = ""

    def __repr__(self) -> str:
        return " ".join(self.sentences)

    def _repr_html_(self) -> str:
        first, *others = map(escape, self.sentences)
        if self.estimate is None:
            return f'<div style="{_STYLE};padding:4px 10px">{" ".join((first, *others))}</div>'
        bars = stall_bars(self.estimate, self.source)
        more = f"<details><summary>What each line waits for</summary>{bars}</details>"
        return f'<div style="{_STYLE};padding:4px 10px">{" ".join((f"<b>{first}</b>", *others))}{more}</div>'


def estimate_card(command: CudaCommand, kernel: Kernel, run: Run, before: Sequence[Any]) -> EstimateCard:
    """The estimate of a launch that ran, or a sentence that says why there is none. It raises nothing.

    ``before``: a copy of each array argument as it was before the run, None for other arguments.
    """
    try:
        if reason := _hindrance(command, run, before):
            return EstimateCard((f"No estimate of the time: {reason}.",))
        args = [value if old is None else old for (_, value), old in zip(command.args, before, strict=True)]
        if (count := _sampled_instructions(command, kernel, run)) > MOST_INSTRUCTIONS:
            many, most = (f"{number:,}".replace(",", " ") for number in (count, MOST_INSTRUCTIONS))
            reason = (
                f"the blocks that the model would simulate execute about {many} instructions, and a cell waits for "
                f"{most} at most. softlab.estimate({command.out}) in another cell has no such limit. It takes longer, "
                "and starts from the arrays as they are then"
            )
            return EstimateCard((f"No estimate of the time: {reason}.",))
        found = kernel.estimate(command.grid, command.block, args, smem=command.smem, device=command.device)
        return EstimateCard(estimate_sentences(found, command.source), found, command.source)
    except Error as error:
        return EstimateCard((f"No estimate of the time: {first_line(error)}.",))
    except Exception as error:  # the report of the cell is worth more than its estimate
        return EstimateCard((f"No estimate of the time: {type(error).__name__}: {first_line(error)}.",))


def _hindrance(command: CudaCommand, run: Run, before: Sequence[Any]) -> str:
    """Why this launch has no estimate, before anything is computed; "" where nothing speaks against one."""
    if run.executor == "gpu":
        return "the kernel ran on a GPU, and the model reads the arrays of the emulator"
    if command.arch != _ARCHITECTURE:
        return f"the model knows the machine code of {_ARCHITECTURE}, and the kernel is compiled for {command.arch}"
    if any(finding.severity == "error" for finding in run.findings):
        return "the run found errors"
    arrays = [value for (_, value), old in zip(command.args, before, strict=True) if old is not None]
    if any(np.may_share_memory(a, b) for a, b in combinations(arrays, 2)):
        return "two arguments share memory, and the model works on copies"
    return ""


def _sampled_instructions(command: CudaCommand, kernel: Kernel, run: Run) -> int:
    """Machine instructions that the warps of the sampled blocks execute, from the counters of the whole run."""
    from softlab.timing import model

    launch = model.Timed(kernel.program, run.grid, run.block, command.smem, (), kernel.cluster)
    sample = model.sample_of(launch, command.device)
    return run.counters.get("instructions", 0) * len(sample.blocks) // prod(run.grid)
