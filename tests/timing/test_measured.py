"""Figures from an atlas by hand."""

from __future__ import annotations

import pytest

from softlab.hardware.atlas import Atlas, Row
from softlab.hardware.devices import resolve
from softlab.timing.measured import RING_CARVED, with_atlas
from softlab.timing.parameters import Parameters, interpolated, parameters


def atlas(**rows: float) -> Atlas:
    named = {
        key.replace("__", "."): Row(key.replace("__", "."), "", "cycles", value, 0.0) for key, value in rows.items()
    }
    return Atlas("H200", "", "", "", {}, {}, named, {})


def given() -> Parameters:
    return Parameters("H200", provisional={"all": "none", "l1_latency": "probe", "l2_bytes": "assumed"})


def test_a_measured_row_takes_the_place_of_a_provisional_one():
    found = with_atlas(given(), atlas(latency__L1=33.4, interval__IMAD__warps__8=2.02, interval__IMAD__warps__1=4.1))
    assert found.l1_latency == 33.4
    assert found.interval["IMAD"] == 2.0
    assert found.atlas
    assert set(found.provisional) == {"l2_bytes"}


def test_a_barrier_has_a_latency_and_a_step_per_warp():
    found = with_atlas(given(), atlas(**{f"latency__BAR__SYNC__{n}": 18.0 + 1.5 * (n - 1) for n in (1, 2, 8, 32)}))
    assert found.barrier_latency == pytest.approx(18)
    assert found.barrier_stagger == pytest.approx(1.5)


def test_code_constants_and_branches_follow_from_loops():
    rows = {"icache__loop__65536": 2.2, "icache__loop__196608": 5.6, "cost__loop": 28.0}
    found = with_atlas(given(), atlas(latency__LDC__KiB__1=28.0, latency__LDC__KiB__16=98.0, **rows))
    assert found.icache_line == pytest.approx(17.6)
    assert found.icache_line_l2 == pytest.approx(44.8)
    assert found.icache_miss == found.constant_miss == 70
    assert found.branch_taken == 10


def test_parameters_come_later_where_l2_is_cold():
    rows = {"cold__parameter__1__threads__32": 16.0, "warm__parameter__1__threads__32": 16.0}
    rows |= {"cold__parameter__132__threads__128": 127.0, "warm__parameter__132__threads__128": 2.0}
    found = with_atlas(given(), atlas(**{f"start__{key}": value for key, value in rows.items()}))
    assert found.constant_cold == ((1.0, 0.0), (132.0, 125.0))
    assert given().constant_cold == ((1.0, 0.0),)


def test_l1_holds_what_its_sets_have_room_for_and_wide_products_hold_their_warp():
    rows = {"latency__chase__128": 32.0, "latency__chase__224": 60.0, "latency__chase__256": 200.0}
    found = with_atlas(given(), atlas(latency__chase__512=312.0, interval__IMAD__WIDE__warps__1=6.0, **rows))
    assert found.l1_capacity == int((224 * (1 - 0.1 / 5) + 256 * (1 - 0.6 / 5)) / 2 * 1024) + RING_CARVED
    assert found.wide_wait == 2
    pair = {"interval__mixed__IMAD.WIDE+LOP3".replace(".", "__"): 5.5}
    assert with_atlas(given(), atlas(**pair, interval__IMAD__WIDE=4.0, interval__LOP3=2.0)).wide_integer == 3


def test_atomics_follow_from_one_word_one_line_and_all_of_l2():
    gpu = "interval_gpu__"
    rows = {f"{gpu}RED__ADD__sms__132": 48.0, f"{gpu}RED__ADD__F32__sms__132": 112.0, f"{gpu}RED__ADD__apart__1": 5.0}
    rows |= {f"{gpu}RED__ADD__line__128__sms__132": 5.2, f"{gpu}RED__ADD__line__4194304__sms__132": 0.064}
    rows |= {f"{gpu}ATOMG__ADD__line__262144__sms__132": 0.2, f"{gpu}RED__ADD__line__262144__sms__132": 0.072}
    placed = {128: 5.0, 256: 4.0, 512: 2.5, 1024: 2.0, 2048: 1.25, 4096: 0.625, 16384: 0.25}
    rows |= {f"{gpu}RED__ADD__placed__{n}__sms__132": cycles for n, cycles in placed.items()}
    found = with_atlas(given(), atlas(**rows))
    assert (found.atomic_lane, found.atomic_float_lane) == (1.5, 3.5)
    assert (found.atomic_pass, found.atomic_sector, found.atomic_sm) == pytest.approx((1.3, 0.016, 1.25))
    assert found.atomic_return == 0.0025  # the rows of random lanes are missing
    units = {131072: 0.96, 262144: 0.8, 4194304: 0.64}
    rows |= {f"{gpu}RED__ADD__random__{n}__sms__132": cycles for n, cycles in units.items()}
    rows |= {f"{gpu}RED__ADD__placed__65536__sms__132": 0.125, f"{gpu}ATOMG__ADD__random__262144__sms__132": 1.12}
    found = with_atlas(given(), atlas(**rows))
    # What comes back makes up, with the sectors themselves, what the rows take: of one line, and of 32 lines.
    for sectors, cycles in ((4, 0.2), (32, 1.12)):
        each = found.atomic_sector + found.atomic_return_sector
        assert 32 * found.atomic_return + sectors * each == pytest.approx(cycles)
    curve = {7: 1, 8: 1.25, 9: 2, 10: 2.5, 11: 4, 12: 8, 14: 20, 16: 40, 17: 50, 18: 60, 22: 75}
    assert dict(found.atomic_spread) == pytest.approx(curve)


