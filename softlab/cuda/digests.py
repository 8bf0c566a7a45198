"""Digests of the shipped CUDA sources that change when the code changes, and not when a comment or a space does."""

from __future__ import annotations

import hashlib
import re
from functools import lru_cache

from softlab.cuda.compile import included, kernel_sources

_TOKEN = re.compile(
    r"""
      //[^\n]* | /\*.*?\*/                                # a comment
    | \n | [^\S\n]+                                       # a line's end, other white space
    | "(?:\\.|[^"\\\n])*" | '(?:\\.|[^'\\\n])*' | \w+     # a literal, a word or a number
    | <<= | >>= | \.\.\. | :: | -> | \+\+ | -- | && | \|\| | << | >> | \#\# | [-+*/%&|^=!<>]=
    | .
    """,
    re.DOTALL | re.VERBOSE,
)


def code_of(source: str) -> str:
    """A CUDA source as its tokens with one space between them: no comments, and a line only for each directive."""
    tokens: list[str] = []
    directive, line_starts = False, True
    for token in _TOKEN.findall(source.replace("\\\n", " ")):
        if token == "\n":
            if directive:
                tokens.append("\n")
            directive, line_starts = False, True
        elif not token.isspace() and not token.startswith(("//", "/*")):
            if token == "#" and line_starts:
                directive = True
                tokens.append("\n")
            line_starts = False
            tokens.append(token)
    return " ".join(tokens)


@lru_cache(maxsize=64)
def file_digest(file: str) -> str:
    """A digest of the code of one shipped CUDA source and of the shipped headers that it includes."""
    sources = kernel_sources()
    digest = hashlib.sha256()
    for name in (file, *included(sources[file])):
        digest.update(f"{name}\0{code_of(sources[name])}\0".encode())
    return digest.hexdigest()[:16]
