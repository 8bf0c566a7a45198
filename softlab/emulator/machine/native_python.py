"""Functions of numbers over arrays, written in Python and compiled by LLVM.

Instruments look at each lane of each access. NumPy takes dozens of calls for that, and for few lanes the calls are most
of the time. A loop over the lanes says the same in a few lines. This module compiles such loops where llvmlite is
installed; without it the NumPy form of the instrument does the work.

A function has parameters ``int`` and arrays (:data:`Int64s` and the other names of :data:`_INTEGERS`), a helper also
``float``. It has variables that are whole numbers of 64 bits or floats: what is first assigned to one says which.
There are ``for ... in range``, ``while``, ``if``, ``return``, subscripts, and ``in`` with a tuple. It may call other
such functions, ``min``, ``max``, ``ceil`` and ``exp``, and read numbers of its module. ``//`` and ``%`` are for whole
numbers that are not negative. The same function runs in Python with NumPy arrays, so that a test can compare the two.
"""

from __future__ import annotations

import ast
import ctypes
import inspect
import sys
import textwrap
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache, cached_property, reduce
from numbers import Number
from pathlib import Path
from types import FunctionType
from typing import Any, TypeAlias, TypeVar

import numpy as np

from softlab.cuda import native_functions
from softlab.emulator.machine.native import is_stored, key_of, started, stored_function
from softlab.emulator.machine.spent import Spent

Floats: TypeAlias = np.ndarray
Int64s: TypeAlias = np.ndarray
Int32s: TypeAlias = np.ndarray
UInt32s: TypeAlias = np.ndarray
Int16s: TypeAlias = np.ndarray
Bytes: TypeAlias = np.ndarray
#: The name of an array's type in a signature -> (bits of an item, whether it has a sign). ``Floats`` are doubles.
_INTEGERS = {
    "Int64s": (64, True),
    "Int32s": (32, True),
    "UInt32s": (32, False),
    "Int16s": (16, True),
    "Bytes": (8, False),
}
_BITS = 64
#: How often a function is asked for, in all processes together, before it is compiled: NumPy takes about 100
#: microseconds each time. How often all functions of this process are before LLVM is started.
_CALLS, _START_CALLS, _CALL = 1000, 300, 1e-4
#: The same where the machine code is on the disk: finding and reading it takes about 0.6 milliseconds.
_STORED_CALLS = 4
#: This module is a part of what machine code is made of.
_OWN_TEXT = Path(__file__).read_text("utf-8")
#: Helpers that are called, where others are written into their callers.
_OUT_OF_LINE: set[Any] = set()
_Helper = TypeVar("_Helper", bound=Callable[..., int])
#: The same of floats.
_FLOAT_OPERATORS = {ast.Add: "fadd", ast.Sub: "fsub", ast.Mult: "fmul", ast.Div: "fdiv"}
_OPERATORS = {
    ast.Add: "add", ast.Sub: "sub", ast.Mult: "mul", ast.FloorDiv: "sdiv", ast.Mod: "srem", ast.BitAnd: "and_",
    ast.BitOr: "or_", ast.BitXor: "xor", ast.LShift: "shl", ast.RShift: "ashr",
}  # fmt: skip
_COMPARISONS = {ast.Eq: "==", ast.NotEq: "!=", ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">="}


def out_of_line(function: _Helper) -> _Helper:
    """Mark a helper that is long or called from many places: it is compiled once, not written into each caller."""
    _OUT_OF_LINE.add(function)
    return function


