"""The lessons of the course, one per module ``softlab.course.syllabus.lesson_NN``, and their exercises by id."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING

from softlab.course.exercises import Exercise
from softlab.course.predictions import Question
from softlab.course.standings import discovered
from softlab.course.variants import Varied

if TYPE_CHECKING:
    from softlab.explorers import Prediction


@dataclass(frozen=True)
class Lesson:
    """One notebook of the course.

    number: "03"; notebook: its file name; minutes: how long a learner takes; objectives: what a learner can do
    afterwards, phrases that follow "you can"; exercises, predictions: in the order of the notebook; further: exercises
    that the notebook names but has no cell for, which count neither in the progress nor as missing in a submission;
    varied: exercise id -> how its number differs from student to student.
    """

    number: str
    notebook: str
    title: str
    minutes: int
    objectives: tuple[str, ...]
    exercises: tuple[Exercise, ...] = ()
    predictions: tuple[Question, ...] = ()
    further: tuple[Exercise, ...] = ()
    varied: Mapping[str, Varied] = field(default_factory=dict)

    def __post_init__(self) -> None:
        ids = [*(one.id for one in (*self.exercises, *self.further)), *(one.id for one in self.predictions)]
        wrong = [name for name in ids if not re.fullmatch(rf"{self.number}(-[a-z0-9]+)+", name)]
        if wrong or len(set(ids)) < len(ids):
            raise ValueError(
                f"exercises and predictions of lesson {self.number} have an id {self.number}-some-words each, not {ids}"
            )

    @property
    def head(self) -> str:
        """Time and objectives as Markdown: a part of the notebook's first cell."""
        goals = "\n".join(f"- {objective}" for objective in self.objectives)
        return f"**About {self.minutes} minutes.** Afterwards you can\n\n{goals}"

    @property
    def ids(self) -> tuple[str, ...]:
        """The ids of its exercises."""
        return tuple(exercise.id for exercise in self.exercises)


@cache
def lessons() -> tuple[Lesson, ...]:
    """Every lesson in the order of the numbers. Each module ``lesson_NN`` has one, ``LESSON``."""
    return tuple(discovered())


def lesson(number: str) -> Lesson:
    """The lesson "03".

    Raises:
        ValueError: no lesson has that number.
    """
    for found in lessons():
        if found.number == number:
            return found
    raise ValueError(f"no lesson {number!r}: there are {', '.join(found.number for found in lessons())}")


def exercise(id: str, student: str = "") -> Exercise:
    """The exercise of that id, such as "03-write-the-butterfly"; with the numbers of ``student``, where it has some.

    Raises:
        ValueError: there is none; the message lists those of the same notebook.
    """
    number = id.partition("-")[0]
    ids: list[str] = []
    for found in lessons():
        for candidate in (*found.exercises, *found.further):
            if candidate.id == id:
                varied = found.varied.get(id) if student else None
                return varied.make(varied.number(id, student)) if varied else candidate
            ids += [candidate.id] if found.number == number else []
    known = ", ".join(ids) or f"there are exercises in {', '.join(f.number for f in lessons() if f.exercises)}"
    raise ValueError(f"no exercise {id!r}: {known}")


def prediction(id: str) -> Prediction:
    """The question of that id as a widget: ``softlab.explorers.Prediction``.

    Raises:
        ValueError: there is none; the message lists those that there are.
    """
    from softlab.explorers import Prediction

    questions = {question.id: question for found in lessons() for question in found.predictions}
    if id not in questions:
        raise ValueError(f"no prediction {id!r}: there are {', '.join(questions)}")
    return Prediction(questions[id].question, questions[id].answers)
