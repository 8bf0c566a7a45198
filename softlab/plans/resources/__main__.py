"""``python -m softlab.plans.resources``: bring the shipped table of registers up to date."""

import sys

from softlab.plans.resources.refresh import main

if __name__ == "__main__":  # the worker processes import this module, too
    sys.exit(main())