class CompiledFunction:
    """A function of this kind. It is compiled at the first call, which takes some 100 milliseconds. Its machine code is
    kept on the disk for later processes."""

    _asked_of_all = 0.0

    def __init__(self, function: Callable[..., int]) -> None:
        assert isinstance(function, FunctionType)
        self.function = function
        self._asked, self._spent = 0.0, Spent()
        self._is_ready = False

    def ready(self, compiled: str, work: float = 1.0) -> bool:
        """Whether to use it in a run that compiles "none", "hot" or "all" blocks.

        In a "hot" one NumPy does the work at first: for about as long as compiling takes, with LLVM's start, in this
        process and those before it (:mod:`softlab.emulator.machine.spent`). ``work``: what is asked for now, in units
        of 100 microseconds without the compiler.
        """
        if compiled == "none" or not arrays_are_as_known():
            return False
        if compiled == "all" or self._is_ready:
            return True
        self._asked += work
        CompiledFunction._asked_of_all += work
        if started() or CompiledFunction._asked_of_all > _START_CALLS:
            self._is_ready = self._asked > _CALLS or (self._asked > _STORED_CALLS and self._pays)
        return self._is_ready

    @property
    def _pays(self) -> bool:
        """Whether it is on the disk, or this process and those before it have asked often enough."""
        if self._stored:
            return True
        taken = _CALL * self._asked
        return self._spent.of_all(taken, taken, lambda: self._key) > _CALL * _CALLS

    @cached_property
    def _key(self) -> str:
        return key_of([_OWN_TEXT, sys.version, str(DATA_OFFSET), *_parts_of(self.function)])

    @cached_property
    def _stored(self) -> bool:
        return is_stored(self._key)

    @cached_property
    def call(self) -> Callable[..., int]:
        """``call(*arguments)``: numbers as they are, for an array its ``id``.

        The caller keeps the arrays alive. Their items lie without gaps and have the types of the signature.
        """
        return callable_at(stored_function(self._key, self._text), self.function.__name__)

    def _text(self) -> str:
        """The module in LLVM's assembly."""
        from llvmlite import ir

        module = ir.Module("python")
        write_call(ir, module, define_with(ir, module, self.function, {}))
        return str(module)


#: What compiled code calls of CPython, in this order: it finds their addresses in an array.
_OF_PYTHON = ("PyLong_AsLongLong", "PyLong_FromLongLong", "PyErr_Occurred", "PyErr_BadArgument")


def callable_at(address: int, name: str) -> Callable[..., int]:
    """The function at an address, of a module of :func:`write_call`. A call takes some 0.2 microseconds, one by ctypes
    2.

    ``call(*arguments)``: numbers as they are, for an array its ``id``, as for :attr:`CompiledFunction.call`.
    """
    found = [native_functions.address(getattr(ctypes.pythonapi, one)) for one in _OF_PYTHON]
    return native_functions.method(name, address).bound(np.array(found, np.int64))


def write_call(ir: Any, module: Any, inner: Any) -> None:
    """The function ``loop``, of CPython's objects: it turns the arguments into numbers for ``inner``."""
    size, count = ir.IntType(_BITS), len(inner.args)
    made = ir.Function(module, ir.FunctionType(size, (size, size.as_pointer(), size)), "loop")
    of_one, of_none = ir.FunctionType(size, (size,)), ir.FunctionType(size, ())
    functions, given, number = made.args
    begin, unlike, failed, right, done = (made.append_basic_block() for _ in range(5))
    block = ir.IRBuilder(begin)
    table = block.load(block.inttoptr(block.add(functions, size(DATA_OFFSET)), size.as_pointer().as_pointer()))

    def of_python(builder: Any, at: int, kind: Any) -> Any:
        return builder.inttoptr(builder.load(builder.gep(table, [size(at)])), kind.as_pointer())

    block.cbranch(block.icmp_signed("==", number, size(count)), right, unlike)
    block = ir.IRBuilder(unlike)
    block.call(of_python(block, 3, of_none), [])
    block.branch(failed)
    ir.IRBuilder(failed).ret(size(0))  # CPython raises what was set
    block = ir.IRBuilder(right)
    convert = of_python(block, 0, of_one)
    numbers = [block.call(convert, [block.load(block.gep(given, [size(k)]))]) for k in range(count)]
    occurred = block.call(of_python(block, 2, of_none), [])
    block.cbranch(block.icmp_signed("==", occurred, size(0)), done, failed)
    block = ir.IRBuilder(done)
    block.ret(block.call(of_python(block, 1, of_one), [block.call(inner, numbers)]))


def _parts_of(function: FunctionType) -> list[str]:
    """What Python made of a function and of all that it calls, and the numbers of their modules that they read.

    Two sources with the same of these do the same. Sources themselves would have to be parsed, which takes 5
    milliseconds for each function.
    """
    found: dict[FunctionType, list[str]] = {}
    pending = [function]
    while pending:
        one = pending.pop()
        if one in found:
            continue
        code = one.__code__
        known = [(name, one.__globals__[name]) for name in code.co_names if name in one.__globals__]
        pending += [value for _, value in known if isinstance(value, FunctionType)]
        numbers = [f"{name} {value!r}" for name, value in known if isinstance(value, Number)]
        made = one.__annotations__, code.co_argcount, code.co_varnames, code.co_names, code.co_consts, code.co_code
        found[one] = [repr(made), str(one in _OUT_OF_LINE), *numbers]
    return [text for texts in found.values() for text in texts]


