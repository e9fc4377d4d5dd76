"""The status is read from disk only."""

import json
from pathlib import Path
from typing import Any

import pytest

from uavsim.errors import InputError
from uavsim.run.overview import overview
from uavsim.run.request import Request
from uavsim.run.resolve import all_scenes, identity_of, resolve
from uavsim.store.identity import claim_output, keep_asked
from uavsim.store.ledger import LedgerEntry, SceneFacts, write_entry
from uavsim.store.local import LocalOutput


def test_every_state_is_reported(tmp_path: Path) -> None:
    out = tmp_path / "out"
    output = LocalOutput(out)
    claim_output(output, identity=identity_of(Request(dataset="smoke", out=str(out), samples=3)))
    names = [scene.name for scene in all_scenes("smoke")]
    for k, name in enumerate(names[:2]):
        write_entry(
            output, LedgerEntry(name, "committed", index=k, facts=SceneFacts(images=75, fly_s=3.0 + k, label_s=1.0))
        )
    write_entry(output, LedgerEntry(names[2], "flying", index=100))
    write_entry(output, LedgerEntry(names[3], "flying", index=101))
    write_entry(output, LedgerEntry(names[4], "quarantined", index=200, attempts=3, reasons=("a", "b", "c")))
    with output.lock(names[2]):
        found = overview(str(out))
    assert [e.scene for e in found.committed] == names[:2]
    assert found.flying == (names[2],)
    assert found.interrupted == (names[3],)
    assert [e.scene for e in found.quarantined] == [names[4]]
    assert found.missing == tuple(names[5:])
    assert found.images == 150
    assert (
        found.eta_s == (len(names) - 3) * 4.5
    )  # five missing, one flying, one interrupted; 4 s and 5 s a scene so far
    assert json.loads(found.as_json())["quarantined"] == {names[4]: ["a", "b", "c"]}


def test_what_was_not_asked_for_is_not_missing(tmp_path: Path) -> None:
    out = tmp_path / "out"
    output = LocalOutput(out)
    claim_output(output, identity=identity_of(Request(dataset="smoke", out=str(out), samples=3)))
    names = [scene.name for scene in all_scenes("smoke")]
    keep_asked(output, names[:2])
    keep_asked(output, names[1:3])
    write_entry(
        output, LedgerEntry(names[0], "committed", index=0, facts=SceneFacts(images=75, fly_s=3.0, label_s=1.0))
    )
    found = overview(str(out))
    assert found.missing == tuple(names[1:3])
    assert found.not_asked == len(names) - 3
    assert found.eta_s == 2 * 4.0


def test_a_folder_that_is_no_dataset(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="not a uavsim dataset"):
        overview(str(tmp_path))


def test_the_identity_is_of_the_dataset_not_of_the_run(tmp_path: Path) -> None:
    def mark(**more: Any) -> str:
        return str(identity_of(Request(dataset="smoke", out="a", **more))["fingerprint"])

    assert mark() == mark(scenes="0-1", simulators=("mock", "mock"), force=True)
    assert len({mark(), mark(seed=5), mark(samples=2), mark(topology="bridge"), mark(weather="night")}) == 5


def test_jobs_name_scenes_in_order(tmp_path: Path) -> None:
    job = resolve(Request(dataset="smoke", out="a", towns=("town07", "Town10HD"), scenes="400,0-1", samples=2))
    assert [(s.name, s.town) for s in job.scenes] == [
        ("scene_0400", "Town07"),
        ("scene_0000", "Town10HD"),
        ("scene_0001", "Town10HD"),
    ]
    assert job.images_per_scene == 2 * 25
    assert job.plan_of("scene_0400").town.name == "Town07"


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"dataset": "smok"}, "did you mean 'smoke'"),
        ({"towns": ("Twn07",)}, "did you mean 'Town07'"),
        ({"scenes": "9999"}, "no scene of these numbers"),
        ({"towns": ("Town07",), "scenes": "3"}, "Town07 has no scene 3"),
        ({"topology": "brige"}, "did you mean 'bridge'"),
        ({"topology": "bridge", "simulators": ("h:2000",)}, "needs AirSim"),
    ],
)
def test_bad_requests(fields: dict, words: str) -> None:
    with pytest.raises(InputError, match=words):
        resolve(Request(**{"dataset": "smoke", "out": "a", **fields}))
