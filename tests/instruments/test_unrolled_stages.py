"""In which slot of an unrolled loop's stages a lane runs an iteration, beside a list of all slots."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from softlab.instruments.unrolled import UnrolledCounter


def slots(total: int, longest: int, stages: tuple[int, ...]) -> list[int]:
    """The slots of a lane's iterations: whole turns of the first stage, then what the smaller stages take."""
    first, *rest = stages
    found = list(range(total - total % first))
    begin = longest + 1
    for size in rest:
        if total - len(found) >= size:
            found += range(begin, begin + size)
        begin += size
    return found


@pytest.mark.parametrize("stages", [(4, 2, 1), (2, 1), (8, 4, 2, 1), (16, 8, 4, 2, 1)])
@pytest.mark.parametrize("longest", [1, 3, 4, 5, 15, 16, 17, 40])
def test_the_slot_of_an_iteration(stages: tuple[int, ...], longest: int) -> None:
    loop: Any = SimpleNamespace(stages=stages, predicated=False)
    iterations = np.resize(np.arange(longest, -1, -1), (2, 32))
    all_slots = [slots(total, longest, stages) for total in iterations.ravel().tolist()]
    for done in range(longest):
        found = UnrolledCounter(loop)._slot(np.full(iterations.shape, done), iterations).ravel()
        for slot, of_lane in zip(found.tolist(), all_slots, strict=True):
            if done < len(of_lane):
                assert slot == of_lane[done]
