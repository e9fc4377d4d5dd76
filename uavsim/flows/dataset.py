"""``generate-dataset`` and ``regenerate-mini``: all towns of a data set, one after the other, then its tables."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from prefect import flow, tags
from pydantic import Field

from uavsim.config.run import RunConfig
from uavsim.flows import context as contexts
from uavsim.flows.request import Request
from uavsim.flows.stages import SceneOutcome
from uavsim.flows.tables import Finished, finish_dataset
from uavsim.flows.town import Dataset, Out, Scenes, Simulators, generate_town

__all__ = ["DatasetSummary", "generate_dataset", "regenerate_mini"]

MINI = "uav3d-mini"


@dataclass(frozen=True, slots=True)
class DatasetSummary:
    """How the scenes that were asked for stand, and what the validator said."""

    outcomes: tuple[SceneOutcome, ...]
    finished: Finished

    def named(self, state: str) -> list[str]:
        """Return the scenes in one state."""
        return [outcome.scene for outcome in self.outcomes if outcome.state == state]

    @property
    def images(self) -> int:
        """Images of the scenes that are committed."""
        return sum(int(outcome.facts.get("images", 0)) for outcome in self.outcomes)

    @property
    def valid(self) -> bool | None:
        """Whether the validator is content; None when it was not asked."""
        return self.finished.verdict.ok if self.finished.verdict is not None else None

    @property
    def contact_sheet(self) -> Path | None:
        """The page, if there is one."""
        return self.finished.contact_sheet

    @property
    def findings(self) -> tuple[str, ...]:
        """The validator's first findings."""
        return self.finished.verdict.lines if self.finished.verdict is not None else ()


def _run_name() -> str:
    from prefect.runtime import flow_run

    told = flow_run.parameters
    return f"{told['dataset']} {' '.join(told.get('towns') or ['all towns'])} {told.get('scenes') or 'all'}"


@flow(name="generate-dataset", flow_run_name=_run_name, validate_parameters=True)
def generate_dataset(  # noqa: PLR0917 - Prefect shows each parameter in its form
    dataset: Dataset,
    out: Out,
    towns: Annotated[list[str], Field(description="all of the data set's when empty")] = [],  # noqa: B006
    scenes: Scenes = None,
    samples: int | None = None,
    seed: int | None = None,
    topology: str | None = None,
    formation: str | None = None,
    rig: str | None = None,
    weather: str | None = None,
    simulators: Simulators = [],  # noqa: B006 - never changed; Prefect needs a JSON default
    force_scenes: bool = False,
    run: RunConfig | None = None,
    check: Annotated[bool, Field(description="let the validator look at the result")] = True,
) -> DatasetSummary:
    """Fly what is missing of a data set, town by town so that maps are seldom loaded, and write its tables."""
    request = Request(
        dataset=dataset,
        towns=tuple(towns),
        out=out,
        scenes=scenes,
        samples=samples,
        seed=seed,
        topology=topology,
        formation=formation,
        rig=rig,
        weather=weather,
        simulators=tuple(simulators),
        force=force_scenes,
        run=run,
    )
    outcomes: list[SceneOutcome] = []
    with contexts.opened(request) as (job, context), tags(job.dataset):
        for town in job.towns:
            settings = request.model_dump(exclude={"towns", "force", "run"}) | {"simulators": list(simulators)}
            summary = generate_town(**settings, town=town, force_scenes=force_scenes, run=run, finish=False)
            outcomes += summary.outcomes
    if context.failure is not None:
        raise context.failure
    return DatasetSummary(tuple(outcomes), finish_dataset(out, check=check))


@flow(name="regenerate-mini", flow_run_name="{out}", validate_parameters=True)
def regenerate_mini(
    out: Out,
    seed: int | None = None,
    simulators: Simulators = ["mock"],  # noqa: B006 - never changed; Prefect needs a JSON default
    force_scenes: bool = False,
) -> DatasetSummary:
    """Make the mini split anew, or finish it: 20 scenes of Town10HD."""
    return generate_dataset(dataset=MINI, out=out, seed=seed, simulators=simulators, force_scenes=force_scenes)
