"""YAML examples in the pages are valid."""

import re
from pathlib import Path

import pytest

from uavsim.config.overrides import Overrides
from uavsim.plan import plan_scenes
from uavsim.plan.check import check_paths

DOCS = Path(__file__).parents[2] / "docs"
PAGES = [*sorted(DOCS.glob("configuration*.md")), DOCS / "encounters.md", DOCS / "recipes.md", DOCS / "trajectories.md"]
BLOCKS = re.findall(r"```yaml\n(.*?)```", "".join(page.read_text("utf-8") for page in PAGES), flags=re.DOTALL)
FOLDER_OF = {"keyframes:": "formations", "from:": "weather"}


@pytest.mark.parametrize("number", range(len(BLOCKS)))
def test_every_example_is_good(tmp_path, number):
    text = BLOCKS[number]
    folder = next((f for start, f in FOLDER_OF.items() if start in text and not text.startswith("#")), "elsewhere")
    path = tmp_path / folder / "example.yaml"
    path.parent.mkdir()
    path.write_text(text)
    for name in re.findall(r"\w+/\w+\.(?:txt|csv)", text):
        (path.parent / name).parent.mkdir(exist_ok=True)
        (path.parent / name).write_text("0 0 0 -60 0 0 0 1\n1 5 0 -60 0 0 0 1\n")
    (finding,) = check_paths([path])
    assert finding.error is None


def test_there_are_examples_of_every_kind():
    kinds = set(re.findall(r"\.schemas/(\w+)\.json\n", "".join(BLOCKS)))
    assert kinds == {"formation", "weather", "rig", "dataset", "routes", "encounters", "corner_cases"}


def test_the_three_files_a_new_user_adds(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for kind, name in (("formation", "formations/arrow"), ("weather", "weather/murky"), ("rig", "rigs/pair")):
        path = tmp_path / "flight_plans" / f"{name}.yaml"
        path.parent.mkdir(parents=True)
        path.write_text(next(b for b in BLOCKS if f"/{kind}.json" in b))
    plan = plan_scenes(
        "smoke", town="Town10HD", scenes=[0], overrides=Overrides(formation="arrow", weather="murky", rig="pair")
    )[0]
    assert len(plan.swarm.drone_ids) == 7
    assert plan.channels[:2] == ("CAMERA_AHEAD_id_0", "CAMERA_DOWN_id_0")
    assert plan.weather.values[0, 6] == 45
