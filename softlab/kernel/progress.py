"""A progress bar for long runs of the emulator and long estimates."""

from __future__ import annotations

import time
from typing import Any

#: Seconds before a run shows a progress bar.
PROGRESS_AFTER = 2.0


class ProgressBar:
    """A bar, on the terminal or in the notebook, for a run that takes more than 2 seconds."""

    def __init__(self, blocks: int, doing: str = "emulating") -> None:
        self._blocks, self._doing = blocks, doing
        self._done = 0
        self._start = time.monotonic()
        self._bar: Any = None

    def __enter__(self) -> ProgressBar:
        return self

    def __exit__(self, *error: object) -> None:
        if self._bar is not None:
            self._bar.close()

    def __call__(self, blocks: int) -> None:
        """``blocks`` more blocks are done."""
        self._done += blocks
        if self._bar is not None:
            self._bar.update(blocks)
        elif time.monotonic() - self._start > PROGRESS_AFTER and self._done < self._blocks:
            from tqdm.auto import tqdm

            self._bar = tqdm(total=self._blocks, initial=self._done, unit="block", leave=False, desc=self._doing)
