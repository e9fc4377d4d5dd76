"""``uavsim.generate``: the main job as a function; the other public names are in ``uavsim/access``."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from uavsim.terminal import Screen

if TYPE_CHECKING:
    from uavsim.run.result import Result


def generate(
    *,
    dataset: str | Path,
    out: str | Path,
    towns: Sequence[str] = (),
    scenes: str | None = None,
    simulators: Sequence[str] = (),
    force: bool = False,
    check: bool = True,
    quiet: bool = True,
    **overrides: Any,
) -> Result:
    """Generate a dataset like ``uavsim generate``; an interrupted run continues.

    Args:
        dataset: name in ``flight_plans/datasets``, or a YAML file.
        out: folder, or an object store's URL.
        towns: names of towns; default: all.
        scenes: scene numbers, ``0-4,7``; default: all.
        simulators: ``mock`` (the default) or ``HOST:CARLA_PORT[:AIRSIM_PORT]``.
        force: fly committed scenes again.
        check: validate the result.
        quiet: print no progress.
        overrides: ``samples``, ``seed``, ``topology``, ``formation``, ``rig`` or ``weather``, replacing the dataset's.

    Returns:
        The result of the run; the dataset has every requested scene.

    Raises:
        InputError: the input is invalid; nothing was started or written.
        SystemFailure: simulators, storage or Prefect failed; committed scenes stay.
        DatasetError: the validator found an error.
    """
    from uavsim.config.overrides import Overrides
    from uavsim.flows.command import generate as run
    from uavsim.run.request import Request

    request = Request(
        dataset=str(dataset),
        out=str(out),
        towns=tuple(towns),
        scenes=scenes,
        simulators=tuple(simulators),
        force=force,
        check=check,
        **Overrides(**overrides).model_dump(),
    )
    result = run(request, console=Screen(stderr=True, quiet=quiet))
    if result.error is not None:
        raise result.error
    return result
