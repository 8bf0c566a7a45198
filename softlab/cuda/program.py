"""A compiled kernel, whichever compiler made it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from softlab.cuda.given_options import fuses_products

#: NVRTC's option for device code that launches kernels: what carries the launches out is linked later.
RELOCATABLE = "--relocatable-device-code=true"


@dataclass(frozen=True)
class Program:
    """One kernel, compiled.

    ``entry`` is the symbol in ``ptx`` and ``cubin`` (both of one compilation); ``file`` the name that the source has in
    the PTX's line table. ``registers`` (per thread), ``static_smem_bytes``, ``local_bytes`` (stack) and ``spill_bytes``
    are the assembler's report for ``arch``. ``nvrtc`` is the compiler's version. ``reports`` has the same four figures
    of every kernel that was compiled with it, by its symbol. ``headers`` are texts of headers beside the source.
    ``remarks`` say which of them were taken from a guessed place; the cache does not keep them.

    ``clang`` is the version of clang where that made the PTX: then ``nvrtc`` is "", and there is no machine code. The
    cubin is empty, ``registers`` and ``spill_bytes`` are 0. PTX of another compiler has neither version.
    """

    source: str
    name: str
    file: str
    arch: str
    options: tuple[str, ...]
    nvrtc: str
    entry: str
    ptx: str
    cubin: bytes
    registers: int
    static_smem_bytes: int
    local_bytes: int
    spill_bytes: int
    reports: Mapping[str, Mapping[str, int]] = field(default_factory=dict, compare=False, repr=False)
    headers: Mapping[str, str] = field(default_factory=dict, compare=False, repr=False)
    clang: str = ""
    remarks: tuple[str, ...] = field(default=(), compare=False)

    @property
    def compiler(self) -> str:
        """What made the PTX: "NVRTC 12.9", "clang 22.1.8", or "another compiler"."""
        if self.nvrtc:
            return f"NVRTC {self.nvrtc}"
        return f"clang {self.clang}" if self.clang else "another compiler"

    @property
    def is_compiled_here(self) -> bool:
        """Whether a compiler that softlab calls made it of ``source``, so that it can be asked again."""
        return bool(self.nvrtc or self.clang)

    @property
    def fuses_products(self) -> bool:
        """Whether the assembler may round a product and the sum behind it once."""
        return fuses_products(self.options)

    def sibling(self, name: str) -> Program | None:
        """Another kernel of the same compilation; None where it is not there, or not certain to be meant.

        ``name``: that of an ``extern "C"`` kernel, or of a function in no namespace that is not overloaded.
        """
        mangled = re.compile(rf"_ZL?{len(name)}{re.escape(name)}(?!I)")
        found = [entry for entry in self.reports if entry == name or mangled.match(entry)]
        if len(found) != 1 or not name.isidentifier():
            return None
        figures: dict[str, Any] = {**self.reports[found[0]]}
        return replace(self, name=name, entry=found[0], **figures)
