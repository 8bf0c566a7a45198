"""Recorded results, how they were recorded, and what they say of the claims about the reference design."""

from __future__ import annotations

from collections.abc import Sequence


def main(arguments: Sequence[str] | None = None) -> int:
    """The ``softlab bench`` command (see :mod:`softlab.bench.report`)."""
    from softlab.bench import report

    return report.main(arguments)
