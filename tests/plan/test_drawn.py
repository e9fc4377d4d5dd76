import math
from pathlib import Path

import pytest
from typer.testing import CliRunner

from uavsim.cli import build_app
from uavsim.config.overrides import Overrides
from uavsim.plan import plan_scenes
from uavsim.records.codec import pack_plan
from uavsim.records.plan import ScenePlan
from uavsim.run.request import Request
from uavsim.run.resolve import identity_of
from uavsim.terminal import histogram_blocks

FILES = {
    "datasets/d.yaml": """\
towns: {Town10HD: {routes: [town10_row3_col3], scenes: 6}}
samples: 2
formation: f
rig: r
weather: w
altitude_m: {uniform: [40, 80]}
traffic: {vehicles: {uniform: [10, 30]}, walkers: {choice: [0, 5]}}
""",
    "formations/f.yaml": "drones: 3\nshape: line\nspacing_m: {uniform: [10, 30]}\n",
    "rigs/r.yaml": "cameras: {FRONT: {pitch_deg: {uniform: [-60, -30]}}}\n",
    "weather/w.yaml": "sun_altitude_angle: {normal: [45, 20], min: 5, max: 90}\n",
}


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name, text in FILES.items():
        path = tmp_path / "flight_plans" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return tmp_path / "flight_plans"


def altitude_m(plan: ScenePlan) -> float:
    return float(plan.swarm.map_SE3_flu.translation_m[0, 0, 2]) - plan.town.ground_z_m


def test_a_scene_flies_the_numbers_that_it_notes(files: Path) -> None:
    del files
    plans = plan_scenes("d")
    for plan in plans:
        drawn = plan.notes.drawn
        spacing_m = abs(plan.swarm.map_SE3_flu.translation_m[0, 0] - plan.swarm.map_SE3_flu.translation_m[0, 1]).max()
        assert spacing_m == pytest.approx(drawn["formation.spacing_m"], abs=1e-6)
        assert altitude_m(plan) == pytest.approx(drawn["dataset.altitude_m"], abs=1e-6)
        assert plan.weather.values[0][5] == drawn["weather.sun_altitude_angle"]
        assert plan.ingredients["traffic"].vehicles == drawn["dataset.traffic.vehicles"]
        (camera,) = plan.cameras
        down = camera.flu_SE3_sensor.rotation[2, 2]  # of the optical axis
        assert down == pytest.approx(math.sin(math.radians(drawn["rig.cameras.FRONT.pitch_deg"])))
    assert len({plan.notes.drawn["formation.spacing_m"] for plan in plans}) == len(plans)


def test_the_same_seed_gives_the_same_plans_and_another_seed_others(files: Path) -> None:
    del files
    first, again, other = plan_scenes("d"), plan_scenes("d", scenes=[3]), plan_scenes("d", overrides=Overrides(seed=9))
    assert pack_plan(first[3]) == pack_plan(again[0])
    assert first[3].notes.drawn != other[3].notes.drawn


def test_a_number_does_not_depend_on_other_draws(files: Path) -> None:
    before = plan_scenes("d")[2].notes.drawn
    (files / "formations/f.yaml").write_text("drones: 3\nshape: line\nspacing_m: 20\n")
    after = plan_scenes("d")[2].notes.drawn
    assert after == {key: value for key, value in before.items() if not key.startswith("formation.")}


def test_another_law_is_another_dataset(files: Path) -> None:
    before = identity_of(Request(dataset="d", out="o"))["fingerprint"]
    text = (files / "datasets/d.yaml").read_text()
    (files / "datasets/d.yaml").write_text(text.replace("uniform: [10, 30]", "uniform: [10, 40]"))
    assert identity_of(Request(dataset="d", out="o"))["fingerprint"] != before


def test_plan_prints_each_drawn_number_with_its_histogram(files: Path) -> None:
    del files
    printed = CliRunner().invoke(build_app(), ["plan", "--dataset", "d"], catch_exceptions=False).output
    drawn = sorted(plan.notes.drawn["formation.spacing_m"] for plan in plan_scenes("d"))
    assert f"formation.spacing_m: {drawn[0]:.4g} to {drawn[-1]:.4g}, median {drawn[3]:.4g}  " in printed


@pytest.mark.parametrize(
    ("values", "text"),
    [([1.0], "█         "), ([0, 1, 1, 1, 1, 1, 1, 1, 1, 10], "▁█       ▁"), ([0, 10] * 4, "█        █")],
)
def test_histograms_in_text_are_as_high_as_their_counts(values: list[float], text: str) -> None:
    assert histogram_blocks(values) == text
