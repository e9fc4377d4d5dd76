import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from train_trials.toy import Toy, write_toy
from uavsim_baselines.compare import compare
from uavsim_baselines.config import Config
from uavsim_baselines.errors import BaselineError
from uavsim_baselines.training.checkpoints import read_checkpoint

from tests.conftest import small


class NotedProgress:
    """Records the parts of the work and their progress."""

    def __init__(self) -> None:
        self.parts: dict[str, int] = {}

    @contextmanager
    def __call__(self, what: str, total: int) -> Iterator[Callable[[int], None]]:
        self.parts[what] = 0
        yield lambda done: self.parts.update({what: done})
        assert self.parts[what] in {0, total}


@pytest.fixture(scope="module")
def agents(tmp_path_factory: pytest.TempPathFactory) -> Config:
    folder = tmp_path_factory.mktemp("agents")
    return small(write_toy(folder, Toy(scenes=3, held_out=2, samples=2, size_px=(32, 18), agents=True)))


def test_all_ways_in_one_table_and_nothing_is_done_twice(agents: Config, tmp_path: Path) -> None:
    first, again = NotedProgress(), NotedProgress()
    table = compare(agents, ["disconet", "late", "none"], tmp_path, progress=first).read_text()
    assert [part for part in first.parts if part.startswith("train")] == ["train early", "train none", "train disconet"]
    assert [line.split(" ")[1] for line in table.split("\n\n")[0].splitlines()[2:]] == ["none", "late", "disconet"]
    assert "less that of late" in table
    assert "seen by 2 (" in table
    rows = json.loads((tmp_path / "table.json").read_text())["rows"]
    assert set(rows[2]["less"]) == {"none", "late"}
    assert set(rows[0]["less"]) == {"late"}
    files = {path: path.stat().st_mtime_ns for path in tmp_path.glob("*/*.*")}
    assert compare(agents, ["none", "late", "disconet"], tmp_path, progress=again).read_text() == table
    assert list(again.parts) == ["train early", "train none", "train disconet"]
    assert {path: path.stat().st_mtime_ns for path in tmp_path.glob("*/*.*")} == files


def test_late_has_the_weights_of_none(agents: Config, tmp_path: Path) -> None:
    compare(agents, ["late"], tmp_path, progress=NotedProgress())
    late, none = (read_checkpoint(tmp_path / kind / "checkpoint.pt") for kind in ("late", "none"))
    assert late.config.sharing.kind == "late"
    assert all((late.model[name] == none.model[name]).all() for name in none.model)


def test_another_seed_in_the_same_folder_is_refused(agents: Config, tmp_path: Path) -> None:
    compare(agents, ["none"], tmp_path, progress=NotedProgress())
    with pytest.raises(BaselineError, match="seed differs"):
        compare(agents.model_copy(update={"seed": 1}), ["none"], tmp_path, progress=NotedProgress())


def test_a_dataset_that_does_not_say_who_sees_what_has_no_intervals(config: Config, tmp_path: Path) -> None:
    table = compare(config, ["none"], tmp_path, progress=NotedProgress()).read_text()
    assert table.split("\n\n")[1].splitlines()[2] == "| none | - |"
