"""Which functions keep their results, and how many: None where there are few different ones."""

from __future__ import annotations

from tests.caches import bounds


def test_how_many_results_are_kept() -> None:
    assert bounds("softlab/emulator") == {
        "emulator.machine.native._compiled_by": None,
        "emulator.machine.native._make_ufunc": None,
        "emulator.machine.native._only_compiler": None,
        "emulator.machine.native._processor": None,
        "emulator.machine.native.available": None,
        "emulator.machine.native_python.arrays_are_as_known": None,
        "emulator.machine.native_turns._arrays_are_as_known": None,
        "emulator.machine.native_turns._turns": None,
        "emulator.opcodes.approximate.native_upper_word": 2,
        "emulator.opcodes.fragments.left": 64,
        "emulator.opcodes.fragments.quad_left": 8,
        "emulator.opcodes.fragments.quad_result": 8,
        "emulator.opcodes.fragments.quad_right": 8,
        "emulator.opcodes.fragments.result": 64,
        "emulator.opcodes.fragments.right": 64,
        "emulator.opcodes.special_functions._interpolation": 2,
        "emulator.opcodes.special_functions._square": 1,
        "emulator.opcodes.warp_wide._uniform_sources": 256,
        "emulator.opcodes.wmma.places": 128,
        "emulator.ptx.parser.parsed": 4,
    }
