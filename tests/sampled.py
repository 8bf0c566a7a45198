"""Samples of cases: `.ci/run` runs the sample, `make test` and `make test-further` run all of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import pytest


def sampled(cases: Iterable[Any], kept: Callable[..., bool]) -> list[Any]:
    """The cases for ``pytest.mark.parametrize``, with the mark ``further`` where ``kept(case)`` is false.

    A case is a tuple of parameters, which ``kept`` gets one by one, or the only parameter.
    """
    params = []
    for case in cases:
        values = case if isinstance(case, tuple) else (case,)
        params.append(pytest.param(*values, marks=() if kept(*values) else pytest.mark.further))
    return params


def in_sample(params: Iterable[Any]) -> list[tuple[Any, ...]]:
    """The parameters of the cases that `.ci/run` runs."""
    return [param.values for param in params if not param.marks]
