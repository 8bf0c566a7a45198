"""Template arguments that a kernel of a file may take, where no launch in the file says which."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import islice

from softlab.cuda.constant_expressions import Constants
from softlab.cuda.device_code import DeviceCode, KernelDeclaration
from softlab.cuda.launches import LaunchSuggestion, arguments_of

#: The first words of types of integers.
_NUMBERS = ("int", "unsigned", "long", "short", "char", "size_t", "std::size_t", "auto", "uint", "int32_t", "uint32_t",
            "int64_t", "uint64_t", "uint8_t", "uint16_t")  # fmt: skip
#: What a number may be: threads of a warp first, then the smallest, then other sizes that kernels have.
_SIZES = (32, 1, 2, 4, 8, 16, 64, 128, 256)
#: A type by its name that holds the state of a generator of cuRAND, and such types.
_STATE = re.compile(r"rand|rng|generator|state", re.IGNORECASE)
_STATES = ("curandState", "curandStatePhilox4_32_10_t", "curandStateMRG32k3a", "curandStateSobol32")
#: Names of parameters that a function object fits.
_FUNCTION = re.compile(
    r"^(?:op|fn|f$|pred|reduc|comp|visit|lambda|kernel|body|transform|loader|store|agg)|op$|fun", re.IGNORECASE
)
#: What the sizes of tiles are called, and what they may be, the likely ones first: tiles of a thread, the depth of a
#: block's tile, tiles of a warp, tiles of a block, and threads.
_TILES = (
    (re.compile(r"\w*CLUSTER\w*", re.IGNORECASE), (2, 1, 4)),
    (re.compile(r"T[MNK]|TILE_?[MN]_?THREAD|THREAD_?(?:TILE|SIZE|WORK)\w*|\w*(?:PER_?THREAD|ITERS?|UNROLL|VEC\w*)",
                re.IGNORECASE), (4, 8, 2, 1)),
    (re.compile(r"B_?K|(?:BLOCK|TILE)(?:_?SIZE)?_?K|\w*CHUNK\w*", re.IGNORECASE), (8, 16, 32)),
    (re.compile(r"W_?[MN]|WARP_?(?:TILE_?|SIZE_?)?[MN]", re.IGNORECASE), (32, 16, 64)),
    (re.compile(r"B_?[MN]|(?:BLOCK|TILE)(?:_?SIZE)?_?[MN]|TILE\w*", re.IGNORECASE), (64, 32, 16, 128)),
    (re.compile(r"\w*THREADS\w*|BLOCK_?(?:SIZE|DIM)\w*", re.IGNORECASE), (128, 256, 64, 32)),
)  # fmt: skip
#: Combinations of these that are compared with what a kernel asserts.
_COMBINATIONS = 2000
_ASSERTED = re.compile(r"\bstatic_assert\s*\(")
#: Candidates that are tried.
_MOST = 12


def last_name(name: str) -> str:
    """A kernel's name without its namespaces and template arguments."""
    return name.partition("<")[0].split("::")[-1].strip()


def candidates(code: DeviceCode, kernel: KernelDeclaration, launches: Sequence[LaunchSuggestion]) -> list[str]:
    """The kernel with template arguments that may fit its parameters, the likely ones first.

    These are the launches that have all arguments, other places that name an instance, the instantiations that the
    file writes out, and what the kinds of the parameters allow: a type, a function object of the file, a number, true,
    the first value of an enum.
    """
    found = dict.fromkeys(islice(_written(code, kernel, launches), _MOST))
    found |= dict.fromkeys(islice(_made_up(code, kernel), _MOST - len(found)))
    return list(found)


def form_of(code: DeviceCode, kernel: KernelDeclaration) -> str:
    """The kernel with as many template arguments as it needs, of the right kinds as far as that is clear."""
    return next(_made_up(code, kernel))


def _written(code: DeviceCode, kernel: KernelDeclaration, launches: Sequence[LaunchSuggestion]) -> Iterator[str]:
    """Those of the launches, and of the instantiations that the file writes out."""
    needed = sum("=" not in parameter for parameter in kernel.template)
    names = {word for parameter in kernel.template for word in re.findall(r"\w+", parameter.partition("=")[0])[-1:]}
    explicit = rf"\btemplate\s[^;{{}}<]*\b{re.escape(last_name(kernel.name))}\s*(<[^;{{}}]*>)\s*\("
    texts = [launch.kernel for launch in launches]
    texts += [one for one in code.mentions if last_name(one) == last_name(kernel.name)]
    texts += [f"k{match[1]}" for text in (code.source, *code.headers.values()) for match in re.finditer(explicit, text)]
    for text in texts:
        written = arguments_of(text)
        if needed <= len(written) <= len(kernel.template) and not names & set(written):
            yield f"{kernel.name}<{', '.join(written)}>"


