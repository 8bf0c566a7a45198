"""The ``__constant__`` and ``__device__`` variables of a kernel: read and written by the names of the source."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, MutableMapping, Sequence
from functools import cached_property
from typing import Any, Protocol

import numpy as np
from typing_extensions import override

from softlab.cuda.compile import Program
from softlab.emulator.ptx.syntax import DTYPES, Variable
from softlab.kernel.encoding import Pointer, converted, encode
from softlab.kernel.layouts import Layout, Layouts, unknown
from softlab.kernel.mangled_names import qualified_name


class Residence(Protocol):
    """Memory outside the host that holds variables: a module on a GPU."""

    def read(self, symbol: str, nbytes: int) -> bytes:
        """The bytes of a variable there."""

    def write(self, symbol: str, raw: bytes) -> None:
        """Give a variable there these bytes."""

    def address(self, array: Any) -> int:
        """The address of an array that this memory's device can use.

        Raises:
            TypeError: it is an array of the host.
        """


class VariableStore:
    """The values of a module's variables, by symbol.

    The values are one, whatever executor runs: each residence gets what is newer elsewhere before a launch. A variable
    holds its initialiser until something is written. Where the initialiser has addresses, such as virtual tables, each
    executor has its own, until the host writes the variable.
    """

    def __init__(self, variables: Mapping[str, Variable]) -> None:
        self.declared = {v.name: v for v in variables.values() if v.space in ("global", "const") and v.size is not None}
        self._bytes: dict[str, np.ndarray] = {}
        self.pointers: dict[str, list[Pointer]] = {}
        self._changes: dict[str, int] = {}
        self._newest: dict[str, Residence] = {}
        self._written: set[str] = set()
        self._seen: dict[tuple[int, str], int] = {}
        self._residences: list[Residence] = []

    def reset(self) -> None:
        """Every variable holds its initialiser again."""
        for symbol in {*self._bytes, *self._changes, *self.pointers}:
            self._touched(symbol)
        self._bytes.clear()
        self.pointers.clear()
        self._written.clear()

    def add(self, variables: Mapping[str, Variable]) -> None:
        """Further variables, of another compilation of the same source."""
        self.declared = {**VariableStore(variables).declared, **self.declared}

    def _touched(self, symbol: str) -> None:
        self._changes[symbol] = self._changes.get(symbol, 0) + 1
        self._newest.pop(symbol, None)

    def data(self, symbol: str) -> np.ndarray | None:
        """The bytes of a variable on the host, to use in place; None while it holds its initialiser."""
        residence = self._newest.pop(symbol, None)
        if residence is not None:
            size = self.declared[symbol].size or 0
            self._bytes[symbol] = np.frombuffer(residence.read(symbol, size), np.uint8).copy()
        return self._bytes.get(symbol)

    def keep(self, symbol: str, content: np.ndarray) -> None:
        """The emulator has run with these bytes of a variable, which it may have changed in place."""
        self._bytes[symbol] = content
        if not self.declared[symbol].relocations:
            self._touched(symbol)

    def held(self) -> dict[str, tuple[np.ndarray, list[Pointer], bool]]:
        """What the variables hold beyond their initialisers, by symbol.

        The bytes, the pointers in them, and whether the host has written them. Addresses that an executor gave itself
        are left out.
        """
        kept = {symbol: self.data(symbol) for symbol, v in self.declared.items() if self._holds(symbol, v)}
        return {
            symbol: (data, self.pointers.get(symbol, []), symbol in self._written)
            for symbol, data in kept.items()
            if data is not None
        }

    def _holds(self, symbol: str, variable: Variable) -> bool:
        return symbol in self._written or not variable.relocations

    def hold(self, held: Mapping[str, tuple[np.ndarray, list[Pointer], bool]]) -> None:
        """Take over what another store :meth:`held`."""
        for symbol, (data, pointers, written) in held.items():
            self._bytes[symbol], self.pointers[symbol] = data.copy(), list(pointers)
            self._written |= {symbol} if written else set()
            self._touched(symbol)

    def read(self, symbol: str) -> np.ndarray:
        """A copy of the bytes."""
        found = self.data(symbol)
        return initial(self.declared[symbol]) if found is None else found.copy()

    def write(self, symbol: str, offset: int, raw: bytes, pointers: Sequence[Pointer] = ()) -> None:
        """Give a part of a variable new bytes."""
        data = self.data(symbol)
        if data is None:
            data = self._bytes[symbol] = initial(self.declared[symbol])
        data[offset : offset + len(raw)] = np.frombuffer(raw, np.uint8)
        self._written.add(symbol)
        kept = [p for p in self.pointers.get(symbol, ()) if not offset <= p[0] < offset + len(raw)]
        self.pointers[symbol] = kept + [(offset + at, array) for at, array in pointers]
        self._touched(symbol)

    def never_written(self, variables: Iterable[Variable], program: Program) -> list[str]:
        """What to say of those of the variables that are constant, have no initialiser and were never written.

        PTX does not tell an initialiser of zeros from none: the source of the ``program`` does.
        """
        unset = (v for v in variables if v.space == "const" and not any(v.data) and not v.relocations)
        names = (qualified_name(v.name) for v in unset if v.name not in self._written and not v.name.startswith(_MADE))
        found = [name for name in names if not name.startswith(_LIBRARIES)]
        given = _initialised(program) if found else set()
        own = (name for name in found if name.rpartition("::")[2] not in given)
        return [
            f"the constant variable {name} holds zeros: nothing has written it. Where the host of the program does so, "
            f"write kernel.constants[{name!r}] before the launch"
            for name in own
        ]

    def send(self, residence: Residence, symbols: Sequence[str]) -> None:
        """Bring what is newer elsewhere to a residence, before a launch there."""
        if residence not in self._residences:
            self._residences.append(residence)
        number = self._residences.index(residence)
        for symbol in symbols:
            changes = self._changes.get(symbol, 0)
            if self.declared[symbol].relocations and symbol not in self._written:
                continue
            if self._seen.get((number, symbol), 0) == changes and not self.pointers.get(symbol):
                continue
            if self._newest.get(symbol) is residence:
                continue
            raw = self.read(symbol)
            for offset, array in self.pointers.get(symbol, ()):
                raw[offset : offset + 8] = np.frombuffer(residence.address(array).to_bytes(8, "little"), np.uint8)
            residence.write(symbol, raw.tobytes())
            self._seen[number, symbol] = changes

    def launched(self, residence: Residence, symbols: Sequence[str]) -> None:
        """A kernel has run there that may have written these variables."""
        number = self._residences.index(residence)
        for symbol in symbols:
            if self.declared[symbol].relocations:
                continue
            self._touched(symbol)
            self._newest[symbol] = residence
            self._seen[number, symbol] = self._changes[symbol]


def initial(variable: Variable) -> np.ndarray:
    """The bytes of a variable's initialiser, (size,) uint8; addresses in it are 0."""
    data = np.zeros(variable.size or 0, np.uint8)
    data[: len(variable.data)] = np.frombuffer(variable.data, np.uint8)
    return data


