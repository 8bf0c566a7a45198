"""Machine code of a :class:`~softlab.cuda.compile.Program`, without a GPU: the only caller of NVIDIA's ``nvdisasm``.

A cubin of NVRTC's ``-lineinfo`` holds two line tables: one to the CUDA source, with inlining, and one to the PTX
(section ``.nv_debug_line_sass``). So each machine instruction knows the one PTX line it was made from. That makes a
comparison of PTX and machine code exact, where it would otherwise be a guess by offsets and widths.

SASS, the text that ``nvdisasm`` prints, is described in NVIDIA's *CUDA Binary Utilities*.
"""

from __future__ import annotations

import hashlib
import importlib.util
import os
import re
import shutil
import subprocess
from collections.abc import Iterator, Sequence, Set
from concurrent.futures import Future, ThreadPoolExecutor
from functools import lru_cache
from pathlib import Path

from softlab.cuda import control_codes
from softlab.cuda.cache import read_text, write_text
from softlab.cuda.compile import Program, cache_folder
from softlab.cuda.machine_instructions import Disassembly, MachineFunction, MachineInstruction
from softlab.cuda.program import RELOCATABLE
from softlab.cuda.shipped_programs import shipped_machine_code
from softlab.errors import Error

#: Raise when the options of nvdisasm change.
_CACHE_FORMAT = 2
#: -gi and -gp: the two line tables; -c: code only; -ndf: no data-flow analysis, which would take as long as the rest;
#: -hex: the encoding, which holds the control code that no other option prints.
_OPTIONS = ("-gi", "-gp", "-ndf", "-c", "-hex")
_PTX_TABLE = ".nv_debug_ptx_txt"
_SECONDS = 60


class DisassemblyError(Error):
    """``nvdisasm`` is missing or refuses a cubin; the message says how to install it, or what it said."""


def find_nvdisasm() -> Path | None:
    """Where ``nvdisasm`` is, as :func:`find_tool` finds it; it comes with the package ``nvidia-cuda-nvdisasm``."""
    return find_tool("nvdisasm")


def find_tool(name: str) -> Path | None:
    """Where a program of NVIDIA is: in one of its Python packages, CUDA's toolkit, or on the path; None if nowhere."""
    folders: list[Path] = []
    nvidia = importlib.util.find_spec("nvidia")
    for root in nvidia.submodule_search_locations if nvidia and nvidia.submodule_search_locations else ():
        folders += sorted(Path(root).glob("*/bin"), reverse=True)
    try:
        from cupy._environment import get_cuda_path
    except ImportError:
        pass
    else:
        toolkit = get_cuda_path()
        folders += [Path(toolkit) / "bin"] if toolkit else []
    for folder in (*folders, None):
        found = shutil.which(name, path=folder)
        if found:
            return Path(found)
    return None


@lru_cache(maxsize=1)
def _tool() -> tuple[Path, str] | None:
    """nvdisasm and what tells one version of it from another."""
    path = find_nvdisasm()
    if path is None:
        return None
    state = path.stat()
    return path, f"{state.st_size} {state.st_mtime_ns}"


def disassemble(program: Program, *, cache: bool = True, alone: bool = False) -> Disassembly:
    """The machine code of a program.

    ``cache``: keep what nvdisasm prints beside the compiled programs, since one run of it takes up to a second.
    ``alone``: leave out the other kernels of the compilation. To read them takes as long as to read this one.

    Raises:
        DisassemblyError: nvdisasm is missing, or it refuses the cubin.
    """
    return parse_disassembly(printed(program, cache=cache), program, alone=alone)


