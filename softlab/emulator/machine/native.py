"""Machine code for a run of pure opcodes: LLVM compiles it, and NumPy calls it as a ufunc.

llvmlite is an optional dependency. A compiled function has the form of the inner loops of NumPy's own ufuncs (NumPy C
API, "PyUFuncGenericFunction"), so NumPy broadcasts, allocates and gives scalars for scalars, as in the way without a
compiler. The ufunc is made through NumPy's C API ("PyUFunc_FromFuncAndData").
"""

from __future__ import annotations

import ctypes
import importlib.util
from base64 import b64decode, b64encode
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from hashlib import sha256
from pathlib import Path
from threading import Lock, RLock
from typing import Any, Literal

import numpy as np

from softlab.cuda.cache import read_text, write_text
from softlab.cuda.native_functions import for_ever
from softlab.emulator.machine.native_loop import Loop
from softlab.emulator.machine.operations import Operation, Turns
from softlab.errors import Error

#: A ufunc takes up to 64 operands (NumPy 2, NPY_MAXARGS).
MOST_OPERANDS = 60
#: The position of PyUFunc_FromFuncAndData in NumPy's table of functions, and PyUFunc_None.
_MAKE_UFUNC, _NO_IDENTITY = 1, -1


@cache
def available() -> bool:
    """Whether llvmlite is installed."""
    return importlib.util.find_spec("llvmlite") is not None


#: Which blocks of code are compiled: "none", "hot" ones (those that run often), "all", or "auto": hot ones where
#: llvmlite is installed.
Choice = Literal["none", "hot", "all", "auto"]
_CHOICE: ContextVar[Choice] = ContextVar("compiled_blocks", default="auto")


def compiled_blocks(choice: Choice | None = None) -> Literal["none", "hot", "all"]:
    """Which blocks a run compiles: as ``choice`` says, else as :func:`compiling` does.

    Raises:
        Error: it must compile, and llvmlite is not installed.
    """
    choice = choice or _CHOICE.get()
    if choice == "auto":
        return "hot" if available() else "none"
    if choice != "none" and not available():
        raise Error("compiling the emulator's blocks of code needs llvmlite: pip install 'softlab[fast]'")
    return choice


@contextmanager
def compiling(choice: Choice) -> Iterator[None]:
    """Within this, runs that do not say otherwise compile these blocks."""
    token = _CHOICE.set(choice)
    try:
        yield
    finally:
        _CHOICE.reset(token)


def started() -> bool:
    """Whether LLVM is loaded."""
    return _only_compiler.cache_info().currsize > 0


class NativeFunction:
    """Operations as one ufunc.

    Arguments:
        operations: each has a native form; in an order in which each follows those that it needs.
        sources, results: the variables that come in and those that go out.
        dtypes: the dtype of each variable.
        constants: the values that are known now.
        spread: the sources that differ between lanes; the others are the same for all.
        turns: how often each lane runs the operations; None for once.
        kept: whether its machine code is kept on the disk, under ``key``.
    """

    def __init__(
        self,
        operations: Sequence[Operation],
        sources: Sequence[str],
        results: Sequence[str],
        dtypes: dict[str, np.dtype],
        constants: dict[str, np.generic],
        spread: Sequence[str],
        turns: Turns | None = None,
        *,
        kept: bool = False,
    ) -> None:
        kinds = [dtypes[name] for name in (*sources, *results)]
        text = loop_text(operations, sources, results, dtypes, constants, spread, turns)
        self.key = key_of((text,)) if kept else ""
        self._make(stored_function(self.key, lambda: text) if kept else _compiler().function(text), kinds, len(sources))

    @classmethod
    def of_key(cls, key: str, kinds: Sequence[np.dtype], sources: int) -> NativeFunction | None:
        """The function whose machine code is on the disk; None where it is not there or damaged.

        Arguments:
            kinds: the dtypes of its sources and results. sources: how many of these are sources.
        """
        address = found_function(key)
        if not address:
            return None
        made = cls.__new__(cls)
        made.key = key
        made._make(address, kinds, sources)
        return made

    def _make(self, address: int, kinds: Sequence[np.dtype], sources: int) -> None:
        """The ufunc whose inner loop is at this address."""
        # NumPy only points to these. Other threads may still call the ufunc when nobody here holds it any more.
        functions, data, numbers, name = for_ever(
            (
                (ctypes.c_void_p * 1)(address),
                (ctypes.c_void_p * 1)(None),
                (ctypes.c_char * len(kinds))(*(bytes([kind.num]) for kind in kinds)),
                b"softlab",
            )
        )
        counts = sources, len(kinds) - sources
        self.ufunc: np.ufunc = _make_ufunc()(functions, data, numbers, 1, *counts, _NO_IDENTITY, name, name, 0)


def loop_text(
    operations: Sequence[Operation], sources: Sequence[str], results: Sequence[str], dtypes: dict[str, np.dtype],
    constants: dict[str, np.generic], spread: Sequence[str], turns: Turns | None = None,
) -> str:  # fmt: skip
    """The module of a :class:`NativeFunction`, in LLVM's assembly."""
    kinds = [dtypes[name] for name in (*sources, *results)]
    moving = [name in spread for name in sources] + [True] * len(results)
    return Loop(operations, tuple(sources), tuple(results), dtypes, constants, kinds, moving, turns).text()


