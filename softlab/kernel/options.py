"""Checks of the options of a kernel and of a run."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

#: Options that name an architecture (NVRTC, "Supported Compile Options").
_ARCHITECTURE_OPTION = re.compile(r"(-arch|--gpu-architecture|-gencode|--generate-code)([ =].*)?")


def check_options(options: Sequence[str]) -> None:
    """Refuse what the compiler would take in another sense than the caller."""
    if isinstance(options, str):
        raise TypeError(f"options is the string {options!r}: give a sequence of options, such as [{options!r}]")
    for option in options:
        if _ARCHITECTURE_OPTION.fullmatch(option):
            raise ValueError(
                f"options has {option!r}: give the architecture as arch='sm_80', so that the run, its counters and "
                "its limits are those of that architecture"
            )


def check_choice(name: str, value: Any, choices: Sequence[Any]) -> None:
    """Refuse a value of the argument ``name`` that is none of the choices; the message leaves out None.

    Raises:
        ValueError: it is none of them.
    """
    if value not in choices:
        *first, last = (f'"{c}"' if isinstance(c, str) else str(c) for c in choices if c is not None)
        raise ValueError(f"{name} = {value!r}: it must be {', '.join(first)} or {last}")