def printed(program: Program, *, cache: bool = True) -> str:
    """What nvdisasm prints of a program; where it is missing, what softlab brings of it. See :func:`disassemble`."""
    if not program.cubin:
        raise DisassemblyError(
            f"the program of {program.name} is PTX alone: it has no machine code. "
            "With ptxas (pip install 'softlab[ptx]') a kernel of PTX gets one, if ptxas takes the file"
        )
    if RELOCATABLE in program.options:
        raise DisassemblyError(
            f"{program.name} launches kernels (dynamic parallelism), or is compiled with kernels that do: what carries "
            "the launches out is not linked, so there is no machine code to show"
        )
    tool = _tool()
    if tool is None:
        if (shipped := shipped_machine_code(program.cubin)) is not None:
            return shipped
        raise DisassemblyError(
            "nvdisasm, NVIDIA's disassembler, is not found in Python's packages, CUDA's folder or PATH. "
            "Install it with: pip install nvidia-cuda-nvdisasm (Linux or Windows; it needs no GPU and no driver)."
        )
    path, identity = tool
    entry = _entry(identity, program.cubin)
    text = read_text(entry) if cache else None
    if text is None:
        begun = _BEGUN.take(entry) if cache else None
        text = begun.result() if begun is not None else _run(path, program.cubin)
        if cache and begun is None:
            write_text(entry, text)
    return text


def begin_disassembly(program: Program) -> None:
    """Start nvdisasm for a new cubin, so that it runs while the caller goes on: :func:`disassemble` waits for the rest.

    It takes about 0.3 s for any cubin. Nothing is started where there is no nvdisasm, where its text is kept already,
    or while it runs for another cubin.
    """
    tool = _tool()
    if tool is None or not program.cubin:
        return
    path, identity = tool
    entry = _entry(identity, program.cubin)
    if not entry.exists():
        _BEGUN.begin(entry, path, program.cubin)


def _entry(identity: str, cubin: bytes) -> Path:
    """Where the text of a cubin is kept."""
    key = hashlib.sha256(f"{_CACHE_FORMAT} {identity} {_OPTIONS}".encode() + cubin).hexdigest()
    return cache_folder() / "machine_code" / f"{key}.sass"


class _Begun:
    """The one run of nvdisasm that goes on in the background."""

    def __init__(self) -> None:
        self._pool: ThreadPoolExecutor | None = None
        self._process = 0
        self._entry: Path | None = None
        self._text: Future[str] | None = None

    def begin(self, entry: Path, tool: Path, cubin: bytes) -> None:
        """Run it, if none runs."""
        if self._process != os.getpid():  # a forked process has no threads of its parent
            self._pool, self._text, self._process = ThreadPoolExecutor(1, "nvdisasm"), None, os.getpid()
        if self._text is not None and not self._text.done():
            return
        assert self._pool is not None
        self._entry, self._text = entry, self._pool.submit(_run_and_keep, entry, tool, cubin)

    def take(self, entry: Path) -> Future[str] | None:
        """The run for this entry of the cache, once; None where there is none."""
        if self._text is None or self._entry != entry or self._process != os.getpid():
            return None
        found, self._text = self._text, None
        return found


_BEGUN = _Begun()


def _run_and_keep(entry: Path, tool: Path, cubin: bytes) -> str:
    text = _run(tool, cubin)
    write_text(entry, text)
    return text


def _run(tool: Path, cubin: bytes) -> str:
    """What nvdisasm prints. It takes no cubin from a pipe, so that one is written for it."""
    import tempfile

    with tempfile.TemporaryDirectory(prefix="softlab") as folder:
        path = Path(folder) / "kernel.cubin"
        path.write_bytes(cubin)
        try:
            done = subprocess.run(
                [tool, *_OPTIONS, path], capture_output=True, text=True, timeout=_SECONDS, check=False
            )
        except (OSError, subprocess.SubprocessError) as error:
            raise DisassemblyError(f"nvdisasm ({tool}) cannot be run: {error}") from error
    if done.returncode or ".text." not in done.stdout:
        raise DisassemblyError(f"nvdisasm ({tool}) refuses the cubin: {done.stderr.strip() or 'it has no code'}")
    return done.stdout


_LINE = re.compile(
    r"""^\t//\#\#\ File\ "(?P<file>[^"]*)",\ line\ (?P<line>\d+)(?P<inlined>\ inlined\ at)?
      | ^\s+/\*(?P<address>[0-9a-f]{4,})\*/\s+(?P<text>[^;]*);(?:\s*/\*\ 0x(?P<low>[0-9a-f]{16})\ \*/)?
      | ^\s+/\*\ 0x(?P<high>[0-9a-f]{16})\ \*/
      | ^\s*\.section\s+\.text\.(?P<function>[^,]+),
      | ^(?P<label>[.$\w]+):""",
    re.VERBOSE,
)
_CODE = re.compile(r"(?:@(?P<not>!)?(?P<guard>U?P(?:\d+|T))\s+)?(?P<name>[A-Z][\w.]*)\s*(?P<rest>.*)")
_LABEL = re.compile(r"\.L_x_\d+|\$[\w$]+")


