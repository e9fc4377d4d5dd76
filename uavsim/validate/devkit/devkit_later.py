"""scikit-learn is imported when the devkit first uses it: importing it takes longer than all else, for one kind of distance.

Imported before the devkit is.
"""

from __future__ import annotations

import importlib
import sys
from types import ModuleType
from typing import Any


class _Later(ModuleType):
    """A module that is imported when somebody asks it for anything."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        for module in [module for module, found in sys.modules.items() if isinstance(found, _Later)]:
            del sys.modules[module]
        return getattr(importlib.import_module(self.__name__), name)


if "sklearn" not in sys.modules:
    package, metrics = _Later("sklearn"), _Later("sklearn.metrics")
    package.metrics = metrics  # type: ignore[attr-defined]  # whoever says "import sklearn.metrics" reads it there
    sys.modules |= {"sklearn": package, "sklearn.metrics": metrics}
