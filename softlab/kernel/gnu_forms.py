"""Forms of C++ that nvcc takes, most of them from g++, and NVRTC does not: written in the forms of the standard.

Lines stay where they are, so that places in errors and findings are those of the file.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable
from dataclasses import replace

from softlab.cuda.device_code import DeviceCode

#: What the compiler says where it meets such a form.
ASKED = re.compile(
    r'error: expected (?:an expression|a ":")|identifier "(?:typeof|__typeof|__typeof__)" is undefined'
    r"|requires --extended-lambda"
)
#: What the compiler says of an array of no length at the end of a struct, and where one stands.
NO_LENGTH = re.compile(
    r'error: (?:incomplete type ".*\[\]"(?: \(aka ".*"\))? is not allowed'
    r"|the size of an array must be greater than zero)"
)
_WITHOUT_LENGTH = re.compile(
    r"(?<=[;{}\n])\s*(?!extern\b)(?P<type>(?:[A-Za-z_][\w:]*[\s*]+)+)(?P<name>\w+)\s*\[\s*0?\s*\](?=\s*;(?:\s|//[^\n]*|/\*.*?\*/)*\})"
)
#: What to say of such an array that device code names.
_ONE_ELEMENT = "an array of no length at the end of a struct has one element here: sizeof of that struct may be larger"
#: What the compiler says of specifiers that nvcc takes with the compilers of Windows alone, and where they stand.
SPECIFIERS = re.compile(r'error: (?:duplicate specifier in declaration|"restrict" is not allowed)')
_FORCED = "__forceinline__"
_TWICE = re.compile(rf"\b(inline|__inline__|__inline|{_FORCED})\b([\w\s]*?)\b(inline|__inline__|__inline|{_FORCED})\b")
_BEFORE_STAR = re.compile(r"(?P<space>\s+)(?P<word>__restrict(?:__)?)\b[ \t]*\*")
#: What to say of them.
_OF_WINDOWS = (
    "a second inline of a declaration is left out, and __restrict__ before the * of a pointer stands behind it: nvcc "
    "takes neither form on Linux"
)
#: What the compiler says of a variable that two files define, and where a header has a texture reference.
REDEFINED = re.compile(r'error: variable "(\w+)" has already been defined')
_REFERENCE = re.compile(r"\b__constant__ (?=(?:texture|surface)\s*<[^;]*>\s*(\w+)\s*;)")
_HEAD = re.compile(r"\b(?:struct|class|union)\b")
#: Macros of g++ on Linux, for conditionals of a program alone: the headers of CUDA would take NVRTC for g++.
_MACROS = {
    "__GNUC__": "12",
    "__GNUC_MINOR__": "2",
    "__GNUC_PATCHLEVEL__": "0",
    "__GNUG__": "12",
    "_GNU_SOURCE": "1",
    "_LP64": "1",
    "__SIZEOF_INT128__": "16",
    "__SIZEOF_POINTER__": "8",
    "__SIZEOF_SIZE_T__": "8",
    "__SIZEOF_LONG__": "8",
    "__SIZEOF_LONG_LONG__": "8",
    "__SIZEOF_INT__": "4",
    "__SIZEOF_SHORT__": "2",
    "__CHAR_BIT__": "8",
    "__SCHAR_MAX__": "0x7f",
    "__SHRT_MAX__": "0x7fff",
    "__INT_MAX__": "0x7fffffff",
    "__LONG_MAX__": "0x7fffffffffffffffL",
    "__LONG_LONG_MAX__": "0x7fffffffffffffffLL",
    "__SIZE_MAX__": "0xffffffffffffffffUL",
    "__BYTE_ORDER__": "1234",
    "__ORDER_LITTLE_ENDIAN__": "1234",
    "__ORDER_BIG_ENDIAN__": "4321",
    **dict.fromkeys(
        ("__linux__", "__linux", "__gnu_linux__", "linux", "__unix__", "__unix", "unix", "__x86_64__", "__x86_64"), "1"
    ),
    **dict.fromkeys(("__amd64__", "__amd64"), "1"),
}
_NAMES = re.compile(rf"\b(?:{'|'.join(_MACROS)})\b")
#: Macros that NVRTC defines and nvcc does not, whose preprocessor is g++'s. The headers of CUDA need them.
_OF_NVRTC = re.compile(r"\b__(?:CUDACC_RTC__|CUDACC_RTC_INT128__|EDG__|EDG_VERSION__)")
_CONDITIONAL = re.compile(r"^[ \t]*#[ \t]*(?:el)?if(?:n?def)?\b(?:\\\n|[^\n])*", re.MULTILINE)
_PREFIX = "softlab_host_"
#: Their definitions, by names of softlab's.
MACROS = (
    "#ifndef _WIN32\n" + "".join(f"#define {_PREFIX}{name} {text}\n" for name, text in _MACROS.items()) + "#endif\n"
)
#: Comments and texts, which stay, and a type in parentheses before a brace, where an expression may stand.
_LITERAL = re.compile(
    r"""//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])+'"""
    r"|(?P<before>(?:(?<!operator)[=,(\[{+\-*/%&|^?:<>!~]|\breturn\b"
    r"|^[ \t]*\#[ \t]*define[ \t]+\w+(?:\([^()\n]*\))?)(?:\s|\\\n)*)"
    r"\((?:struct\s+|const\s+)*(?P<type>[A-Za-z_][\w:]*(?:<[\w\s,:]*>)?)\)\s*(?=\{)",
    re.MULTILINE | re.DOTALL,
)
#: ``case 1 ... 5:``, of numbers or characters.
_RANGE = re.compile(r"\bcase\s+('[^'\\\n]'|\d+)\s*\.\.\.\s*('[^'\\\n]'|\d+)\s*:")
#: What marks a lambda: inside of a kernel it is the device's without that.
_MARKED = re.compile(r"\](?:\s*__(?:host|device)__)+(?=\s*[({])")
#: What a lambda cannot do for the function around it.
_LEAVES = re.compile(r"\b(?:return|goto|break|continue)\b")
#: ``a ?: b``, and what begins an operand or ends one.
_ELSE = re.compile(r"\?\s*:(?!:)")
_BOUNDARY = re.compile(
    r"""//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])+'"""
    r"|::|\?\s*:(?!:)|[<>=!]=|<<=|>>=|[(){}\[\];,?:=]|\breturn\b",
    re.DOTALL,
)
_BRACE = re.compile(r"""//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])+'|[(){}\[\];]""", re.DOTALL)


