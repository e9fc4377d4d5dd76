"""The key ``maps`` of a dataset's YAML."""

from __future__ import annotations

from typing import Annotated, Literal, TypeAlias

from pydantic import Field

__all__ = ["Maps"]

Maps: TypeAlias = Annotated[tuple[Literal["expansion", "geojson", "graph"], ...], Field(min_length=1, max_length=3)]
"""``[expansion]``: nuScenes' map expansion with its raster; GeoJSON; a lane graph."""
