"""Towns by name: built-in ones, their layered variants, files of a folder."""

import pytest
from headless_simulator.errors import CallRefused
from headless_simulator.towns import NAMES, TownRefused
from headless_simulator.towns.library import TownLibrary, opendrive_files

from tests.towns.sample import document, road


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    (tmp_path / "Harbour.xodr").write_bytes(document(road()))
    (tmp_path / "Town07.XODR").write_bytes(document(road(length="60")))
    (tmp_path / "broken.xodr").write_text("<OpenDRIVE>")
    (tmp_path / "notes.txt").write_text("no map")
    return tmp_path


def test_all_of_carlas_towns_are_listed_twice():
    names = TownLibrary(seed=0).names()

    assert set(NAMES) == {f"Town0{number}" for number in range(1, 8)} | {"Town10HD", "Town12"}
    assert set(names) == {*NAMES, *(f"{name}_Opt" for name in NAMES)}


def test_every_file_of_a_folder_is_a_town(folder):
    library = TownLibrary(seed=0, files=opendrive_files(folder))

    assert {"Harbour", "Town07", "broken"} <= set(library.names())
    assert "notes" not in library.names()
    assert library.town("/Game/Carla/Maps/Harbour").name == "Harbour"
    assert library.town("Harbour_Opt").name == "Harbour_Opt"
    assert library.town("Harbour_Opt").mesh is library.town("Harbour").mesh


def test_file_overrides_the_built_in_town_of_its_name(folder):
    library = TownLibrary(seed=0, files=opendrive_files(folder))

    assert 'length="60"' in library.town("Town07").opendrive
    assert 'length="60"' in library.town("Town07_Opt").opendrive


def test_broken_file_is_refused_on_load(folder):
    library = TownLibrary(seed=0, files=opendrive_files(folder))

    with pytest.raises(CallRefused, match=r"Map 'broken' cannot be used: broken\.xodr"):
        library.town("broken")


@pytest.mark.parametrize(
    ("requested", "name"),
    [
        ("HARBOUR_opt", "Harbour_Opt"),
        pytest.param("harbour", "Harbour", marks=pytest.mark.release),
        pytest.param("town07", "Town07", marks=pytest.mark.release),
    ],
)
def test_map_names_ignore_case_as_on_carlas_server(folder, requested, name):
    library = TownLibrary(seed=0, files=opendrive_files(folder))

    assert library.town(requested).name == name
    assert library.town(requested).mesh is library.town(name).mesh


def test_exact_name_wins_over_one_that_differs_in_case(folder):
    (folder / "harbour.xodr").write_bytes(document(road(length="60")))
    library = TownLibrary(seed=0, files=opendrive_files(folder))

    assert 'length="60"' in library.town("harbour").opendrive
    assert 'length="60"' not in library.town("Harbour").opendrive


def test_unknown_map_names_the_nearest():
    with pytest.raises(CallRefused, match="Map 'Town08' not found; the nearest is 'Town0"):
        TownLibrary(seed=0).town("Town08")


def test_a_folder_without_maps_is_refused(tmp_path):
    with pytest.raises(TownRefused, match="no OpenDRIVE file"):
        opendrive_files(tmp_path)
    with pytest.raises(TownRefused, match="No such file"):
        opendrive_files(tmp_path / "none")
