"""Bodies of everything that moves: sizes in ``catalogue``, meshes in ``library``."""
