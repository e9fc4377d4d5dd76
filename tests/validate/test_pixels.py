"""Boxes that do not match their pixels."""

import json
import shutil
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import numpy as np
import pytest

from tests.validate.disk import edited_table
from tests.validate.small import VERSION
from uavsim.access import open_folder
from uavsim.validate.evidence import Evidence, Pairs
from uavsim.validate.pixels import boxes_fill_silhouettes
from uavsim.validate.validator import validate_version


@pytest.mark.parametrize("is_agent", [False, True])
def test_only_an_agents_own_pixels_of_itself_may_be_left_out(clean: Path, tmp_path: Path, is_agent: bool) -> None:
    root = tmp_path / "data"
    shutil.copytree(clean, root)
    tables = root / VERSION
    scene = open_folder(root, VERSION).scene("scene_00")
    boxes = scene.samples[0].boxes
    box, token, own_px = next(
        (token, instance, px)
        for token, instance, views in zip(boxes.tokens, boxes.instance_tokens, boxes.views, strict=True)
        if (px := sum(view["visible_px"] for view in views if view["channel"].endswith("_id_0")))
    )
    agent = {
        "token": "f" * 32,
        "scene_token": scene.token,
        "id": "0" if is_agent else "1",
        "kind": "drone",
        "rig": "own",
    }
    (tables / "agent.json").write_text(json.dumps([{**agent, "instance_token": token}]))
    with edited_table(tables, "sample_annotation") as rows:
        row = next(row for row in rows if row["token"] == box)
        row["uav_visible_px" if "uav_visible_px" in row else "num_lidar_pts"] -= own_px
    found = [f.code for f in validate_version(root, VERSION, workers=1).findings]
    assert ("pixels.count" in found) is not is_agent


@pytest.mark.parametrize(
    ("visible", "is_too_large"), [([30, 30, 60, -10, 70, 70, 140, 10], False), ([20, 20, 40, -6, 80, 80, 160, 6], True)]
)
def test_object_across_the_image_with_hidden_ends_is_not_too_large(visible: list[int], is_too_large: bool) -> None:
    """The outline is 100 px wide and high, 200 and 20 px along the diagonals: its ends are hidden, or it is smaller."""
    outline = np.tile([0.0, 0, 0, -10, 100, 100, 200, 10], (3, 1))
    rows, visible_px = np.arange(3), np.full(3, 900)
    pairs = Pairs(rows, rows, visible_px, visible_px, np.tile(visible, (3, 1)), outline, np.zeros(3, bool), rows)
    three = type("Three", (dict,), {"__len__": lambda _self: 3})
    table = type("Data", (dict,), {"annotation_place": lambda _self, _row: {}})(
        sample_annotation=three(instance_token=np.zeros(3, np.int64)), instance=SimpleNamespace(tokens=["car"])
    )
    evidence = cast("Evidence", SimpleNamespace(pairs=pairs, data=table, looks=(None,) * 3))
    assert [found.code for found in boxes_fill_silhouettes(evidence)] == ["pixels.outline"] * is_too_large
