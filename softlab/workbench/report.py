"""All that softlab knows of one launch, for a page or a file: findings, figures, advice, estimate."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from softlab.errors import Error, first_line
from softlab.traces import Run
from softlab.workbench.advice import Advice, advice
from softlab.workbench.figures import AccessFigures, access_figures, unrecorded_lines
from softlab.workbench.launches import FileLaunch

if TYPE_CHECKING:
    from softlab.hardware.devices import Device
    from softlab.timing.estimates import Estimate


@dataclass(frozen=True, eq=False)
class LaunchReport:
    """One launch: its run, the figures of each access, what to change, the time (None where ``notes`` say why), and
    what the report cannot show, in sentences.
    """

    run: Run
    figures: tuple[AccessFigures, ...]
    advice: tuple[Advice, ...]
    estimate: Estimate | None
    notes: tuple[str, ...]


def launch_report(launch: FileLaunch, run: Run, device: Device, before: Any = None) -> LaunchReport:
    """The report on a run of a launch.

    Arguments:
        launch: with its kernel. ``before``: its arguments as they were before the run (default: as they are).
        device: the GPU of the estimate.
    """
    notes = list(launch.said) + list(run.remarks)
    estimate = None
    try:
        given = launch.args if before is None else before
        estimate = launch.kernel.estimate(launch.grid, launch.block, given, smem=launch.smem, device=device)
    except (Error, ValueError) as error:
        notes.append(f"No estimate of the time: {first_line(error)}.")
    if run.level == "PTX":
        why = "nvdisasm is missing" if run.registers else "there is no machine code"
        notes.append(f"Accesses and instructions count as the PTX has them, since {why}.")
    if lines := unrecorded_lines(run):
        listed = ", ".join(map(str, lines))
        notes.append(f"No recorded block executes the accesses of line {listed}: their patterns are not shown.")
    return LaunchReport(run, access_figures(run), advice(run), estimate, tuple(notes))


def report_record(report: LaunchReport) -> dict[str, Any]:
    """The same as plain values for JSON: ``accesses``, ``advice``, ``estimate`` and ``notes``."""
    found = report.estimate
    return {
        "accesses": [
            {**asdict(one), "per_request": one.per_request, "least_per_request": one.least_per_request}
            for one in report.figures
        ],
        "advice": [asdict(one) for one in report.advice],
        "estimate": None
        if found is None
        else {name: getattr(found, name) for name in ("device", "cache", "microseconds", "bound", "validated")}
        | {"stalls": dict(found.stalls), "share_by_line": {n: one.share for n, one in found.by_line().items()}},
        "notes": list(report.notes),
    }
