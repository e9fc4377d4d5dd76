"""The request for a run, as one typed object: from the command line, Python, a form in Prefect's UI, or a deployment.

It is the only parameter of every flow. Overrides are fields, so that the form is one list.
"""

from pathlib import PurePath

from pydantic import BaseModel, ConfigDict, Field

from uavsim.config.overrides import Overrides
from uavsim.config.run import RunConfig, parse_simulator
from uavsim.config.skin import Skin
from uavsim.store.output import Output
from uavsim.store.places import open_output


class SkinRequest(BaseModel):
    """A skin and the number of its draw."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str = Field(description="name of the skin")
    draw: int = Field(ge=0, description="number of the twin")
    skin: Skin


class ReplayRequest(BaseModel):
    """A dataset to replay: its recorded motion replaces traffic; the request's other fields are the changes."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    folder: str = Field(description="folder of the recorded dataset")
    sensors: tuple[str, ...] = Field(default=(), description="more sensors for every camera, and lidar for every drone")
    hide: tuple[str, ...] = Field(default=(), description="actors by instance id, blueprint, or class")
    skin: SkinRequest | None = Field(default=None, description="another look, drawn for each scene")
    is_changed: bool = Field(default=True, description="the scenes differ from the recorded ones")


class OutputRequest(BaseModel):
    """The output of a request, and its treatment of committed scenes."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    out: str = Field(description="folder, or fsspec URL (s3://bucket/prefix)")
    pixels: bool | None = Field(default=None, description="let the validator decode every image; default: if few")
    run: RunConfig | None = Field(default=None, description="simulators, deadlines, attempts, scratch folder")

    def output(self) -> Output:
        """Return the output of ``out``; writes nothing.

        Raises:
            InputError: ``out`` is empty or an invalid URL.
        """
        return open_output(self.out, scratch=self.run.scratch if self.run is not None else None)


class Request(OutputRequest, Overrides):
    """The requested scenes of a dataset with options."""

    dataset: str = Field(description="name in flight_plans/datasets, or a YAML file")
    towns: tuple[str, ...] = Field(default=(), description="towns to fly; all of the dataset when empty")
    scenes: str | None = Field(default=None, description="scene numbers in the dataset, 0-4,7; all when left out")
    replay: ReplayRequest | None = Field(default=None, description="show recorded motion again")
    simulators: tuple[str, ...] = Field(
        default=(),
        description="mock or HOST:CARLA_PORT[:AIRSIM_PORT], each flies one scene at a time; replaces those of run",
    )
    wait_s: float | None = Field(
        default=None, ge=0, description="seconds to wait for the first answer of an attached simulator"
    )
    traffic_retries: dict[str, int] = Field(
        default_factory=dict,
        description="by scene: number of earlier attempts with stalled traffic, to make the scene again exactly",
    )
    force: bool = Field(default=False, description="fly committed scenes again")
    check: bool = Field(default=True, description="validate the result")

    @property
    def title(self) -> str:
        """A readable title: dataset, towns, scenes."""
        name = PurePath(self.dataset).stem if self.dataset.endswith((".yaml", ".yml")) else self.dataset
        return f"{name} {' '.join(self.towns) or 'all towns'} {self.scenes or 'all'}"

    def run_config(self) -> RunConfig:
        """Return the run's configuration with the request's simulators.

        Raises:
            InputError: the form of a simulator is invalid.
        """
        run = self.run or RunConfig()
        simulators = tuple(parse_simulator(text) for text in self.simulators) or run.simulators
        if self.wait_s is not None:
            simulators = tuple(one.model_copy(update={"wait_s": self.wait_s}) for one in simulators)
        return run.model_copy(update={"simulators": simulators})
