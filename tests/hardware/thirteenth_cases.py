"""A thirteenth set of launches for the timing model: other kernels than those of the twelve sets before it, as programs
have them, written without a look at the model or at an estimate. At most a third of them are bound by DRAM, and many
sizes are drawn by lot. They are predicted and committed before a GPU measures them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from tests.hardware.eleventh_cases import drawn
from tests.hardware.launch_sets import by_series, launches
from tests.hardware.ninth_cases import halves, lists, normal, unit, up
from tests.hardware.timing_cases import ByRecipe, TimingCase, f, i, zeros
from tests.hardware.validation_cases import numbers, u

SOURCE = Path(__file__).parent / "kernels" / "thirteenth.cu"
FILE = "thirteenth.cu"
#: Categories whose launches are bound by DRAM, or close to it.
DRAM = ("stream",)


def _moves(size: int, high: int, rng: np.random.Generator) -> np.ndarray:
    """How likely a model of 16 states goes to a state from each one, two half numbers per word."""
    chances = rng.random((16, 16)) ** 4
    chances /= chances.sum(axis=0)
    return chances.astype("f2").view("u4")


def _runs(size: int, high: int, rng: np.random.Generator) -> np.ndarray:
    """Bytes in runs whose mean length is ``high``."""
    return (rng.random(size) < 1 / high).cumsum() * 37 & 255


def _ways(size: int, high: int, rng: np.random.Generator) -> np.ndarray:
    """Cosine and sine of ``size`` / 2 angles of half a turn."""
    angles = np.pi * np.arange(size // 2) / (size // 2)
    return np.stack([np.cos(angles), np.sin(angles)], axis=1)


def _cloth(size: int, high: int, rng: np.random.Generator) -> np.ndarray:
    """Pieces of cloth of ``high`` x ``high`` points, a little crumpled: all x, all y, all z of a piece."""
    y, x = np.divmod(np.arange(high * high), high)
    flat = np.stack([x, -y, 0 * x])
    return flat + rng.normal(0, 0.1, (size // flat.size, *flat.shape))


def _tree_levels(nodes: int) -> int:
    """Levels of a complete tree of squares with ``nodes`` nodes."""
    return (3 * nodes + 1).bit_length() // 2


def _walk_down(levels: int, x: float, y: float, side: float, at: int) -> list[tuple[float, float, float, int]]:
    """Centre, side and skip of all nodes of a tree of squares, in the order of a walk down."""
    nodes = (4**levels - 1) // 3
    found = [(x, y, side, at + nodes)]
    if levels > 1:
        for k in range(4):
            dx, dy = side / 4 * (2 * (k & 1) - 1), side / 4 * (2 * (k >> 1) - 1)
            found += _walk_down(levels - 1, x + dx, y + dy, side / 2, at + 1 + k * (nodes - 1) // 4)
    return found


def _squares(size: int, high: int, rng: np.random.Generator) -> np.ndarray:
    """The nodes of a tree of squares within the square from 0 to 1: place, mass, side."""
    found = np.array(
        [(x, y, side * side, side) for x, y, side, _ in _walk_down(_tree_levels(size // 4), 0.5, 0.5, 1, 0)]
    )
    found[:, :2] += found[:, 3:] * rng.uniform(-0.2, 0.2, (len(found), 2))
    return found


def _cube_moves(size: int, high: int, rng: np.random.Generator) -> np.ndarray:
    """18 exchanges of 54 fields that move 20 fields each."""
    found = np.tile(np.arange(54), (18, 1))
    for row in found:
        chosen = rng.choice(54, 20, replace=False)
        row[chosen] = np.roll(chosen, 5)
    return found


def _workshops(size: int, high: int, rng: np.random.Generator) -> np.ndarray:
    """Distances between 16 places and flows between 16 workshops, the same in both directions."""
    found = rng.integers(0, high, (2, 16, 16))
    return (found + found.transpose(0, 2, 1)) * (1 - np.eye(16, dtype=int))


def _places_of(nodes: int) -> np.ndarray:
    """Where the k-th smallest number of a skip list lies; the smallest one lies in front."""
    return np.append(0, 1 + np.random.default_rng(nodes).permutation(nodes - 1))


def _links(size: int, high: int, rng: np.random.Generator) -> np.ndarray:
    """The links of a skip list of ``high`` nodes: on level l each 2^l-th node is linked; 0 behind the last one."""
    places, found = _places_of(high), np.zeros((size // high, high), int)
    for level, row in enumerate(found):
        chain = places[:: 1 << level]
        row[chain[:-1]] = chain[1:]
    return found


def _skip_keys(size: int, high: int, rng: np.random.Generator) -> np.ndarray:
    """The numbers of a skip list, below ``high``; the smallest one is 0."""
    found = np.zeros(size, int)
    found[_places_of(size)] = np.append(0, np.sort(rng.integers(1, high, size - 1)))
    return found


def _utf8(size: int, high: int, rng: np.random.Generator) -> np.ndarray:
    """A text of ``size`` bytes with letters of one to four bytes; it ends with letters of one byte."""
    limits = np.array([[0x20, 0x7F], [0xA0, 0x7FF], [0x1000, 0xCFFF], [0x10000, 0x1FFFF]])
    kinds = rng.choice(4, size // 2, p=(0.5, 0.25, 0.2, 0.05))
    codes = rng.integers(limits[kinds, 0], limits[kinds, 1])
    found = np.frombuffer("".join(map(chr, codes)).encode(), "u1")[: size - 8]
    while found[-1] & 0xC0 == 0x80:
        found = found[:-1]
    return np.append(found[:-1], np.full(size - len(found) + 1, 0x61))


def _dates(size: int, high: int, rng: np.random.Generator) -> np.ndarray:
    """Times like 2026-11-27T21:46, four words each, between 1970 and 2100."""
    times = np.datetime64("1970-01-01T00:00") + rng.integers(0, 130 * 365 * 1440, size // 4)
    return np.datetime_as_string(times, unit="m").astype("S16").view("u4")


def _species(first: int, count: int) -> list[int]:
    """A tree of ``count`` species as a program: a species, or -1 for a join of the two parts before."""
    if count == 1:
        return [first]
    left = count // 2
    return [*_species(first, left), *_species(first + left, count - left), -1]


def _changes(size: int, high: int, rng: np.random.Generator) -> np.ndarray:
    """Matrices of 4 x 4 with rows whose sum is 1, most of it on the diagonal."""
    found = 0.1 * rng.random((size // 16, 4, 4)) + np.eye(4)
    return found / found.sum(axis=2, keepdims=True)


def _models(size: int, high: int, rng: np.random.Generator) -> np.ndarray:
    """Drift, spread and unrest of a process, and a place."""
    n = size // 4
    return np.stack([rng.uniform(-0.2, 0.2, n), rng.uniform(0.2, 0.5, n), rng.uniform(0.2, 1, n),
                     rng.uniform(-1, 1, n)], axis=1)  # fmt: skip


def _risks(size: int, high: int, rng: np.random.Generator) -> np.ndarray:
    """The base of a risk, the share of the last return and the share of the last risk."""
    n = size // 3
    return np.stack([rng.uniform(0.01, 0.1, n), rng.uniform(0.05, 0.2, n), rng.uniform(0.5, 0.75, n)])


def _bands(size: int, high: int, rng: np.random.Generator) -> np.ndarray:
    """Edges of bands from 1 to ``high``, each at least 2 wider than the one before."""
    return np.arange(size) * 2 + (high - 2 * size) * np.linspace(0, 1, size) ** 2


def _polygon(size: int, high: int, rng: np.random.Generator) -> np.ndarray:
    """The corners of a star with many arms around (0.5, 0.5)."""
    angles = 2 * np.pi * np.arange(size // 2) / (size // 2)
    arms = rng.uniform(0.1, 0.5, size // 2)
    return 0.5 + np.stack([arms * np.cos(angles), arms * np.sin(angles)], axis=1)


def _circles(size: int, high: int, rng: np.random.Generator) -> np.ndarray:
    """Four points each, on a circle or near it; of one in ``high`` all are almost exactly on it."""
    n = size // 8
    angles, away = rng.uniform(0, 2 * np.pi, (4, n)), rng.normal(0, 0.3, (4, n))
    away *= np.where(rng.random(n) < 1 / high, 1e-4, 1)
    return np.stack([(1 + away) * np.cos(angles), (1 + away) * np.sin(angles)], axis=1)


def _boxes(size: int, high: int, rng: np.random.Generator) -> np.ndarray:
    """Places, half sides and turns of boxes in a room of the side ``high``."""
    n = size // 10
    return np.concatenate([rng.uniform(0, high, (3, n)), rng.uniform(0.3, 1.5, (3, n)), rng.normal(0, 1, (4, n))])


def _rays(size: int, high: int, rng: np.random.Generator) -> np.ndarray:
    """Rays in a room of 64 x 64 x 64 cells: first cell, signs, ways to the next walls and between walls."""
    n = size // 8
    between = rng.integers(100, 3_000, (3, n))
    return np.concatenate(
        [rng.integers(0, 1 << 18, (1, n)), rng.integers(0, 8, (1, n)), (between * rng.random((3, n))).astype(int),
         between])  # fmt: skip


def _sights(size: int, high: int, rng: np.random.Generator) -> np.ndarray:
    """Directions all around, in steps of 65536 along the longer one."""
    angles = 2 * np.pi * np.arange(size // 2) / (size // 2)
    found = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    return np.rint(65536 * found / abs(found).max(axis=1, keepdims=True))


def _bubbles(size: int, high: int, rng: np.random.Generator) -> np.ndarray:
    """A field of ``high`` x ``high`` x ``high`` numbers with waves."""
    z, y, x = np.indices((high, high, high))
    return np.sin(0.21 * x + 0.4) * np.cos(0.17 * y) + np.sin(0.13 * z + 0.1 * x)


def _sparse_bits(size: int, high: int, rng: np.random.Generator) -> np.ndarray:
    """Words in which one of 2^``high`` bits is set."""
    return np.bitwise_and.reduce(rng.integers(0, 1 << 32, (high, size)), axis=0)


def _patches(size: int, high: int, rng: np.random.Generator) -> np.ndarray:
    """Kinds below ``high`` in patches of 100 neighbours in the mean."""
    return rng.integers(0, high, size)[(rng.random(size) < 0.01).cumsum()]


def _shares(words: int) -> np.ndarray:
    """How often words come, the most frequent one first, by the law of Zipf and Mandelbrot."""
    found = 1 / (np.arange(words) + 2.7)
    return found / found.sum()


RECIPES: dict[str, Callable[[int, int, np.random.Generator], Any]] = {
    "moves": _moves,
    "runs": _runs,
    "ways": _ways,
    "cloth": _cloth,
    "squares": _squares,
    "skips": lambda size, high, rng: [node[3] for node in _walk_down(_tree_levels(size), 0.5, 0.5, 1, 0)],
    "cube moves": _cube_moves,
    "workshops": _workshops,
    "links": _links,
    "skip keys": _skip_keys,
    "utf8": _utf8,
    "dates": _dates,
    "species": lambda size, high, rng: _species(0, (size + 1) // 2),
    "changes": _changes,
    "models": _models,
    "risks": _risks,
    "bands": _bands,
    "polygon": _polygon,
    "circles": _circles,
    "boxes": _boxes,
    "rays": _rays,
    "sights": _sights,
    "bubbles": _bubbles,
    "sparse bits": _sparse_bits,
    "patches": _patches,
    "words": lambda size, high, rng: np.bitwise_and.reduce(rng.integers(0, 1 << 64, (high, size), dtype="u8"), axis=0),
    "few words": lambda size, high, rng: rng.choice(high, size, p=_shares(high)),
    "sorted rows": lambda size, high, rng: np.sort(rng.integers(0, 20_000, (size // high, high)), axis=1),
    "small": lambda size, high, rng: rng.normal(0, 1 / high, size),
    "limits": lambda size, high, rng: rng.uniform(-2.5, -0.5, size),
    "samples": lambda size, high, rng: rng.integers(-high, high + 1, size),
    "cases": lambda size, high, rng: np.minimum([min(k.bit_count(), 8 - k.bit_count()) for k in range(size)], 4),
}


class Composed(ByRecipe):
    """An array of this set."""

    recipes = RECIPES


def series() -> dict[str, list[str]]:
    """Name of a series -> the names of its launches, by threads per block."""
    return by_series(cases())


def cases() -> list[TimingCase]:
    """All launches; their names are different."""
    return launches(
        (_tensors, _networks, _gathers, _pictures, _windows, _tiles, _systems, _bodies, _lights, _molecules, _graphs,
         _choices, _games, _ciphers, _decoders, _texts, _biology, _finance, _channels, _bands_and_echoes, _databases,
         _polygons, _spaces, _few, _uneven, _crowded, _tensor_series, _body_series, _graph_series, _code_series,
         _finance_series, _space_series)
    )  # fmt: skip


def _tensors(case: Any) -> None:
    for rows, n, depth in ((512, 512, 512), (64, 256, 1_024), (2_048, 1_024, 256)):
        case("tensor", "tf32_product", (n // 32, rows // 64), 128, normal(rows * depth), normal(depth * n, high=2),
             zeros(rows * n), i(n), i(depth))  # fmt: skip
    heads, length = 3, 1_024
    words = 16 * heads * length
    case("tensor", "attend_mma", (length // 64, heads), 128, halves(words), halves(words, 2), halves(words, 3),
         zeros(2 * words), i(length))  # fmt: skip
    block, n, length = 256, 60_000, 50
    case("tensor", "hmm_forward", up(2 * n, block), block, Composed("moves", "u4", 128), unit(128),
         numbers(n * length, 8, "u1"), zeros(n), i(n), i(length))  # fmt: skip
    block, n, depth = 256, 480, 512
    case("tensor", "double_product", up(n * n // 8, block), block, normal(n * depth, "f8"),
         normal(n * depth, "f8", 2), zeros(n * n, "f8"), i(n), i(depth))  # fmt: skip


def _networks(case: Any) -> None:
    for width, sequences, steps in ((64, 264, 120), (64, 30, 400), (128, 132, 90)):
        case("barrier", f"elman_cells<{width}>", sequences, width, normal(sequences * steps * width),
             Composed("small", "f4", width * width, 8), zeros(sequences * width), i(steps))  # fmt: skip
    for width, height, channels, shape in ((64, 48, 32, (32, 4)), (250, 190, 24, (16, 16))):
        case("fma", "deconv_twice", (up(2 * width, shape[0]), up(2 * height, shape[1])), shape,
             normal(width * height * channels), normal(16 * channels), zeros(4 * width * height), i(width), i(height),
             i(channels))  # fmt: skip
    for category, grid, block, n in (("sfu", 66, 128, 600_011), ("sfu", 528, 256, 1_500_007),
                                     ("stream", 1_056, 256, 9_000_001)):  # fmt: skip
        case(category, "focal_gradients", grid, block, normal(n, high=2), numbers(n, 2, "u1"), zeros(n), i(n), f(2.5))
    for width, block, n in ((16, 128, 500_009), (48, 256, 90_001), (64, 128, 40_009)):
        case("code" if width > 16 else "fma", f"baked_network<{width}>", up(n, block), block, normal(8 * n), zeros(n),
             i(n))  # fmt: skip
    n, block, problems, turns = 100, 256, 264, 8
    case("barrier", "sinkhorn_plans", problems, block, unit(problems * n * n), zeros(problems * n * n), i(n),
         i(turns), f(0.2), smem=4 * n * (n + 3))  # fmt: skip


def _gathers(case: Any) -> None:
    for category, width, height, channels in (("cache", 320, 240, 16), ("stream", 640, 480, 40)):
        size = width * height
        case(category, "deform_sample", up(size, 192), 192, normal(size * channels), normal(2 * size, high=4),
             zeros(size * channels), i(width), i(height), i(channels))  # fmt: skip
    for grid, block, n, width, words in ((132, 256, 4_096, 128, 5_000), (528, 128, 30_011, 32, 50_000)):
        case("atomics", "embed_backward", grid, block, Composed("few words", "i4", n, words), normal(n * width),
             zeros(words * width), i(n), i(width))  # fmt: skip


def _pictures(case: Any) -> None:
    for width, height, shape in ((1_280, 720, (32, 8)), (1_900, 1_100, (64, 4))):
        tiles = up(width, 64) * up(height, 64)
        case("image", "clahe_map", (up(width, shape[0]), up(height, shape[1])), shape,
             numbers(width * height, 256, "u1"), numbers(256 * tiles, 256, "u1"), zeros(width * height, "u1"),
             i(width), i(height), i(64))  # fmt: skip
    for width, height, shape in ((1_024, 768, (16, 16)), (1_920, 1_200, (32, 4))):
        case("image", "lens_undistort", (up(width, shape[0]), up(height, shape[1])), shape,
             numbers(width * height, 256, "u1"), zeros(width * height), i(width), i(height), f(-0.15),
             f(0.03))  # fmt: skip
    for block, lines, width in ((64, 1_000, 640), (256, 5_003, 1_001)):
        case("scan", "rle_rows", up(32 * lines, block), block, Composed("runs", "u1", lines * width, 9),
             zeros(lines * width, "u4"), zeros(lines, "i4"), i(lines), i(width))  # fmt: skip
    for category, across, down in (("shuffle", 160, 120), ("stream", 500, 240)):
        n = across * down
        case(category, "ssim_squares", up(32 * n, 256), 256, unit(64 * n), unit(64 * n, high=2), zeros(n), i(across),
             i(n))  # fmt: skip
    block, width, height, n = 96, 1_024, 768, 3_001
    case("shared", "brief_codes", up(32 * n, block), block, numbers(width * height, 256, "u1"),
         numbers(2 * n, height - 32), numbers(512, 1_024, "u2"), zeros(8 * n, "u4"), i(n), i(width))  # fmt: skip


def _windows(case: Any) -> None:
    for width, height, shape in ((800, 600, (16, 16)), (1_301, 997, (32, 4))):
        case("stencil", "harris_response", (up(width, shape[0]), up(height, shape[1])), shape, unit(width * height),
             zeros(width * height), i(width), i(height))  # fmt: skip
    for width, height, shape in ((640, 480, (32, 8)), (1_200, 900, (32, 4))):
        case("stencil", "kuwahara", (up(width, shape[0]), up(height, shape[1])), shape, unit(width * height),
             zeros(width * height), i(width), i(height))  # fmt: skip
    for side, angles, shape in ((200, 90, (16, 8)), (512, 180, (32, 8))):
        detectors = side + 50
        case("cache", "back_project", (up(side, shape[0]), up(side, shape[1])), shape, normal(angles * detectors),
             Composed("ways", "f4", 2 * angles), zeros(side * side), i(side), i(angles), i(detectors))  # fmt: skip


def _tiles(case: Any) -> None:
    side, block, pieces, turns = 40, 512, 132, 12
    case("barrier", "cloth_relax", pieces, block, Composed("cloth", "f4", 3 * side * side * pieces, side),
         zeros(3 * side * side * pieces), i(side), i(turns), smem=24 * side * side)  # fmt: skip
    n, block, systems, turns = 2_048, 512, 200, 10
    case("barrier", "conjugate_rows", systems, block, unit(n * systems), normal(n * systems), zeros(n * systems),
         i(n), i(turns), smem=16 * n)  # fmt: skip
    for width, height, turns in ((300, 200, 24), (1_024, 700, 8)):
        case("barrier", "eikonal_tiles", (up(width, 16), up(height, 16)), (16, 16), unit(width * height, high=60),
             unit(width * height + 1), zeros(width * height), i(width), i(height), i(turns))  # fmt: skip


def _systems(case: Any) -> None:
    category, block, n, steps = "latency", 64, 3_001, 200
    case(category, "imu_attitudes", up(n, block), block, normal(6 * n * steps), zeros(4 * n), i(n), i(steps),
         f(0.01))  # fmt: skip
    block, n, steps = 64, 5_003, 150
    case("sfu", "nerve_cells", up(n, block), block, unit(n, high=12), zeros(n), i(n), i(steps), f(0.01))
    block, n, steps = 128, 10_007, 150
    case("fp64", "bent_light", up(n, block), block, unit(n, "f8"), zeros(n, "f8"), i(n), i(steps), ("f8", 1.0),
         ("f8", 0.02))  # fmt: skip
    for width, height, shape in ((1_600, 1_200, (32, 8)), (2_048, 1_500, (64, 2))):
        case("alu", "magnets_by_bits", (up(width // 2, shape[0]), up(height, shape[1])), shape,
             numbers(width * height, 1 << 32, "u4"), i(width), i(height), i(0), u(2_000_000_000), u(900_000_000),
             u(5))  # fmt: skip


def _bodies(case: Any) -> None:
    block = 96
    (cells,) = drawn(201, 1, 8_000, 80_000)
    case("montecarlo", "gas_collisions", up(cells, block), block, normal(4 * 12 * cells), i(cells), i(12), i(14), f(4),
         u(9))  # fmt: skip
    block, n, nodes, opening = 256, 60_013, 5_461, 0.6
    case("divergence", "tree_forces", up(n, block), block, Composed("squares", "f4", 4 * nodes),
         Composed("skips", "i4", nodes), unit(2 * n), zeros(2 * n), i(n), i(nodes), f(opening))  # fmt: skip


def _lights(case: Any) -> None:
    for category, block, n, count in (("shared", 96, 200_003, 10), ("shared", 512, 500_009, 4),
                                      ("stream", 256, 4_000_037, 1)):  # fmt: skip
        case(category, "harmonic_light", up(n, block), block, normal(3 * n), normal(27 * count), zeros(3 * n), i(n),
             i(count))  # fmt: skip
    for kinds, block, n, made in ((24, 128, 250_007, "patches"), (40, 256, 90_001, "random"),
                                  (6, 192, 300_007, "random")):  # fmt: skip
        held = numbers(n, kinds, "u1") if made == "random" else Composed("patches", "u1", n, kinds)
        case("divergence" if made == "random" else "code", f"shaded_pixels<{kinds}>", up(n, block), block, held,
             unit(2 * n), zeros(n), i(n))  # fmt: skip


def _molecules(case: Any) -> None:
    block = 64
    (n,) = drawn(202, 1, 800, 4_000)
    case("sfu", "born_radii", up(n, block), block, unit(4 * n, high=3), zeros(n), i(n))
    block, n, count, side = 256, 60_013, 24, 96
    case("cache", "dock_poses", up(n, block), block, normal(4 * n), unit(3 * n, high=side),
         normal(4 * count, high=5), normal(side**3), zeros(n), i(n), i(count), i(side))  # fmt: skip


def _graphs(case: Any) -> None:
    graphs, block, nodes, count = 132, 512, 5_000, 9_000
    case("atomics", "join_parts", graphs, block, numbers(2 * graphs * count, nodes, "u2"),
         zeros(graphs * nodes, "u2"), i(nodes), i(count), smem=8 * nodes)  # fmt: skip
    for block, nodes, mean in ((128, 30_011, 24), (256, 300_007, 8)):
        case("graph", "many_searches", up(nodes, block), block, *lists(nodes, mean),
             Composed("words", "u8", nodes, 4), Composed("words", "u8", nodes, 1), zeros(nodes, "u8"),
             i(nodes))  # fmt: skip
    block, nodes, mean = 256, 40_009, 10
    case("graph", "community_moves", up(32 * nodes, block), block, *lists(nodes, mean), numbers(nodes, nodes // 8),
         unit(nodes // 8, high=40), zeros(nodes, "i4"), i(nodes), f(0.05))  # fmt: skip
    category, block, bidders, goods = "stream", 256, 9_001, 2_500
    case(category, "auction_bids", up(32 * bidders, block), block, unit(bidders * goods), unit(goods),
         zeros(goods, "u8"), i(bidders), i(goods), f(0.01))  # fmt: skip


def _choices(case: Any) -> None:
    block, n, count = 64, 1_500, 100
    case("shuffle", "subset_sums", up(32 * n, block), block, numbers(n * count, 1_024), zeros(n, "i4"), i(n),
         i(count))  # fmt: skip
    block, n, turns = 128, 60_013, 25
    case("shared", "cooled_places", up(n, block), block, Composed("workshops", "i4", 512, 20), zeros(n, "i4"), i(n),
         i(turns), f(300), u(31))  # fmt: skip
    block, n, length = 64, 40_009, 6
    case("local", "merge_eight", up(n, block), block, numbers(8 * n * length, 1 << 30), zeros(8 * n * length, "i4"),
         i(n), i(length))  # fmt: skip


def _games(case: Any) -> None:
    for block, n, pieces in ((128, 60_013, 16), (256, 300_007, 8)):
        case("alu", "sliding_pieces", up(n, block), block, Composed("words", "u8", n, 1), zeros(n, "u2"), i(n),
             i(pieces))  # fmt: skip
    block, n, length = 64, 4_001, 20
    case("local", "cube_turns", up(n, block), block, Composed("cube moves", "u1", 972), zeros(n, "u1"), i(n),
         i(length), u(44))  # fmt: skip


def _ciphers(case: Any) -> None:
    category, block, n, blocks = "stream", 256, 300_007, 16
    case(category, "poly1305_tags", up(n, block), block, numbers(4 * n * blocks, 1 << 32, "u4"),
         numbers(4, 1 << 32, "u4"), zeros(5 * n, "u4"), i(n), i(blocks))  # fmt: skip
    for rounds, block, n in ((31, 128, 20_011), (31, 64, 2_003), (8, 256, 40_009)):
        case("code", f"present_slices<{rounds}>", up(n, block), block, numbers(64 * n, 1 << 32, "u4"),
             numbers(2 * rounds, 1 << 32, "u4"), zeros(64 * n, "u4"), i(n))  # fmt: skip


def _decoders(case: Any) -> None:
    block, frames, length = 256, 9_001, 40
    case("shuffle", "turbo_bits", up(8 * frames, block), block, normal(2 * frames * length),
         zeros(8 * frames * length), zeros(frames * length), i(frames), i(length))  # fmt: skip
    block, n, nodes, levels = 96, 10_007, 3_001, 11
    case("latency", "skip_list_find", up(n, block), block, Composed("links", "i4", levels * nodes, nodes),
         Composed("skip keys", "i4", nodes, 1 << 30), numbers(n, 1 << 30), zeros(n, "i4"), i(n), i(nodes),
         i(levels))  # fmt: skip
    block, n, words, count, low = 64, 5_003, 48, 200, 3
    case("codec", "rice_decode", up(n, block), block, numbers(n * words, 1 << 32, "u4"), zeros(n, "u4"), i(n),
         i(words), i(count), i(low))  # fmt: skip


def _texts(case: Any) -> None:
    for block, n, piece in ((64, 8_009, 200), (256, 70_001, 64)):
        case("string", "utf8_letters", up(n, block), block, Composed("utf8", "u1", n * piece), zeros(2 * n, "u4"), i(n),
             i(piece), i(n * piece))  # fmt: skip
    for category, grid, block, n in (("string", 132, 128, 300_007), ("stream", 1_056, 256, 1_500_001)):
        case(category, "iso_minutes", grid, block, Composed("dates", "u4", 4 * n), zeros(n, "i4"), i(n))


def _biology(case: Any) -> None:
    block, n, species = 256, 120_011, 20
    case("local", "tree_likelihoods", up(n, block), block, numbers(species * n, 4, "u1"),
         Composed("species", "i4", 2 * species - 1), Composed("changes", "f4", 32 * (species - 1)), zeros(n), i(n),
         i(2 * species - 1))  # fmt: skip
    for category, block, n in (("bytes", 192, 900_001), ("stream", 256, 6_000_011)):
        case(category, "translate_codons", up(n, block), block, numbers(12 * n, 4, "u1"), numbers(64, 26, "u1"),
             zeros(4 * n, "u1"), i(n))  # fmt: skip
    for block, n, peaks, length in ((64, 5_003, 100, 150), (128, 60_013, 40, 250)):
        case("divergence", "spectrum_matches", up(n, block), block, Composed("sorted rows", "i4", n * peaks, peaks),
             unit(n * peaks), Composed("sorted rows", "i4", length, length), unit(length), zeros(n), i(n), i(peaks),
             i(length), i(20))  # fmt: skip
    for pitch, block, n, length in (
        (32, 64, 9_001, 32),
        (33, 128, 40_009, 30),
        (36, 96, 20_011, 24),
        (34, 256, 70_001, 16),
    ):
        case("shared", f"common_letters<{pitch}>", up(n, block), block, Composed("words", "u8", n, 1),
             Composed("words", "u8", n + 1, 1), zeros(n, "i4"), i(n), i(length), smem=4 * pitch * block)  # fmt: skip


def _finance(case: Any) -> None:
    block, n, days = 256, 150_001, 120
    case("sfu", "garch_likelihoods", up(n, block), block, normal(days), Composed("risks", "f4", 3 * n), zeros(n),
         i(n), i(days))  # fmt: skip
    for block, n, terms in ((128, 5_003, 48), (256, 90_001, 20)):
        case("sfu", "cosine_densities", up(n, block), block, Composed("models", "f4", 4 * n), zeros(n), i(n), i(terms),
             f(3))  # fmt: skip
    block, n, length = 32, 2_003, 120
    case("local", "order_books", up(n, block), block, numbers(n * length, 1 << 20, "u4"), zeros(2 * n, "u4"), i(n),
         i(length))  # fmt: skip
    grid, block, worlds, debtors = 500, 64, 32_000, 200
    case("montecarlo", "copula_losses", grid, block, Composed("limits", "f4", debtors), zeros(128, "i4"), i(worlds),
         i(debtors), f(0.4), u(17))  # fmt: skip


def _channels(case: Any) -> None:
    for block, n, frames, rate in ((64, 2_001, 30, 16), (256, 60_013, 12, 8)):
        case("latency", "cic_filter", up(n, block), block, Composed("samples", "i2", n * frames * rate, 2_000),
             zeros(n * frames, "i4"), i(n), i(frames), i(rate))  # fmt: skip
    for category, block, n, length in (("latency", 32, 1_001, 400), ("stream", 128, 100_003, 60)):
        case(category, "limit_loudness", up(n, block), block, normal(n * length), zeros(n * length), i(n), i(length),
             f(1), f(0.98), f(0.3))  # fmt: skip


def _bands_and_echoes(case: Any) -> None:
    for lines, block, length, wide in ((264, 256, 3_000, 16), (1_000, 128, 1_024, 32)):
        case("shared", "cfar_echoes", lines, block, normal(lines * length), zeros(lines * length, "u1"), i(length),
             i(wide), i(3), f(4), smem=4 * length)  # fmt: skip
    satellites, block, length = 32, 512, 40_000
    case("alu", "satellite_sums", satellites, block, Composed("samples", "i1", length, 7),
         numbers(32 * satellites, 1 << 32, "u4"), numbers(4 * satellites, 1 << 31, "u4"),
         zeros(6 * satellites, "i4"), i(length))  # fmt: skip
    for frames, block, size, bands in ((500, 128, 513, 40), (2_000, 256, 1_025, 64)):
        case("reduce", "mel_bands", frames, block, normal(2 * frames * size), Composed("bands", "i4", bands + 2, size),
             zeros(frames * bands), i(size), i(bands), smem=4 * size)  # fmt: skip


def _databases(case: Any) -> None:
    for category, grid, n in (("cache", 132, 200_003), ("stream", 528, 900_001), ("stream", 264, 3_000_001)):
        case(category, "count_by_bitmaps", grid, 256, numbers(4 * n, 1 << 32, "u4"), numbers(4 * n + 1, 1 << 32, "u4"),
             numbers(4 * n + 2, 1 << 32, "u4"), zeros(1, "i4"), i(n))  # fmt: skip
    grid, block, n = 132, 256, 200_003
    case("atomics", "few_groups", grid, block, numbers(n, 6, "u1"), numbers(2 * n, 10_000), zeros(18, "u8"), i(n))


def _polygons(case: Any) -> None:
    block, n, count = 256, 200_003, 70
    case("fma", "points_in_polygon", up(n, block), block, unit(2 * n), Composed("polygon", "f4", 2 * count),
         zeros(n, "u1"), i(n), i(count))  # fmt: skip
    for block, n in zip((64, 256), drawn(203, 2, 40_000, 400_000), strict=True):
        case("local", "clip_triangles", up(n, block), block, normal(6 * n), zeros(n), i(n))
    for category, block, n, often in (("divergence", 128, 300_007, 4), ("stream", 256, 1_500_007, 50)):
        case(category, "in_circles", up(n, block), block, Composed("circles", "f4", 8 * n, often), zeros(n, "i1"), i(n),
             f(1e-3))  # fmt: skip


def _spaces(case: Any) -> None:
    for block, n, count in ((128, 100_003, 20_011), (64, 400_009, 3_001)):
        case("divergence", "turned_boxes", up(n, block), block, Composed("boxes", "f4", 10 * count, 4),
             numbers(2 * n, count), zeros(n, "u1"), i(n), i(count))  # fmt: skip
    block, n, thin = 256, 200_003, 5
    case("divergence", "voxel_rays", up(n, block), block, Composed("sparse bits", "u4", 8_192, thin),
         Composed("rays", "i4", 8 * n), zeros(n, "i4"), i(n))  # fmt: skip
    for block, n, side in ((32, 1_500, 600), (128, 9_001, 1_200)):
        case("latency", "view_lines", up(n, block), block, normal(side * side, high=9),
             Composed("sights", "i4", 2 * n), zeros(n, "i4"), i(n), i(side), f(20))  # fmt: skip
    for block, side in ((128, 60), (256, 110)):
        n = (side - 1) ** 3
        case("atomics", "surface_cells", up(n, block), block, Composed("bubbles", "f4", side**3, side),
             Composed("cases", "u1", 256), zeros(1 << 20, "u4"), zeros(2, "u4"), i(side), u((1 << 20) - 1),
             f(0.1))  # fmt: skip


def _few(case: Any) -> None:
    case("tiny", "double_product", 1, 32, normal(16 * 256, "f8"), normal(16 * 256, "f8", 2), zeros(256, "f8"), i(16),
         i(256))  # fmt: skip
    case("tiny", "elman_cells<64>", 1, 64, normal(64 * 60), Composed("small", "f4", 4_096, 8), zeros(64), i(60))
    case("tiny", "conjugate_rows", 2, 256, unit(2 * 1_000), normal(2 * 1_000), zeros(2_000), i(1_000), i(15),
         smem=16_000)  # fmt: skip
    case("tiny", "born_radii", 3, 64, unit(4 * 150, high=3), zeros(150), i(150))
    case("tiny", "present_slices<31>", 1, 32, numbers(64 * 32, 1 << 32, "u4"), numbers(62, 1 << 32, "u4"),
         zeros(64 * 32, "u4"), i(32))  # fmt: skip
    case("tiny", "view_lines", 4, 64, normal(200 * 200, high=9), Composed("sights", "i4", 512), zeros(256, "i4"),
         i(256), i(200), f(15))  # fmt: skip
    case("tiny", "join_parts", 1, 1_024, numbers(2 * 6_000, 3_000, "u2"), zeros(3_000, "u2"), i(3_000), i(6_000),
         smem=24_000)  # fmt: skip
    case("tiny", "satellite_sums", 8, 256, Composed("samples", "i1", 16_368, 7), numbers(256, 1 << 32, "u4"),
         numbers(32, 1 << 31, "u4"), zeros(48, "i4"), i(16_368))  # fmt: skip


def _uneven(case: Any) -> None:
    case("tail", "bent_light", 133, 512, unit(133 * 512, "f8"), zeros(133 * 512, "f8"), i(133 * 512), i(50),
         ("f8", 1.0), ("f8", 0.02))  # fmt: skip
    case("tail", "nerve_cells", 270, 1_024, unit(270 * 1_024, high=12), zeros(270 * 1_024), i(270 * 1_024), i(40),
         f(0.01))  # fmt: skip
    case("tail", "cloth_relax", 140, 1_024, Composed("cloth", "f4", 3 * 1_024 * 140, 32), zeros(3 * 1_024 * 140), i(32),
         i(20), smem=24 * 1_024)  # fmt: skip
    case("tail", "cosine_densities", 1_100, 128, Composed("models", "f4", 4 * 140_800), zeros(140_800), i(140_800),
         i(24), f(3))  # fmt: skip
    case("blocks", "sinkhorn_plans", 4_000, 32, unit(4_000 * 144), zeros(4_000 * 144), i(12), i(10), f(0.2),
         smem=4 * 12 * 15)  # fmt: skip
    case("blocks", "sliding_pieces", 14_000, 32, Composed("words", "u8", 448_000, 1), zeros(448_000, "u2"), i(448_000),
         i(6))  # fmt: skip


def _crowded(case: Any) -> None:
    for smem in (110 << 10, 40 << 10):
        n = 40_009 + smem // 1_024
        case("occupancy", "garch_likelihoods", up(n, 128), 128, normal(200), Composed("risks", "f4", 3 * n), zeros(n),
             i(n), i(200), smem=smem)  # fmt: skip
        case("occupancy", "dock_poses", up(n, 256), 256, normal(4 * n), unit(3 * n, high=50), normal(4 * 30, high=5),
             normal(50**3), zeros(n), i(n), i(30), i(50), smem=smem)  # fmt: skip
        case("occupancy", "many_searches", up(n, 192), 192, *lists(n, 12), Composed("words", "u8", n, 4),
             Composed("words", "u8", n, 1), zeros(n, "u8"), i(n), smem=smem)  # fmt: skip


def _at_blocks(
    case: Any, category: str, kernel: str, threads: int, blocks: tuple[int, ...], *arguments: Any, smem: int = 0
) -> None:
    """A series: the same work in blocks of different sizes."""
    name = kernel.partition("<")[0]
    for block in blocks:
        case(category, kernel, up(threads, block), block, *arguments, smem=smem, series=name)


def _in_blocks(
    case: Any, category: str, kernel: str, grid: int, blocks: tuple[int, ...], *arguments: Any, smem: int = 0
) -> None:
    """A series: the same number of blocks of different sizes; a block's work is the same."""
    for block in blocks:
        case(category, kernel, grid, block, *arguments, smem=smem, series=kernel)


