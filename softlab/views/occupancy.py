"""What an SM holds of a kernel: each resource's limit, the warp slots, every block size; and what a GPU measured."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import plotly.graph_objects as go

from softlab.hardware.occupancies import UNLIMITED, Occupancy
from softlab.views import svg
from softlab.views.style import ROLES, SERIES, layout, stamped
from softlab.views.tables import RESOURCES, limits, shown

_BAR, _LEFT, _RIGHT = 24, 130, 330
_SLOT, _SLOTS_PER_LINE, _MOST_SLOTS = 24, 32, 64


def occupancy_sentences(held: Occupancy) -> list[str]:
    """What the picture says, in words: how much is held, and what would have to change for more."""
    device = held.device
    if held.reason:
        return [f"Not one block fits on an SM of {device.name}. {held.reason}"]
    sentences = [
        f"Blocks of {held.threads} threads, {held.registers} registers per thread, {shown(held.smem)} bytes of shared"
        f" memory: an SM of {device.name} holds {held.blocks_per_sm}. That is {held.warps_per_sm} of"
        f" {device.max_warps_per_sm} warps, {held.fraction:.1%}. What limits it: {limits(held.limiters)}."
    ]
    allocated = held.smem_allocated - device.smem_reserved_per_block
    if held.smem and allocated != held.smem:
        sentences.append(f"Shared memory is allocated in units of {device.smem_allocation_unit} bytes.")
    if (odd := held.threads % device.warp_size) and held.blocks_per_sm:
        sentences.append(f"The last warp of each block has {odd} threads, and takes the slot of a full one.")
    return sentences


def limiter_bars(held: Occupancy) -> str:
    """SVG: the blocks that each resource alone would allow; those that bind have an edge, and say so."""
    device = held.device
    most = device.max_blocks_per_sm
    scale = (svg.WIDTH - _LEFT - _RIGHT) / most
    parts = [svg.text(0, 14, "Blocks that each resource alone would allow on an SM", bold=True, size=13)]
    for row, (name, limit) in enumerate(held.limits.items()):
        y = 26 + row * (_BAR + 6)
        binds = name in held.limiters
        drawn = min(limit, most)
        words = "no limit" if limit == UNLIMITED else shown(limit)
        parts += [
            svg.text(_LEFT - 8, y + 16, RESOURCES[name], anchor="end", bold=binds),
            svg.box(_LEFT, y, most * scale, _BAR, "", outline=True),
            svg.box(
                _LEFT, y, drawn * scale, _BAR, ROLES["conflict"] if binds else SERIES[0],
                f"{RESOURCES[name]}: {words} blocks. {_arithmetic(held, name)}",
                marked=binds, resource=name, blocks=words,
            ),
            svg.text(_LEFT + most * scale + 8, y + 16, f"{words}{', the limit' if binds else ''}", bold=binds),
            svg.text(_LEFT + most * scale + 92, y + 16, _arithmetic(held, name), fill=svg.FAINT, size=11),
        ]  # fmt: skip
    return svg.drawing(26 + len(held.limits) * (_BAR + 6), parts, title=" ".join(occupancy_sentences(held)))


def _arithmetic(held: Occupancy, name: str) -> str:
    """Where a limit comes from, in one short sum."""
    device = held.device
    warps = -(-held.threads // device.warp_size)
    if name == "threads":
        return f"{device.max_warps_per_sm} warps / {warps} per block"
    if name == "registers":
        if not held.registers:
            return "the kernel takes none"
        return f"{shown(device.registers_per_sm)} / {shown(held.registers_per_block)} per block"
    if name == "smem":
        if not held.smem_allocated:
            return "the kernel takes none"
        return f"{shown(device.smem_per_sm)} / {shown(held.smem_allocated)} bytes per block"
    return f"{device.max_blocks_per_sm} slots"


def warp_slots(held: Occupancy) -> str:
    """SVG: an SM's warp slots, filled block by block; neighbouring blocks alternate in colour and carry a number."""
    device = held.device
    slots = device.max_warps_per_sm
    warps = -(-held.threads // device.warp_size)
    parts = [svg.text(0, 14, f"The {slots} warp slots of an SM, and which block fills them", bold=True, size=13)]
    for slot in range(slots):
        block, taken = slot // warps, slot < held.warps_per_sm
        x, y = (slot % _SLOTS_PER_LINE) * _SLOT, 24 + slot // _SLOTS_PER_LINE * _SLOT
        tip = f"warp slot {slot}: {f'warp {slot % warps} of block {block}' if taken else 'empty'}"
        fill = SERIES[0] if block % 2 == 0 else ROLES["served"]
        parts.append(svg.box(x, y, _SLOT - 2, _SLOT - 2, fill, tip, outline=not taken, slot=slot, taken=int(taken)))
        if taken:
            ink = "#fff" if block % 2 == 0 else "#000"
            parts.append(svg.text(x + _SLOT / 2 - 1, y + 15, block, anchor="middle", fill=ink, size=10))
    # As high for every GPU: the pictures below stay where they are when another one is chosen.
    height = 24 + -(-_MOST_SLOTS // _SLOTS_PER_LINE) * _SLOT
    return svg.drawing(height, parts, title=f"{held.warps_per_sm} of {slots} warp slots taken")


def block_size_bars(table: Mapping[str, Any], held: Occupancy, best: int) -> str:
    """SVG: the occupancy of every block size with the same registers and shared memory.

    ``table``: of :func:`softlab.hardware.occupancies.table` over threads; ``best``: the block size with the most
    threads on an SM, 0 where none fits. Sizes that have as many carry a mark.
    """
    sizes, fractions = table["threads"].tolist(), table["fraction"].tolist()
    most = max(fractions, default=0)
    ties = {size for size, fraction in zip(sizes, fractions, strict=True) if fraction == most > 0 and size != best}
    top, tall, step = 30, 96, (svg.WIDTH - 60) / len(sizes)
    parts = [svg.text(0, 14, "The same kernel in blocks of every size", bold=True, size=13)]
    for share in (0, 0.5, 1):
        y = top + tall * (1 - share)
        parts += [svg.line(46, y, svg.WIDTH, y), svg.text(40, y + 4, f"{share:.0%}", anchor="end", fill=svg.FAINT)]
    for k, (size, fraction) in enumerate(zip(sizes, fractions, strict=True)):
        x, chosen = 50 + k * step, size == -(-held.threads // 32) * 32
        tip = f"blocks of {size}: {fraction:.1%} of the warps, {int(table['blocks_per_sm'][k])} blocks per SM"
        fill = ROLES["choice"] if chosen else SERIES[0]
        y, mark = top + tall * (1 - fraction), int(chosen)
        parts.append(svg.box(x, y, step - 3, tall * fraction, fill, tip, marked=chosen, size=size, chosen=mark))
        if chosen:
            parts.append(svg.text(x + step / 2, top + tall + 28, "yours", anchor="middle", bold=True))
        if size == best:
            parts.append(svg.text(x + step / 2, top - 4, "best", anchor="middle", bold=True))
        elif size in ties:
            parts.append(svg.text(x + step / 2, top - 4, "=", anchor="middle", bold=True))
        if size % 128 == 0:
            parts.append(svg.text(x + step / 2, top + tall + 14, size, anchor="middle", fill=svg.FAINT, size=11))
    if ties:
        words = "= as many warps as the best"
        parts.append(svg.text(svg.WIDTH, 14, words, anchor="end", fill=svg.FAINT, size=11))
    parts.append(svg.text(svg.WIDTH, top + tall + 28, "threads per block", anchor="end", fill=svg.FAINT, size=11))
    return svg.drawing(top + tall + 34, parts, title=f"occupancy by block size, yours {held.threads}, best {best}")


def achieved_bars(
    labels: Sequence[str], theoretical: Sequence[float], achieved: Sequence[float], stamp: str
) -> go.Figure:
    """Bars in percent of an SM's warps: what the arithmetic allows, and what a GPU had on average while it ran."""
    figure = go.Figure(
        [
            go.Bar(
                name=name, y=labels, x=values, orientation="h", marker={"color": colour},
                text=[f"{value:.0f} %" for value in values], textposition="outside", cliponaxis=False,
                hovertemplate=f"%{{y}}<br>{name}: %{{x:.1f}} %<extra></extra>",
            )
            for name, values, colour in (("theoretical", theoretical, SERIES[4]), ("achieved", achieved, SERIES[1]))
        ],
        layout("Occupancy: what fits, and what was measured", "percent of an SM's warps", "", barmode="group"),
    )  # fmt: skip
    figure.update_layout(height=70 + 46 * len(labels), margin={"l": 230, "b": 96}, legend={"traceorder": "normal"})
    figure.update_yaxes(autorange="reversed", showgrid=False)
    return stamped(figure.update_xaxes(range=[0, 112]), stamp)
