"""A sixteenth set of launches for the timing model: other kernels than those of the fifteen sets before it, as programs
have them, written without a look at the model or at an estimate. At most a third of them are bound by DRAM. They are
predicted and committed before a GPU measures them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from tests.hardware.launch_sets import by_series, in_shapes, launches, spread, within
from tests.hardware.ninth_cases import Made, halves, normal, unit, up
from tests.hardware.timing_cases import ByRecipe, TimingCase, f, i, zeros
from tests.hardware.validation_cases import numbers, u

SOURCE = Path(__file__).parent / "kernels" / "sixteenth.cu"
FILE = "sixteenth.cu"
#: Categories whose launches are bound by DRAM, or close to it.
DRAM = ("stream",)


def _opened_boards(size: int, high: int, rng: np.random.Generator) -> np.ndarray:
    """Boards of nine cells after ``high`` moves: nine bits of whoever is next, and nine of the other one."""
    cells = 1 << rng.permuted(np.tile(np.arange(9), (size, 1)), axis=1)
    return cells[:, high % 2 : high : 2].sum(axis=1) | cells[:, 1 - high % 2 : high : 2].sum(axis=1) << 9


def _stones(size: int, high: int, rng: np.random.Generator) -> np.ndarray:
    """Rows of 19 points: a bit per black stone, and from bit 32 on a bit per white one."""
    points = rng.choice(3, (size, 19), p=(0.4, 0.4, 0.2))
    return ((points == 1) << np.arange(19)).sum(axis=1) | ((points == 2) << np.arange(32, 51)).sum(axis=1)


def _trie(size: int, high: int, rng: np.random.Generator) -> np.ndarray:
    """Nodes of four children each, -1 for none, in a random order behind the root."""
    nodes = size // 4
    number = np.append(0, 1 + rng.permutation(nodes - 1))
    child = 4 * np.arange(nodes)[:, None] + np.arange(1, 5)
    found = np.full((nodes, 4), -1)
    there = (child < nodes) & (rng.random(child.shape) < 0.9)
    found[number] = np.where(there, number[np.minimum(child, nodes - 1)], -1)
    return found


def _basin(size: int, high: int, rng: np.random.Generator) -> np.ndarray:
    """Heights of a land ``high`` wide that falls to its middle, rough."""
    y, x = np.indices((size // high, high))
    return 64 * np.hypot(x - high / 2, y - size // high / 2) + rng.integers(0, 48, x.shape)


def _tones(size: int, high: int, rng: np.random.Generator) -> np.ndarray:
    """A tone that repeats every ``high`` samples, with a little noise."""
    turns = 2 * np.pi * np.arange(size) / high
    return 600 * np.sin(turns) + 300 * np.sin(2 * turns + 1) + rng.integers(-30, 31, size)


def _road_map(size: int, high: int, rng: np.random.Generator) -> np.ndarray:
    """Which of ``high`` towns have a road to each other, both ways."""
    found = np.triu(rng.random((high, high)) < 0.1, 1)
    return found | found.T


def _pictures(size: int, high: int, rng: np.random.Generator, shift: int = 0) -> np.ndarray:
    """A picture of noise ``high`` wide; the second of a pair is the first one, moved by three points."""
    noise = np.random.default_rng(size).integers(0, 256, (size // high, high))
    return np.roll(noise, shift, axis=1)


RECIPES: dict[str, Callable[[int, int, np.random.Generator], Any]] = {
    "four primes": lambda size, high, rng: np.array([65521, 65519, 65497, 65479]),
    "most": lambda size, high, rng: np.full(size, (1 << 32) - 1),
    "few bits": lambda size, high, rng: np.bitwise_and.reduce(rng.integers(0, 1 << 63, (3, size))),
    "opened boards": _opened_boards,
    "stones": _stones,
    "trie": _trie,
    "basin": _basin,
    "sorted": lambda size, high, rng: np.sort(rng.integers(0, high, size)),
    "between": lambda size, high, rng: rng.integers(-high, high + 1, size),
    "tones": _tones,
    "road map": _road_map,
    "letters": lambda size, high, rng: ord("a") + rng.integers(0, high, size),
    "rising": lambda size, high, rng: np.cumsum(rng.random(size) * high),
    "blocks": lambda size, high, rng: 200 * np.prod(np.indices((size // high, high)) // 7 % 2, axis=0),
    "pictures": _pictures,
    "pairs of pictures": lambda size, high, rng: _pictures(size, high, rng, 3),
}


class Drawn(ByRecipe):
    """An array of this set."""

    recipes = RECIPES


def series() -> dict[str, list[str]]:
    """Name of a series -> the names of its launches, by threads per block."""
    return by_series(cases())


def cases() -> list[TimingCase]:
    """All launches; their names are different."""
    return launches(
        (
            _chains,
            _tables,
            _integers,
            _roots_and_bits,
            _sound_and_light,
            _secrets,
            _games,
            _stacks,
            _texts,
            _codes_in_one_piece,
            _land_and_tables,
            _barriers,
            _more_barriers,
            _warps,
            _shared,
            _atomics,
            _queues,
            _tensors,
            _copies,
            _corners_and_shadows,
            _pictures_by_point,
            _learning,
            _few,
            _uneven,
            _crowded,
        )
    )


def _chains(case: Any) -> None:
    n, steps, blocks = 30_011, 40, (32, 64, 256, 512)
    spread(case, "latency", "predator_prey", n, blocks, unit(2 * n, high=4), zeros(2 * n), i(n), i(steps), f(0.05))
    n, turns, blocks = 20_011, 20, (64, 128, 256, 1_024)
    spread(case, "sfu", "isoelectric_points", n, blocks, numbers(8 * n, 30, "u1"), zeros(n), i(n), i(turns))
    n, blocks = 16_384, (32, 64, 128, 256)
    spread(case, "fp64", "mortgage_tables", n, blocks, unit(n, "f8"), numbers(n, 120), zeros(2 * n, "f8"), i(n))
    n, block = 30_011, 128
    spread(case, "fp64", "geodetic_heights", n, block, unit(2 * n, "f8"), zeros(2 * n, "f8"), i(n))
    for n, block in ((20_011, 64), (132 * 1_024, 1_024)):
        spread(case, "fp64", "orbit_elements", n, block, unit(6 * n, "f8"), zeros(3 * n, "f8"), i(n))


def _tables(case: Any) -> None:
    n, hours, block = 30_011, 12, 128
    spread(case, "constant", "tide_tables", n, block, zeros(n), i(n), i(hours), f(0.5))
    n, years, blocks = 40_009, 30, (32, 128, 256, 1_024)
    spread(case, "constant", "tax_years", n, blocks, numbers(n, 300_000), zeros(n, "i4"), i(n), i(years))
    for n, length, block in ((30_011, 60, 128), (200_003, 30, 256)):
        spread(case, "constant", "peptide_masses", n, block, numbers(n * length, 20, "u1"), zeros(2 * n, "i4"), i(n),
               i(length))  # fmt: skip


def _integers(case: Any) -> None:
    n, block = 30_011, 64
    spread(case, "division", "egyptian_fractions", n, block, numbers(2 * n, 300), zeros(n, "u8"), i(n))
    n, blocks = 60_013, (64, 128, 512, 1_024)
    spread(case, "division", "digit_persistence", n, blocks, numbers(n, 1 << 62, "u8"), zeros(n, "i4"), i(n))
    n, blocks = 16_384, (32, 64, 128, 512)
    spread(case, "division", "amicable_sums", n, blocks, zeros(n, "u4"), i(n), u(10_000))
    for n, high, block in ((100_003, 1_000_000, 256), (5_003, 1_000_000_000, 64)):
        spread(case, "division", "jacobi_symbols", n, block, numbers(2 * n, high), zeros(n, "i1"), i(n))
    for n, block in ((60_013, 128), (5_003, 64)):
        spread(case, "int64", "garner_mix", n, block, Drawn("four primes", "u4", 4), numbers(4 * n, 65_479, "u4"),
               zeros(n, "u8"), i(n))  # fmt: skip
    n, blocks = 40_009, (64, 128, 256, 512)
    spread(case, "shared", "discrete_logs", n, blocks, numbers(n, 10_006), zeros(n, "i4"), i(n), i(10_007), i(5),
           i(101))  # fmt: skip


def _roots_and_bits(case: Any) -> None:
    n, turns, blocks = 16_384, 20, (32, 64, 128, 256)
    spread(case, "fma", "durand_kerner", n, blocks, unit(5 * n), zeros(2 * n), i(n), i(turns))
    n, steps, block = 20_011, 300, 96
    spread(case, "latency", "sigma_delta", n, block, numbers(n, 1_024), zeros(2 * n, "u4"), i(n), i(steps))


def _sound_and_light(case: Any) -> None:
    n, count, blocks = 16_384, 24, (64, 128, 256, 512)
    spread(case, "sfu", "fm_voices", n, blocks, unit(4 * count), zeros(4 * n), i(n), i(count))
    width, height, turns, sizes = 320, 240, 6, ((8, 4), (16, 8), (32, 8), (32, 32))
    in_shapes(case, "sfu", "mandelbulb_turns", width, height, sizes, zeros(width * height, "u1"), i(width), i(height),
              i(turns), f(0.3))  # fmt: skip
    n, count, block = 50_021, 40, 192
    spread(case, "sfu", "ggx_lobes", n, block, unit(n), unit(n), unit(2 * count), zeros(n), i(n), i(count))
    n, steps, block = 16_384, 150, 128
    spread(case, "montecarlo", "cubic_windows", n, block, unit(n), zeros(n), i(n), i(steps), u(9))
    n, block = 100_003, 128
    spread(case, "divergence", "dubins_lengths", n, block, unit(3 * n), zeros(n), i(n))


def _secrets(case: Any) -> None:
    n, blocks = 60_013, (64, 128, 256, 512)
    spread(case, "crypto", "sha1_blocks", n, blocks, numbers(16 * n, 1 << 32, "u4"), zeros(5 * n, "u4"), i(n))
    for category, n, block in (("crypto", 30_011, 128), ("stream", 600_011, 256)):
        spread(case, category, "threefish_blocks", n, block, numbers(4, 1 << 62, "u8"), numbers(4 * n, 1 << 62, "u8"),
               zeros(4 * n, "u8"), i(n))  # fmt: skip
    n, tries = 33 * 1_024, 12
    for block in (64, 128, 256, 1_024):
        case("crypto", "nonce_search", (n // block, 8), block, numbers(8, 1 << 32, "u4"), Drawn("most", "u4", 8),
             u(1 << 18), i(tries), series="nonce_search")  # fmt: skip


def _games(case: Any) -> None:
    n, block = 100_003, 128
    spread(case, "int64", "chess_attacks", n, block, Drawn("few bits", "u8", 2 * n), zeros(n, "u8"), i(n))
    n, pieces, blocks = 8_192, 100, (32, 64, 128, 256)
    spread(case, "local", "falling_pieces", n, blocks, zeros(n, "i4"), i(n), i(pieces), u(5))
    n, moves, blocks = 8_009, 4, (32, 64, 128, 512)
    spread(case, "local", "board_values", n, blocks, Drawn("opened boards", "u4", n, moves), zeros(n, "i4"), i(n))
    n, turns, block = 16_384, 60, 128
    spread(case, "local", "sown_pits", n, block, zeros(n, "i4"), i(n), i(turns), u(6))
    n, throws, block = 30_011, 40, 256
    spread(case, "divergence", "five_dice_scores", n, block, zeros(n, "i4"), i(n), i(throws), u(3))
    n, blocks = 30_011, (32, 64, 128, 256)
    spread(case, "alu", "go_liberties", n, blocks, Drawn("stones", "u8", 19 * n), numbers(n, 361), zeros(n, "i4"), i(n))


def _stacks(case: Any) -> None:
    n, length, block = 30_011, 26, 64
    spread(case, "local", "folded_chains", n, block, numbers(n, 1 << 40, "u8"), numbers(n, 1 << 32, "u4"),
           zeros(n, "i4"), i(n), i(length))  # fmt: skip
    n, counters, people, blocks = 12_007, 7, 100, (32, 64, 128, 256)
    spread(case, "local", "bank_queues", n, blocks, unit(n), zeros(n), i(n), i(counters), i(people), u(8))
    n, turns, block = 8_192, 4, 64
    spread(case, "local", "reaching_arms", n, block, unit(2 * n), zeros(n), i(n), i(turns))


def _texts(case: Any) -> None:
    n, pitch, block = 60_013, 11, 128
    spread(case, "local", "anagram_keys", n, block, numbers(n * pitch, 26, "u1"), zeros(n, "u4"), i(n), i(pitch))
    n, length, block = 40_009, 22, 256
    spread(case, "division", "account_checks", n, block, numbers(n * length, 36, "u1"), zeros(n, "u1"), i(n),
           i(length))  # fmt: skip
    for category, n, block in (("stream", 1_000_003, 256), ("division", 50_021, 64)):
        spread(case, category, "base85_words", n, block, numbers(n, 1 << 32, "u4"), zeros(5 * n, "u1"), i(n))
    n, length, block = 20_011, 40, 128
    spread(case, "constant", "morse_times", n, block, numbers(n * length, 36, "u1"), zeros(2 * n, "u4"), i(n),
           i(length))  # fmt: skip
    for n, pieces, length, block in ((30_011, 40, 12, 128), (4_001, 200, 5, 32)):
        spread(case, "string", "rolling_hits", n, block, numbers(n * pieces + length, 2, "u1"),
               numbers(length, 2, "u1"), zeros(n, "i4"), i(n), i(pieces), i(length))  # fmt: skip
    for category, n, block in (("constant", 60_013, 128), ("stream", 800_011, 512)):
        spread(case, category, "geohash_letters", n, block, unit(2 * n), zeros(n, "u8"), i(n))
    for size, n, blocks in ((1 << 14, 40_009, (64, 128, 256, 512)), (1 << 23, 40_009, 128)):
        spread(case, "cache", "trie_words", n, blocks, Drawn("trie", "i4", size), numbers(n, 1 << 32, "u4"),
               zeros(2 * n, "i4"), i(n))  # fmt: skip


def _codes_in_one_piece(case: Any) -> None:
    for rules, n, blocks in ((400, 30_011, 128), (2_500, 16_384, (32, 64, 128, 512))):
        spread(case, "code", f"credit_rules<{rules}>", n, blocks, numbers(8 * n, 1_000), zeros(n, "i4"), i(n))
    for curves, n, turns, blocks in ((300, 20_011, 4, (64, 128, 256, 1_024)), (1_200, 20_011, 3, 128)):
        spread(case, "code", f"thermo_curves<{curves}>", n, blocks, unit(n), zeros(n), i(n), i(turns))


def _land_and_tables(case: Any) -> None:
    width, height, sizes = 300, 200, ((16, 4), (32, 4), (16, 16), (32, 16))
    in_shapes(case, "cache", "rain_paths", width, height, sizes, Drawn("basin", "i4", width * height, width),
              zeros(2 * width * height, "i4"), i(width), i(height))  # fmt: skip
    for count, n, block in ((5_000, 60_013, 256), (4_000_000, 30_011, 128)):
        spread(case, "cache", "band_join", n, block, Drawn("sorted", "i4", count, 1 << 24), numbers(n, 1 << 24),
               zeros(2 * n, "i4"), i(n), i(count), i(20_000))  # fmt: skip
    n, blocks = 8_009, (32, 64, 128, 512)
    spread(case, "divergence", "skyline_points", n, blocks, unit(3 * n), zeros(n, "u1"), i(n),
           smem=lambda block: 12 * block)  # fmt: skip
    for category, groups, each, block in (("votes", 2_001, 256, 128), ("stream", 3_001, 4_000, 256)):
        spread(case, category, "row_group_stats", 32 * groups, block, numbers(groups * each, 1_000),
               zeros(4 * groups, "i4"), i(groups), i(each))  # fmt: skip
    for grid, words, bits, block in ((1_056, 1_000_003, 12, 256), (132, 600_011, 20, 512)):
        case("stream", "bit_sliced_below", grid, block, numbers(words * bits, 1 << 32, "u4"), zeros(words, "u4"),
             i(words), i(bits), u(1_234))  # fmt: skip
    side, words, blocks = 24, 3_000, (32, 64, 128, 256)
    within(case, "reduce", "market_baskets", (side, side), blocks, numbers(side * words, 1 << 32, "u4"),
           zeros(side * side, "i4"), i(words))  # fmt: skip


def _barriers(case: Any) -> None:
    roads, cells, steps, blocks = 264, 600, 40, (64, 128, 256, 512)
    within(case, "barrier", "ring_roads", roads, blocks, numbers(roads * cells, 3, "u1"), zeros(roads, "i4"), i(cells),
           i(steps), smem=2 * cells)  # fmt: skip
    for channels, cells, steps, blocks in ((264, 512, 80, (64, 128, 256, 512)), (40, 3_000, 60, 1_024)):
        within(case, "barrier", "solitons", channels, blocks, unit(channels * cells), zeros(channels * cells),
               i(cells), i(steps), f(0.002), f(0.01), smem=12 * cells)  # fmt: skip
    grid, blocks = 264, (64, 128, 256, 1_024)
    within(case, "barrier", "lattice_clusters", grid, blocks, numbers(32 * grid, 1 << 32, "u4"), zeros(grid, "i4"))
    grid, count, block = 528, 1_024, 128
    within(case, "crypto", "merkle_roots", grid, block, numbers(grid * count, 1 << 32, "u4"), zeros(grid, "u4"),
           i(count), smem=8 * count)  # fmt: skip
    grid, n, block = 264, 24, 32
    within(case, "barrier", "givens_blocks", grid, block, normal(grid * n * n), zeros(grid * n * n), i(n),
           smem=4 * n * (n + 1))  # fmt: skip
    grid, pages, turns, block = 132, 512, 20, 256
    within(case, "barrier", "page_ranks", grid, block, numbers(grid * 8 * pages, pages), zeros(grid * pages),
           i(pages), i(turns), smem=12 * pages)  # fmt: skip


def _more_barriers(case: Any) -> None:
    grid, units, turns, blocks = 264, 160, 6, (32, 64, 96, 160)
    within(case, "cache", "recalled_patterns", grid, blocks, Drawn("between", "i1", units * units, 9),
           numbers(grid * units, 2, "u1"), zeros(grid * units, "i1"), i(units), i(turns), smem=2 * units)  # fmt: skip
    grid, moves, rounds, block = 132, 128, 60, 128
    within(case, "barrier", "fictitious_play", grid, block, Drawn("between", "i4", grid * moves * moves, 50),
           zeros(2 * grid, "i4"), i(moves), i(rounds), smem=8 * moves)  # fmt: skip
    grid, side, blocks = 132, 48, (64, 128, 256, 512)
    within(case, "queue", "maze_depths", grid, blocks, numbers(grid * side * side, 10, "u1"),
           zeros(grid * side * side, "i4"), i(side), smem=8 * side * side)  # fmt: skip


def _warps(case: Any) -> None:
    n, count, passes, block = 2_000, 60, 3, 64
    spread(case, "shuffle", "perceptron_passes", 32 * n, block, Drawn("between", "i1", n * count * 32, 5),
           numbers(n * count, 2, "u1"), zeros(32 * n, "i4"), i(n), i(count), i(passes))  # fmt: skip
    ropes, steps, blocks = 1_500, 40, (32, 64, 128, 512)
    spread(case, "shuffle", "hanging_ropes", 32 * ropes, blocks, unit(ropes), zeros(64 * ropes), i(ropes), i(steps))
    for tile in (4, 8, 16, 32):
        n, rides, block = 6_001, 64, 128
        case("groups", f"spent_budgets<{tile}>", up(n * tile, block), block, numbers(n * rides, 10), zeros(n, "i4"),
             i(n), i(rides), i(250), series="spent_budgets")  # fmt: skip
    n, rides, block = 20_011, 300, 256
    spread(case, "stream", "spent_budgets<32>", 32 * n, block, numbers(n * rides, 10), zeros(n, "i4"), i(n), i(rides),
           i(1_250))  # fmt: skip
    for category, grid, n, limit, block in (("groups", 132, 200_003, 90_000, 256),
                                            ("stream", 528, 4_000_037, 99_900, 256)):  # fmt: skip
        within(case, category, "rare_sums", grid, block, numbers(n, 100_000), zeros(2, "u8"), i(n), i(limit))


def _shared(case: Any) -> None:
    n, turns = 1_048_576, 8
    for channels in (2, 4, 8, 16):
        case("shared", f"channel_rows<{channels}>", n // (128 * channels), 128, unit(n), zeros(n), i(n), i(turns),
             series="channel_rows")  # fmt: skip
    for tile in (8, 16, 32):
        n = 256
        case("shared", f"complex_tiles<{tile}>", (n // tile, n // tile), (tile, tile), normal(2 * n * n),
             normal(2 * n * n, high=2), zeros(2 * n * n), i(n), series="complex_tiles")  # fmt: skip
    n, blocks = 6_007, (32, 64, 128, 256)
    spread(case, "fma", "flock_turns", n, blocks, unit(4 * n), zeros(2 * n), i(n), f(0.02),
           smem=lambda block: 16 * block)  # fmt: skip
    delays, length, shifts, blocks = 264, 400, 256, (32, 64, 128, 256)
    within(case, "shared", "ambiguities", delays, blocks, normal(2 * length), normal(2 * (length + delays), high=2),
           zeros(delays * shifts), i(length), i(shifts), smem=16 * length)  # fmt: skip
    frames, hop, lags, blocks = 264, 128, 256, (64, 128, 256)
    within(case, "shared", "pitch_lags", frames, blocks, Drawn("tones", "i2", frames * hop + 2 * lags, 77),
           zeros(frames, "i4"), i(hop), i(lags), smem=12 * lags)  # fmt: skip
    pairs, n, block = 396, 256, 64
    within(case, "shared", "ring_products", pairs, block, numbers(pairs * n, 3_329, "u2"),
           numbers(pairs * n, 3_328, "u2"), zeros(pairs * n, "u2"), i(n), smem=8 * n)  # fmt: skip


def _atomics(case: Any) -> None:
    for n, shares, block in ((100_003, 50, 128), (200_003, 1 << 20, 256)):
        spread(case, "atomics", "latest_prices", n, block, numbers(n, shares), numbers(n, 5_000, "u4"),
               zeros(shares, "u8"), i(n))  # fmt: skip
    for grid, n, days, block in ((264, 200_003, 365, 256), (528, 1_000_003, 40_000, 128)):
        case("atomics", "room_changes", grid, block, numbers(2 * n, days), zeros(days, "i4"), i(n), i(days))
    for n, causes, block in ((100_003, 8, 128), (100_003, 50_000, 256)):
        spread(case, "atomics", "gift_totals", n, block, numbers(n, causes), numbers(n, 9_999), zeros(causes, "f8"),
               i(n))  # fmt: skip
    for n, lots, places, blocks in ((60_013, 40, 100, (64, 128, 256, 512)), (120_011, 10_000, 8, 256)):
        spread(case, "atomics", "parking_places", n, blocks, numbers(n, lots), zeros(lots, "u4"),
               zeros(lots * places, "u4"), i(n), i(places))  # fmt: skip
    for grid, people, shows, words, blocks in ((264, 2_000, 10, 100, (64, 128, 256, 512)), (132, 3_000, 8, 2, 256)):
        within(case, "atomics", "seat_claims", grid, blocks, zeros(grid, "i4"), i(people), i(shows), i(words),
               smem=4 * words)  # fmt: skip
    for category, grid, n, block in (("atomics", 132, 150_001, 256), ("atomics", 1_056, 2_000_003, 512)):
        case(category, "sales_cube", grid, block, numbers(n, 8, "u1"), numbers(n, 16, "u1"),
             numbers(n, 1 << 32, "u4"), zeros(152, "u8"), i(n))  # fmt: skip


def _queues(case: Any) -> None:
    width, pieces, turns = 256, 400, 60
    for grid, block in ((132, 64), (132, 128), (132, 256)):
        case("queue", "phoenix_queue", grid, block, zeros(256 * pieces, "u1"), zeros(2, "i4"), i(width), i(pieces),
             i(turns), series="phoenix_queue")  # fmt: skip
    for category, grid, n, block in (("reduce", 264, 300_007, 256), ("stream", 528, 6_000_011, 512)):
        within(case, category, "mean_and_variance", grid, block, numbers(n, 10_000), zeros(2, "u8"), zeros(1, "u4"),
               zeros(2, "f8"), i(n))  # fmt: skip


def _tensors(case: Any) -> None:
    for n, count, blocks in ((8_192, 512, (32, 64, 128, 256)), (4_096, 4_096, 128)):
        spread(case, "tensor", "similar_rows_mma", 2 * n, blocks, halves(32 * n), halves(32 * count, 2), zeros(n), i(n),
               i(count))  # fmt: skip
    for category, grid, n, blocks in (("tensor", 132, 32_768, (32, 64, 128, 256)), ("stream", 528, 400_000, 128)):
        within(case, category, "byte_layer_mma", grid, blocks, Drawn("between", "i1", 64 * n, 127),
               Drawn("between", "i1", 4_096, 99), zeros(64 * n, "i1"), i(n), i(3))  # fmt: skip
    for category, grid, n, block in (("stream", 1_056, 800_000, 256), ("tensor", 132, 30_000, 64)):
        case(category, "spectra_mma", grid, block, halves(8 * n), zeros(16 * n), i(n))
    sets, columns, blocks = 264, 512, (64, 96, 128)
    within(case, "tensor", "gram_bf16_mma", sets, blocks, Made("bf16", "u2", sets * 64 * columns), zeros(sets * 4_096),
           i(columns))  # fmt: skip
    n, blocks = 512, (32, 64, 128, 256)
    for block in blocks:
        case("tensor", "two_step_ways_mma", (up(4 * n, block), n // 16), block, Drawn("road map", "u1", n * n, n),
             zeros(n * n, "i4"), i(n), series="two_step_ways_mma")  # fmt: skip


def _copies(case: Any) -> None:
    lists, each, rows, blocks = 1_320, 40, 4_000, (32, 64)
    for block in blocks:
        case("async", "async_row_maxima", lists, block, normal(256 * rows), numbers(lists * each, rows),
             zeros(256 * lists), i(each), smem=64 * block)  # fmt: skip
    for category, grid, pieces, blocks in (("async", 132, 900, (64, 128, 256, 512)), ("async", 660, 6_000, 128)):
        within(case, category, "async_near_words", grid, blocks, Drawn("letters", "u1", pieces * 2_048 + 16, 4),
               zeros(grid, "i4"), i(pieces), u(0x61636261))  # fmt: skip
    for category, grid, n, lines, blocks in (("async", 264, 300_007, 2_048, (64, 128, 256, 1_024)),
                                             ("stream", 528, 6_000_011, 512, 512)):  # fmt: skip
        within(case, category, "calibrated_values", grid, blocks, Drawn("rising", "f4", lines, 3), unit(n), zeros(n),
               i(n), i(lines), smem=4 * lines)  # fmt: skip
    for category, grid, groups, columns, blocks in (("async", 264, 8, 512, (128, 256, 512)),
                                                    ("stream", 528, 24, 1_024, 256)):  # fmt: skip
        within(case, category, "bulk_column_sums", grid, blocks, normal(grid * groups * 8 * columns),
               zeros(grid * columns), i(groups), i(columns), smem=64 * columns)  # fmt: skip


def _corners_and_shadows(case: Any) -> None:
    width, height, sizes = 640, 480, ((16, 8), (32, 8), (32, 16), (64, 16))
    in_shapes(case, "divergence", "circle_corners", width, height, sizes, Drawn("blocks", "u1", width * height, width),
              zeros(width * height, "u1"), i(width), i(height), i(40))  # fmt: skip
    width, height, most, sizes = 320, 200, 16, ((32, 4),)
    in_shapes(case, "cache", "census_shifts", width, height, sizes,
              Drawn("pairs of pictures", "u1", width * height, width), Drawn("pictures", "u1", width * height, width),
              zeros(width * height, "u1"), i(width), i(height), i(most))  # fmt: skip
    for size, n, block in ((512, 60_013, 128), (4_096, 200_003, 256)):
        spread(case, "cache", "soft_shadows", n, block, unit(size * size), unit(3 * n), zeros(n), i(n), i(size))
    width, height, sizes = 640, 480, ((16, 16),)
    in_shapes(case, "alu", "cell_noise", width, height, sizes, zeros(width * height), i(width), i(height), f(0.05),
              u(7))  # fmt: skip


def _pictures_by_point(case: Any) -> None:
    grid, n, block = 1_056, 2_000_003, 256
    case("stream", "green_screen", grid, block, numbers(4 * n, 256, "u1"), numbers(4 * n, 255, "u1"),
         zeros(4 * n, "u1"), i(n))  # fmt: skip
    width, height, sizes = 2_000, 1_200, ((32, 8),)
    in_shapes(case, "stream", "hill_shades", width, height, sizes, normal(width * height), zeros(width * height),
              i(width), i(height), f(0.04))  # fmt: skip
    n, block = 1_000_003, 256
    spread(case, "stream", "folded_directions", n, block, normal(3 * n), zeros(n, "u4"), i(n))
    for width, height, sizes in ((1_500, 1_000, ((32, 8),)), (300, 300, ((16, 16),))):
        in_shapes(case, "cache", "wire_world", width, height, sizes, numbers(width * height, 4, "u1"),
                  zeros(width * height, "u1"), i(width), i(height))  # fmt: skip


def _learning(case: Any) -> None:
    for category, grid, pairs, block in (("half", 132, 200_003, 256), ("stream", 1_056, 2_000_003, 256)):
        within(case, category, "gelu_gradients", grid, block, halves(pairs), halves(pairs, 2), zeros(pairs, "u4"),
               i(pairs))  # fmt: skip
    n, length, blocks = 3_001, 256, (32, 64, 128, 512)
    spread(case, "votes", "sign_sketches", 32 * n, blocks, Drawn("between", "i1", n * length, 9),
           Drawn("between", "f4", 64 * length, 7), zeros(2 * n, "u4"), i(n), i(length))  # fmt: skip


def _few(case: Any) -> None:
    case("tiny", "predator_prey", 1, 32, unit(64, high=4), zeros(64), i(32), i(200), f(0.02))
    case("tiny", "mortgage_tables", 1, 64, unit(64, "f8"), numbers(64, 300), zeros(128, "f8"), i(64))
    case("tiny", "board_values", 2, 32, Drawn("opened boards", "u4", 64, 3), zeros(64, "i4"), i(64))
    case("tiny", "lattice_clusters", 1, 512, numbers(32, 1 << 32, "u4"), zeros(1, "i4"))
    case("tiny", "solitons", 1, 256, unit(700), zeros(700), i(700), i(150), f(0.002), f(0.01), smem=8_400)
    case("tiny", "givens_blocks", 2, 64, normal(2 * 1_600), zeros(2 * 1_600), i(40), smem=4 * 40 * 41)
    case("tiny", "maze_depths", 1, 128, numbers(6_400, 10, "u1"), zeros(6_400, "i4"), i(80), smem=8 * 6_400)
    case("tiny", "hanging_ropes", 1, 32, unit(1), zeros(64), i(1), i(150))
    case("tiny", "similar_rows_mma", 1, 64, halves(32 * 32), halves(32 * 1_024, 2), zeros(32), i(32), i(1_024))
    case("tiny", "pitch_lags", 2, 128, Drawn("tones", "i2", 1_024, 77), zeros(2, "i4"), i(64), i(400), smem=4_800)
    case("tiny", "bulk_column_sums", 1, 64, normal(6 * 8 * 256), zeros(256), i(6), i(256), smem=64 * 256)
    case("tiny", "mean_and_variance", 3, 256, numbers(5_003, 10_000), zeros(2, "u8"), zeros(1, "u4"), zeros(2, "f8"),
         i(5_003))  # fmt: skip
    case("tiny", "phoenix_queue", 2, 128, zeros(256 * 12, "u1"), zeros(2, "i4"), i(64), i(12), i(200))


def _uneven(case: Any) -> None:
    n = 133 * 512
    case("tail", "isoelectric_points", 133, 512, numbers(8 * n, 30, "u1"), zeros(n), i(n), i(16))
    case("tail", "durand_kerner", 133, 512, unit(5 * n), zeros(2 * n), i(n), i(8))
    case("tail", "tax_years", 270, 1_024, numbers(270 * 1_024, 300_000), zeros(270 * 1_024, "i4"), i(270 * 1_024),
         i(20))  # fmt: skip
    case("tail", "ring_products", 140, 1_024, numbers(140 * 1_024, 2_000, "u2"), numbers(140 * 1_024, 1_999, "u2"),
         zeros(140 * 1_024, "u2"), i(1_024), smem=8_192)  # fmt: skip
    case("tail", "page_ranks", 150, 1_024, numbers(150 * 8_192, 1_024), zeros(150 * 1_024), i(1_024), i(12),
         smem=12 * 1_024)  # fmt: skip
    n = 9_000 * 32
    case("blocks", "jacobi_symbols", 9_000, 32, numbers(2 * n, 500), zeros(n, "i1"), i(n))
    case("blocks", "merkle_roots", 8_001, 32, numbers(8_001 * 32, 1 << 32, "u4"), zeros(8_001, "u4"), i(32), smem=256)
    case("blocks", "recalled_patterns", 5_003, 32, Drawn("between", "i1", 1_024, 9), numbers(5_003 * 32, 2, "u1"),
         zeros(5_003 * 32, "i1"), i(32), i(4), smem=64)  # fmt: skip
    case("blocks", "market_baskets", (80, 80), 32, numbers(80 * 64, 1 << 32, "u4"), zeros(6_400, "i4"), i(64))
    case("blocks", "async_row_maxima", 6_007, 64, normal(256 * 500), numbers(6_007 * 4, 500), zeros(256 * 6_007), i(4),
         smem=4_096)  # fmt: skip


def _crowded(case: Any) -> None:
    for smem in (100 << 10, 40 << 10):
        n = 30_011 + smem // 1_024
        case("occupancy", "ggx_lobes", up(n, 128), 128, unit(n), unit(n), unit(60), zeros(n), i(n), i(30), smem=smem)
        case("occupancy", "band_join", up(n, 192), 192, Drawn("sorted", "i4", 200_000, 1 << 24), numbers(n, 1 << 24),
             zeros(2 * n, "i4"), i(n), i(200_000), i(900), smem=smem)  # fmt: skip
        case("occupancy", "peptide_masses", up(n, 128), 128, numbers(n * 40, 20, "u1"), zeros(2 * n, "i4"), i(n), i(40),
             smem=smem)  # fmt: skip
        case("occupancy", "sigma_delta", up(n, 64), 64, numbers(n, 1_024), zeros(2 * n, "u4"), i(n), i(200), smem=smem)
