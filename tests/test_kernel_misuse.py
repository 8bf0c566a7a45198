"""Arguments of ``Kernel`` and ``Kernel.run`` that have no meaning: each has an error that says what is taken."""

from __future__ import annotations

import re
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from softlab.errors import CompileError
from softlab.kernel import Kernel

_ONE = 'extern "C" __global__ void one(int* x) { x[0] = 1; }'


@pytest.mark.parametrize(
    ("source", "message"),
    [
        (_ONE.encode(), "the source must be a string, not bytes"),
        (None, "the source must be a string, not NoneType"),
        (Path("one.cu"), "the source is the path 'one.cu': give its text, or call Kernel.from_file"),
    ],
)
def test_a_source_is_a_text(source: object, message: str) -> None:
    with pytest.raises(TypeError, match=message):
        Kernel(source, "one")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        (None, TypeError, "options is None: give a sequence of options"),
        (5, TypeError, "options is 5: give a sequence of options"),
        ([1], TypeError, "options has 1: an option is a string"),
        (b"-G", TypeError, "options is the string b'-G'"),
        (["-arch=sm_70"], ValueError, "give the architecture as arch='sm_70'"),
        (["-arch"], ValueError, "give the architecture as arch='sm_80'"),
        (["-dlto"], ValueError, "has '-dlto', with which the compiler makes no machine code"),
        (["--dlink-time-opt"], ValueError, "makes no machine code"),
    ],
)
def test_options_that_no_compiler_takes(options: object, error: type[Exception], message: str) -> None:
    for make in (partial(Kernel, _ONE, "one"), partial(Kernel.from_file, "nowhere.cu")):
        with pytest.raises(error, match=re.escape(message)):
            make(options=options)  # type: ignore[arg-type]


def test_options_may_come_from_an_iterator() -> None:
    source = f"#ifndef N\n#error N is missing\n#endif\n{_ONE}"
    x = np.zeros(1, np.int32)
    Kernel(source, "one", options=(option for option in ["-DN=1"])).run(1, 1, [x], record=False)
    assert x[0] == 1


def test_a_name_that_is_too_long_for_a_path() -> None:
    with pytest.raises(CompileError, match="has no kernel"):
        Kernel(_ONE, "a" * 5000)
    with pytest.raises(CompileError, match="cannot open source file"):
        Kernel(f"#include <{'b' * 5000}>\n{_ONE}", "one")


@pytest.mark.parametrize(
    ("fields", "error", "message"),
    [
        ({"record": "counters"}, ValueError, "record = 'counters': it must be True or False"),
        ({"cooperative": "yes"}, ValueError, "cooperative = 'yes': it must be True or False"),
        ({"random_order": 1.5}, TypeError, "random_order must be an integer, not 1.5"),
        ({"random_order": True}, TypeError, "random_order must be an integer, not True"),
        ({"random_order": -(10**5000)}, ValueError, "random_order = an integer of 16610 bits"),
        ({"warp_order": 5}, TypeError, "warp_order = 5: give a sequence of warps"),
        ({"warp_order": ["a"]}, TypeError, "warp_order must be an integer, not 'a'"),
        ({"args": 5}, TypeError, "args is one builtins.int: give a sequence with one argument for each parameter"),
        ({"args": np.zeros(1, "i4")}, TypeError, "args is one numpy.ndarray"),
        ({"args": "x"}, TypeError, "args is one builtins.str"),
    ],
)
def test_arguments_of_run_that_have_no_meaning(fields: dict, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        Kernel(_ONE, "one").run(1, 1, **{"args": [np.zeros(1, "i4")], **fields})


def test_too_much_shared_memory_of_a_fixed_size_is_told_with_the_way_out() -> None:
    source = 'extern "C" __global__ void s(int* x) { __shared__ int a[12289]; a[threadIdx.x] = 1; x[0] = a[0]; }'
    with pytest.raises(CompileError, match=r"kernel.cu:\nptxas error .*too much shared data.*\n\n.*extern __shared__"):
        Kernel(source, "s")
