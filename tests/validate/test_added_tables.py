"""Tables of packages are checked by the references in the dataset's description, which may be hostile."""

import json
import shutil
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from uavsim.validate import validate_dataset


def codes(clean: Path, folder: Path, references: Any, rows: Any) -> Counter[str]:
    """Return the additional codes of a dataset with a table ``buoy``."""
    root = Path(shutil.copytree(clean, folder / "data"))
    (version,) = root.glob("v1.0-*")
    info = json.loads((version / "uav_dataset.json").read_text("utf-8")) | {"references": references}
    (version / "uav_dataset.json").write_text(json.dumps(info), "utf-8")
    (version / "buoy.json").write_text(json.dumps(rows), "utf-8")
    (report,) = validate_dataset(root, workers=1)
    return Counter(finding.code for finding in report.findings)


def test_dangling_reference_and_duplicate_token_are_found(clean: Path, tmp_path: Path) -> None:
    rows = [{"token": "a" * 32, "scene_token": "f" * 32}] * 2
    usual = codes(clean, tmp_path / "usual", {}, rows)  # without a description, the table is not checked
    found = codes(clean, tmp_path / "said", {"buoy": {"scene_token": "scene"}}, rows)
    assert found - usual == {"referential.key": 2, "referential.token": 1}


@pytest.mark.parametrize(
    "nonsense",
    [
        [],
        {"buoy": 5},
        {"buoy": {"scene_token": ["scene"]}},
        {"buoy": {"scene_token": "nowhere"}},
        {"buoy": {"token": "scene"}},
        {"../v1.0-mini/buoy": {"scene_token": "scene"}},
        {"gone": {"scene_token": "scene"}},
    ],
)
def test_malformed_references_are_ignored(clean: Path, tmp_path: Path, nonsense: Any) -> None:
    usual = codes(clean, tmp_path / "usual", {}, [])
    assert codes(clean, tmp_path / "said", nonsense, []) == usual
