"""One way to compile a kernel of a file: what is tried, one after the other, and what the error says in the end."""

from __future__ import annotations

import json
import os
import re
import time
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

from softlab.cuda.compile import CUTLASS, Program, compile_program
from softlab.cuda.definitions import Definitions, definitions, overloads_of, unresolved
from softlab.cuda.device_code import DeviceCode
from softlab.cuda.found_headers import folders_of
from softlab.cuda.program_parts import BEFORE
from softlab.cuda.shims import NVCC, STANDARD
from softlab.errors import CompileError
from softlab.kernel.build_settings import Settings, asks_for_unannotated
from softlab.kernel.gnu_forms import (
    in_standard_forms,
    with_lengths,
    with_macros,
    with_references_once,
    with_specifiers,
    without_nvrtc,
)
from softlab.kernel.kernel_names import kernel_name, overloads
from softlab.kernel.switches import said_of, switches

#: How long softlab tries what may help a file that does not compile, and guesses template arguments for a message: CPU
#: time of the process, so that other work on the machine changes no result.
SECONDS_OF_GUESSES = 10
#: Headers that come with packages of their own.
_PACKAGES = {
    "curand_kernel.h": "the package nvidia-curand-cu12 (pip install 'softlab[curand]'; for CUDA 13 nvidia-curand)",
    "mma.h": "the package nvidia-cuda-nvcc-cu12 (pip install 'softlab[ptx]'; for CUDA 13 nvidia-cuda-crt)",
}
#: A library of headers that programs name and seldom bring.
_CUTLASS = re.compile(r"(?:cutlass|cute)/")
#: What a source adds to namespace std.
_NAMESPACE_STD = re.compile(r"\bnamespace\s+std\s*\{")
_ERROR = re.compile(r"^(\S+)\((\d+)\): (?:catastrophic )?error\b", re.MULTILINE)
#: What the compiler says of a kernel's name that ``using namespace`` brings from a library, too.
_UNCLEAR = re.compile(r"__nv_name_map\S+ error: (?:\S+ is ambiguous|cannot determine which instance)")
#: What stands before the name of one of several kernels of that name: its type.
_OVERLOAD = re.compile(r"^\(void \(\*\)\(.*\)\)")
#: How often a source is compiled again with what the log of the last attempt asks for.
_ATTEMPTS = 5
#: A file with more kernels than these, templates aside, is compiled without the other ones first. Each of them may take
#: seconds. Those of smaller files stay in the program, with their variables.
_MOST_KERNELS = 16


def blames_arguments(log: str) -> bool:
    """Whether every error is one of template arguments: none is of a name that is missing."""
    starts = [match.start() for match in _ERROR.finditer(log)]
    errors = [log[start:end] for start, end in pairwise([*starts, len(log)])]
    of_arguments = (one.startswith("__nv_name_map") or "detected during" in one for one in errors)
    return bool(errors) and "is undefined" not in log and all(of_arguments)


