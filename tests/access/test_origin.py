"""The origin of the images is reported first, in the words of docs/limits.md."""

from pathlib import Path

from uavsim.access.origin import HEADLESS, HEADLESS_LIMIT, origin_of_scenes, simulator_of


def test_the_sentence_is_that_of_the_page_on_limits() -> None:
    page = Path(__file__).parents[2] / "docs/limits.md"
    assert HEADLESS_LIMIT in " ".join(page.read_text().split())


def test_a_scene_names_what_drew_it() -> None:
    assert simulator_of({"uav_simulator": "headless", "uav_server_version": "0.9.16"}) == "headless simulator"
    assert simulator_of({"uav_simulator": "unreal", "uav_server_version": "0.9.16"}) == "CARLA 0.9.16"
    assert simulator_of({"uav_simulator": "other", "uav_server_version": "2"}) == "other 2"
    assert simulator_of({}) == ""


def test_scenes_of_several_simulators_are_counted_apart() -> None:
    assert origin_of_scenes({HEADLESS: 1, "CARLA 0.9.16": 3}).endswith(
        "1 of 4 scenes are from it; the others from CARLA 0.9.16."
    )
    assert origin_of_scenes({"CARLA 0.9.16": 3}) == "Images by CARLA 0.9.16."
    assert origin_of_scenes({HEADLESS: 1, "": 1}) == origin_of_scenes({}) == ""