def _tensor_series(case: Any) -> None:
    words = 16 * 32 * 512
    for block in (64, 128, 256):
        case("tensor", "attend_mma", (512 * 2 // block, 32), block, halves(words), halves(words, 2), halves(words, 3),
             zeros(2 * words), i(512), series="attend_mma")  # fmt: skip
    _at_blocks(case, "tensor", "hmm_forward", 2 * 8_192, (32, 128, 512), Composed("moves", "u4", 128), unit(128),
               numbers(8_192 * 120, 8, "u1"), zeros(8_192), i(8_192), i(120))  # fmt: skip
    _at_blocks(case, "tensor", "double_product", 320 * 320 // 8, (64, 128, 512), normal(320 * 320, "f8"),
               normal(320 * 320, "f8", 2), zeros(320 * 320, "f8"), i(320), i(320))  # fmt: skip
    _at_blocks(case, "code", "baked_network<32>", 60_013, (64, 256, 1_024), normal(8 * 60_013), zeros(60_013),
               i(60_013))  # fmt: skip
    _in_blocks(case, "barrier", "sinkhorn_plans", 200, (32, 64, 128), unit(200 * 64 * 64), zeros(200 * 64 * 64), i(64),
               i(12), f(0.15), smem=4 * 64 * 67)  # fmt: skip


def _body_series(case: Any) -> None:
    _in_blocks(case, "barrier", "cloth_relax", 132, (64, 192, 576), Composed("cloth", "f4", 3 * 576 * 132, 24),
               zeros(3 * 576 * 132), i(24), i(16), smem=24 * 576)  # fmt: skip
    _in_blocks(case, "barrier", "conjugate_rows", 132, (64, 128, 256, 512), unit(132 * 1_000), normal(132 * 1_000),
               zeros(132 * 1_000), i(1_000), i(12), smem=16_000)  # fmt: skip
    n = 16_384
    _at_blocks(case, "latency", "imu_attitudes", n, (32, 128, 512), normal(6 * n * 60), zeros(4 * n), i(n), i(60),
               f(0.02))  # fmt: skip
    _at_blocks(case, "montecarlo", "gas_collisions", 20_011, (64, 256, 1_024), normal(4 * 10 * 20_011), i(20_011),
               i(10), i(12), f(4), u(3))  # fmt: skip
    _at_blocks(case, "divergence", "tree_forces", 20_011, (64, 128, 512), Composed("squares", "f4", 4 * 1_365),
               Composed("skips", "i4", 1_365), unit(2 * 20_011), zeros(2 * 20_011), i(20_011), i(1_365),
               f(0.5))  # fmt: skip
    n = 67_584
    _at_blocks(case, "fp64", "bent_light", n, (64, 128, 256, 512), unit(n, "f8"), zeros(n, "f8"), i(n), i(60),
               ("f8", 1.0), ("f8", 0.02))  # fmt: skip
    _at_blocks(case, "sfu", "nerve_cells", n, (64, 256, 1_024), unit(n, high=12), zeros(n), i(n), i(80), f(0.01))
    _at_blocks(case, "sfu", "born_radii", 4_096, (64, 128, 256), unit(4 * 4_096, high=4), zeros(4_096), i(4_096))
    _at_blocks(case, "cache", "dock_poses", 30_011, (64, 128, 512), normal(4 * 30_011), unit(3 * 30_011, high=64),
               normal(4 * 32, high=5), normal(64**3), zeros(30_011), i(30_011), i(32), i(64))  # fmt: skip


def _graph_series(case: Any) -> None:
    _in_blocks(case, "atomics", "join_parts", 200, (64, 256, 1_024), numbers(2 * 200 * 3_000, 2_000, "u2"),
               zeros(200 * 2_000, "u2"), i(2_000), i(3_000), smem=16_000)  # fmt: skip
    nodes = 15_013
    _at_blocks(case, "graph", "community_moves", 32 * nodes, (64, 128, 256), *lists(nodes, 16),
               numbers(nodes, nodes // 8), unit(nodes // 8, high=40), zeros(nodes, "i4"), i(nodes),
               f(0.04))  # fmt: skip
    _at_blocks(case, "reduce", "auction_bids", 32 * 2_001, (64, 256, 1_024), unit(2_001 * 600), unit(600),
               zeros(600, "u8"), i(2_001), i(600), f(0.02))  # fmt: skip
    _at_blocks(case, "shuffle", "subset_sums", 32 * 6_007, (64, 256, 512), numbers(6_007 * 50, 1_024),
               zeros(6_007, "i4"), i(6_007), i(50))  # fmt: skip
    _at_blocks(case, "local", "cube_turns", 16_384, (64, 128, 256), Composed("cube moves", "u1", 972),
               zeros(16_384, "u1"), i(16_384), i(10), u(8))  # fmt: skip
    _at_blocks(case, "shared", "cooled_places", 16_384, (64, 128, 256), Composed("workshops", "i4", 512, 20),
               zeros(16_384, "i4"), i(16_384), i(30), f(200), u(6))  # fmt: skip
    _at_blocks(case, "local", "merge_eight", 10_007, (64, 128, 512), numbers(8 * 10_007 * 8, 1 << 30),
               zeros(8 * 10_007 * 8, "i4"), i(10_007), i(8))  # fmt: skip


def _code_series(case: Any) -> None:
    n = 33_792
    _at_blocks(case, "crypto", "poly1305_tags", n, (64, 128, 256), numbers(4 * n * 20, 1 << 32, "u4"),
               numbers(4, 1 << 32, "u4"), zeros(5 * n, "u4"), i(n), i(20))  # fmt: skip
    _at_blocks(case, "shuffle", "turbo_bits", 8 * 3_001, (64, 128, 512), normal(2 * 3_001 * 64),
               zeros(8 * 3_001 * 64), zeros(3_001 * 64), i(3_001), i(64))  # fmt: skip
    _at_blocks(case, "latency", "skip_list_find", 40_009, (64, 256, 1_024),
               Composed("links", "i4", 16 * 65_537, 65_537), Composed("skip keys", "i4", 65_537, 1 << 30),
               numbers(40_009, 1 << 30), zeros(40_009, "i4"), i(40_009), i(65_537), i(16))  # fmt: skip
    _at_blocks(case, "codec", "rice_decode", n, (32, 128, 512), numbers(n * 32, 1 << 32, "u4"), zeros(n, "u4"), i(n),
               i(32), i(120), i(4))  # fmt: skip
    _at_blocks(case, "local", "tree_likelihoods", 40_009, (64, 128, 512), numbers(32 * 40_009, 4, "u1"),
               Composed("species", "i4", 63), Composed("changes", "f4", 992), zeros(40_009), i(40_009),
               i(63))  # fmt: skip
    _at_blocks(case, "shared", "brief_codes", 32 * 10_007, (64, 128, 256), numbers(800 * 600, 256, "u1"),
               numbers(2 * 10_007, 568), numbers(512, 1_024, "u2"), zeros(8 * 10_007, "u4"), i(10_007),
               i(800))  # fmt: skip


def _finance_series(case: Any) -> None:
    n = 33_792
    _at_blocks(case, "sfu", "garch_likelihoods", n, (64, 256, 1_024), normal(250), Composed("risks", "f4", 3 * n),
               zeros(n), i(n), i(250))  # fmt: skip
    _at_blocks(case, "local", "order_books", n, (64, 128, 256), numbers(n * 24, 1 << 20, "u4"), zeros(2 * n, "u4"),
               i(n), i(24))  # fmt: skip
    _in_blocks(case, "montecarlo", "copula_losses", 132, (128, 256, 512), Composed("limits", "f4", 80),
               zeros(128, "i4"), i(100_000), i(80), f(0.3), u(23))  # fmt: skip
    _in_blocks(case, "alu", "satellite_sums", 96, (64, 256, 1_024), Composed("samples", "i1", 20_000, 7),
               numbers(32 * 96, 1 << 32, "u4"), numbers(4 * 96, 1 << 31, "u4"), zeros(6 * 96, "i4"),
               i(20_000))  # fmt: skip
    _in_blocks(case, "atomics", "few_groups", 132, (128, 512, 1_024), numbers(400_009, 6, "u1"),
               numbers(2 * 400_009, 10_000), zeros(18, "u8"), i(400_009))  # fmt: skip


def _space_series(case: Any) -> None:
    n = 50_021
    _at_blocks(case, "fma", "points_in_polygon", n, (64, 128, 512), unit(2 * n), Composed("polygon", "f4", 2 * 200),
               zeros(n, "u1"), i(n), i(200))  # fmt: skip
    _at_blocks(case, "divergence", "voxel_rays", n, (64, 256, 1_024), Composed("sparse bits", "u4", 8_192, 6),
               Composed("rays", "i4", 8 * n), zeros(n, "i4"), i(n))  # fmt: skip
    _at_blocks(case, "divergence", "shaded_pixels<16>", n, (64, 256, 512), numbers(n, 16, "u1"), unit(2 * n), zeros(n),
               i(n))  # fmt: skip
    _at_blocks(case, "local", "clip_triangles", n, (64, 128, 256), normal(6 * n), zeros(n), i(n))