@dataclass(frozen=True)
class FileBuild:
    """The source ``file`` as ``read_code`` reads it, for an architecture and with options of the compiler.

    ``path``: where the file is. None for a text: it has no other files beside it.
    ``read_code`` takes ``name``, ``alone``, ``files`` and ``faults``, as :func:`softlab.kernel.files.read_file` does.
    ``until``: when further tries end, by ``time.process_time()``. ``refused``: the errors of what was compiled so far,
    by everything that decides them.
    """

    read_code: Callable[..., DeviceCode]
    path: Path | None
    file: str
    arch: str
    options: tuple[str, ...]
    until: float
    refused: dict[str, CompileError] = field(default_factory=dict, compare=False)

    def program(self, name: str | None, files: Sequence[str | os.PathLike[str]]) -> Program:
        """The kernel with the files that define what it needs: ``files``, and those that the search finds.

        Raises:
            CompileError, ValueError: as :func:`softlab.kernel.files.compile_file`.
        """
        taken = [Path(file).resolve() for file in files]
        code = self.read_code(name=name, files=taken)
        wanted, asked = set(code.undefined_variables), set[str]()
        said: list[str] = []
        questions: dict[str, None] = {}
        failed: CompileError | None = None
        looked_for = set[tuple[str, frozenset[str]]]()
        while True:
            overloads = overloads_of(failed.log) if failed else {}
            missing_now = {(name, words) for name, some in overloads.items() for words in some}
            again = {name for name, _ in missing_now - looked_for}
            found = self._definitions((wanted - asked) | again, taken, overloads)
            asked, looked_for = asked | wanted, looked_for | missing_now
            new = [file for file in found.files if file not in taken]
            questions |= dict.fromkeys(found.open_questions)
            if failed and not new:
                raise _with_questions(failed, questions)
            said += [*found.remarks, *(() if failed else found.open_questions)]
            if new:
                taken += new
                looked_for.clear()  # of several files that define a name, fewer are left
                code = self.read_code(name=name, files=taken)
                if wanted := set(code.undefined_variables) - asked:
                    failed = None
                    continue
            code = replace(code, remarks=tuple(dict.fromkeys([*said, *code.remarks])))
            try:
                return replace(self, read_code=partial(self.read_code, files=taken))._of(code, name)
            except CompileError as error:
                if not (missing := unresolved(error.log)):
                    raise
                plain = set(code.undefined_functions)
                failed, wanted = error, plain | {one for one in missing if one.rpartition("::")[2] not in plain}

    def _definitions(
        self, names: Collection[str], taken: Collection[Path], overloads: Mapping[str, Collection[frozenset[str]]]
    ) -> Definitions:
        """The files near this one that define these names. No file is near a text."""
        if self.path is None:
            return Definitions((), (), ())
        return definitions(self.path, names, folders_of(self.options), taken, overloads)

    def _of(self, code: DeviceCode, name: str | None) -> Program:
        """The kernel of a file that was read, with the file's other kernels or without them."""
        chosen = kernel_name(code, name, self.file, self._fault_of)
        if sum(not one.template for one in code.kernels) > _MOST_KERNELS:
            with suppress(CompileError):
                return self._compiled(self._alone(code, chosen), chosen, strict=True)
        try:
            return self._compiled(code, chosen)
        except CompileError as error:
            found = error
        # Another kernel of the file may be at fault.
        alone = self._alone(code, chosen)
        try:
            return self._compiled(alone, chosen, strict=True)
        except CompileError as error:
            strict = error
        if (alone.source, alone.headers) != (code.source, code.headers):
            found = strict
        if macros := switches(code, chosen, found.log, self.options):
            listed = ", ".join(f"{macro}={value}" for macro, value in macros.items())
            said = f"{chosen} needs a part of {self.file} or of its headers for {listed}: that is defined"
            switched = replace(self, options=(*self.options, *(f"-D{one}={value}" for one, value in macros.items())))
            return switched._of(replace(code, remarks=(*code.remarks, said)), name)
        if program := self._without_faults(alone, chosen, strict.log) or self._with_unannotated(alone, chosen, strict):
            return program
        if "cannot determine which instance of overloaded function" in found.log and (said := overloads(code, chosen)):
            raise ValueError(said)
        places = "".join(f"\n{remark}." for remark in code.remarks)
        said = said_of(code, chosen, found.log) + _undefined(found.log, code.missing)
        said += _of_host(found.log, code.host_names)
        further = f"{said}{places}{_left_out(code.missing)}"
        raise CompileError(f"{found}{further}", log=found.log)

    def _alone(self, code: DeviceCode, name: str) -> DeviceCode:
        """The code with the kernel of this name alone."""
        return replace(self.read_code(name=name, alone=True), remarks=code.remarks)

    def _fault_of(self, instance: str) -> str:
        """The first error of an instance of a template, "" where it compiles. Each instance gets one try."""
        if time.process_time() > self.until:
            return "no time is left to try"
        try:
            self._compiled(self.read_code(name=instance, alone=True), instance, strict=True)
        except (CompileError, ValueError) as error:
            lines = str(error).splitlines()
            return next((line for line in lines if _ERROR.match(line)), lines[0]).rstrip(".")
        return ""

    def _without_faults(self, code: DeviceCode, name: str, log: str) -> Program | None:
        """The kernel without what the compiler refuses of the host's types; None where that does not help in time.

        ``code``: the kernel without the other ones, which gave this ``log``.

        Raises:
            CompileError: functions alone are left that no file of these defines.
        """
        faults: set[tuple[str, int]] = set()
        while time.process_time() < self.until:
            faults |= {(self._header(where, code), int(line)) for where, line in _ERROR.findall(log)}
            less = self.read_code(name=name, alone=True, faults=faults)
            less = replace(less, remarks=tuple(dict.fromkeys([*code.remarks, *less.remarks])))
            if (less.source, less.headers) == (code.source, code.headers):
                break
            code = less
            try:
                return self._compiled(code, name, strict=True)
            except CompileError as error:
                log = error.log
                if unresolved(log):
                    raise  # another file defines what is left
                if program := self._with_unannotated(code, name, error):
                    return program
        return None

    def _with_unannotated(self, code: DeviceCode, name: str, strict: CompileError) -> Program | None:
        """The kernel where functions without ``__device__`` are the device's, if the ``strict`` error asks for that."""
        if not asks_for_unannotated(strict.log):
            return None
        try:
            return self._compiled(code, name)
        except CompileError:
            return None

    def _header(self, where: str, code: DeviceCode) -> str:
        """The name that a header has in the code, "" for the file itself, of its name in the compiler's log."""
        plain = where.removeprefix("./")
        if plain == self.file:
            return ""
        return next((name for name in code.headers if name == plain or os.path.normpath(name) == plain), plain)

    def _compiled(self, code: DeviceCode, name: str, strict: bool = False) -> Program:
        settings = Settings.of([code.source, *code.headers.values(), name], code.missing)
        for _ in range(_ATTEMPTS):
            try:
                return self._compiled_with(settings, code, name)
            except CompileError as error:
                found, further = error, settings.after(error.log, self.path, strict)
            further = settings.less_like_nvcc() if further == settings else further
            if further == settings:
                break
            settings = further
        inside = _inside(code, name)
        if "__nv_name_map" in found.log and inside != code:
            return self._compiled(inside, name, strict)
        if _UNCLEAR.search(found.log) and not name.startswith(("::", "(")):
            with suppress(CompileError):
                return self._compiled(code, f"::{name}", strict)
        raise found

    def _compiled_with(self, settings: Settings, code: DeviceCode, name: str) -> Program:
        code = _specialized(code) if settings.whole else code
        code = with_macros(code) if settings.gcc else code
        code = without_nvrtc(code) if settings.hidden else code
        code = in_standard_forms(code) if settings.gnu else code
        code = with_lengths(code) if settings.lengths else code
        code = with_specifiers(code) if settings.specifiers else code
        code = with_references_once(code, settings.redefined) if settings.redefined else code
        first = settings.first()
        first += f'#include "{BEFORE}"\n' if BEFORE in code.headers else ""
        plain = first == f"#include <{STANDARD}>\n"
        included = STANDARD if plain else NVCC
        given: dict[str, Any] = {
            "arch": self.arch,
            "options": (f"--pre-include={included}", *settings.options(self.options), *self.options),
            "file": self.file,
            "headers": {**code.headers, **settings.headers(), **({} if plain else {NVCC: first})},
        }
        key = json.dumps([code.source, name, given], sort_keys=True)
        if key in self.refused:
            raise self.refused[key]
        try:
            program = compile_program(code.source, name, **given)
        except CompileError as error:
            self.refused[key] = error
            raise
        return replace(program, remarks=(*code.remarks, *settings.remarks()))


