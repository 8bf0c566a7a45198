"""The kernels of a CUDA C++ file, and the launches in its host code."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from softlab.cuda.host_templates import HostCode, Scope, enclosing_function, scopes, text_before
from softlab.cuda.syntax import function_of, head_of, in_list, listed, scope_of, text_of, walk

if TYPE_CHECKING:
    from tree_sitter import Node


@dataclass(frozen=True)
class KernelDeclaration:
    """A kernel of a file: its qualified name, its template parameters, its parameters, and its line."""

    name: str
    template: tuple[str, ...]
    parameters: tuple[str, ...]
    line: int

    def __str__(self) -> str:
        template = f"template <{', '.join(self.template)}> " if self.template else ""
        return f"{template}{self.name}({', '.join(self.parameters)})"


@dataclass(frozen=True)
class LaunchSuggestion:
    """A launch in the host code.

    ``kernel`` is what is launched, such as ``"copy<float, 4>"``. ``grid``, ``block`` and ``smem`` are tuples of ints
    and an int where the file's constants give them, otherwise the source text. ``arguments`` are source text, and
    ``types`` the types that the host declares for them, such as "const float*", "" where that is not clear.
    """

    kernel: str
    grid: tuple[int, ...] | str
    block: tuple[int, ...] | str
    smem: int | str
    arguments: tuple[str, ...]
    line: int
    types: tuple[str, ...] = ()

    def __str__(self) -> str:
        return f"line {self.line}: {self.kernel} with grid={self.grid}, block={self.block}, smem={self.smem}"


def kernels_of(
    declarations: Iterable[Node],
    kernel_word: re.Pattern[str],
    outer: Callable[[Node], Sequence[str]] = lambda node: (),
) -> Iterator[KernelDeclaration]:
    """The kernels among declarations. ``kernel_word``: ``__global__``, and the macros that stand for it. ``outer``: the
    namespaces around a declaration that the tree does not have."""
    seen = set()
    for declaration in declarations:
        for node in walk(declaration, ("function_definition", "declaration")):
            declarator = function_of(node)
            if declarator is None or not kernel_word.search(head_of(node)):
                continue
            parameters = declarator.child_by_field_name("parameters")
            name = text_of(declarator.child_by_field_name("declarator"))
            found = KernelDeclaration(
                "::".join([*outer(node), *scope_of(node), name]),
                _template(node),
                listed(parameters),
                node.start_point.row + 1,
            )
            if (found.name, found.parameters) not in seen and node.type == "function_definition":
                seen.add((found.name, found.parameters))
                yield found


def _template(node: Node) -> tuple[str, ...]:
    parent = node.parent
    if parent is None or parent.type != "template_declaration":
        return ()
    return listed(parent.child_by_field_name("parameters"))


def launches_of(code: HostCode, program: Sequence[HostCode]) -> Iterator[LaunchSuggestion]:
    """The launches in a file, ``kernel<<<grid, block>>>(arguments)``.

    A launch in a function template is there once for each instance of it that a file of ``program`` calls with template
    arguments.
    """
    for call in walk(code.root, ("call_expression",)) if b"<<<" in code.text else ():
        syntax = next((child for child in call.children if child.type == "kernel_call_syntax"), None)
        if syntax is None:
            continue
        configuration = [text_of(child) for child in syntax.named_children if child.type != "comment"]
        function = call.child_by_field_name("function")
        arguments = call.child_by_field_name("arguments")
        if function is None or len(configuration) < 2:
            continue
        around = text_of(enclosing_function(call))
        kernel = _pointed_at(_plain(text_of(function)), text_before(call))
        for scope in scopes(call, code, program):
            local = scope.constants
            yield LaunchSuggestion(
                _instance(kernel, scope),
                local.extent(configuration[0]),
                local.extent(configuration[1]),
                local.number(configuration[2]) if len(configuration) > 2 else 0,
                listed(arguments),
                call.start_point.row + 1,
                tuple(_host_type(text_of(child), around, scope) for child in in_list(arguments)) if around else (),
            )


def _pointed_at(name: str, before: str) -> str:
    """The kernel that a pointer of this name points at, as ``auto* kernel = &copy<N>;`` before the launch says it; the
    name itself where nothing does."""
    found = re.findall(rf"\bauto\s*(?:const\b|[*&\s])*{re.escape(name)}\s*=\s*&?\s*([\w:]+\s*(?:<[^;]*>)?)\s*;", before)
    return " ".join(found[-1].split()) if found else name


def instances_of(kernels: Iterable[KernelDeclaration], program: Sequence[HostCode]) -> tuple[str, ...]:
    """The kernels with template arguments that the host names anywhere, ``auto run = copy<64>;``, where all of these
    are known."""
    names = {kernel.name.split("::")[-1] for kernel in kernels if kernel.template}
    found: dict[str, None] = {}
    for code in program:
        may_name = any(name.encode() in code.text for name in names)
        named = [node for node in walk(code.root, ("template_function",)) if _name_in(node, names)] if may_name else []
        for instance in (_instance(text_of(node), scope) for node in named for scope in scopes(node, code, program)):
            found |= {instance: None} if "<" in instance else {}
    return tuple(found)


def _name_in(function: Node, names: set[str]) -> bool:
    return text_of(function.child_by_field_name("name")) in names


def _plain(kernel: str) -> str:
    """A launched kernel without line breaks, and without parentheses around it, which a macro may need."""
    text = " ".join(kernel.split())
    while text.startswith("(") and text.endswith(")"):
        text = text[1:-1].strip()
    return text


def _instance(kernel: str, scope: Scope) -> str:
    """A launched kernel with template arguments that the device can take: ``"k<16>"``. Without any where it depends on
    what is not known."""
    arguments = [scope.argument(text) for text in arguments_of(kernel)]
    name = kernel.partition("<")[0].strip()
    if None in arguments:
        return name
    return f"{name}<{', '.join(map(str, arguments))}>" if "<" in kernel else kernel


def _host_type(argument: str, function: str, scope: Scope) -> str:
    """The type that a function declares for a variable; "" for expressions, and where it has an unknown name."""
    if not re.fullmatch(r"\w+", argument.strip()):
        return ""
    if value := scope.values.get(argument.strip()):
        return f"decltype({value})"
    one = _declared_type(argument.strip(), function)
    one = re.sub(r"\w+", lambda word: scope.bound.get(word[0], word[0]), one)
    return "" if set(re.findall(r"\w+", one)) & scope.unknown else one


@lru_cache(maxsize=1024)
def _declared_type(variable: str, function: str) -> str:
    """The only type with which a function declares a variable, "" without one."""
    name = re.escape(variable)
    # Quantifiers that never give back: a long text costs no more than its length for each word.
    kind = (
        r"(?<![\w.>])((?:const\s++)?(?:unsigned\s++)?(?!const\b)[A-Za-z_][\w:]*+(?:\s++(?:int|long|char|short)\b)?)"
        r"(?=[\s*])(?:\s++const\b)?"
    )
    declared = kind + r"\s*+(\**+)\s*+"
    found = re.findall(declared + rf"(?:\w++\s*+(?:=[^;,()]*+)?,\s*+\**+\s*+)*\b{name}\b\s*+[;=,)\[]", function)
    types = {
        f"{kind}{stars}" for kind, stars in found if kind not in ("return", "delete", "new", "else", "case", "auto")
    }
    return types.pop() if len(types) == 1 else ""


def deduced(kernel: KernelDeclaration, launch: LaunchSuggestion) -> str | None:
    """The template arguments of a launch, ``"<float, int>"``: those that it has, and the rest by its arguments' types.

    None where the types do not say those that the launch leaves out.
    """
    written = arguments_of(launch.kernel)
    own = {word for parameter in kernel.template for word in re.findall(r"\w+", parameter.partition("=")[0])[-1:]}
    if own & set(written):
        return None  # what a macro around the launch names, as those of PyTorch
    found: dict[str, str] = {}
    for parameter, given in zip(kernel.parameters, launch.types, strict=False):
        plain = re.sub(r"\b(?:const|volatile|__restrict__|__restrict)\b", " ", parameter)
        match = re.fullmatch(r"\s*([A-Za-z_]\w*)\s*(\**)\s*\w*\s*", plain)
        stars = "" if given.startswith("decltype(") else "*" * given.count("*")
        kind = re.sub(r"\bconst\b", " ", given).split("*")[0].strip() if stars else given
        fits = match is not None and given and match[2] == stars
        if match and fits and found.setdefault(match[1], kind) != kind and not written:
            return None
    arguments = list(written)
    for parameter in kernel.template[len(written) :]:
        name = re.fullmatch(r"(?:typename|class)\s+(\w+)\s*(?:=.*)?", parameter)
        if written and "=" in parameter:
            break
        if name is None or (name[1] not in found and "=" not in parameter):
            return None
        if name[1] in found:
            arguments.append(found[name[1]])
    return f"<{', '.join(arguments)}>" if arguments else None


def arguments_of(kernel: str) -> tuple[str, ...]:
    """The template arguments of a launched kernel, ``("float", "4")`` of ``k<float, 4>``; () where it has none."""
    inside = re.fullmatch(r"[^<]*<(.*)>", kernel.strip(), re.DOTALL)
    parts, depth = [""], 0
    for character in inside[1] if inside else "":
        depth += (character in "<([{") - (character in ">)]}")
        if character == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += character
    return tuple(part.strip() for part in parts if part.strip())
