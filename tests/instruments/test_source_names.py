"""Names of parameters, variables and addresses as the CUDA source has them."""

from __future__ import annotations

import random
from types import SimpleNamespace
from typing import Any

import pytest

from softlab.cuda.compile import compile_program
from softlab.instruments.source_names import _SIZES, Parameter, parameters, shared_symbol, variable_name


@pytest.mark.parametrize(
    ("declared", "name", "itemsize"),
    [
        ("float* x", "x", 4),
        ("const float *__restrict__ x", "x", 4),
        ("volatile unsigned char* bytes", "bytes", 1),
        ("unsigned *counts", "counts", 4),
        ("long long x[]", "x", 8),
        ("float4* quads", "quads", 16),
        ("struct point* points", "points", None),
        ("float** rows", "rows", 8),
        ("int n = 3", "n", 4),
    ],
)
def test_parameters(declared: str, name: str, itemsize: int | None) -> None:
    source = (
        f"__device__ int k(int other);\n__global__ void k(char* first, {declared} /* , */, map<int, int> last) {{}}"
    )
    found = parameters(source, "k<float>")
    assert [one.name for one in found] == ["first", name, "last"]
    assert found[0] == Parameter("first", 1)
    assert found[1].itemsize == itemsize


def test_elements_have_the_sizes_that_the_compiler_gives_them() -> None:
    headers = "".join(f"#include <{name}>\n" for name in ("cstdint", "cuda_fp16.h", "cuda_bf16.h"))
    headers += "using uchar = unsigned char;\nusing uint = unsigned;\n"
    sized = "".join(f"static_assert(sizeof({name}) == {size});\n" for name, size in _SIZES.items())
    assert compile_program(f"{headers}{sized}__global__ void k() {{}}", "k").ptx
    for name, size in _SIZES.items():
        (found,) = parameters(f"__global__ void k({name}* x) {{}}", "k")
        assert found == Parameter("x", size)


def test_names_of_mangled_variables() -> None:
    assert variable_name("table") == "table"
    assert variable_name("_ZZ6kernelE4tile") == "tile"
    assert variable_name("_ZN5space5tableE") == "table"
    assert variable_name("_Z5valueIfE") == "value"
    assert variable_name("_ZZ6kernelIfLi12EEvPT_E5cache") == "cache"


def test_addresses_in_shared_memory() -> None:
    """Variables at random places, against a dict from each address to its name."""
    draw = random.Random(1)
    for _ in range(20):
        at, space, sizes, expected = draw.choice([0, 16, 1024]), {}, {}, {}
        addresses: dict[str, int] = {}
        for number in range(draw.randint(1, 4)):
            itemsize, count = draw.choice([1, 2, 4, 8]), draw.choice([1, 2, 7, 33])
            at += -at % itemsize
            name = f"array{number}"
            addresses[name], space[name], sizes[name] = at, "shared", itemsize * count
            for element in range(count):
                for byte in range(itemsize):
                    expected[at + element * itemsize + byte, itemsize] = name if count == 1 else f"{name}[{element}]"
            at += itemsize * count
        addresses["elsewhere"], space["elsewhere"] = 4, "global"
        variables = {name: SimpleNamespace(name=name, size=size) for name, size in sizes.items()}
        function = SimpleNamespace(variables=tuple(variables.values())[1:])
        first = dict([next(iter(variables.items()))])
        module = SimpleNamespace(variables=first, functions={"k": function})
        image: Any = SimpleNamespace(addresses=addresses, spaces=space, module=module, name="k")
        for (address, itemsize), name in expected.items():
            assert shared_symbol(image, address, itemsize) == name, (addresses, address)
        assert shared_symbol(image, min(a for n, a in addresses.items() if n != "elsewhere") - 1, 4) is None
