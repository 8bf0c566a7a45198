"""A twenty-second set of launches for the timing model: other kernels than those of the twenty-one sets before it, as
students, engineers and teachers write them, by an author who saw neither the model nor an estimate. Sizes and block
sizes are drawn at random, by seeds from names; most kernels run with the same work in blocks of three to six sizes. At
most a third of the launches are bound by DRAM. They are predicted and committed before a GPU measures them."""

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

SOURCE = Path(__file__).parent / "kernels" / "twenty_second.cu"
FILE = "twenty_second.cu"
#: Categories whose launches are bound by DRAM, or close to it.
DRAM = ("stream",)
#: What ``blum_shub_bits`` calculates with: two primes that leave 3 when divided by 4.
PRODUCT = 65_519 * 65_479
#: Which bits of a polar code are known, as ``polar_decoded`` takes them.
FROZEN = 0x0001177F


def drawn(name: str, low: int, high: int) -> int:
    """A number from ``low`` to ``high`` at random, evenly on a logarithmic scale, by a seed from ``name``."""
    return round(low * (high / low) ** Random(f"twenty-second, {name}").random())


def _how_many(rng: Random) -> int:
    return rng.choice((3, 4, 4, 4, 4, 5, 6))


def sizes(name: str, least: int = 32, most: int = 1_024, step: int = 32) -> tuple[int, ...]:
    """Three to six block sizes from ``least`` to ``most`` at random, multiples of ``step``, by a seed from ``name``."""
    rng = Random(f"twenty-second, blocks of {name}")
    pool = [b for b in rng.choice((POWERS, POWERS, BLOCKS)) if least <= b <= most and b % step == 0]
    pool = pool if len(pool) >= 6 else [b for b in BLOCKS if least <= b <= most and b % step == 0]
    return tuple(sorted(rng.sample(pool, _how_many(rng))))


def shapes(name: str) -> tuple[tuple[int, int], ...]:
    """Three to six shapes of blocks at random, by a seed from ``name``."""
    rng = Random(f"twenty-second, shapes of {name}")
    return tuple(sorted(rng.sample(SHAPES, _how_many(rng))))


def one(name: str, least: int = 32, most: int = 1_024) -> int:
    """A block size from ``least`` to ``most`` at random, by a seed from ``name``."""
    return Random(f"twenty-second, block of {name}").choice([b for b in BLOCKS if least <= b <= most])


def side(name: str, low: int, high: int) -> tuple[int, int]:
    """Width and height of a picture at random, by seeds from ``name``."""
    return drawn(f"width of {name}", low, high), drawn(f"height of {name}", low, high)


def symbols(length: int, levels: int, rng: np.random.Generator) -> np.ndarray:
    """Letters below two to the power of ``levels``; the first ones are frequent."""
    return (rng.zipf(1.3, length) - 1) % (1 << levels)


def _votes(size: int, high: int, rng: np.random.Generator) -> np.ndarray:
    """Orders of eight parties, three bits each. The higher ``high``, the more the voters agree."""
    liked = high * np.linspace(1, 0, 8) + rng.gumbel(size=(size, 8))
    return np.argsort(-liked, axis=1) @ (1 << 3 * np.arange(8))


def _friends(size: int, high: int, rng: np.random.Generator) -> np.ndarray:
    """Who knows whom among n persons, in n * n / 32 words of bits; one of ``high`` pairs does."""
    n = round((32 * size) ** 0.5)
    pairs = np.triu(rng.integers(0, high, (n, n)) == 0, 1)
    return np.packbits(pairs | pairs.T, axis=1, bitorder="little").view("u4")


def _next_hops(size: int, high: int, rng: np.random.Generator) -> np.ndarray:
    """A square table of routers; one of ``high`` routes leads to the destination at once."""
    n = round(size**0.5)
    return np.where(rng.integers(0, high, (n, n)) == 0, np.arange(n), rng.integers(0, n, (n, n)))


def _wavelet_matrix(size: int, high: int, rng: np.random.Generator) -> np.ndarray:
    """A text of ``high`` letters as a wavelet matrix: per level words of bits, then how many ones are before each."""
    words = high // 32 + 1
    levels = size // (2 * words)
    text, found = symbols(high, levels, rng), []
    for level in reversed(range(levels)):
        bits = text >> level & 1
        packed = np.packbits(np.append(bits, np.zeros(32 * words - high, int)).astype("u1"), bitorder="little")
        ones = np.append(bits, np.zeros(32 * words - high, int)).reshape(words, 32).sum(axis=1)
        found += [packed.view("u4"), np.cumsum(ones) - ones]
        text = np.append(text[bits == 0], text[bits == 1])
    return np.concatenate(found)


