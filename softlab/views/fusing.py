"""What a chain of kernels moves, kernel by kernel, above what one fused kernel moves."""

from __future__ import annotations

from collections.abc import Mapping

from softlab.views import svg
from softlab.views.style import ROLES
from softlab.views.tables import shown

_LEFT, _ROW, _TOP, _PITCH = 96, 30, 44, 54
#: What moves through global memory: its name in ``data-role``, the words for it, whether it is written.
_PIECES = (("load", "read", False), ("store", "written", True))


def moved(counters: Mapping[str, int]) -> tuple[int, int]:
    """(read, written): sectors of global memory."""
    return counters["global_load_sectors"], counters["global_store_sectors"]


def traffic_bars(fused: Mapping[str, int], separate: Mapping[str, Mapping[str, int]], *, title: str) -> str:
    """SVG: two bars, the separate kernels' one after the other (name -> counters) and the fused one's.

    Sectors read and written have one scale. Each piece has ``data-kernel``, ``data-form`` and ``data-sectors``.
    """
    forms = {"separate": separate, "fused": {"fused": fused}}
    totals = {form: sum(sum(moved(counted)) for counted in kernels.values()) for form, kernels in forms.items()}
    scale = (svg.WIDTH - _LEFT - 90) / max(totals.values())
    parts = [svg.text(0, 14, title, bold=True, size=13)]
    for at, (_, words, written) in enumerate(_PIECES):
        x = float(_LEFT + 130 * at)
        parts += [svg.box(x, 22, 12, 12, ROLES["global"], banded=written), svg.text(x + 18, 32, f"sectors {words}")]
    for row, (form, kernels) in enumerate(forms.items()):
        y, x = _TOP + row * _PITCH, float(_LEFT)
        parts.append(svg.text(_LEFT - 8, y + 19, form, anchor="end", bold=form == "fused"))
        for name, counted in kernels.items():
            if form == "separate" and sum(moved(counted)) * scale > 7 * len(name):
                parts.append(svg.text(x + 2, y + _ROW + 13, name, fill=svg.FAINT, size=11))
            for (role, words, written), sectors in zip(_PIECES, moved(counted), strict=True):
                width = sectors * scale
                tip = f"{name}: {shown(sectors)} sectors {words}"
                parts.append(
                    svg.box(
                        x,
                        y,
                        width,
                        _ROW,
                        ROLES["global"],
                        tip,
                        banded=written,
                        kernel=name,
                        form=form,
                        role=role,
                        sectors=sectors,
                    )
                )
                x += width
            parts.append(svg.line(x, y - 3, x, y + _ROW + 3, stroke=svg.INK, width=2))
        parts.append(svg.text(x + 6, y + 19, shown(totals[form]), bold=form == "fused"))
    return svg.drawing(_TOP + 2 * _PITCH - 14, parts, title=title)
