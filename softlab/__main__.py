"""``python -m softlab``: the same as the ``softlab`` command."""

from softlab.cli import main

raise SystemExit(main())
