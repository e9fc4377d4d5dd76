from pathlib import Path

import pytest

from uavsim.probing.engine_facts import EngineFacts

PAGE = (Path(__file__).parents[2] / "docs/simulators.md").read_text()


def facts(
    *, returns: bool = False, moves_m: float = 1.234, paused_m: float | None = 0.0, late: bool = True
) -> EngineFacts:
    return EngineFacts(
        returns_without_tick=returns,
        returns_within_ticks=late,
        car_moves_m=moves_m,
        paused_moves_m=paused_m,
    )


@pytest.mark.parametrize(
    ("seen", "way"),
    [
        (facts(), "ticks"),
        (facts(returns=True, paused_m=1.234), "free"),
        (facts(paused_m=1.234), "none"),
        (facts(paused_m=None), "none"),
        (facts(moves_m=0.0), "none"),
        (facts(late=False), "none"),
    ],
)
def test_a_way_is_picked_only_where_it_was_seen_to_hold(seen: EngineFacts, way: str) -> None:
    assert seen.way == way
    found, remedy = seen.lines
    assert found in PAGE
    assert bool(remedy) == (way == "none")
    assert remedy in PAGE
