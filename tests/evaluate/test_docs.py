"""The page on metrics is followed: its module is lifted out, installed, and scores a result."""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path

import pytest

from tests.evaluate.synthetic import VERSION, write_dataset
from tests.plugins import install_plugin, uavsim_with

PAGE = Path(__file__).parents[2] / "docs/how-to-add-a-metric.md"


def test_the_example_of_the_page_scores_a_result(tmp_path: Path) -> None:
    text = PAGE.read_text(encoding="utf-8")
    source = "\n".join(re.findall(r"```python\n(.*?)```", text, re.DOTALL))
    (toml,) = re.findall(r"```toml\n(.*?)```", text, re.DOTALL)
    ((group, adds),) = tomllib.loads(toml)["project"]["entry-points"].items()
    module = next(iter(adds.values())).partition(":")[0].rpartition(".")[2]
    names = {name: f"{module}:{value.partition(':')[2]}" for name, value in adds.items()}
    site = install_plugin(tmp_path, module, group=group, adds=names, source=source)
    root = write_dataset(tmp_path / "data", scenes=1, samples=2, boxes=16)
    boxes = json.loads((root / VERSION / "sample_annotation.json").read_text())
    instances = json.loads((root / VERSION / "instance.json").read_text())
    cars = {row["token"] for row in instances if row["category_token"] == "c0"}
    counted = [row for row in boxes if row["instance_token"] in cars and row["num_lidar_pts"]]
    assert len(counted) >= 2
    half = counted[: len(counted) // 2]
    found: dict[str, list[dict[str, object]]] = {"s0_0": [], "s0_1": []}
    for row in half:
        own = {"detection_name": "car", "detection_score": 0.5, "attribute_name": "", "velocity": [0.0, 0.0]}
        kept = {key: row[key] for key in ("sample_token", "translation", "size", "rotation")}
        found[row["sample_token"]].append(kept | own)
    results, report = tmp_path / "results.json", tmp_path / "scores.json"
    results.write_text(json.dumps({"meta": {}, "results": found}))

    paths = ("--truth", str(root), "--results", str(results), "--json", str(report))
    options = ("--option", "within=0.5", "--option", "range=1000")
    printed = uavsim_with(site, "evaluate", *adds, *paths, *options)

    told = json.loads(report.read_text())
    assert "found_share" in printed
    total = sum(bool(row["num_lidar_pts"]) and row["instance_token"] in _classed(root) for row in boxes)
    assert told["found_share"] == pytest.approx(len(half) / total)


def _classed(root: Path) -> set[str]:
    """Return the instances whose category is a class of the benchmark."""
    instances = json.loads((root / VERSION / "instance.json").read_text())
    return {row["token"] for row in instances if int(row["category_token"][1:]) < 12}  # a rack and an animal follow
