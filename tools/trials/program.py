"""Run a trial's ``main`` as a program: ``python -m tools.trials.program MODULE ARGUMENTS``."""

import importlib
import sys

if __name__ == "__main__":
    del sys.argv[0]
    sys.exit(importlib.import_module(sys.argv[0]).main())
