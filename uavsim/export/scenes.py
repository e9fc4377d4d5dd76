"""The scenes of a request as arrays: what exports of whole scenes start from, in either dialect."""

from __future__ import annotations

from collections.abc import Iterator

from uavsim.access import Scene, open_folder
from uavsim.export.keyframes import ExportRequest
from uavsim.registry import pick

__all__ = ["scenes_of"]


def scenes_of(request: ExportRequest) -> Iterator[Scene]:
    """Yield the scenes of the request's split.

    Raises:
        UnknownNameError: no such version or split.
        DatasetError: the data set is damaged.
    """
    data = open_folder(request.root, request.version)
    wanted = None if request.split is None else set(pick(data.splits, request.split, what="split"))
    return (scene for scene in data if wanted is None or scene.name in wanted)
