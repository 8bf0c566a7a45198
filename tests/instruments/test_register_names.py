"""What registers hold, and what the source calls them, for small kernels."""

from __future__ import annotations

import numpy as np
import pytest

from softlab.emulator.ptx.linker import Image, link
from softlab.emulator.ptx.parser import parse
from softlab.instruments.register_names import shown_types, source_names, special_name
from softlab.instruments.source_names import Parameter

HEAD = ".version 8.8\n.target sm_90\n.address_size 64\n"
DECLARED = ".reg .b32 %r<20>; .reg .b64 %rd<20>; .reg .pred %p<9>; .reg .f32 %f<9>; .reg .b16 %h<9>; .shared .b8 s[64];"
PARAMETERS = (Parameter("x", 4), Parameter("n", None))


def image(body: str) -> Image:
    head = f"{HEAD}.visible .entry k(.param .u64 p0, .param .align 8 .b8 p1[16], .param .u64 p2)"
    return link(parse(f"{head}\n{{\n{DECLARED}\n{body} ret;\n}}\n"), "k")


def test_special_registers_as_cuda_calls_them() -> None:
    names = {"tid": "threadIdx", "ntid": "blockDim", "ctaid": "blockIdx", "nctaid": "gridDim"}
    for ptx, cuda in names.items():
        assert [special_name(f"{ptx}.{axis}") for axis in "xyz"] == [f"{cuda}.{axis}" for axis in "xyz"]
    assert [special_name(name) for name in ("laneid", "tid.w", "clock64")] == ["%laneid", "%tid.w", "%clock64"]


@pytest.mark.parametrize(
    ("body", "types"),
    [
        ("add.s32 %r1, %r2, 3;", {"r1": "i4", "r2": "i4"}),
        ("add.u32 %r1, %r2, 3;", {"r1": "u4", "r2": "u4"}),
        ("mov.b32 %r1, 5;", {"r1": "u4"}),
        # what computes decides about what only moves, along any number of moves, both ways
        ("mov.b32 %r1, %r2; add.s32 %r3, %r1, 1;", {"r1": "i4", "r2": "i4", "r3": "i4"}),
        ("add.s32 %r1, %r4, 1; mov.b32 %r2, %r1; mov.b32 %r3, %r2;", {"r2": "i4", "r3": "i4"}),
        ("add.f32 %f1, %f1, %f1; mov.b32 %f1, %r1; shfl.sync.bfly.b32 %r2|%p1, %r1, 1, 31, -1;", {"r1": "f4",
        "r2": "f4", "f1": "f4"}),
        # an instruction on floats has two votes
        ("cvt.rn.f32.s32 %r1, %r2; add.s32 %r1, %r1, 1;", {"r1": "f4", "r2": "i4"}),
        ("cvt.rn.f32.s32 %r1, %r2; mov.s32 %r1, 1;", {"r1": "f4"}),
        ("mov.s32 %r1, 1; add.s32 %r1, %r1, 1; cvt.rn.f32.s32 %r1, %r2;", {"r1": "i4"}),
        ("add.s64 %rd1, %rd2, 1; cvt.u32.u64 %r1, %rd1;", {"rd1": "i8", "rd2": "i8", "r1": "u4"}),
        ("ld.global.f32 %r1, [%rd1];", {"r1": "f4", "rd1": "u8"}),
        ("setp.lt.s32 %p1, %r1, %r2;", {"p1": "?", "r1": "i4", "r2": "i4"}),
        ("mov.b64 %rd1, {%r1, %r2}; add.f64 %rd2, %rd1, %rd1;", {"rd1": "f8", "rd2": "f8", "r1": "u4"}),
    ],
)  # fmt: skip
def test_registers_are_shown_as_what_computes_with_them(body: str, types: dict[str, str]) -> None:
    found = shown_types(image(body))
    assert {name: found[f"%{name}"] for name in types} == {name: np.dtype(kind) for name, kind in types.items()}


@pytest.mark.parametrize(
    ("body", "names"),
    [
        (
            "ld.param.u64 %rd1, [p0]; cvta.to.global.u64 %rd2, %rd1; mov.b64 %rd3, %rd2;",
            {"rd1": "x", "rd2": "x", "rd3": "x"},
        ),
        ("ld.param.u32 %r1, [p1]; ld.param.u32 %r2, [p1+8];", {"r1": "n", "r2": "n+8"}),
        ("ld.param.u64 %rd1, [p2];", {}),
        ("mov.u32 %r1, %tid.x; mov.u32 %r2, %laneid;", {"r1": "threadIdx.x", "r2": "%laneid"}),
        ("mov.b64 %rd1, s; mov.b64 %rd2, %rd1;", {"rd1": "s", "rd2": "s"}),
        ("mov.b64 %rd1, k;", {}),
        ("ld.global.u64 %rd1, [%rd2];", {}),
        # written twice, or perhaps: it has no one name
        ("mov.u32 %r1, %tid.x; mov.u32 %r1, %tid.y;", {}),
        ("@%p1 mov.u32 %r1, %tid.x;", {}),
        ("mov.u32 %r1, %tid.x; add.u32 %r2, %r1, 1; mov.b32 %r3, %r2;", {"r1": "threadIdx.x"}),
        ("mov.b32 %r2, %r1; mov.u32 %r1, %tid.x;", {"r1": "threadIdx.x"}),
    ],
)
def test_names_that_ptx_shows(body: str, names: dict[str, str]) -> None:
    assert source_names(image(body), PARAMETERS) == {f"%{register}": name for register, name in names.items()}
