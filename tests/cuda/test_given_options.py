"""Options of the compiler in one string or two, with a short or a long name."""

from __future__ import annotations

import pytest

from softlab.cuda.given_options import fuses_products, macros_in


@pytest.mark.parametrize(
    "options", [["-DN=1", "-DM"], ["-D", "N=1", "-D", "M"], ["-D N=1", "--define-macro=M"],
                ["--define-macro", "N(x)=x", "-G", "-D", "M = 2"]],
)  # fmt: skip
def test_macros_that_options_define(options: list[str]) -> None:
    assert macros_in(options) == {"N", "M"}


@pytest.mark.parametrize("options", [["-fmad=false"], ["--fmad", "false"], ["-G"], ["-DN=1", "--device-debug"]])
def test_options_that_leave_products_alone(options: list[str]) -> None:
    assert not fuses_products(options)


@pytest.mark.parametrize("options", [[], ["-fmad=true"], ["-DG"], ["-D", "fmad=false"], ["-I", "false"]])
def test_other_options_let_products_be_fused(options: list[str]) -> None:
    assert fuses_products(options)
