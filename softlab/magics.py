"""``%load_ext softlab``: ``%%cuda`` runs the CUDA kernel in a cell, with or without a GPU; ``%%exercise`` grades it."""

from __future__ import annotations

import argparse
import ast
import re
import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

import numpy as np

from softlab.devices import Device, resolve
from softlab.errors import CompileError, Error, KernelFault, UnsupportedInstruction
from softlab.kernel import Kernel
from softlab.occupancies import Occupancy, occupancy
from softlab.traces import Run
from softlab.views.reports import ArrayArgument, Report, array_argument

#: The name of a cell's source in errors.
CELL = "cell.cu"
_EXAMPLE = "%%cuda --grid 4 --block 256 --args x,y,n"


class UsageError(Error):
    """What is wrong with a ``%%cuda`` line, in one sentence."""


@dataclass(frozen=True)
class Request:
    """A ``%%cuda`` line, read: the kernel's ``source``, ``file`` and ``name``, and how to launch it.

    args: (expression, value) of each argument.
    """

    source: str
    file: str
    name: str
    grid: tuple[int, ...]
    block: tuple[int, ...]
    args: tuple[tuple[str, Any], ...]
    smem: int
    device: Device
    arch: str
    options: tuple[str, ...]
    check: bool
    out: str
    code: bool


def load_ipython_extension(ipython: Any) -> None:
    """Add ``%%cuda`` (and ``%cuda --file ...``) and ``%%exercise`` to an IPython shell."""
    from IPython.core.error import UsageError as ShellUsageError
    from IPython.display import display

    def cuda(line: str, cell: str | None = None) -> None:
        if "--help" in line.split() or "-h" in line.split():
            print(_parser().format_help())
            return
        try:
            request = read_request(line, cell or "", ipython.user_ns)
            report, run, kernel = execute(request)
        except (UsageError, ValueError, TypeError) as error:
            raise ShellUsageError(str(error)) from None
        ipython.user_ns[request.out] = run
        display(report)
        if request.code and kernel is not None and run is not None:
            display(_listing_html(kernel, run), raw=True)

    def exercise(line: str, cell: str) -> None:
        """%%exercise ID: grade the CUDA kernel in the cell as the answer to that exercise, and show what it did.

        The kernel is tried on the emulator at several sizes. The run that decided is the variable ``run``.
        """
        from softlab.course import exercise as named
        from softlab.course.kernels import WriteKernel

        try:
            asked = named(line.strip())
        except ValueError as error:
            raise ShellUsageError(f"%%exercise: {error}") from None
        if not isinstance(asked, WriteKernel):
            raise ShellUsageError(f"%%exercise: {asked.id} asks for no kernel. Call grade(...) of the exercise")
        verdict = asked.grade(cell)
        ipython.user_ns["run"] = verdict.run
        display(verdict)
        if verdict.launch is not None:
            display(execute(_request_of(cell, asked.kernel, asked.arch, verdict.launch))[0])

    cuda.__doc__ = _parser().format_help()
    ipython.register_magic_function(cuda, "line_cell", "cuda")
    ipython.register_magic_function(exercise, "cell", "exercise")


def _request_of(source: str, name: str, arch: str, launch: Any) -> Request:
    """The launch of an exercise (``softlab.course.kernels.Launch``) as a ``%%cuda`` line would have asked for it."""
    return Request(
        source=source,
        file=CELL,
        name=name,
        grid=_sizes(launch.grid),
        block=_sizes(launch.block),
        args=tuple(launch.fresh().items()),
        smem=launch.smem,
        device=Device.named(arch),
        arch=arch,
        options=(),
        check=True,
        out="run",
        code=False,
    )


def _sizes(given: int | tuple[int, ...]) -> tuple[int, ...]:
    return given if isinstance(given, tuple) else (given,)


