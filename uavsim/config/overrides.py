"""Overrides of a dataset's YAML, from the command line or a request."""

from typing import Any

from pydantic import BaseModel, ConfigDict, Field


class Overrides(BaseModel):
    """Overrides; None keeps the dataset's value. Names are from its library, or paths of YAML files."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    samples: int | None = Field(default=None, ge=1, description="Keyframes per scene; overrides the dataset's.")
    seed: int | None = Field(default=None, ge=0, description="Random seed; overrides the dataset's.")
    topology: str | None = Field(
        default=None, description="carla, bridge, merged, ... (uavsim list topologies); overrides the dataset's."
    )
    formation: str | None = Field(
        default=None,
        description="cross, line, vee, ... (uavsim list formations) or a YAML file; overrides the dataset's.",
    )
    rig: str | None = Field(
        default=None,
        description="uav3d, nadir, uav3d_depth, ... (uavsim list rigs) or a YAML file; overrides the dataset's.",
    )
    weather: str | None = Field(
        default=None,
        description="clear_noon, night, hard_rain, ... (uavsim list weathers) or a YAML file; overrides the dataset's.",
    )
    settle: bool | None = Field(
        default=None, description="Let cameras settle before each image, as the rig defines, or never."
    )

    def instead_of(self, **defaults: object) -> dict[str, Any]:
        """Return the fields as keyword arguments; ``defaults`` replace those that are None."""
        return self.model_dump() | {name: value for name, value in defaults.items() if getattr(self, name) is None}


AS_CONFIGURED = Overrides()
