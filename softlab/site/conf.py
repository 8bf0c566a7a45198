"""Sphinx's settings for the site. ``python -m softlab.site`` copies this file beside the pages that it writes."""

from __future__ import annotations

import re
from typing import Any

project = "softlab"
author = "the softlab authors"
copyright = author
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
myst_enable_extensions = ["dollarmath"]
myst_heading_anchors = 4
source_suffix = {".md": "markdown"}
exclude_patterns = ["listings/**"]
suppress_warnings = ["ref.python", "myst.header", "misc.highlighting_failure"]
default_role = "literal"
add_module_names = False
autodoc_typehints = "signature"
autodoc_typehints_format = "short"
autodoc_preserve_defaults = True
napoleon_custom_sections = [("Traits", "params_style")]
nitpicky = False
html_theme = "furo"
html_title = "softlab"
html_static_path = ["_static"]
html_css_files = ["softlab.css"]
html_js_files = [("about.js", {"defer": "defer"}), ("runtime.js", {"defer": "defer"})]
html_copy_source = False
html_show_sourcelink = False
html_show_sphinx = False
html_math_renderer = "mathml"
# The arrow keys belong to the pictures: they move sliders, lanes and what is wide.
html_theme_options = {"navigation_with_keys": False}


def _math(tex: str, display: bool) -> str:
    from docutils.utils.math.latex2mathml import tex2mathml

    return str(tex2mathml(tex, as_block=display))


def _inline(writer: Any, node: Any) -> None:
    from docutils.nodes import SkipNode

    writer.body.append(_math(node.astext(), False))
    raise SkipNode


def _block(writer: Any, node: Any) -> None:
    from docutils.nodes import SkipNode

    writer.body.append(f'<div class="softlab-math">{_math(node.astext(), True)}</div>')
    raise SkipNode


def _names(app: Any, what: str, name: str, obj: Any, options: Any, lines: list[str]) -> None:
    """A name that ends with an underscore is no link."""
    lines[:] = [re.sub(r"(?<![`\w.])([a-z]\w*)_(?![\w`])", r"``\1_``", line) for line in lines]


def _attributes(app: Any, what: str, name: str, obj: Any, options: Any, lines: list[str]) -> None:
    """The docstring of an attribute is a sentence: without an empty line first, a colon would end its type."""
    if what in ("attribute", "data", "property"):
        lines.insert(0, "")


def setup(app: Any) -> None:
    """Formulas as MathML, which browsers draw without a script; docstrings as they are meant."""
    app.connect("autodoc-process-docstring", _attributes, priority=100)  # before Napoleon
    app.connect("autodoc-process-docstring", _names)
    app.add_html_math_renderer("mathml", inline_renderers=(_inline, None), block_renderers=(_block, None))
