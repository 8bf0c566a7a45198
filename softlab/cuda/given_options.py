"""What a caller's options of the compiler say."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

_MACRO, _FUSING = ("-D", "--define-macro"), ("-fmad", "--fmad")
_FOR_DEBUGGER = {"-G", "--device-debug"}


def values_of(options: Sequence[str], names: tuple[str, str]) -> Iterator[str]:
    """The values of an option, given its short and its long name: ``-Ifolder``, ``--name=value``, or in two strings."""
    short, long = names
    given = iter(options)
    for option in given:
        plain = option.strip()
        if plain in names:
            yield next(given, "").strip()
        elif plain.startswith((short, f"{long}=")):
            yield plain.removeprefix(long if plain.startswith(long) else short).lstrip("= ")


def macros_in(options: Sequence[str]) -> frozenset[str]:
    """The names of the macros that the options define."""
    return frozenset(re.split(r"[=(]", value, maxsplit=1)[0].strip() for value in values_of(options, _MACRO))


def fuses_products(options: Sequence[str]) -> bool:
    """Whether the assembler may round a product and the sum behind it once.

    With ``-G`` and with ``-fmad=false`` NVRTC tells it not to. The PTX does not say so.
    """
    return _FOR_DEBUGGER.isdisjoint(map(str.strip, options)) and "false" not in values_of(options, _FUSING)
