"""Files of named arrays (npz) that are checked before they are believed: sizes first, then a digest of every byte."""

from __future__ import annotations

import hashlib
import io
import os
from collections.abc import Mapping
from dataclasses import dataclass
from math import prod
from pathlib import Path
from typing import IO
from zipfile import ZipFile

import numpy as np

#: Bytes of a file, and of all its arrays. A run with as many recorded accesses as the emulator keeps is smaller.
MOST_BYTES = 1 << 27
#: The archive's comment, its last bytes: a digest of all bytes before it.
_MARK = b"softlab sha256 "
_COMMENT = len(_MARK) + 2 * hashlib.sha256().digest_size


@dataclass(frozen=True)
class Archive:
    """The arrays of a file. verified: the file has a digest, and it is right."""

    arrays: dict[str, np.ndarray]
    verified: bool


def write_archive(path: str | Path, arrays: Mapping[str, np.ndarray]) -> None:
    """Write the arrays, none of Python objects, to the file ``path``; NumPy adds no ending.

    Raises:
        ValueError: they have more bytes than :func:`read_archive` takes.
    """
    total = sum(array.nbytes for array in arrays.values())
    if total > MOST_BYTES // 2:
        raise ValueError(f"{path}: the arrays have {total} bytes, and a file takes {MOST_BYTES // 2}: record less")
    buffer = io.BytesIO()
    np.savez_compressed(buffer, allow_pickle=False, **{name: np.asarray(a, order="C") for name, a in arrays.items()})
    with ZipFile(buffer, "a") as archive:
        archive.comment = b" " * _COMMENT
    content = buffer.getvalue()[:-_COMMENT]
    Path(path).write_bytes(content + _MARK + hashlib.sha256(content).hexdigest().encode())


def read_archive(path: str | Path) -> Archive:
    """The arrays of a file of :func:`write_archive`, or of NumPy.

    Raises:
        OSError: there is no such file, or it cannot be read. ValueError: it is damaged, too large or no archive.
    """
    with open(path, "rb") as stream:
        size = os.fstat(stream.fileno()).st_size
        content = stream.read() if size <= MOST_BYTES else b""
    try:
        if size > MOST_BYTES:
            raise ValueError(f"it has {size} bytes, more than {MOST_BYTES}")
        verified = content[-_COMMENT:].startswith(_MARK)
        digest = hashlib.sha256(content[:-_COMMENT]).hexdigest()
        if verified and content[-_COMMENT:] != _MARK + digest.encode():
            raise ValueError("its digest is wrong: it was changed after it was written")
        with ZipFile(io.BytesIO(content)) as archive:
            return Archive(_arrays(archive), verified)
    except Exception as error:  # what zipfile and NumPy raise for damaged bytes is not documented
        raise ValueError(f"{path} is damaged or no archive of arrays: {error or type(error).__name__}") from error


def _arrays(archive: ZipFile) -> dict[str, np.ndarray]:
    """The arrays. What they need is known, and refused where it is too much, before anything is decompressed."""
    members = archive.infolist()
    total = sum(member.file_size for member in members)
    if total > MOST_BYTES:
        raise ValueError(f"its arrays have {total} bytes, more than {MOST_BYTES}")
    names = [member.filename.removesuffix(".npy") for member in members]
    if len(set(names)) < len(names):
        raise ValueError("two of its arrays have one name")
    found = {}
    for name, member in zip(names, members, strict=True):
        with archive.open(member) as stream:
            found[name] = _array(name, stream, member.file_size)
    return found


def _array(name: str, stream: IO[bytes], size: int) -> np.ndarray:
    version = np.lib.format.read_magic(stream)
    readers = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}
    shape, by_columns, dtype = readers[version](stream)
    wanted = prod(shape) * dtype.itemsize
    if dtype.hasobject or min(shape, default=0) < 0 or wanted != size - stream.tell():
        raise ValueError(f"array {name} of {dtype} and shape {shape} does not have its size")
    raw = bytearray(stream.read(wanted))
    if stream.read(1) or len(raw) != wanted:  # at the end the checksum is compared
        raise ValueError(f"array {name} does not end where it should")
    array = np.frombuffer(raw, dtype)
    return array.reshape(shape[::-1]).T if by_columns else array.reshape(shape)


def checked_column(name: str, found: np.ndarray, dtype: np.dtype, shape: tuple[int, ...]) -> np.ndarray:
    """The array, if it has the dtype and the shape; an axis of -1 has any length.

    Raises:
        ValueError: it has not.
    """
    fits = len(found.shape) == len(shape) and all(
        want in (-1, have) for want, have in zip(shape, found.shape, strict=True)
    )
    if found.dtype != dtype or not fits:
        raise ValueError(f"{name} has dtype {found.dtype} and shape {found.shape}, not {dtype} and {shape}")
    return found
