"""Bodies of everything that moves: sizes in ``catalogue``, meshes in ``library``."""

from uavsim.mock_servers.models.library import ModelLibrary

__all__ = ["ModelLibrary"]