def _listing_html(kernel: Kernel, run: Run) -> dict[str, str]:
    from softlab.instruments.listing import listing
    from softlab.views.source import source_view

    return {
        "text/html": source_view(listing(kernel, run)),
        "text/plain": f"CUDA, PTX and SASS of {kernel.program.name}",
    }


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise UsageError(f"%%cuda: {message}. For example: {_EXAMPLE} (%%cuda --help lists all options)")


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(
        prog="%%cuda",
        add_help=False,
        allow_abbrev=False,
        description="Compile a cell (or a file) of CUDA C++ with NVRTC and launch one kernel: on NumPy arrays in the "
        "emulator, on CuPy arrays on their GPU. Shows what it did, line by line.",
        epilog=f"Example: {_EXAMPLE}",
    )
    add = parser.add_argument
    add("--name", nargs="+", help="the kernel: the name of a __global__ function, or a template instantiation such as "
        "'copy<float, 4>' (default: the only one of the source)")  # fmt: skip
    add("--grid", nargs="+", default=["1"], help="blocks: a number, up to three as x,y,z, or expressions (default: 1)")
    add("--block", nargs="+", default=["32"], help="threads a block, likewise (default: 32, one warp)")
    add("--args", nargs="+", default=[], help="the arguments: names or expressions of the notebook, between commas")
    add("--smem", nargs="+", default=["0"], help="dynamic shared memory of a block in bytes (default: 0)")
    add("--device", nargs="+", help="the GPU to compile and count occupancy for, such as H200 or 'RTX 4090'")
    add("--arch", help="the architecture to compile for, such as sm_80 (default: the device's)")
    add("--option", action="append", default=[], help="an option for NVRTC such as -DN=4; may be given several times")
    add("--no-check", dest="check", action="store_false", help="do not look for races and other faults")
    add("--file", help="take the source from this file instead of the cell")
    add("--out", default="run", help="the name that the run gets in the notebook (default: run; None after a fault)")
    add("--code", action="store_true", help="show the PTX and the machine code of each line, too")
    add("--help", action="store_true", help="show this text")
    return parser


def read_request(line: str, cell: str, names: Mapping[str, Any]) -> Request:
    """Read a ``%%cuda`` line; ``cell`` is the text below it, ``names`` the notebook's variables.

    Raises:
        UsageError: an option that is not known or has no value, an expression that fails, no kernel or several.
        ValueError: an unknown device.
    """
    given = _parser().parse_args(_words(line))
    source, file = _source(given.file, cell)
    evaluate = _evaluator(names)
    args = evaluate("--args", " ".join(given.args))
    device = _device(" ".join(given.device) if given.device else None, [value for _, value in args])
    if not given.out.isidentifier():
        raise UsageError(f"%%cuda: --out {given.out!r} is no name that a variable can have")
    (smem,) = _integers("--smem", evaluate("--smem", " ".join(given.smem)), most=1)
    return Request(
        source=source,
        file=file,
        name=" ".join(given.name) if given.name else only_kernel(source, file),
        grid=_integers("--grid", evaluate("--grid", " ".join(given.grid))),
        block=_integers("--block", evaluate("--block", " ".join(given.block))),
        args=args,
        smem=smem,
        device=device,
        arch=given.arch or device.arch,
        options=tuple(given.option),
        check=given.check,
        out=given.out,
        code=given.code,
    )


def _words(line: str) -> list[str]:
    """The line as words. ``-DN=4`` (of ``--option``) and ``-1.5,x`` begin with a dash and are no options of ours."""
    try:
        words = shlex.split(line)
    except ValueError as error:
        raise UsageError(f"%%cuda: {error} in `{line.strip()}`") from None
    found: list[str] = []
    for word in words:
        if found and found[-1] == "--option":
            found[-1] = f"--option={word}"
        else:
            # argparse takes a word with a blank in it for a value, dash or not.
            found.append(f" {word}" if re.match("-[^-]", word) else word)
    return found


def _source(path: str | None, cell: str) -> tuple[str, str]:
    if path is None:
        if not cell.strip():
            raise UsageError("%%cuda: the cell has no source. Write a kernel below the first line, or give --file")
        return cell, CELL
    if cell.strip():
        raise UsageError("%%cuda: there is a source in the cell, and --file names another one. Take one of the two")
    try:
        return Path(path).read_text(), Path(path).name
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"%%cuda: --file {path!r} cannot be read: {error}") from None


def _device(name: str | None, values: Sequence[Any]) -> Device:
    """The named one; else the GPU that the arrays are on; else the default, whatever GPU there is: notebooks without a
    GPU and with one then say the same."""
    if name is None and any(_on_gpu(value) for value in values) and (present := Device.present()):
        return present
    return resolve(name or "H200")


