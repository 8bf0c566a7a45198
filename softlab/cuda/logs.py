"""What a compiler's log says: the assembler's report on a kernel, and why a source is rejected."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from softlab.errors import CompileError

#: The first line of what a compiler says about one thing, and (group 1) what kind of thing it is.
_DIAGNOSTIC = re.compile(
    r"^(?:.*\(\d+\): |nvrtc: |ptxas (?:application ptx input, line \d+; )?)"
    r"(?:catastrophic )?(error|warning|remark|note|info|fatal)\b.*$"
)
_COUNTED = re.compile(r"^(?:Remark: The warnings|\d+ (?:catastrophic )?errors? detected|Compilation terminated)")
#: Errors that a message shows in full.
_MOST_ERRORS = 8
_GLOBAL = re.compile(r"\b__global__\b")
#: A name that does not begin with two underscores, if there is one, and what follows it.
_BRACKET = re.compile(r"(?:\b(?!__)(\w+)\s*)?([(){;])")

#: What a line of the log means for a kernel that some other compiler or architecture takes -> what to do.
_ADVICE = (
    (
        r"device-side kernel launch|\"cuda(?:DeviceSynchronize|Stream\w+)\" is undefined",
        "A kernel that launches kernels (dynamic parallelism) runs in the emulator, where NVRTC compiles it by "
        "softlab.Kernel.from_file. Or launch the kernels one after the other from Python.",
    ),
    (
        r'identifier "(__(?:shfl(?:_up|_down|_xor)?|any|all|ballot))" is undefined',
        "{0} is gone since sm_70. {0}_sync takes the mask of the lanes that take part as its first argument.",
    ),
    (
        r'identifier "(half2?|__half2?|__(?:float|int|half)\w*2half\w*|__half2?\w*2\w+)" is undefined',
        "{0} comes with #include <cuda_fp16.h>.",
    ),
    (
        r'identifier "((?:__)?nv_bfloat16\w*|__float\w*2bfloat16\w*|__bfloat16\w*2\w+)" is undefined',
        "{0} comes with #include <cuda_bf16.h>.",
    ),
    (
        r"complete (?:object )?type.*\n.*?\b(__nv_bfloat162?)\b",
        "{0} comes with #include <cuda_bf16.h>.",
    ),
    (
        r"name must be a namespace name\n.*\b(cooperative_groups)\b",
        "The namespace {0} comes with #include <cooperative_groups.h>.",
    ),
    (
        r"Unresolved extern function '(\w+)'",
        "The function {0} has no body here: another file of the program has it. softlab.Kernel.from_file(..., "
        "files=[...]) and --files take that file.",
    ),
    (
        r'(?:could not|cannot) open source file "crt/',
        "mma.h needs the headers of nvcc: pip install 'softlab[ptx]' (the package nvidia-cuda-nvcc-cu12; for CUDA 13 "
        "nvidia-cuda-crt).",
    ),
    (
        r'(?:could not|cannot) open source file "(curand\w*\.h)"',
        "{0} comes with pip install 'softlab[curand]' (the package nvidia-curand-cu12; for CUDA 13 nvidia-curand).",
    ),
    (
        r"ptxas.*'(tcgen05[\w.]*)'",
        "{0} is an instruction of Blackwell GPUs (sm_100a). The emulator has those of sm_90a and older.",
    ),
    (
        r"uses too much (shared) data",
        "Variables in {0} memory whose size the source says have at most 48 KiB per block. Declare an array as "
        "extern __shared__ and give its bytes with the launch (smem=).",
    ),
    (
        r'identifier "texture" is undefined|function template "tex[123]D',
        "Texture references are gone since CUDA 12. A cudaTextureObject_t as a parameter takes a softlab.Texture, and "
        "softlab.Kernel.from_file takes a reference that the file declares.",
    ),
)


#: What the assembler says of one, and where PTX declares a function of C++; those of CUDA have names of C.
_LACKING = re.compile(r"(?:Unresolved extern|Cannot take address of) function")
_EXTERN = re.compile(r"^\.extern\s+\.func\s+(?:\([^()]*\)\s*)?(_Z\w+)", re.MULTILINE)


def kernels_of(source: str) -> list[str]:
    """The names of the ``__global__`` functions in a source, each once."""
    names = (_declared(source, begin.end()) for begin in _GLOBAL.finditer(source))
    return list(dict.fromkeys(name for name in names if name))


def _declared(source: str, start: int) -> str:
    """The function whose declaration goes on at ``start``: the last name before brackets. Macros have brackets, too."""
    name, depth = "", 0
    for bracket in _BRACKET.finditer(source, start):
        if bracket[2] == "(":
            name = bracket[1] or name if depth == 0 else name
            depth += 1
        elif bracket[2] == ")":
            depth -= 1
        elif depth == 0:
            break
    return name


def no_kernel(name: str, file: str, source: str, log: str, compiler: str = "clang") -> CompileError:
    """The error of a source without the kernel that is asked for. ``log``: what the compiler says about it."""
    known, base = kernels_of(source), name.partition("<")[0].strip()
    listed = ", ".join(known) or "no kernel at all"
    said = f"{file} has no kernel {name!r}; it has {listed}. Give the name of a __global__ function, or of an "
    said += "instantiation of a template such as 'copy<float, 4>'"
    if base in known and "<" in name:
        said = f"{file} has the kernel {base}, but no {name!r}: give arguments that its template takes"
    elif base in known:
        said = f"{file} has the kernel {base} as a template: give its arguments, as in 'copy<float, 4>'"
    return CompileError("\n\n".join([f"{said}. {compiler} says:\n{log}", *_advice(log)]), log=log)


def rejection(
    name: str, file: str, sources: Mapping[str, str], log: str, error: Exception, compiler: str = "NVRTC"
) -> CompileError:
    """The log, and beneath it each source line that it speaks of, with its number and neighbours.

    ``sources``: the texts by file name; ``file`` is the one with the kernel ``name``.
    """
    log = log.replace("\0", "\n").strip()  # the compiler's and the assembler's texts end with a NUL each
    if "__nv_name_map" in log and not re.search(r"^(?!__nv_name_map).*\berror\b.*:", log, re.MULTILINE):
        return no_kernel(name, file, sources[file], log, compiler)
    said = _errors(log) or log
    shown = [_excerpt(text, where, said) for where, text in sources.items()]
    message = f"{compiler} cannot compile kernel {name!r} of {file}:\n{said or error}"
    return CompileError("\n\n".join([message, *filter(None, shown), *_advice(log)]), log=log)


def lacks_functions(log: str) -> bool:
    """Whether the assembler names a function that nothing defines: the first one that it meets."""
    return bool(_LACKING.search(log))


def with_unresolved(log: str, ptx: str) -> str:
    """Such a log, which names every function of C++ that the ``ptx`` declares and does not define."""
    said = "Unresolved extern function '{}'"
    named = (f"ptxas fatal   : {said.format(name)}" for name in _EXTERN.findall(ptx) if f"'{name}'" not in log)
    return "\n".join([log.strip("\0 \n"), *named])


def _errors(log: str) -> str:
    """The errors of a log, with the notes on them; of many, the first ones and how many there are."""
    parts: list[tuple[str, list[str]]] = []
    count = ""
    for line in log.splitlines():
        start, counted = _DIAGNOSTIC.match(line), _COUNTED.match(line)
        if start and start[1] != "note":
            parts.append((start[1], [line]))
        elif counted:
            parts.append(("counted", []))
            count = line if "detected" in line else count
        elif parts:
            parts[-1][1].append(line)
    errors = ["\n".join(lines).rstrip() for kind, lines in parts if kind in ("error", "fatal")]
    further = len(errors) - _MOST_ERRORS
    said = [*errors[:_MOST_ERRORS], f"... and {further} more" if further > 0 else "", count if errors else ""]
    return "\n".join(filter(None, said))


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
