from pathlib import Path

import pytest

from uavsim.probing.engine_facts import EngineFacts

PAGE = (Path(__file__).parents[2] / "docs/simulators.md").read_text()


def facts(
    *, returns: bool = False, moves_m: float = 1.234, paused_m: float | None = 0.0, returns_late: bool = True
) -> EngineFacts:
    return EngineFacts(
        returns_without_tick=returns,
        returns_within_ticks=returns_late,
        car_moves_m=moves_m,
        paused_moves_m=paused_m,
    )


@pytest.mark.parametrize(
    ("measured", "is_supported"),
    [
        (facts(), True),
        (facts(returns=True, paused_m=1.234), True),
        (facts(paused_m=1.234), False),
        (facts(paused_m=None), False),
        (facts(moves_m=0.0), False),
        (facts(returns_late=False), False),
    ],
)
def test_capture_method_follows_the_measured_facts(measured: EngineFacts, is_supported: bool) -> None:
    assert measured.is_supported == is_supported
    found, remedy = measured.lines
    assert found in PAGE
    assert bool(remedy) == (not is_supported)
    assert remedy in PAGE
