"""Runs clang: CUDA source -> PTX with line information, and its messages in the form of NVRTC's."""

from __future__ import annotations

import hashlib
import importlib.util
import os
import re
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from softlab.cuda.clang.intermediate import with_clusters, with_whole_copies
from softlab.cuda.clang.library import ARCHIVE, HEADERS, with_functions
from softlab.cuda.clang.lines import with_inlined_lines
from softlab.errors import CompileError

_SECONDS = 120
#: The file that the compiler's messages name for a kernel that is not there.
NAMES = "softlab-names"
#: Versions of PTX: what drivers of CUDA 12.0 and newer take, and the first one for architectures after sm_90.
_PTX, _NEWER_PTX = "ptx80", "ptx87"
_LAST_OLDER = 90
_INCLUDE = re.compile(r'^[ \t]*#\s*include\s*[<"]([^">]+)[">]', re.MULTILINE)
_MESSAGE = re.compile(r"^(?!\s)([^\n]*?):(\d+):\d+: (?:(fatal) )?(error|warning|note|remark): ", re.MULTILINE)
_POINTER = re.compile(r"^\.visible \.const [^\n]*\bsoftlab_entry_(\d+) = ([\w$]+);\n", re.MULTILINE)
_DECLARED = re.compile(r"^\.visible \.entry [\w$]+\s*\([^()]*\)\s*;\n", re.MULTILINE)
#: Options of NVRTC that change nothing here, and those that clang has, too.
_IGNORED = re.compile(
    r"-lineinfo|--generate-line-info|-w|--ptxas-options=.*|-?-maxrregcount=\d+|-dopt=on|-?-device-debug|-G"
)
_KEPT = re.compile(r"-[DU].+|-?-std=c\+\+\d\d|-I.+")
_FLUSH = ("-fdenormal-fp-math-f32=preserve-sign,preserve-sign", "-DSOFTLAB_FLUSH")
_TRANSLATED = {
    "use_fast_math": (*_FLUSH, "-DSOFTLAB_FAST", "-D__USE_FAST_MATH__"),
    "ftz=true": _FLUSH,
    **dict.fromkeys(("ftz=false", "fmad=true", "fmad=false"), ()),
    **{f"{what}={said}": () for what in ("prec-div", "prec-sqrt") for said in ("true", "false")},
}
#: LLVM's options: how exact divisions and roots are. 0 is approximate.
_OF_BACK_END = {
    "use_fast_math": ("-mllvm", "-nvptx-prec-divf32=0", "-mllvm", "-nvptx-prec-sqrtf32=0"),
    "prec-div=false": ("-mllvm", "-nvptx-prec-divf32=1"),
    "prec-sqrt=false": ("-mllvm", "-nvptx-prec-sqrtf32=0"),
}


@dataclass(frozen=True)
class Compiled:
    """ptx: of all kernels; symbols: what it calls the names that were asked for."""

    ptx: str
    symbols: tuple[str, ...]


@lru_cache(maxsize=1)
def find_clang() -> Path | None:
    """The program of the package ``ziglang``, which has clang; None where it is not installed."""
    found = importlib.util.find_spec("ziglang")
    for folder in found.submodule_search_locations or () if found else ():
        program = Path(folder) / ("zig.exe" if os.name == "nt" else "zig")
        if program.is_file():
            return program
    return None


def has_clang() -> bool:
    """Whether clang is installed."""
    return find_clang() is not None


@lru_cache(maxsize=1)
def clang_version() -> str:
    """clang's version, "22.1.8".

    Raises:
        CompileError: it is not installed, or cannot be run.
    """
    found = re.search(r"clang version (\S+)", _run(["--version"], "", None)[1])
    if not found:
        raise CompileError("clang (package ziglang) does not say its version")
    return found[1]


@lru_cache(maxsize=1)
def headers_digest() -> str:
    """A digest of everything of softlab's that decides what clang makes of a source."""
    files = sorted(path for path in HEADERS.rglob("*") if path.is_file())
    texts = [path.read_bytes() for path in (*files, ARCHIVE, *sorted(Path(__file__).parent.glob("*.py")))]
    return hashlib.sha256(b"\0".join(texts)).hexdigest()[:16]


def own_header(name: str) -> bool:
    """Whether ``headers/`` has this name."""
    return (HEADERS / name).is_file()


