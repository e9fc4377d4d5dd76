from pathlib import Path

import pytest

from uavsim.config.library import Library, kind_of
from uavsim.config.stored import CONFIG_FILE
from uavsim.errors import ConfigError, InputError, UnknownNameError


@pytest.fixture
def user_folder(tmp_path):
    (tmp_path / "flight_plans" / "formations").mkdir(parents=True)
    (tmp_path / "flight_plans" / "formations" / "star.yaml").write_text("drones: 3\nshape: circle\n")
    (tmp_path / "flight_plans" / "formations" / "cross.yaml").write_text("drones: 9\nshape: cross\n")
    return tmp_path


def test_what_comes_with_uavsim_is_found_anywhere(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    library = Library.of()
    assert {"smoke", "uav3d", "uav3d-mini"} <= set(library.names("dataset"))
    assert {
        *(f"town0{number}" for number in range(1, 8)),
        *(f"town{number}" for number in ("10hd", 11, 12, 13, 15)),
    } == set(library.names("town"))
    assert set(library.names("routes")) == set(library.names("town"))
    assert library.formation("cross").model.drones == 5


def test_the_users_folder_comes_first(user_folder, monkeypatch):
    monkeypatch.chdir(user_folder)
    assert Library.of().formation("cross").model.drones == 9
    assert Library.of().formation("star").model.drones == 3
    monkeypatch.chdir("/")
    assert Library.of([user_folder]).formation("cross").model.drones == 9
    assert Library.of([user_folder / "flight_plans"]).formation("star").model.drones == 3
    assert Library.of().formation("cross").model.drones == 5


def test_names_do_not_care_for_case():
    assert Library.of().town("town10HD").model.name == "Town10HD"
    assert Library.of().routes("TOWN03").model.town == "Town03"


def test_a_path_works_as_well(user_folder, monkeypatch):
    library = Library.of()
    star = user_folder / "flight_plans" / "formations" / "star.yaml"
    assert library.formation(str(star)).name == "star"
    monkeypatch.chdir(user_folder)
    assert library.formation("flight_plans/formations/star.yaml").name == "star"
    (user_folder / "flight_plans" / "datasets").mkdir()
    beside = user_folder / "flight_plans" / "datasets" / "d.yaml"
    monkeypatch.chdir("/")
    assert library.formation("../formations/star.yaml", named_in=beside).name == "star"
    with pytest.raises(ConfigError, match=r"none\.yaml: no such file"):
        library.formation("none.yaml")


def test_a_file_brings_its_neighbours(user_folder, monkeypatch):
    monkeypatch.chdir("/")
    beside = Library.of().beside(user_folder / "flight_plans" / "datasets" / "mine.yaml")
    assert beside.formation("star").name == "star"


def test_typos_name_the_nearest():
    library = Library.of()
    with pytest.raises(UnknownNameError, match="unknown formation 'crss'; did you mean 'cross'"):
        library.formation("crss")
    with pytest.raises(UnknownNameError, match="unknown town 'Town10'; did you mean 'Town10HD'"):
        library.town("Town10")
    with pytest.raises(UnknownNameError, match="unknown weather 'ClearNon'; did you mean 'ClearNoon'"):
        library.weather("ClearNon", presets=("ClearNoon",))
    assert library.weather("ClearNoon", presets=("ClearNoon",)) is None
    with pytest.raises(UnknownNameError, match=r"unknown formation '\.\./\.\./etc/passwd'"):
        library.formation("../../etc/passwd")


def test_routes_of_another_town(tmp_path):
    (tmp_path / "flight_plans").mkdir()
    (tmp_path / "flight_plans" / "town03.yaml").write_text("town: Town07\nroutes: {r: {path: [[0, 0]]}}\n")
    with pytest.raises(ConfigError, match=r"town03\.yaml:1: town: these are routes of 'Town07', not of 'Town03'"):
        Library.of([tmp_path]).routes("Town03")


def test_a_search_folder_that_is_not_there(tmp_path):
    with pytest.raises(InputError, match="no such folder"):
        Library.of([tmp_path / "none"])


def test_kinds_by_folder():
    assert kind_of(Path("flight_plans/formations/x.yaml")) == "formation"
    assert kind_of(Path("flight_plans/town03.yaml")) == "routes"
    assert kind_of(Path("town_configs/town03.yaml")) == "town"
    assert kind_of(Path("elsewhere/x.yaml")) is None


def test_half_a_character_in_a_kept_text_is_reported(tmp_path):
    configuration = tmp_path / CONFIG_FILE
    configuration.write_text(
        '{"format": "uavsim-configuration-1", "dataset": "smoke", "files": {"dataset:smoke": ["smoke.yaml", "a: \\ud800"]}}'
    )
    with pytest.raises(ConfigError, match="unpaired surrogate"):
        Library.of().dataset(str(configuration))


def test_folders_of_the_environment_come_after_the_current_one(tmp_path, monkeypatch):
    current, environment = tmp_path / "here", tmp_path / "theirs"
    for folder, drones in ((current, 2), (environment, 3)):
        (folder / "flight_plans/formations").mkdir(parents=True)
        for name in ("mine", f"of_{folder.name}"):
            (folder / f"flight_plans/formations/{name}.yaml").write_text(
                f"drones: {drones}\nshape: line\nspacing_m: 20\naltitude_m: 60\n"
            )
    monkeypatch.chdir(current)
    monkeypatch.setenv("UAVSIM_PLANS", str(environment))
    library = Library.of()
    assert library.formation("mine").model.drones == 2
    assert library.formation("of_theirs").model.drones == 3
    assert library.formation("cross").model.drones == 5  # packaged files are still found
    monkeypatch.setenv("UAVSIM_PLANS", f"{environment}:{tmp_path / 'gone'}")
    with pytest.raises(InputError, match=r"gone \(UAVSIM_PLANS\): no such folder"):
        Library.of()
