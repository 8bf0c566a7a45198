"""A learner's progress through the course, lesson by lesson: a table with bars, or text."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from softlab.course.catalogue import lessons
from softlab.course.learners import Bar, Progress


@dataclass(frozen=True)
class Overview:
    """How many exercises are solved. bars: one per lesson, "03 Title"; whole: the course."""

    bars: tuple[Bar, ...]
    whole: Bar

    def __str__(self) -> str:
        width = max(len(bar.name) for bar in (*self.bars, self.whole))
        return "\n".join(f"{bar.name.ljust(width)}  {bar.done} of {bar.of}" for bar in (*self.bars, self.whole))

    def _repr_mimebundle_(self, **options: Any) -> dict[str, str]:
        from softlab.views.progress import overview_html

        return {"text/plain": str(self), "text/html": overview_html(self.bars, self.whole)}


def progress(learner: Progress | None = None) -> Overview:
    """The progress stored on this machine, or that of ``learner``. The last line of a cell shows it."""
    learner = Progress.load() if learner is None else learner
    bars = [Bar(f"{found.number} {found.title}", learner.solved(found.ids), len(found.ids)) for found in lessons()]
    return Overview(tuple(bars), Bar("The course", sum(bar.done for bar in bars), sum(bar.of for bar in bars)))
