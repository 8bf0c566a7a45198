"""The place of an instruction: the user's line first, then that of a header."""

from __future__ import annotations

import pytest

from softlab.emulator.ptx.places import Place, place_of
from softlab.emulator.ptx.syntax import Frame

HEADER, OUTER, OWN, CALLER = Frame("tile.cuh", 5), Frame("all.cuh", 7), Frame("k.cu", 4), Frame("k.cu", 9)
LAST = Frame("k.cu", 12)


@pytest.mark.parametrize(
    ("frames", "place", "words"),
    [
        ((), Place(), ""),
        ((OWN,), Place(4, "k.cu"), "line 4 of k.cu"),
        ((OWN, CALLER), Place(4, "k.cu", callers=(9,)), "line 4 of k.cu, called from line 9"),
        ((OWN, OUTER, CALLER), Place(4, "k.cu", callers=(9,)), "line 4 of k.cu, called from line 9"),
        ((HEADER,), Place(5, "tile.cuh"), "line 5 of tile.cuh"),
        ((HEADER, OUTER), Place(5, "tile.cuh"), "line 5 of tile.cuh"),
        (
            (HEADER, OWN, CALLER, LAST),
            Place(4, "k.cu", "line 5 of tile.cuh", (9, 12)),
            "line 4 of k.cu, in line 5 of tile.cuh, called from line 9, called from line 12",
        ),
        ((HEADER, OUTER, CALLER), Place(9, "k.cu", "line 5 of tile.cuh"), "line 9 of k.cu, in line 5 of tile.cuh"),
    ],
)
def test_the_innermost_line_of_the_kernels_own_file(frames: tuple[Frame, ...], place: Place, words: str) -> None:
    found = place_of(frames, "k.cu")
    assert found == place
    assert str(found) == words


def test_without_a_file_of_its_own() -> None:
    assert place_of((HEADER, OWN), None) == Place(5, "tile.cuh")
