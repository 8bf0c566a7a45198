"""Seconds that NumPy has taken for what may be compiled, of all processes of this machine together.

One process may execute a loop too seldom to compile it, while many processes execute it often. They add their seconds
in one file beside the compiled code. The file has a fixed number of places. Each name has one place. Where two names
have the same one, the later name takes it. Where two processes write at once, what one of them adds may be lost. A
damaged place says nothing, or a wrong number. The file decides when something is compiled, never what it computes.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from hashlib import sha256
from pathlib import Path
from struct import Struct

from softlab.emulator.machine.native import loops_folder

#: The file in the folder of compiled code, its places, and a place: a digest of the name, and seconds.
_FILE, _PLACES, _PLACE = "seconds.bin", 1 << 14, Struct("<12sf")
#: Bytes of the name's digest that choose the place.
_CHOOSING = 4
#: Seconds at most that a place may say: more is damage.
_MOST = 1e6
#: A process writes its seconds into the file when somebody first asks for them. It writes them again once they are at
#: least ``_LEAST``, and have grown by the factor ``_AGAIN`` since the last time.
_LEAST, _AGAIN = 0.0003, 2.0


class Spent:
    """Seconds for one thing: of this process, and of those before it."""

    def __init__(self) -> None:
        self._told = self._before = 0.0
        self._asked = False

    def of_all(self, taken: float, repeated: float, name: Callable[[], str]) -> float:
        """The seconds of all processes until now.

        Arguments:
            taken: of this process. repeated: these without what first executions take, since a first one also makes
                what others use again. name: of :func:`name_of`, or another digest of 16 bytes in hexadecimal.
        """
        if not self._asked or repeated >= max(_LEAST, _AGAIN * self._told):
            self._before = _add(name(), repeated - self._told) - repeated
            self._told, self._asked = repeated, True
        return max(0.0, self._before) + taken


def name_of(codes: Iterable[str], more: object) -> str:
    """What things are called: other code of softlab changes nothing in it.

    Arguments:
        codes: the instructions, as they are encoded. more: what else tells apart things with the same instructions.
    """
    return sha256("\0".join((*codes, repr(more))).encode()).hexdigest()[: 2 * (_CHOOSING + 12)]


def _opened(path: Path) -> int:
    """The file, to be read and written; a new one where there is none."""
    how = os.O_RDWR | os.O_CREAT | getattr(os, "O_BINARY", 0)  # on Windows a file is text otherwise
    try:
        return os.open(path, how, 0o666)
    except FileNotFoundError:
        path.parent.mkdir(parents=True, exist_ok=True)
        return os.open(path, how, 0o666)


def _add(name: str, seconds: float) -> float:
    """Add to the seconds of a name; all of them. Where nothing can be kept, these are all."""
    digest = bytes.fromhex(name)
    place = int.from_bytes(digest[:_CHOOSING], "little") % _PLACES * _PLACE.size
    try:
        with open(_opened(loops_folder() / _FILE), "r+b", buffering=0) as file:
            file.seek(place)
            owner, known = _PLACE.unpack(file.read(_PLACE.size).ljust(_PLACE.size, b"\0"))
            before = known if owner == digest[_CHOOSING:] and 0 < known < _MOST else 0.0
            if seconds > 0:
                file.seek(place)
                file.write(_PLACE.pack(digest[_CHOOSING:], min(before + seconds, _MOST / 2)))
            return before + seconds
    except OSError:
        pass
    return seconds
