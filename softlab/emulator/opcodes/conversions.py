"""The conversions of C's ``printf``: one value as text (ISO C17, 7.21.6.1; where that is free, as glibc)."""

from __future__ import annotations

import math
from dataclasses import dataclass

#: A wider field or a longer number is not printed: one thread could ask for gigabytes.
_LARGEST = 1 << 16
#: Hexadecimal digits of a double's fraction.
_FRACTION = 13


@dataclass(frozen=True)
class Conversion:
    """One conversion: its flags, width (0: none), precision (None: none) and letter. Bytes are characters here."""

    flags: str
    width: int
    precision: int | None
    letter: str

    @classmethod
    def of(cls, flags: str, width: int, precision: int | None, letter: str) -> Conversion:
        """The conversion; a negative width is the flag "-", and a negative precision is none."""
        flags += "-" if width < 0 else ""
        precision = None if precision is None or precision < 0 else min(precision, _LARGEST)
        return cls(flags, min(abs(width), _LARGEST), precision, letter)

    def integer(self, value: int) -> str:
        """The text for d, i, u, o, x and X; ``value`` is not negative unless the letter is d or i."""
        base = {"o": "o", "x": "x", "X": "X"}.get(self.letter, "d")
        digits = "" if self.precision == 0 and not value else format(abs(value), base)
        digits = digits.rjust(self.precision or 0, "0")
        prefix = self._sign(value < 0) if self.letter in "di" else ""
        if "#" in self.flags and base == "o" and not digits.startswith("0"):
            digits = "0" + digits
        elif "#" in self.flags and base in "xX" and value:
            prefix = "0" + base
        return self._padded(prefix, digits, zeros=self.precision is None)

    def floating(self, value: float) -> str:
        """The text for e, f, g, a and their capitals."""
        sign = self._sign(math.copysign(1, value) < 0)
        value, upper = abs(value), self.letter.isupper()
        if not math.isfinite(value):
            text = f"{value}"
            return self._padded(sign, text.upper() if upper else text, zeros=False)
        if self.letter in "aA":
            text = self._hexadecimal(value)
            return self._padded(sign + ("0X" if upper else "0x"), text.upper() if upper else text)
        precision = 6 if self.precision is None else self.precision
        form = f"%{'#' if '#' in self.flags else ''}.{precision}{self.letter}"
        return self._padded(sign, form % value)

    def text(self, value: str) -> str:
        """The text for c, s and p."""
        cut = self.precision if self.letter == "s" else None
        return self._padded("", value[:cut], zeros=False)

    def _sign(self, negative: bool) -> str:
        if negative:
            return "-"
        return "+" if "+" in self.flags else " " if " " in self.flags else ""

    def _padded(self, prefix: str, body: str, *, zeros: bool = True) -> str:
        missing = self.width - len(prefix) - len(body)
        if "-" in self.flags:
            return prefix + body + " " * missing
        if zeros and "0" in self.flags:
            return prefix + "0" * missing + body
        return " " * missing + prefix + body

    def _hexadecimal(self, value: float) -> str:
        """ "1.8p+1" for 3.0: the digits after "0x"."""
        mantissa, _, exponent = value.hex()[2:].partition("p")
        lead, _, fraction = mantissa.partition(".")
        bits = int(lead + fraction.ljust(_FRACTION, "0"), 16)
        shown = _FRACTION if self.precision is None else self.precision
        dropped = 4 * max(0, _FRACTION - shown)
        kept, rest = bits >> dropped, bits & (1 << dropped) - 1
        half = 1 << dropped >> 1
        kept += bool(dropped) and (rest > half or (rest == half and kept & 1 == 1))
        digits_shown = min(shown, _FRACTION)
        digits = format(kept & (1 << 4 * digits_shown) - 1, "x").rjust(digits_shown, "0") if digits_shown else ""
        digits = digits.rstrip("0") if self.precision is None else digits.ljust(shown, "0")
        point = "." if digits or "#" in self.flags else ""
        return f"{kept >> 4 * digits_shown}{point}{digits}p{exponent}"
