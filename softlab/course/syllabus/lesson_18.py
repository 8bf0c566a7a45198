"""Notebook 18: races in the wild, the bug clinic. Eight bugs have cells there, the others a line of its table.

A notebook with all 25 would be four times as long as the others, and the kernels are read one at a time anyway.
"""

from __future__ import annotations

from softlab.course.catalogue import Lesson
from softlab.course.clinic.bugs import bug, bugs
from softlab.course.predictions import Question

_IN_THE_NOTEBOOK = (
    *("one-slot", "one-tile-too-far", "used-again", "last-warp"),
    *("four-slots-32-lanes", "lanes-that-stayed-away", "last-block", "row-of-minus-infinity"),
)

LESSON = Lesson(
    number="18",
    notebook="18-races-in-the-wild.ipynb",
    title="Races in the wild",
    minutes=60,
    objectives=(
        "read the report of a check: which two lines meet, in which threads, and what has to stand between them",
        "tell a barrier, a fence, a mask and an atomic apart by what each of them orders",
        "fix a bug that a test on a GPU seldom shows",
    ),
    exercises=tuple(bug(name).exercise for name in _IN_THE_NOTEBOOK),
    predictions=(
        Question(
            id="18-orders-of-warps",
            question="Two warps have no barrier between them. In how many of their two orders is the sum right?",
            answers={
                "in none": "Then every test would show it. In one order each warp finds what it needs.",
                "in one of them": "A test that meets only this order passes, on each run, for years.",
                "in both": "Then there would be no bug: a race matters because some order is wrong.",
            },
        ),
    ),
    further=tuple(found.exercise for found in bugs() if found.name not in _IN_THE_NOTEBOOK),
)
