"""Imports of the command line, made once by the process from which runs are forked."""

import importlib
import os
from typing import Final

MODULES: Final = (
    "uavsim.access.contact_sheet",
    "uavsim.annotate",
    "uavsim.cli.replay",
    "uavsim.flows.generate",
    "uavsim.validate.validator",
)

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # as ``uavsim/__main__.py`` does before numpy is imported
for name in MODULES:
    importlib.import_module(name)
