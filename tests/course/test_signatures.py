"""How functions are called: a star in a signature is no slash."""

from __future__ import annotations

from tests.signatures import positional_only


def test_each_parameter_may_be_given_by_its_name() -> None:
    assert positional_only("softlab/course") == []
