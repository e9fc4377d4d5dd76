"""Fly scenes of an existing dataset again with its settings in ``.uavsim/dataset.json``."""

import shlex
from pathlib import Path

from uavsim.config.overrides import Overrides
from uavsim.config.run import RunConfig
from uavsim.environment import own_command
from uavsim.errors import InputError
from uavsim.plan.numbering import as_text, parse_numbers
from uavsim.run.request import Request
from uavsim.store.identity import IDENTITY, kept_dataset, read_identity
from uavsim.store.ledger import read_ledger
from uavsim.store.local import LocalOutput


def request_of_folder(
    folder: Path, *, scenes: str | None, simulators: tuple[str, ...], run: RunConfig | None
) -> Request:
    """Return the request that flies ``scenes`` of ``folder`` again; default: quarantined scenes.

    Raises:
        InputError: the folder has no dataset of a run, a scene was never flown, or there is nothing to fly.
    """
    output = LocalOutput(folder.absolute())
    identity = read_identity(output)
    if identity is None:
        raise InputError(f"{folder}: not a uavsim dataset (no {IDENTITY})")
    entries = read_ledger(output).values()
    if scenes is None:
        numbers = sorted(entry.index for entry in entries if entry.given_up)
        if not numbers:
            raise InputError(f"{folder}: no scene is quarantined; name scenes with --scenes 3,7")
        scenes = ",".join(map(str, numbers))
    request_values = identity.get("request", {})
    request = Request(
        dataset=kept_dataset(output) or str(request_values.get("dataset", identity["dataset"])),
        out=str(folder),
        towns=tuple(request_values.get("towns", ())),
        scenes=scenes,
        **{key: request_values.get(key) for key in Overrides.model_fields},
        replay=request_values.get("replay"),
        simulators=simulators,
        force=True,
        run=run,
    )
    known = {entry.index for entry in entries}
    if unknown := [number for number in parse_numbers(scenes) if number not in known]:
        raise InputError(
            f"--scenes: {folder} has no scene {as_text(unknown)} to fly again; "
            f"add it with {_command_for(request, str(request_values.get('dataset', request.dataset)), unknown)}"
        )
    return request


def _command_for(request: Request, dataset: str, numbers: list[int]) -> str:
    """Return the command that flies further scenes into the dataset."""
    scenes = ["--out", request.out, "--scenes", as_text(numbers)]
    if request.replay is not None:
        what = "twins" if request.replay.skin is not None else "replay"
        return f"the uavsim {what} command that made it and {shlex.join(scenes[2:])}"
    made = {key: value for key in Overrides.model_fields if (value := getattr(request, key)) is not None}
    settle = {True: ["--settle"], False: ["--no-settle"], None: []}[made.pop("settle", None)]
    options = [word for key, value in made.items() for word in (f"--{key}", str(value))]
    return f"{own_command()} {shlex.join(['generate', '--dataset', dataset, *scenes, *options, *settle])}"