def test_parts_of_sectors_follow_from_lanes_at_a_distance():
    rows = {
        f"bandwidth__L2__write_stride__{pitch}": rate for pitch, rate in ((32, 1920.0), (64, 1600.0), (128, 1200.0))
    }
    found = with_atlas(given(), atlas(bandwidth__L2__write__4096=2400.0, **rows))
    assert found.l2_parts == ((1.0, 2.0), (2.0, 3.0), (4.0, 5.0))


def test_a_turn_of_a_loop_that_swaps_follows_from_the_busiest_bank_and_the_busiest_word():
    row = "interval_sm.ATOMS.{}.random.{}"
    rows = {row.format("ADD", 8): 6.0, row.format("ADD", 256): 2.0, row.format("CAST.SPIN", 8): 200.0}
    warps = {row.format("CAST.SPIN", 8) + ".warps.1": 640.0, row.format("CAST.SPIN", 256) + ".warps.1": 280.0}
    p = with_atlas(given(), atlas(**rows, **warps))
    assert (p.shared_swap, p.shared_swap_apart) == (90.0, 50.0)
    assert with_atlas(given(), atlas(**rows)).shared_swap == Parameters("H200").shared_swap


def test_sectors_without_neighbours_and_fences_follow_from_their_rows():
    rows = {f"bandwidth__DRAM__stride__{pitch}": rate for pitch, rate in ((32, 2400.0), (128, 960.0), (256, 640.0))}
    pitches = ((32, 1000.0), (64, 800.0), (128, 400.0), (256, 240.0))
    rows |= {f"bandwidth__DRAM__write_stride__{pitch}": rate for pitch, rate in pitches}
    rows |= {
        "bandwidth__DRAM__read__8192": 2300.0,
        "bandwidth__L2__read__8192": 4800.0,
        "bandwidth__L2__stride__128": 2400.0,
    }
    rows |= {"latency__MEMBAR__GPU__sms__1": 420.0, "latency__MEMBAR__GPU__sms__132": 590.0}
    rows |= {"latency__MEMBAR__GPU__warps__64": 1280.0}
    found = with_atlas(given(), atlas(**rows))
    assert found.dram_pieces == pytest.approx((0, 120, 160, 208, 256))
    assert found.dram_sparse_write == pytest.approx((10, 6, 3, 2.4))
    assert found.l2_line_least == pytest.approx(2.0)
    assert found.membar_stored == ((1.0, 420.0), (132.0, 590.0))
    assert found.membar_stored_interval == 20


@pytest.mark.parametrize("device", ["H200", "H100"])
def test_the_shipped_atlas_of_each_device_is_used(device):
    found = parameters(resolve(device))
    assert found.atlas
    assert not {"branch_taken", "icache_line", "icache_line_l2", "atomic_lane", "dram_bytes"} & set(found.provisional)


def test_the_loaded_latency_follows_from_the_bytes_in_flight():
    # 600 cycles when idle, 750 at 80 % of the peak: bytes in flight per SM = rate * cycles / 132.
    curve = {200.0: 600.0, 1600.0: 750.0, 2000.0: 1200.0}
    rows = {f"bandwidth__DRAM__read__{round(rate * t / 132)}": rate for rate, t in curve.items()}
    rows |= {"bandwidth__DRAM__copy__8192": 1800.0, "bandwidth__DRAM__write__8192": 1900.0}
    found = with_atlas(given(), atlas(**rows))
    assert found.dram_bytes == 2000
    assert interpolated(found.loaded, 0.8) == pytest.approx(150, abs=2)
    assert interpolated(found.loaded, 1.0) == pytest.approx(150, abs=2)
    assert found.dram_write == pytest.approx(2000 / 1900)
    assert found.dram_turn == pytest.approx(2 * 2000 / 1800 - 1 - 2000 / 1900)


def test_every_figure_without_an_atlas_has_a_source():
    found = parameters(resolve("H200"))
    assert found.atlas or {"l2_latency", "dram_latency", "block_intervals"} <= set(found.provisional)
    with pytest.raises(ValueError, match=r"9\.0"):
        parameters(resolve("A100"))
