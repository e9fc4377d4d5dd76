"""``uavsim.generate``: the main job as a function; the other public names are in ``uavsim/access``."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from uavsim.terminal import Screen

if TYPE_CHECKING:
    from uavsim.run.result import Result


def generate(
    *,
    dataset: str | Path,
    out: str | Path,
    towns: Sequence[str] = (),
    scenes: str | None = None,
    samples: int | None = None,
    seed: int | None = None,
    topology: str | None = None,
    formation: str | None = None,
    rig: str | None = None,
    weather: str | None = None,
    simulators: Sequence[str] = (),
    force: bool = False,
    check: bool = True,
    quiet: bool = True,
) -> Result:
    """Fly a dataset as ``uavsim generate`` does; what was interrupted continues.

    Args:
        dataset: name in ``flight_plans/datasets``, or a YAML file.
        out: folder, or an object store's URL.
        towns: by default all of the dataset.
        scenes: numbers in the dataset, ``0-4,7``; by default all.
        samples: keyframes of a scene, instead of the dataset's.
        seed: instead of the dataset's.
        topology: simulator backend, instead of the dataset's.
        formation: instead of the dataset's.
        rig: instead of the dataset's.
        weather: instead of the dataset's.
        simulators: ``mock`` (the default) or ``HOST:CARLA_PORT[:AIRSIM_PORT]``.
        force: fly anew what is committed.
        check: let the validator look at the result.
        quiet: print no progress.

    Returns:
        How the run ended; every scene that was asked for is in the dataset.

    Raises:
        InputError: before anything is started or written.
        SystemFailure: simulators, storage or Prefect failed; what is committed stays.
        DatasetError: the validator found an error.
    """
    from uavsim.flows.command import generate as run
    from uavsim.run.request import Request

    request = Request(
        dataset=str(dataset),
        out=str(out),
        towns=tuple(towns),
        scenes=scenes,
        samples=samples,
        seed=seed,
        topology=topology,
        formation=formation,
        rig=rig,
        weather=weather,
        simulators=tuple(simulators),
        force=force,
        check=check,
    )
    result = run(request, console=Screen(stderr=True, quiet=quiet))
    if result.error is not None:
        raise result.error
    return result
