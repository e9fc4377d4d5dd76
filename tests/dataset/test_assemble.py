import errno
import json
import os
from dataclasses import replace
from pathlib import Path

import msgpack
import pytest
from headless_simulator.scene import TAG

from tests.other_python import printed_by
from uavsim.dataset import Fragment, assemble, open_fragment, pack_fragment, tables, unpack_fragment
from uavsim.dataset.schema import REQUIRED
from uavsim.dataset.tables import iter_rows, read_rows, write_rows
from uavsim.dataset.vocabulary import semantic_tag_rows
from uavsim.errors import DatasetError, StorageError


def renamed(fragment: Fragment, scene: str, index: int, **changes) -> Fragment:
    return Fragment(replace(fragment.head, scene=scene, scene_index=index, **changes), fragment.rows)


def test_packing_there_and_back_is_the_same_and_repeatable(fragment: Fragment) -> None:
    packed = pack_fragment(fragment)
    again = unpack_fragment(packed)
    assert again.head == fragment.head
    assert again.rows == fragment.rows
    assert pack_fragment(again) == packed


def test_foreign_ones_are_refused() -> None:
    for data in (b"", b"nothing", b"\x81\xa1a\x01"):
        with pytest.raises(DatasetError, match="packed fragment"):
            open_fragment(data)


def test_a_damaged_head_is_reported(fragment: Fragment) -> None:
    value = msgpack.unpackb(pack_fragment(fragment), raw=False)
    del value["head"]["town"]
    with pytest.raises(DatasetError, match="not a packed fragment: KeyError 'town'"):
        open_fragment(msgpack.packb(value))


def test_every_table_is_json_and_streams(fragment: Fragment, tmp_path: Path) -> None:
    (version,) = assemble(tmp_path, [pack_fragment(fragment)])
    assert version.scenes == ["scene_00"]
    for name in REQUIRED:
        path = tmp_path / "v1.0-mini" / f"{name}.json"
        rows = json.loads(path.read_bytes())
        assert rows == list(iter_rows(path))
        assert len(rows) == version.row_count[name]
    assert json.loads((tmp_path / "v1.0-mini/splits.json").read_text()) == {"uav_train": ["scene_00"]}
    info = json.loads((tmp_path / "v1.0-mini/uav_dataset.json").read_text())
    assert "pixels" in info["notes"][0]
    assert "maps/Town10HD.png is blank" in info["notes"][1]
    assert not list(tmp_path.rglob("*.part"))


def test_same_fragments_same_bytes(fragment: Fragment, tmp_path: Path) -> None:
    for run in ("a", "b"):
        assemble(tmp_path / run, [pack_fragment(fragment)], map_masks={"Town10HD": b"not drawn here"})
    files = sorted(p.relative_to(tmp_path / "a") for p in (tmp_path / "a").rglob("*") if p.is_file())
    assert len(files) == 13 + 6 + 2 + 1
    for name in files:
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes()


def test_a_table_handed_over_in_steps_is_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [{"token": f"{k:032x}", "text": "x" * k} for k in range(200)]
    write_rows(tmp_path / "whole.json", rows)
    reported: list[int] = []
    monkeypatch.setattr(tables, "_HANDED_OVER_BYTES", 100)
    monkeypatch.setattr(os, "posix_fadvise", lambda *_: reported.append(1))
    write_rows(tmp_path / "stepped.json", rows)
    assert len(reported) > 100
    assert (tmp_path / "stepped.json").read_bytes() == (tmp_path / "whole.json").read_bytes()


def test_failed_assembly_leaves_no_files(fragment: Fragment, tmp_path: Path) -> None:
    with pytest.raises(DatasetError, match="no scene"):
        assemble(tmp_path, [])
    twice = [pack_fragment(renamed(fragment, "scene_01", 1)), pack_fragment(fragment)]
    with pytest.raises(DatasetError, match=r"scene_00 .*out of order"):
        assemble(tmp_path, twice)
    assert not list(tmp_path.rglob("*.json*"))


def test_trainval_holds_all_scenes_and_test_those_of_its_split(fragment: Fragment, tmp_path: Path) -> None:
    scenes = [
        renamed(fragment, f"scene_000{i}", i, version="v1.0-trainval", splits=(split,))
        for i, split in enumerate(["uav_train", "uav_test", "uav_val"])
    ]
    trainval, test = assemble(tmp_path, map(pack_fragment, scenes))
    assert trainval.scenes == ["scene_0000", "scene_0001", "scene_0002"]
    assert (test.version, test.scenes) == ("v1.0-test", ["scene_0001"])
    splits = json.loads((tmp_path / "v1.0-trainval/splits.json").read_text())
    assert list(splits) == ["uav_train", "uav_val", "uav_test"]


def test_tables_of_others_are_read_too(tmp_path: Path) -> None:
    rows = [{"token": "a", "x": [1, 2]}, {"token": "b", "x": []}]
    for name, text in {
        "line": json.dumps(rows),
        "indent": json.dumps(rows, indent=0),
        "deep": json.dumps(rows, indent=2),
    }.items():
        path = tmp_path / f"{name}.json"
        path.write_text(text)
        assert read_rows(path) == rows
    (tmp_path / "empty.json").write_text("[]")
    assert read_rows(tmp_path / "empty.json") == []


@pytest.mark.parametrize("text", ["", "[\n", '{"a": 1}', "[1, 2]", '[\n{"a": 1},\n', "["])
def test_damaged_tables_are_reported(text: str, tmp_path: Path) -> None:
    path = tmp_path / "sample.json"
    path.write_text(text)
    with pytest.raises(DatasetError, match=r"sample\.json"):
        read_rows(path)


def test_the_unmodified_devkit_loads_it(fragment: Fragment, tmp_path: Path) -> None:
    assemble(tmp_path, [pack_fragment(fragment)])
    script = (
        "import sys; from nuscenes.nuscenes import NuScenes\n"
        "n = NuScenes('v1.0-mini', sys.argv[1], verbose=False)\n"
        "speeds = [n.box_velocity(a['token']) - a['uav_velocity'] for a in n.sample_annotation]\n"
        "print(len(n.sample), len(n.sample_annotation), round(max(abs(v).max() for v in speeds), 6))\n"
    )
    assert printed_by("judge", script, tmp_path).split() == ["3", "35", "0.0"]


def test_tags_are_those_of_the_headless_simulator_and_in_carlas_order() -> None:
    assert {row["name"]: row["index"] for row in semantic_tag_rows()} == TAG
    assert len({tuple(row["color"]) for row in semantic_tag_rows()}) == 29


def test_a_table_on_a_full_disk_is_reported_with_what_to_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("uavsim.dataset.tables.os.fsync", full)
    with pytest.raises(
        StorageError, match=r"cannot write .*a\.json: the disk is full; free space and run the same .* again$"
    ):
        write_rows(tmp_path / "a.json", [{"a": 1}])
