"""What the processes of random cases run in a test, in place of kernels. They import it, so it is no part of a test."""

from __future__ import annotations

import os
import signal
import time

from tests.hardware.random_cases import Drawing
from tests.random_cases.check import Outcome


def right(job: tuple[Drawing, list[int]]) -> tuple[list[Outcome], set[str]]:
    """In place of a GPU: every case is right, and its kernel is named after the process."""
    drawing, numbers = job
    return [Outcome(drawing.case(number), "") for number in numbers], {str(os.getpid())}


def deadly(job: tuple[Drawing, list[int]]) -> tuple[list[Outcome], set[str]]:
    """One case kills its process."""
    if 20 in job[1]:
        os.kill(os.getpid(), signal.SIGKILL)
    return right(job)


def endless(job: tuple[Drawing, list[int]]) -> tuple[list[Outcome], set[str]]:
    """All cases but those of the first 4 numbers take a minute."""
    if min(job[1]) > 3:
        time.sleep(60)
    return right(job)