def _inside(code: DeviceCode, name: str) -> DeviceCode:
    """The same code, where types in the kernel's name may be named as its namespace names them."""
    plain = _OVERLOAD.sub("", name)
    space = plain.partition("<")[0].rpartition("::")[0]
    using = f"\nusing namespace {space};" if space and ("<" in name or plain != name) else ""
    # What functions of the host open for themselves, where the name has values that they write.
    using += "\nusing namespace cute;" if "decltype(" in name and CUTLASS.search(code.source) else ""
    return code if code.source.endswith(using) else replace(code, source=code.source + using)


def _specialized(code: DeviceCode) -> DeviceCode:
    """The same code, which specialises templates of namespace std where libcu++ has them."""
    headers = {name: _NAMESPACE_STD.sub("namespace cuda::std {", text) for name, text in code.headers.items()}
    return replace(code, source=_NAMESPACE_STD.sub("namespace cuda::std {", code.source), headers=headers)


def _undefined(log: str, missing: Collection[str]) -> str:
    """What to say of names like those of macros that nothing defines. ``missing``: includes that were not found."""
    names = dict.fromkeys(re.findall(r'identifier "([A-Z_][A-Z0-9_]+)" is undefined', log))
    if not names:
        return "\noptions=['-DNAME=value'] defines a macro that #error asks for." if "#error directive" in log else ""
    define = f"options=['-D{next(iter(names))}=value']"
    if missing:
        return (
            f"\nNo include that was found defines {', '.join(names)}. One that is missing may do that, or the command "
            f"that builds the program: then give the same, {define}."
        )
    return (
        f"\nNothing that the file includes defines {', '.join(names)}. Where the command that builds the program does, "
        f"give the same: {define}."
    )


def _of_host(log: str, names: Collection[str]) -> str:
    """What to say of functions and variables of the host that device code names. ``names``: all of the host's."""
    undefined = re.findall(r'identifier "(\w+)" is undefined', log)
    operators = [name for name in re.findall(r'no operator "(\S+)" matches', log) if "operator" in names]
    found = [name for name in dict.fromkeys(undefined) if name in names] + [f"operator{one}" for one in operators]
    if not found:
        return ""
    return (
        f"\n{', '.join(dict.fromkeys(found))}: softlab takes this for the host's, as it sees no __device__ or "
        "__constant__ there. nvcc asks for that, too."
    )


def _with_questions(error: CompileError, questions: Iterable[str]) -> CompileError:
    """An error that also says what no file, or more than one, defines."""
    return CompileError("\n".join([str(error), *(f"{said}." for said in questions)]), log=error.log)


def _left_out(includes: Sequence[str]) -> str:
    """What to say of includes that were not found."""
    if not includes:
        return ""
    packages = "".join(f"\n{name} comes with {_PACKAGES[name]}." for name in includes if name in _PACKAGES)
    if any(_CUTLASS.match(name) for name in includes):
        packages += (
            "\ncutlass/ and cute/ come with the package nvidia-cutlass (pip install 'softlab[cutlass]'). They are "
            "folders of CUTLASS's folder include, too: options=['-I/cutlass/include']."
        )
    return (
        f"\nThese includes were not found and are left out: {', '.join(includes)}. "
        f"options=['-I/folder'] names a folder of headers.{packages}"
    )