def _initialised(program: Program) -> set[str]:
    """The names, without namespaces, of the ``__constant__`` variables that a program's texts give a value."""
    found = set[str]()
    for text in (program.source, *program.headers.values()):
        if _CONSTANT in text:
            plain = _BESIDE_CODE.sub(" ", text)
            for start in re.finditer(rf"\b{_CONSTANT}\b", plain):
                found |= {match[1] for match in _VALUED.finditer(_declaration(plain[start.end() :]))}
    return found


def _declaration(text: str) -> str:
    """A text up to the semicolon that ends its first declaration."""
    depth = 0
    for mark in re.finditer(r"[{};]", text):
        depth += {"{": 1, "}": -1}.get(mark[0], 0)
        if mark[0] == ";" and depth == 0:
            return text[: mark.start()]
    return text


_CONSTANT = "__constant__"
#: Comments, texts and characters.
_BESIDE_CODE = re.compile(r"""//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])+'""", re.DOTALL)
#: A name with a value behind it.
_VALUED = re.compile(r"\b(\w+)\s*(?:\[[^\]]*\]\s*)*[={(]")
#: Symbols that the compiler makes: strings, constant arrays, virtual tables. Namespaces of NVIDIA's headers.
_MADE = ("$", "__const", "_ZTV", "_ZTI", "_ZTS", "_ZZ__")
_LIBRARIES = ("std::", "cuda::", "cub::", "thrust::", "cooperative_groups::")


