"""What a compiler's log says: the assembler's report on a kernel, and why a source is rejected."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from softlab.errors import CompileError

_KERNEL = re.compile(r"__global__[^;{]*?\b(?!__(?:launch_bounds|cluster_dims|maxnreg)__)(\w+)\s*\(")

#: What a line of the log means for a kernel that some other compiler or architecture takes -> what to do.
_ADVICE = (
    (
        r"device-side kernel launch|\"cuda(?:DeviceSynchronize|Stream\w+)\" is undefined",
        "A kernel that launches kernels (dynamic parallelism) does not run in softlab. Launch them one after the other "
        "from Python.",
    ),
    (
        r'identifier "(__(?:shfl(?:_up|_down|_xor)?|any|all|ballot))" is undefined',
        "{0} is gone since sm_70. {0}_sync takes the mask of the lanes that take part as its first argument.",
    ),
    (
        r"Unresolved extern function '(\w+)'",
        "The function {0} has no body here: another file of the program has it. A file that includes both, "
        "the one with the function first, can be compiled.",
    ),
    (
        r'identifier "texture" is undefined|function template "tex[123]D',
        "Texture references are gone since CUDA 12. A cudaTextureObject_t as a parameter takes a softlab.Texture.",
    ),
)


def kernels_of(source: str) -> list[str]:
    """The names of the ``__global__`` functions in a source, each once."""
    return list(dict.fromkeys(_KERNEL.findall(source)))


def no_kernel(name: str, file: str, source: str, log: str, compiler: str = "clang") -> CompileError:
    """The error of a source without the kernel that is asked for. ``log``: what the compiler says about it."""
    listed = ", ".join(kernels_of(source)) or "no kernel at all"
    return CompileError(
        f"{file} has no kernel {name!r}; it has {listed}. Give the name of a __global__ function, or of an "
        f"instantiation of a template such as 'copy<float, 4>'. {compiler} says:\n{log}",
        log=log,
    )


def rejection(
    name: str, file: str, sources: Mapping[str, str], log: str, error: Exception, compiler: str = "NVRTC"
) -> CompileError:
    """The log, and beneath it each source line that it speaks of, with its number and neighbours.

    ``sources``: the texts by file name; ``file`` is the one with the kernel ``name``.
    """
    log = log.strip("\0 \n")
    if "__nv_name_map" in log and not re.search(r"^(?!__nv_name_map).*\berror\b.*:", log, re.MULTILINE):
        return no_kernel(name, file, sources[file], log, compiler)
    shown = [_excerpt(text, where, log) for where, text in sources.items()]
    message = f"{compiler} cannot compile kernel {name!r} of {file}:\n{log or error}"
    return CompileError("\n\n".join([message, *filter(None, shown), *_advice(log)]), log=log)


def _advice(log: str) -> Iterator[str]:
    """A sentence for each kind of error that has a known way out."""
    for pattern, sentence in _ADVICE:
        found = re.search(pattern, log)
        if found:
            yield sentence.format(*found.groups())


def _excerpt(source: str, file: str, log: str) -> str:
    """The numbered lines of a source that the log speaks of ("k.cu(3): error", "at line 3 of k.cu"), or ""."""
    where = re.escape(file)
    wanted = {int(a or b) for a, b in re.findall(rf"\b{where}\((\d+)\)|at line (\d+) of {where}", log)}
    lines = source.splitlines()
    shown = sorted({k for n in wanted for k in (n - 1, n, n + 1) if 1 <= k <= len(lines)})
    numbered = [f"{'>' if n in wanted else ' '}{n:5d} | {lines[n - 1]}" for n in shown]
    return "\n".join([f"{file}:", *numbered]) if numbered else ""


def assembler_report(log: str, entry: str) -> dict[str, int]:
    """The assembler's report on one entry function in ``--ptxas-options=-v`` form."""
    section = log.partition(f"Compiling entry function '{entry}'")[2].partition("Compiling entry function")[0]

    def number(pattern: str) -> int | None:
        found = re.search(pattern, section)
        return int(found.group(1)) if found else None

    registers = number(r"Used (\d+) registers")
    if registers is None:
        raise CompileError(f"the assembler gave no resource report for {entry}:\n{log}", log=log)
    return {
        "registers": registers,
        "static_smem_bytes": number(r"(\d+) bytes smem") or 0,
        "local_bytes": number(r"(\d+) bytes stack frame") or 0,
        "spill_bytes": (number(r"(\d+) bytes spill stores") or 0) + (number(r"(\d+) bytes spill loads") or 0),
    }
