"""Why a warp does not issue: Nsight Compute's names of the warp states."""

from __future__ import annotations

#: Nsight Compute, "Metrics Reference", warp stall reasons.
REASONS = (
    "selected",
    "wait",
    "long_scoreboard",
    "short_scoreboard",
    "barrier",
    "membar",
    "mio_throttle",
    "lg_throttle",
    "math_pipe_throttle",
    "dispatch_stall",
    "not_selected",
    "no_instruction",
    "imc_miss",
    "branch_resolving",
    "sleeping",
)
(
    SELECTED,
    WAIT,
    LONG,
    SHORT,
    BARRIER,
    MEMBAR,
    MIO,
    LG,
    MATH,
    DISPATCH,
    NOT_SELECTED,
    NO_INSTRUCTION,
    IMC_MISS,
    BRANCH,
    SLEEPING,
) = range(len(REASONS))
