"""The folder that scenes are committed to: durable order, orphans, locks, foreign folders."""

import errno
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from uavsim.errors import StorageError
from uavsim.files import whole as atomic
from uavsim.store.commit import commit_scene, read_fragment, sweep_orphans
from uavsim.store.ledger import LedgerEntry, read_entry, read_ledger, write_entry
from uavsim.store.local import LocalOutput


@pytest.fixture
def output(tmp_path: Path) -> LocalOutput:
    return LocalOutput(tmp_path / "out")


def stage(output: LocalOutput, scene: str, *, images: int = 2) -> tuple[Path, dict[str, str]]:
    folder = output.stage(scene)
    (folder / "log.msgpack").write_bytes(b"log")
    moves = {}
    for k in range(images):
        (folder / f"{k}.png").write_bytes(f"{scene}{k}".encode())
        moves[f"{k}.png"] = f"samples/CAMERA_FRONT_id_0/{scene}__CAMERA_FRONT_id_0__{k}.png"
    return folder, moves


def commit(output: LocalOutput, scene: str) -> LedgerEntry:
    folder, moves = stage(output, scene)
    entry = LedgerEntry(scene, "flying", town="Town10HD")
    write_entry(output, entry)
    done = commit_scene(output, entry, folder=folder, moves=moves, log="log.msgpack", fragment=scene.encode())
    output.drop_staged(folder)
    return done


def test_commit_leaves_the_scene_and_nothing_else(output: LocalOutput) -> None:
    commit(output, "scene_00")

    files = sorted(str(p.relative_to(output.root)) for p in output.root.rglob("*") if p.is_file())
    assert files == [
        ".uavsim/fragments/scene_00.msgpack",
        ".uavsim/ledger/scene_00.json",
        ".uavsim/manifests/scene_00~0.json",
        ".uavsim/recordings/scene_00/log.msgpack",
        "samples/CAMERA_FRONT_id_0/scene_00__CAMERA_FRONT_id_0__0.png",
        "samples/CAMERA_FRONT_id_0/scene_00__CAMERA_FRONT_id_0__1.png",
    ]
    assert read_ledger(output)["scene_00"].state == "committed"
    assert read_fragment(output, read_ledger(output)["scene_00"]) == b"scene_00"


def test_every_interruption_before_the_ledger_is_swept(output: LocalOutput, monkeypatch: pytest.MonkeyPatch) -> None:
    """The process ends at each rename in turn; before the ledger's rename, a sweep removes all files of the scene."""
    commit(output, "scene_00")
    before = snapshot(output)
    cut = 0
    while cut_short(monkeypatch, cut, lambda: commit(output, "scene_01")):
        if read_ledger(output).get("scene_01", LedgerEntry("scene_01", "flying")).state == "committed":
            break  # only its staging folder was left
        sweep_orphans(output)
        assert {k: v for k, v in snapshot(output).items() if k != ".uavsim/ledger/scene_01.json"} == before
        cut += 1
    assert cut > 10  # entry, mark, manifest, two images, log, fragment, entry: each a temp file, a link or a rename
    assert read_entry(output, "scene_01").state == "committed"
    sweep_orphans(output)
    assert sweep_orphans(output) == []


def cut_short(monkeypatch: pytest.MonkeyPatch, limit: int, work: Callable[[], object]) -> bool:
    """Stop ``work`` before its change number ``limit`` of a folder; returns False if it had fewer changes."""
    changes = 0

    def counted(real: Callable[..., object]) -> Callable[..., object]:
        def change(*args: object, **keywords: object) -> object:
            nonlocal changes
            changes += 1
            if changes > limit:
                raise KeyboardInterrupt
            return real(*args, **keywords)

        return change

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", lambda _: None)  # no real power failure, and the work restarts for every change
        for name in ("rename", "link", "unlink", "rmdir", "mkdir"):
            patch.setattr(os, name, counted(getattr(os, name)))
        try:
            work()
        except KeyboardInterrupt:
            return True
        return False


def snapshot(output: LocalOutput) -> dict[str, bytes]:
    return {
        str(p.relative_to(output.root)): p.read_bytes()
        for p in output.root.rglob("*")
        if p.is_file() and p.name != "locks"
    }


def test_sweep_leaves_a_scene_that_another_process_holds(output: LocalOutput) -> None:
    folder, _ = stage(output, "scene_07")
    holder = subprocess.Popen(
        [
            sys.executable,
            "-c",
            "import sys; from pathlib import Path; from uavsim.store.local import LocalOutput\n"
            "with LocalOutput(Path(sys.argv[1])).lock('scene_07') as locked: print(locked, flush=True); sys.stdin.read()",
            str(output.root),
        ],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert holder.stdout.readline() == "True\n"
        with output.lock("scene_07") as locked:
            assert not locked
        assert sweep_orphans(output) == []
        assert folder.is_dir()
    finally:
        holder.kill()  # -9: the kernel drops the lock
        holder.communicate()
    assert sweep_orphans(output) == [f".uavsim/staging/{folder.name}"]
    assert not folder.exists()


def test_two_threads_of_one_process_exclude_each_other(output: LocalOutput) -> None:
    with output.lock("a") as first, output.lock("a") as second, output.lock("b") as other:
        assert (first, second, other) == (True, False, True)
    with output.lock("a") as again:
        assert again


def test_temp_files_of_dead_writers_go_and_of_live_ones_stay(output: LocalOutput) -> None:
    folder = output.root / ".uavsim/ledger"
    folder.mkdir(parents=True)
    dead = folder / f".x.json.aaaaaaaaaaaa{atomic.TEMP_SUFFIX}"
    dead.write_bytes(b"half")
    live = folder / f".y.json.bbbbbbbbbbbb{atomic.TEMP_SUFFIX}"
    with live.open("wb") as file:
        import fcntl

        fcntl.flock(file, fcntl.LOCK_EX)
        assert sweep_orphans(output) == [f".uavsim/ledger/.x.json.aaaaaaaaaaaa{atomic.TEMP_SUFFIX}"]
    assert not dead.exists()
    assert live.exists()
    assert read_ledger(output) == {}


def test_an_image_of_another_scene_is_refused(output: LocalOutput) -> None:
    folder, moves = stage(output, "scene_00")
    with pytest.raises(StorageError, match="is not named after the scene"):
        commit_scene(
            output, LedgerEntry("scene_01", "flying"), folder=folder, moves=moves, log="log.msgpack", fragment=b""
        )


@pytest.mark.parametrize(
    ("code", "words"), [(errno.ENOSPC, "disk is full"), (errno.EROFS, "read-only"), (errno.EACCES, "permission")]
)
def test_storage_errors_say_what_to_do(
    output: LocalOutput, monkeypatch: pytest.MonkeyPatch, code: int, words: str
) -> None:
    def fail(*_: object) -> int:
        raise OSError(code, os.strerror(code))

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(StorageError, match=words) as caught:
        output.replace(".uavsim/ledger/a.json", b"{}")
    assert "\n" not in str(caught.value)
    monkeypatch.undo()
    assert output.keys(".uavsim") == []  # not even the temp file
