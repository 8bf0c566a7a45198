"""Samples of cases: `.ci/run` runs the sample, `make test` and `make test-further` run all of them."""

from __future__ import annotations

import itertools
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


def each(step: int, cases: Iterable[Any]) -> list[Any]:
    """The cases for ``pytest.mark.parametrize``: the first one and each ``step``-th after it are the sample.

    A case is the only parameter, a tuple of parameters, or a ``pytest.param``.
    """
    return [_given(step, number, [case]) for number, case in enumerate(cases)]


def turns(step: int, *lists: Iterable[Any]) -> list[Any]:
    """The products of some lists of cases: those whose positions add up to a multiple of ``step`` are the sample.

    So cases of one list meet those of another one in turns. No list may be shorter than ``step``, but for one of them.
    """
    products = itertools.product(*(enumerate(cases) for cases in lists))
    return [_given(step, sum(n for n, _ in chosen), [case for _, case in chosen]) for chosen in products]


def _given(step: int, number: int, cases: Iterable[Any]) -> Any:
    """The parameters of some cases together, in the sample if ``step`` divides ``number``."""
    values: list[Any] = []
    marks: list[Any] = [] if number % step == 0 else [pytest.mark.further]
    name = None
    for case in cases:
        if hasattr(case, "marks"):
            values += case.values
            marks += case.marks
            name = case.id
        else:
            values += case if isinstance(case, tuple) else (case,)
    return pytest.param(*values, marks=marks, id=name)


def in_sample(params: Iterable[Any]) -> list[tuple[Any, ...]]:
    """The parameters of the cases that `.ci/run` runs."""
    return [param.values for param in params if not param.marks]
