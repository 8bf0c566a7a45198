"""The bug clinic: 25 small kernels with one bug each, what a learner sees of it, and what the checks find.

>>> from softlab import course
>>> print(course.bug("one-slot"))  # the symptom, the kernel, and the report of the checks
"""

from softlab.course.clinic.bugs import Bug, bug, bugs
from softlab.course.clinic.checks import checked

__all__ = ["Bug", "bug", "bugs", "checked"]
