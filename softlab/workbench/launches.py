"""A launch of a kernel in a .cu file, as the command line or a check describes it.

Messages name the options of the command line, such as ``--grid``.
"""

from __future__ import annotations

import ast
import operator
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from keyword import iskeyword
from math import prod
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from softlab.cuda.launches import KernelDeclaration, LaunchSuggestion
    from softlab.kernel import Kernel
    from softlab.kernel.c_types import CType
    from softlab.traces import Run

#: Functions that make what a kernel reaches through a texture or a surface, and the options that each one takes.
IMAGES = {
    "texture": ("filter", "address", "normalized", "read", "channels", "layered", "cube"),
    "surface": ("channels", "layered"),
}  # fmt: skip
#: Functions that make an array, and the names of what they take before the dtype.
MAKERS = {
    "random": ("shape",), "zeros": ("shape",), "ones": ("shape",), "arange": ("length",), "full": ("shape", "value"),
}  # fmt: skip
_OPERATORS: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.FloorDiv: operator.floordiv,
    ast.LShift: operator.lshift,
}  # fmt: skip
_MOST_BITS = 64
#: A GPU holds larger arrays; this machine may not.
_MOST_BYTES = 8 << 30
#: Blocks whose accesses are recorded.
MOST_BLOCKS = 8
#: Integers that ``random`` draws are below this: every integer type holds them.
_BELOW = 100


@dataclass(frozen=True)
class FileLaunch:
    """A launch: the kernel, its ``grid``, ``block`` and ``smem`` (bytes), and its arguments with the parameters'
    ``names``. ``said``: sentences on what was taken from the file.
    """

    kernel: Kernel
    grid: tuple[int, ...]
    block: tuple[int, ...]
    smem: int
    names: tuple[str, ...]
    args: tuple[Any, ...]
    said: tuple[str, ...]


@dataclass(frozen=True)
class Parameter:
    """A parameter of a kernel: its ``name``, its declaration as ``text``, and its type, None where it is not known.

    ``dtype``: that of its arrays, where the type does not say it. ``option``: where its value is written.
    """

    name: str
    text: str
    declared: CType | None
    dtype: Any = None
    option: str = "--args"

    @property
    def written(self) -> str:
        """The beginning of its value on the command line."""
        return f"{self.option} {self.name}"


@dataclass(frozen=True)
class LaunchRequest:
    """What is known of a launch before the file is read. Texts as on the command line; None: not given.

    file: the .cu file; kernel: its name, with template arguments where it has them; grid, block: such as "64" or "8,8";
    smem: bytes of dynamic shared memory per block; args: such as "x=random(4096), n=4096"; options: for NVRTC;
    constants: such as "c_filter=random(9)", one for each ``__constant__`` variable that gets a value; files: further
    files of the program.
    """

    file: str
    kernel: str | None = None
    grid: str | None = None
    block: str | None = None
    smem: int | None = None
    args: str = ""
    options: tuple[str, ...] = ()
    constants: tuple[str, ...] = ()
    files: tuple[str, ...] = ()


def file_launch(request: LaunchRequest, arch: str) -> FileLaunch:
    """The launch that is asked for, with the kernel compiled for ``arch``. Its messages name the command's options.

    Raises:
        ValueError: something is wrong or missing; the message says what the file has.
        CompileError: the kernel does not compile.
    """
    from softlab.cuda.launches import arguments_of
    from softlab.kernel import Kernel
    from softlab.kernel.files import read_file
    from softlab.kernel.kernel_names import kernel_name

    path = Path(request.file)
    try:
        code = read_file(path, request.kernel, options=request.options, files=request.files)
        kernel = Kernel.from_file(path, request.kernel, arch=arch, options=request.options, files=request.files)
    except OSError as error:
        raise ValueError(f"{error.filename or request.file} cannot be read: {error.strerror or error}") from None
    name = kernel_name(code, request.kernel, path.name).partition("<")[0]
    parameters = _parameters(kernel, [one for one in code.kernels if one.name == name])
    launches = [one for one in code.launches if _plain(one.kernel) == _plain(name)]
    # Another instance of a template may have another grid.
    own = [one for one in launches if arguments_of(one.kernel) == arguments_of(kernel.program.name)]
    grid, block, smem, said = _shape(request, own or launches)
    args = arguments(request.args, parameters, kernel.program.name)
    for text in request.constants:
        _set_constant(kernel, text)
    return FileLaunch(kernel, grid, block, smem, tuple(one.name for one in parameters), args, said)


def _plain(kernel: str) -> str:
    return kernel.partition("<")[0].split("::")[-1].strip()


