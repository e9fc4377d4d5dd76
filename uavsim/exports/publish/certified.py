"""The part of a card from which its scenes are made again: read once, from whoever sent it."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field, StringConstraints, model_validator

from uavsim.config.base import Model, Name, Reference

__all__ = ["FORMAT", "CertifiedScene", "ReadCertificate"]

FORMAT = "uavsim-certificate-1"
_Hash = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$")]
_Number = Annotated[int, Field(ge=0, lt=10**9)]
_Chosen = Annotated[str, StringConstraints(max_length=500)]


class CertifiedScene(Model):
    """One scene of a card."""

    number: _Number
    town: Name
    plan_sha256: _Hash
    files: _Number
    files_sha256: _Hash
    rows_sha256: _Hash
    traffic_retry: _Number = 0


class CertifiedRequest(Model):
    """A request beside the dataset's YAML; a replay's card names more than a card can bring back."""

    dataset: Reference | None = None
    samples: Annotated[int, Field(ge=1, lt=10**9)] | None = None
    seed: Annotated[int, Field(ge=0, lt=2**63)] | None = None
    topology: _Chosen | None = None
    formation: _Chosen | None = None
    rig: _Chosen | None = None
    weather: _Chosen | None = None
    settle: bool | None = None
    replay: dict[str, Any] | None = None


class ReadCertificate(Model):
    """The certificate of a card."""

    format: Literal["uavsim-certificate-1"]
    dataset: Reference
    seed: Annotated[int, Field(ge=0, lt=2**63)]
    fingerprint: _Hash
    request: CertifiedRequest
    versions: dict[str, Annotated[str, StringConstraints(max_length=100)]]
    scenes: Annotated[dict[Name, CertifiedScene], Field(min_length=1)]

    @model_validator(mode="after")
    def _numbers_differ(self) -> ReadCertificate:
        seen: dict[int, str] = {}
        for name, scene in self.scenes.items():
            other = seen.setdefault(scene.number, name)
            if other != name:
                raise ValueError(f"scenes {other} and {name} have one number, {scene.number}")
        return self
