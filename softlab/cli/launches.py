"""The options of commands that launch a kernel of a .cu file."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from softlab.workbench.launches import FileLaunch, LaunchRequest


def launch_options(parser: argparse.ArgumentParser) -> None:
    """The file, and how its kernel is launched."""
    parser.add_argument("file", help="a .cu file; its host code is left out")
    shape_options(parser)


def shape_options(parser: argparse.ArgumentParser) -> None:
    """How a kernel is launched."""
    parser.add_argument("--kernel", metavar="NAME", help="the kernel, such as 'copy<float, 4>' (default: the only one)")
    sizes = "a number, or up to three as x,y,z (default: the launch in the file, where its numbers are known)"
    parser.add_argument("--grid", metavar="N", help=f"blocks: {sizes}")
    parser.add_argument("--block", metavar="N", help=f"threads per block: {sizes}")
    parser.add_argument("--smem", metavar="BYTES", type=int, help="dynamic shared memory per block (default: 0)")
    parser.add_argument(
        "--args",
        metavar="LIST",
        help="a value for each parameter, such as 'x=random(4096), y=zeros(4096), n=4096'. random(shape), zeros(shape),"
        " ones(shape), arange(length) and full(shape, value) make arrays; a shape is a number or (rows, cols); a dtype"
        " may follow, as in random(4096, float16) (default: the parameter's type). A struct is (1, 2.0), its fields."
        " texture(random((64, 64)), filter=point) and surface(zeros((64, 64))) make texture and surface objects",
    )
    parser.add_argument(
        "--constant", action="append", default=[], metavar="NAME=VALUE",
        help="a value for a __constant__ variable or a texture reference, such as c_filter=random(9); may be given "
        "several times (default: what the file says)",
    )  # fmt: skip
    parser.add_argument(
        "--files", nargs="+", default=[], metavar="FILE",
        help="further files of the program, which define functions or variables of the device that the file declares "
        "(default: the nearest one in its checkout that defines such a name)",
    )  # fmt: skip
    parser.add_argument(
        "--option", action="append", default=[], metavar="OPTION", help="an option for NVRTC: --option=-DN=4"
    )


def asked_request(options: argparse.Namespace, file: str = "") -> LaunchRequest:
    """The launch that the options describe, of the kernel in ``file`` (default: the option's)."""
    from softlab.workbench.launches import LaunchRequest

    return LaunchRequest(
        file or options.file, options.kernel, options.grid, options.block, options.smem, options.args or "",
        tuple(options.option), tuple(options.constant), tuple(options.files),
    )  # fmt: skip


def asked_launch(options: argparse.Namespace, arch: str, file: str = "") -> FileLaunch:
    """The same, read and compiled for ``arch``.

    Raises:
        ValueError: an option is wrong or missing; the message says what the file has.
        CompileError: the kernel does not compile.
    """
    from softlab.workbench.launches import file_launch

    return file_launch(asked_request(options, file), arch)
