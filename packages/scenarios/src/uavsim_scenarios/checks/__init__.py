"""Checks of the tables that these ingredients add: a validator's, which takes no word of what wrote them.

They import ``uavsim.validate`` alone; a contract keeps out the ingredients and whatever makes a dataset.
"""

from typing import Final

from uavsim.validate.rules import Check, of, of_tables
from uavsim_scenarios.checks import cases, clocks, encounters, streams

__all__ = ["CHECKS"]

_STREAMS, _CLOCKS = ("stream",), ("clock",)
_ENCOUNTERS, _CASES = ("encounter", "intruder_view"), ("corner_case", "object_tag")

CHECKS: Final[tuple[Check, ...]] = (
    of(
        "streams.readings",
        streams.readings_in_order,
        "streams.file",
        "streams.readings",
        "streams.place",
        where=_STREAMS,
    ),
    of_tables("clocks.readings", clocks.readings_by_their_clock, "clock.reading", where=_CLOCKS),
    of_tables("clocks.messages", clocks.messages_arrive_later, "clock.message", where=_CLOCKS),
    of("encounters.range", encounters.ranges_are_distances, "encounter.range", where=_ENCOUNTERS),
    of("encounters.cpa", encounters.nothing_nearer_than_cpa, "encounter.cpa", where=_ENCOUNTERS),
    of("encounters.rows", encounters.what_is_seen_has_a_row, "encounter.missing", needs="images", where=_ENCOUNTERS),
    of("encounters.boxes", encounters.boxes_are_the_masks, "encounter.box", needs="images", where=_ENCOUNTERS),
    of("encounters.horizon", encounters.horizon_is_the_pixels, "encounter.horizon", needs="images", where=_ENCOUNTERS),
    of_tables("cases.scenes", cases.scenes_have_cases, "cases.none", where=_CASES),
    of_tables("cases.tags", cases.everything_tagged, "cases.tag", where=_CASES),
    of("cases.seen", cases.cases_large_enough, "cases.small", needs="masks", where=_CASES),
)
