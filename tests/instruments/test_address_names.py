"""Bytes of array arguments as elements, and where no name is known."""

from __future__ import annotations

import pytest

from softlab.instruments.address_names import AddressNames
from softlab.instruments.source_names import Parameter

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
