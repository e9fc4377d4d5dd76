"""The module in the page on metrics is installed and scores a result."""

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from evaluate.synthetic import truth_of, write_dataset
from tests.plugins import install_plugin, uavsim_with
from tools.common import ROOT
from uavsim_benchmarks.evaluate.boxes import Boxes

PAGE = ROOT / "docs/how-to-add-a-metric.md"
MODULE, ROW = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)


def test_the_share_of_the_page_is_what_one_counts_by_hand() -> None:
    names: dict[str, object] = {}
    exec(MODULE, names)
    share = names["found_share"]
    assert callable(share)
    zeros = np.zeros(3)
    truth = Boxes.make(zeros.astype(int), zeros.astype(int), np.array([[0.0, 0, 0], [10, 0, 0], [20, 0, 0]]))
    found = Boxes.make(
        zeros.astype(int)[:2], zeros.astype(int)[:2], np.array([[1.0, 0, 0], [20, 3, 0]]), score=np.array([0.9, 0.8])
    )
    assert share(truth, found, 2.0) == pytest.approx(1 / 3)  # one is 1 m off, the other 3 m
    assert share(truth, found, 4.0) == pytest.approx(2 / 3)


def test_the_row_of_the_page_makes_a_benchmark_of_it(tmp_path: Path) -> None:
    root = write_dataset(tmp_path / "set", scenes=1)
    site = install_plugin(
        tmp_path,
        "shares",
        group="uavsim.metrics",
        adds={"found-share": "shares:FOUND_SHARE"},
        source=f"{MODULE}\n\n{ROW}",
    )
    truth = truth_of(root, 0)
    exact = {sample: [as_found(row) for row in rows] for sample, rows in truth.items()}
    assert share_of(exact, site, root, tmp_path) == 1.0
    assert share_of({sample: [] for sample in truth}, site, root, tmp_path) == 0.0


def as_found(row: dict[str, Any]) -> dict[str, Any]:
    """Return a ground-truth box as a detection."""
    return {key: row[key] for key in ("sample_token", "translation", "size", "rotation")} | {
        "velocity": [0.0, 0.0],
        "detection_name": row["name"],
        "detection_score": 0.5,
        "attribute_name": "",
    }


def share_of(results: dict[str, list[dict[str, Any]]], site: str, root: Path, folder: Path) -> float:
    """Score results on the command line with the package of the page."""
    file, report = folder / "results.json", folder / "report.json"
    file.write_text(json.dumps({"meta": {"use_camera": True}, "results": results}))
    words = ("--truth", str(root), "--results", str(file), "--json", str(report), "--option", "within=3")
    uavsim_with(site, "evaluate", "found-share", *words)
    share: float = json.loads(report.read_bytes())["found_share"]
    return share
