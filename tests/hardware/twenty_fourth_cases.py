"""A twenty-fourth set of launches for the timing model: other kernels than those of the twenty-three sets before it, as
students and engineers write them, by an author who saw neither the model nor an estimate. Sizes and block sizes are
drawn at random, by seeds from names. A series has the same work in blocks of five sizes; the other kernels run in
blocks of one or two sizes. At most a third of the launches are bound by DRAM. They are predicted and committed before
a GPU measures them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import numpy as np

from tests.hardware.launch_sets import by_series, in_shapes, launches, spread, within
from tests.hardware.ninth_cases import lists, normal, unit
from tests.hardware.timing_cases import ByRecipe, TimingCase, f, i, zeros
from tests.hardware.twenty_first_cases import BLOCKS, POWERS, SHAPES, WORD
from tests.hardware.validation_cases import numbers, u

SOURCE = Path(__file__).parent / "kernels" / "twenty_fourth.cu"
FILE = "twenty_fourth.cu"
#: Categories whose launches are bound by DRAM, or close to it.
DRAM = ("stream",)
#: Block sizes that are no multiples of 32, for kernels whose threads do not work together.
ROUND = (20, 33, 50, 75, 100, 125, 150, 200, 250, 300, 333, 400, 500, 600, 750, 1_000)


def drawn(name: str, low: int, high: int) -> int:
    """A number from ``low`` to ``high`` at random, evenly on a logarithmic scale, by a seed from ``name``."""
    return round(low * (high / low) ** Random(f"twenty-fourth, {name}").random())


def five(name: str, least: int = 32, most: int = 1_024) -> tuple[int, ...]:
    """Five block sizes from ``least`` to ``most`` at random, multiples of 32, by a seed from ``name``."""
    rng = Random(f"twenty-fourth, blocks of {name}")
    pool = [b for b in rng.choice((POWERS, BLOCKS)) if least <= b <= most]
    pool = pool if len(pool) >= 5 else [b for b in BLOCKS if least <= b <= most]
    return tuple(sorted(rng.sample(pool, 5)))


def two(name: str, least: int = 32, most: int = 1_024) -> tuple[int, ...]:
    """Two block sizes from ``least`` to ``most`` at random, by a seed from ``name``."""
    rng = Random(f"twenty-fourth, two blocks of {name}")
    return tuple(sorted(rng.sample([b for b in BLOCKS if least <= b <= most], 2)))


def round_sizes(name: str, count: int) -> tuple[int, ...]:
    """``count`` block sizes at random that are no multiples of 32, by a seed from ``name``."""
    return tuple(sorted(Random(f"twenty-fourth, round blocks of {name}").sample(ROUND, count)))


def shapes(name: str, count: int) -> tuple[tuple[int, int], ...]:
    """``count`` shapes of blocks at random, by a seed from ``name``."""
    return tuple(sorted(Random(f"twenty-fourth, shapes of {name}").sample(SHAPES, count)))


def side(name: str, low: int, high: int) -> tuple[int, int]:
    """Width and height of a picture at random, by seeds from ``name``."""
    return drawn(f"width of {name}", low, high), drawn(f"height of {name}", low, high)


def _tracks(size: int, high: int, rng: np.random.Generator) -> np.ndarray:
    """Which station comes after each: all lie on one round trip, in an order at random."""
    order = rng.permutation(size)
    found = np.empty(size, "i4")
    found[order] = np.roll(order, -1)
    return found


def _similar_lines(size: int, high: int, rng: np.random.Generator) -> np.ndarray:
    """Lines of ``high`` letters; each begins like the line before it, for a length at random."""
    lines = rng.integers(97, 123, (size // high, high))
    for k, same in enumerate(rng.integers(0, high + 1, len(lines) - 1)):
        lines[k + 1, :same] = lines[k, :same]
    return lines


RECIPES: dict[str, Callable[[int, int, np.random.Generator], Any]] = {
    "tracks": _tracks,
    "similar lines": _similar_lines,
    # Number 0 is the first of the family; all others have a parent with a lower number.
    "parents": lambda size, high, rng: rng.integers(0, np.maximum(np.arange(size), 1)),
    "sorted": lambda size, high, rng: np.sort(rng.integers(0, high, size)),
    "long": lambda size, high, rng: rng.integers(0, high, size, "u8"),
    "text": lambda size, high, rng: np.where(rng.integers(0, high, size) == 0, 32, rng.integers(97, 123, size)),
}


class Given(ByRecipe):
    """An array of this set."""

    recipes = RECIPES


def series() -> dict[str, list[str]]:
    """Name of a series -> the names of its launches, by threads per block."""
    return by_series(cases())


def cases() -> list[TimingCase]:
    """All launches; their names are different."""
    return launches(
        (
            _blocks,
            _shared,
            _rows,
            _clusters,
            _staged,
            _warps,
            _atomics,
            _physics,
            _chance,
            _pictures,
            _walks,
            _tables,
            _texts,
            _integers,
            _programs,
            _doubles,
            _halves,
            _matrices,
            _beginners,
            _streams,
        )
    )


def profiled() -> list[TimingCase]:
    """The launches whose stalls are recorded: of each kernel every second one, or its only one."""
    by_kernel: dict[str, list[TimingCase]] = {}
    for case in cases():
        by_kernel.setdefault(case.kernel, []).append(case)
    return [case for found in by_kernel.values() for case in found[1::2] or found]


def _blocks(case: Any) -> None:
    bars, cells = drawn("cooling_bars", 60, 600), drawn("cells of cooling_bars", 250, 700)
    within(case, "barrier", "cooling_bars", bars, five("cooling_bars"), unit(bars * cells), zeros(bars * cells),
           i(cells), i(drawn("steps of cooling_bars", 40, 160)), smem=8 * (cells + 2))  # fmt: skip
    case("few", "cooling_bars", 5, 320, unit(5 * 320), zeros(5 * 320), i(320), i(300), smem=8 * 322)
    grid, rows = drawn("pyramid_paths", 60, 500), drawn("rows of pyramid_paths", 60, 180)
    within(case, "barrier", "pyramid_paths", grid, five("pyramid_paths"), numbers(grid * rows**2, 256, "u1"),
           zeros(grid, "i4"), i(rows), smem=8 * rows)  # fmt: skip
    grid, games = drawn("longest_streaks", 100, 1_200), drawn("games of longest_streaks", 1_500, 6_000)
    blocks = five("longest_streaks")
    within(case, "barrier", "longest_streaks", grid, blocks, numbers(grid * games, 3, "u1"), zeros(grid, "i4"),
           i(games), smem=16 * max(blocks))  # fmt: skip
    grid = drawn("oven_plates", 60, 600)
    within(case, "barrier", "oven_plates", grid, five("oven_plates"), unit(1_024 * grid), zeros(1_024 * grid),
           i(drawn("steps of oven_plates", 25, 100)))  # fmt: skip
    case("tail", "oven_plates", 265, 1_024, unit(1_024 * 265), zeros(1_024 * 265), i(40))
    hours, each = 1_024 * drawn("coldest_hours", 20, 300), drawn("each of coldest_hours", 2, 8)
    spread(case, "barrier", "coldest_hours", hours, two("coldest_hours"), numbers((hours + 1_024) * each, 1 << 20),
           zeros(hours // 32 + 1, "i4"), i(each))  # fmt: skip


def _shared(case: Any) -> None:
    grid = drawn("trimmed_means", 300, 4_000)
    within(case, "shared", "trimmed_means", grid, five("trimmed_means", most=256), numbers(256 * grid, 500),
           zeros(grid))  # fmt: skip
    for pad, low, high, blocks in ((0, 8, 24, five("woven_tiles<0>")), (1, 40, 160, two("woven_tiles<1>"))):
        name = f"woven_tiles<{pad}>"
        grid = drawn(name, 80, 500)
        within(case, "shared", name, grid, blocks, numbers(1_024 * grid, WORD, "u4"), zeros(1_024 * grid, "u4"),
               i(drawn(f"turns of {name}", low, high)))  # fmt: skip
    for step in (1, 8, 32):
        name = f"locker_rounds<{step}>"
        threads = drawn(name, 20_000, 150_000)
        spread(case, "shared", name, threads, two(name), numbers(2_048, WORD, "u4"), zeros(threads + 1_024, "u4"),
               i(drawn(f"rounds of {name}", 60, 240)))  # fmt: skip


def _rows(case: Any) -> None:
    for kernel, blocks, more in (
        ("standard_scores", two("standard_scores"), ()),
        ("tempered_softmax", five("tempered_softmax"), (f(0.7),)),
    ):
        grid, width = drawn(kernel, 100, 900), drawn(f"width of {kernel}", 400, 2_500)
        within(case, "rows", kernel, grid, blocks, normal(grid * width), zeros(grid * width), i(width), *more)
        case("few", kernel, 7, 512, normal(7 * 9_000), zeros(7 * 9_000), i(9_000), *more)
    grid, count = drawn("totals_so_far", 80, 700), drawn("count of totals_so_far", 1_000, 6_000)
    within(case, "barrier", "totals_so_far", grid, two("totals_so_far"), numbers(grid * count, 900),
           zeros(grid * count, "i4"), i(count))  # fmt: skip
    case("few", "totals_so_far", 1, 256, numbers(20_000, 900), zeros(20_000, "i4"), i(20_000))


def _clusters(case: Any) -> None:
    for size, blocks in ((2, five("team_means<2>")), (8, two("team_means<8>"))):
        name = f"team_means<{size}>"
        grid, piece = size * drawn(name, 12, 160), drawn(f"piece of {name}", 300, 2_000)
        within(case, "clusters", name, grid, blocks, unit(grid * piece), zeros(grid * piece), i(piece))
    grid, part = 4 * drawn("long_ropes", 10, 120), drawn("part of long_ropes", 200, 900)
    within(case, "clusters", "long_ropes", grid, five("long_ropes"), unit(grid * part), zeros(grid * part), i(part),
           i(drawn("steps of long_ropes", 15, 60)), smem=8 * part)  # fmt: skip


def _staged(case: Any) -> None:
    grid, pieces = drawn("staged_energies", 60, 300), drawn("pieces of staged_energies", 4, 12)
    within(case, "async", "staged_energies", grid, five("staged_energies"), normal(2_048 * grid * pieces), zeros(grid),
           i(pieces))  # fmt: skip
    grid = drawn("staged_echoes", 150, 1_500)
    within(case, "async", "staged_echoes", grid, two("staged_echoes"), normal(1_024 * grid + 32), normal(33),
           zeros(1_024 * grid))  # fmt: skip


def _warps(case: Any) -> None:
    n = drawn("group_medians", 1_000, 20_000)
    spread(case, "warps", "group_medians", 32 * n, five("group_medians"), numbers(32 * n, 10_000), zeros(n, "i4"),
           i(n))  # fmt: skip
    n, questions = drawn("jury_verdicts", 300, 4_000), drawn("questions of jury_verdicts", 8, 40)
    spread(case, "warps", "jury_verdicts", 32 * n, two("jury_verdicts"), numbers(32 * n * questions, 200, "u1"),
           zeros(n, "i4"), i(n), i(questions))  # fmt: skip
    n, quads = drawn("alike_to_query", 500, 6_000), drawn("quads of alike_to_query", 40, 160)
    spread(case, "warps", "alike_to_query", 32 * n, five("alike_to_query"), normal(4 * n * quads), normal(4 * quads),
           zeros(n), i(n), i(quads))  # fmt: skip
    n = drawn("product_scans", 300, 5_000)
    spread(case, "warps", "product_scans", 32 * n, five("product_scans"), numbers(32 * n, WORD, "u4"),
           zeros(32 * n, "u4"), i(n), i(drawn("rounds of product_scans", 8, 40)))  # fmt: skip
    n = drawn("village_clocks", 100, 4_000)
    spread(case, "latency", "village_clocks", 32 * n, five("village_clocks"), unit(32 * n), zeros(32 * n), i(n),
           i(drawn("rounds of village_clocks", 40, 160)))  # fmt: skip
    case("few", "village_clocks", 3, 96, unit(32 * 9), zeros(32 * 9), i(9), i(200))
    n, width = drawn("rows_to_unit_peak", 2_000, 20_000), drawn("width of rows_to_unit_peak", 100, 400)
    spread(case, "stream", "rows_to_unit_peak", 32 * n, two("rows_to_unit_peak"), normal(n * width), zeros(n * width),
           i(n), i(width))  # fmt: skip
    n = drawn("table_bills", 1_000, 20_000)
    spread(case, "warps", "table_bills", 32 * n, two("table_bills"), numbers(32 * n, 12, "u1"), numbers(32 * n, 9_000),
           zeros(32 * n, "i4"), i(n))  # fmt: skip


def _atomics(case: Any) -> None:
    n, bands = drawn("price_bands", 40_000, 400_000), drawn("bands of price_bands", 30, 3_000)
    spread(case, "atomics", "price_bands", n, five("price_bands"), numbers(n, WORD, "u4"), zeros(bands, "i4"), i(n),
           i(bands))  # fmt: skip
    case("atomics", "price_bands", 100, 256, numbers(25_600, WORD, "u4"), zeros(2, "i4"), i(25_600), i(2))
    n, bands = drawn("price_bands_by_block", 200_000, 1_500_000), drawn("bands of price_bands_by_block", 40, 1_000)
    within(case, "atomics", "price_bands_by_block", 264, five("price_bands_by_block"), numbers(n, WORD, "u4"),
           zeros(bands, "i4"), i(n), i(bands), smem=4 * bands)  # fmt: skip
    case("atomics", "price_bands_by_block", 132, 512, numbers(200_000, WORD, "u4"), zeros(4, "i4"), i(200_000), i(4),
         smem=16)  # fmt: skip
    n = drawn("claimed_seats", 30_000, 240_000)
    spread(case, "atomics", "claimed_seats", n, five("claimed_seats"), numbers(n, 1 << 30, "u4"),
           zeros(1 << 19, "u4"), i(n), u((1 << 19) - 1))  # fmt: skip
    n, stations = drawn("warmest_days", 40_000, 400_000), drawn("stations of warmest_days", 50, 5_000)
    spread(case, "atomics", "warmest_days", n, two("warmest_days"), numbers(n, WORD, "u4"), zeros(stations, "i4"), i(n),
           i(stations))  # fmt: skip
    n, towns = drawn("posted_letters", 30_000, 200_000), drawn("towns of posted_letters", 300, 6_000)
    spread(case, "atomics", "posted_letters", n, two("posted_letters"), numbers(n, towns, "u2"), zeros(towns, "i4"),
           zeros(64 * towns, "i4"), i(n), i(64))  # fmt: skip
    n = drawn("class_totals", 40_000, 200_000)
    spread(case, "atomics", "class_totals", drawn("threads of class_totals", 10_000, 40_000), two("class_totals"),
           numbers(n, 200, "u1"), numbers(n, 101, "u1"), zeros(200), zeros(200), i(n))  # fmt: skip
    n, high = drawn("seen_numbers", 60_000, 600_000), drawn("high of seen_numbers", 3_000, 300_000)
    spread(case, "atomics", "seen_numbers", n, two("seen_numbers"), numbers(n, WORD, "u4"),
           zeros(high // 32 + 1, "u4"), i(n), u(high))  # fmt: skip
    n = drawn("passed_bound", 200_000, 2_000_000)
    spread(case, "atomics", "passed_bound", drawn("threads of passed_bound", 20_000, 130_000), two("passed_bound"),
           unit(n), zeros(1, "i4"), i(n), f(0.4))  # fmt: skip


def _physics(case: Any) -> None:
    n = drawn("harbour_tides", 10_000, 150_000)
    spread(case, "sfu", "harbour_tides", n, five("harbour_tides"), unit(n), zeros(n), i(n),
           i(drawn("hours of harbour_tides", 30, 120)))  # fmt: skip
    case("tail", "harbour_tides", 133, 1_024, unit(133 * 1_024), zeros(133 * 1_024), i(133 * 1_024), i(48))
    n = drawn("cooling_cups", 2_000, 100_000)
    spread(case, "latency", "cooling_cups", n, two("cooling_cups"), unit(n), zeros(n), i(n),
           i(drawn("turns of cooling_cups", 60, 300)))  # fmt: skip
    case("few", "cooling_cups", 2, 64, unit(100), zeros(100), i(100), i(500))
    n = drawn("thrown_balls", 5_000, 80_000)
    spread(case, "divergence", "thrown_balls", n, five("thrown_balls"), unit(2 * n), zeros(n), i(n))
    n = drawn("comet_paths", 2_000, 60_000)
    spread(case, "latency", "comet_paths", n, five("comet_paths"), unit(2 * n), zeros(2 * n), i(n),
           i(drawn("steps of comet_paths", 100, 400)))  # fmt: skip
    case("few", "comet_paths", 1, 160, unit(300), zeros(300), i(150), i(400))
    n = drawn("harbour_miles", 40_000, 700_000)
    spread(case, "sfu", "harbour_miles", n, two("harbour_miles"), unit(2 * n), zeros(n), i(n), f(0.17), f(0.93))
    n = drawn("film_curves", 100_000, 1_500_000)
    spread(case, "sfu", "film_curves", drawn("threads of film_curves", 30_000, 250_000), two("film_curves"), unit(n),
           zeros(n), i(n))  # fmt: skip
    n = drawn("fleet_wakes", 1_500, 6_000)
    spread(case, "fma", "fleet_wakes", n, five("fleet_wakes"), normal(2 * n), zeros(n), i(n))


def _chance(case: Any) -> None:
    n = drawn("table_walkers", 4_000, 60_000)
    spread(case, "divergence", "table_walkers", n, five("table_walkers"), zeros(n, "i4"), i(n), i(10), i(400), u(11))
    n = drawn("exploding_dice", 10_000, 150_000)
    spread(case, "divergence", "exploding_dice", n, two("exploding_dice"), zeros(n, "i4"), i(n),
           i(drawn("rounds of exploding_dice", 30, 150)), u(12))  # fmt: skip
    n = drawn("rock_paper_rounds", 10_000, 150_000)
    spread(case, "integer", "rock_paper_rounds", n, two("rock_paper_rounds"), zeros(n, "i4"), i(n),
           i(drawn("rounds of rock_paper_rounds", 60, 250)), u(13))  # fmt: skip
    n = drawn("darts_under_bell", 10_000, 150_000)
    spread(case, "integer", "darts_under_bell", n, two("darts_under_bell"), zeros(n, "i4"), i(n),
           i(drawn("throws of darts_under_bell", 60, 300)), u(14))  # fmt: skip
    case("tail", "darts_under_bell", 133, 1_024, zeros(133 * 1_024, "i4"), i(133 * 1_024), i(120), u(15))


def _pictures(case: Any) -> None:
    width, height = side("mirrored_photos", 1_500, 3_500)
    in_shapes(case, "stream", "mirrored_photos", width, height, shapes("mirrored_photos", 2),
              numbers(width * height, WORD, "u4"), zeros(width * height, "u4"), i(width), i(height))  # fmt: skip
    width, height = side("dark_channels", 150, 900)
    in_shapes(case, "cache", "dark_channels", width, height, shapes("dark_channels", 5),
              numbers(4 * width * height, 256, "u1"), zeros(width * height, "u1"), i(width), i(height))  # fmt: skip
    width, height = side("vignettes", 300, 1_400)
    in_shapes(case, "sfu", "vignettes", width, height, shapes("vignettes", 2), unit(width * height),
              zeros(width * height), i(width), i(height))  # fmt: skip
    width, height = side("water_directions", 200, 1_400)
    in_shapes(case, "cache", "water_directions", width, height, shapes("water_directions", 2),
              numbers(width * height, 50), zeros(width * height, "u1"), i(width), i(height))  # fmt: skip


def _walks(case: Any) -> None:
    n, stations = drawn("station_hops", 3_000, 80_000), drawn("stations of station_hops", 3_000, 2_000_000)
    spread(case, "cache", "station_hops", n, five("station_hops"), Given("tracks", "i4", stations, 1),
           zeros(n, "i4"), i(n), i(stations), i(drawn("hops of station_hops", 10, 40)))  # fmt: skip
    case("latency", "station_hops", 1, 32, Given("tracks", "i4", 2_000, 1), zeros(32, "i4"), i(32), i(2_000), i(300))
    case("latency", "station_hops", 40, 64, Given("tracks", "i4", 900_000, 1), zeros(2_560, "i4"), i(2_560),
         i(900_000), i(60))  # fmt: skip
    n = drawn("family_depths", 20_000, 300_000)
    spread(case, "divergence", "family_depths", n, two("family_depths"), Given("parents", "i4", n, 1),
           zeros(n, "i4"), i(n))  # fmt: skip
    n = drawn("friends_of_friends", 3_000, 60_000)
    spread(case, "cache", "friends_of_friends", n, two("friends_of_friends"),
           *lists(n, drawn("mean of friends_of_friends", 6, 24)), zeros(n, "i4"), i(n))  # fmt: skip


def _tables(case: Any) -> None:
    n = drawn("steam_table", 30_000, 500_000)
    spread(case, "cache", "steam_table", n, two("steam_table"), unit(4_096), unit(2 * n), zeros(n), i(n))
    n, count = drawn("sales_between", 5_000, 150_000), drawn("count of sales_between", 3_000, 500_000)
    spread(case, "cache", "sales_between", n, two("sales_between"), Given("sorted", "u4", count, WORD),
           numbers(2 * n, WORD, "u4"), zeros(n, "i4"), i(n), i(count))  # fmt: skip
    n, box = drawn("picked_cards", 30_000, 400_000), drawn("box of picked_cards", 5_000, 300_000)
    spread(case, "cache", "picked_cards", n, two("picked_cards"), numbers(8 * box, WORD, "u4"), numbers(n, box),
           zeros(n, "u4"), i(n))  # fmt: skip
    n = drawn("egg_floors", 5_000, 60_000)
    spread(case, "local", "egg_floors", n, two("egg_floors"), numbers(n, 256, "u1"), zeros(n, "i4"), i(n),
           i(drawn("throws of egg_floors", 8, 40)))  # fmt: skip
    n, houses = drawn("painted_houses", 5_000, 60_000), drawn("houses of painted_houses", 20, 80)
    spread(case, "latency", "painted_houses", n, two("painted_houses"), numbers(3 * n * houses, 256, "u1"),
           zeros(n, "i4"), i(n), i(houses))  # fmt: skip


def _texts(case: Any) -> None:
    n = drawn("common_beginnings", 10_000, 100_000)
    spread(case, "divergence", "common_beginnings", n, two("common_beginnings"),
           Given("similar lines", "u1", 48 * n, 48), zeros(n, "i4"), i(n), i(48))  # fmt: skip
    n = drawn("pattern_hits", 100_000, 1_000_000)
    spread(case, "constant", "pattern_hits", n, two("pattern_hits"), numbers(n + 8, 2, "u1"), zeros(n, "u1"), i(n))
    n, length = drawn("fnv_words", 5_000, 120_000), drawn("length of fnv_words", 20, 100)
    spread(case, "latency", "fnv_words", n, five("fnv_words"), numbers(n * length, 256, "u1"), zeros(n, "u4"), i(n),
           i(length))  # fmt: skip
    n = drawn("isbn_checks", 30_000, 400_000)
    spread(case, "int64", "isbn_checks", n, two("isbn_checks"), Given("long", "u8", n, 10**10), zeros(n, "u1"), i(n))
    n = drawn("title_letters", 500_000, 4_000_000)
    spread(case, "bytes", "title_letters", drawn("threads of title_letters", 60_000, 270_000), two("title_letters"),
           Given("text", "u1", n, 6), zeros(n, "u1"), i(n))  # fmt: skip


def _integers(case: Any) -> None:
    n = drawn("xorshift_sums", 10_000, 150_000)
    spread(case, "int64", "xorshift_sums", n, five("xorshift_sums"), Given("long", "u8", n, 1 << 64),
           zeros(n, "u8"), i(n), i(drawn("turns of xorshift_sums", 50, 200)))  # fmt: skip
    n = drawn("aliquot_walks", 2_000, 30_000)
    spread(case, "division", "aliquot_walks", n, five("aliquot_walks"), numbers(n, 4_000, "u2"), zeros(n, "i4"), i(n),
           i(5))  # fmt: skip
    n = drawn("bit_fingerprints", 20_000, 250_000)
    spread(case, "integer", "bit_fingerprints", n, two("bit_fingerprints"), numbers(n, WORD, "u4"), zeros(n, "u4"),
           i(n), i(drawn("rounds of bit_fingerprints", 60, 250)))  # fmt: skip
    n, again = drawn("packed_taste", 20_000, 150_000), drawn("again of packed_taste", 10, 60)
    spread(case, "integer", "packed_taste", n, two("packed_taste"), numbers(16 * n, WORD, "u4"),
           numbers(16 * again, WORD, "u4"), zeros(n, "i4"), i(n), i(again))  # fmt: skip
    n = drawn("wheel_ciphers", 20_000, 250_000)
    spread(case, "integer", "wheel_ciphers", n, two("wheel_ciphers"), numbers(n, WORD, "u4"), zeros(n, "u4"), i(n),
           i(drawn("rounds of wheel_ciphers", 60, 300)))  # fmt: skip
    case("few", "wheel_ciphers", 4, 128, numbers(512, WORD, "u4"), zeros(512, "u4"), i(512), i(600))
    n = drawn("gear_teeth", 10_000, 150_000)
    spread(case, "division", "gear_teeth", n, round_sizes("gear_teeth", 2), numbers(n, WORD, "u4"), zeros(n, "u4"),
           i(n))  # fmt: skip


def _programs(case: Any) -> None:
    for steps in (50, 600, 2_500):
        name = f"kitchen_steps<{steps}>"
        n = drawn(name, 10_000, 150_000)
        blocks = five(name) if steps == 2_500 else two(name)
        spread(case, "fetch", name, n, blocks, numbers(n, WORD, "u4"), zeros(n, "u4"), i(n))
    case("fetch", "kitchen_steps<2500>", 20, 64, numbers(1_280, WORD, "u4"), zeros(1_280, "u4"), i(1_280))
    n, each = drawn("menu_orders", 4_000, 60_000), drawn("each of menu_orders", 10, 40)
    spread(case, "divergence", "menu_orders", n, five("menu_orders"), numbers(n * each, 256, "u1"), zeros(n), i(n),
           i(each))  # fmt: skip


def _doubles(case: Any) -> None:
    n = drawn("basel_sums", 3_000, 40_000)
    spread(case, "fp64", "basel_sums", n, two("basel_sums"), zeros(n, "f8"), i(n),
           i(drawn("terms of basel_sums", 20, 100)))  # fmt: skip
    n = drawn("double_cubic_maps", 5_000, 120_000)
    spread(case, "fp64", "double_cubic_maps", n, five("double_cubic_maps"), unit(n, "f8"), zeros(n, "f8"), i(n),
           i(drawn("turns of double_cubic_maps", 60, 300)))  # fmt: skip
    n = drawn("bell_areas", 2_000, 30_000)
    spread(case, "fp64", "bell_areas", n, two("bell_areas"), unit(n, "f8"), zeros(n, "f8"), i(n),
           i(drawn("pieces of bell_areas", 10, 50)))  # fmt: skip
    n, pairs = drawn("double_row_lengths", 500, 5_000), drawn("pairs of double_row_lengths", 40, 160)
    spread(case, "fp64", "double_row_lengths", 32 * n, two("double_row_lengths"), normal(2 * n * pairs, "f8"),
           zeros(n, "f8"), i(n), i(pairs))  # fmt: skip


def _halves(case: Any) -> None:
    n, degree = drawn("half_polynomials", 20_000, 250_000), drawn("degree of half_polynomials", 30, 160)
    spread(case, "half", "half_polynomials", n, five("half_polynomials"), unit(2 * n, "f2"),
           normal(2 * degree + 2, "f2"), zeros(2 * n, "f2"), i(n), i(degree))  # fmt: skip
    n = drawn("half_relu6_rows", 300_000, 3_000_000)
    spread(case, "half", "half_relu6_rows", drawn("threads of half_relu6_rows", 60_000, 270_000),
           two("half_relu6_rows"), normal(2 * n, "f2"), normal(1_536, "f2"), zeros(2 * n, "f2"), i(n),
           i(768))  # fmt: skip
    n, pairs = drawn("bf16_row_totals", 1_000, 8_000), drawn("pairs of bf16_row_totals", 100, 700)
    spread(case, "half", "bf16_row_totals", 32 * n, two("bf16_row_totals"), numbers(2 * n * pairs, 0x3F80, "u2"),
           zeros(n), i(n), i(pairs))  # fmt: skip


def _matrices(case: Any) -> None:
    n, groups = drawn("room_mixes", 300, 6_000), drawn("groups of room_mixes", 16, 100)
    spread(case, "tensor", "room_mixes", 32 * n, two("room_mixes"), numbers(256 * n, 0x3C00, "u2"),
           numbers(128 * groups, 0x3C00, "u2"), zeros(128 * n), i(n), i(groups))  # fmt: skip
    rows, depth = 16 * drawn("survey_scores", 100, 2_500), 8 * drawn("depth of survey_scores", 8, 24)
    spread(case, "tensor", "survey_scores", 2 * rows, two("survey_scores"), numbers(rows * depth, 5, "f4"),
           numbers(8 * depth, 9, "f4"), zeros(8 * rows), i(rows), i(depth))  # fmt: skip
    rows, columns = 16 * drawn("rows of shared_rows_product", 10, 60), 32 * drawn("columns of shared_rows", 5, 30)
    words = 8 * drawn("words of shared_rows_product", 8, 40)
    spread(case, "tensor", "shared_rows_product", rows * columns // 16, five("shared_rows_product"),
           numbers(2 * rows * words, 0x3F80, "u2"), numbers(2 * columns * words, 0x3F80, "u2"), zeros(rows * columns),
           i(rows), i(columns), i(words))  # fmt: skip


def _beginners(case: Any) -> None:
    n = drawn("museum_prices", 50_000, 800_000)
    spread(case, "beginner", "museum_prices", n, round_sizes("museum_prices", 2), numbers(n, 90), zeros(n), i(n))
    case("tiny", "museum_prices", 1, 100, numbers(100, 90), zeros(100), i(100))
    for n in (200, 1_500):
        case("few", "lonely_sum", 1, 1, numbers(n, 100), zeros(1, "i4"), i(n))
    n, width = drawn("naive_rows", 2_000, 30_000), drawn("width of naive_rows", 40, 200)
    spread(case, "beginner", "naive_rows", n, five("naive_rows"), normal(n * width), normal(width), zeros(n), i(n),
           i(width))  # fmt: skip


def _streams(case: Any) -> None:
    n = drawn("wind_speeds", 800_000, 4_000_000)
    spread(case, "stream", "wind_speeds", n, two("wind_speeds"), unit(4 * n), unit(4 * n + 1), zeros(4 * n), i(n))
    n = drawn("mono_samples", 5_000_000, 20_000_000)
    spread(case, "stream", "mono_samples", drawn("threads of mono_samples", 100_000, 270_000), two("mono_samples"),
           numbers(2 * n, 30_000, "i2"), zeros(n, "i2"), i(n))  # fmt: skip
    n = drawn("year_on_year", 3_000_000, 15_000_000)
    spread(case, "stream", "year_on_year", n, two("year_on_year"), unit(n + 365), zeros(n), i(n), i(365))
    n = drawn("bytes_from_ints", 1_000_000, 5_000_000)
    spread(case, "stream", "bytes_from_ints", drawn("threads of bytes_from_ints", 100_000, 270_000),
           two("bytes_from_ints"), numbers(4 * n, 300), zeros(4 * n, "u1"), i(n))  # fmt: skip
