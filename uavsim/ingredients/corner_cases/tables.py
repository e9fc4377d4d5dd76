"""The tables of corner cases."""

from typing import Final, TypedDict

from uavsim.dataset.schema import Table


class CornerCaseRow(TypedDict):
    """One object that makes a scene a corner case; ``instance_tokens`` are its parts, which have boxes as all others have.

    ``seen`` reports each training set whether it has the tag, ``in_domain`` whether the scene's town and weather are its own.
    """

    token: str
    scene_token: str
    name: str
    tag: str
    synonyms: list[str]
    hypernyms: list[str]
    seen: dict[str, bool]
    in_domain: dict[str, bool]
    on: str
    min_visible_px: int
    attributes: dict[str, str]
    instance_tokens: list[str]


class ObjectTagRow(TypedDict):
    """The tag of one instance of a dataset with corner cases; ``corner_case_token`` is "" for what no case placed."""

    token: str
    instance_token: str
    tag: str
    synonyms: list[str]
    hypernyms: list[str]
    seen: dict[str, bool]
    corner_case_token: str


CORNER_CASE: Final = Table.where_used("corner_case", CornerCaseRow, "scene_token")
OBJECT_TAG: Final = Table.where_used("object_tag", ObjectTagRow, "instance_token")
TABLES: Final = (CORNER_CASE, OBJECT_TAG)
