"""Bytes of array arguments as elements, and where no name is known."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from softlab.emulator.machine.origins import Origin
from softlab.emulator.ptx.syntax import Frame, Instruction
from softlab.emulator.sites import Site
from softlab.instruments.address_names import _NULL_BYTES, AddressNames
from softlab.instruments.source_names import Parameter
from softlab.instruments.variables import Variable, VariableTable

PARAMETERS = (Parameter("x", 4), Parameter("n", None), Parameter("y", 8))


@pytest.mark.parametrize(
    ("number", "offset", "name"),
    [
        (0, 0, "x[0]"), (0, 3, "x[0]"), (0, 4, "x[1]"), (0, -1, "x[-1]"), (2, 256, "y[32]"), (2, 263, "y[32]"),
        (1, 0, None), (3, 0, None), (4, 0, None), (9, 4, None),
    ],
)  # fmt: skip
def test_a_byte_of_an_argument(number: int, offset: int, name: str | None) -> None:
    names = AddressNames(None, "", "cell.cu", PARAMETERS)  # type: ignore[arg-type]
    assert names.argument_element(number, offset) == name
    assert AddressNames(None, "", "cell.cu").argument_element(number, offset) is None  # type: ignore[arg-type]


SOURCE = """__global__ void k(int* y) {
  __shared__ int first[16];
  __shared__ float grid[3][4];
  __trap();
  y[0] = 1;
  assert(y[1]);
  y[2] = 3;"""
FIRST, GRID, DYNAMIC = Variable("first", 64, 128), Variable("grid", 128, 176), Variable("more", 176, None)


def names_of(*variables: Variable, others: tuple[Variable, ...] = (FIRST, GRID, DYNAMIC)) -> AddressNames:
    names = AddressNames(SimpleNamespace(), SOURCE, "cell.cu")  # type: ignore[arg-type]
    names.__dict__["table"] = VariableTable({5: variables}, {}, others, {})
    return names


def shared_site(dtype: str = "i4", index: int = 5) -> Site:
    return Site(index, Instruction("ld", (), ()), "shared", np.dtype(dtype))


@pytest.mark.parametrize(
    ("variables", "address", "dtype", "symbol", "words"),
    [
        ((FIRST,), 128, "i4", "first[16]", "beyond the end of first, which has 64 bytes. Instead there is grid[0][0]"),
        ((FIRST,), 60, "i4", "first[-1]", "before the beginning of first, which has 64 bytes"),
        ((FIRST,), -4, "i4", "first[-17]", "before the beginning of first, which has 64 bytes"),
        ((FIRST,), 2**32 - 4, "i4", "first[-17]", "before the beginning of first, which has 64 bytes"),
        ((FIRST,), 2**31, "i4", f"first[{-(2**31) // 4 - 16}]", "before the beginning of first, which has 64 bytes"),
        ((FIRST,), 2**31 - 4, "i4", f"first[{(2**31 - 4 - 64) // 4}]", "beyond the end of first, which has 64 bytes"),
        ((FIRST,), 2**64 - 8, "i8", "first[-18]", "before the beginning of first, which has 64 bytes"),
        ((FIRST,), 178, "u1", "first[28]", "beyond the end of first, which has 64 bytes. Instead there is more[2]"),
        ((GRID,), 176, "f4", "grid[3][0]", "beyond the end of grid, which has 48 bytes. Instead there is more[0]"),
        ((GRID,), 108, "f4", "grid[-2][3]", "before the beginning of grid, which has 48 bytes. Instead there is "
         "first[11]"),
        ((DYNAMIC,), 400, "i4", "more[56]", "beyond the end of more, which has 124 bytes"),
        ((DYNAMIC,), 172, "i4", "more[-1]", "before the beginning of more, which has 124 bytes. Instead there is "
         "grid[2][3]"),
        ((FIRST, DYNAMIC), 160, "u1", "more[-16]", "before the beginning of more, which has 124 bytes. Instead there "
         "is grid[2][0]"),
        ((FIRST, DYNAMIC), 130, "u1", "first[16]", "beyond the end of first, which has 64 bytes. Instead there is "
         "grid[0][0]"),
    ],
)  # fmt: skip
def test_an_address_outside_of_its_shared_variable(
    variables: tuple[Variable, ...], address: int, dtype: str, symbol: str, words: str
) -> None:
    if address < 0:
        found = names_of(*variables).shared_element(5, address, np.dtype(dtype).itemsize, 300)
    else:
        found = names_of(*variables).described(shared_site(dtype), address, b"", 300)
    assert found is not None
    others = [one.symbol for one in variables if not symbol.startswith(one.symbol)]
    also = f" (the pointer may also be one to {others[0]})" if others else ""
    assert found.words == f"{symbol}{also}, {words}"
    assert found.symbol == symbol
    is_end_of_dynamic = symbol.startswith("more") and "beyond" in words
    assert found.hint == (None if is_end_of_dynamic else ". Check the index against the size of the array")


def test_an_access_whose_variable_is_not_known_has_no_words() -> None:
    assert names_of(FIRST).described(shared_site(index=6), 128, b"", 300) is None


def test_the_last_byte_of_shared_memory_is_in_a_dynamic_variable() -> None:
    for address, there in ((299, ". Instead there is more[123]"), (300, "")):
        found = names_of(FIRST).shared_element(5, address, 1, 300)
        assert found is not None
        assert found.words.endswith(f"which has 64 bytes{there}")


@pytest.mark.parametrize(
    ("line", "file", "told"),
    [(1, "cell.cu", True), (4, "cell.cu", False), (5, "cell.cu", True), (6, "cell.cu", False), (7, "cell.cu", True),
     (8, "cell.cu", False), (9, "cell.cu", False), (0, "cell.cu", False), (-1, "cell.cu", False),
     (5, "other.cuh", False)],
)  # fmt: skip
def test_a_trap_is_explained_where_the_source_has_none(line: int, file: str, told: bool) -> None:
    """In a line of the kernel's own file that is there."""
    trap = Instruction("trap", (), (), frames=(Frame(file, line), Frame("cell.cu", 5)))
    hint = AddressNames(None, SOURCE, "cell.cu").trap_hint(trap)  # type: ignore[arg-type]
    assert hint == (
        ". The source has no trap in this line. The compiler writes one where it knows that C++ leaves the result "
        "undefined, such as an access through a null pointer" if told else ""
    )  # fmt: skip
    assert AddressNames(None, SOURCE, "cell.cu").trap_hint(Instruction("trap", (), ())) == ""  # type: ignore[arg-type]


def null_names(*origins: tuple[str, int]) -> AddressNames:
    """Names of a kernel with the parameters x, a struct of 24 bytes, and y; a pointer may have these origins."""
    sizes, offset, params = (8, 24, 8), 0, []
    for size in sizes:
        params.append((SimpleNamespace(size=size, type="b8" if size == 24 else "u64"), offset))
        offset += size
    image: Any = SimpleNamespace(params=params)
    names = AddressNames(image, "", "cell.cu", (Parameter("x", 4), Parameter("all", None), Parameter("y", 8)))
    found = frozenset(Origin(kind, "", at) for kind, at in origins)
    names.__dict__["table"] = VariableTable({}, {}, (), {5: found})
    return names


@pytest.mark.parametrize(
    ("origins", "filled", "address", "words"),
    [
        ((("parameter", 0),), (), 8, "x[2], but x is a null pointer"),
        ((("parameter", 32),), (), 2**64 - 4, "y[-1], but y is a null pointer"),
        ((("parameter", 24),), (), 4, "element 1 through a null pointer: the one at byte 16 of all"),
        ((("parameter", 8),), (), 0, "element 0 through a null pointer: the one at byte 0 of all"),
        ((("parameter", 0), ("parameter", 32)), (0,), 8, "4 bytes through a null pointer: the address is 8"),
        ((("parameter", 0),), (0,), 8, "4 bytes through a null pointer: the address is 8"),
        ((), (), 8, "4 bytes through a null pointer: the address is 8"),
    ],
)  # fmt: skip
def test_a_null_pointer_by_its_origin(
    origins: tuple[tuple[str, int], ...], filled: tuple[int, ...], address: int, words: str
) -> None:
    parameters = bytearray(40)
    for at in filled:
        parameters[at + 7] = 1
    one = Site(5, Instruction("ld", (), ()), "global", np.dtype("i4"))
    found = null_names(*origins).described(one, address, bytes(parameters), 0)
    assert found is not None
    assert found.words == words
    arguments = {"x": 0, "al": 1, "y": 2}
    named = [
        number for name, number in arguments.items() if words.startswith(f"{name}[") or words.endswith(f" {name}l")
    ]
    assert found.argument == (named[0] if named else None)
    assert found.symbol == (words.partition(",")[0] if "but" in words else None)


def test_an_address_that_is_far_from_zero_is_no_null_pointer() -> None:
    one = Site(5, Instruction("ld", (), ()), "global", np.dtype("i4"))
    addresses = (0, _NULL_BYTES - 1, _NULL_BYTES, 2**64 - _NULL_BYTES, 2**64 - _NULL_BYTES + 1, 1 << 46)
    near = [null_names().described(one, address, bytes(40), 0) is not None for address in addresses]
    assert near == [True, True, False, False, True, False]