class Variables(MutableMapping[str, Any]):
    """The variables of one space, as :attr:`softlab.Kernel.constants` and :attr:`softlab.Kernel.globals` give them.

    ``variables["table"]`` is a copy that cannot be written: an array of the declared dtype and shape, or a NumPy
    scalar. A vector such as ``float4`` is an axis of its own, and a struct is a structured dtype. A pointer is the
    array that was assigned, or an address. ``variables["table"] = values`` writes all of the variable, and
    ``variables["table", :9] = values`` a part.
    """

    def __init__(self, store: VariableStore, layouts: Layouts | None, program: Program, space: str) -> None:
        self._store, self._layouts, self._program, self._space = store, layouts, program, space

    @cached_property
    def _symbols(self) -> dict[str, str]:
        """Qualified name -> symbol, of the variables of this space that the source names."""
        mine = [v.name for v in self._store.declared.values() if v.space == self._space]
        named = {qualified_name(s): s for s in mine if not s.startswith(_MADE)}
        return {name: s for name, s in named.items() if not name.startswith(_LIBRARIES)}

    @cached_property
    def _layout(self) -> dict[str, Layout]:
        found: dict[str, Layout | None] = {}
        if self._layouts is not None:
            found = self._layouts.of_expressions(list(self._symbols))
        return {name: _checked(found.get(name), self._store.declared[s]) for name, s in self._symbols.items()}

    @override
    def __iter__(self) -> Iterator[str]:
        return iter(self._symbols)

    @override
    def __len__(self) -> int:
        return len(self._symbols)

    @override
    def __repr__(self) -> str:
        return "{" + ", ".join(f"{name!r}: {layout.text}" for name, layout in self._layout.items()) + "}"

    @override
    def __getitem__(self, key: Any) -> Any:
        name, index = self._split(key)
        symbol, layout = self._symbols[name], self._layout[name]
        held = self._store.pointers.get(symbol, ())
        if held and layout.kind in ("pointer", "scalar"):
            return held[0][1]
        raw = self._store.read(symbol)
        value = _as_array(raw, layout)[index]
        if isinstance(value, np.ndarray):
            value.flags.writeable = False
        return value

    @override
    def __setitem__(self, key: Any, value: Any) -> None:
        name, index = self._split(key)
        symbol, layout = self._symbols[name], self._layout[name]
        if index == ():
            self._store.write(symbol, 0, *encode(layout, value, name))
            return
        raw = self._store.read(symbol)
        target = _as_array(raw, layout)
        if layout.has_pointers or target.dtype.names is not None:
            raise TypeError(f"{name} is {layout.text}: assign all of it at once")
        part = target[index]
        shown = f"{name} at {index[0] if len(index) == 1 else index}"
        if isinstance(value, int | float):
            value = np.full(np.shape(part), converted(value, target.dtype, shown, layout.text))
        target[index] = converted(value, np.dtype((target.dtype, np.shape(part))), shown, layout.text)
        self._store.write(symbol, 0, raw.tobytes())

    @override
    def __delitem__(self, key: Any) -> None:
        raise TypeError(
            "a variable of a kernel cannot be removed; kernel.reset() gives all of them their initial values"
        )

    def _split(self, key: Any) -> tuple[str, tuple[Any, ...]]:
        name, index = (key[0], key[1:]) if isinstance(key, tuple) and key else (key, ())
        if not isinstance(name, str):
            raise TypeError(f"a variable's name is a string, got {name!r}")
        if name in self._symbols:
            return name, index
        found = [known for known in self._symbols if known.split("::")[-1] == name.removeprefix("::").strip()]
        if name.startswith("::") and name[2:] in self._symbols:
            found = [name[2:]]
        if len(found) == 1:
            return found[0], index
        raise _UnknownVariable(self._unknown(name, found))

    def _unknown(self, name: str, found: Sequence[str]) -> str:
        mine, other = ("__constant__", "globals") if self._space == "const" else ("__device__", "constants")
        if found:
            return f"{self._program.name} has several variables {name!r}: say which, {' or '.join(found)}"
        elsewhere = [v.name for v in self._store.declared.values() if v.space != self._space]
        if name in map(qualified_name, elsewhere):
            kind = "__device__" if self._space == "const" else "__constant__"
            return f"{name!r} is a {kind} variable: use kernel.{other}[{name!r}]"
        known = ", ".join(self._symbols) or "none"
        return (
            f"the program of {self._program.name} has no {mine} variable {name!r}; it has {known}. The compiler drops "
            "a static variable that no kernel uses"
        )


class _UnknownVariable(KeyError):
    """KeyError, with its message as it is."""

    def __str__(self) -> str:
        return str(self.args[0])


def _checked(layout: Layout | None, variable: Variable) -> Layout:
    """The layout, or what the PTX says where the compiler did not say it, or another size."""
    size = variable.size or 0
    if layout is not None and layout.size == size:
        return layout
    if variable.type == "b8" or size % DTYPES[variable.type].itemsize:
        return unknown(f"{size} bytes", size)
    dtype = DTYPES[variable.type]
    scalar = Layout(variable.type, dtype.itemsize, dtype.itemsize, "scalar", dtype)
    count = size // dtype.itemsize
    return (
        scalar
        if count == 1
        else Layout(f"{variable.type}[{count}]", size, dtype.itemsize, "array", None, count, scalar)
    )


def _as_array(raw: np.ndarray, layout: Layout) -> np.ndarray:
    """The bytes as an array of the layout's dtype and shape, in place."""
    dtype, shape = layout.dtype, ()
    while dtype.subdtype is not None:
        dtype, inner = dtype.subdtype
        shape = (*shape, *inner)
    return raw.view(dtype).reshape(shape)
