"""Object numbers of AirSim's segmentation: patterns for static objects, separate numbers for movers."""

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.simulate.test_merged_engine import state
from uavsim.geometry.se3 import SE3
from uavsim.records.recording import ActorInfo
from uavsim.simulate.merged import object_numbers
from uavsim.simulate.merged.object_numbers import LAST_NUMBER, colour_code

WORDS = [
    "Road",
    "roadline",
    "RoadLine",
    "Street_Light",
    "traffic light",
    "SIGN",
    "tree",
    "House",
    "Water",
    "car",
    "uav0",
    "_",
    "3",
]


class _Link:
    """A stub link that numbers objects like AirSim: full names in any case, the last call wins."""

    def __init__(self, names: list[str]) -> None:
        self.numbers = dict.fromkeys(names, 7)

    def number_objects(self, name: str, number: int, *, is_regex: bool) -> None:
        assert is_regex
        for one in self.numbers:
            if re.fullmatch(name, one, re.IGNORECASE):
                self.numbers[one] = number

    def object_names(self) -> list[str]:
        return list(self.numbers)


@given(st.lists(st.lists(st.sampled_from(WORDS), min_size=1, max_size=3).map("".join), unique=True))
def test_patterns_number_a_new_town_like_single_names(names: list[str]) -> None:
    link = _Link(names)
    assert object_numbers._listed(link, fresh=True) == names  # type: ignore[arg-type]
    assert link.numbers == {name: object_numbers._static_number(name) for name in names}


def test_known_town_is_only_listed() -> None:
    link = _Link(["Road", "car"])
    assert object_numbers._listed(link, fresh=False) == ["Road", "car"]  # type: ignore[arg-type]
    assert link.numbers == {"Road": 7, "car": 7}


@pytest.mark.parametrize(
    ("name", "number"),
    [("Road_7", 1), ("RoadLine", 24), ("Street_Light", 6), ("street_sign", 8), ("Lamp", 6), ("Car", 0)],
)
def test_first_pattern_wins(name: str, number: int) -> None:
    assert object_numbers._static_number(name) == number


def test_objects_are_matched_to_actors_by_position() -> None:
    captured = state(7, x_m=5.0)  # actors 1 and 2, 5 m apart
    first_m, second_m = captured.actors.map_SE3_actor.translation_m
    objects_m = {"a": first_m, "b": second_m + 0.3, "far": second_m + 2.0, "none": np.full(3, np.nan), "uav1": first_m}
    assert object_numbers._owners(objects_m, captured) == {"a": 1, "b": 2}


def infos(count: int) -> dict[int, ActorInfo]:
    box = SE3(np.eye(1, 4)[0], np.zeros(3))
    made = [ActorInfo(i, 70_000 + i, "vehicle", "vehicle.a.b", "car", (1.0, 1.0, 1.0), box, 14) for i in range(count)]
    return {info.instance_id: info for info in made}


def test_movers_have_separate_numbers_shared_by_their_parts() -> None:
    names = ["body", "road", "wheel", "other"]
    numbers, ids, tags = object_numbers._assigned(names, {"body": 0, "wheel": 0, "other": 1}, infos(2))
    assert numbers == {"body": 29, "road": 1, "wheel": 29, "other": 30}
    assert (ids[29], ids[30], tags[29], tags[1]) == (70_000 & 0xFFFF, 70_001 & 0xFFFF, 14, 1)


def test_movers_beyond_the_last_number_share_the_class_number() -> None:
    names = [f"car{i}" for i in range(LAST_NUMBER)]
    numbers, ids, _ = object_numbers._assigned(names, {name: i for i, name in enumerate(names)}, infos(len(names)))
    alone = LAST_NUMBER - 28
    assert [numbers[name] for name in names[alone - 1 : alone + 1]] == [LAST_NUMBER, 14]
    assert not ids[LAST_NUMBER + 1 :].any()


def test_colour_code_distinguishes_channels() -> None:
    codes = colour_code(np.array([[1, 0, 0], [0, 1, 0], [0, 0, 1]], dtype=np.uint8))
    assert codes.tolist() == [1, 256, 65536]
