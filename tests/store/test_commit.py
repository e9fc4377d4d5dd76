"""Foreign files beside and inside the dataset stay unchanged by sweeps and commits."""

import json
import os
from pathlib import Path

import pytest

from tests.store.test_local import commit, cut_short, stage
from uavsim.errors import InputError, StorageError
from uavsim.store.commit import commit_scene, sweep_orphans
from uavsim.store.identity import check_identity
from uavsim.store.ledger import LedgerEntry, write_entry
from uavsim.store.local import LocalOutput
from uavsim.store.manifest import Generation, write_manifest


@pytest.fixture
def output(tmp_path: Path) -> LocalOutput:
    return LocalOutput(tmp_path / "out")


def everything(root: Path) -> dict[str, tuple[object, ...]]:
    """Return the content of every path: bytes of files, targets of links."""
    found: dict[str, tuple[object, ...]] = {}
    for path in sorted(root.rglob("*")):
        content = str(path.readlink()) if path.is_symlink() else path.read_bytes() if path.is_file() else None
        found[str(path.relative_to(root))] = (path.lstat().st_mode, content)
    return found


def interrupt(output: LocalOutput, scene: str) -> list[str]:
    """Leave the files of a commit killed before the ledger entry; returns the images' keys."""
    folder, moves = stage(output, scene)
    write_entry(output, LedgerEntry(scene, "flying"))
    write_manifest(output, Generation(scene, 0), folder=folder, moves=moves)
    output.adopt(folder, moves=moves)
    return sorted(moves.values())


def test_images_that_a_user_put_among_ours_stay(output: LocalOutput) -> None:
    commit(output, "scene_00")
    for root in ("samples", "sweeps", "masks", "depth", "lidar", "degraded"):
        foreign = output.root / root / "CAM_FRONT" / "n015-2018__CAM_FRONT__1533151603512404.jpg"
        foreign.parent.mkdir(parents=True, exist_ok=True)
        foreign.write_bytes(b"of nuScenes")
    before = everything(output.root)
    assert sweep_orphans(output) == []
    assert {k: v for k, v in everything(output.root).items() if k != ".uavsim/locks"} == {
        k: v for k, v in before.items() if k != ".uavsim/locks"
    }


def test_a_linked_root_is_never_swept(output: LocalOutput, tmp_path: Path) -> None:
    commit(output, "scene_00")
    nuscenes = tmp_path / "nuscenes" / "sweeps" / "CAM_FRONT"
    nuscenes.mkdir(parents=True)
    (nuscenes / "n015__CAM_FRONT__1.jpg").write_bytes(b"theirs")
    (output.root / "sweeps").symlink_to(tmp_path / "nuscenes" / "sweeps")
    sweep_orphans(output)
    assert (nuscenes / "n015__CAM_FRONT__1.jpg").read_bytes() == b"theirs"
    with pytest.raises(InputError, match="sweeps is a link"):
        check_identity(output, mark="x", name="smoke")


def test_a_link_put_in_after_the_interruption_leads_nowhere(output: LocalOutput, tmp_path: Path) -> None:
    """The link leads to files with the manifest's names, sizes and times."""
    keys = interrupt(output, "scene_01")
    channel = output.root / keys[0].rpartition("/")[0]
    channel.rename(tmp_path / "elsewhere")
    channel.symlink_to(tmp_path / "elsewhere")
    before = everything(tmp_path / "elsewhere")
    with pytest.raises(StorageError, match="is a link"):
        sweep_orphans(output)
    assert everything(tmp_path / "elsewhere") == before


def test_a_file_changed_since_it_was_written_stays(output: LocalOutput) -> None:
    first, second = interrupt(output, "scene_01")
    (output.root / first).write_bytes(b"edited by hand")
    sweep_orphans(output)
    assert (output.root / first).read_bytes() == b"edited by hand"
    assert not (output.root / second).exists()


def copied(root: Path) -> None:
    """Change the time of every file, like ``cp -r``."""
    for path in root.rglob("*"):
        if path.is_file():
            os.utime(path, ns=(1, 1))


def test_a_deleted_entry_is_enough_to_fly_the_scene_again_in_a_copied_folder(output: LocalOutput) -> None:
    commit(output, "scene_00")
    done = commit(output, "scene_01")
    foreign = output.root / "samples/CAMERA_FRONT_id_0/scene_01__CAMERA_FRONT_id_0__9.png"
    foreign.write_bytes(b"scene_019")
    copied(output.root)
    before = everything(output.root)
    (output.root / ".uavsim/ledger/scene_01.json").unlink()
    sweep_orphans(output)
    assert foreign.read_bytes() == b"scene_019"
    assert commit(output, "scene_01") == done
    assert everything(output.root) == before | {
        name: everything(output.root)[name] for name in (".uavsim/locks", ".uavsim/manifests/scene_01~0.json")
    }


