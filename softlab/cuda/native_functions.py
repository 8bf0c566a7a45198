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
from typing import Any

#: METH_FASTCALL (Python's methodobject.h): the arguments come as an array.
_FASTCALL = 0x80


class Method(ctypes.Structure):
    """PyMethodDef. Python keeps only its address, so it lives as long as the process (``_ALIVE``), and so does the
    machine code, which ``engine`` owns."""

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


#: Every method. A cache is not enough: threads that miss it at the same time each have methods of their own.
_ALIVE: list[Method] = []


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
    methods = {}
    for name in names:
        methods[name] = Method(name.encode(), engine.get_function_address(name), _FASTCALL, None)
        methods[name].engine = engine
    _ALIVE.extend(methods.values())
    return MappingProxyType(methods)


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
