"""A seventh set of kernels with a fault, as repositories have them, with their launches.

Kinds, lines and launches were written and committed before softlab saw the kernels. ``docs/faults.md`` says what was
found then, and which kernels were wrong and have been changed. Tables of pages and pointers, the heap, graphs, sorts,
attention, guards and deques, groups in templates and lambdas, pipelines, bulk copies, clusters.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.faults.course_case import CourseCase, floats, integers, zeros

_BOUNDS, _SHARED, _LOCAL = "global-out-of-bounds", "shared-out-of-bounds", "local-out-of-bounds"
_UNSET, _UNSET_SHARED = "uninitialized-local", "uninitialized-shared"
_LANE, _BARRIER, _LOOP, _ALIGNMENT = "inactive-lane", "barrier-divergence", "infinite-loop", "misaligned"


def _bad(kernel: str, kind: str = "race", **fields: Any) -> CourseCase:
    return CourseCase(file="bad_seventh.cu", kernel=kernel, kind=kind, **fields)


def _words(read: int, *written: int, then: tuple = ()) -> Any:
    return lambda: [integers(read), *map(zeros, written), *then]


def _floats(read: int, written: int, *scalars: float) -> Any:
    return lambda: [floats(read), zeros(written, "f4"), *scalars]


def text(n: int) -> np.ndarray:
    """Letters with a space after each fifth one; the last one is a letter."""
    letters = np.frombuffer(b"abcd efghi jklmn opqrs tuvwx yz"[:n], np.int8)
    return letters.copy()


def ring_of_lists(nodes: int, mark: bool = True) -> list:
    """Each node's list has the next two nodes and a mark; without ``mark`` the last list has none."""
    lists = [[(v + 1) % nodes, (v + 2) % nodes, -1] for v in range(nodes)]
    flat = np.array(lists, np.int32).ravel()
    return [flat if mark else flat[:-1].copy(), np.arange(0, 3 * nodes, 3, dtype=np.int32), zeros(nodes), nodes]


