"""A ``%%cuda`` line, read: the kernel's source and name, and how to launch it."""

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

from softlab.cuda.source_files import decode
from softlab.emulator import INSTRUCTION_BUDGET
from softlab.errors import Error
from softlab.hardware.devices import Device, resolve
from softlab.kernel.limits import instruction_budget

#: The name of a cell's source in errors.
CELL = "cell.cu"
_EXAMPLE = "%%cuda --grid 4 --block 256 --args x,y,n"


class UsageError(Error):
    """A mistake in a ``%%cuda`` line, in one sentence."""


@dataclass(frozen=True)
class CudaCommand:
    """A ``%%cuda`` line, read: the kernel's ``source``, ``file`` and ``name``, and how to launch it.

    args: (expression, value) of each argument. budget: as for :meth:`softlab.Kernel.run`. estimate: whether the report
    ends with the estimated time. compare: the name of an earlier run to compare with, "" for none. step: whether the
    stepper follows it. path: the file of the source, None where a cell has it.
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
    check: bool | str
    out: str
    code: bool
    budget: int = INSTRUCTION_BUDGET
    estimate: bool = True
    compare: str = ""
    step: bool = False
    path: Path | None = None


class _LineParser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise UsageError(f"%%cuda: {message}. For example: {_EXAMPLE} (%%cuda --help lists all options)")


def argument_parser() -> argparse.ArgumentParser:
    """The options of ``%%cuda``."""
    parser = _LineParser(
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
    add("--block", nargs="+", default=["32"], help="threads per block, likewise (default: 32, one warp)")
    add("--args", nargs="+", default=[], help="the arguments: names or expressions of the notebook, between commas")
    add("--smem", nargs="+", default=["0"], help="dynamic shared memory per block in bytes (default: 0)")
    add("--device", nargs="+", help="the GPU to compile and count occupancy for, such as H200 or 'RTX 4090'")
    add("--arch", help="the architecture to compile for, such as sm_80 (default: the device's)")
    add("--option", action="append", default=[], help="an option for NVRTC such as -DN=4; may be given several times")
    add("--collect", action="store_true", help="run to the end and list all that is wrong, instead of stopping at the "
        "first fault")  # fmt: skip
    add("--no-check", dest="check", action="store_false", help="do not look for races and other faults")
    add("--budget", nargs="+", help="PTX instructions that a batch of blocks may issue before it is an infinite loop "
        f"(default: {INSTRUCTION_BUDGET})")  # fmt: skip
    add("--file", help="take the source from this file instead of the cell")
    add("--out", default="run", help="the name that the run gets in the notebook (default: run; None after a fault)")
    add("--code", action="store_true", help="also show the PTX and the machine code of each line")
    add("--step", action="store_true", help="also show the launch instruction by instruction, forwards and backwards: "
        "the registers of a warp, shared memory, and where each value comes from")  # fmt: skip
    add("--no-estimate", dest="estimate", action="store_false", help="do not estimate the time of the launch on a GPU")
    add("--compare", metavar="RUN", help="show what changed since RUN, a run that an earlier cell named with --out")
    add("--help", action="store_true", help="show this text")
    return parser


def read_command(line: str, cell: str, names: Mapping[str, Any]) -> CudaCommand:
    """Read a ``%%cuda`` line; ``cell`` is the text below it, ``names`` the notebook's variables.

    Raises:
        UsageError: an option that is not known or has no value, an expression that fails, no kernel or several.
        ValueError: an unknown device, or a budget below 1.
    """
    given = argument_parser().parse_args(_words(line))
    source, file = _source(given.file, cell)
    evaluate = _evaluator(names)
    args = evaluate("--args", " ".join(given.args))
    device = _device(" ".join(given.device) if given.device else None, [value for _, value in args])
    if not given.out.isidentifier():
        raise UsageError(f"%%cuda: --out {given.out!r} is no name that a variable can have")
    (smem,) = _integers("--smem", evaluate("--smem", " ".join(given.smem)), most=1)
    asked = given.budget or [str(INSTRUCTION_BUDGET)]
    (budget,) = _integers("--budget", evaluate("--budget", " ".join(asked)), most=1)
    return CudaCommand(
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
        check=_check(given),
        out=given.out,
        code=given.code,
        budget=instruction_budget(budget),
        estimate=given.estimate,
        compare=given.compare or "",
        step=given.step,
        path=Path(given.file) if given.file else None,
    )


def _check(given: argparse.Namespace) -> bool | str:
    """The ``check`` of :meth:`softlab.Kernel.run`."""
    if given.collect and not given.check:
        raise UsageError("%%cuda: --collect and --no-check contradict each other. Take one of the two")
    return "collect" if given.collect else bool(given.check)


def _words(line: str) -> list[str]:
    """The words of the line. ``-DN=4`` (of ``--option``) and ``-1.5,x`` start with a dash but are no options."""
    try:
        words = shlex.split(line)
    except ValueError as error:
        raise UsageError(f"%%cuda: {error} in `{line.strip()}`") from None
    found: list[str] = []
    for word in words:
        if found and found[-1] == "--option":
            found[-1] = f"--option={word}"
        else:
            # argparse reads a word with a blank in it as a value, even if it starts with a dash.
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
        return decode(Path(path).read_bytes()), Path(path).name
    except OSError as error:
        raise UsageError(f"%%cuda: --file {path!r} cannot be read: {error}") from None


def _device(name: str | None, values: Sequence[Any]) -> Device:
    """The named device, else the GPU of the arrays, else the default.

    The default does not depend on the GPU that is present, so a notebook shows the same with and without one.
    """
    if name is None and any(on_gpu(value) for value in values) and (present := Device.present()):
        return present
    return resolve(name or "H200")


def on_gpu(value: Any) -> bool:
    """Whether a value is an array on a GPU."""
    if isinstance(value, np.ndarray | np.generic | int | float | str | bytes | None):
        return False
    from softlab.cuda import exchange

    return exchange.is_cuda_array(value)


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
#: What may be between ``__global__`` and the kernel's name and has arguments of its own.
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
