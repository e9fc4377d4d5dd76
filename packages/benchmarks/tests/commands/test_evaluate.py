"""``uavsim evaluate`` on a uavsim dataset with results made from its boxes."""

import json
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

from tests.validate.small import write_small
from uavsim.cli import build_app
from uavsim.dataset.tables import read_rows
from uavsim.errors import InputError, UavsimError, UnknownNameError
from uavsim.records.classes import detection_class

VERSION = "v1.0-mini"


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("evaluated")
    return write_small(folder / "small", folder / "recordings", samples=3)


def results_of(data: Path, *, offset: tuple[float, float] = (0.0, 0.0), task: str = "detection") -> dict[str, Any]:
    tables = data / VERSION
    category = {row["token"]: row["name"] for row in read_rows(tables / "category.json")}
    kind = {row["token"]: category[row["category_token"]] for row in read_rows(tables / "instance.json")}
    results: dict[str, list[dict[str, Any]]] = {row["token"]: [] for row in read_rows(tables / "sample.json")}
    for row in read_rows(tables / "sample_annotation.json"):
        name = detection_class(kind[row["instance_token"]])
        if name is None or not row["uav_seen_by"]:
            continue
        x, y, z = row["translation"]
        task_fields = {"detection_name": name, "detection_score": 0.5, "attribute_name": ""}
        if task == "tracking":
            task_fields = {"tracking_name": name, "tracking_score": 0.5, "tracking_id": row["instance_token"]}
        common_fields = {key: row[key] for key in ("sample_token", "size", "rotation")}
        moved = {"translation": [x + offset[0], y + offset[1], z], "velocity": [0.0, 0.0]}
        results[row["sample_token"]].append(common_fields | moved | task_fields)
    return {"meta": {}, "results": results}


def run(*arguments: object) -> tuple[str, BaseException | None]:
    done = CliRunner().invoke(build_app(), ["evaluate", *map(str, arguments)], env={"COLUMNS": "200"})
    return done.output, done.exception


def scored(data: Path, tmp_path: Path, benchmark: str, content: dict[str, Any], *more: str) -> dict[str, Any]:
    results, report = tmp_path / "results.json", tmp_path / "out" / "scores.json"
    results.write_text(json.dumps(content))
    output, error = run(benchmark, "--truth", data, "--results", results, "--json", report, *more)
    assert error is None, (output, error)
    scores: dict[str, Any] = json.loads(report.read_text())
    return scores


def test_the_truth_as_a_result_is_perfect(data: Path, tmp_path: Path) -> None:
    scores = scored(data, tmp_path, "nuscenes-detection", results_of(data), "--mode", "corrected")
    assert scores["mean_ap"] == pytest.approx(1.0)
    assert scores["benchmark"] == "nuscenes-detection"
    tracks = scored(data, tmp_path, "nuscenes-tracking", results_of(data, task="tracking"), "--mode", "corrected")
    assert (tracks["amota"], tracks["motp"], tracks["ids"]) == (pytest.approx(1.0), 0.0, 0)
    uav3d = scored(data, tmp_path, "uav3d", results_of(data))
    assert uav3d["ap_0.7"] > 0.95  # UAV3D counts every category as a car, the results have nuScenes' classes only
    assert scored(data, tmp_path, "coperception-uav", results_of(data))["ap_0.7"] == pytest.approx(1.0)


def test_swarm_answers_by_group_and_compares_two_results(data: Path, tmp_path: Path) -> None:
    worse = tmp_path / "worse.json"
    content = results_of(data)
    worse.write_text(json.dumps({"results": {token: boxes[:1] for token, boxes in content["results"].items()}}))
    scores = scored(data, tmp_path, "swarm", content, "--option", f"against={worse}", "--option", "draws=20")
    assert scores["recall"] == 1.0
    assert sum(group["boxes"] for group in scores["by_drones"].values()) == scores["overall"]["boxes"]
    assert {"by_distance_m", "by_visibility", "by_weather", "by_pixels", "by_occlusion"} <= set(scores)
    comparison = scores["comparison"]
    assert comparison["recall"]["value"] > 0
    assert comparison["recall"]["low"] <= comparison["recall"]["value"] <= comparison["recall"]["high"]
    assert sum(row["recall"] for row in comparison["scenes"]) == pytest.approx(comparison["recall"]["value"])