def bounds_of_a_tree(leaves: int, root: int) -> np.ndarray:
    """Words of the nodes of a tree: parent, left, right, low, high. Inner nodes come first, and ``root`` is swapped
    with node 0."""
    order = np.arange(2 * leaves - 1)
    order[[0, root]] = root, 0
    words = np.zeros((2 * leaves - 1, 5), np.int32)
    words[root, 0] = -1
    for node in range(1, 2 * leaves - 1):
        words[order[node], 0] = order[(node - 1) // 2]
    return words.ravel()


def ring_of_edges(nodes: int) -> list:
    """Begins and ends of the edges of a ring in which each node has two neighbours."""
    others = np.stack([np.arange(nodes) - 1, np.arange(nodes) + 1], axis=1) % nodes
    return [np.arange(0, 2 * nodes + 1, 2, dtype=np.int32), others.ravel().astype(np.int32)]


def diagonally_dominant(n: int) -> np.ndarray:
    """A matrix that needs no pivots."""
    return (floats(n * n).reshape(n, n) + 4 * n * np.eye(n, dtype=np.float32)).ravel()


BAD_SEVENTH = (
    _bad("patches_padded_on_the_left_only", _BOUNDS, arguments=_floats(64, 576, 8, 8)),
    _bad("neighbours_until_the_mark", _BOUNDS, block=32, arguments=lambda: ring_of_lists(32, mark=False)),
    _bad("batch_offset_overflows", _BOUNDS, block=(32, 16), arguments=_floats(64, 16, 64, 1 << 28)),
    _bad("fragment_stored_where_columns_alone_are_tested", _BOUNDS, block=(2, 4), arguments=_floats(8, 56, 7, 8)),
    _bad("probes_run_beyond_the_table", _BOUNDS, block=32,
         arguments=lambda: [np.arange(1, 23, dtype="u4") ** 3, zeros(24, "u4"), zeros(24), 24, 22]),
    _bad("words_counted_by_looking_ahead", _BOUNDS, arguments=lambda: [text(31), zeros(1), 31]),
    _bad("z_order_of_a_grid_of_twelve", _BOUNDS, grid=(3, 3), block=(4, 4), arguments=_floats(144, 144, 12)),
    _bad("page_that_was_never_allocated", _BOUNDS, grid=2, block=16,
         arguments=lambda: [floats(96), np.array([1, 0, -1, 2, -1, -1], "i4"), np.array([7, 3], "i4"), floats(16),
                            zeros(24, "f4"), 12]),
    _bad("loss_of_a_token_to_ignore", _BOUNDS, grid=4, block=32,
         arguments=lambda: [floats(160), np.array([3, -100, 39, 0], "i4"), zeros(4, "f4"), 40]),
    _bad("bags_of_an_offset_each", _BOUNDS, grid=2, block=(8, 4),
         arguments=lambda: [floats(160), integers(24, 20), np.arange(0, 24, 3, dtype="i4"), zeros(64, "f4"), 8, 8]),
    _bad("events_logged_beyond_the_ring", _BOUNDS, grid=2, block=32, arguments=_words(64, 64)),
    _bad("taps_of_a_symmetric_filter", _BOUNDS, grid=2, arguments=_floats(100, 100, 100)),
    _bad("last_field_of_a_structure_of_arrays", _BOUNDS, grid=2, arguments=lambda: [floats(400), 100, 0.1]),
    _bad("sort_of_a_length_that_is_no_power_of_two", _SHARED, smem=160, arguments=_words(40, 40, then=(40,))),
    _bad("digits_of_five_bits_in_sixteen_counters", _SHARED,
         arguments=lambda: [integers(128, 1 << 20, np.uint32), zeros(16), 128, 4]),
    _bad("delay_line_read_before_its_start", _SHARED, arguments=_floats(128, 128, 128, 5)),
    _bad("number_written_with_its_sign", _LOCAL, block=32,
         arguments=lambda: [-1_000_000_000 - 7 * integers(32), zeros(384, "i1"), zeros(32)]),
    _bad("square_clipped_by_two_lines", _LOCAL, block=32,
         arguments=lambda: [np.tile(np.array([1.5, 0.5], "f4"), 32), zeros(32, "f4")]),
    _bad("path_popped_once_too_often", _LOCAL, block=32,
         arguments=lambda: [np.tile(np.array([3, 4, -4, -3, -3, 5], "i4"), 32), zeros(32), 6]),
    _bad("record_with_a_double_at_twelve", _ALIGNMENT, block=32,
         arguments=lambda: [zeros(768, "u1"), zeros(32, "f8"), 24]),
    _bad("barrier_carved_behind_three_words", _ALIGNMENT, smem=288, arguments=_floats(64, 64)),
    _bad("bulk_row_of_ten_floats", _ALIGNMENT, grid=3, block=32, arguments=_floats(30, 24, 10)),
    _bad("mask_that_the_caller_left_out", _BOUNDS, grid=4, block=32,
         arguments=lambda: [floats(16), None, zeros(16, "f4"), 4]),
    _bad("node_read_after_it_is_freed", _BOUNDS, block=32, arguments=_words(128, 32, then=(4,))),
    _bad("scratch_of_the_heap_without_a_test", _BOUNDS, grid=2,
         arguments=lambda: [np.array([64, 1 << 28], "i4"), zeros(128, "f4")]),
    _bad("heap_array_one_too_short", _BOUNDS, block=32, arguments=lambda: [np.full(32, 8, "i4"), zeros(32)]),
    _bad("keys_padded_into_the_counts", smem=320, arguments=_words(50, 16, then=(50,))),
    _bad("sums_with_the_padding_column", _UNSET_SHARED, block=(16, 16), arguments=_floats(256, 16)),
    _bad("idle_warps_leave_their_slot", _UNSET_SHARED, block=128, arguments=_floats(64, 1, 64)),
    _bad("pooled_over_pixels_that_nobody_loaded", _UNSET_SHARED, block=(16, 16), arguments=_floats(121, 36, 11, 11)),
    _bad("group_copy_counted_in_elements", _UNSET_SHARED, arguments=_floats(128, 128, 2)),
    _bad("matrix_of_the_launch_with_one_dimension", _UNSET_SHARED, block=8,
         arguments=lambda: [floats(64), floats(64) + 1, zeros(64, "f4"), 8]),
    _bad("horner_above_the_degree", _UNSET, block=32,
         arguments=lambda: [floats(256), integers(32, 7), floats(32), zeros(32, "f4")]),
    _bad("reflection_without_its_head", _UNSET, block=32, arguments=_floats(320, 32, 10, 3)),
    _bad("slots_of_a_table_cleared_by_half", _UNSET_SHARED, arguments=_words(64, 1, then=(64,))),
    _bad("items_packed_in_one_row", block=128,
         arguments=lambda: [integers(5, 50) + 1, integers(6)[:5] + 1, zeros(1), 5]),
    _bad("both_of_a_pair_swap", arguments=_words(64, 64)),
    _bad("list_ranked_in_place", arguments=lambda: [np.minimum(np.arange(1, 65), 63).astype("i4"), zeros(64), 64]),
    _bad("rotations_of_overlapping_pairs", block=(8, 4), arguments=lambda: [floats(64), floats(3), 3]),
    _bad("butterfly_read_and_written_at_once", block=32, arguments=lambda: [floats(128), zeros(128, "f4")]),
    _bad("roots_hooked_by_plain_stores",
         arguments=lambda: [integers(192, 64), zeros(64), 64, 96]),
    _bad("buffers_swapped_by_those_that_worked", block=96, arguments=_floats(96, 96, 3)),
    _bad("row_state_shared_by_two_warps", block=128, arguments=_floats(256, 2, 128)),
    _bad("mean_written_where_the_variance_reads", grid=2, block=128, arguments=_floats(512, 512, 256)),
    _bad("windows_of_the_pool_overlap",
         arguments=lambda: [floats(129), floats(64), zeros(129, "f4"), 129, 64]),
    _bad("batches_with_a_short_stride", grid=(2, 3), block=32, arguments=_floats(300, 300, 100, 96)),
    _bad("heads_linked_without_an_exchange", grid=2, block=32,
         arguments=lambda: [integers(100), np.full(16, -1, "i4"), zeros(100), 100, 16]),
    _bad("beams_gathered_in_place", grid=4, block=32,
         arguments=lambda: [floats(256), np.array([1, 0, 0, 2], "i4"), 64]),
    _bad("key_appended_while_others_attend", grid=4, block=32,
         arguments=lambda: [floats(176), floats(16), floats(32), zeros(44, "f4"), 10, 8]),
    _bad("cells_of_both_neighbours", grid=2, block=32, arguments=lambda: [floats(128), floats(129)[:128], 128, 64]),
    _bad("end_of_the_block_before", grid=3, arguments=_words(192, 192, then=(192,))),
    _bad("next_row_taken_plainly", grid=2,
         arguments=lambda: [floats(400), zeros(4, "f4"), zeros(1), 4, 100]),
    _bad("generator_stepped_by_the_whole_warp",
         arguments=lambda: [np.array([12345, 678], "u4"), zeros(64, "f4"), 4]),
    _bad("halves_added_beside_plain_stores", grid=2,
         arguments=lambda: [floats(64), zeros(32, "f2"), 64]),
    _bad("guard_that_frees_before_it_publishes", grid=4, block=32,
         arguments=lambda: [floats(128), zeros(3, "f4"), zeros(1)]),
    _bad("semaphore_that_lets_two_in", grid=4, block=32,
         arguments=lambda: [np.array([2], "i4"), integers(4), zeros(1)]),
    _bad("arrival_at_the_grid_without_a_release", grid=3, arguments=lambda: [integers(192), zeros(192), zeros(192),
                                                                             zeros(1, "u4")]),
    _bad("tile_announced_in_the_scope_of_its_block", grid=3, block=32, arguments=_words(96, 96, 3, 96)),
    _bad("version_raised_before_the_page_is_written", grid=2, block=32, arguments=_words(32, 33, 32)),
    _bad("deque_bottom_moved_before_the_task", grid=2, block=32,
         arguments=lambda: [zeros(10), integers(6), zeros(6), 6]),
    _bad("total_of_the_tiles_read_by_the_first_of_them", grid=4, block=32, arguments=_words(128, 1, 4, 4)),
    _bad("reader_that_waits_for_another_word", grid=3, block=32, arguments=_words(64, 64, 2, 32)),
    _bad("sum_of_a_row_under_a_guard", _BARRIER, severity="warning", block=(32, 4), arguments=_floats(96, 3, 3)),
    _bad("lambda_that_meets_the_block", _BARRIER, arguments=_words(64, 64, then=(40,))),
    _bad("grid_meets_once_per_tile", _LOOP, hangs=True, grid=3, block=32, cooperative=True,
         arguments=_words(160, 160, then=(5,))),
    _bad("token_of_the_phase_before", arguments=_words(64, 64)),
    _bad("latch_that_counts_the_leader_too", _LOOP, hangs=True, arguments=_words(32, 32)),
    _bad("roles_of_four_warps_launched_with_three", _BARRIER, hangs=True, block=96, arguments=_words(64, 64)),
    _bad("base_from_the_lane_after_the_leader", _LANE, block=32,
         arguments=lambda: [np.arange(32, dtype="i4"), zeros(32), zeros(1)]),
    _bad("group_of_a_branch_in_a_branch", _LANE, block=32, arguments=_words(32, 32)),
    _bad("scan_in_the_loop_of_a_ragged_list", _LANE, block=32,
         arguments=lambda: [np.append(0, np.cumsum(1 + np.arange(32) % 3)).astype("i4"), integers(63), zeros(32)]),
    _bad("group_committed_before_its_copies", arguments=_floats(256, 256, 4)),
    _bad("bulk_store_awaited_by_another_thread", arguments=_floats(192, 192, 3)),
    _bad("bulk_store_never_committed", arguments=_floats(192, 192, 3)),
    _bad("producer_waits_for_slots_nobody_frees", _LOOP, hangs=True, arguments=_floats(160, 160, 5)),
    _bad("values_awaited_at_the_barrier_of_the_keys",
         arguments=lambda: [floats(64), floats(65)[:64].copy(), zeros(64, "f4")]),
    _bad("pipeline_consumed_one_stage_ahead", arguments=_floats(256, 256, 4)),
    _bad("rank_taken_from_the_number_of_the_block", _SHARED, grid=4, block=32, arguments=_words(128, 128)),
    _bad("halo_in_the_slot_of_the_other_side", _UNSET_SHARED, grid=2, block=32, arguments=_floats(64, 64)),
    _bad("flag_in_the_peer_without_a_fence", grid=2, block=32, arguments=_words(32, 32)),
    _bad("ring_of_the_cluster_shifts_at_once", grid=4, block=32, arguments=_words(128, 128)),
    _bad("maximum_swapped_with_a_stale_word", _LOOP, hangs=True, block=32,
         arguments=lambda: [floats(100), np.full(1, -1e30, "f4"), 100]),
    _bad("stride_of_a_share_that_is_zero", _LOOP, hangs=True, arguments=_floats(40, 64, 40)),
    _bad("halved_upwards_until_nothing_is_left", _LOOP, hangs=True, arguments=_words(64, 1)),
    _bad("tree_walked_above_its_root", _BOUNDS, block=32,
         arguments=lambda: [bounds_of_a_tree(8, 6), np.abs(floats(8)), 8]),
    _bad("colours_of_neighbours_chosen_at_once", grid=2, block=32,
         arguments=lambda: [*ring_of_edges(64), np.full(64, -1, "i4"), 64]),
    _bad("lower_part_updated_before_the_panel", grid=8, block=32, cooperative=True,
         arguments=lambda: [diagonally_dominant(8), 8]),
    _bad("samples_sorted_while_splitters_are_taken", arguments=_words(256, 256, then=(256,))),
    _bad("flag_of_convergence_cleared_by_each_block", grid=2, block=32,
         arguments=lambda: [floats(64), zeros(64, "f4"), zeros(1), 0.1]),
)  # fmt: skip
