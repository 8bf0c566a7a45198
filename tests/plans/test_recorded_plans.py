"""The plans of all policies are those recorded, over 100 000 problems."""

from __future__ import annotations

import itertools
import json

import pytest

from tests.plans.recorded import COLS, GROUP, RECORD, STRIDE, cells, columns, digests
from tests.sampled import each

#: Parts of the lists, each quick enough to be one of the tests that run for a mutant (:mod:`tests.mutation`).
PARTS = 16


@pytest.mark.parametrize("part", each(4, range(PARTS)))
def test_no_plan_has_changed(part: int) -> None:
    recorded, now = json.loads(RECORD.read_text()), digests(part, PARTS)
    assert list(now) == list(recorded)[part::PARTS]
    changed = {}
    for number, (key, _, arguments) in itertools.islice(enumerate(cells()), part, None, PARTS):
        pairs, cols = enumerate(zip(now[key].split(), recorded[key].split(), strict=True)), columns(number, arguments)
        found = [cols[at * GROUP : (at + 1) * GROUP] for at, (new, old) in pairs if new != old]
        changed.update({key: found} if found else {})
    assert not changed, (
        f"plans of {len(changed)} lists have changed, at these columns: {dict(list(changed.items())[:5])}. "
        "`python -m tests.plans.recorded show KEY` prints one; without arguments it records them all anew."
    )


def test_every_length_is_planned() -> None:
    assert {cols for number in range(STRIDE) for cols in columns(number, {})} == set(COLS)
