"""Result folders that are swapped for a link while they are written: nothing follows the link."""

import contextlib
import importlib
import threading
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

import uavsim
from tests.dataset_factory import make_dataset
from tests.hostile.datasets import EVERY_ROAD, filled
from tests.rare_dataset import make_rare
from uavsim.cli import build_app
from uavsim.config.events import EventThresholds
from uavsim.dataset.convert import convert
from uavsim.errors import UavsimError
from uavsim.exports.formats import EXPORTERS, ExportRequest
from uavsim.exports.publish import PublishRequest, publish
from uavsim_benchmarks.labels.values import write_values
from uavsim_benchmarks.labels.write_events import write_events
from uavsim_benchmarks.questions.write_questions import write_questions

TRIES = 4


def export(kind: str, root: Path, out: Path) -> object:
    return EXPORTERS.pick(kind)(ExportRequest(root, out))


Job = Callable[[Path, Path], object]
JOBS: dict[str, Job] = {
    **{kind: partial(export, kind) for kind in ("mcap", "nerfstudio", "opv2v")},
    "convert": lambda root, out: convert(root, out, dialect="uav3d"),
    "publish": lambda root, out: publish(uavsim.open(root), out, PublishRequest()),
}
ON_RARE: dict[str, Job] = {
    **{kind: partial(export, kind) for kind in ("coco", "mmdet3d", "openad")},
    "events": lambda root, out: write_events(uavsim.open(root), out, EventThresholds()),
    "collaboration": lambda root, out: write_values(uavsim.open(root), out, EventThresholds()),
    "questions": lambda root, out: write_questions(uavsim.open(root), out, EventThresholds(), seed=0, per_task=3),
}


def released(*names: str) -> list[Any]:
    return [pytest.param(name, marks=pytest.mark.release) for name in names]


AT_WORK: dict[str, tuple[str, str]] = {  # a command, and a function that it calls while its result folder is open
    "report": ("report SET --out OUT/x.html", "uavsim.viewing.report.write.measure"),
    "video": ("video SET --out OUT/x.gif", "uavsim.exports.formats.video.encode_gif"),
    "map": (f"map {EVERY_ROAD} --out OUT --png OUT/x.png", "uavsim.maps.build.build"),
}


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("large") / "set"
    return make_dataset(folder, scenes=3, samples=6, sweeps=0, drones=3, size_px=(64, 36))


@pytest.fixture(scope="module")
def rare(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_rare(tmp_path_factory.mktemp("rare") / "set")


def swap_while(job: Job, root: Path, folder: Path) -> int:
    """Swap every folder of a result for a link to a victim's as soon as it exists; returns their number.

    Raises:
        AssertionError: the victim's folder holds a file.
    """
    out, victim, swapped, stop = folder / "result", folder / "victim", 0, threading.Event()
    victim.mkdir(parents=True)

    def swapper() -> None:
        nonlocal swapped
        while not stop.is_set():
            for folder in [out, *out.rglob("*")] if out.is_dir() else []:
                with contextlib.suppress(OSError):  # the folder was moved meanwhile
                    if folder.is_dir() and not folder.is_symlink():
                        folder.rename(out.parent / f"moved-{swapped}")
                        folder.symlink_to(victim)
                        swapped += 1

    thread = threading.Thread(target=swapper)
    thread.start()
    try:
        with contextlib.suppress(UavsimError):
            job(root, out)
    finally:
        stop.set()
        thread.join()
    assert not any(victim.iterdir())
    return swapped


@pytest.mark.parametrize("name", ["mcap", "convert", *released("nerfstudio", "opv2v", "publish")])
def test_swapped_folder_takes_nothing(name: str, root: Path, tmp_path: Path) -> None:
    assert sum(swap_while(JOBS[name], root, tmp_path / str(attempt)) for attempt in range(TRIES))


@pytest.mark.parametrize("name", ["coco", *released("questions", "mmdet3d", "openad", "events", "collaboration")])
def test_swapped_folder_of_label_writers_takes_nothing(name: str, rare: Path, tmp_path: Path) -> None:
    swap_while(ON_RARE[name], rare, tmp_path)


@pytest.mark.parametrize("name", AT_WORK)
def test_folder_swapped_during_the_work_takes_nothing(
    name: str, rare: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out, victim = tmp_path / "out", tmp_path / "victim"
    victim.mkdir()
    words, function_name = AT_WORK[name]
    module, _, function = function_name.rpartition(".")
    original = getattr(importlib.import_module(module), function)

    def swap_and_work(*args: Any, **kwargs: Any) -> Any:
        out.rename(tmp_path / "moved")
        out.symlink_to(victim)
        return original(*args, **kwargs)

    monkeypatch.setattr(function_name, swap_and_work)
    done = CliRunner().invoke(build_app(), filled(words, rare, out))
    assert done.exit_code == 0, done.exception
    assert not any(victim.iterdir())
    assert any((tmp_path / "moved").iterdir())
