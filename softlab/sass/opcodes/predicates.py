"""Instructions without a result of their own: hints and waits for what is done at once here."""

from __future__ import annotations

from softlab.sass.form import Form
from softlab.sass.registry import Action, pure


@pure(
    "NOP", "YIELD", "NANOSLEEP", "DEPBAR", "LDGDEPBAR", "MEMBAR", "ERRBAR", "CGAERRBAR", "CCTL", "CCTLL", "FENCE",
    "PREEXIT", "ACQBULK", "UTMACMDFLUSH", "UTMACCTL", "PMTRIG", "UBLKPF", "USETMAXREG", "UCGABAR_SET",
)  # fmt: skip
def _nothing(form: Form) -> Action:
    """No value depends on it: memory is consistent at all times here."""
    return lambda r: None
