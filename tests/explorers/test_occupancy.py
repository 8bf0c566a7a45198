"""The explorer of occupancy: its controls, its state, and a real kernel put in."""

from __future__ import annotations

import re

import pytest

import softlab
from softlab.explorers import OccupancyExplorer
from softlab.hardware.occupancies import occupancy
from tests.views.drawn import words


@pytest.fixture
def explorer() -> OccupancyExplorer:
    return OccupancyExplorer(threads=256, registers=32)


def test_controls_move_the_state(explorer):
    explorer.registers_slider.value = 33
    assert explorer.summary["blocks_per_sm"] == 6
    explorer.threads_slider.value = 1024
    explorer.smem_slider.value = 64 * 1024
    explorer.device_menu.value = "A100"
    held = occupancy("A100", threads=1024, registers=33, smem=64 * 1024)
    assert explorer.summary["blocks_per_sm"] == held.blocks_per_sm == 1
    assert explorer.summary["limiters"] == list(held.limiters)
    assert "A100" in explorer.message.value


def test_state_moves_the_controls(explorer):
    explorer.threads, explorer.registers, explorer.smem, explorer.device = 96, 77, 1024, "T4"
    values = (explorer.threads_slider.value, explorer.registers_slider.value, explorer.smem_slider.value)
    assert values == (96, 77, 1024)
    assert explorer.device_menu.value == "T4"


def test_the_slider_shows_the_number_that_is_drawn(explorer):
    for smem in (28_160, 28_161, 512):
        explorer.smem = smem
        assert smem % explorer.smem_slider.step == 0


@pytest.mark.parametrize("registers", [16, 40, 72, 128, 255])
@pytest.mark.parametrize("smem", [0, 10_000, 50_000])
def test_best_is_the_best(explorer, registers, smem):
    explorer.registers, explorer.smem = registers, smem
    held = {t: occupancy("H200", threads=t, registers=registers, smem=smem).threads_per_sm for t in range(32, 1025, 32)}
    assert explorer.summary["best"] == max(t for t in held if held[t] == max(held.values()))


def test_a_kernel_that_does_not_fit_says_by_how_much(explorer):
    explorer.threads, explorer.registers = 1024, 80
    assert explorer.summary["blocks_per_sm"] == 0
    assert "16384 too many" in explorer.message.value
    explorer.device, explorer.smem = "T4", 70_000
    assert explorer.summary["best"] == 0


def test_values_stay_within_a_block(explorer):
    explorer.threads, explorer.registers, explorer.smem = 5000, 999, -4
    assert (explorer.threads, explorer.registers, explorer.smem) == (1024, 255, 0)
    explorer.threads = 0
    assert explorer.threads == 1


def test_no_limit_is_none(explorer):
    explorer.device, explorer.smem = "V100", 0
    assert explorer.summary["limits"]["smem"] is None
    assert "the kernel takes none" in " ".join(words(f"<svg>{explorer.picture.value}</svg>"))


def test_of_a_plan():
    plan = softlab.plan(4096, 8192, device="A100")
    explorer = OccupancyExplorer.of(plan)
    assert explorer.device == "A100"
    assert explorer.threads == plan.block_size
    assert explorer.summary["blocks_per_sm"] == plan.occupancy.blocks_per_sm
    assert explorer.smem == plan.smem_bytes + plan.static_smem_bytes


def test_of_a_kernel():
    source = 'extern "C" __global__ void k(float* x) { __shared__ float s[300]; s[threadIdx.x] = x[0]; x[1] = s[3]; }'
    kernel = softlab.Kernel(source, "k")
    explorer = OccupancyExplorer.of(kernel, threads=64, smem=1000)
    assert explorer.smem == 1200 + 1000
    assert explorer.registers == kernel.program.registers
    with pytest.raises(TypeError, match="threads="):
        OccupancyExplorer.of(kernel)


def test_a_short_text_stands_for_the_widget(explorer):
    assert repr(explorer) == "OccupancyExplorer(device='H200', registers=32, smem=0, threads=256)"


def test_what_the_warps_are_worth_is_said_of_an_h200_alone_and_the_height_stays():
    def height() -> float:
        found = re.findall(r'viewBox="0 0 860 ([\d.]+)"', explorer.picture.value)
        assert len(found) == 4
        return sum(map(float, found))

    explorer = OccupancyExplorer(threads=256, registers=32)
    before = height()
    assert "yours: 64" in explorer.picture.value
    explorer.registers, explorer.threads = 255, 1024  # no block fits
    assert "yours: 0" in explorer.picture.value
    assert height() == before
    for device in ("A100", "T4"):
        explorer.device = device
        assert "yours: " not in explorer.picture.value.partition("How the number of warps")[2]
        assert "Choose H200 to see your kernel here." in explorer.picture.value
        assert height() == before
