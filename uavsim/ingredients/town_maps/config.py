"""The key ``maps`` of a dataset's YAML."""

from typing import Annotated, Literal, TypeAlias

from pydantic import AfterValidator, Field


def _in_files(asked: tuple[str, ...]) -> tuple[str, ...]:
    if set(asked) == {"buildings"}:
        raise ValueError("buildings are a layer of the other files; name one of these, too: [expansion, buildings]")
    return asked


Maps: TypeAlias = Annotated[
    tuple[Literal["expansion", "geojson", "graph", "buildings"], ...],
    Field(min_length=1, max_length=4),
    AfterValidator(_in_files),
]
"""``[expansion]``: nuScenes' map expansion with its raster; GeoJSON; a lane graph. ``buildings``: a layer of the first two."""
