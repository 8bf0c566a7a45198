"""Pages that a command writes: one file, which needs no network."""

from __future__ import annotations

from html import escape
from pathlib import Path

#: The page follows the reader's light or dark system; the names are those that the pictures ask for.
_STYLE = """
:root { --jp-content-font-color1: #222; --jp-content-font-color2: #666; --jp-border-color2: #ccc;
  --jp-content-font-color0: #000; --jp-layout-color1: #fff; --page: #fff }
@media (prefers-color-scheme: dark) {
  :root { --jp-content-font-color1: #e6e6e6; --jp-content-font-color2: #a0a0a0; --jp-border-color2: #444;
    --jp-content-font-color0: #fff; --jp-layout-color1: #1c1c1c; --page: #111 }
}
body { max-width: 1200px; margin: 16px; font-family: sans-serif; color: var(--jp-content-font-color1);
  background: var(--page) }
"""


def check_page_name(option: str, file: str) -> None:
    """Refuse a name that does not end in .html.

    Raises:
        ValueError: such a name.
    """
    if Path(file).suffix != ".html":
        raise ValueError(f"{option} {file}: a name that ends in .html")


def write_page(option: str, file: str, title: str, body: str) -> None:
    """Write a page with this body.

    Raises:
        ValueError: the name does not end in .html, or the file cannot be written.
    """
    check_page_name(option, file)
    page = (
        f'<!doctype html><html lang="en"><meta charset="utf-8"><title>{escape(title)}</title>'
        f"<style>{_STYLE}</style><body>{body}</body></html>"
    )
    write_file(option, file, page)


def write_file(option: str, file: str, text: str) -> None:
    """Write a text.

    Raises:
        ValueError: the file cannot be written.
    """
    try:
        Path(file).write_text(text, encoding="utf-8")
    except OSError as error:
        raise ValueError(f"{option} {file} cannot be written: {error.strerror or error}") from None
