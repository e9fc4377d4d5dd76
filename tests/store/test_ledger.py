"""Ledger files: entries that are invalid in this version are refused."""

import json
from dataclasses import asdict
from pathlib import Path

import pytest

from uavsim.errors import InputError, StorageError
from uavsim.store.ledger import LEDGER, LedgerEntry, SceneFacts, read_entry, read_ledger, write_entry
from uavsim.store.local import LocalOutput

FACTS = SceneFacts(
    vehicles=90, vehicles_asked=200, walkers=3, samples=5, images=125, images_per_s=4.2, fly_s=29.8, slot="mock0"
)
ENTRY = {"version": 3, **asdict(LedgerEntry("scene_00", "committed", facts=FACTS))}


def test_entries_round_trip(tmp_path: Path) -> None:
    output = LocalOutput(tmp_path)
    for k, entry in enumerate((LedgerEntry("a", "flying", retired=(0, 2)), LedgerEntry("b", "committed", facts=FACTS))):
        write_entry(output, entry)
        assert list(read_ledger(output).values())[k] == entry


@pytest.mark.parametrize(
    ("values", "words"),
    [
        (ENTRY | {"version": 99}, "another version of uavsim"),
        (ENTRY | {"colour": 1}, "not a ledger entry"),
        (ENTRY | {"state": "lost"}, "unknown state"),
        ([1], "not a ledger entry"),
        (b"{", "restore it from a copy"),
        (ENTRY | {"index": 10**30}, "index is out of range"),
        (ENTRY | {"town": 7}, "town is not a string"),
        (ENTRY | {"retired": [-1]}, "retired: a number"),
        (ENTRY | {"replacing": {"plan_sha256": 3, "reasons": []}}, "plan_sha256 is not a string"),
        (ENTRY | {"scene": "scene_01"}, "its scene is .scene_01."),
    ],
)
def test_invalid_entry_is_refused(tmp_path: Path, values: object, words: str) -> None:
    output = LocalOutput(tmp_path)
    data = values if isinstance(values, bytes) else json.dumps(values).encode()
    output.replace(f"{LEDGER}/scene_00.json", data)
    with pytest.raises(StorageError, match=words):
        read_entry(output, "scene_00")


def test_scene_name_that_leaves_the_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be a file name"):
        write_entry(LocalOutput(tmp_path), LedgerEntry("../x", "flying"))
