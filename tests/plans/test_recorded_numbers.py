"""What the rules of the policy "fast" compute is what was recorded."""

from __future__ import annotations

import json

# Each rule's module, so that a change of one is seen to be asked here.
from softlab.hardware import occupancies  # noqa: F401
from softlab.plans import (  # noqa: F401
    fast,
    fast_cuts,
    fast_fused,
    fast_limits,
    fast_ring,
    fast_rows,
    flight,
    short_rows,
    strip_shapes,
    tiles,
)
from tests.plans.numbers import RECORD, digests


def test_no_number_behind_a_plan_has_changed() -> None:
    recorded, now = json.loads(RECORD.read_text()), digests()
    assert list(now) == list(recorded)
    changed = [key for key in now if now[key] != recorded[key]]
    assert not changed, (
        f"what {changed} compute has changed. `python -m tests.plans.numbers show NAME` prints it; without arguments "
        "it records all anew."
    )
