"""A sixth set of kernels with a fault, as engineers write them, with their launches.

Kinds, lines and launches were written and committed before softlab saw the kernels. ``docs/faults.md`` says what was
found then, and which kernels were wrong and have been changed. Votes and shuffles, named barriers, copies and their
groups, clusters, scopes, tickets, look-back, trees, graphs, stencils, ragged ends, local arrays, wrong launches.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.faults.course_case import CourseCase, floats, integers, zeros

_BOUNDS, _SHARED, _LOCAL = "global-out-of-bounds", "shared-out-of-bounds", "local-out-of-bounds"
_UNSET, _UNSET_SHARED = "uninitialized-local", "uninitialized-shared"
_LANE, _BARRIER, _LOOP, _ALIGNMENT = "inactive-lane", "barrier-divergence", "infinite-loop", "misaligned"


def _bad(kernel: str, kind: str = "race", **fields: Any) -> CourseCase:
    return CourseCase(file="bad_sixth.cu", kernel=kernel, kind=kind, **fields)


def _words(read: int, *written: int, then: tuple = ()) -> Any:
    return lambda: [integers(read), *map(zeros, written), *then]


def _floats(read: int, written: int, *scalars: float) -> Any:
    return lambda: [floats(read), zeros(written, "f4"), *scalars]


def edges(n: int) -> np.ndarray:
    """Sorted edges of ``n`` buckets from -1 to 1."""
    return np.linspace(-1, 1, n, dtype=np.float32)


def triangle(n: int) -> np.ndarray:
    """A lower triangular matrix with a large diagonal."""
    return (np.tril(floats(n * n).reshape(n, n)) + 4 * np.eye(n, dtype=np.float32)).ravel()


def permutations(rows: int, n: int) -> np.ndarray:
    """A permutation of 0 to ``n`` - 1 per row."""
    random = np.random.default_rng(n)
    return np.concatenate([random.permutation(n) for _ in range(rows)]).astype(np.int32)


def halves(n: int) -> np.ndarray:
    """Small integers as numbers of 16 bits."""
    return integers(n, 8).astype(np.float16)


def frontier(nodes: int, degree: int) -> list:
    """A graph, and the search from node 0 as it begins: what is seen, two queues, their sizes."""
    seen, size = zeros(nodes), zeros(2)
    seen[0] = size[0] = 1
    return [integers(nodes * degree, nodes), seen, zeros(2 * nodes), size, nodes, degree]


BAD_SIXTH = (
    _bad("argmax_tree_with_warp_barriers_only", block=128, arguments=lambda: [floats(128), zeros(1)]),
    _bad("changed_flag_reset_at_the_top", arguments=_words(64, 64)),
    _bad("shuffle_behind_a_short_circuit", _LANE, block=32, arguments=_words(32, 32)),
    _bad("two_shuffles_of_a_conditional", _LANE, block=32, arguments=_words(32, 32)),
    _bad("count_of_the_block_in_a_ragged_loop", _BARRIER, hangs=True, arguments=_words(100, 1, then=(100,))),
    _bad("role_with_one_barrier_more", _BARRIER, arguments=_words(64, 64)),
    _bad("arrive_and_sync_with_different_counts", _BARRIER, hangs=True, block=96, arguments=_words(64, 32)),
    _bad("ring_whose_slots_are_never_offered", _BARRIER, hangs=True, arguments=_words(160, 160, then=(5,))),
    _bad("third_warp_reads_without_meeting", block=96, arguments=_words(32, 64)),
    _bad("scratch_read_by_a_warp_that_was_not_told", block=128, arguments=_words(32, 32, 96)),
    _bad("group_sum_in_a_branch_of_its_lanes", _LANE, block=32, arguments=_words(32, 32)),
    _bad("second_copy_of_a_group_not_awaited", arguments=_floats(128, 64)),
    _bad("cluster_words_read_after_the_arrival_alone", grid=2, block=32, arguments=_words(64, 64)),
    _bad("words_sent_to_the_peer_half_of_them_expected", grid=2, arguments=_words(128, 128)),
    _bad("peer_read_at_the_very_end", grid=2, block=32, arguments=_words(64, 64, 64)),
    _bad("peer_arrives_before_the_barrier_is_there", grid=2, block=32, arguments=_words(32, 32)),
    _bad("copies_awaited_by_the_first_warp", arguments=_floats(256, 64)),
    _bad("last_turns_commit_no_group", arguments=_floats(384, 384, 6)),
    _bad("block_barrier_in_place_of_that_of_the_copy", arguments=_floats(64, 64)),
    _bad("stage_released_before_it_is_read", arguments=_floats(192, 192, 6)),
    _bad("producer_never_acquires", arguments=_floats(192, 192, 6)),
    _bad("last_bulk_tile_beyond_the_row", _BOUNDS, grid=4, block=32, arguments=_floats(100, 100, 100)),
    _bad("bulk_sums_read_before_all_blocks_added", grid=3, block=32,
         arguments=lambda: [floats(96), zeros(32, "f4"), zeros(96, "f4")]),
    _bad("every_thread_expects_the_bytes", "mbarrier-misuse", arguments=_floats(64, 64)),
    _bad("one_warp_waits_for_the_copy", arguments=_floats(64, 64)),
    _bad("warps_arrive_where_threads_are_counted", _LOOP, hangs=True, arguments=_words(64, 64)),
    _bad("scratch_stored_after_the_mbarrier_arrival", grid=2, arguments=_words(64, 64, 64)),
    _bad("prefix_stored_over_the_aggregate", grid=4, block=32, arguments=_words(4, 4, 4, 4)),
    _bad("critical_section_entered_without_the_lock", grid=4, block=32,
         arguments=lambda: [floats(4), zeros(1, "f4"), zeros(1)]),
    _bad("sequence_lock_of_plain_words", grid=2, block=32, arguments=lambda: [zeros(2), zeros(1), zeros(1), 3],
         missed="the order of this run counts: the reader looks before the writer begins, and after it is done; "
                "`random_order` finds it"),
    _bad("node_linked_after_it_is_published", grid=4, block=32,
         arguments=lambda: [np.full(8, -1, "i4"), np.array([-1], "i4"), integers(4), zeros(4)]),
    _bad("task_counted_before_its_result", grid=4, block=32, arguments=_words(4, 4, 1, 1)),
    _bad("flag_of_the_first_warp_for_the_block", grid=2, arguments=_words(64, 64, 1, 64)),
    _bad("last_reference_dropped_relaxed", grid=4, block=32,
         arguments=lambda: [integers(4), zeros(4), np.array([4], "i4"), zeros(1)]),
    _bad("ranks_pushed_into_the_array_they_are_read_from", grid=2, block=32,
         arguments=lambda: [integers(256, 64), np.ones(64, "f4"), 4]),
    _bad("distances_relaxed_without_atomics", grid=2,
         arguments=lambda: [integers(100, 32), integers(101, 32)[:100], integers(102)[:100], integers(32), 100]),
    _bad("private_bins_one_too_few", arguments=_words(640, 512, then=(10,))),
    _bad("life_in_one_array", grid=(2, 2), block=(8, 8), arguments=lambda: [integers(256, 2, np.uint8), 16]),
    _bad("seam_costs_in_one_row", arguments=_words(320, 64, then=(5,))),
    _bad("columns_blurred_before_all_rows_are", block=(8, 8), arguments=_floats(64, 64)),
    _bad("pivot_moved_while_others_compare", arguments=_words(64, 64)),
    _bad("counters_cleared_while_offsets_are_read", arguments=_words(64, 192)),
    _bad("barrier_between_the_loads_of_two_tiles", grid=(2, 2), block=(8, 8),
         arguments=lambda: [floats(256), floats(256) + 1, zeros(256, "f4"), 16]),
    _bad("packed_triangle_without_its_diagonal", _BOUNDS, block=32, arguments=_floats(24, 276, 24)),
    _bad("bucket_of_a_value_beyond_the_last_edge", _BOUNDS, grid=2,
         arguments=lambda: [edges(16), floats(128), zeros(128, "f4"), 16]),
    _bad("bilinear_sample_of_the_last_pixel", _BOUNDS, grid=(2, 2), block=(8, 8), arguments=_floats(64, 256, 8, 16)),
    _bad("row_number_kept_in_a_byte", severity="warning", grid=5, arguments=_floats(1200, 300, 300, 4)),
    _bad("padding_not_counted_in_the_launch", _SHARED, block=(8, 8), smem=256, arguments=_floats(64, 64)),
    _bad("inverse_of_a_permutation_counted_from_one", _LOCAL, block=32,
         arguments=lambda: [permutations(32, 6) + 1, zeros(192), 6]),
    _bad("rows_of_thirty_as_vectors", _ALIGNMENT, block=32, arguments=_floats(960, 32, 30)),
    _bad("matrix_rows_of_36_bytes", _ALIGNMENT, block=32, arguments=lambda: [halves(256), zeros(32, "u4")]),
    _bad("matrix_tiles_stored_by_another_warp", arguments=lambda: [halves(256), zeros(256, "u4")]),
    _bad("pairs_without_a_test_of_the_second", _BOUNDS, arguments=_floats(101, 101, 101)),
    _bad("every_layer_of_the_block_does_it", block=(8, 4, 2), arguments=_floats(32, 32)),
    _bad("total_of_one_block_launched_with_two", grid=2, arguments=_floats(128, 1)),
    _bad("index_of_a_pair_that_was_skipped", _UNSET_SHARED, arguments=lambda: [floats(64), zeros(1)]),
    _bad("symmetric_matrix_filled_below_only", _UNSET, block=32, arguments=_floats(320, 32, 4)),
    _bad("nearest_of_an_empty_list", _UNSET, block=32, arguments=lambda: [floats(32), zeros(32), 32, 0.01]),
    _bad("argmax_by_an_atomic_and_a_plain_read", grid=2, block=32, arguments=_words(64, 1, 1)),
    _bad("pending_bits_read_and_cleared", grid=2, block=32, arguments=lambda: [integers(32), zeros(1, "u4"), zeros(1)]),
    _bad("bytes_read_as_words_before_all_are_there", arguments=lambda: [integers(64), zeros(16, "u4")]),
    _bad("difference_with_the_left_of_an_alias", grid=2, arguments=lambda: [(x := floats(128)), x]),
    _bad("leader_skips_its_own_broadcast", _LANE, block=32, arguments=_words(32, 4, 32)),
    _bad("continue_before_the_vote", _LANE, block=32, arguments=_words(128, 32, then=(4,))),
    _bad("rows_then_columns_of_a_warp_tile", arguments=_words(512, 512)),
    _bad("centroids_summed_plainly", arguments=lambda: [floats(64), edges(4)]),
    _bad("runs_merged_without_a_barrier_between", arguments=_words(64)),
    _bad("one_row_of_coordinates_in_many_threads", grid=2,
         arguments=lambda: [np.sort(integers(100, 20)), integers(101, 30)[:100], floats(100), floats(30),
                            zeros(20, "f4"), 100]),
    _bad("frontier_size_cleared_while_others_append", grid=2, block=32, cooperative=True,
         arguments=lambda: frontier(64, 3)),
    _bad("buffer_flushed_while_others_push", arguments=_words(320, 320, 1, then=(320,))),
    _bad("triangular_solve_without_a_fence", grid=4, block=32,
         arguments=lambda: [triangle(4), floats(4), zeros(4, "f4"), zeros(4), 4]),
    _bad("transposed_with_the_wrong_pitch", grid=15, arguments=_floats(960, 960, 40, 24)),
    _bad("weights_loaded_by_a_block_too_small", _UNSET_SHARED, block=16,
         arguments=lambda: [floats(40), floats(25), zeros(16, "f4")]),
    _bad("arena_without_a_limit", _BOUNDS, grid=2, block=32, arguments=_words(64, 100, 1)),
    _bad("probing_a_full_table", _LOOP, hangs=True, block=40,
         arguments=lambda: [np.arange(40, dtype="i4"), np.full(32, -1, "i4"), 32]),
    _bad("bisection_that_never_shrinks", _LOOP, hangs=True, block=32,
         arguments=lambda: [edges(16), floats(32), zeros(32), 16]),
)  # fmt: skip
