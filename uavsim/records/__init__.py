"""Records that stages hand on: frozen dataclasses, and their bytes."""