def compile_ptx(
    source: str, names: Sequence[str], *, arch: str, options: Sequence[str], file: str, headers: Mapping[str, str]
) -> Compiled:
    """Compile a source with clang.

    Arguments:
        source, file: CUDA C++, and the name that messages and line information give it.
        names: kernels, as NVRTC takes them: a name, or an instantiation such as ``"copy<float, 4>"``.
        arch: "sm_90" and so on.
        options: options of NVRTC.
        headers: texts of the headers that may be included, by name.

    Raises:
        CompileError: clang rejects the source, a name or the architecture; ``log`` is in the form of NVRTC's.
    """
    target, flags = _target(arch, options), _flags(options)
    text = f'# 1 "{file}"\n{source}\n# 1 "{NAMES}"\n{_asked(names)}'
    with tempfile.TemporaryDirectory(prefix="softlab-clang-") as folder:
        _write(text, options, headers, Path(folder))
        command = ["-emit-llvm", "-disable-llvm-passes", *target, *flags, "-I", folder, "-I", str(HEADERS)]
        code = _made([*command, "-o", "-", "-"], text, folder)
        ptx = _made(["-S", *target, "-x", "ir", "-o", "-", "-"], with_whole_copies(code), folder)
        ptx = with_clusters(ptx, code)
        symbols = {int(k): symbol for k, symbol in _POINTER.findall(ptx)}
        ptx = _DECLARED.sub("", _POINTER.sub("", ptx))
        ptx = with_inlined_lines(ptx, (f"{folder}/", f"{HEADERS}/"))
    return Compiled(with_functions(ptx), tuple(symbols[k] for k in range(len(names))))


def _target(arch: str, options: Sequence[str]) -> list[str]:
    """The options of both steps: the architecture, the level of optimization and what the back end does."""
    number = int(re.sub(r"\D", "", arch))
    ptx = _PTX if number <= _LAST_OLDER else _NEWER_PTX
    contract = "off" if "fmad=false" in (option.lstrip("-") for option in options) else "fast"
    further = [flag for option in options for flag in _OF_BACK_END.get(option.lstrip("-"), ())]
    return [
        *("-triple", "nvptx64-nvidia-cuda", "-aux-triple", "x86_64-unknown-linux-gnu"),
        *("-target-cpu", arch, "-target-feature", f"+{ptx}", "-O2", f"-ffp-contract={contract}", *further),
        # A block of code stays where the source has it. The emulator lets the lanes that are behind run first.
        *("-mllvm", "-disable-block-placement"),
    ]


def _flags(options: Sequence[str]) -> list[str]:
    """clang's own options for NVRTC's."""
    further: list[str] = []
    for option in options:
        bare = option.lstrip("-")
        if bare in _TRANSLATED:
            further += _TRANSLATED[bare]
        elif bare.startswith("pre-include="):
            further += ["-include", bare.partition("=")[2]]
        elif _KEPT.fullmatch(option):
            further.append(option.replace("--std", "-std"))
        elif not _IGNORED.fullmatch(option):
            raise CompileError(f"softlab does not know what the option {option!r} is for clang. NVRTC takes it.")
    return [
        *("-x", "cuda", "-fcuda-is-device", "-std=c++17", "-fdeclspec", "-nostdsysteminc", "-nobuiltininc"),
        *("-debug-info-kind=line-directives-only", "-fno-caret-diagnostics", "-Wno-unused-value"),
        *("-include", "softlab_device.h", *further),
    ]


def _asked(names: Sequence[str]) -> str:
    """C++ that instantiates what is asked for, and whose variables hold the addresses: PTX then says the symbols."""
    lines = []
    for k, name in enumerate(names):
        template = f"template __global__ decltype({name}) {name};" if name.rstrip().endswith(">") else ""
        held = f'extern "C" __device__ const void* const softlab_entry_{k} __attribute__((used))'
        lines.append(f"{template} {held} = (const void*)&{name};")
    return "\n".join(lines) + "\n"


def _write(source: str, options: Sequence[str], headers: Mapping[str, str], folder: Path) -> None:
    """Write the headers that a source includes, and those that they include."""
    included = [option.partition("=")[2] for option in options if "pre-include=" in option]
    pending, written = included + _INCLUDE.findall(source), set()
    while pending:
        name = pending.pop()
        # A header of softlab's own for clang comes before one that leads to CUDA's.
        if name in headers and name not in written and not own_header(name):
            written.add(name)
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(headers[name], "utf-8")
            pending += _INCLUDE.findall(headers[name])


def _made(arguments: Sequence[str], text: str, folder: str) -> str:
    """What clang prints.

    Raises:
        CompileError: it fails.
    """
    status, printed, log = _run(["-cc1", *arguments], text, folder)
    if status:
        raise CompileError("clang cannot compile the source", log=_as_nvrtc(log, folder))
    return printed


def _run(arguments: Sequence[str], text: str, folder: str | None) -> tuple[int, str, str]:
    program = find_clang()
    if program is None:
        raise CompileError("clang is not installed. Install it with: pip install 'softlab[clang]'.")
    command = [str(program), "clang", *arguments]
    try:
        done = subprocess.run(
            command, input=text.encode(), capture_output=True, timeout=_SECONDS, check=False, cwd=folder
        )
    except (OSError, subprocess.SubprocessError) as error:
        raise CompileError(f"clang ({program}) cannot be run: {error}") from error
    return done.returncode, done.stdout.decode(), done.stderr.decode(errors="replace")


def _as_nvrtc(log: str, folder: str) -> str:
    """clang's messages as NVRTC writes them: ``cell.cu(3): error: ...``."""
    plain = log.replace(f"{folder}/", "").replace(f"{HEADERS}/", "")
    plain = _MESSAGE.sub(lambda found: f"{found[1]}({found[2]}): {found[4]}: ", plain)
    return plain.replace("In file included from <built-in>:1:\n", "").strip()
