"""A twenty-third set of launches for the timing model: other kernels than those of the twenty-two sets before it, as
students, engineers and teachers write them, by an author who saw neither the model nor an estimate. Sizes and block
sizes are drawn at random, by seeds from names; most kernels run with the same work in blocks of three or four sizes,
small launches as often as large ones. At most a third of the launches are bound by DRAM. They are predicted and
committed before a GPU measures them."""

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

SOURCE = Path(__file__).parent / "kernels" / "twenty_third.cu"
FILE = "twenty_third.cu"
#: Categories whose launches are bound by DRAM, or close to it.
DRAM = ("stream",)
#: Block sizes that are no multiples of 32, for kernels whose threads do not work together.
ROUND = (20, 33, 50, 75, 100, 125, 150, 200, 250, 300, 333, 400, 500, 600, 750, 1_000)


def drawn(name: str, low: int, high: int) -> int:
    """A number from ``low`` to ``high`` at random, evenly on a logarithmic scale, by a seed from ``name``."""
    return round(low * (high / low) ** Random(f"twenty-third, {name}").random())


def _how_many(rng: Random) -> int:
    return rng.choice((3,) * 30 + (4,))


def sizes(name: str, least: int = 32, most: int = 1_024) -> tuple[int, ...]:
    """Three or four block sizes from ``least`` to ``most`` at random, multiples of 32, by a seed from ``name``."""
    rng = Random(f"twenty-third, blocks of {name}")
    pool = [b for b in rng.choice((POWERS, BLOCKS)) if least <= b <= most]
    pool = pool if len(pool) >= 5 else [b for b in BLOCKS if least <= b <= most]
    return tuple(sorted(rng.sample(pool, _how_many(rng))))


def round_sizes(name: str) -> tuple[int, ...]:
    """Three or four block sizes at random that are no multiples of 32, by a seed from ``name``."""
    rng = Random(f"twenty-third, round blocks of {name}")
    return tuple(sorted(rng.sample(ROUND, _how_many(rng))))


def shapes(name: str) -> tuple[tuple[int, int], ...]:
    """Three or four shapes of blocks at random, by a seed from ``name``."""
    rng = Random(f"twenty-third, shapes of {name}")
    return tuple(sorted(rng.sample(SHAPES, _how_many(rng))))


def one(name: str, least: int = 32, most: int = 1_024) -> int:
    """A block size from ``least`` to ``most`` at random, by a seed from ``name``."""
    return Random(f"twenty-third, block of {name}").choice([b for b in BLOCKS if least <= b <= most])


def side(name: str, low: int, high: int) -> tuple[int, int]:
    """Width and height of a picture at random, by seeds from ``name``."""
    return drawn(f"width of {name}", low, high), drawn(f"height of {name}", low, high)


def _hills(size: int, high: int, rng: np.random.Generator) -> np.ndarray:
    """Heights of a square of land, with valleys that are about three times ``high`` apart."""
    y, x = np.mgrid[: round(size**0.5), : round(size**0.5)] / high
    return 8_000 * (np.sin(2 * x + rng.random()) + np.cos(2 * y + rng.random())) + rng.integers(0, 40, x.shape)


def _telephone_book(size: int, high: int, rng: np.random.Generator) -> np.ndarray:
    """Where the numbers of 24 bits begin by their first twelve bits, then the numbers in order."""
    book = np.sort(rng.integers(0, high, size - 4_097))
    return np.append(np.searchsorted(book, np.arange(4_097) << 12), book)


