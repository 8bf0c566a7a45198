"""What is said of wrong kernels and functions is what was recorded."""

from __future__ import annotations

import json

# Each module with hints, so that a change of one is seen to be asked here.
from softlab.course import (  # noqa: F401
    behaviour,
    causes,
    diagnosis,
    differences,
    exponentials,
    places,
    probes,
    relations,
)
from tests.course.sentences import RECORD, digests


def test_no_hint_has_changed() -> None:
    recorded, now = json.loads(RECORD.read_text()), digests()
    assert list(now) == list(recorded)
    changed = [name for name in now if now[name] != recorded[name]]
    assert not changed, (
        f"what {changed} say has changed. `python -m tests.course.sentences show NAME` prints it; without arguments it "
        "records all anew."
    )
