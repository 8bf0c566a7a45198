"""The course's exercises: graded on this machine, in the emulator, with hints that name what is wrong.

>>> from softlab import course
>>> course.exercise("00-half-the-bytes").grade(8_388_608)
Not yet: it is not 8 388 608. Each element is read once and written once: that is the way there, without the way back.
>>> course.exercise("00-half-the-bytes").grade(16_777_216)
Right. (1 of 3 in this notebook, 1 of 58 in the course)
>>> course.progress()  # a table: what is solved, lesson by lesson
"""

from softlab.course.catalogue import Lesson, exercise, lesson, lessons, prediction
from softlab.course.clinic import Bug, bug, bugs
from softlab.course.learners import Progress, progress_file, reset
from softlab.course.overview import Overview, progress

__all__ = [
    "Bug",
    "Lesson",
    "Overview",
    "Progress",
    "bug",
    "bugs",
    "exercise",
    "lesson",
    "lessons",
    "prediction",
    "progress",
    "progress_file",
    "reset",
]
