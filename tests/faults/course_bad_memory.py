"""Kernels with a fault in how they use memory, with their launches."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.faults.course_case import CourseCase, floats, integers, zeros

_FILE = "bad_memory.cu"
_GLOBAL, _SHARED, _LOCAL = "global-out-of-bounds", "shared-out-of-bounds", "local-out-of-bounds"
_ALIGNED, _UNSET, _REGISTER = "misaligned", "uninitialized-shared", "uninitialized-local"
_CHOSEN = "the compiler gives the variable a value, so that its code has no fault any more"


def _case(kernel: str, kind: str, **fields: Any) -> CourseCase:
    return CourseCase(file=_FILE, kernel=kernel, kind=kind, **fields)


def _binary_tree() -> list:
    left, right = np.full(7, -1, np.int32), np.full(7, -1, np.int32)
    left[[0, 2]], right[[0, 2]] = [1, 3], [2, 4]
    left[4], right[4] = 5, 6
    left[1], right[1] = 3, 5
    return [left, right, integers(7), zeros(32)]


BOUNDS = (
    _case("saxpy_without_a_test", _GLOBAL, grid=2, arguments=lambda: [2.0, floats(100), floats(100)]),
    _case("saxpy_less_or_equal", _GLOBAL, grid=2, arguments=lambda: [100, 2.0, floats(100), floats(100)]),
    _case(
        "rows_and_columns_exchanged",
        _GLOBAL,
        grid=(3, 3),
        block=(8, 8),
        arguments=lambda: [floats(200), floats(200), 10, 20],
    ),
    _case("stencil_left_neighbour", _GLOBAL, arguments=lambda: [floats(64), zeros(64, "f4"), 64]),
    _case("grid_stride_wrong_stride", _GLOBAL, block=32, arguments=lambda: [floats(100), 100]),
    _case("negative_modulo", _GLOBAL, arguments=lambda: [integers(64), zeros(64), 64, 5]),
    _case("index_overflows_int", _GLOBAL, arguments=lambda: [floats(64), zeros(64, "f4"), 2**30]),
    _case("unsigned_wraps_around", _GLOBAL, arguments=lambda: [floats(64), zeros(64, "f4"), 64]),
    _case("float4_over_a_ragged_end", _GLOBAL, arguments=lambda: [floats(70), zeros(64, "f4"), 70]),
    _case("pointer_past_the_end", _GLOBAL, block=1, arguments=lambda: [integers(20), zeros(1), 20]),
    _case(
        "csr_one_row_too_many",
        _GLOBAL,
        block=32,
        arguments=lambda: [np.arange(0, 42, 2, dtype=np.int32), floats(40), zeros(20, "f4"), 20],
    ),
    _case("scatter_bad_index", _GLOBAL, block=32, arguments=lambda: [integers(32, 40), floats(32), zeros(32, "f4")]),
    _case("histogram_value_too_large", _GLOBAL, arguments=lambda: [integers(64, 120), zeros(10)]),
    _case("dynamic_shared_not_given", _SHARED, arguments=lambda: [floats(64), zeros(64, "f4")]),
    _case("dynamic_shared_in_elements", _SHARED, smem=64, arguments=lambda: [floats(64, "f8"), zeros(64, "f8")]),
    _case("tile_smaller_than_the_block", _SHARED, arguments=lambda: [floats(64), zeros(64, "f4")]),
    _case("halo_without_room", _SHARED, arguments=lambda: [integers(70), zeros(64)]),
    _case("shared_negative_index", _SHARED, arguments=lambda: [integers(64), zeros(64)]),
    _case("warp_slots_too_few", _SHARED, block=96, arguments=lambda: [floats(96), zeros(1, "f4")]),
    _case("shared_atomic_beyond", _SHARED, arguments=lambda: [integers(64, 20, np.uint8), zeros(16)]),
    _case("local_array_too_short", _LOCAL, block=32, arguments=lambda: [integers(6), zeros(32), 6]),
    _case("stack_overflow_in_local_memory", _LOCAL, block=32, arguments=_binary_tree),
    _case("local_index_from_data", _LOCAL, block=32, arguments=lambda: [integers(128, 12), zeros(32)]),
    _case("constant_table_beyond", _GLOBAL, block=32, arguments=lambda: [integers(32, 10), zeros(32)]),
    _case("device_array_beyond", _GLOBAL, block=32, arguments=lambda: [integers(32, 40)]),
    _case("two_dimensional_row_too_far", _GLOBAL, block=40, arguments=lambda: [1.0]),
)
ALIGNMENT = (
    _case("misaligned_float2", _ALIGNED, block=32, arguments=lambda: [floats(40), zeros(32, "f4")]),
    _case("misaligned_row_of_vectors", _ALIGNED, grid=3, block=4, arguments=lambda: [floats(60), zeros(12, "f4"), 18]),
    _case(
        "misaligned_carved_shared",
        _ALIGNED,
        block=33,
        smem=33 * 9 + 8,
        arguments=lambda: [floats(33, "f8"), zeros(33, "f8"), 33],
    ),
    _case("misaligned_packed_record", _ALIGNED, block=32, arguments=lambda: [integers(160, 256, np.uint8), zeros(32)]),
    _case("misaligned_atomic", _ALIGNED, block=32, arguments=lambda: [zeros(80, "i1")]),
    _case("misaligned_half2", _ALIGNED, grid=2, block=32, arguments=lambda: [floats(140, "f2"), zeros(64, "f2"), 67]),
)
UNINITIALISED = (
    _case("shared_sum_not_zeroed", _UNSET, arguments=lambda: [integers(64), zeros(1)]),
    _case("shared_bins_partly_zeroed", _UNSET, arguments=lambda: [integers(300, 256, np.uint8), zeros(256, "u4"), 300]),
    _case("last_tile_not_padded", _UNSET, grid=2, arguments=lambda: [floats(100), zeros(2, "f4"), 100]),
    _case(
        "halo_corners_missing",
        _UNSET,
        grid=(2, 2),
        block=(8, 8),
        arguments=lambda: [floats(18 * 18), zeros(256, "f4"), 16],
    ),
    _case("flag_never_set", _UNSET, missed=_CHOSEN, arguments=lambda: [integers(64), zeros(64)]),
    _case(
        "register_set_in_one_branch", _REGISTER, missed=_CHOSEN, block=32, arguments=lambda: [integers(32), zeros(32)]
    ),
    _case(
        "minimum_without_a_start",
        _REGISTER,
        block=32,
        arguments=lambda: [floats(64), zeros(32, "f4"), 64],
    ),
    _case(
        "switch_without_default",
        _REGISTER,
        missed=_CHOSEN,
        block=32,
        arguments=lambda: [integers(32, 5), zeros(32, "f4")],
    ),
    _case(
        "loop_that_may_not_run",
        _REGISTER,
        block=32,
        arguments=lambda: [np.sort(integers(33, 30)), integers(30), zeros(32)],
    ),
    _case(
        "index_not_initialised",
        _REGISTER,
        missed=_CHOSEN,
        block=32,
        arguments=lambda: [integers(4, 32), integers(4), zeros(32)],
    ),
    _case(
        "condition_not_initialised", _REGISTER, missed=_CHOSEN, block=32, arguments=lambda: [integers(32), zeros(32)]
    ),
    _case("local_array_partly_set", _REGISTER, block=32, arguments=lambda: [integers(40), zeros(32), 6]),
    _case(
        "local_histogram_not_zeroed",
        _REGISTER,
        block=32,
        arguments=lambda: [integers(300, 256, np.uint8), zeros(8), 300],
    ),
    _case(
        "accumulator_not_zeroed", _REGISTER, missed=_CHOSEN, block=32, arguments=lambda: [floats(5), zeros(32, "f4"), 5]
    ),
    _case("shuffle_of_an_unset_value", _REGISTER, block=32, arguments=lambda: [integers(32), zeros(32)]),
)
NEIGHBOURS = (
    _case("shared_array_into_its_neighbour", _SHARED, block=32, arguments=lambda: [integers(32), zeros(32)]),
    _case("shared_overrun_into_counter", _SHARED, block=32, arguments=lambda: [integers(32), zeros(32)]),
    _case(
        "shared_tiles_wrong_depth", _SHARED, block=(8, 8), arguments=lambda: [floats(64), floats(64), zeros(64, "f4")]
    ),
    _case("local_array_into_its_neighbour", _LOCAL, block=32, arguments=lambda: [integers(32, 6), zeros(32)]),
)
NULL = (
    _case("null_output", _GLOBAL, block=32, arguments=lambda: [floats(32), None]),
    _case("null_input_used_late", _GLOBAL, block=32, arguments=lambda: [floats(32), None, zeros(32, "f4"), 1]),
    _case("null_member_of_a_list", _GLOBAL, block=32, arguments=lambda: [zeros(32, "i8"), zeros(32)]),
    _case("null_atomic", _GLOBAL, block=32, arguments=lambda: [None]),
    _case("shared_pointer_stored_as_integer", _GLOBAL, block=32, arguments=lambda: [integers(32), zeros(32)]),
    _case("host_address", _GLOBAL, block=32, arguments=lambda: [np.int64(0x7F0012345678), zeros(32)]),
)
BAD_MEMORY = BOUNDS + ALIGNMENT + UNINITIALISED + NEIGHBOURS + NULL