@cache
def _make_ufunc() -> Callable[..., Any]:
    from numpy._core import _multiarray_umath  # type: ignore[attr-defined]

    pointer = ctypes.pythonapi.PyCapsule_GetPointer
    pointer.restype, pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    table = ctypes.cast(pointer(_multiarray_umath._UFUNC_API, None), ctypes.POINTER(ctypes.c_void_p))
    integer, text, address = ctypes.c_int, ctypes.c_char_p, ctypes.c_void_p
    prototype = ctypes.PYFUNCTYPE(
        ctypes.py_object, address, address, address, integer, integer, integer, integer, text, text, integer
    )
    made = table[_MAKE_UFUNC]
    assert made is not None
    return prototype(made)


class _Compiler:
    """LLVM for this machine. One thread at a time compiles."""

    def __init__(self) -> None:
        import llvmlite.binding as llvm

        llvm.initialize_native_target()
        llvm.initialize_native_asmprinter()
        self._llvm = llvm
        self._passes_for = self._machine()
        self._engine = llvm.create_mcjit_compiler(llvm.parse_assembly(""), self._machine())
        self._known: dict[str, int] = {}
        self._lock = RLock()

    def _machine(self) -> Any:
        name, features = _processor()
        target = self._llvm.Target.from_default_triple()
        return target.create_target_machine(cpu=name, features=features, opt=1)

    def function(self, text: str) -> int:
        """The address of the function ``loop`` of this module."""
        with self._lock:
            if text not in self._known:
                name = f"loop_{len(self._known)}"
                self._engine.add_module(self._optimised(text, name))
                self._known[text] = self._address(name)
            return self._known[text]

    def stored(self, key: str, text: Callable[[], str]) -> int:
        """As :meth:`function`, of the module that ``key`` stands for: its machine code is kept on the disk."""
        with self._lock:
            known = self.found(key)
            if known:
                return known
            code = self._passes_for.emit_object(self._optimised(text(), _stored_name(key)))
            write_text(_stored_path(key), b64encode(code).decode())
            return self._added(key, code)

    def found(self, key: str) -> int:
        """The address of the function that ``key`` stands for, if its machine code is on the disk; else 0."""
        name = _stored_name(key)
        with self._lock:
            if name in self._known:
                return self._known[name]
            code = read_text(_stored_path(key))
            return 0 if code is None else self._added(key, b64decode(code))

    def _added(self, key: str, code: bytes) -> int:
        name = _stored_name(key)
        self._engine.add_object_file(self._llvm.ObjectFileRef.from_data(code))
        self._known[name] = self._address(name)
        return self._known[name]

    def _optimised(self, text: str, name: str) -> Any:
        """The module, whose function is called ``name``."""
        module = self._llvm.parse_assembly(text.replace('"loop"', f'"{name}"'))
        tuning = self._llvm.create_pipeline_tuning_options(speed_level=1)
        tuning.loop_vectorization = True
        tuning.slp_vectorization = False
        passes = self._llvm.create_pass_builder(self._passes_for, tuning)
        passes.getModulePassManager().run(module, passes)
        return module

    def _address(self, name: str) -> int:
        self._engine.finalize_object()
        return self._engine.get_function_address(name)


@cache
def _processor() -> tuple[str, str]:
    """The name of this machine's processor for LLVM, and its features."""
    import llvmlite.binding as llvm

    try:
        features = llvm.get_host_cpu_features().flatten()
    except RuntimeError:  # LLVM does not know them for every processor
        features = ""
    return llvm.get_host_cpu_name(), features


def compiled_function(text: str) -> int:
    """The address of the function ``loop`` of a module in LLVM's assembly."""
    return _compiler().function(text)


def stored_function(key: str, text: Callable[[], str]) -> int:
    """The address of the function ``loop`` of a module that is compiled once for all processes.

    Arguments:
        key: of :func:`key_of`. text: gives the module in LLVM's assembly.
    """
    return _compiler().stored(key, text)


def found_function(key: str) -> int:
    """The address of the function of :func:`stored_function`, if its machine code is on the disk; else 0."""
    return _compiler().found(key)


def is_stored(key: str) -> bool:
    """Whether the machine code of such a module is on the disk."""
    return _stored_path(key).exists()


def key_of(sources: Iterable[str]) -> str:
    """A digest of what a module is made of, of how it is compiled, and of this machine's processor."""
    return sha256("\0".join((*_compiled_by(), *sources)).encode()).hexdigest()[:32]


@cache
def _compiled_by() -> tuple[str, ...]:
    """What says how modules are compiled, and for which processor."""
    import llvmlite

    return llvmlite.__version__, *_processor(), Path(__file__).read_text("utf-8")


def _stored_name(key: str) -> str:
    return f"stored_{key}"


def _stored_path(key: str) -> Path:
    return loops_folder() / f"{key}.txt"


def loops_folder() -> Path:
    """Where machine code is kept, and what belongs to it."""
    from softlab.cuda.compile import cache_folder  # NumPy's way of the emulator needs none of it

    return cache_folder() / "loops"


#: One thread makes the compiler. Each of several would have one, and all but one would be freed with their functions.
_START = Lock()


def _compiler() -> _Compiler:
    with _START:
        return _only_compiler()


@cache
def _only_compiler() -> _Compiler:
    return _Compiler()
