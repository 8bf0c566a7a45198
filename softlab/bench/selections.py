"""The selected problems and peers of ``record.fast``: to be measured, or to be shown of a recording."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from types import MappingProxyType

from softlab.bench.record.fast_peers import PEERS

#: Table of a recording -> its operators: one input of 256 MiB, two of them, few rows.
TABLES = MappingProxyType(
    {
        "forward": ("softmax", "log_softmax"),
        "gradients": ("softmax_backward", "log_softmax_backward"),
        "few": ("softmax",),
    }
)
OPERATORS = (*TABLES["forward"], *TABLES["gradients"])
DTYPES = ("float32", "float16", "bfloat16", "float64")


@dataclass(frozen=True)
class Selection:
    """Names and row lengths; an empty field takes all.

    Raises:
        ValueError: an unknown name (the message lists the known ones), or a row length below 1.
    """

    tables: tuple[str, ...] = ()
    ops: tuple[str, ...] = ()
    dtypes: tuple[str, ...] = ()
    cols: tuple[int, ...] = ()
    peers: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for names, what, there in (
            (self.tables, "table", TABLES), (self.ops, "operator", OPERATORS), (self.dtypes, "dtype", DTYPES),
            (self.peers, "peer", PEERS),
        ):  # fmt: skip
            _check(names, what, tuple(there))
        for cols in self.cols:
            if cols < 1:
                raise ValueError(f"cols = {cols}: a row has at least one column")

    @classmethod
    def of(cls, tables: str = "", ops: str = "", dtypes: str = "", cols: str = "", peers: str = "") -> Selection:
        """Read from words with commas between them, as on a command line: ``Selection.of(cols="1024,50257")``."""
        return cls(_words(tables), _words(ops), _words(dtypes), _numbers(cols), _words(peers))

    def takes(self, table: str, op: str, dtype: str) -> bool:
        """Whether the problems of a table, an operator and a dtype are wanted."""
        return all(
            not wanted or name in wanted
            for wanted, name in ((self.tables, table), (self.ops, op), (self.dtypes, dtype))
        )

    def takes_peer(self, name: str) -> bool:
        """Whether a peer is wanted. A device copy always is, since all are measured by it."""
        return name == "copy" or not self.peers or name in self.peers


def _check(names: Iterable[str], what: str, there: Sequence[str]) -> None:
    for name in names:
        if name not in there:
            near = get_close_matches(name, there, 1)
            hint = f" Did you mean {near[0]!r}?" if near else ""
            raise ValueError(f"no {what} {name!r}: there are {', '.join(there)}.{hint}")


def _words(text: str) -> tuple[str, ...]:
    """The words between commas, each once."""
    return tuple(dict.fromkeys(word.strip() for word in text.split(",") if word.strip()))


def _numbers(text: str) -> tuple[int, ...]:
    try:
        return tuple(int(word) for word in _words(text))
    except ValueError:
        raise ValueError(f"cols = {text}: whole numbers with commas between them, such as 1024,50257") from None


#: Every problem and every peer.
EVERYTHING = Selection()