def _made_up(code: DeviceCode, kernel: KernelDeclaration) -> Iterator[str]:
    """Arguments by the kinds of the parameters: one choice after the other."""
    needed = [parameter for parameter in kernel.template if "=" not in parameter]
    texts = [code.source, *code.headers.values()]
    choices = [_values(parameter, texts, code.function_objects) for parameter in needed]
    for one in islice(_tiles(code, kernel, needed, choices), _MOST // 2):
        yield f"{kernel.name}<{', '.join(one)}>"
    # The first choice of each parameter, then another one of one kind of them.
    yield f"{kernel.name}<{', '.join(values[0] for values in choices)}>"
    for size in _SIZES[1:]:
        if any(values[0] == str(_SIZES[0]) for values in choices):
            texts_of = (str(size) if values[0] == str(_SIZES[0]) else values[0] for values in choices)
            yield f"{kernel.name}<{', '.join(texts_of)}>"
    for at, values in enumerate(choices):
        for value in values[1:] if values[0] != str(_SIZES[0]) else ():
            others = [one[0] for one in choices]
            yield f"{kernel.name}<{', '.join([*others[:at], value, *others[at + 1 :]])}>"


def _tiles(
    code: DeviceCode, kernel: KernelDeclaration, needed: Sequence[str], choices: Sequence[Sequence[str]]
) -> Iterator[tuple[str, ...]]:
    """Arguments that keep what the kernel asserts of its numbers, the likely ones first. Only for kernels that assert
    something of them, or that have tiles by their names."""
    names = [re.findall(r"\w+", parameter)[-1] for parameter in needed]
    sizes = [_sizes(name) if values[0] == str(_SIZES[0]) else () for name, values in zip(names, choices, strict=True)]
    numbers = [name for name, some in zip(names, sizes, strict=True) if some]
    text = _body(code, kernel)
    asserted = [one for one in _assertions(text) if not set(numbers).isdisjoint(re.findall(r"\w+", one))]
    if not asserted and sum(some not in ((), _SIZES) for some in sizes) < 2:
        return
    written = [tuple(map(str, some)) or values[:1] for some, values in zip(sizes, choices, strict=True)]
    constants = Constants.of("\n".join([code.source, *code.headers.values()])).inside(text)
    for ranks in islice(_ranks([len(some) for some in written]), _COMBINATIONS):
        found = tuple(some[rank] for some, rank in zip(written, ranks, strict=True))
        bound = replace(constants, values={**constants.values, **dict(zip(names, found, strict=True))})
        if all(bound.number(one) != 0 for one in asserted):
            yield found


def _ranks(lengths: Sequence[int]) -> Iterator[tuple[int, ...]]:
    """One index per parameter, those with the smallest sum first. Of 14 parameters there are 10**13, so one by one."""
    for total in range(sum(lengths) - len(lengths) + 1):
        yield from _of_sum(lengths, total)


def _of_sum(lengths: Sequence[int], total: int) -> Iterator[tuple[int, ...]]:
    """The indices whose sum is ``total``, in order."""
    if not lengths:
        yield ()
        return
    first, *others = lengths
    most = sum(others) - len(others)
    for one in range(max(0, total - most), min(first - 1, total) + 1):
        for rest in _of_sum(others, total - one):
            yield (one, *rest)


def _sizes(name: str) -> tuple[int, ...]:
    """What a number of this name may be, the likely ones first."""
    return next((sizes for pattern, sizes in _TILES if pattern.fullmatch(name)), _SIZES)


def _body(code: DeviceCode, kernel: KernelDeclaration) -> str:
    """A kernel's text from its parameters to the end of its body; "" where it is not found."""
    head = re.compile(rf"\b{re.escape(last_name(kernel.name))}\s*\([^;{{}}]*\)\s*\{{")
    for text in (code.source, *code.headers.values()):
        if found := head.search(text):
            end = _closing(text, found.end())
            return text[found.start() : end]
    return ""


def _assertions(text: str) -> Iterator[str]:
    """What a text asserts: the conditions, without their messages."""
    for found in _ASSERTED.finditer(text):
        inside = text[found.end() : _closing(text, found.end()) - 1]
        yield re.sub(r",\s*\"(?:.|\n)*\Z", "", inside).strip()


def _closing(text: str, at: int) -> int:
    """The index after the bracket that closes the one before ``at``; the end of the text where none does."""
    depth = 1
    for found in re.compile(r"[(){}]").finditer(text, at):
        depth += 1 if found[0] in "({" else -1
        if depth == 0:
            return found.end()
    return len(text)


def _values(parameter: str, texts: Sequence[str], function_objects: Sequence[str]) -> list[str]:
    """What a template parameter may take, the likely ones first; "..." where that is not clear."""
    kind = re.sub(r"\b(?:const|constexpr|enum)\b", "", parameter).split()
    name = re.findall(r"\w+", parameter)[-1:]
    if parameter.startswith("template"):
        return [one.partition("<")[0] for one in function_objects if "<" in one] or ["..."]
    if not kind or kind[0] in ("typename", "class"):
        if name and _STATE.search(name[0]) and any("curand" in text for text in texts):
            return [*_STATES, "float"]
        objects = list(function_objects)
        return (
            [*objects, "float"]
            if name and _FUNCTION.search(name[0]) and objects
            else ["float", "int", "__half", *objects]
        )
    if kind[0] == "bool":
        return ["true", "false"]
    if kind[0] in _NUMBERS:
        return [str(size) for size in _SIZES]
    last = re.escape(kind[0].split("::")[-1])
    declared = re.compile(
        rf"\benum\s+(class\s+|struct\s+)?{last}\b[^{{;()<>]*\{{\s*(?://[^\n]*\s*|/\*.*?\*/\s*)*(\w+)", re.DOTALL
    )
    found = next((match for text in texts if (match := declared.search(text))), None)
    if found is not None:
        return [f"{kind[0]}::{found[2]}" if found[1] else found[2]]
    aliased = re.compile(rf"\btypedef\s+enum\b[^{{;]*\{{\s*(\w+)[^}}]*\}}\s*{last}\b")
    if found := next((match for text in texts if (match := aliased.search(text))), None):
        return [found[1]]
    if any(re.search(rf"\bconcept\s+{last}\b", text) for text in texts):
        return ["float", "int", "__half"]
    if any(re.search(rf"\btypedef\b[^;]*\b{last}\s*;|\busing\s+{last}\s*=", text) for text in texts):
        return [str(size) for size in _SIZES]
    return ["..."]
