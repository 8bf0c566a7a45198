"""What is measured of how things are arranged: warps on schedulers, lanes in lines, local memory, stores in L2."""

from __future__ import annotations

from collections.abc import Iterator

from softlab.bench.record.atlas.records import Job, Source, pieces

_KERNELS: dict[str, tuple[str, tuple[str, ...], tuple[int, ...]]] = {
    "local_words": ("any", (r"STL(\..*)?", r"LDL(\..*)?"), (-8, -8)),
    "write_once": ("any", (r"STG\.E\.128",), (4,)),
    **{
        f"words_{words}_{turns}": ("any", (r"STG\.E",), (-words,))
        for words, turns in ((1, 1), (2, 1), (3, 1), (4, 1), (8, 1), (4, 2), (4, 4))
    },
}
#: Warps per block and blocks per SM whose warps the SM has to spread over its schedulers.
BLOCKS = (
    (1, 2), (1, 3), (1, 5), (1, 8), (1, 12), (2, 3), (2, 6), (3, 2), (3, 3), (3, 4), (3, 8), (5, 1), (5, 2), (5, 3),
    (5, 4), (5, 8), (6, 1), (6, 2), (6, 4), (7, 3), (7, 4), (9, 3), (10, 3), (11, 2), (13, 3), (13, 4),
)  # fmt: skip
#: Words of local memory per lane.
WORDS = (8, 32, 64, 128, 256, 512)
#: MiB that one launch stores, or copies: half of these.
STORED, COPIED = (8, 16, 24, 32, 40, 48, 64, 96), (96, 112, 128, 160, 192)
#: Words of a lane's piece, how many of them it stores, one by one, and the pieces of a warp that take turns.
PIECES = (
    (1, 1, 1), (2, 2, 1), (4, 4, 1), (8, 8, 1), (4, 2, 1), (8, 1, 1), (8, 3, 1), (8, 4, 1), (4, 4, 2), (4, 4, 4),
    (32, 8, 1), (32, 1, 1),
)  # fmt: skip
#: Warps per SM that store pieces. With fewer than 32, which store more of them: launches of a few microseconds are too
#: short to be measured.
PIECE_WARPS, LONGER = (32, 16, 8, 4, 2, 1), 8


def arranged_sources() -> dict[str, Source]:
    """Name -> kernel."""
    return pieces(_KERNELS, "arranged.cu")


def arranged_jobs() -> Iterator[Job]:
    """All jobs of this part."""
    for warps, blocks in BLOCKS:
        how = {"rounds": [32, 96], "warps": warps, "grid": 132 * blocks, "per": 64}
        yield Job((f"interval_sm.LOP3.blocks.{blocks}.warps.{warps}",), "schedulers", "cycles", "rounds_of_warps",
                  ("stream.LOP3",), how,
                  note="of an SM, until each of its warps has issued one: the busiest scheduler")  # fmt: skip
    for mode, name in enumerate(("STL", "LDL", "STL+LDL")):
        for warps in (8, 32):
            for words in WORDS:
                for grid, where in ((1, ""), (132, ".all_sms")):
                    rounds = max(2, 512 // words)
                    how = {"rounds": [rounds, 3 * rounds], "warps": warps, "grid": grid, "per": words * warps,
                           "mode": mode, "p0": words}  # fmt: skip
                    key = f"interval_sm.{name}.words.{words}.warps.{warps}{where}"
                    yield Job((key,), "local memory", "cycles", "rounds_of_warps", ("local_words",), how,
                              note="of one instruction, or one pair")  # fmt: skip
    for kernel, sizes in (("write_once", STORED), ("copy_once", COPIED)):
        what = kernel.removesuffix("_once")
        for mib in sizes:
            each = mib if what == "write" else mib // 2
            keys = tuple(f"launch.{what}.{state}.{mib}" for state in ("cold", "warm"))
            yield Job(keys, "launches", "us", "again", (kernel, "empty", "read_cg_4"),
                      {"grid": 64 * each, "threads": 256, "p1": each},
                      note="beyond an empty one; of that many MiB; warm: after the same launch")  # fmt: skip
    yield from _piece_jobs()


def _piece_jobs() -> Iterator[Job]:
    """Stores of words that are parts of sectors, and that later stores of the same warp complete."""
    for where, kib in (("L2", 1 << 14), ("DRAM", 1 << 22)):
        for mode, how in enumerate(("", ".apart")):
            for warps in PIECE_WARPS:
                for pitch, words, turns in PIECES:
                    if (warps < 32 and (mode or where == "DRAM")) or (where == "DRAM" and turns > 1):
                        continue
                    moved = 128 * words * turns
                    given = {"warps": warps, "p0": kib, "p1": pitch, "mode": mode, "bytes": moved}
                    given["mib"] = 16 * words * turns * (1 if warps == 32 else LONGER)
                    key = f"bandwidth.{where}.words.{words}.of.{pitch}.turns.{turns}.warps.{warps}{how}"
                    yield Job((key,), "bandwidth", "bytes/cycle", "bandwidth", (f"words_{words}_{turns}",), given,
                              note="of words that are stored one by one")  # fmt: skip
