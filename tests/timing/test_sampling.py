"""Which blocks are sampled, and what they say about the others."""

from __future__ import annotations

import numpy as np
import pytest

from softlab.timing.dealing import dealt, places
from softlab.timing.sampling import Sample, choose, edges, extrapolate, more_blocks, slowest, unseen
from softlab.timing.sharing import sharing
from softlab.timing.sm import SmRun


def test_a_sample_has_one_block_of_each_range_and_no_period():
    sample = choose((13200, 1, 1), 132, 4)
    assert (sample.per_sm, sample.resident, sample.active) == (100, 4, 132)
    assert len(sample.blocks) == 16
    assert [block // 825 for block in sample.blocks] == list(range(16))
    assert len({block % 132 for block in sample.blocks}) > 8


def test_a_small_grid_is_simulated_as_it_is():
    sample = choose((20, 1, 1), 132, 8)
    assert (sample.per_sm, sample.resident, sample.active, len(sample.blocks)) == (1, 1, 20, 1)


def test_the_first_and_the_last_block_show_what_one_block_shares_with_the_others():
    sample = choose((132, 1, 1), 132, 8)
    blocks = [*sample.blocks, *edges(sample, 132)]
    assert {0, 131} <= set(blocks)
    everywhere = [np.arange(8)] * len(blocks)
    assert sharing(everywhere, [], 132, 132, 50 << 20).regions[0].share == 132
    own = [np.arange(8) + 8 * block for block in blocks]
    assert sharing(own, [], 132, 132, 50 << 20, [(0, 8 * 132 - 1)]).regions[0].share == 1
    assert edges(choose((1, 1, 1), 132, 8), 1) == ()


def test_a_small_sample_has_probes_all_over_the_grid():
    sample = choose((132, 1, 1), 132, 8)
    inner = sorted({*sample.blocks, *edges(sample, 132)} - {0, 131})
    assert len(inner) >= 8
    assert max(np.diff(inner)) < 2 * 132 / 8
    many = choose((1056, 1, 1), 132, 8)
    assert set(edges(many, 1056)) == {0, 1055} - set(many.blocks)


def test_probes_that_differ_ask_for_more_blocks():
    sample = Sample((50,), per_sm=1, resident=1, active=132)
    counts = {block: 1000 + 100 * (block % 2) for block in (0, 7, 20, 41, 50, 131)}
    assert more_blocks(sample, counts, 132)
    ends = {**dict.fromkeys(counts, 1000), 0: 500, 131: 400}
    assert more_blocks(sample, ends, 132) == ()


def test_a_sample_of_the_short_last_block_gives_way_to_a_whole_one():
    """115 blocks, an SM each: the drawn one is the last, which has 4 of 10 warps. Of 30 it does not move the mean."""
    sample = Sample((114,), per_sm=1, resident=1, active=115)
    counts = {**dict.fromkeys(range(30), 1000), 114: 400}
    assert slowest(sample, counts, 115, 132, longest=dict.fromkeys(counts, 90)).blocks == (0,)


def test_where_a_block_has_more_to_do_its_sm_is_simulated():
    sample = choose((264, 1, 1), 132, 2)
    counts = {**dict.fromkeys(sample.blocks, 100), 0: 300, 263: 100}
    found = slowest(sample, counts, 264, 132)
    assert found.blocks[0] == 0
    assert found.per_sm == len(found.blocks) == 2
    same = {**dict.fromkeys(sample.blocks, 100), 0: 100, 263: 100}
    assert slowest(sample, same, 264, 132) == sample


def test_blocks_are_dealt_out_to_the_places_that_come_free_first():
    sample = Sample((0, 1), per_sm=6, resident=1, active=2)
    counts = dict(enumerate((100, 30, 30, 30, 30, 10)))
    found = slowest(sample, counts, 6, 2)
    assert (found.blocks, found.per_sm) == ((1, 2, 3, 4), 4)  # the other SM: 100 and then 10


@pytest.mark.parametrize("seed", range(20))
def test_the_first_sm_with_the_most_work_is_simulated_and_the_first_one_with_the_longest_warp(seed):
    """Of few kinds of blocks several SMs have as much to do, and blocks that stand for others come several times."""
    random = np.random.default_rng(seed)
    blocks, resident = int(random.integers(20, 60)), int(random.integers(1, 4))
    interpreted = [0, *sorted(random.choice(np.arange(1, blocks - 1), 8, replace=False).tolist()), blocks - 1]
    counts = {block: int(random.choice([100, 200, 400])) for block in interpreted}
    longest = dict.fromkeys(interpreted, 10.0) | {int(random.choice(interpreted)): 50.0}
    sample = Sample((interpreted[1],), per_sm=blocks, resident=resident, active=7)
    found = slowest(sample, counts, blocks, 7, longest)

    nearest = [min(interpreted[1:-1], key=lambda one, b=b: (abs(one - b), one)) for b in range(blocks)]
    stand = [0, *nearest[1:-1], blocks - 1]
    load = np.array([counts[one] for one in stand], float)
    mean = load.mean()
    takes = np.where(abs(load / mean - 1) < 0.1, mean, load) * resident / 4
    of_block = dealt(takes, 7, resident, 0.0).tolist()
    dealt_out = sorted([b for b in range(blocks) if of_block[b] == sm] for sm in set(of_block))
    busiest = max(dealt_out, key=lambda own: sum(load[b] for b in own))
    assert found.blocks == tuple(stand[b] for b in busiest)
    assert found.per_sm == len(busiest)
    if max(longest.values()) > 1.02 * max(longest[one] for one in found.blocks):
        last = next(block for block in interpreted if longest[block] == max(longest.values()))
        own = next((own for own in dealt_out if last in [stand[b] for b in own]), [])
        assert found.longest == tuple(stand[b] for b in own)
    else:
        assert found.longest == ()


@pytest.mark.parametrize(
    ("blocks", "resident", "sms"),
    [(100, 1, {0: 32, 1: 100}), (133, 2, {1: 131, 2: 1}), (286, 3, {2: 110, 3: 22}), (300, 3, {2: 96, 3: 36}),
     (600, 5, {4: 60, 5: 72}), (663, 6, {5: 129, 6: 3}), (2112, 16, {16: 132})],
)  # fmt: skip
def test_blocks_that_start_at_once_are_spread_as_an_h200_spread_them(blocks, resident, sms):
    held = np.bincount(places(blocks, 132, resident), minlength=132)
    assert dict(zip(*np.unique(held, return_counts=True), strict=True)) == sms


def test_eight_sms_get_blocks_out_of_turn():
    # The blocks of one of the eight, and of an SM after them, in a grid of 2112 blocks of 128 threads on an H200.
    found = np.array(places(2112, 132, 16))
    assert np.flatnonzero(found == 124) == pytest.approx([0, 82, 182, 290, 386, 486, 586, 694, 790, 890, 990, 1098,
                                                          1194, 1294, 1394, 1502], abs=8)  # fmt: skip
    turns = np.diff(np.flatnonzero(found == 0))
    assert set(turns) == {124, 132, 140}
    of_period = np.bincount(found[np.arange(2112) % 12 == 0], minlength=132)
    assert of_period.max() == 8  # of 16, as on the H200: in turns of 132 blocks it would be all


def test_light_blocks_of_a_period_do_not_all_meet_on_the_same_sms():
    # Blocks of 128 threads that spin, 5 of 12 for 1500 and the others for 6000 cycles: the SM with the most work had
    # 1.16 times the mean on an H200, and an SM 17 to 24 blocks.
    counts = {block: 1500 if block % 12 < 5 else 6000 for block in range(2652)}
    sample = Sample(tuple(range(21)), per_sm=21, resident=16, active=132)
    found = slowest(sample, counts, 2652, 132, interval=1.17)
    mean = sum(counts.values()) / 132
    assert sum(counts[block] for block in found.blocks) / mean == pytest.approx(1.16, abs=0.08)


def test_blocks_that_differ_a_little_do_not_tell_which_place_comes_free_first():
    sample = Sample((0, 1), per_sm=4, resident=1, active=2)
    counts = dict(enumerate((106, 94, 94, 94, 106, 94, 94)))
    found = slowest(sample, counts, 7, 2)
    assert (found.blocks, found.per_sm) == ((0, 2, 4, 6), 4)  # in turn, the first SM first


def test_more_blocks_are_interpreted_where_those_of_the_sample_differ():
    sample = choose((1000, 1, 1), 132, 8)
    even = dict.fromkeys((*sample.blocks, 0, 999), 1000)
    assert more_blocks(sample, even, 1000) == ()
    uneven = {block: 1000 * (1 + block % 3) for block in even}
    further = more_blocks(sample, uneven, 1000)
    assert len(further) == 1000 - len(uneven)
    assert not set(further) & set(uneven)
    long = {block: 100_000 * count for block, count in uneven.items()}
    assert len(more_blocks(sample, long, 1000)) <= 2


def test_more_blocks_are_interpreted_where_their_longest_warps_differ():
    sample = choose((1000, 1, 1), 132, 8)
    even = dict.fromkeys((*sample.blocks, 0, 999), 1000)
    longest = {block: 200 + 20 * (block % 3) for block in even}
    assert len(more_blocks(sample, even, 1000, longest)) == 1000 - len(even)
    assert more_blocks(sample, even, 1000, dict.fromkeys(even, 200)) == ()


def test_the_longest_warp_of_many_is_longer_than_that_of_a_few():
    """Gumbel's distribution: of 10 times as many values the largest is larger by ln 10 times the scale."""
    rng = np.random.default_rng(4)
    lengths = rng.gumbel(1000.0, 50.0, 2000)
    few = dict(enumerate(lengths[:200], 1))
    expected = 50.0 * np.log(2000 / 200)
    assert unseen(few, 2000) * lengths[:200].max() == pytest.approx(expected, rel=0.15)
    assert unseen(dict(enumerate(lengths)), 2000) == 0.0
    assert unseen({1: 100, 2: 100, 3: 100, 4: 100}, 2000) == 0.0


def test_a_last_block_that_has_less_to_do_says_nothing_about_the_others():
    inner = {k: 100 + k for k in range(1, 6)}
    assert unseen({0: 101, **inner, 999: 3}, 1000) == unseen({0: 101, **inner}, 1000)


def test_the_rate_is_that_between_the_middle_waves():
    """The first wave ends together, the last one alone; in between a block ends every 100 cycles."""
    ended = [2000.0] * 4 + [2400 + 100.0 * k for k in range(8)] + [3200.0] * 4
    sample = Sample(tuple(range(16)), per_sm=100, resident=4, active=132)
    run = SmRun(cycles=3200, drained=3250, finished=ended, issued=1600)
    assert extrapolate(run, sample, 1600) == pytest.approx(3250 + 84 * 100)


@pytest.mark.parametrize("places", [1, 2, 5])
def test_what_was_not_simulated_follows_from_the_rate(places):
    """Of one place or two the rate is that from the begin."""
    progress = [(2000.0 * k, 4000 * k) for k in range(1, places + 1)]
    run = SmRun(issued=4000 * places, complete=False, progress=progress)
    assert extrapolate(run, Sample((0,), per_sm=3, resident=1, active=132), 100_000) == pytest.approx(150_000)


def test_stores_far_apart_take_whole_lines_of_l2_and_have_few_neighbours_in_dram():
    near = [np.arange(1000) + 1000 * k for k in range(4)]
    far = [4 * one for one in near]
    dense, sparse = (sharing(one, one, 4, 4, 50 << 20) for one in (near, far))
    assert (dense.stored_neighbours, sparse.stored_neighbours) == (8, 2)
    assert sparse.footprint == pytest.approx(4 * dense.footprint)


def test_clusters_are_whole():
    sample = choose((64, 4, 1), 132, 2, cluster=(2, 2, 1))
    rows, columns = np.divmod(sample.blocks, 64)
    assert len(sample.blocks) % 4 == 0
    pairs = {(int(c) // 2, int(r) // 2) for c, r in zip(columns, rows, strict=True)}
    assert len(pairs) == len(sample.blocks) // 4


def blocks_of(shared: int, own: int, count: int) -> list[np.ndarray]:
    return [np.r_[np.arange(shared), 10**6 + np.arange(own) + own * k] for k in range(count)]


def test_a_table_that_all_blocks_read_is_found_in_the_sample():
    found = sharing(blocks_of(100, 50, 10), [], 1000, 264, 60 << 20, [(0, 99), (10**6, 2 * 10**6)])
    table, own = found.regions
    assert table.share == pytest.approx(1000, rel=0.01)
    assert own.share == 1
    assert table.unique == pytest.approx(100, rel=0.01)
    assert found.footprint == pytest.approx(32 * (100 + 50 * 1000), rel=0.01)


def test_neighbours_that_share_are_found_by_the_size_of_the_array():
    # 1000 blocks touch 100 sectors each, in an array of 25000: four blocks per sector.
    touched = [np.arange(100) + 25 * k for k in range(0, 1000, 100)]
    found = sharing(touched, [], 1000, 264, 60 << 20, [(0, 24999)])
    assert found.place(50).share == pytest.approx(4, rel=0.01)


def test_what_a_launch_writes_stays_in_l2_if_it_is_little():
    little = sharing([np.arange(100)] * 2, [np.arange(100)] * 2, 100, 264, 60 << 20)
    much = [np.arange(100) + 1000 * k for k in range(10)]
    assert little.written_back == 0
    assert sharing(much, much, 10**6, 264, 60 << 20).written_back == 1


def test_an_array_takes_no_more_than_it_has():
    """Words at random of 2000 sectors by a grid of 1000 blocks: all of them in the end, each as a whole."""
    random = np.random.default_rng(3)
    stored = [np.unique(random.integers(0, 2000, 250)) for _ in range(8)]
    found = sharing(stored, stored, 1000, 264, 32 * 2000, [(0, 1999)], filled=0.15)
    assert found.written_back == 1  # twice what stays in L2
    assert sharing(stored, stored, 1000, 264, 4 * 32 * 2000, [(0, 1999)], filled=0.15).written_back == 0
    assert (found.filled, found.stored_neighbours) == (1, 8)


def test_a_launch_takes_no_less_than_the_work_of_its_memory():
    run = SmRun(cycles=100.0, drained=100.0, finished=[50.0, 100.0], issued=10)
    sample = Sample((0, 1), per_sm=20, resident=1, active=132)
    assert extrapolate(run, sample, 10) == pytest.approx(100 + 18 * 50)
    assert extrapolate(run, sample, 10, served=90.0) == pytest.approx(1000)
    assert extrapolate(run, sample, 10, served=150.0) == pytest.approx(1500)


def test_the_sm_with_the_longest_warp_is_simulated_too():
    sample = choose((6, 1, 1), 2, 3)
    counts = {0: 100, 1: 40, 2: 100, 3: 40, 4: 100, 5: 60}
    found = slowest(sample, counts, 6, 2, longest={**dict.fromkeys(range(6), 10), 5: 50})
    assert found.blocks == (0, 2, 4)
    assert found.longest == (1, 3, 5)
    assert slowest(sample, counts, 6, 2, longest=dict.fromkeys(range(6), 10)).longest == ()


@pytest.mark.parametrize("sample", [2.5, float("nan"), "3", b"3", [0, 1.5], [[1]], "all"])
def test_a_sample_is_a_number_of_blocks_or_a_list_of_them(sample):
    with pytest.raises(TypeError, match="give the number of blocks to simulate, or a list of blocks"):
        choose((8, 1, 1), 4, 2, sample)


def test_a_sample_may_be_given_by_numpy():
    assert choose((8, 1, 1), 4, 2, np.int64(2)) == choose((8, 1, 1), 4, 2, 2)
    assert choose((8, 1, 1), 4, 2, np.array([5, 3])).blocks == (3, 5)


@pytest.mark.parametrize(
    ("size", "threads", "clusters", "per_sm", "resident", "active"),
    [
        # As an H200 placed them (2026-11-29): blocks of the busiest SM, those at once, and SMs that got any.
        (2, 256, 200, 4, 4, 132), (4, 256, 142, 5, 5, 124), (4, 736, 66, 3, 2, 124), (8, 256, 16, 2, 2, 124),
        (8, 224, 124, 8, 8, 124), (8, 224, 142, 10, 8, 124),
    ],
)  # fmt: skip
def test_clusters_leave_some_sms_alone_and_have_eight_blocks_on_one(size, threads, clusters, per_sm, resident, active):
    found = choose((size * clusters, 1, 1), 132, 2048 // threads, cluster=(size, 1, 1))
    assert (found.per_sm, found.resident, found.active) == (per_sm, resident, active)
