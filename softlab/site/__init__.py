"""The course as a static site: pages that need no Python, made by ``python -m softlab.site``. See docs/site.md."""
