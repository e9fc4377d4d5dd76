"""All named parts of built-in ingredients exist, and readers of plans import no simulator client."""

import subprocess
import sys
from dataclasses import fields

import pytest

from uavsim.errors import DatasetError
from uavsim.records.ingredients import INGREDIENTS, actor_kind, all_ingredients, is_of_role, record_name, record_named
from uavsim.registry import Named


@pytest.mark.parametrize("name", [name for name, _ in all_ingredients()])
def test_every_part_can_be_imported(name: str) -> None:
    ingredient = INGREDIENTS.pick(name)
    parts = [getattr(ingredient, field.name) for field in fields(ingredient)]
    parts += [part for file in ingredient.files.values() for part in (file.model, file.check)]
    named = [part for part in (*parts, *ingredient.records) if isinstance(part, Named)]
    assert named
    for part in named:
        part.load()


def test_actors_are_numbered_in_the_order_that_datasets_keep() -> None:
    objects = "traffic walkers corner_cases intruders parked vehicles roadside drone_bodies"
    others = "flight_sensors town_maps clocks replay skins"
    assert [name for name, _ in all_ingredients()] == [*objects.split(), *others.split()]


def test_kinds_are_distinguished_and_foreign_ones_refused() -> None:
    kinds = [kind.name for _, one in all_ingredients() for kind in one.kinds]
    assert len(set(kinds)) == len(kinds)
    assert actor_kind("walker").origin_at_middle
    for strange in ("snowman", ["vehicle"]):
        with pytest.raises(DatasetError, match="no ingredient has actors of kind"):
            actor_kind(strange)  # type: ignore[arg-type]


def test_props_are_known_by_the_first_word_of_their_role() -> None:
    assert is_of_role("intruder")
    assert is_of_role("corner_case 0 1")
    assert not is_of_role("somebody's own")
    assert not is_of_role("")


def test_records_are_found_by_the_name_they_are_written_under() -> None:
    found = record_named("traffic.TrafficPlan")
    assert found is not None
    assert record_name(found) == "traffic.TrafficPlan"
    assert record_named("traffic.planner") is None
    assert record_named("snowmen.Snowman") is None


def test_the_registry_imports_no_client() -> None:
    program = (
        "import sys\n"
        "from uavsim.plan import plan_scenes\n"
        "from uavsim.records.codec import pack_plan, unpack_plan\n"
        "unpack_plan(pack_plan(plan_scenes('openad-mini', town='Town10HD', scenes=[0])[0]))\n"
        "assert 'carla' not in sys.modules and 'airsim' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True, timeout=300)
