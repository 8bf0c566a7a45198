"""Frozen records of what ran: counters, lines, warp-level memory accesses and shuffles; a launch, an operator's run."""

from softlab.traces.records import COUNTERS, Accesses, Buffer, FusedAccess, InstructionCounters, Shuffles
from softlab.traces.runs import Run, Trace

__all__ = ["COUNTERS", "Accesses", "Buffer", "FusedAccess", "InstructionCounters", "Run", "Shuffles", "Trace"]
