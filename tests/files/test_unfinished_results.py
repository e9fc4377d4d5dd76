"""Results of killed commands: reported as unfinished, and completed by the same command with the same bytes."""

import os
import signal
import traceback
from pathlib import Path

import pytest

import uavsim
from tests.dataset_factory import make_dataset
from uavsim.dataset.convert import convert
from uavsim.errors import DatasetError, InputError
from uavsim.exports.publish.pack import PublishRequest, publish
from uavsim.files.results import UNFINISHED


@pytest.fixture(scope="module")
def strict(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_dataset(tmp_path_factory.mktemp("unfinished") / "set", scenes=2, samples=2, sweeps=0, drones=1)


def contents(folder: Path) -> dict[str, bytes]:
    return {str(p.relative_to(folder)): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()}


def write(kind: str, strict: Path, out: Path) -> None:
    if kind == "convert":
        convert(strict, out, dialect="uav3d")
    else:
        publish(uavsim.open(strict), out, PublishRequest(date="2026-01-01"))


@pytest.mark.parametrize("kind", ["convert", "publish"])
def test_same_command_completes_after_a_kill(kind: str, strict: Path, tmp_path: Path) -> None:
    write(kind, strict, tmp_path / "whole")
    expected = contents(tmp_path / "whole")
    assert UNFINISHED not in expected
    for files in (1, len(expected) // 3, len(expected) * 2 // 3):
        out = tmp_path / f"killed-{files}"
        killed = os.fork()
        if not killed:
            try:
                _die_after(files)
                write(kind, strict, out)
            except BaseException:  # noqa: BLE001 - the child never returns into pytest
                traceback.print_exc()
            finally:
                os._exit(0)
        assert os.waitstatus_to_exitcode(os.waitpid(killed, 0)[1]) == -signal.SIGKILL
        with pytest.raises(DatasetError, match=f"unfinished: uavsim {kind} is running or was killed"):
            uavsim.open(out)
        with pytest.raises((InputError, DatasetError), match="unfinished"):
            write("publish" if kind == "convert" else "convert", strict, out)
        write(kind, strict, out)
        assert contents(out) == expected


def _die_after(files: int) -> None:
    """Kill this process after it renamed a number of files."""
    steps = iter(range(files))

    def counted(act):
        def named(*arguments, **options):
            if next(steps, None) is None:
                os.kill(os.getpid(), signal.SIGKILL)
            return act(*arguments, **options)

        return named

    os.rename, os.link = counted(os.rename), counted(os.link)


def test_folder_with_other_files_is_refused(strict: Path, tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out/mine.txt").write_text("mine")
    with pytest.raises(InputError, match="is not empty"):
        write("convert", strict, tmp_path / "out")
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["mine.txt"]