def conditionals(texts: Iterable[str]) -> str:
    """The directives of these texts that ask something: ``#if``, ``#ifdef``, ``#ifndef`` and ``#elif``."""
    return "\n".join(found[0] for text in texts for found in _CONDITIONAL.finditer(text))


def names_macros(text: str) -> bool:
    """Whether a text names macros of g++ or of Linux."""
    return bool(_NAMES.search(text))


def names_nvrtc(text: str) -> bool:
    """Whether a text names macros that NVRTC defines and nvcc does not."""
    return bool(_OF_NVRTC.search(text))


def with_macros(code: DeviceCode) -> DeviceCode:
    """The same code, whose conditionals name what :data:`MACROS` defines."""
    return _changed(code, lambda text: _renamed(text, _NAMES))


def without_nvrtc(code: DeviceCode) -> DeviceCode:
    """The same code, whose conditionals find no macro that NVRTC defines and nvcc does not."""
    return _changed(code, lambda text: _renamed(text, _OF_NVRTC))


def _renamed(text: str, names: re.Pattern[str]) -> str:
    """A text whose conditionals have softlab's names in place of these."""
    return _CONDITIONAL.sub(lambda found: names.sub(lambda name: _PREFIX + name[0], found[0]), text)


def in_standard_forms(code: DeviceCode) -> DeviceCode:
    """The same code with ``T{...}`` for ``(T){...}``, each case for ``case 1 ... 5:``, a lambda that is called for
    ``({ ...; value; })`` and for ``a ?: b``, and lambdas without ``__device__``."""

    def standard(text: str) -> str:
        plain = _MARKED.sub("]", _RANGE.sub(_each_case, _LITERAL.sub(_braced, text)))
        return _without_statements(_with_both_values(plain))

    return _changed(code, standard)


def with_specifiers(code: DeviceCode) -> DeviceCode:
    """The same code with one ``inline`` per declaration, and ``__restrict__`` behind the ``*`` of a pointer."""
    changed = _changed(code, lambda text: _BEFORE_STAR.sub(r"\g<space>*\g<word> ", _once_inline(text)))
    return replace(changed, remarks=(*changed.remarks, _OF_WINDOWS))


def _once_inline(text: str) -> str:
    count = 1
    while count:
        text, count = _TWICE.subn(
            lambda found: (_FORCED if _FORCED in found.group(1, 3) else found[1]) + found[2], text
        )
    return text


def with_references_once(code: DeviceCode, names: Collection[str]) -> DeviceCode:
    """The same code, where headers only declare the texture references of these names: the file itself has them, too.
    Compilers that had references took both for one."""
    headers = {
        name: _REFERENCE.sub(lambda found: ("extern " if found[1] in names else "") + found[0], text)
        for name, text in code.headers.items()
    }
    return replace(code, headers=headers)


def with_lengths(code: DeviceCode) -> DeviceCode:
    """The same code without arrays of no length at the end of a struct. One that nothing else names goes, and its
    struct keeps the alignment that it gives it. Any other one has one element, and a remark says so."""
    texts = (code.source, *code.headers.values())
    words = Counter(word for text in texts for word in re.findall(r"\w+", text))
    arrays = {found["name"] for text in texts for found in _WITHOUT_LENGTH.finditer(text)}
    named = {name for name in arrays if words[name] > 1}
    changed = _changed(code, lambda text: _without_arrays(text, named))
    return replace(changed, remarks=(*changed.remarks, _ONE_ELEMENT)) if named else changed