def recorded(launch: FileLaunch, *, check: bool | str) -> Run:
    """The run of a launch. The accesses of up to ``MOST_BLOCKS`` blocks all over the grid are recorded."""
    count = prod(launch.grid)
    most = min(count, MOST_BLOCKS)
    blocks = sorted({k * (count - 1) // max(1, most - 1) for k in range(most)})
    return launch.kernel.run(launch.grid, launch.block, launch.args, launch.smem, check=check, blocks=blocks)


# The shape


def _shape(
    request: LaunchRequest, launches: Sequence[LaunchSuggestion]
) -> tuple[tuple[int, ...], tuple[int, ...], int, tuple[str, ...]]:
    given = {name: sizes(f"--{name}", text) for name in ("grid", "block") if (text := getattr(request, name))}
    asked = [name for name in ("grid", "block") if name not in given]
    smem = request.smem
    said: list[str] = []
    for name in asked:
        found: dict[tuple[int, ...], LaunchSuggestion] = {}
        for one in launches:
            if isinstance(value := getattr(one, name), tuple):
                found.setdefault(value, one)
        if len(found) != 1:
            listed = "".join(f"\n  {one}" for one in launches) or "\n  none"
            why = "does not say" if not found else "says several things about"
            raise ValueError(
                f"the host code of {request.file} {why} which {name} the kernel has: give --{name}.\n"
                f"Its launches of this kernel:{listed}"
            )
        ((size, launch),) = found.items()
        given[name] = size
        said.append(f"--{name} {','.join(map(str, size))} is that of the launch in line {launch.line} of the file.")
    if smem is None and asked:
        known = {one.smem for one in launches if isinstance(one.smem, int)}
        smem = known.pop() if len(known) == 1 else 0
        if smem:
            said.append(f"--smem {smem} is that of the launch in the file.")
        elif len(known) > 1 or any(isinstance(one.smem, str) for one in launches):
            said.append("The file does not say how much dynamic shared memory the kernel has: --smem 0 is taken.")
    return given["grid"], given["block"], smem or 0, tuple(said)


def sizes(option: str, text: str) -> tuple[int, ...]:
    """ "64" or "8,8,2" as one to three integers above 0."""
    found = re.split(r"\s*[,x]\s*|\s+", text.strip(" ()"))
    if not 1 <= len(found) <= 3 or not all(re.fullmatch(r"[0-9]{1,10}", word) and int(word) for word in found):
        raise ValueError(f"{option} {text}: one to three whole numbers above 0, as in {option} 64 or {option} 8,8")
    return tuple(map(int, found))


# The arguments


def _parameters(kernel: Kernel, declarations: Sequence[KernelDeclaration]) -> tuple[Parameter, ...]:
    from softlab.kernel.c_types import declared_types

    types = declared_types(kernel.program)
    texts = declarations[0].parameters if declarations else ()
    if texts == ("void",):
        texts = ()
    count = len(texts) if types is None else len(types)
    if len(texts) != count:  # a kernel that a macro makes: types from its mangled name, no names
        texts = tuple(one.text if one else "" for one in types or ())
        return tuple(Parameter(f"arg{n}", f"{text} arg{n}", (types or ())[n]) for n, text in enumerate(texts))
    return tuple(
        Parameter(_name(text) or f"arg{n}", text, types[n] if types is not None else None)
        for n, text in enumerate(texts)
    )


def _name(declaration: str) -> str:
    found = re.search(r"[\s*&](\w+)\s*(?:\[[^\]]*\]\s*)*$", declaration.partition("=")[0])
    return found[1] if found else ""


def arguments(text: str, parameters: Sequence[Parameter], kernel: str) -> tuple[Any, ...]:
    """The values of ``--args``, one for each parameter in its order. Nothing of the text is executed.

    Raises:
        ValueError: a value is missing, unknown, given twice or cannot be read.
    """
    given = _given(text, parameters, kernel)
    if missing := [one.name for one in parameters if one.name not in given]:
        raise ValueError(f"--args has no value for {', '.join(missing)}.\n{_help(parameters, kernel)}")
    return tuple(_value(given[one.name], one) for one in parameters)


def _set_constant(kernel: Kernel, text: str) -> None:
    """Give a ``__constant__`` variable a value, ``"c_filter=random(9)"``.

    Raises:
        ValueError: there is no such variable, or it does not take the value.
    """
    import numpy as np

    name, _, value = (part.strip() for part in text.partition("="))
    try:
        node = ast.parse(value, mode="eval").body
        dtype = np.asarray(kernel.constants[name]).dtype
        one = Parameter(name, f"the constant {name}", None, None if dtype.names else dtype, "--constant")
        kernel.constants[name] = _value(node, one)
    except SyntaxError:
        raise ValueError(f"--constant {text}: write NAME=VALUE, such as c_filter=random(9)") from None
    except (KeyError, TypeError, ValueError) as error:
        words = str(error)
        raise ValueError(words if words.startswith("--constant") else f"--constant {text}: {words}") from None


def _help(parameters: Sequence[Parameter], kernel: str) -> str:
    if not parameters:
        return f"{kernel} has no parameters"
    listed = "".join(f"\n  {one.text}" for one in parameters)
    shown = ", ".join(f"{one.name}={_example(one)}" for one in parameters)
    return f'Parameters of {kernel}:{listed}\nFor example: --args "{shown}"'


def _example(parameter: Parameter) -> str:
    from softlab.kernel.array_types import default_dtype

    declared = parameter.declared
    for kind, example in (("Texture", "texture(random((64, 64)))"), ("Surface", "surface(zeros((64, 64)))")):
        if f"cuda{kind}Object_t" in parameter.text:
            return example
    if declared is None or declared.pointers:
        if declared is not None and declared.pointers > 1:
            return "[zeros(4096), zeros(4096)]"
        if declared is not None and default_dtype(declared) is None:
            return "zeros(4096, float32)"
        return "random(4096)" if re.search(r"\bconst\b", parameter.text) else "zeros(4096)"
    if default_dtype(declared) is None:
        return "(1, 2.0)"  # a struct
    return "1.0" if declared.element in ("float", "double", "__half", "__nv_bfloat16") else "4096"


def _given(text: str, parameters: Sequence[Parameter], kernel: str) -> Mapping[str, ast.expr]:
    """Parameter -> its value, not read yet. Values without a name are for the first parameters."""
    names = [one.name for one in parameters]
    # A parameter may be called as a word of Python, such as `in`.
    renamed = {f"{name}_of_the_kernel": name for name in names if iskeyword(name)}
    readable = text
    for other, name in renamed.items():
        readable = re.sub(rf"(^|,)(\s*){name}(\s*=(?!=))", rf"\1\2{other}\3", readable)
    try:
        call = ast.parse(f"f({readable}\n)", mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        words = error.msg if isinstance(error, SyntaxError) else str(error) or "too deeply nested"
        raise ValueError(f"--args {text}: {words}.\n{_help(parameters, kernel)}") from None
    if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Name) or call.func.id != "f":
        raise ValueError(f"--args {text}: this is no list of values.\n{_help(parameters, kernel)}")
    if len(call.args) > len(names):
        raise ValueError(f"--args {text}: more values than parameters.\n{_help(parameters, kernel)}")
    given = dict(zip(names, call.args, strict=False))
    for keyword in call.keywords:
        asked = renamed.get(keyword.arg or "", keyword.arg or "")
        if asked not in names:
            raise ValueError(f"--args: the kernel has no parameter {asked!r}.\n{_help(parameters, kernel)}")
        if asked in given:
            raise ValueError(f"--args has two values for {asked}")
        given[asked] = keyword.value
    return given


def _value(node: ast.expr, parameter: Parameter) -> Any:
    if isinstance(node, ast.Call):
        is_image = isinstance(node.func, ast.Name) and node.func.id in IMAGES
        return _image(node, parameter) if is_image else _array(node, parameter)
    if isinstance(node, ast.Constant) and node.value is None:
        return None
    if isinstance(node, ast.Tuple):  # a struct, as the kernel takes it
        return tuple(_value(one, parameter) for one in node.elts)
    if isinstance(node, ast.List):  # an array of pointers
        declared = parameter.declared
        inner = replace(declared, pointers=declared.pointers - 1) if declared and declared.pointers else declared
        return [_value(one, replace(parameter, declared=inner)) for one in node.elts]
    return _number(node, parameter)


def _number(node: ast.expr, parameter: Parameter) -> int | float:
    """A number, or a sum, difference, product, quotient or shift of numbers, such as 1 << 20."""
    if isinstance(node, ast.Constant) and isinstance(node.value, int | float):
        return node.value
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return -_number(node.operand, parameter)
    if isinstance(node, ast.BinOp) and type(node.op) in _OPERATORS:
        left, right = _number(node.left, parameter), _number(node.right, parameter)
        shift = isinstance(node.op, ast.LShift)
        fits = not shift or (isinstance(left, int) and isinstance(right, int) and 0 <= right <= _MOST_BITS)
        if fits and (right or not isinstance(node.op, ast.FloorDiv)):
            return _OPERATORS[type(node.op)](left, right)
    raise ValueError(
        f"{parameter.written}={ast.unparse(node)}: give a number, None for a null pointer, the fields of a struct as "
        f"(1, 2.0), a list of arrays for an array of pointers, or an array by {', '.join(MAKERS)}, such as "
        f"{parameter.name}=random(4096)"
    )


def _image(node: ast.Call, parameter: Parameter) -> Any:
    """A texture or a surface of an array, such as ``texture(random((64, 64)), filter=point)``."""
    import numpy as np

    from softlab.cuda.textures import Surface, Texture

    kind = node.func.id  # type: ignore[attr-defined]
    written = f"{parameter.written}={ast.unparse(node)}"
    known = IMAGES[kind]
    if len(node.args) != 1 or not isinstance(node.args[0], ast.Call) or any(k.arg not in known for k in node.keywords):
        raise ValueError(f"{written}: write {kind}(array), such as {kind}(random((64, 64))), with {', '.join(known)}")
    array = _array(node.args[0], replace(parameter, declared=None, dtype=np.dtype(np.float32)))
    given = {str(k.arg): _word(k.value, written) for k in node.keywords}
    try:
        return Texture(array, **given) if kind == "texture" else Surface(array, **given)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{written}: {error}") from None


def _word(node: ast.expr, written: str) -> Any:
    """The value of an option: a number, True or False, a word with quotes or without, or several in parentheses."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Constant):
        return node.value
    if isinstance(node, ast.Tuple):
        return tuple(_word(one, written) for one in node.elts)
    raise ValueError(f"{written}: {ast.unparse(node)} is no word, no number and no True or False")


def _array(node: ast.Call, parameter: Parameter) -> Any:
    import numpy as np

    maker = node.func.id if isinstance(node.func, ast.Name) else ""
    takes = (*MAKERS.get(maker, ()), "dtype")
    written = f"{parameter.written}={ast.unparse(node)}"
    if maker not in MAKERS or node.keywords or not len(takes) - 1 <= len(node.args) <= len(takes):
        forms = ", ".join(f"{name}({', '.join(needs)}[, dtype])" for name, needs in MAKERS.items())
        raise ValueError(f"{written}: arrays are made by {forms}")
    dtype = _dtype(node.args[-1] if len(node.args) == len(takes) else None, parameter, written)
    shape = _sizes_of(node.args[0], parameter, written)
    if prod(shape) * dtype.itemsize > _MOST_BYTES:
        raise ValueError(f"{written}: an array has at most {_MOST_BYTES >> 30} GiB here")
    if maker == "arange" and len(shape) > 1:
        raise ValueError(f"{written}: arange takes one length")
    value = _number(node.args[1], parameter) if maker == "full" else int(maker == "ones")
    if dtype.kind in "iu" and not (isinstance(value, int) and np.iinfo(dtype).min <= value <= np.iinfo(dtype).max):
        raise ValueError(f"{written}: {value} is no {dtype.name}")
    try:
        if maker == "random":
            return _random(shape, dtype)
        return np.arange(shape[0]).astype(dtype) if maker == "arange" else np.full(shape, value, dtype)
    except MemoryError:
        raise ValueError(f"{written}: this machine has not enough memory for the array") from None


def _sizes_of(node: ast.expr, parameter: Parameter, written: str) -> tuple[int, ...]:
    found = [_number(one, parameter) for one in (node.elts if isinstance(node, ast.Tuple) else [node])]
    if not found or not all(isinstance(one, int) and not isinstance(one, bool) and one > 0 for one in found):
        raise ValueError(f"{written}: a shape is a whole number above 0, or several as (64, 128)")
    return tuple(int(one) for one in found)


def _dtype(node: ast.expr | None, parameter: Parameter, written: str) -> Any:
    from softlab.dtypes import ELEMENT_TYPES
    from softlab.kernel.array_types import default_dtype

    names = [*ELEMENT_TYPES, "bool", *(f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64))]
    if node is None:
        found = default_dtype(parameter.declared) if parameter.declared else parameter.dtype
        if parameter.declared and parameter.declared.pointers > 1:
            raise ValueError(
                f"{written}: the parameter is {parameter.text}, an array of pointers. Give a list of arrays, as in "
                f"{parameter.name}={_example(parameter)}"
            )
        if found is None:
            raise ValueError(
                f"{written}: the parameter is {parameter.text}, which does not say its dtype. Add one of "
                f"{', '.join(names)}, as in {parameter.name}=random(4096, float32)"
            )
        return found
    name = node.id if isinstance(node, ast.Name) else node.value if isinstance(node, ast.Constant) else ""
    if name not in names:
        raise ValueError(f"{written}: the dtype is one of {', '.join(names)}")
    return _named_dtype(str(name))


def _named_dtype(name: str) -> Any:
    import numpy as np

    from softlab.dtypes import ELEMENT_TYPES

    return ELEMENT_TYPES[name].numpy if name in ELEMENT_TYPES else np.dtype(name)


def _random(shape: tuple[int, ...], dtype: Any) -> Any:
    """Standard normal numbers, integers from 0 to 99, or booleans; the same ones each time."""
    import numpy as np

    drawn = np.random.default_rng(0)
    if dtype.kind in "iub":
        return drawn.integers(0, 2 if dtype.kind == "b" else _BELOW, shape).astype(dtype)
    return drawn.standard_normal(shape, np.float64 if dtype == np.float64 else np.float32).astype(dtype)
