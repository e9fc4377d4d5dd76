"""The ledger's files: what was written before its facts had types is read, what is newer is refused."""

import json
from pathlib import Path

import pytest

from uavsim.errors import StorageError
from uavsim.store.ledger import LEDGER, LedgerEntry, SceneFacts, read_entry, read_ledger, write_entry
from uavsim.store.local import LocalOutput

FACTS = SceneFacts(
    vehicles=90, vehicles_asked=200, walkers=3, samples=5, images=125, images_per_s=4.2, fly_s=29.8, slot="mock0"
)
BEFORE = {
    "scene": "scene_00",
    "state": "committed",
    "index": 3,
    "town": "Town06",
    "plan_sha256": "ab",
    "attempts": 1,
    "reasons": ["MissedTick: late"],
    "facts": {"vehicles": 90, "images": 125, "fly_s": 29.8, "slot": "mock0", "of_the_past": 1},
}


def put(output: LocalOutput, values: dict) -> None:
    output.replace(f"{LEDGER}/scene_00.json", json.dumps(values).encode())


def test_there_and_back(tmp_path: Path) -> None:
    output = LocalOutput(tmp_path)
    for k, entry in enumerate((LedgerEntry("a", "flying", retired=(0, 2)), LedgerEntry("b", "committed", facts=FACTS))):
        write_entry(output, entry)
        assert list(read_ledger(output).values())[k] == entry


def test_an_entry_from_before(tmp_path: Path) -> None:
    output = LocalOutput(tmp_path)
    put(output, BEFORE)
    entry = read_entry(output, "scene_00")
    assert entry is not None
    assert (entry.state, entry.index, entry.attempts, entry.reasons) == ("committed", 3, 1, ("MissedTick: late",))
    assert entry.facts == SceneFacts(vehicles=90, images=125, fly_s=29.8, slot="mock0")
    put(output, BEFORE | {"state": "flying", "facts": {"forced_by": 4711}})
    entry = read_entry(output, "scene_00")
    assert entry is not None
    assert (entry.state, entry.facts) == ("flying", None)


@pytest.mark.parametrize(
    ("values", "words"),
    [
        (BEFORE | {"version": 99}, "newer version of uavsim"),
        (BEFORE | {"colour": 1}, "not a ledger entry"),
        (BEFORE | {"state": "lost"}, "unknown state"),
        ([1], "not a ledger entry"),
        (BEFORE | {"index": 10**30}, "index is out of its range"),
        (BEFORE | {"town": 7}, "town is no text"),
        (BEFORE | {"retired": [-1]}, "retired: a number"),
        (BEFORE | {"replacing": {"plan_sha256": 3}}, "plan_sha256 is no text"),
        (BEFORE | {"scene": "scene_01"}, "it is of .scene_01."),
    ],
)
def test_what_is_no_entry(tmp_path: Path, values: object, words: str) -> None:
    output = LocalOutput(tmp_path)
    output.replace(f"{LEDGER}/scene_00.json", json.dumps(values).encode())
    with pytest.raises(StorageError, match=words):
        read_entry(output, "scene_00")
