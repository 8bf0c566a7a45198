"""Checks of the options of a kernel and of a run."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any

#: Options that name an architecture (NVRTC, "Supported Compile Options").
_ARCHITECTURE_OPTION = re.compile(r"(-arch|--gpu-architecture|-gencode|--generate-code)([ =].*)?")
#: Options that give code for the linker alone.
_NO_MACHINE_CODE = re.compile(r"--?dlink-time-opt|-dlto")


def checked_options(options: Iterable[str]) -> tuple[str, ...]:
    """The options. Refuses what the compiler would take in another sense than the caller, or not at all.

    Raises:
        TypeError: no sequence of strings. ValueError: an option that names an architecture, or gives no machine code.
    """
    if isinstance(options, str | bytes):
        raise TypeError(f"options is the string {options!r}: give a sequence of options, such as [{options!r}]")
    if not isinstance(options, Iterable):
        raise TypeError(f"options is {options!r}: give a sequence of options, such as ['-use_fast_math']")
    given = tuple(options)
    for option in given:
        if not isinstance(option, str):
            raise TypeError(f"options has {option!r}: an option is a string, such as '-use_fast_math'")
        if _ARCHITECTURE_OPTION.fullmatch(option):
            asked = re.search(r"sm_\d+[af]?$", option)
            raise ValueError(
                f"options has {option!r}: give the architecture as arch={asked[0] if asked else 'sm_80'!r}, so that "
                "the run, its counters and its limits are those of that architecture"
            )
        if _NO_MACHINE_CODE.fullmatch(option):
            raise ValueError(f"options has {option!r}, with which the compiler makes no machine code: leave it out")
    return given


#: What the arguments of a run may be that choose a way.
_MODES: dict[str, tuple[Any, ...]] = {
    "compiled": (None, "none", "hot", "all"), "check": (True, False, "collect"), "record": (True, False),
    "cooperative": (True, False),
}  # fmt: skip


def check_modes(**given: Any) -> None:
    """Refuse a mode of a run that does not exist.

    Raises:
        ValueError: one of them is none of its choices.
    """
    for name, value in given.items():
        check_choice(name, value, _MODES[name])


def check_choice(name: str, value: Any, choices: Sequence[Any]) -> None:
    """Refuse a value of the argument ``name`` that is none of the choices; the message leaves out None.

    Raises:
        ValueError: it is none of them.
    """
    if value not in choices:
        *first, last = (f'"{c}"' if isinstance(c, str) else str(c) for c in choices if c is not None)
        raise ValueError(f"{name} = {value!r}: it must be {', '.join(first)} or {last}")