#: Where an array's object has the place of its items (NumPy C API, "PyArrayObject": behind the head of the object).
DATA_OFFSET = object.__basicsize__
#: The name of the function that takes numbers, for arrays those of their objects.
_LOOP = "numbers"


@cache
def arrays_are_as_known() -> bool:
    """Whether an array's object has the place of its items where compiled code looks for it."""
    array = np.zeros(3, np.int64)[1:]
    return ctypes.c_void_p.from_address(id(array) + DATA_OFFSET).value == array.ctypes.data


def define_with(
    ir: Any, module: Any, function: Callable[..., int], known: dict[Any, Any], name: str = _LOOP
) -> Any:  # fmt: skip
    """The LLVM function of a Python function, for :func:`write_call`, or under another name for code that is written by
    hand: it takes the addresses of items for arrays.

    Arguments:
        known: of functions that it calls those that are there already.
    """
    assert isinstance(function, FunctionType)
    return _define(ir, module, function, name, known)


def _define(ir: Any, module: Any, function: FunctionType, name: str, known: dict[FunctionType, Any]) -> Any:
    """The LLVM function of a Python function and of all that it calls."""
    if function not in known:
        tree = ast.parse(textwrap.dedent(inspect.getsource(function))).body[0]
        assert isinstance(tree, ast.FunctionDef)
        size = ir.IntType(_BITS)
        kinds = [ir.DoubleType() if _annotated(argument) == "float" else size for argument in tree.args.args]
        known[function] = ir.Function(module, ir.FunctionType(size, kinds), module.get_unique_name(name))
        known[function].linkage = "internal"
        if name != _LOOP:
            known[function].attributes.add("noinline" if function in _OUT_OF_LINE else "alwaysinline")
        _Writer(ir, known[function], function, known).write(tree)
    return known[function]


def _annotated(argument: ast.arg) -> str:
    return ast.unparse(argument.annotation) if argument.annotation is not None else "int"