def test_a_sweep_of_a_deleted_entry_that_is_cut_short_is_ended_by_the_next(
    output: LocalOutput, monkeypatch: pytest.MonkeyPatch
) -> None:
    commit(output, "scene_01")
    copied(output.root)
    (output.root / ".uavsim/ledger/scene_01.json").unlink()
    cut = 0
    while cut_short(monkeypatch, cut, lambda: sweep_orphans(output)):
        cut += 1
    assert cut > 0
    assert commit(output, "scene_01").state == "committed"


def test_a_file_changed_since_stays_though_its_scenes_entry_was_deleted(output: LocalOutput) -> None:
    commit(output, "scene_01")
    edited = sorted((output.root / "samples").rglob("*.png"))[0]
    edited.write_bytes(b"edited by hand")
    (output.root / ".uavsim/ledger/scene_01.json").unlink()
    sweep_orphans(output)
    assert edited.read_bytes() == b"edited by hand"


def test_a_deleted_entry_of_a_scene_that_another_process_holds_is_left_to_it(output: LocalOutput) -> None:
    commit(output, "scene_01")
    (output.root / ".uavsim/ledger/scene_01.json").unlink()
    before = everything(output.root / "samples")
    with output.lock("scene_01"):
        assert sweep_orphans(output) == []
    assert everything(output.root / "samples") == before


def test_a_file_of_an_interrupted_scene_that_was_touched_stays(output: LocalOutput) -> None:
    keys = interrupt(output, "scene_01")
    copied(output.root)
    sweep_orphans(output)
    assert all((output.root / key).exists() for key in keys)


def test_a_file_in_the_way_is_not_replaced(output: LocalOutput) -> None:
    folder, moves = stage(output, "scene_00")
    foreign = output.root / moves["1.png"]
    foreign.parent.mkdir(parents=True)
    foreign.write_bytes(b"theirs")
    entry = LedgerEntry("scene_00", "flying")
    with pytest.raises(StorageError, match=r"1\.png exists, and no manifest lists it") as caught:
        commit_scene(output, entry, folder=folder, moves=moves, log="log.msgpack", fragment=b"x")
    assert "\n" not in str(caught.value)
    output.drop_staged(folder)
    sweep_orphans(output)
    assert foreign.read_bytes() == b"theirs"
    assert not (output.root / moves["0.png"]).exists()


def test_folders_in_staging_that_we_did_not_make_stay(output: LocalOutput) -> None:
    commit(output, "scene_00")
    staging = output.root / ".uavsim/staging"
    for name in ("notes", "scene_00~x", "scene_00~0123456789abcdef"):
        (staging / name).mkdir(parents=True)
        (staging / name / "thesis.tex").write_text("x")
    (staging / "README").write_text("x")
    (staging / "scene_00~fedcba9876543210").symlink_to(output.root / "samples")
    before = everything(staging)
    assert sweep_orphans(output) == []
    assert everything(staging) == before
    assert any((output.root / "samples").rglob("*.png"))


@pytest.mark.parametrize(
    "key",
    [
        "../thesis.tex",
        "/etc/hostname",
        "samples/../../thesis.tex",
        "thesis.tex",
        "samples/C/other__C__1.png",
        ".uavsim/locks",
    ],
)
def test_a_crafted_manifest_removes_nothing(output: LocalOutput, tmp_path: Path, key: str) -> None:
    (tmp_path / "thesis.tex").write_text("x")
    commit(output, "scene_00")
    (output.root / "thesis.tex").write_text("x")
    found = (tmp_path / "thesis.tex").lstat()
    reported = {"files": {key: [found.st_size, found.st_mtime_ns]}}
    (output.root / ".uavsim/manifests/scene_01~0.json").write_text(json.dumps(reported))
    before = everything(tmp_path)
    with pytest.raises(StorageError, match="not a file of scene scene_01"):
        sweep_orphans(output)
    assert {k: v for k, v in everything(tmp_path).items() if "locks" not in k} == {
        k: v for k, v in before.items() if "locks" not in k
    }


def test_temp_files_are_known_by_their_whole_name(output: LocalOutput, tmp_path: Path) -> None:
    commit(output, "scene_00")
    (output.root / ".uavsim/ledger/mine.uavsim-tmp").write_text("x")
    (tmp_path / "target").write_text("x")
    (output.root / ".uavsim/ledger/.a.json.0123456789ab.uavsim-tmp").symlink_to(tmp_path / "target")
    assert sweep_orphans(output) == []
    assert (tmp_path / "target").read_text() == "x"


@pytest.mark.parametrize("key", [".uavsim/ledger/scene_00.json", ".uavsim/locks"])
def test_a_link_where_a_file_of_ours_belongs_is_refused(output: LocalOutput, tmp_path: Path, key: str) -> None:
    victim = tmp_path / "victim"
    victim.write_text("theirs")
    path = output.root / key
    path.parent.mkdir(parents=True)
    path.symlink_to(victim)
    with pytest.raises(StorageError, match="link"), output.lock("scene_00"):
        write_entry(output, LedgerEntry("scene_00", "flying"))
    assert victim.read_text() == "theirs"