def _without_arrays(text: str, named: Collection[str]) -> str:
    """The text without arrays of no length, from the last to the first. Those with these names get one element."""
    for found in reversed(list(_WITHOUT_LENGTH.finditer(text))):
        opening = _opening(text, found.start())
        head = next(reversed(list(_HEAD.finditer(text, 0, opening))), None)
        if found["name"] in named or head is None:
            text = f"{text[: found.start()]}{found[0].partition('[')[0]}[1]{text[found.end() :]}"
            continue
        lines = "\n" * found[0].count("\n")
        kind = " ".join(found["type"].split())
        rest = f"{text[head.end() : found.start()]}{lines}{text[found.end() :]}"
        text = f"{text[: head.end()]} alignas({kind}){rest}"
    return text


def _opening(text: str, at: int) -> int:
    """Where the innermost brace opens that is open at this place."""
    opened: list[int] = []
    for found in _BRACE.finditer(text, 0, at):
        if found[0] == "{":
            opened.append(found.start())
        elif found[0] == "}":
            opened = opened[:-1]
    return opened[-1] if opened else 0


def _changed(code: DeviceCode, change: Callable[[str], str]) -> DeviceCode:
    headers = {name: change(text) for name, text in code.headers.items()}
    return replace(code, source=change(code.source), headers=headers)


def _braced(found: re.Match[str]) -> str:
    return found[0] if found["type"] is None else found["before"] + found["type"]


def _each_case(found: re.Match[str]) -> str:
    first, last = (ord(one[1]) if one.startswith("'") else int(one) for one in found.groups())
    return " ".join(f"case {number}:" for number in range(first, last + 1))


def _with_both_values(text: str) -> str:
    """The text with lambdas for ``a ?: b``, from the last to the first: ``a`` is computed once, ``b`` where it is
    needed."""
    for found in reversed(list(_ELSE.finditer(text))):
        if begin := _operand_before(text, found.start()):
            end = _operand_after(text, found.end())
            value, other = text[begin : found.start()].strip(), text[found.end() : end].strip()
            lines = "\n" * text.count("\n", begin, end)
            choice = f"([&](auto softlab_value) {{ return softlab_value ? softlab_value : {other}; }}({value}))"
            text = f"{text[:begin]} {choice}{lines[choice.count(chr(10)) :]}{text[end:]}"
    return text


def _operand_before(text: str, at: int) -> int:
    """Where the operand begins that ends before ``at``; 0 in a comment, in a text and outside of functions."""
    begins = [0]
    for found in _BOUNDARY.finditer(text):
        if found.start() >= at:
            return begins[-1] if found.start() == at and len(begins) > 1 else 0
        if found[0] in "([{":
            begins.append(found.end())
        elif found[0] in ")]}":
            begins = begins[:-1] or [0]
        if found[0] in tuple("};,?:=") or found[0] in ("return", "<<=", ">>=") or _ELSE.fullmatch(found[0]):
            begins[-1] = found.end()
    return 0


def _operand_after(text: str, at: int) -> int:
    """Where the operand ends that begins at ``at``."""
    depth = choices = 0
    for found in _BOUNDARY.finditer(text, at):
        depth += (found[0] in "([{") - (found[0] in ")]}")
        choices += (found[0] == "?") - (found[0] == ":" and depth == 0)
        if depth < 0 or (depth == 0 and found[0] in ";,") or choices < 0:
            return found.start()
    return len(text)


def _without_statements(text: str) -> str:
    """The text with its statement expressions, from the last to the first, as lambdas."""
    for start in reversed([found.start() for found in re.finditer(r"\(\s*\{", text)]):
        end, last = _statements(text, start)
        inside = text[start + 1 : end].strip()
        if last and not _LEAVES.search(inside):
            value = text[last:end].rpartition("}")[0]
            text = f"{text[:start]}([&]{text[start + 1 : last]} return {value}}}()){text[end + 1 :]}"
    return text


def _statements(text: str, start: int) -> tuple[int, int]:
    """Where the parenthesis at ``start`` closes, and where the last statement inside its braces begins.

    The latter is 0 where its braces hold no statement, as in a list of values.
    """
    depth, begins, next_one = 0, 0, 0
    for found in _BRACE.finditer(text, start):
        depth += (found[0] in "([{") - (found[0] in ")]}")
        if depth == 0:
            return found.start(), begins
        if found[0] == "{" and depth == 2:
            next_one = found.end()
        elif found[0] == ";" and depth == 2:
            begins, next_one = next_one, found.end()
    return 0, 0
