import json
import os
from pathlib import Path

import pytest

from uavsim.errors import DatasetError
from uavsim.files.unfinished import refuse_without_tables


def ledger(root: Path, **states: object) -> Path:
    """Write entries of these states."""
    folder = root / ".uavsim/ledger"
    folder.mkdir(parents=True)
    for scene, state in states.items():
        (folder / f"{scene}.json").write_text(json.dumps({"scene": scene, "state": state}))
    return folder


@pytest.mark.parametrize(("states", "reported"), [(["committed"], "1 scene is"), (["committed"] * 3, "3 scenes are")])
def test_committed_scenes_without_tables_are_reported(tmp_path: Path, states: list[str], reported: str) -> None:
    ledger(tmp_path, flown="flying", lost="quarantined", **{f"scene_{n}": state for n, state in enumerate(states)})
    with pytest.raises(DatasetError) as caught:
        refuse_without_tables(tmp_path)
    assert str(caught.value) == (
        f"{tmp_path}: {reported} committed but the tables are not written yet: run the same generate command again, or "
        f"uavsim annotate {tmp_path} to write the tables of these scenes"
    )


def test_folder_without_committed_scenes_passes(tmp_path: Path) -> None:
    refuse_without_tables(tmp_path)
    folder = ledger(tmp_path, flown="flying", odd=["committed"])
    (folder / "damaged.json").write_text("{")
    (folder / "list.json").write_text("[1]")
    (folder / "folder.json").mkdir()
    os.mkfifo(folder / "pipe.json")
    refuse_without_tables(tmp_path)
