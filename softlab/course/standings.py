"""Finds the lessons, and says how far a learner is in them. It imports no kind of exercise: an exercise imports it."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterator
from typing import Any

from softlab.course import syllabus
from softlab.course.learners import Bar, Progress, Standing


def discovered() -> Iterator[Any]:
    """The ``LESSON`` of each module of ``softlab.course.syllabus``, in the order of their names."""
    for name in sorted(module.name for module in pkgutil.iter_modules(syllabus.__path__)):
        yield importlib.import_module(f"{syllabus.__name__}.{name}").LESSON


def standing(progress: Progress, id: str) -> Standing:
    """How far the learner is in the notebook of an exercise, and in the course."""
    ids = {found.number: found.ids for found in discovered()}
    here = ids[id.partition("-")[0]]
    everywhere = [name for names in ids.values() for name in names]
    return Standing(
        Bar("in this notebook", progress.solved(here), len(here)),
        Bar("in the course", progress.solved(everywhere), len(everywhere)),
    )