def parse_disassembly(text: str, program: Program, *, alone: bool = False) -> Disassembly:
    """What ``nvdisasm -gi -gp -c -hex`` prints as records. ``program`` names its files and its kernel."""
    functions: list[MachineFunction] = []
    others = {name for name in program.reports if name != program.entry} if alone else set()
    for name, lines in _sections(text, others):
        functions.append(MachineFunction(name, tuple(_instructions(lines, program.file, program.arch))))
    if program.entry not in (f.name for f in functions):
        raise DisassemblyError(f"the machine code has no kernel {program.entry}; nvdisasm printed another form")
    return Disassembly(program.arch, program.entry, tuple(functions))


def _sections(text: str, others: Set[str] = frozenset()) -> Iterator[tuple[str, list[re.Match[str]]]]:
    """(function, its lines that say something), without the ``others``."""
    name = ""
    lines: list[re.Match[str]] = []
    for line in text.splitlines():
        if name in others and ".section" not in line:
            continue
        found = _LINE.match(line)
        if found is None:
            continue
        if found["function"]:
            if name and name not in others:
                yield name, lines
            name, lines = found["function"], []
        else:
            lines.append(found)
    if name and name not in others:
        yield name, lines


def _labels(lines: Sequence[re.Match[str]]) -> dict[str, int]:
    """Label -> the address of the instruction behind it."""
    labels: dict[str, int] = {}
    waiting: list[str] = []
    for found in lines:
        if found["label"]:
            waiting.append(found["label"])
        elif found["address"]:
            labels.update(dict.fromkeys(waiting, int(found["address"], 16)))
            waiting = []
    return labels


def _encodings(lines: Sequence[re.Match[str]]) -> dict[int, int]:
    """Address -> encoding: its low half is printed behind the instruction, its high half on the next line of code."""
    encodings: dict[int, int] = {}
    address, low = 0, None
    for found in lines:
        if found["address"]:
            address, low = int(found["address"], 16), found["low"]
        elif found["high"] and low:
            encodings[address] = int(found["high"] + low, 16)
            low = None
    return encodings


def _instructions(lines: Sequence[re.Match[str]], main: str, arch: str) -> Iterator[MachineInstruction]:
    labels, encodings = _labels(lines), _encodings(lines)
    frames: tuple[tuple[str, int], ...] = ()
    ptx_line, inner = 0, False
    for found in lines:
        if found["file"] == _PTX_TABLE:
            ptx_line = int(found["line"])
        elif found["file"]:
            place = (_short(found["file"], main), int(found["line"]))
            frames = (*frames, place) if inner else (place,)
            inner = found["inlined"] is not None
        elif found["address"]:
            code = _CODE.match(found["text"])
            if code is None:
                raise DisassemblyError(f"nvdisasm printed an instruction of another form: {found.group().strip()}")
            opcode, *modifiers = code["name"].split(".")
            guard, address = code["guard"] or "", int(found["address"], 16)
            encoding = encodings.get(address)
            yield MachineInstruction(
                address,
                " ".join(found["text"].split()),
                opcode,
                tuple(modifiers),
                "" if guard in ("PT", "UPT") else guard,
                code["not"] is not None,
                tuple(part.strip() for part in code["rest"].split(",") if part.strip()),
                tuple(labels[label] for label in _LABEL.findall(code["rest"]) if label in labels),
                ptx_line,
                frames,
                encoding,
                None if encoding is None else control_codes.decode(encoding, arch),
            )


_INCLUDE_FOLDER = re.compile(r".*/(?:include|_cccl/\w+)/")


@lru_cache(maxsize=1024)
def _short(path: str, main: str) -> str:
    """A file's name as the frames of the PTX have it: NVRTC joins names to its working folder, whatever that was."""
    if path.endswith(f"/{main}"):
        return main
    included = _INCLUDE_FOLDER.sub("", path)
    return included if included != path else path.rpartition("/")[2]
