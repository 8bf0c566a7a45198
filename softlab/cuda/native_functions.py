"""Functions of Python as machine code: LLVM compiles a text that calls Python's C API.

llvmlite is an optional dependency. Without it there is no such function, and the caller has another one. The form of a
function is that of a built-in one ("METH_FASTCALL", Python/C API Reference Manual, "Common Object Structures"): it
takes its ``self``, the address of an array of the arguments, and their number.
"""

from __future__ import annotations

import ctypes
import importlib.util
import struct
import sys
import sysconfig
from collections.abc import Callable, Mapping, Sequence
from string import Template
from types import MappingProxyType
from typing import Any, TypeVar

#: METH_FASTCALL (Python's methodobject.h): the arguments come as an array.
_FASTCALL = 0x80


_Value = TypeVar("_Value")


def for_ever(value: _Value) -> _Value:
    """The same value, which is never freed, also not when the process ends.

    That is for what machine code, Python or NumPy keep only the address of. A list of a module is not enough: at the
    end of a process Python frees modules in any order, and reads a method once more when it frees its function.
    """
    increase: Any = ctypes.pythonapi.Py_IncRef
    ctypes.PYFUNCTYPE(None, ctypes.py_object)(address(increase))(value)
    return value


class Method(ctypes.Structure):
    """PyMethodDef. Python keeps only its address, so it is never freed, nor is the machine code, which ``engine`` owns.

    Make one by :func:`method`.
    """

    engine: Any

    _fields_ = (
        ("name", ctypes.c_char_p),
        ("function", ctypes.c_void_p),
        ("flags", ctypes.c_int),
        ("doc", ctypes.c_char_p),
    )

    def bound(self, given: Any) -> Callable[..., Any]:
        """The function with this ``self``."""
        make: Any = ctypes.pythonapi.PyCFunction_NewEx
        make = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.c_void_p, ctypes.py_object, ctypes.c_void_p)(address(make))
        return make(ctypes.addressof(self), given, None)


def method(name: str, function: int, engine: Any = None) -> Method:
    """The method of a function at an address, which ``engine`` may own."""
    made = Method(name.encode(), function, _FASTCALL, None)
    made.engine = engine
    return for_ever(made)


def compiled(text: Template, names: Sequence[str], **values: object) -> Mapping[str, Method] | None:
    """The functions of a text in LLVM's assembly; None where this machine cannot compile it.

    Arguments:
        text: ``$Py...`` stands for the address of a function of the C API, ``$none`` and ``$true`` for those of the two
            objects.
        names: of the functions. values: what else stands in the text.
    """
    if not _compiles():
        return None
    try:
        import llvmlite.binding as llvm

        llvm.initialize_native_target()
        llvm.initialize_native_asmprinter()
        machine = llvm.Target.from_default_triple().create_target_machine(opt=2)
        engine = llvm.create_mcjit_compiler(llvm.parse_assembly(_filled(text, values)), machine)
        engine.finalize_object()
    except (ImportError, OSError, RuntimeError):  # LLVM does not load here, or is too old for the text
        return None
    return MappingProxyType({name: method(name, engine.get_function_address(name), engine) for name in names})


def _compiles() -> bool:
    """CPython of 64 bits whose threads take turns: the functions borrow references from lists."""
    cpython = sys.implementation.name == "cpython" and struct.calcsize("P") == 8
    takes_turns = not sysconfig.get_config_var("Py_GIL_DISABLED")
    return cpython and takes_turns and importlib.util.find_spec("llvmlite") is not None


def _filled(text: Template, values: Mapping[str, object]) -> str:
    api = {name: address(getattr(ctypes.pythonapi, name)) for name in text.get_identifiers() if name.startswith("Py")}
    return text.substitute(
        {name: pointer(value) for name, value in (api | {"none": id(None), "true": id(True)}).items()} | dict(values)
    )


def pointer(value: int) -> str:
    """An address as LLVM's assembly has it."""
    return f"inttoptr (i64 {value} to ptr)"


def address(function: Any) -> int:
    """Where a function of a library lies that ctypes has loaded."""
    return ctypes.cast(function, ctypes.c_void_p).value or 0
