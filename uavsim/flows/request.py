"""What a person asks for, as one typed object: from the command line, a form in Prefect's UI, or a deployment."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field

from uavsim.config.run import RunConfig, parse_simulator
from uavsim.errors import InputError

__all__ = ["Request", "parse_numbers"]


class Request(BaseModel):
    """One job."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    dataset: str = Field(description="name in flight_plans/datasets, or a YAML file")
    out: str = Field(description="folder, or fsspec URL (s3://bucket/prefix)")
    towns: tuple[str, ...] = Field(default=(), description="all of the data set when empty")
    scenes: str | None = Field(default=None, description="scene numbers: 0-4,7")
    samples: int | None = Field(default=None, ge=1)
    seed: int | None = Field(default=None, ge=0)
    topology: str | None = None
    formation: str | None = None
    rig: str | None = None
    weather: str | None = None
    simulators: tuple[str, ...] = Field(default=(), description="replaces those of run")
    force: bool = False
    run: RunConfig | None = None

    def run_config(self) -> RunConfig:
        """Return the run's configuration with the simulators that were named.

        Raises:
            InputError: a simulator that is not of the right form.
        """
        run = self.run or RunConfig()
        if not self.simulators:
            return run
        return run.model_copy(update={"simulators": tuple(parse_simulator(text) for text in self.simulators)})


def parse_numbers(text: str, *, what: str) -> tuple[int, ...]:
    """Read ``0-4,7`` as (0, 1, 2, 3, 4, 7): increasing, each once.

    Raises:
        InputError: not of that form, or a range that runs backwards.
    """
    numbers: set[int] = set()
    for part in text.split(","):
        first, dash, last = part.strip().partition("-")
        if not first.isdigit() or (dash and not last.isdigit()):
            raise InputError(f"{what} {text!r}: write numbers and ranges, for example 0-4,7")
        low, high = int(first), int(last or first)
        if high < low or high - low > 1_000_000:
            raise InputError(f"{what} {text!r}: the range {part.strip()} runs backwards or is too long")
        numbers.update(range(low, high + 1))
    return tuple(sorted(numbers))