def _on_gpu(value: Any) -> bool:
    if isinstance(value, np.ndarray | np.generic | int | float | str | bytes | None):
        return False
    from softlab import gpu

    return gpu.is_cuda_array(value)


def _evaluator(names: Mapping[str, Any]) -> Callable[[str, str], tuple[tuple[str, Any], ...]]:
    """A function (option, "x, y + 1") -> ((text, value), ...), in the notebook's names."""

    def evaluate(option: str, text: str) -> tuple[tuple[str, Any], ...]:
        if not text:
            return ()
        try:
            tree = ast.parse(f"({text}\n,)", mode="eval").body
        except SyntaxError:
            raise UsageError(f"%%cuda: {option} {text!r} is no list of Python expressions such as x,y,len(x)") from None
        elements = tree.elts if isinstance(tree, ast.Tuple) else [tree]
        if len(elements) == 1 and isinstance(elements[0], ast.Tuple):
            elements = elements[0].elts  # "(16, 16)" is as good as "16,16"
        return tuple((ast.unparse(element), value_of(option, element)) for element in elements)

    def value_of(option: str, element: ast.expr) -> Any:
        text = ast.unparse(element)
        try:
            return eval(text, dict(names))
        except NameError as error:
            raise UsageError(f"%%cuda: {option} {text}: {error}. Define it in a cell above") from None
        except Exception as error:  # whatever the learner's expression raises
            raise UsageError(f"%%cuda: {option} {text}: {type(error).__name__}: {error}") from None

    return evaluate


def _integers(option: str, values: Sequence[tuple[str, Any]], most: int = 3) -> tuple[int, ...]:
    if not 1 <= len(values) <= most:
        raise UsageError(f"%%cuda: {option} takes {'one number' if most == 1 else 'one to three numbers'}")
    for text, value in values:
        if isinstance(value, bool) or not isinstance(value, int | np.integer):
            raise UsageError(f"%%cuda: {option} {text} is {value!r}; it takes whole numbers")
    return tuple(int(value) for _, value in values)


_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/|\"(?:\\.|[^\"\\\n])*\"", re.DOTALL)
#: What may stand between ``__global__`` and the kernel's name, with arguments of its own.
_ATTRIBUTE = r"__(?:launch_bounds|cluster_dims|maxnreg)__"
_KERNEL = re.compile(
    r"(?P<template>\btemplate\s*<[^{};]*?>\s*)?(?:extern\s+\"\"\s*)?(?:static\s+|inline\s+)*__global__\b"
    rf"(?:[^;{{}}()]|\b{_ATTRIBUTE}\s*\([^)]*\))*?\b(?P<name>(?!{_ATTRIBUTE})\w+)\s*\("
)


def only_kernel(source: str, file: str = CELL) -> str:
    """The name of the only ``__global__`` function of a source.

    Raises:
        UsageError: there is none, there are several, or it is a template.
    """
    plain = _COMMENT.sub(lambda found: '""' if found.group().startswith('"') else " ", source)
    found = {kernel["name"]: kernel["template"] is not None for kernel in _KERNEL.finditer(plain)}
    if not found:
        raise UsageError(f"%%cuda: {file} has no kernel: no function is marked __global__")
    if len(found) > 1:
        raise UsageError(f"%%cuda: {file} has the kernels {', '.join(found)}. Say which one with --name")
    (name,) = found
    if found[name]:
        raise UsageError(f"%%cuda: {name} is a template. Say for which arguments with --name, such as '{name}<float>'")
    return name


def execute(request: Request) -> tuple[Report, Run | None, Kernel | None]:
    """Compile and launch. What the kernel does wrong is in the report, not raised.

    Raises:
        TypeError, ValueError: arguments that do not fit the parameters, or a launch over the device's limits.
    """
    before = [_on_host(value) for _, value in request.args]
    kernel, run, failure = None, None, None
    try:
        kernel = Kernel(request.source, request.name, arch=request.arch, options=request.options, file=request.file)
        values = tuple(value for _, value in request.args)
        run = kernel.run(request.grid, request.block, values, request.smem, check=request.check)
    except Error as error:
        failure = error
    after = [None if kernel is None else _on_host(value) for _, value in request.args]
    arrays = tuple(
        array_argument(text, old, new)
        for (text, _), old, new in zip(request.args, before, after, strict=True)
        if old is not None and new is not None
    )
    return _report(request, kernel, run, failure, arrays), run, kernel


