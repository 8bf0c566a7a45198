"""Samples of cases: `.ci/run` runs the sample, `make test` and `make test-further` run all of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable
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


def one_of(step: int, cases: Iterable[Any], group: Callable[[Any], Hashable]) -> list[Any]:
    """The cases for ``pytest.mark.parametrize``: each group's first one and every ``step``-th after it are the sample.

    A case may be a ``pytest.param`` with one value; it keeps its marks and its id.
    """
    params, seen = [], Counter[Hashable]()
    for case in cases:
        value, marks, name = (case.values[0], case.marks, case.id) if hasattr(case, "marks") else (case, (), None)
        of = group(value)
        more = () if seen[of] % step == 0 else (pytest.mark.further,)
        params.append(pytest.param(value, marks=(*marks, *more), id=name))
        seen[of] += 1
    return params


def in_sample(params: Iterable[Any]) -> list[tuple[Any, ...]]:
    """The parameters of the cases that `.ci/run` runs."""
    return [param.values for param in params if not param.marks]
