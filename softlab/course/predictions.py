"""The questions that a learner answers before the experiment of a lesson, with what there is to say to each answer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Question:
    """One prediction of a lesson.

    id: the number of its lesson and a name, "04-even-words"; question: what is asked; answers: each answer, with a
    sentence for the learner who chose it: why it is right, or what it leaves out. It is shown after the experiment.
    """

    id: str
    question: str
    answers: Mapping[str, str]