def test_a_page_stands_alone_and_latex_has_a_row(data: Path, tmp_path: Path) -> None:
    results, page = tmp_path / "results_a.json", tmp_path / "page.html"
    results.write_text(json.dumps(results_of(data)))
    output, error = run("uav3d", "--truth", data, "--results", results, "--html", page, "--latex")
    assert error is None, output
    assert r"mean\_ap & nds" in output
    assert r"results\_a & " in output
    text = page.read_text()
    assert text.count("<svg") >= 2
    assert "src=" not in text
    assert "<script" not in text


@pytest.mark.parametrize(
    ("arguments", "words", "kind"),
    [
        (["uav3dd", "--truth", "{data}", "--results", "{good}"], "did you mean 'uav3d'", UnknownNameError),
        (["uav3d", "--truth", "{data}", "--results", "{good}", "--mode", "offical"], "'official'", UnknownNameError),
        (["uav3d", "--truth", "{data}", "--results", "{tmp}/none.json"], "no such file", InputError),
        (["uav3d", "--truth", "{data}", "--results", "{tmp}/fifo"], "no such file", InputError),
        (["swarm", "--truth", "{data}", "--results", "{tmp}/fifo"], "no such file", InputError),
        (["aot", "--truth", "{tmp}/fifo", "--results", "{good}"], "no such file or folder", InputError),
        (["uav3d", "--truth", "{tmp}/none", "--results", "{good}"], "no such file or folder", InputError),
        (["uav3d", "--truth", "{data}", "--results", "{good}", "--option", "rnge=3"], "no option 'rnge'", InputError),
        (["swarm", "--truth", "{data}", "--results", "{good}", "--option", "range"], "must be NAME=VALUE", InputError),
        (["swarm", "--truth", "{data}", "--results", "{good}", "--option", "range=far"], "not a number", InputError),
        (["uav3d", "--truth", "{data}", "--results", "{good}", "--version", "v2"], "no version 'v2'", InputError),
        (
            ["uav3d", "--truth", "{data}", "--results", "{good}", "--split", "uav_vall"],
            "did you mean",
            UnknownNameError,
        ),
        (["nuscenes-detection", "--truth", "{data}", "--results", "{short}"], "samples are missing", InputError),
        (["nuscenes-detection", "--truth", "{data}", "--results", "{ego}"], "ego's or lidar's frame", InputError),
    ],
)
def test_bad_input_is_one_line_and_nothing_is_written(
    arguments: list[str], words: str, kind: type[UavsimError], data: Path, tmp_path: Path
) -> None:
    os.mkfifo(tmp_path / "fifo")
    content = results_of(data)
    tables = data / VERSION
    ego = next(iter(read_rows(tables / "ego_pose.json")))["translation"]
    files = {"good": content, "short": {"results": dict(list(content["results"].items())[:1])}}
    files["ego"] = results_of(data, offset=(-ego[0], -ego[1]))
    for name, value in files.items():
        (tmp_path / f"{name}.json").write_text(json.dumps(value))
    paths = {name: tmp_path / f"{name}.json" for name in files} | {"data": data, "tmp": tmp_path}
    before = sorted(tmp_path.rglob("*"))
    filled = [argument.format(**paths) for argument in arguments]
    _, error = run(*filled, "--json", tmp_path / "scores.json", "--html", tmp_path / "page.html")
    assert isinstance(error, kind), error
    assert error.exit_code == 2
    assert words in str(error)
    assert "\n" not in str(error)
    assert sorted(tmp_path.rglob("*")) == before


def test_missing_samples_are_empty_when_corrected(data: Path, tmp_path: Path) -> None:
    content = results_of(data)
    short = {"results": dict(list(content["results"].items())[:1])}
    scores = scored(data, tmp_path, "nuscenes-detection", short, "--mode", "corrected")
    assert 0 < scores["mean_ap"] < 1
    assert np.isfinite(scores["nds"])
