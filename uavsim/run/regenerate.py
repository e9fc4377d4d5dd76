"""Fly scenes of an existing dataset anew with the settings that it keeps in ``.uavsim/dataset.json``."""

from pathlib import Path

from uavsim.config.overrides import Overrides
from uavsim.config.run import RunConfig
from uavsim.errors import InputError
from uavsim.run.request import Request
from uavsim.store.identity import IDENTITY, kept_dataset, read_identity
from uavsim.store.ledger import read_ledger
from uavsim.store.local import LocalOutput


def request_of_folder(
    folder: Path, *, scenes: str | None, simulators: tuple[str, ...], run: RunConfig | None
) -> Request:
    """Make the request that flies ``scenes`` of ``folder`` anew; without numbers those in quarantine.

    Raises:
        InputError: not a dataset of ours, or nothing to fly.
    """
    output = LocalOutput(folder.absolute())
    identity = read_identity(output)
    if identity is None:
        raise InputError(f"{folder}: not a uavsim dataset (no {IDENTITY})")
    if scenes is None:
        numbers = sorted(entry.index for entry in read_ledger(output).values() if entry.given_up)
        if not numbers:
            raise InputError(f"{folder}: no scene is quarantined; name scenes with --scenes 3,7")
        scenes = ",".join(map(str, numbers))
    asked = identity.get("request", {})
    return Request(
        dataset=kept_dataset(output) or str(asked.get("dataset", identity["dataset"])),
        out=str(folder),
        towns=tuple(asked.get("towns", ())),
        scenes=scenes,
        **{key: asked.get(key) for key in Overrides.model_fields},
        replay=asked.get("replay"),
        simulators=simulators,
        force=True,
        run=run,
    )