def _decays(size: int, high: int, rng: np.random.Generator) -> np.ndarray:
    """Falling curves at ``high`` points, each with a little noise."""
    n = size // high
    times = 0.25 * np.arange(high)[:, None]
    curves = (1 + 2 * rng.random(n)) * np.exp(-(0.2 + 1.3 * rng.random(n)) * times)
    return curves + rng.normal(0, 0.01, (high, n))


def _planets(size: int, high: int, rng: np.random.Generator) -> np.ndarray:
    """Terms of sums of cosines: size, phase and speed; later ones are smaller."""
    count = size // 3
    return np.stack([high / (1 + np.arange(count)) ** 2, 6 * rng.random(count), 0.001 + 0.2 * rng.random(count)], 1)


RECIPES: dict[str, Callable[[int, int, np.random.Generator], Any]] = {
    "votes": _votes,
    "friends": _friends,
    "next hops": _next_hops,
    "wavelet matrix": _wavelet_matrix,
    "decays": _decays,
    "planets": _planets,
    "long words": lambda size, high, rng: rng.integers(0, 1 << 64, size, "u8"),
    "grey steps": lambda size, high, rng: (
        np.repeat(rng.integers(20, 236, -(-size // high)), high)[:size] + rng.integers(-9, 10, size)
    ),
    "sparse bytes": lambda size, high, rng: rng.integers(0, 256, size) * (rng.integers(0, high, size) > 0),
    "cosines": lambda size, high, rng: (
        np.cos(np.pi / high * (np.arange(high) + 0.5) * np.arange(high)[:, None])
        * np.where(np.arange(high), 2, 2**0.5)[:, None]
        / (2 * high) ** 0.5
    ).astype("f2").view("u2"),
}  # fmt: skip


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
            _elections_and_texts,
            _tours_and_sheets,
            _patches_and_shadows,
            _clusters_and_pipes,
            _warps,
            _matrices_of_warps,
            _atomics,
            _water_and_gas,
            _signals,
            _chance,
            _doubles,
            _fits,
            _puzzles,
            _long_integers,
            _bytes_and_branches,
            _trees_and_genes,
            _private,
            _beginners,
            _programs,
            _pictures,
            _gathers,
            _copies,
            _matrices,
            _halves,
            _streams,
        )
    )


def profiled() -> list[TimingCase]:
    """The launches whose stalls are recorded: of each kernel every second one, or its only one."""
    by_kernel: dict[str, list[TimingCase]] = {}
    for case in cases():
        by_kernel.setdefault(case.kernel, []).append(case)
    return [case for found in by_kernel.values() for case in found[1::2] or found]


def _elections_and_texts(case: Any) -> None:
    rows, voters = drawn("runoff_rounds", 200, 1_200), drawn("voters of runoff_rounds", 800, 4_000)
    within(case, "atomics", "runoff_rounds", rows, sizes("runoff_rounds"), Given("votes", "u4", rows * voters, 1),
           zeros(rows, "i4"), i(voters))  # fmt: skip
    case("few", "runoff_rounds", 3, 288, Given("votes", "u4", 3 * 9_000, 1), zeros(3, "i4"), i(9_000))
    rows, n = drawn("suffix_ranks", 132, 700), drawn("letters of suffix_ranks", 150, 400)
    within(case, "shared", "suffix_ranks", rows, sizes("suffix_ranks", most=512), numbers(rows * n, 4, "u1"),
           zeros(rows * n, "i4"), i(n), smem=8 * n)  # fmt: skip
    case("few", "suffix_ranks", 1, 1_024, numbers(1_000, 3, "u1"), zeros(1_000, "i4"), i(1_000), smem=8_000)


def _tours_and_sheets(case: Any) -> None:
    rows = drawn("held_karp_tours", 150, 1_200)
    within(case, "barrier", "held_karp_tours", rows, sizes("held_karp_tours", most=512), numbers(rows * 100, 900),
           zeros(rows, "i4"), i(10), smem=4 * 9 << 9)  # fmt: skip
    case("occupancy", "held_karp_tours", 300, 128, numbers(300 * 121, 900), zeros(300, "i4"), i(11), smem=4 * 10 << 10)
    rows, width, height = drawn("sheet_cuts", 132, 900), *side("sheet_cuts", 24, 44)
    within(case, "barrier", "sheet_cuts", rows, one("sheet_cuts", most=64), numbers(rows * 24, 1_000),
           zeros(rows, "i4"), i(width), i(height), i(8), smem=4 * width * height)  # fmt: skip


def _patches_and_shadows(case: Any) -> None:
    rows, width = drawn("seamless_pastes", 132, 900), drawn("side of seamless_pastes", 20, 48)
    within(case, "barrier", "seamless_pastes", rows, sizes("seamless_pastes"), unit(rows * width**2),
           unit(rows * width**2, high=2), zeros(rows * width**2), i(width),
           i(drawn("turns of seamless_pastes", 10, 40)), smem=8 * width**2)  # fmt: skip
    rows, count = drawn("sprite_depths", 200, 1_500), drawn("sprites of sprite_depths", 100, 600)
    within(case, "atomics", "sprite_depths", rows, sizes("sprite_depths"), numbers(rows * count, WORD, "u4"),
           zeros(1_024 * rows, "u4"), i(count))  # fmt: skip
    rows, width = drawn("shadow_profiles", 90, 360), drawn("side of shadow_profiles", 60, 130)
    within(case, "atomics", "shadow_profiles", rows, sizes("shadow_profiles"), unit(width**2),
           zeros(2 * rows * width), i(width), smem=8 * width)  # fmt: skip
    rows, points = drawn("korobov_integrals", 132, 700), drawn("points of korobov_integrals", 1_000, 4_000)
    within(case, "division", "korobov_integrals", rows, one("korobov_integrals"), unit(6 * rows), zeros(rows),
           i(points), u(drawn("step of korobov_integrals", 100, 900)))  # fmt: skip


def _clusters_and_pipes(case: Any) -> None:
    n = drawn("piped_signals", 20_000, 130_000)
    spread(case, "barrier", "piped_signals", n, sizes("piped_signals", 64, step=64), zeros(n // 2 + 512),
           i(drawn("rounds of piped_signals", 100, 500)), f(0.11))  # fmt: skip
    case("few", "piped_signals", 2, 128, zeros(128), i(400), f(0.07))
    rods, part = drawn("long_rods", 8, 60), drawn("part of long_rods", 100, 700)
    within(case, "clusters", "long_rods", 4 * rods, sizes("long_rods"), unit(4 * rods * part), zeros(4 * rods * part),
           i(part), i(drawn("steps of long_rods", 20, 60)), f(0.2), smem=8 * part)  # fmt: skip
    towns, each = drawn("shared_ages", 20, 120), drawn("people of shared_ages", 2_000, 9_000)
    within(case, "clusters", "shared_ages", 4 * towns, one("shared_ages"), numbers(4 * towns * each, WORD, "u4"),
           zeros(1_024 * towns, "u4"), i(each))  # fmt: skip


def _warps(case: Any) -> None:
    n, count = drawn("first_fit_vans", 500, 4_000), drawn("parcels of first_fit_vans", 80, 220)
    spread(case, "warps", "first_fit_vans", 32 * n, sizes("first_fit_vans"), numbers(n * count, 400, "u2"),
           zeros(2 * n, "i4"), i(n), i(count))  # fmt: skip
    n, size = drawn("cheapest_pairings", 400, 4_000), drawn("size of cheapest_pairings", 16, 32)
    spread(case, "latency", "cheapest_pairings", 32 * n, sizes("cheapest_pairings"), numbers(n * size**2, 1_000),
           zeros(n, "i4"), i(n), i(size))  # fmt: skip
    case("few", "cheapest_pairings", 1, 64, numbers(2 * 1_024, 1_000), zeros(2, "i4"), i(2), i(32))
    n, days = drawn("growth_fractions", 800, 5_000), drawn("days of growth_fractions", 250, 1_200)
    spread(case, "warps", "growth_fractions", 32 * n, one("growth_fractions"), normal(n * days), zeros(n), i(n),
           i(days), i(drawn("turns of growth_fractions", 5, 12)))  # fmt: skip
    n, count = drawn("mobius_prefixes", 1_000, 7_000), 32 * drawn("count of mobius_prefixes", 3, 12)
    spread(case, "division", "mobius_prefixes", 32 * n, one("mobius_prefixes"), numbers(n * count, WORD, "u4"),
           zeros(n * count, "u4"), i(n), i(count))  # fmt: skip


def _matrices_of_warps(case: Any) -> None:
    n, mean = drawn("cut_hyperedges", 4_000, 30_000), drawn("mean of cut_hyperedges", 20, 90)
    spread(case, "cache", "cut_hyperedges", 32 * n, sizes("cut_hyperedges"), *lists(n, mean), numbers(n, 32, "u1"),
           zeros(n, "i4"), i(n))  # fmt: skip
    n, words = drawn("four_cliques", 1_500, 9_000), drawn("words of four_cliques", 12, 32)
    for block in (64, one("four_cliques")):
        spread(case, "cache", "four_cliques", 32 * n, block, Given("friends", "u4", 32 * words**2, 3),
               numbers(2 * n, 32 * words), zeros(n, "i4"), i(n), i(words))  # fmt: skip
    n = drawn("daubechies_rows", 3_000, 20_000)
    spread(case, "shared", "daubechies_rows", 32 * n, sizes("daubechies_rows", most=768), normal(256 * n),
           zeros(256 * n), i(n), smem=lambda block: 64 * block)  # fmt: skip


def _atomics(case: Any) -> None:
    n, mean = drawn("next_job_sums", 2_000, 12_000), drawn("mean of next_job_sums", 60, 300)
    spread(case, "atomics", "next_job_sums", 32 * drawn("warps of next_job_sums", 500, 4_000), sizes("next_job_sums"),
           *lists(n, mean), zeros(n, "u4"), zeros(2, "u4"), i(n))  # fmt: skip
    n, (width, height) = drawn("circle_votes", 20_000, 150_000), side("circle_votes", 200, 1_000)
    spread(case, "atomics", "circle_votes", n, one("circle_votes"), numbers(n, WORD, "u4"),
           zeros(width * height, "u4"), i(n), i(width), i(height), i(8),
           i(drawn("radius of circle_votes", 20, 50)))  # fmt: skip
    n, count = drawn("ledger_postings", 100_000, 600_000), drawn("accounts of ledger_postings", 1_000, 50_000)
    threads = drawn("threads of ledger_postings", 30_000, 200_000)
    spread(case, "atomics", "ledger_postings", threads, (96, 512), numbers(2 * n, WORD, "u4"), zeros(count, "u8"),
           zeros(count, "u4"), i(n), u(count))  # fmt: skip
    spread(case, "atomics", "ledger_postings", 50_000, 256, numbers(100_000, WORD, "u4"), zeros(16, "u8"),
           zeros(16, "u4"), i(50_000), u(16))  # fmt: skip


def _water_and_gas(case: Any) -> None:
    n, count = drawn("theis_drawdowns", 30_000, 200_000), drawn("wells of theis_drawdowns", 8, 30)
    spread(case, "divergence", "theis_drawdowns", n, sizes("theis_drawdowns"), unit(4 * count), unit(2 * n), zeros(n),
           i(n), i(count))  # fmt: skip
    n = drawn("shock_pressures", 40_000, 300_000)
    spread(case, "sfu", "shock_pressures", n, sizes("shock_pressures", most=768), unit(4 * n), normal(n), zeros(n),
           i(n))  # fmt: skip
    case("tail", "shock_pressures", 133, 1_024, unit(4 * 133 * 1_024), normal(133 * 1_024), zeros(133 * 1_024),
         i(133 * 1_024))  # fmt: skip
    n = drawn("pipe_frictions", 60_000, 500_000)
    spread(case, "latency", "pipe_frictions", n, one("pipe_frictions"), unit(n), unit(n + 1), zeros(n), i(n),
           i(drawn("turns of pipe_frictions", 10, 40)))  # fmt: skip
    case("tiny", "pipe_frictions", 2, 96, unit(192), unit(193), zeros(192), i(192), i(30))
    width, height = side("ice_flow_step", 400, 1_500)
    in_shapes(case, "sfu", "ice_flow_step", width, height, shapes("ice_flow_step"), unit(width * height, high=3),
              unit(width * height, high=2), zeros(width * height), i(width), i(height), f(3.3), f(0.01))  # fmt: skip


def _signals(case: Any) -> None:
    n = drawn("josephson_steps", 10_000, 80_000)
    spread(case, "latency", "josephson_steps", n, sizes("josephson_steps"), unit(n), zeros(n), i(n),
           i(drawn("steps of josephson_steps", 40, 120)), f(0.3))  # fmt: skip
    case("few", "josephson_steps", 5, 32, unit(160), zeros(160), i(160), i(150), f(0.5))
    n, samples = drawn("held_gains", 8_000, 60_000), drawn("samples of held_gains", 30, 90)
    spread(case, "latency", "held_gains", n, sizes("held_gains"), normal(n * samples), zeros(n * samples), i(n),
           i(samples))  # fmt: skip
    n, frames = drawn("vocoder_phases", 8_000, 50_000), drawn("frames of vocoder_phases", 20, 50)
    for block in (32, 320):
        spread(case, "latency", "vocoder_phases", n, block, normal(2 * n * frames), zeros(n * frames), i(n), i(frames))
    n = drawn("ikeda_orbits", 30_000, 250_000)
    spread(case, "sfu", "ikeda_orbits", n, one("ikeda_orbits"), unit(2 * n), zeros(2 * n), i(n),
           i(drawn("turns of ikeda_orbits", 60, 300)), f(0.6))  # fmt: skip
    case("few", "ikeda_orbits", 1, 32, unit(64), zeros(64), i(32), i(500), f(0.6))
    n, count = drawn("voigt_spectra", 60_000, 400_000), drawn("lines of voigt_spectra", 40, 150)
    spread(case, "sfu", "voigt_spectra", n, sizes("voigt_spectra"), unit(4 * count), zeros(n), i(n), i(count),
           smem=16 * count)  # fmt: skip


def _chance(case: Any) -> None:
    n = drawn("stable_draws", 30_000, 200_000)
    spread(case, "sfu", "stable_draws", n, sizes("stable_draws"), zeros(n), i(n),
           i(drawn("draws of stable_draws", 8, 40)), f(1.5), u(3))  # fmt: skip
    n = drawn("coalescent_trees", 40_000, 250_000)
    spread(case, "divergence", "coalescent_trees", n, one("coalescent_trees"), zeros(n), i(n),
           i(drawn("people of coalescent_trees", 20, 60)), f(0.8), u(4))  # fmt: skip
    n = drawn("allele_drift", 6_000, 30_000)
    spread(case, "divergence", "allele_drift", n, sizes("allele_drift"), zeros(n, "i4"), i(n),
           i(drawn("carriers of allele_drift", 20, 40)), i(100), u(5))  # fmt: skip
    n = drawn("bandit_rewards", 10_000, 60_000)
    spread(case, "local", "bandit_rewards", n, sizes("bandit_rewards"), numbers(8, 100), zeros(n, "i4"), i(n),
           i(drawn("pulls of bandit_rewards", 30, 100)), u(6))  # fmt: skip


def _doubles(case: Any) -> None:
    n = drawn("fermi_integrals", 8_000, 50_000)
    spread(case, "fp64", "fermi_integrals", n, sizes("fermi_integrals"), unit(n, "f8"), zeros(n, "f8"), i(n),
           i(drawn("points of fermi_integrals", 40, 120)))  # fmt: skip
    case("few", "fermi_integrals", 3, 64, unit(192, "f8"), zeros(192, "f8"), i(192), i(100))
    n, count = drawn("ephemeris_series", 10_000, 60_000), drawn("terms of ephemeris_series", 12, 40)
    for block in (64, 448):
        spread(case, "fp64", "ephemeris_series", n, block, Given("planets", "f8", 3 * count, 2), unit(n, "f8"),
               zeros(n, "f8"), i(n), i(count))  # fmt: skip
    n, count = drawn("interval_polynomials", 20_000, 150_000), drawn("factors of interval_polynomials", 6, 20)
    spread(case, "fp64", "interval_polynomials", n, one("interval_polynomials"), normal(count, "f8"), normal(n, "f8"),
           zeros(2 * n, "f8"), i(n), i(count), ("f8", 1e-3))  # fmt: skip


def _fits(case: Any) -> None:
    n, points = drawn("levenberg_fits", 8_000, 50_000), drawn("points of levenberg_fits", 12, 32)
    spread(case, "cache", "levenberg_fits", n, one("levenberg_fits"), Given("decays", "f4", n * points, points),
           zeros(2 * n), i(n), i(points), i(drawn("turns of levenberg_fits", 8, 20)))  # fmt: skip
    case("few", "levenberg_fits", 4, 32, Given("decays", "f4", 128 * 24, 24), zeros(256), i(128), i(24), i(20))


def _puzzles(case: Any) -> None:
    spread(case, "divergence", "langford_pairings", 154_440, sizes("langford_pairings"), zeros(154_440, "i4"),
           i(154_440), i(10))  # fmt: skip
    spread(case, "divergence", "langford_pairings", 240_240, 128, zeros(240_240, "i4"), i(240_240), i(11))
    n = drawn("postage_reaches", 10_000, 90_000)
    spread(case, "local", "postage_reaches", n, one("postage_reaches"), numbers(n, WORD, "u4"), zeros(n, "i4"), i(n),
           i(drawn("stamps of postage_reaches", 4, 8)))  # fmt: skip
    n = drawn("two_square_ways", 20_000, 200_000)
    spread(case, "divergence", "two_square_ways", n, one("two_square_ways"), zeros(n, "i4"), i(n),
           u(drawn("limit of two_square_ways", 20_000, 200_000)))  # fmt: skip
    case("tail", "two_square_ways", 265, 1_024, zeros(265 * 1_024, "i4"), i(265 * 1_024), u(30_000))


def _long_integers(case: Any) -> None:
    for bits, low, high, turns in ((16, 40_000, 200_000, 4), (32, 16_000, 70_000, 2)):
        name = f"nim_products<{bits}>"
        n = drawn(name, low, high)
        # With 32 bits a thread has 245 registers, and a block of 512 does not start.
        blocks = sizes(name, most=512) if bits == 16 else one(name, most=256)
        spread(case, "fetch", name, n, blocks, numbers(n, WORD, "u4"), zeros(n, "u4"), i(n), i(turns))
    n = drawn("bits_compressed", 30_000, 200_000)
    spread(case, "int64", "bits_compressed", n, sizes("bits_compressed"), Given("long words", "u8", n), zeros(n, "u8"),
           i(n), i(drawn("turns of bits_compressed", 2, 8)))  # fmt: skip
    case("tiny", "bits_compressed", 1, 64, Given("long words", "u8", 64), zeros(64, "u8"), i(64), i(12))
    n, words = drawn("folded_hashes", 10_000, 40_000), drawn("words of folded_hashes", 16, 40)
    spread(case, "int64", "folded_hashes", n, one("folded_hashes"), Given("long words", "u8", n * words),
           zeros(n, "u8"), i(n), i(words))  # fmt: skip
    n = drawn("blum_shub_bits", 20_000, 150_000)
    spread(case, "division", "blum_shub_bits", n, one("blum_shub_bits"), numbers(n, WORD, "u4"), zeros(n, "u4"),
           i(n), ("u8", PRODUCT))  # fmt: skip


def _bytes_and_branches(case: Any) -> None:
    n, length = drawn("cobs_frames", 4_000, 40_000), drawn("length of cobs_frames", 60, 250)
    spread(case, "cache", "cobs_frames", n, sizes("cobs_frames"), Given("sparse bytes", "u1", n * length, 9),
           zeros(n * (length + 1), "u1"), i(n), i(length))  # fmt: skip
    n, words = drawn("branch_guesses", 10_000, 80_000), drawn("words of branch_guesses", 4, 14)
    spread(case, "local", "branch_guesses", n, sizes("branch_guesses"), numbers(n * words, WORD, "u4"), zeros(n, "i4"),
           i(n), i(words))  # fmt: skip
    case("few", "branch_guesses", 2, 32, numbers(64 * 30, WORD, "u4"), zeros(64, "i4"), i(64), i(30))


def _trees_and_genes(case: Any) -> None:
    n = drawn("sankoff_costs", 10_000, 90_000)
    spread(case, "local", "sankoff_costs", n, one("sankoff_costs"), numbers(16 * n, 4, "u1"), zeros(n, "i4"), i(n),
           i(16))  # fmt: skip
    spread(case, "local", "sankoff_costs", 20_000, 64, numbers(64 * 20_000, 4, "u1"), zeros(20_000, "i4"), i(20_000),
           i(64))  # fmt: skip
    n = drawn("polar_decoded", 15_000, 80_000)
    spread(case, "fetch", "polar_decoded", n, sizes("polar_decoded", most=512), normal(32 * n), zeros(n, "u4"), i(n),
           u(FROZEN))  # fmt: skip


def _private(case: Any) -> None:
    n, columns = drawn("largest_rectangles", 10_000, 80_000), drawn("columns of largest_rectangles", 30, 64)
    spread(case, "local", "largest_rectangles", n, one("largest_rectangles"), numbers(n * columns, 40, "u1"),
           zeros(n, "i4"), i(n), i(columns))  # fmt: skip
    n, length = drawn("turtle_walks", 10_000, 60_000), drawn("length of turtle_walks", 30, 80)
    spread(case, "divergence", "turtle_walks", n, sizes("turtle_walks"), numbers(n * length, 8, "u1"),
           zeros(4 * n, "i4"), i(n), i(length), i(2))  # fmt: skip


def _beginners(case: Any) -> None:
    n = drawn("fare_zones", 150_000, 900_000)
    spread(case, "beginner", "fare_zones", n, (32, 256), numbers(n, WORD, "u4"), zeros(n, "i4"), i(n))
    n, threads = drawn("tile_word_scores", 200_000, 1_500_000), drawn("threads of tile_word_scores", 30_000, 200_000)
    spread(case, "constant", "tile_word_scores", threads, sizes("tile_word_scores"), numbers(n, WORD, "u4"),
           zeros(n, "i4"), i(n))  # fmt: skip
    spread(case, "tiny", "fuel_costs", 3_000, 192, unit(3_000), unit(3_001), unit(3_002), zeros(3_000), i(3_000))


def _programs(case: Any) -> None:
    for degree in (6, 14, 24):
        name = f"harmonics_as_code<{degree}>"
        n = drawn(name, 30_000, 250_000)
        spread(case, "fetch", name, n, one(name, most=640), unit(2 * n), zeros(n), i(n))
    spread(case, "fetch", "harmonics_as_code<24>", 2_000, 64, unit(4_000), zeros(2_000), i(2_000))


def _pictures(case: Any) -> None:
    (width, height), step = side("superpixel_labels", 300, 1_200), drawn("step of superpixel_labels", 8, 24)
    count = -(-width // step) * -(-height // step)
    in_shapes(case, "cache", "superpixel_labels", width, height, shapes("superpixel_labels"), unit(3 * width * height),
              unit(5 * count), zeros(width * height, "i4"), i(width), i(height), i(step))  # fmt: skip
    width, height = side("fast_corners", 500, 2_000)
    in_shapes(case, "divergence", "fast_corners", width, height, shapes("fast_corners"),
              Given("grey steps", "u1", width * height, 11), zeros(width * height, "u1"), i(width), i(height),
              i(24))  # fmt: skip


def _gathers(case: Any) -> None:
    n, points = drawn("barycentric_samples", 60_000, 400_000), drawn("points of barycentric_samples", 8_000, 90_000)
    spread(case, "cache", "barycentric_samples", n, one("barycentric_samples"), numbers(6 * points, points),
           unit(4 * points), numbers(n, 2 * points, "u4"), unit(2 * n), zeros(4 * n), i(n))  # fmt: skip
    n, routers = drawn("routed_packets", 40_000, 250_000), drawn("routers of routed_packets", 300, 1_400)
    spread(case, "cache", "routed_packets", n, sizes("routed_packets"), Given("next hops", "u2", routers**2, 12),
           numbers(n, WORD, "u4"), zeros(n, "u4"), i(n), i(routers), i(32))  # fmt: skip
    case("latency", "routed_packets", 4, 32, Given("next hops", "u2", 900**2, 60), numbers(128, WORD, "u4"),
         zeros(128, "u4"), i(128), i(900), i(60))  # fmt: skip
    n, length = drawn("wavelet_ranks", 40_000, 250_000), drawn("length of wavelet_ranks", 100_000, 900_000)
    spread(case, "cache", "wavelet_ranks", n, sizes("wavelet_ranks"),
           Given("wavelet matrix", "u4", 14 * (length // 32 + 1), length), numbers(n, length, "u4"), zeros(n, "i4"),
           i(n), i(length), i(7))  # fmt: skip


def _copies(case: Any) -> None:
    width, height, depth = *side("turned_voxels", 100, 300), drawn("depth of turned_voxels", 40, 120)
    n = width * height * depth
    for gap in (0, 1):
        for rows in (2, 4, 8, 16, 32):
            case("shared", f"turned_voxels<{gap}>", (-(-width // 32), -(-depth // 32), height), (32, rows),
                 normal(n), zeros(n), i(width), i(height), i(depth), series=f"turned_voxels<{gap}>")  # fmt: skip
    case("stream", "turned_voxels<1>", (10, 10, 330), (32, 8), normal(320 * 320 * 330), zeros(320 * 320 * 330), i(320),
         i(330), i(320))  # fmt: skip
    n, count = drawn("streamed_neighbours", 10_000, 80_000), 256 * drawn("tiles of streamed_neighbours", 3, 12)
    spread(case, "async", "streamed_neighbours", n, sizes("streamed_neighbours"), unit(4 * count), unit(4 * n),
           zeros(n, "i4"), i(n), i(count))  # fmt: skip
    case("few", "streamed_neighbours", 2, 128, unit(4 * 4_096), unit(4 * 256), zeros(256, "i4"), i(256), i(4_096))


def _matrices(case: Any) -> None:
    n, count = 16 * drawn("landmark_scores", 400, 4_000), 8 * drawn("landmarks of landmark_scores", 8, 40)
    spread(case, "tensor", "landmark_scores", 2 * n, sizes("landmark_scores", most=640), _bf16(64 * n),
           _bf16(64 * count), zeros(n), i(n), i(count))  # fmt: skip
    n = drawn("cosine_squares", 3_000, 14_000)
    for block in (32, 256):
        spread(case, "tensor", "cosine_squares", 32 * n, block, Given("cosines", "u2", 256, 16),
               numbers(256 * n, 0x3C00, "u2"), zeros(256 * n), i(n))  # fmt: skip
    n, length = 16 * drawn("window_patterns", 5_000, 40_000), 32 * drawn("length of window_patterns", 2, 6)
    spread(case, "tensor", "window_patterns", 2 * n, one("window_patterns"), numbers(n + length + 16, 127, "i1"),
           numbers(2 * length, WORD, "u4"), zeros(n, "i4"), i(n), i(length))  # fmt: skip


def _bf16(size: int) -> Any:
    """Numbers as bfloat16 between 0 and 1."""
    return numbers(size, 0x3F80, "u2")


def _halves(case: Any) -> None:
    n, threads = drawn("bent_guitars", 150_000, 900_000), drawn("threads of bent_guitars", 40_000, 260_000)
    spread(case, "half", "bent_guitars", threads, one("bent_guitars"), normal(2 * n, "f2"), zeros(2 * n, "f2"), i(n),
           i(drawn("stages of bent_guitars", 4, 16)))  # fmt: skip
    n, samples = drawn("half_echoes", 10_000, 60_000), drawn("samples of half_echoes", 30, 100)
    spread(case, "half", "half_echoes", n, sizes("half_echoes"), normal(2 * n * samples, "f2"),
           zeros(2 * n * samples, "f2"), i(n), i(samples))  # fmt: skip
    n = drawn("bf16_curves", 100_000, 500_000)
    spread(case, "half", "bf16_curves", n, one("bf16_curves"), _bf16(2 * n), zeros(2 * n, "u2"), i(n),
           i(drawn("turns of bf16_curves", 10, 80)))  # fmt: skip


def _streams(case: Any) -> None:
    for n, block in ((5_000_000, 128), (18_000_000, 256)):
        spread(case, "stream", "fuel_costs", n, block, unit(n), unit(n + 1), unit(n + 2), zeros(n), i(n))
    n = 9_000_000
    spread(case, "stream", "stereo_sides", drawn("threads of stereo_sides", 60_000, 300_000), (64, 1_024),
           numbers(4 * n, 30_000, "i2"), zeros(4 * n, "i2"), i(n))  # fmt: skip
    for n, block in ((1_500_000, 512), (16_000_000, 1_024)):
        spread(case, "stream", "binned_sums", drawn(f"threads of binned_sums, {n}", 60_000, 260_000), block,
               normal(4 * n), zeros(1, "u8"), i(n))  # fmt: skip
