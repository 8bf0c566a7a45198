"""A kernel of a .cu file as it is: the host's part is left out, and the standard headers are there as with nvcc."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from pathlib import Path

from softlab.cuda.compile import Program, compile_program, has_header
from softlab.cuda.device_code import DeviceCode, KernelDeclaration, decode, read
from softlab.cuda.launches import deduced
from softlab.cuda.shims import STANDARD
from softlab.errors import CompileError

#: Headers that come with packages of their own.
_PACKAGES = {
    "curand_kernel.h": "the package nvidia-curand-cu12 (pip install 'softlab[curand]'; for CUDA 13 nvidia-curand)",
    "mma.h": "the package nvidia-cuda-nvcc-cu12 (pip install 'softlab[ptx]'; for CUDA 13 nvidia-cuda-crt)",
}


def read_file(path: str | os.PathLike[str], name: str | None = None, alone: bool = False) -> DeviceCode:
    """The device part of a .cu file, its kernels, and the launches in its host code.

    ``name``: the wanted kernel. What its template arguments name is kept, too. ``alone``: without the other kernels.

    Raises:
        OSError: the file cannot be read.
    """
    path = Path(path)
    return read(decode(path.read_bytes()), path, known=has_header, needed=name or "", alone=alone)


def compile_file(
    path: str | os.PathLike[str], name: str | None, *, arch: str = "sm_90", options: Sequence[str] = ()
) -> Program:
    """Compile a kernel of a .cu file. ``name``: see :func:`kernel_name`.

    Raises:
        CompileError: the kernel does not compile, with the file's other kernels and without them; the message also
            lists the includes that were not found.
        ValueError: no name, and the file has more than one kernel; or none of that name.
        OSError: the file cannot be read.
    """
    code = read_file(path, name)
    chosen = kernel_name(code, name, Path(path).name)
    try:
        return _compiled(code, chosen, path, arch, options)
    except CompileError as error:
        found = error
    # Another kernel of the file may be at fault.
    alone = read_file(path, chosen, alone=True)
    if (alone.source, alone.headers) != (code.source, code.headers):
        try:
            return _compiled(alone, chosen, path, arch, options)
        except CompileError as error:
            found = error
    raise CompileError(f"{found}{_left_out(code.missing)}", log=found.log)


def _left_out(includes: Sequence[str]) -> str:
    """What to say of includes that were not found."""
    if not includes:
        return ""
    packages = "".join(f"\n{name} comes with {_PACKAGES[name]}." for name in includes if name in _PACKAGES)
    return f"\nThese includes were not found and are left out: {', '.join(includes)}.{packages}"


def _compiled(code: DeviceCode, name: str, path: str | os.PathLike[str], arch: str, options: Sequence[str]) -> Program:
    return compile_program(
        code.source,
        name,
        arch=arch,
        options=(f"--pre-include={STANDARD}", *options),
        file=Path(path).name,
        headers=code.headers,
    )


def sibling_of(program: Program, name: str) -> Program:
    """Another kernel of a program's source, or of its PTX where that is all there is."""
    if not program.is_compiled_here:
        from softlab.kernel.ptx import ptx_program

        own = program.source == program.ptx
        source = None if own else program.source
        return ptx_program(program.ptx, name, arch=program.arch, source=source, file=program.file)
    return program.sibling(name) or compile_program(
        *(program.source, name),
        arch=program.arch,
        options=program.options,
        file=program.file,
        headers=program.headers,
    )


def kernel_name(code: DeviceCode, name: str | None, file: str) -> str:
    """What NVRTC calls the kernel.

    Arguments:
        code: the file.
        name: a kernel of it, with template arguments where it has them, as ``"copy<float, 4>"``. Namespaces may be left
            out where one kernel has that name. The template arguments may be left out where the host launches one
            instantiation alone, where the types of its arguments say them, or where all of them have defaults. None:
            the only kernel.
        file: the file's name, for messages.

    Raises:
        ValueError: it is not clear which kernel is meant; the message lists them.
    """
    listed = "".join(f"\n  line {kernel.line}: {kernel}" for kernel in code.kernels) or "\n  none"
    launched = "".join(f"\n  {launch}" for launch in code.launches)
    listing = f"Kernels of {file}:{listed}" + (f"\nLaunches in its host code:{launched}" if launched else "")
    if name is None:
        names = {kernel.name for kernel in code.kernels}
        if len(names) != 1:
            what = f"{len(names)} kernels: say which" if names else "no kernel"
            raise ValueError(f"{file} has {what}.\n{listing}")
        (name,) = names
    base, arguments = re.match(r"([^<]*)(.*)", name.strip(), re.DOTALL).groups()  # type: ignore[union-attr]
    found = [kernel for kernel in code.kernels if kernel.name == base]
    found = found or [kernel for kernel in code.kernels if kernel.name.split("::")[-1] == base.split("::")[-1]]
    if not found:
        if code.kernels:
            raise ValueError(f"{file} has no kernel {base!r}.\n{listing}")
        return name  # a kernel that a macro makes: the compiler knows
    qualified = {kernel.name for kernel in found}
    if len(qualified) > 1:
        raise ValueError(f"{file} has several kernels {base!r}: give the namespace.\n{listing}")
    kernel = found[0]
    return kernel.name + (arguments if arguments or not kernel.template else _instantiation(code, kernel, listing))


def _instantiation(code: DeviceCode, kernel: KernelDeclaration, listing: str) -> str:
    """The template arguments that the host's launches or the defaults give."""
    launches = {launch.kernel for launch in code.launches if _launches(launch.kernel, kernel.name)}
    written = {launch for launch in launches if "<" in launch}
    if len(written) == 1:
        return "<" + written.pop().partition("<")[2]
    bare = (launch for launch in code.launches if _launches(launch.kernel, kernel.name) and "<" not in launch.kernel)
    types = {found for launch in bare if (found := deduced(kernel, launch))}
    if len(types) == 1:
        return types.pop()
    if all("=" in parameter for parameter in kernel.template):
        return "<>"
    parameters = ", ".join(kernel.template)
    raise ValueError(
        f"{kernel.name} is a template <{parameters}>: give its arguments, as in {kernel.name + '<...>'!r}.\n{listing}"
    )


def _launches(launched: str, kernel: str) -> bool:
    return launched.partition("<")[0].split("::")[-1].strip() == kernel.split("::")[-1]