def _on_host(value: Any) -> np.ndarray | None:
    """A copy of an array in host memory; None for what is no array."""
    if isinstance(value, np.ndarray):
        return value.copy()
    if _on_gpu(value):
        import cupy

        return cupy.asarray(value).get()
    return None


def _occupancy(request: Request, kernel: Kernel) -> Occupancy:
    return occupancy(
        request.device,
        threads=int(np.prod(request.block)),
        registers=kernel.program.registers,
        smem=kernel.program.static_smem_bytes + request.smem,
    )


def _report(
    request: Request,
    kernel: Kernel | None,
    run: Run | None,
    failure: Error | None,
    arrays: tuple[ArrayArgument, ...],
) -> Report:
    launch = (request.name, request.grid, request.block, request.arch)
    program = kernel.program if kernel else None
    return Report(
        *launch,
        source=request.source,
        file=request.file,
        executor=run.executor if run else "",
        registers=program.registers if program else None,
        spill_bytes=program.spill_bytes if program else 0,
        static_smem_bytes=program.static_smem_bytes if program else 0,
        smem_bytes=request.smem,
        occupancy=_occupancy(request, kernel) if kernel else None,
        arrays=arrays,
        counters=run.counters if run else {},
        by_line=run.by_line() if run else {},
        level=run.level if run and run.instructions else "",
        fused=_fused(run),
        state=_state(failure),
        notes=_notes(failure, request),
        message=str(failure or ""),
    )


def _fused(run: Run | None) -> tuple[str, ...]:
    """ "line 7: 4 accesses of the PTX are one of 16 bytes a lane (LDS.128)", for each in the order of the code."""
    if run is None or run.instructions is None:
        return ()
    found = []
    for access in run.fused:
        frames = run.instructions.frames[access.carrier]
        line = next((number for name, number in frames if name == run.file), None)
        where = f"line {line}: " if line else ""
        words = [word for word in access.text.split() if not word.startswith("@")]
        found.append(
            f"{where}{len(access.parts)} accesses of the PTX are one of {access.width} bytes a lane ({words[0]})"
        )
    return tuple(dict.fromkeys(found))


def _state(failure: Error | None) -> str:
    if failure is None:
        return "ran"
    if isinstance(failure, KernelFault):
        return failure.kind
    if isinstance(failure, CompileError):
        return "does not compile"
    return "unsupported instruction" if isinstance(failure, UnsupportedInstruction) else "failed"


def _notes(failure: Error | None, request: Request) -> tuple[tuple[int, str], ...]:
    """(line, sentence) of a failure, for those of its sentences that speak of a line of the source."""
    if isinstance(failure, CompileError):
        found = re.findall(rf"^{re.escape(request.file)}\((\d+)\): (.*)$", failure.log, re.MULTILINE)
        return tuple((int(line), text) for line, text in found)
    line = getattr(failure, "line", None)
    if line is None:  # a trap or a failed assertion: its sentence names the line
        named = re.search(rf"at line (\d+) of {re.escape(request.file)}", str(failure))
        return ((int(named.group(1)), str(failure)),) if named else ()
    text = _with_names(str(failure).partition("\n  at ")[0], request)
    if isinstance(failure, KernelFault):
        where = [
            f"thread {failure.thread}" if failure.thread else "",
            f"block {failure.block}" if failure.block else "",
        ]
        where.append(f"address {failure.address}" if failure.address is not None else "")
        text += f"\n({', '.join(filter(None, where))})"
    return ((line, text),)


def _with_names(text: str, request: Request) -> str:
    """A fault speaks of "argument 0": the notebook knows it as ``x``."""

    def name(found: re.Match[str]) -> str:
        number = int(found.group(1))
        return f"{request.args[number][0]} ({found.group()})" if number < len(request.args) else found.group()

    return re.sub(r"\bargument (\d+)", name, text)
