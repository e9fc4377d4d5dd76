"""The package in the page on ingredients is installed and flown in the headless simulator."""

import json
import os
import re
import subprocess
from collections import Counter
from pathlib import Path

import pytest

from tests.dataset_factory import table
from tests.e2e.flights import RIG
from uavsim.environment import python_command
from uavsim.images import codec
from uavsim.validate import validate_dataset

pytestmark = pytest.mark.release

PAGE = (Path(__file__).parents[2] / "docs/how-to-add-to-a-scene.md").read_text(encoding="utf-8")
DATASET = """\
towns: {Town10HD: {scenes: 1}}
formation: cross
altitude_m: 25
rig: rig.yaml
samples: 2
traffic: {vehicles: 5}
"""


@pytest.fixture(scope="module")
def out(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Install the package, and fly one scene of a dataset with its ingredient."""
    folder = tmp_path_factory.mktemp("how_to")
    site = folder / "site"
    info = site / "ground_drones-1.0.dist-info"
    info.mkdir(parents=True)
    for name, source in re.findall(
        r"^`(ground_drones/\w+\.py)`\n\n```python\n(.*?)```", PAGE, re.DOTALL | re.MULTILINE
    ):
        (site / name).parent.mkdir(exist_ok=True)
        (site / name).write_text(source, encoding="utf-8")
    (entry,) = re.findall(r"^ground_drones = \"(.*)\"$", PAGE, re.MULTILINE)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: ground_drones\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(f"[uavsim.ingredients]\nground_drones = {entry}\n")
    (block,) = re.findall(r"```yaml\n(.*?)```", PAGE, re.DOTALL)
    (folder / "rig.yaml").write_text(RIG)
    (folder / "drones.yaml").write_text(DATASET + block)
    words = ["--dataset", str(folder / "drones.yaml"), "--out", str(folder / "out")]
    run(folder, "generate", *words)
    return folder / "out"


def run(folder: Path, *words: str, code: int = 0) -> str:
    env = {**os.environ, "PYTHONPATH": str(folder / "site")}
    done = subprocess.run(
        python_command("uavsim", *words), env=env, capture_output=True, text=True, timeout=900, check=False
    )
    assert done.returncode == code, done.stdout + done.stderr
    return done.stdout + done.stderr


def test_its_actors_have_boxes_and_pixels(out: Path) -> None:
    drones = {
        row["token"]: row["uav_instance_id"] for row in table(out, "instance") if row["uav_kind"] == "ground_drone"
    }
    assert len(drones) >= 6  # of 12: some fall to one place of the pavement
    boxes = Counter(row["instance_token"] for row in table(out, "sample_annotation") if row["instance_token"] in drones)
    assert boxes == dict.fromkeys(drones, 2)  # they stand, in both samples
    pixels: Counter[int] = Counter()
    for mask in (out / "masks").rglob("*.png"):
        ids, _ = codec.mask_ids_and_tags(mask)
        pixels.update(ids[ids > 0].tolist())
    assert sum(pixels[i] > 0 for i in drones.values()) >= 3


def test_its_table_is_written_and_validated(out: Path) -> None:
    rows = table(out, "ground_drone")
    assert {row["instance_token"] for row in rows} <= {row["token"] for row in table(out, "instance")}
    assert all(row["asked"] == 12 for row in rows)
    references = json.loads((out / "v1.0-mini" / "uav_dataset.json").read_text())["references"]
    assert references == {"ground_drone": {"scene_token": "scene", "instance_token": "instance"}}
    assert "ground drones" in run(out.parent, "plan", "--dataset", str(out.parent / "drones.yaml"))


def test_an_unknown_key_is_refused_with_its_line(out: Path) -> None:
    wrong = out.parent / "wrong.yaml"
    wrong.write_text(DATASET + "ground_drones: {cuont: 3}\n")
    output = run(out.parent, "plan", "--dataset", str(wrong), code=2)
    assert "wrong.yaml:7: ground_drones.cuont: unknown key; did you mean 'count'?" in output


def test_a_damaged_table_is_found(out: Path) -> None:
    rows = table(out, "ground_drone")
    wrong = [rows[0] | {"instance_token": "f" * 32}, *rows[1:], rows[-1]]
    (out / "v1.0-mini" / "ground_drone.json").write_text(json.dumps(wrong))
    (report,) = validate_dataset(out, workers=1)  # in a process without the package
    assert {"referential.key", "referential.token"} <= set(report.counts)
