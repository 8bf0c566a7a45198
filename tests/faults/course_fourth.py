"""A fourth set of kernels with a fault, as blogs, courses and libraries of models have them, with their launches.

Kinds, lines and launches were written and committed before softlab saw the kernels. ``docs/faults.md`` says what was
found then, and which kernels were wrong and have been changed. Scopes and orders of atomics, stages of pipelines,
groups and labels of lanes, roles of warps, clusters, local arrays, ends of rows.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.faults.course_case import CourseCase, floats, integers, zeros

_BOUNDS, _SHARED, _LOCAL = "global-out-of-bounds", "shared-out-of-bounds", "local-out-of-bounds"
_UNSET, _UNSET_SHARED = "uninitialized-local", "uninitialized-shared"
_LANE, _BARRIER, _LOOP = "inactive-lane", "barrier-divergence", "infinite-loop"


def _bad(kernel: str, kind: str = "race", **fields: Any) -> CourseCase:
    return CourseCase(file="bad_fourth.cu", kernel=kernel, kind=kind, **fields)


def _words(read: int, *written: int, then: tuple = ()) -> Any:
    return lambda: [integers(read), *map(zeros, written), *then]


def _floats(read: int, written: int, *scalars: int) -> Any:
    return lambda: [floats(read), zeros(written, "f4"), *scalars]


def same_twice(n: int, *scalars: int) -> Any:
    """The same array as both arguments."""
    return lambda: [(x := floats(n)), x, *scalars]


def diagonal(n: int) -> np.ndarray:
    """A matrix whose diagonal dominates."""
    return (floats(n * n).reshape(n, n) + 4 * n * np.eye(n, dtype=np.float32)).ravel()


def keys(n: int) -> np.ndarray:
    """Keys of eight bits."""
    return integers(n, 256, np.uint32)


def sparse(rows: int) -> list:
    """A matrix in compressed rows, every fourth of them empty, with its vector and result."""
    counts = np.array([r % 4 for r in range(rows, 0, -1)], np.int32)
    first = np.concatenate([[0], np.cumsum(counts)]).astype(np.int32)
    return [first, integers(first[-1], rows), floats(first[-1]), floats(rows), zeros(rows, "f4"), rows]


BAD_FOURTH = (
    _bad("softmax_buffer_reused_for_the_sum", grid=2, arguments=_floats(200, 200, 100)),
    _bad("key_tile_replaced_while_scores_are_summed", arguments=lambda: [floats(512), floats(384), zeros(64, "f4"), 3]),
    _bad("scan_offsets_used_at_once", block=128, arguments=_words(128, 128)),
    _bad("bin_of_the_largest_value", _SHARED,
         arguments=lambda: [np.linspace(0, 1, 100, dtype=np.float32), zeros(16), 100]),
    _bad("next_digit_before_the_scatter_ends", arguments=lambda: [keys(64), 8]),
    _bad("plane_of_a_stencil_refilled", block=(8, 8), arguments=_floats(256, 256, 4)),
    _bad("slot_filled_after_the_tail_moved", grid=2, block=32, arguments=_words(6, 6, 1, 1, then=(6,))),
    _bad("look_back_flag_of_block_scope", grid=4, block=32, arguments=_words(4, 4, 4, 4)),
    _bad("split_k_turn_without_a_fence", grid=3,
         arguments=lambda: [floats(64 * 24), floats(24), zeros(64, "f4"), zeros(1), 24]),
    _bad("fixup_flag_before_the_whole_block_stored", grid=3,
         arguments=lambda: [floats(192), zeros(128, "f4"), zeros(2), zeros(64, "f4")]),
    _bad("last_block_word_read_at_once", grid=3,
         arguments=lambda: [floats(192), zeros(3, "f4"), zeros(1, "u4"), zeros(1, "f4")]),
    _bad("work_item_replaced_while_read", grid=2, arguments=_words(320, 320, 1, then=(5,))),
    _bad("consumer_releases_the_stage_then_reads", arguments=_floats(192, 192, 6)),
    _bad("bulk_loop_keeps_its_parity", block=128, arguments=_floats(384, 384, 3)),
    _bad("half_a_warp_at_a_named_barrier", _BARRIER, hangs=True, arguments=_words(64, 128)),
    _bad("cluster_sum_behind_a_block_barrier", grid=4, block=32, arguments=_words(128, 2)),
    _bad("tile_of_sixteen_reads_its_neighbour", block=32, arguments=_words(32, 32)),
    _bad("group_of_all_used_in_a_branch", _LANE, block=32, arguments=lambda: [np.arange(32, dtype="i4"), zeros(32)]),
    _bad("leader_of_a_label_writes_unsynchronised", block=32, arguments=_words(32, 32)),
    _bad("pointers_swapped_by_thread_zero", arguments=lambda: [floats(64), zeros(64, "f4"), 4]),
    _bad("warp_patch_refilled_without_syncwarp", block=32, arguments=_floats(128, 128, 4)),
    _bad("volatile_tile_between_warps", arguments=_words(64, 64)),
    _bad("relaxed_ref_as_a_flag", grid=3, block=32, arguments=_words(1, 1, 1, 3)),
    _bad("block_scope_ref_counts_for_the_grid", grid=2, block=32, arguments=_words(64, 1)),
    _bad("one_thread_acquires_for_all", grid=2, arguments=_words(64, 64, 1, 64)),
    _bad("thread_pipeline_shares_without_a_barrier", arguments=_floats(64, 64)),
    _bad("barrier_expects_half_the_block", arguments=_words(64, 64)),
    _bad("values_used_when_only_keys_arrived", arguments=lambda: [floats(256), floats(256) + 1, zeros(64, "f4")]),
    _bad("elimination_without_barriers", arguments=lambda: [diagonal(40), 40]),
    _bad("rotary_embedding_in_place", grid=2, arguments=same_twice(128, 32)),
    _bad("row_end_inclusive", _BOUNDS, block=32, arguments=lambda: sparse(32)),
    _bad("return_before_a_named_barrier", _BARRIER, hangs=True, arguments=_words(64, 64, then=(32,))),
    _bad("match_all_in_a_branch", _LANE, block=32, arguments=_words(32, 32, then=(20,))),
    _bad("insertion_past_the_last_of_k", _LOCAL, block=32, arguments=_floats(640, 256, 20, 8)),
    _bad("accumulators_partly_zeroed", _UNSET, block=32, arguments=_words(512, 256, then=(16, 6))),
    _bad("final_warp_reads_all_slots", _UNSET_SHARED, block=128, arguments=_floats(128, 1)),
    _bad("byte_counter_never_reaches_256", _LOOP, hangs=True, block=1, arguments=_words(256, 256, then=(256,))),
    _bad("offset_kept_in_a_short", _BOUNDS, grid=4, arguments=_floats(40_000, 200, 200, 200)),
    _bad("mbarrier_initialised_in_each_turn", "mbarrier-misuse", arguments=_words(192, 192, then=(3,))),
    _bad("double2_behind_a_counter", "misaligned", smem=8 + 64 * 16,
         arguments=lambda: [floats(64, np.float64), zeros(64, "f8"), zeros(1)]),
    _bad("volatile_flag_in_shared_without_a_fence", arguments=_words(1, 1)),
    _bad("row_loop_runs_into_the_next_row", block=32, arguments=_floats(32, 32 * 5 + 1, 5)),
    _bad("source_cleared_before_the_copy_is_done", arguments=_floats(256, 256)),
    _bad("result_of_a_bulk_store_read_too_early", arguments=lambda: [floats(64), zeros(64, "f4"), zeros(1, "f4")]),
    _bad("bits_set_in_one_word", grid=2, block=32, arguments=lambda: [integers(64), zeros(2, "u4")]),
)  # fmt: skip
