"""The verdict on an answer: right, wrong (with a hint) or not answered; as text and as HTML."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from softlab.course.launch_cases import LaunchCase
    from softlab.course.learners import Standing
    from softlab.traces import Run

State = Literal["right", "wrong", "unanswered"]


@dataclass(frozen=True)
class Verdict:
    """The judgement of one answer.

    exercise: its id; state: "right", "wrong" or "unanswered"; message: one or a few sentences, with the hint to a wrong
    answer; run, launch: for a kernel, the launch that decided and its run (None if the run did not end); standing: how
    far the learner is, None while nothing is solved.
    """

    exercise: str
    state: State
    message: str
    run: Run | None = None
    launch: LaunchCase | None = None
    standing: Standing | None = None

    @property
    def right(self) -> bool:
        """Whether the answer is right."""
        return self.state == "right"

    def __str__(self) -> str:
        return f"{self.message} ({self.standing.sentence})" if self.standing else self.message

    def _repr_mimebundle_(self, **options: Any) -> dict[str, str]:
        from softlab.views.progress import verdict_html

        bars = self.standing.bars if self.standing else ()
        return {"text/plain": str(self), "text/html": verdict_html(self.state, self.message, bars)}
