"""The tables of corner cases."""

from uavsim.dataset.rows import CornerCaseRow, ObjectTagRow
from uavsim.dataset.schema import CORNER_CASE, OBJECT_TAG

__all__ = ["CORNER_CASE", "OBJECT_TAG", "CornerCaseRow", "ObjectTagRow"]
