"""Which kernel of a file a name means, and what NVRTC calls it."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from softlab.cuda.device_code import DeviceCode, KernelDeclaration
from softlab.cuda.launches import arguments_of, deduced
from softlab.kernel.template_arguments import candidates, form_of, last_name

#: Words of the language, and types that CUDA's headers have.
_OF_LANGUAGE = re.compile(
    r"true|false|bool|u?char|u?short|u?int|u?long|unsigned|float|double|void|s?size_t|u?int(?:8|16|32|64)_t|half2?"
    r"|__half2?|(?:__)?nv_bfloat162?|(?:u?(?:char|short|int|long|longlong)|float|double)[1-4]"
)
#: What an error says of template arguments that do not compile.
ONLY_FORM = "That is only their form"
#: A kernel's name, its template arguments and its parameters.
_NAME = re.compile(r"([^<(]*)(<.*>|<[^>]*)?(\(.*\))?", re.DOTALL)
#: The last word of a type that has no name after it.
_TYPE_WORDS = ("int", "unsigned", "long", "short", "char", "float", "double", "bool", "const")


def kernel_name(
    code: DeviceCode, name: str | None, file: str, fault_of: Callable[[str], str] = lambda instance: ""
) -> str:
    """What NVRTC calls the kernel.

    Arguments:
        code, file: the file, and its name for messages.
        name: a kernel of it, with template arguments where it has them, as ``"copy<float, 4>"``. Namespaces may be left
            out where one kernel has that name. Overloaded kernels need their parameters, as ``"k(float*, int)"``.
            Template arguments may be left out where the host launches one instantiation, where the types of its
            arguments say them, or where all have defaults. None: the only kernel.
        fault_of: why an instance of a template does not compile, "" where it does, for an example in a message.

    Raises:
        ValueError: it is not clear which kernel is meant; the message lists them.
    """
    listing = _listing(code, file)
    if name is None:
        names = {kernel.name for kernel in code.kernels}
        if len(names) != 1:
            what = f"{len(names)} kernels: say which" if names else "no kernel"
            raise ValueError(f"{file} has {what}.\n{listing}")
        (name,) = names
    base, arguments, parameters = _NAME.fullmatch(name.strip()).groups()  # type: ignore[union-attr]
    found = _named(code, base, file, listing)
    if not found:
        return name  # a kernel that a macro makes: the compiler knows
    arguments = arguments or ""
    if parameters:
        kernel = _overload(found, parameters, bool(arguments), listing)
        if not kernel.template or arguments:
            return f"(void (*)({', '.join(_types(kernel, arguments))})){kernel.name}{arguments}"
    else:
        kernel = next((one for one in found if one.template or not arguments), found[0])
    base, _, own = kernel.name.partition("<")
    if own:  # a specialisation, whose template stands elsewhere
        return base + (arguments or f"<{own}")
    if not arguments and kernel.template:
        arguments = _instantiation(code, kernel, listing, fault_of)
    return kernel.name + arguments


def _listing(code: DeviceCode, file: str) -> str:
    """The kernels of a file and its launches, for messages."""
    listed = "".join(f"\n  line {kernel.line}: {kernel}" for kernel in code.kernels) or "\n  none"
    launched = "".join(f"\n  {launch}" for launch in code.launches)
    return f"Kernels of {file}:{listed}" + (f"\nLaunches in its host code:{launched}" if launched else "")


def _types(kernel: KernelDeclaration, arguments: str) -> list[str]:
    """The types of a kernel's parameters, with these template arguments for the names of the template's parameters."""
    names = [re.findall(r"\w+", parameter.partition("=")[0])[-1] for parameter in kernel.template]
    bound = dict(zip(names, arguments_of(f"k{arguments}"), strict=False))
    return [re.sub(r"\w+", lambda word: bound.get(word[0], word[0]), _type_of(one)) for one in kernel.parameters]


def _named(code: DeviceCode, base: str, file: str, listing: str) -> list[KernelDeclaration]:
    """The kernels of that name, overloads of one; none where a macro may make it."""
    found = [kernel for kernel in code.kernels if kernel.name.partition("<")[0] == base]
    found = found or [kernel for kernel in code.kernels if last_name(kernel.name) == last_name(base)]
    if not found and code.kernels and not re.search(rf"\b{re.escape(base)}\b", code.source):
        raise ValueError(f"{file} has no kernel {base!r}.\n{listing}")
    qualified = {kernel.name.partition("<")[0] for kernel in found}
    if len(qualified) > 1:
        raise ValueError(f"{file} has several kernels {base!r}: give the namespace.\n{listing}")
    return found


def _overload(
    kernels: Sequence[KernelDeclaration], parameters: str, is_template: bool, listing: str
) -> KernelDeclaration:
    """The one of several kernels of a name that these parameters say, ``"(float* x, int n)"``, names left out or not.

    Raises:
        ValueError: no kernel has them.
    """
    wanted = [_type_of(one) for one in _split(parameters.strip()[1:-1])]
    for one in kernels:
        if (one.template or not is_template) and [_type_of(each) for each in one.parameters] == wanted:
            return one
    raise ValueError(f"No kernel {kernels[0].name} has the parameters {parameters}.\n{listing}")


def overloads(code: DeviceCode, name: str) -> str:
    """What to say of a name that several kernels have."""
    found = [kernel for kernel in code.kernels if kernel.name == name.partition("<")[0]]
    shown = next((kernel for kernel in found if not kernel.template), found[0] if found else None)
    if shown is None:
        return ""
    example = f"{name}({', '.join(map(_type_of, shown.parameters))})"
    listed = "".join(f"\n  line {kernel.line}: {kernel}" for kernel in found)
    return f"{name} is overloaded: give the parameters as well, as in {example!r}.{listed}"


def _type_of(parameter: str) -> str:
    """The type of a parameter, without its name and its default: "const float *" of ``const float *x = 0``."""
    plain = re.sub(r"\b(?:__restrict__|__restrict|__grid_constant__)\b", " ", parameter.partition("=")[0]).strip()
    plain, array = re.subn(r"\s*\[[^\]]*\]", "", plain)
    named = re.fullmatch(r"(.*[\s*&>])([A-Za-z_]\w*)", plain, re.DOTALL)
    if named and named[2] not in _TYPE_WORDS and not re.fullmatch(r"(?:\s|const|volatile)*", named[1]):
        plain = named[1]
    return re.sub(r"\s*([*&])\s*", r"\1", " ".join(plain.split())) + "*" * bool(array)


def _split(text: str) -> list[str]:
    """The parts between commas that stand in no brackets."""
    return [part for part in re.split(r",(?![^<(]*[>)])", text) if part.strip()]


def _are_declared(arguments: str, code: DeviceCode) -> bool:
    """Whether the device code has the names in template arguments, ``"<T, 4>"``: the host may have made others."""
    words = [one for one in arguments_of(f"k{arguments}") if one.isidentifier() and not _OF_LANGUAGE.fullmatch(one)]
    texts = (code.source, *code.headers.values())
    return all(any(re.search(rf"\b{word}\b", text) for text in texts) for word in words)


def _instantiation(code: DeviceCode, kernel: KernelDeclaration, listing: str, fault_of: Callable[[str], str]) -> str:
    """The template arguments that the host's launches or the defaults give."""
    launches = [launch for launch in code.launches if last_name(launch.kernel) == last_name(kernel.name)]
    types = {found for launch in launches if (found := deduced(kernel, launch))}
    if len(types) == 1 and _are_declared(next(iter(types)), code):
        return types.pop()
    if all("=" in parameter for parameter in kernel.template):
        return "<>"
    tried = candidates(code, kernel, launches)
    faults: list[str] = []
    for one in tried:
        if "..." not in one and not (fault := fault_of(one)):
            shown = f"{one!r}."
            break
        faults += [fault] if "..." not in one else []
    else:
        said = f" The first one: {faults[0]}." if faults else ""
        shown = f"{form_of(code, kernel)!r}. {ONLY_FORM}: of {len(tried)} guesses none compiles.{said}"
    if any(re.search(r"\[[=&\w, ]*\]", argument) for launch in launches for argument in launch.arguments):
        shown += " The host launches it with a lambda, which has no name: give a struct with that operator()."
    raise ValueError(
        f"{kernel.name} is a template <{', '.join(kernel.template)}>: give its arguments, as in {shown}\n{listing}"
    )
