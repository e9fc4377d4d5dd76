"""Without the package, whatever needs it says in one line how to get it."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.encounter_factory import encounter_plan
from tests.rare_dataset import make_rare
from uavsim.config.dataset import dataset_config
from uavsim.config.library import Library, packaged_root
from uavsim.errors import ConfigError, DatasetError, InputError
from uavsim.plan.check import check_paths
from uavsim.records.codec import pack_plan, unpack_plan
from uavsim.records.ingredients import INGREDIENTS, ingredients_of
from uavsim.validate import validate_dataset
from uavsim.validate.checks import FURTHER

LINE = r"needs the package uavsim-scenarios: \S+/scripts/setup ours$"


@pytest.fixture
def not_installed(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(INGREDIENTS, "_found", {})
    monkeypatch.setattr(FURTHER, "_found", {})
    dataset_config.cache_clear()
    yield
    dataset_config.cache_clear()


@pytest.mark.usefixtures("not_installed")
@pytest.mark.parametrize("key", ["encounters: aot", "vehicles: {count: 2}"])
def test_a_key_of_a_dataset(key: str, tmp_path: Path) -> None:
    path = tmp_path / "own.yaml"
    path.write_text(f"towns: {{Town10HD: {{scenes: 2}}}}\nformation: cross\nrig: uav3d\n{key}\n")
    with pytest.raises(ConfigError, match=rf"own\.yaml:4: {key.partition(':')[0]}: {LINE}"):
        Library.of().dataset(str(path))


@pytest.mark.usefixtures("not_installed")
def test_a_file_of_its_own() -> None:
    (found,) = check_paths([packaged_root() / "flight_plans/encounters/aot.yaml"])
    assert found.error is not None
    assert re.search(rf"aot\.yaml:1: encounters {LINE}", found.error)


def test_a_recorded_plan(request: pytest.FixtureRequest) -> None:
    plan = encounter_plan()
    packed = pack_plan(plan)
    assert unpack_plan(packed).ingredients.keys() == {"traffic", "intruders"}
    request.getfixturevalue("not_installed")
    with pytest.raises(DatasetError, match=rf"intruders\.\w+ {LINE}"):
        unpack_plan(packed)
    with pytest.raises(InputError, match=f"intruders {LINE}"):
        ingredients_of(plan.ingredients)


def test_checks_of_a_dataset(tmp_path: Path, request: pytest.FixtureRequest) -> None:
    root = make_rare(tmp_path / "data", cameras=("BOTTOM",))
    request.getfixturevalue("not_installed")
    (report,) = validate_dataset(root, workers=1)
    assert report.ok
    assert report.skipped.keys() >= {"corner_case", "object_tag"}
    assert report.skipped["corner_case"].startswith("needs the package uavsim-scenarios: ")
