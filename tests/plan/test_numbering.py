from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from uavsim.config.dataset import AltitudeSchedule, NameSchedule, Splits, dataset_config
from uavsim.config.library import Library
from uavsim.config.load import load
from uavsim.errors import ConfigError, InputError, UnknownNameError
from uavsim.plan import numbering


def uav3ds_rule(number):
    # written out from the published split lists: 700 / 150 / 150
    last, before = number % 10, number // 10 % 10
    if last in (1, 3, 5):
        return "uav_val" if before in (0, 2, 4, 6, 8) else "uav_test"
    return "uav_train"


def test_uav3ds_splits():
    splits = [numbering.splits_of(Splits(rule="uav3d"), n) for n in range(1000)]
    assert Counter(s for (s,) in splits) == {"uav_train": 700, "uav_val": 150, "uav_test": 150}
    assert [s for (s,) in splits] == [uav3ds_rule(n) for n in range(1000)]


def test_listed_splits():
    splits = Splits(scenes={"uav_val": (1, 2), "hard": (2,)}, rest="uav_train")
    assert numbering.splits_of(splits, 1) == ("uav_val",)
    assert numbering.splits_of(splits, 2) == ("uav_val", "hard")
    assert numbering.splits_of(splits, 3) == ("uav_train",)
    assert numbering.splits_of(Splits(), 3) == ()


def test_uav3ds_numbers():
    dataset = Library.of().dataset("uav3d")
    firsts = {town: numbering.town_scenes(dataset, town).numbers for town in dataset.model.towns}
    assert firsts == {
        "Town03": range(250), "Town06": range(250, 500), "Town07": range(500, 750), "Town10HD": range(750, 1000)
    }  # fmt: skip
    assert numbering.town_scenes(dataset, "town10hd").town == "Town10HD"
    with pytest.raises(UnknownNameError, match="did you mean 'Town10HD'"):
        numbering.town_scenes(dataset, "Town10")


NEEDED = "samples: 1\nformation: cross\nrig: uav3d\n"


@pytest.mark.parametrize(
    ("towns", "named", "said"),
    [
        ("{A: {scenes: 4}}", "[99]", "the dataset has no scene 99; it has 0 to 3"),
        ("{A: {scenes: 4}}", "[3, 4]", "the dataset has no scene 4; it has 0 to 3"),
        ("{A: {scenes: 2}, B: {scenes: 2}}", "[4]", "the dataset has no scene 4; it has 0 to 3"),
        ("{A: {scenes: 1}, B: {scenes: 2, first_scene: 7}}", "[8, 1]", "it has 0, 7 to 8"),
    ],
)
def test_a_split_names_scenes_that_are_there(tmp_path, towns, named, said):
    file = tmp_path / "d.yaml"
    file.write_text(f"{NEEDED}towns: {towns}\nsplits:\n  rest: uav_train\n  scenes:\n    uav_val: {named}\n")
    number = len(named.split(",")) - 1
    with pytest.raises(
        ConfigError, match=rf"d\.yaml:8: splits\.scenes\.uav_val\[{number}\]: the dataset has no"
    ) as wrong:
        numbering.town_scenes(load(file, dataset_config()), "A")
    assert str(wrong.value).endswith(said)


def test_a_split_may_name_a_scene_that_is_made_only_when_asked_for(tmp_path):
    file = tmp_path / "d.yaml"
    file.write_text(f"{NEEDED}towns: {{A: {{scenes: 2, most_scenes: 9}}}}\nsplits: {{scenes: {{uav_val: [8]}}}}\n")
    assert numbering.town_scenes(load(file, dataset_config()), "A").numbers == range(2)


def test_the_town_follows_from_the_scenes():
    dataset = Library.of().dataset("uav3d")
    assert numbering.town_of(dataset, [501]) == "Town07"
    assert numbering.town_of(Library.of().dataset("uav3d-mini"), None) == "Town10HD"
    for numbers in (None, [1000]):
        with pytest.raises(InputError, match="the dataset 'uav3d' has several towns; choose one: Town03, Town06"):
            numbering.town_of(dataset, numbers)


def test_scenes_asked_for():
    smoke = numbering.town_scenes(Library.of().dataset("smoke"), "Town10HD")
    assert list(numbering.requested(smoke, None)) == [0, 1]
    assert list(numbering.requested(smoke, [7, 3, 7])) == [3, 7]  # more than the two that are made by default
    with pytest.raises(InputError, match="Town10HD has no scene 100, only 0-99 in this dataset"):
        numbering.requested(smoke, [1, 100])
    with pytest.raises(InputError, match="no scene is requested"):
        numbering.requested(smoke, [])


def test_two_towns_with_one_number(tmp_path):
    path = tmp_path / "d.yaml"
    path.write_text("towns:\n  A: {scenes: 5}\n  B: {scenes: 5, first_scene: 4}\nformation: cross\nrig: uav3d\n")
    with pytest.raises(ConfigError, match=r"d\.yaml:3: towns\.B\.first_scene: A already has scene 4; increase it"):
        numbering.town_scenes(load(path, dataset_config()), "A")


@pytest.mark.parametrize(
    ("text", "numbers"),
    [("3", (3,)), ("0-4,7", (0, 1, 2, 3, 4, 7)), ("7,3,3-4", (3, 4, 7)), (" 1 , 2-2 ", (1, 2)), ("0-1,1-2", (0, 1, 2))],
)
def test_numbers_as_people_write_them(text, numbers):
    assert numbering.parse_numbers(text) == numbers


@pytest.mark.parametrize(
    "text",
    ["", "a", "1-", "-1", "3-1", "1,,2", "1;2", "1.5", "0-99999999", "0-99999999999", "9" * 5000, "\u0663", "\u00b2"],
)
def test_invalid_numbers_are_refused(text):
    with pytest.raises(InputError, match=r"^--scenes '"):
        numbering.parse_numbers(text)


@given(st.sets(st.integers(0, 5000), min_size=1))
def test_numbers_there_and_back(numbers):
    assert numbering.parse_numbers(",".join(map(str, numbers))) == tuple(sorted(numbers))


@given(st.integers(0, 2**31 - 1), st.integers(0, 10_000), st.integers(0, 10_000))
def test_seeds_depend_on_seed_and_number_alone(seed, a, b):
    assert numbering.scene_seed(seed, a) == numbering.scene_seed(seed, a)
    if a != b:
        assert numbering.scene_seed(seed, a) != numbering.scene_seed(seed, b)
    assert 0 <= numbering.scene_seed(seed, a) < 2**31
    assert numbering.scene_seed(seed, a) != numbering.scene_seed(seed, a, stream="degradations")


def test_turns():
    rng = np.random.default_rng
    assert numbering.turn_of(NameSchedule(fixed="a"), rng(0), number=9) == "a"
    assert [numbering.turn_of(NameSchedule(cycle=("a", "b")), rng(0), number=n) for n in range(3)] == ["a", "b", "a"]
    draws = Counter(
        numbering.turn_of(NameSchedule(draw={"a": 3, "b": 1}), numbering.scene_rng(1, n, "weather"), number=n)
        for n in range(1000)
    )
    assert 700 < draws["a"] < 800
    heights = [numbering.altitude_of(AltitudeSchedule(cycle=(40, 60)), rng(0), number=n) for n in range(3)]
    assert heights == [40, 60, 40]
    assert numbering.altitude_of(AltitudeSchedule(draw=(40, 60)), rng(0), number=0) in (40, 60)
    assert numbering.altitude_of(AltitudeSchedule(fixed=50), rng(0), number=0) == 50
    assert numbering.altitude_of(None, rng(0), number=0) is None
