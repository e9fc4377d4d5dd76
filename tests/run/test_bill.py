"""The bill is read from ledger and manifests."""

import json
from dataclasses import replace
from pathlib import Path

from typer.testing import CliRunner

from uavsim.cli import build_app
from uavsim.run.bill import SceneBill, bill_of, total
from uavsim.run.request import Request
from uavsim.run.resolve import identity_of
from uavsim.store.identity import claim_output
from uavsim.store.ledger import LedgerEntry, SceneFacts, write_entry
from uavsim.store.local import LocalOutput

FLOWN = SceneFacts(samples=10, images=250, fly_s=30.0, core_s=41.5, machine="node1")


def test_scenes_machines_and_failures_add_up(tmp_path: Path) -> None:
    output = LocalOutput(tmp_path / "out")
    claim_output(output, identity=identity_of(Request(dataset="smoke", out=str(output.root), samples=3)))
    write_entry(output, LedgerEntry("scene_0", "committed", facts=FLOWN, lost_s=12.5, attempts=1, reasons=("lost",)))
    write_entry(output, LedgerEntry("scene_1", "committed", index=1, facts=replace(FLOWN, machine="node2")))
    write_entry(output, LedgerEntry("scene_2", "flying", index=2, lost_s=3.0, attempts=2, reasons=("a", "b")))
    bills = bill_of(output)
    assert bills["scene_0"] == SceneBill("node1", 10, 250, 30.0, lost_s=12.5, core_s=41.5, failed=1)
    assert bills["scene_2"] == SceneBill(lost_s=3.0, failed=2)
    assert total(bills.values()) == SceneBill("", 20, 500, 60.0, lost_s=15.5, core_s=83.0, failed=3)
    bill_text = CliRunner().invoke(build_app(), ["status", str(output.root), "--bill"]).output
    assert [line.split()[0] for line in bill_text.splitlines()] == ["machine", "node1", "node2", "unfinished", "all"]
    found = json.loads(CliRunner().invoke(build_app(), ["status", str(output.root), "--bill", "--json"]).output)
    assert found["total"]["simulator_s"] == 60.0
    assert found["scenes"]["scene_1"]["machine"] == "node2"
