"""Pictures of occupancy show what the arithmetic says, mark by mark."""

from __future__ import annotations

import pytest

from softlab.hardware.occupancies import LIMITERS, occupancy, table
from softlab.views.occupancy import achieved_bars, block_size_bars, limiter_bars, occupancy_sentences, warp_slots
from tests.views.drawn import marks, words

KERNELS = [
    ("H200", 256, 33, 0),
    ("T4", 128, 64, 20_000),
    ("V100", 1024, 16, 0),
    ("RTX 4090", 33, 255, 99_000),
    ("H200", 32, 0, 0),
]


@pytest.mark.parametrize("kernel", KERNELS)
def test_limiter_bars(kernel):
    device, threads, registers, smem = kernel
    held = occupancy(device, threads=threads, registers=registers, smem=smem)
    bars = marks(limiter_bars(held), resource=None)
    assert [bar["resource"] for bar in bars] == list(LIMITERS)
    full = float(next(bar["width"] for bar in bars if bar["resource"] == "blocks"))
    for bar in bars:
        limit = held.limits[bar["resource"]]
        share = min(limit, held.device.max_blocks_per_sm) / held.device.max_blocks_per_sm
        assert float(bar["width"]) == pytest.approx(full * share, abs=0.01)
        assert (bar["marked"] == "True") == (limit == held.blocks_per_sm), "what binds has an edge"


@pytest.mark.parametrize("kernel", KERNELS)
def test_warp_slots(kernel):
    device, threads, registers, smem = kernel
    held = occupancy(device, threads=threads, registers=registers, smem=smem)
    slots = marks(warp_slots(held), slot=None)
    assert len(slots) == held.device.max_threads_per_sm // 32
    taken = [slot for slot in slots if slot["taken"] == "1"]
    assert len(taken) == held.blocks_per_sm * -(-threads // 32)
    last = taken[-1]["tip"]
    assert last.endswith(f"warp {-(-threads // 32) - 1} of block {held.blocks_per_sm - 1}")
    assert len({(slot["x"], slot["y"]) for slot in slots}) == len(slots), "no slot hides another"


def test_bars_of_every_block_size():
    held = occupancy("H200", threads=250, registers=40, smem=8192)
    drawn = block_size_bars(table("H200", registers=40, smem=8192), held, 768)
    bars = marks(drawn, size=None)
    assert [int(bar["size"]) for bar in bars] == list(range(32, 1025, 32))
    heights = {int(bar["size"]): float(bar["height"]) for bar in bars}
    for size in (32, 256, 768, 1024):
        alone = occupancy("H200", threads=size, registers=40, smem=8192).fraction
        assert heights[size] / heights[256] == pytest.approx(alone / 0.75, rel=1e-3)
    assert [bar["size"] for bar in bars if bar["chosen"] == "1"] == ["256"], "250 threads count as 256"
    assert {"yours", "best"} <= set(words(drawn))


def test_block_sizes_that_tie_with_the_best_are_marked():
    """32 registers: 64, 128, 256, 512 and 1024 threads fill an SM, and so does no other size."""
    held = occupancy("H200", threads=256, registers=32)
    drawn = block_size_bars(table("H200", registers=32, smem=0), held, 1024)
    full = [bar["size"] for bar in marks(drawn, size=None) if float(bar["height"]) == 96]
    assert full == ["64", "128", "256", "512", "1024"]
    assert words(drawn).count("=") == len(full) - 1
    assert "= as many warps as the best" in words(drawn)


def test_sentences_say_what_limits_and_what_is_lost():
    first, *more = occupancy_sentences(occupancy("H200", threads=250, registers=33, smem=100))
    assert first == (
        "Blocks of 250 threads, 33 registers per thread, 100 bytes of shared memory: an SM of H200 holds 6. That is 48"
        " of 64 warps, 75.0%. What limits it: registers."
    )
    assert more == [
        "Shared memory is allocated in units of 128 bytes.",
        "The last warp of each block has 26 threads, and takes the slot of a full one.",
    ]
    (refused,) = occupancy_sentences(occupancy("T4", threads=256, registers=32, smem=70_000))
    assert "Not one block fits" in refused
    assert "4464 too many" in refused


def test_achieved_bars_hold_the_figures_and_the_stamp():
    figure = achieved_bars(["a", "b"], [100, 50], [90.5, 20], "recorded somewhere")
    assert {bar.name: (list(bar.y), list(bar.x)) for bar in figure.data} == {
        "theoretical": (["a", "b"], [100, 50]),
        "achieved": (["a", "b"], [90.5, 20]),
    }
    assert "recorded somewhere" in [note.text for note in figure.layout.annotations]
    assert "percent" in figure.layout.xaxis.title.text
