from __future__ import annotations

from tests.course.answers import Answers, kernel

TILE, BARRIER, READ = "tile[32][33]", "__syncthreads();", "tile[threadIdx.x][threadIdx.y]"


def turn(*edits: tuple[str, str]) -> str:
    return kernel("04-turn-a-tile", *edits)


ANSWERS = (
    Answers(
        "04-odd-strides",
        right=(1,),
        wrong=((3, "how many share a bank"), (2, "every second bank"), (32, "all lanes in one bank")),
    ),
    Answers("04-packs-of-four", right=(4,), wrong=((1, "Lanes 0 and 8"), (2, "word 4 * l"), (8, "How many lanes"))),
    Answers(
        "04-turn-a-tile",
        right=(turn(), turn((TILE, "tile[32][35]"))),
        wrong=(
            (turn((TILE, "tile[32][32]")), "still 32-way: 1024 wavefronts, 32 possible, most on line 5"),
            (turn((TILE, "tile[32][34]")), "still 2-way: 64 wavefronts, 32 possible"),
            (turn((TILE, "tile[33][32]")), "if it had one more"),
            (turn((BARRIER, "")), "race on line 5"),
            (turn((BARRIER, "__syncwarp();")), "race on line 5"),
            (turn((READ, "tile[threadIdx.y][threadIdx.x]")), "y[0, 1] is"),
            (turn((TILE, "tile[32][31]")), "Not yet: "),
            (turn((TILE, "tile[33]")), "Line 3:"),
        ),
    ),
)