RECIPES: dict[str, Callable[[int, int, np.random.Generator], Any]] = {
    "hills": _hills,
    "telephone book": _telephone_book,
    "long words": lambda size, high, rng: rng.integers(0, 1 << 64, size, "u8"),
    "changes": lambda size, high, rng: rng.integers(-3, 9, size) * (rng.integers(0, high, size) > 0),
    # Each column of 16 has the sum one.
    "odds": lambda size, high, rng: (
        (rng.dirichlet(np.ones(16), size // 16).T).astype("f4").ravel().view("u4") >> np.uint32(16)
    ),
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
            _clusters,
            _staged,
            _warps,
            _gathers_of_warps,
            _atomics,
            _physics,
            _pictures,
            _games,
            _puzzles,
            _walks,
            _tables,
            _texts,
            _long_integers,
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
    rows, width = drawn("pond_levels", 20, 500), drawn("side of pond_levels", 18, 40)
    within(case, "barrier", "pond_levels", rows, sizes("pond_levels"), numbers(rows * width**2, 1_000),
           zeros(rows * width**2, "i4"), i(width), smem=8 * width**2)  # fmt: skip
    rows, length = drawn("plucked_strings", 150, 1_500), drawn("length of plucked_strings", 100, 700)
    within(case, "barrier", "plucked_strings", rows, sizes("plucked_strings"), unit(rows * length),
           zeros(rows * length), i(length), i(drawn("periods of plucked_strings", 40, 200)),
           smem=8 * length)  # fmt: skip
    within(case, "few", "plucked_strings", 3, (32, 160, 640), unit(3 * 320), zeros(3 * 320), i(320), i(150), smem=2_560,
           series="plucked_strings, few")  # fmt: skip
    rows = drawn("cup_winners", 20, 2_000)
    within(case, "barrier", "cup_winners", rows, sizes("cup_winners"), numbers(1_024 * rows, 20_000, "u2"),
           zeros(2 * rows, "i4"))  # fmt: skip


def _shared(case: Any) -> None:
    for gap in (0, 1):
        name = f"sheet_rows<{gap}>"
        rows, each = drawn(name, 60, 900), drawn(f"sheets of {name}", 2, 10)
        within(case, "shared", name, rows, sizes(name), numbers(2_048 * rows * each, 2, "f4"),
               zeros(64 * rows * each), i(each))  # fmt: skip
    for copies in (1, 8):
        name = f"pitch_classes<{copies}>"
        rows, count = drawn(name, 40, 1_200), drawn(f"notes of {name}", 1_000, 9_000)
        within(case, "atomics", name, rows, sizes(name), numbers(rows * count, 256, "u1"), zeros(12 * rows, "i4"),
               i(count))  # fmt: skip


def _clusters(case: Any) -> None:
    for size in (2, 8):
        name = f"ring_messages<{size}>"
        threads = 1_024 * size * drawn(name, 2, 60)
        # Whole clusters have a few threads more.
        room = threads + 1_024 * size
        for block in sizes(name):
            case("clusters", name, size * -(-threads // (size * block)), block, numbers(room, WORD, "u4"),
                 zeros(room, "u4"), i(20 * size), series=name)  # fmt: skip
    rows, quarter = 4 * drawn("quarters_exchanged", 8, 200), drawn("quarter of quarters_exchanged", 200, 1_500)
    within(case, "clusters", "quarters_exchanged", rows, sizes("quarters_exchanged"), unit(4 * rows * quarter),
           zeros(4 * rows * quarter), i(quarter), smem=16 * quarter)  # fmt: skip


def _staged(case: Any) -> None:
    rows, stretches = drawn("streamed_peaks", 60, 500), drawn("stretches of streamed_peaks", 5, 20)
    within(case, "async", "streamed_peaks", rows, sizes("streamed_peaks"), normal(1_024 * rows * stretches),
           zeros(rows * stretches), i(stretches))  # fmt: skip
    rows = drawn("staged_dictionaries", 40, 1_500)
    within(case, "async", "staged_dictionaries", rows, sizes("staged_dictionaries"), numbers(512 * rows, WORD, "u4"),
           zeros(1_024 * rows, "u4"), i(60))  # fmt: skip


def _warps(case: Any) -> None:
    n = drawn("torus_life", 40, 9_000)
    spread(case, "warps", "torus_life", 32 * n, sizes("torus_life"), numbers(32 * n, WORD, "u4"), zeros(32 * n, "u4"),
           i(n), i(drawn("turns of torus_life", 20, 120)))  # fmt: skip
    n, hands = drawn("card_twins", 100, 6_000), drawn("hands of card_twins", 4, 24)
    spread(case, "warps", "card_twins", 32 * n, sizes("card_twins"), numbers(32 * n * hands, 52, "u1"), zeros(n, "i4"),
           i(n), i(hands))  # fmt: skip
    n, stops = drawn("bus_loads", 50, 6_000), 32 * drawn("stops of bus_loads", 3, 14)
    spread(case, "warps", "bus_loads", 32 * n, sizes("bus_loads"), Given("changes", "i1", n * stops, 20),
           zeros(n * stops, "i4"), i(n), i(stops))  # fmt: skip
    n = drawn("race_places", 300, 12_000)
    spread(case, "warps", "race_places", 32 * n, sizes("race_places"), numbers(32 * n, 60_000, "u2"),
           zeros(32 * n, "u1"), i(n))  # fmt: skip
    n = drawn("whispered_words", 500, 6_000)
    spread(case, "latency", "whispered_words", 32 * n, sizes("whispered_words"), numbers(32 * n, WORD, "u4"),
           zeros(32 * n, "u4"), i(n), i(drawn("rounds of whispered_words", 30, 200)))  # fmt: skip
    spread(case, "few", "whispered_words", 32 * 20, (32, 128, 640), numbers(32 * 20, WORD, "u4"), zeros(32 * 20, "u4"),
           i(20), i(400), series="whispered_words, few")  # fmt: skip
    n, days = drawn("league_days", 60, 5_000), drawn("days of league_days", 6, 34)
    spread(case, "warps", "league_days", 32 * n, sizes("league_days"), numbers(32 * n * days, 9, "u1"),
           zeros(4 * n, "u4"), i(n), i(days))  # fmt: skip


def _gathers_of_warps(case: Any) -> None:
    n, people = drawn("taste_pairs", 2_000, 40_000), drawn("people of taste_pairs", 500, 60_000)
    spread(case, "cache", "taste_pairs", 32 * n, sizes("taste_pairs"), normal(64 * people), numbers(2 * n, people),
           zeros(n), i(n))  # fmt: skip
    n = drawn("above_their_mean", 500, 20_000)
    spread(case, "cache", "above_their_mean", 32 * n, sizes("above_their_mean"),
           *lists(n, drawn("mean of above_their_mean", 20, 120)), unit(n), zeros(n, "i4"), i(n))  # fmt: skip


def _atomics(case: Any) -> None:
    n, lots = drawn("lot_records", 50_000, 500_000), drawn("lots of lot_records", 100, 20_000)
    spread(case, "atomics", "lot_records", drawn("threads of lot_records", 20_000, 150_000), sizes("lot_records"),
           numbers(n, WORD, "u4"), zeros(lots, "u8"), i(n), i(lots))  # fmt: skip
    n = drawn("tag_pairs", 30_000, 300_000)
    spread(case, "atomics", "tag_pairs", n, sizes("tag_pairs"), numbers(n, 250, "u1"), zeros(100**2, "i4"), i(n),
           i(100))  # fmt: skip
    n, count = drawn("double_accounts", 4_000, 200_000), drawn("accounts of double_accounts", 50, 30_000)
    spread(case, "atomics", "double_accounts", n, sizes("double_accounts"), numbers(n, WORD, "u4"), zeros(count, "f8"),
           i(n), i(count))  # fmt: skip
    n, width = drawn("rain_levels", 8_000, 200_000), drawn("width of rain_levels", 60, 1_500)
    spread(case, "atomics", "rain_levels", n, sizes("rain_levels"), numbers(n, WORD, "u4"), zeros(width**2), i(n),
           i(width))  # fmt: skip
    n = drawn("listed_divisors", 20_000, 400_000)
    spread(case, "atomics", "listed_divisors", n, sizes("listed_divisors"), zeros(n, "u4"), zeros(1, "i4"), i(n),
           u(3_603_600_000))  # fmt: skip


def _physics(case: Any) -> None:
    n = drawn("lyapunov_sums", 20_000, 200_000)
    spread(case, "sfu", "lyapunov_sums", n, sizes("lyapunov_sums"), unit(n), zeros(n), i(n),
           i(drawn("turns of lyapunov_sums", 60, 400)))  # fmt: skip
    n = drawn("clifford_points", 1_500, 150_000)
    spread(case, "sfu", "clifford_points", n, sizes("clifford_points"), unit(2 * n), zeros(2 * n), i(n),
           i(drawn("turns of clifford_points", 50, 250)))  # fmt: skip
    case("tail", "clifford_points", 265, 512, unit(2 * 265 * 512), zeros(2 * 265 * 512), i(265 * 512), i(100))
    n = drawn("channel_depths", 2_000, 120_000)
    spread(case, "sfu", "channel_depths", n, sizes("channel_depths"), unit(n), unit(n + 1), zeros(n), i(n),
           i(drawn("turns of channel_depths", 5, 12)))  # fmt: skip
    n = drawn("daylight_hours", 40_000, 700_000)
    spread(case, "sfu", "daylight_hours", n, sizes("daylight_hours"), unit(n), unit(n + 1), zeros(n), i(n))
    n, count = drawn("thin_layers", 5_000, 200_000), drawn("layers of thin_layers", 20, 80)
    spread(case, "sfu", "thin_layers", n, sizes("thin_layers"), unit(2 * count), zeros(n), i(n), i(count),
           smem=8 * count)  # fmt: skip
    case("tail", "thin_layers", 133, 1_024, unit(100), zeros(133 * 1_024), i(133 * 1_024), i(50), smem=400)
    n = drawn("phased_tones", 700, 40_000)
    spread(case, "latency", "phased_tones", n, sizes("phased_tones"), normal(n * 60), zeros(n * 60), i(n), i(60))


def _pictures(case: Any) -> None:
    width, height = side("ripple_step", 150, 1_600)
    in_shapes(case, "cache", "ripple_step", width, height, shapes("ripple_step"), unit(width * height),
              unit(width * height), zeros(width * height), i(width), i(height))  # fmt: skip
    (width, height), seen = side("log_polar_views", 100, 900), drawn("side of log_polar_views", 300, 2_000)
    in_shapes(case, "cache", "log_polar_views", width, height, shapes("log_polar_views"), unit(seen**2),
              zeros(width * height), i(width), i(height), i(seen))  # fmt: skip
    width, height = side("contour_squares", 200, 1_800)
    in_shapes(case, "divergence", "contour_squares", width, height, shapes("contour_squares"),
              numbers(width * height, 9_000, "i2"), zeros(width * height, "i4"), i(width), i(height),
              i(4_000))  # fmt: skip


def _games(case: Any) -> None:
    n = drawn("snakes_and_ladders", 4_000, 120_000)
    spread(case, "divergence", "snakes_and_ladders", n, sizes("snakes_and_ladders"), zeros(n, "i4"), i(n), i(200), u(1))
    spread(case, "few", "snakes_and_ladders", 1_000, round_sizes("snakes_and_ladders"), zeros(1_000, "i4"), i(1_000),
           i(300), u(2), series="snakes_and_ladders, few")  # fmt: skip
    n = drawn("craps_nights", 5_000, 90_000)
    spread(case, "divergence", "craps_nights", n, sizes("craps_nights"), zeros(n, "i4"), i(n),
           i(drawn("games of craps_nights", 10, 60)), u(3))  # fmt: skip
    n = drawn("tic_tac_toe_values", 600, 20_000)
    spread(case, "local", "tic_tac_toe_values", n, sizes("tic_tac_toe_values"), zeros(n, "i4"), i(n), u(4))


def _puzzles(case: Any) -> None:
    n = drawn("look_and_say", 2_000, 60_000)
    spread(case, "local", "look_and_say", n, sizes("look_and_say"), numbers(n, WORD, "u4"), zeros(n, "i4"), i(n))
    n = drawn("egg_throws", 10_000, 200_000)
    spread(case, "local", "egg_throws", n, round_sizes("egg_throws"), numbers(n, WORD, "u4"), zeros(n, "i4"), i(n))
    n = drawn("bracket_rows", 8_000, 208_012)
    spread(case, "shared", "bracket_rows", n, sizes("bracket_rows"), zeros(n, "u4"), i(n))
    n = drawn("hands_in_order", 3_000, 120_000)
    spread(case, "local", "hands_in_order", n, sizes("hands_in_order"), numbers(16 * n, WORD, "u4"),
           zeros(16 * n, "u4"), i(n))  # fmt: skip
    n, length = drawn("hidden_palindromes", 1_000, 40_000), drawn("length of hidden_palindromes", 16, 40)
    spread(case, "local", "hidden_palindromes", n, sizes("hidden_palindromes"), numbers(n * length, 4, "u1"),
           zeros(n, "u1"), i(n), i(length))  # fmt: skip


def _walks(case: Any) -> None:
    n, pages = drawn("wandering_readers", 4_000, 120_000), drawn("pages of wandering_readers", 2_000, 60_000)
    spread(case, "cache", "wandering_readers", n, sizes("wandering_readers"), *lists(pages, 12), zeros(n, "u4"), i(n),
           i(pages), i(drawn("steps of wandering_readers", 10, 50)), u(5))  # fmt: skip
    n, width = drawn("downhill_walks", 3_000, 90_000), drawn("side of downhill_walks", 200, 1_500)
    spread(case, "cache", "downhill_walks", n, sizes("downhill_walks"), Given("hills", "i4", width**2, 12),
           zeros(n, "i4"), i(n), i(width))  # fmt: skip
    n, count = drawn("treasure_hunts", 2_000, 90_000), drawn("count of treasure_hunts", 50_000, 1_500_000)
    spread(case, "latency", "treasure_hunts", n, sizes("treasure_hunts"), numbers(2 * count, WORD, "u4"),
           zeros(n, "u4"), i(n), u(count), i(drawn("clues of treasure_hunts", 15, 60)))  # fmt: skip
    spread(case, "few", "treasure_hunts", 256, (32, 64, 256), numbers(2 * 3_000, WORD, "u4"), zeros(256, "u4"), i(256),
           u(3_000), i(200), series="treasure_hunts, few")  # fmt: skip


def _tables(case: Any) -> None:
    n, width = drawn("rectangle_prices", 20_000, 400_000), drawn("side of rectangle_prices", 100, 2_500)
    spread(case, "cache", "rectangle_prices", n, sizes("rectangle_prices"), numbers(width**2, WORD, "u4"),
           numbers(n, WORD, "u4"), zeros(n, "u4"), i(n), i(width))  # fmt: skip
    n, entries = drawn("telephone_book", 5_000, 300_000), drawn("entries of telephone_book", 30_000, 250_000)
    spread(case, "cache", "telephone_book", n, sizes("telephone_book"),
           Given("telephone book", "u4", 4_097 + entries, 1 << 24), numbers(n, WORD, "u4"), zeros(n, "i4"),
           i(n))  # fmt: skip


def _texts(case: Any) -> None:
    n, length = drawn("counted_tokens", 1_000, 50_000), drawn("length of counted_tokens", 40, 160)
    spread(case, "divergence", "counted_tokens", n, sizes("counted_tokens"), numbers(n * length, 96, "u1"),
           zeros(4 * n, "u1"), i(n), i(length))  # fmt: skip
    n = drawn("spoken_letters", 3_000, 300_000)
    spread(case, "constant", "spoken_letters", n, sizes("spoken_letters"), numbers(n, WORD, "u4"), zeros(n, "i4"), i(n))
    n = drawn("melody_pitches", 3_000, 100_000)
    spread(case, "constant", "melody_pitches", n, sizes("melody_pitches"), numbers(n, WORD, "u4"), zeros(n, "i4"), i(n),
           i(drawn("bars of melody_pitches", 3, 12)))  # fmt: skip


def _long_integers(case: Any) -> None:
    n = drawn("fibonacci_remainders", 3_000, 40_000)
    spread(case, "division", "fibonacci_remainders", n, sizes("fibonacci_remainders"), numbers(n, WORD, "u4"),
           zeros(n, "u4"), i(n), u(4_294_967_291))  # fmt: skip
    n = drawn("turned_generators", 20_000, 200_000)
    spread(case, "int64", "turned_generators", n, sizes("turned_generators"), Given("long words", "u8", n),
           zeros(n, "u8"), i(n), i(drawn("turns of turned_generators", 40, 150)))  # fmt: skip
    spread(case, "few", "turned_generators", 2_000, (32, 320, 736), Given("long words", "u8", 2_000),
           zeros(2_000, "u8"), i(2_000), i(250), series="turned_generators, few")  # fmt: skip
    n = drawn("knight_reaches", 4_000, 250_000)
    spread(case, "int64", "knight_reaches", n, sizes("knight_reaches"), Given("long words", "u8", n), zeros(n, "i4"),
           i(n), i(drawn("steps of knight_reaches", 6, 30)))  # fmt: skip
    n = drawn("bus_meetings", 8_000, 200_000)
    spread(case, "division", "bus_meetings", n, round_sizes("bus_meetings"), numbers(n, WORD, "u4"), zeros(n, "u4"),
           i(n))  # fmt: skip


def _programs(case: Any) -> None:
    for stages in (60, 700, 3_000):
        name = f"effect_stages<{stages}>"
        n = drawn(name, 10_000, 150_000)
        # With 3,000 stages a thread has 168 registers, and a block of 512 does not start.
        blocks = sizes(name, most=384 if stages == 3_000 else 1_024)
        spread(case, "fetch", name, n, blocks, unit(n), zeros(n), i(n))
    spread(case, "fetch", "effect_stages<3000>", 2_500, (32, 128, 384), unit(2_500), zeros(2_500), i(2_500),
           series="effect_stages<3000>, few")  # fmt: skip


def _doubles(case: Any) -> None:
    n = drawn("lambert_metres", 3_000, 60_000)
    spread(case, "fp64", "lambert_metres", n, sizes("lambert_metres"), unit(4 * n, "f8"), zeros(n, "f8"), i(n))
    width, height = side("deep_zooms", 60, 400)
    in_shapes(case, "fp64", "deep_zooms", width, height, shapes("deep_zooms"), zeros(width * height, "i4"), i(width),
              i(height), i(400), ("f8", 1e-6))  # fmt: skip
    n = drawn("pension_pots", 10_000, 200_000)
    spread(case, "fp64", "pension_pots", n, sizes("pension_pots"), unit(n, "f8"), zeros(n, "f8"), i(n),
           i(drawn("months of pension_pots", 60, 480)))  # fmt: skip
    spread(case, "few", "pension_pots", 700, round_sizes("pension_pots"), unit(700, "f8"), zeros(700, "f8"), i(700),
           i(360), series="pension_pots, few")  # fmt: skip


def _halves(case: Any) -> None:
    n = drawn("half_scorecards", 5_000, 300_000)
    spread(case, "half", "half_scorecards", n, sizes("half_scorecards"), normal(16 * n, "f2"), normal(128, "f2"),
           zeros(n, "f2"), i(n))  # fmt: skip
    n = drawn("half_dissolves", 20_000, 900_000)
    spread(case, "half", "half_dissolves", n, sizes("half_dissolves"), unit(2 * n, "f2"), unit(2 * n + 2, "f2"),
           unit(2 * n + 4, "f2"), zeros(2 * n, "f2"), i(n))  # fmt: skip
    n = drawn("half_gates", 3_000, 200_000)
    spread(case, "half", "half_gates", n, sizes("half_gates"), normal(2 * n, "f2"), zeros(2 * n, "f2"), i(n),
           i(drawn("turns of half_gates", 10, 60)))  # fmt: skip
    n = drawn("bf16_columns", 40_000, 500_000)
    spread(case, "half", "bf16_columns", drawn("threads of bf16_columns", 20_000, 100_000), sizes("bf16_columns"),
           numbers(2 * n, 0x3F80, "u2"), numbers(600, 0x3F80, "u2"), zeros(2 * n, "u2"), i(n), i(300))  # fmt: skip


def _matrices(case: Any) -> None:
    rows, columns, depth = (16 * drawn(f"{name} of recipe_costs", 4, 40) for name in ("rows", "columns", "depth"))
    spread(case, "tensor", "recipe_costs", rows * columns // 8, sizes("recipe_costs"),
           numbers(rows * depth, 0x3C00, "u2"), numbers(columns * depth, 0x3C00, "u2"), zeros(rows * columns), i(rows),
           i(columns), i(depth))  # fmt: skip
    n = drawn("weather_chains", 100, 6_000)
    spread(case, "tensor", "weather_chains", 32 * n, sizes("weather_chains"), Given("odds", "u2", 256),
           numbers(128 * n, 0x3F80, "u2"), zeros(128 * n), i(n),
           i(drawn("steps of weather_chains", 8, 40)))  # fmt: skip
    n, groups = 16 * drawn("code_energies", 30, 4_000), drawn("groups of code_energies", 10, 60)
    spread(case, "tensor", "code_energies", 2 * n, sizes("code_energies"), numbers(16 * n, WORD, "u4"),
           numbers(128 * groups, WORD, "u4"), zeros(n, "i4"), i(n), i(groups))  # fmt: skip


def _beginners(case: Any) -> None:
    n = drawn("exam_marks", 10_000, 400_000)
    spread(case, "beginner", "exam_marks", n, round_sizes("exam_marks"), numbers(n, 101), zeros(n, "i1"), i(n))
    spread(case, "tiny", "exam_marks", 500, (50, 100, 250), numbers(500, 101), zeros(500, "i1"), i(500),
           series="exam_marks, tiny")  # fmt: skip
    within(case, "few", "class_mean", 1, (32, 128, 256, 1_024), unit(5_000), zeros(1), i(5_000))
    case("few", "class_mean", 1, 640, unit(200_000), zeros(1), i(200_000))
    n, each = drawn("receipts", 2_000, 40_000), drawn("lines of receipts", 10, 60)
    spread(case, "beginner", "receipts", n, round_sizes("receipts"), numbers(n * each, 5_000), zeros(n, "i4"), i(n),
           i(each))  # fmt: skip
    case("tiny", "receipts", 1, 20, numbers(20 * 100, 5_000), zeros(20, "i4"), i(20), i(100))


def _streams(case: Any) -> None:
    rows, quads = drawn("rows_at_length_one", 3_000, 12_000), drawn("quads of rows_at_length_one", 100, 500)
    within(case, "stream", "rows_at_length_one", rows, sizes("rows_at_length_one"), normal(4 * rows * quads),
           zeros(4 * rows * quads), i(quads))  # fmt: skip
    within(case, "tiny", "rows_at_length_one", 12, (32, 224, 512), normal(12 * 1_200), zeros(12 * 1_200), i(300),
           series="rows_at_length_one, tiny")  # fmt: skip
    n = drawn("premultiplied", 3_000_000, 12_000_000)
    spread(case, "stream", "premultiplied", n, sizes("premultiplied", most=768), numbers(4 * n, 256, "u1"),
           zeros(4 * n, "u1"), i(n))  # fmt: skip
    n = drawn("log_steps", 3_000_000, 14_000_000)
    spread(case, "stream", "log_steps", n, sizes("log_steps"), unit(n + 1), zeros(n), i(n))
    n = 1_024 * drawn("black_and_white", 3_000, 15_000)
    spread(case, "stream", "black_and_white", drawn("threads of black_and_white", 80_000, 400_000),
           sizes("black_and_white"), unit(n), zeros(n // 32, "u4"), i(n), f(0.5))  # fmt: skip
    n = drawn("planes_to_pixels", 3_000_000, 14_000_000)
    spread(case, "stream", "planes_to_pixels", n, sizes("planes_to_pixels"), numbers(3 * n, 256, "u1"),
           zeros(3 * n, "u1"), i(n))  # fmt: skip
    n = drawn("posted_interest", 1_000_000, 5_000_000)
    spread(case, "stream", "posted_interest", drawn("threads of posted_interest", 40_000, 250_000),
           sizes("posted_interest"), normal(2 * n, "f8"), zeros(2 * n, "f8"), i(n), ("f8", 0.0125))  # fmt: skip
