"""What all compiled loops share: :func:`softlab.sass.native_loops.run`, compiled once. It calls the ``execute`` of the
loop that is run, whose address is among the numbers of the run."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from inspect import signature

from softlab.emulator.machine.native_python import callable_at, define_with, write_call
from softlab.sass import compiled, native_loops

_BITS = 64


@cache
def runner() -> Callable[..., int]:
    """:func:`softlab.sass.native_loops.run`: for an array it takes the ``id``."""
    return callable_at(compiled.function(compiled.key((), "what all loops share"), _text), "run")


def _text() -> str:
    """The module in LLVM's assembly."""
    from llvmlite import ir

    module, size = ir.Module("runner"), ir.IntType(_BITS)
    names = list(signature(native_loops.execute).parameters)
    kind = ir.FunctionType(size, [size] * len(names))
    execute = ir.Function(module, kind, "execute")
    execute.linkage = "internal"
    b = ir.IRBuilder(execute.append_basic_block("entry"))
    state = b.inttoptr(execute.args[names.index("state")], size.as_pointer())
    address = b.load(b.gep(state, [size(native_loops.EXECUTE)]))
    b.ret(b.call(b.inttoptr(address, kind.as_pointer()), execute.args))
    write_call(ir, module, define_with(ir, module, native_loops.run, {native_loops.execute: execute}))
    return str(module)