class _Writer:
    """Writes one function."""

    def __init__(self, ir: Any, made: Any, function: FunctionType, known: dict[FunctionType, Any]) -> None:
        self._ir, self._made, self._function, self._known = ir, made, function, known
        self._size = ir.IntType(_BITS)
        self._float = ir.DoubleType()
        self._builder = ir.IRBuilder(made.append_basic_block("entry"))
        self._slots: dict[str, Any] = {}
        self._arrays: dict[str, tuple[Any, bool]] = {}
        #: Of each loop around: where ``continue`` and ``break`` go.
        self._exits: list[tuple[Any, Any]] = []

    def write(self, tree: ast.FunctionDef) -> None:
        """The whole function."""
        for given, argument in zip(self._made.args, tree.args.args, strict=True):
            kind = _annotated(argument)
            if kind == "Floats" or kind in _INTEGERS:
                bits, signed = _INTEGERS.get(kind, (_BITS, True))
                kind_of_item = (self._float if kind == "Floats" else self._ir.IntType(bits)).as_pointer()
                if self._made.name == _LOOP:  # from Python: the array's object
                    at = self._builder.add(given, self._size(DATA_OFFSET))
                    pointer = self._builder.load(self._builder.inttoptr(at, kind_of_item.as_pointer()))
                else:
                    pointer = self._builder.inttoptr(given, kind_of_item)
                self._arrays[argument.arg] = pointer, signed
            else:
                self._builder.store(given, self._slot(argument.arg, given.type))
        self._body(tree.body)
        if not self._builder.block.is_terminated:
            self._builder.ret(self._size(0))

    def _slot(self, name: str, kind: Any) -> Any:
        """Where a variable is kept; its first value says of which kind it is."""
        if name not in self._slots:
            with self._builder.goto_entry_block():
                self._slots[name] = self._builder.alloca(kind)
        return self._slots[name]

    def _as(self, kind: Any, value: Any) -> Any:
        """A value converted to ``kind``: a float, or a whole number of its bits."""
        if value.type == kind:
            return value
        if kind == self._float:
            return self._builder.sitofp(value, kind)
        assert value.type != self._float, "a float is no whole number"
        return self._builder.trunc(value, kind)

    def _alike(self, left: Any, right: Any) -> tuple[Any, Any]:
        """Two values as floats, if one of them is one."""
        kind = self._float if self._float in (left.type, right.type) else self._size
        return self._as(kind, left), self._as(kind, right)

    def _operated(self, operator: ast.operator, left: Any, right: Any) -> Any:
        left, right = self._alike(left, right)
        operators = _FLOAT_OPERATORS if left.type == self._float else _OPERATORS
        return getattr(self._builder, operators[type(operator)])(left, right)

    def _compared(self, how: str, left: Any, right: Any) -> Any:
        left, right = self._alike(left, right)
        compare = self._builder.fcmp_ordered if left.type == self._float else self._builder.icmp_signed
        return compare(how, left, right)

    # Statements

    def _body(self, statements: Sequence[ast.stmt]) -> None:
        for statement in statements:
            getattr(self, f"_{type(statement).__name__.lower()}")(statement)
            if self._builder.block.is_terminated:
                return

    def _expr(self, statement: ast.Expr) -> None:
        if not isinstance(statement.value, ast.Constant):
            self._value(statement.value)

    def _assign(self, statement: ast.Assign) -> None:
        (target,) = statement.targets
        if isinstance(target, ast.Tuple):
            assert isinstance(statement.value, ast.Tuple)
            values = [self._value(value) for value in statement.value.elts]
            for one, value in zip(target.elts, values, strict=True):
                self._store(one, value)
            return
        self._store(target, self._value(statement.value))

    def _augassign(self, statement: ast.AugAssign) -> None:
        before, value = self._value(statement.target), self._value(statement.value)
        self._store(statement.target, self._operated(statement.op, before, value))

    def _store(self, target: ast.expr, value: Any) -> None:
        if isinstance(target, ast.Name):
            slot = self._slot(target.id, value.type)
            self._builder.store(self._as(slot.type.pointee, value), slot)
            return
        assert isinstance(target, ast.Subscript)
        cell, _ = self._cell(target)
        self._builder.store(self._as(cell.type.pointee, value), cell)

    def _return(self, statement: ast.Return) -> None:
        assert statement.value is not None
        self._builder.ret(self._value(statement.value))

    def _continue(self, statement: ast.Continue) -> None:
        self._builder.branch(self._exits[-1][0])

    def _break(self, statement: ast.Break) -> None:
        self._builder.branch(self._exits[-1][1])

    def _if(self, statement: ast.If) -> None:
        holds, otherwise, after = (self._made.append_basic_block(n) for n in ("then", "else", "after"))
        self._builder.cbranch(self._truth(statement.test), holds, otherwise)
        for block, body in ((holds, statement.body), (otherwise, statement.orelse)):
            self._builder.position_at_end(block)
            self._body(body)
            if not self._builder.block.is_terminated:
                self._builder.branch(after)
        self._builder.position_at_end(after)

    def _while(self, statement: ast.While) -> None:
        with self._loop() as (body, end):
            self._builder.cbranch(self._truth(statement.test), body, end)
            self._builder.position_at_end(body)
            self._body(statement.body)

    @contextmanager
    def _loop(self, step: Callable[[], None] = lambda: None) -> Iterator[tuple[Any, Any]]:
        """A loop: within, the test ends its block and the body is written. ``step`` comes before the next test."""
        test, body, following, end = (self._made.append_basic_block(n) for n in ("test", "body", "next", "end"))
        self._builder.branch(test)
        self._builder.position_at_end(test)
        self._exits.append((following, end))
        yield body, end
        self._exits.pop()
        if not self._builder.block.is_terminated:
            self._builder.branch(following)
        self._builder.position_at_end(following)
        step()
        self._builder.branch(test)
        self._builder.position_at_end(end)

    def _for(self, statement: ast.For) -> None:
        call, target = statement.iter, statement.target
        assert isinstance(call, ast.Call)
        assert isinstance(target, ast.Name)
        assert ast.unparse(call.func) == "range"
        values = [self._value(argument) for argument in call.args]
        first, last = (self._size(0), values[0]) if len(values) == 1 else values[:2]
        by = ast.literal_eval(call.args[2]) if len(values) == 3 else 1
        counter = self._slot(f"{target.id} {call.lineno}", self._size)
        self._builder.store(first, counter)

        def step() -> None:
            self._builder.store(self._builder.add(self._builder.load(counter), self._size(by)), counter)

        with self._loop(step) as (body, end):
            now = self._builder.load(counter)
            self._builder.cbranch(self._builder.icmp_signed("<" if by > 0 else ">", now, last), body, end)
            self._builder.position_at_end(body)
            self._builder.store(now, self._slot(target.id, self._size))
            self._body(statement.body)

    # Expressions

    def _truth(self, node: ast.expr) -> Any:
        """A condition, as one bit. The right side of ``and`` and ``or`` is evaluated only where it counts."""
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            return self._builder.not_(self._truth(node.operand))
        if isinstance(node, ast.Compare):
            left, right = self._value(node.left), node.comparators[0]
            if isinstance(node.ops[0], ast.In):
                assert isinstance(right, ast.Tuple)
                found = [self._compared("==", left, self._value(one)) for one in right.elts]
                return reduce(self._builder.or_, found)
            return self._compared(_COMPARISONS[type(node.ops[0])], left, self._value(right))
        if not isinstance(node, ast.BoolOp):
            return self._builder.icmp_signed("!=", self._value(node), self._size(0))
        after = self._made.append_basic_block("known")
        found = []
        for number, value in enumerate(node.values):
            truth = self._truth(value)
            found.append((truth, self._builder.block))
            if number == len(node.values) - 1:
                self._builder.branch(after)
                continue
            following = self._made.append_basic_block("ask")
            ways = (following, after) if isinstance(node.op, ast.And) else (after, following)
            self._builder.cbranch(truth, *ways)
            self._builder.position_at_end(following)
        self._builder.position_at_end(after)
        joined = self._builder.phi(self._ir.IntType(1))
        for truth, block in found:
            joined.add_incoming(truth, block)
        return joined

    def _value(self, node: ast.expr) -> Any:
        if isinstance(node, ast.Constant):
            assert isinstance(node.value, int | float)
            return self._number(node.value)
        if isinstance(node, ast.Name):
            if node.id in self._slots:
                return self._builder.load(self._slots[node.id])
            return self._number(self._function.__globals__[node.id])
        if isinstance(node, ast.BinOp):
            return self._operated(node.op, self._value(node.left), self._value(node.right))
        if isinstance(node, ast.UnaryOp) and not isinstance(node.op, ast.Not):
            value = self._value(node.operand)
            if not isinstance(node.op, ast.USub):
                return self._builder.not_(value)
            return self._builder.fneg(value) if value.type == self._float else self._builder.neg(value)
        if isinstance(node, ast.Subscript):
            cell, signed = self._cell(node)
            found = self._builder.load(cell)
            if found.type in (self._size, self._float):
                return found
            return (self._builder.sext if signed else self._builder.zext)(found, self._size)
        if isinstance(node, ast.IfExp):
            both = self._alike(self._value(node.body), self._value(node.orelse))
            return self._builder.select(self._truth(node.test), *both)
        if isinstance(node, ast.Call):
            return self._call(node)
        return self._builder.zext(self._truth(node), self._size)

    def _number(self, value: float) -> Any:
        return self._float(value) if isinstance(value, float) else self._size(int(value))

    def _cell(self, node: ast.Subscript) -> tuple[Any, bool]:
        assert isinstance(node.value, ast.Name)
        pointer, signed = self._arrays[node.value.id]
        return self._builder.gep(pointer, [self._value(node.slice)]), signed

    def _call(self, node: ast.Call) -> Any:
        name = ast.unparse(node.func)
        if name in ("min", "max"):
            left, right = self._alike(*(self._value(argument) for argument in node.args))
            return self._builder.select(self._compared("<" if name == "min" else ">", left, right), left, right)
        if name in ("ceil", "exp"):
            (value,) = (self._value(argument) for argument in node.args)
            return self._builder.call(self._made.module.declare_intrinsic(f"llvm.{name}", [self._float]), [value])
        made = _define(self._ir, self._made.module, self._function.__globals__[name], f"f_{name}", self._known)
        given = []
        for argument, parameter in zip(node.args, made.args, strict=True):
            if isinstance(argument, ast.Name) and argument.id in self._arrays:
                given.append(self._builder.ptrtoint(self._arrays[argument.id][0], self._size))
            else:
                given.append(self._as(parameter.type, self._value(argument)))
        return self._builder.call(made, given)
