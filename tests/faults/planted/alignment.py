"""Faults planted in vector accesses: addresses that are not a multiple of the width."""

from __future__ import annotations

from tests.faults.planted.record import Planted

ALIGNMENT: tuple[Planted, ...] = (
    Planted(
        kind="misaligned",
        name="a row that starts one later",
        kernel="copy by four",
        old="reinterpret_cast<const float4*>(x)[i]",
        new="reinterpret_cast<const float4*>(x + 1)[i]",
        line="<const float4*>(x + 1)[i]",
        thread=(0, 0, 0),
        block=(0, 0, 0),
        address=4,
    ),
    Planted(
        kind="misaligned",
        name="after divergence",
        kernel="values of even keys",
        old="(records + 8 * i + 4)",
        new="(records + 8 * i + 2)",
        line="records + 8 * i + 2",
        thread=None,
        block=(0, 0, 0),
    ),
    Planted(
        kind="misaligned",
        name="doubles behind an odd byte",
        kernel="two types",
        old="reinterpret_cast<double*>(raw)",
        new="reinterpret_cast<double*>(raw + 4)",
        line="values[thread] = x",
        thread=(0, 0, 0),
        block=(0, 0, 0),
        address=4,
    ),
    Planted(
        kind="misaligned",
        name="shared pairs",
        kernel="pairs of a tile",
        old="(floats + 2 * thread)",
        new="(floats + thread)",
        line="floats + thread)",
        thread=(1, 0, 0),
        block=(0, 0, 0),
        address=4,
    ),
    Planted(
        kind="misaligned",
        name="in a header",
        kernel="narrow softmax",
        old="Load<T, Compute>{x, cols}",
        new="Load<T, Compute>{x + 1, cols}",
        line="input.template load<pack_size>",
        thread=(0, 0, 0),
        block=(0, 0, 0),
        address=2,
    ),
    Planted(
        kind="misaligned",
        name="an atomic",
        kernel="classes",
        old="atomicMin(&least, x[i])",
        new="atomicMin(reinterpret_cast<int*>(reinterpret_cast<char*>(&least) + 2), x[i])",
        line="atomicMin",
    ),
)
