"""Models of all actors: sizes in ``catalogue``, meshes in ``library``."""

from headless_simulator.models.library import ModelLibrary

__all__ = ["ModelLibrary"]
