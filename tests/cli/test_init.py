from pathlib import Path

import pytest

from uavsim.cli.init import init
from uavsim.errors import InputError
from uavsim.plan import plan_scenes
from uavsim.plan.check import check_paths


@pytest.fixture(autouse=True)
def _empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_every_file_is_valid_as_written_and_the_dataset_uses_the_others() -> None:
    init(dataset="harbour", formation="wedge", rig="three", weather="hazy", routes="Town03")
    findings = check_paths([Path("flight_plans")])
    assert [finding.error for finding in findings] == [None] * 5
    first, second = plan_scenes("harbour")
    assert (first.formation_name, first.weather.name, first.town.name) == ("wedge", "hazy", "Town03")
    assert (first.route_name, second.route_name) == ("town03_row1_col1", "town03_row1_col2")
    assert [spec.name for spec in first.cameras[:3]] == ["FRONT", "BACK", "BOTTOM"]


def test_without_options_a_dataset_of_shipped_parts_is_written(capsys) -> None:
    init()
    assert len(plan_scenes("mine")) == 2
    assert "preview --dataset mine" in capsys.readouterr().out
    schema = Path("flight_plans/datasets/mine.yaml").read_text().splitlines()[0].split("$schema=")[1]
    assert Path("flight_plans/datasets", schema).is_file()


def test_a_file_that_exists_stays_as_it_is() -> None:
    init(rig="three")
    Path("flight_plans/rigs/three.yaml").write_text("mine\n")
    with pytest.raises(InputError, match="the file exists; choose another name"):
        init(rig="three", weather="hazy")
    assert Path("flight_plans/rigs/three.yaml").read_text() == "mine\n"
    assert not Path("flight_plans/weather/hazy.yaml").exists()


@pytest.mark.parametrize("name", ["../up", "a b", "", ".hidden"])
def test_a_name_that_is_no_file_name_is_refused(name: str) -> None:
    with pytest.raises(InputError, match="letters, digits"):
        init(formation=name)
