from dataclasses import dataclass
from typing import Any, cast

import pytest

from uavsim.access.asynchrony import newest_known
from uavsim.access.images import Image
from uavsim.errors import InputError


@dataclass
class Taken:
    token: str
    channel: str
    timestamp_us: int


IMAGES = [
    Taken("a100", "CAMERA_FRONT_id_0", 100),
    Taken("a100b", "CAMERA_BACK_id_0", 100),
    Taken("a300", "CAMERA_FRONT_id_0", 300),
    Taken("b150", "CAMERA_FRONT_id_1", 150),
    Taken("b250", "CAMERA_FRONT_id_1", 250),
    Taken("b200", "CAMERA_FRONT_id_1", 200),  # of a keyframe: without a clock
]
ROWS: dict[str, list[dict[str, Any]]] = {
    "clock": [
        {"agent": "0", "drift_ppm": 50_000.0, "offset_us": 7.0},
        {"agent": "1", "drift_ppm": 0.0, "offset_us": -10.0},
    ],
    "clock_reading": [
        {"sample_data_token": t, "agent_timestamp": stamp}
        for t, stamp in (("a100", 107), ("a100b", 107), ("a300", 307), ("b150", 140), ("b250", 240))
    ],
    "message": [
        {"sender": "1", "receiver": "0", "timestamp": 150, "arrival": 400},
        {"sender": "1", "receiver": "0", "timestamp": 250, "arrival": 350},  # overtakes the one before
        {"sender": "0", "receiver": "1", "timestamp": 100, "arrival": 0},  # lost
    ],
}


def known(agent: str, at: int) -> dict[str, tuple[int, int, int]]:
    found = newest_known(cast("list[Image]", IMAGES), ROWS, agent=agent, timestamp_us=at)
    return {name: (k.timestamp_us, k.agent_timestamp_us, k.arrival_us) for name, k in found.items()}


def test_own_images_are_known_at_once_and_others_on_arrival() -> None:
    assert known("0", 99) == {}
    assert known("0", 100) == {"0": (100, 107, 100)}
    assert known("0", 349) == {"0": (300, 307, 300)}
    assert known("0", 350) == {"0": (300, 307, 300), "1": (250, 240, 350)}
    assert known("0", 500)["1"] == (250, 240, 350), "what was overtaken is not the newest"
    assert known("1", 500) == {"1": (250, 240, 250)}, "a lost message is never known"


def test_images_of_all_cameras_are_returned() -> None:
    found = newest_known(cast("list[Image]", IMAGES), ROWS, agent="0", timestamp_us=100)
    assert [image.token for image in found["0"].images] == ["a100", "a100b"]


def test_agent_without_clock_is_refused() -> None:
    with pytest.raises(InputError, match=r"agent '7' has no clock; agents with clocks: 0, 1"):
        known("7", 100)
    with pytest.raises(InputError, match="agent '0' has no clock"):
        newest_known([], {}, agent="0", timestamp_us=1)


def test_age_of_images_is_by_the_receivers_clock() -> None:
    """At 500, 400 after the first image, a clock that is 5 % fast and 7 ahead shows 527."""
    found = newest_known(cast("list[Image]", IMAGES), ROWS, agent="0", timestamp_us=500)
    assert {name: known.age_us for name, known in found.items()} == {"0": 527 - 307, "1": 527 - 240}
