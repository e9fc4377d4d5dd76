"""What a data set has to say of itself in words: the responsible-AI fields, filled from its tables and its certificate."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from uavsim.typing import JsonDict

__all__ = ["Facts", "Statements", "statements"]


@dataclass(slots=True)
class Facts:
    """What was counted while the Parquet files were written."""

    name: str
    version: str
    scenes: int = 0
    samples: int = 0
    images: int = 0
    boxes: int = 0
    vehicles_asked: int = 0
    vehicles_spawned: int = 0
    towns: Counter[str] = field(default_factory=Counter)
    weather: Counter[str] = field(default_factory=Counter)
    classes: Counter[str] = field(default_factory=Counter)
    simulators: Counter[str] = field(default_factory=Counter)


@dataclass(frozen=True, slots=True)
class Statements:
    """The fields, as text."""

    description: str
    limitations: str
    biases: str
    personal_information: str
    uses: str
    social_impact: str
    derived_from: tuple[str, ...]
    generated_by: tuple[tuple[str, str], ...]


def statements(facts: Facts, certificate: JsonDict | None) -> Statements:
    """Return the fields of a data set."""
    towns, weather = _told(facts.towns), _told(facts.weather)
    simulators = _told(facts.simulators) or "not said"
    spawned = (
        f" Of {facts.vehicles_asked:,} vehicles asked for, {facts.vehicles_spawned:,} found a place to spawn."
        if facts.vehicles_asked
        else ""
    )
    made = _made_by(certificate, simulators)
    return Statements(
        description=(
            f"{facts.name}: simulated images of road traffic from a swarm of drones, in the nuScenes format: "
            f"{facts.scenes:,} scenes, {facts.samples:,} samples, {facts.images:,} camera images, "
            f"{facts.boxes:,} 3D boxes with tracks, instance "
            f"masks and visibility; towns: {towns or 'not said'}."
        ),
        limitations=(
            "All images are rendered; sensor noise, motion blur, rolling shutter and lens distortion of real cameras are not "
            f"there unless the configuration adds them. Simulator: {simulators}. A model trained on this alone is not shown "
            f"to work on real images. Towns: {towns or 'not said'}; weather of scenes: {weather or 'not said'}.{spawned}"
        ),
        biases=(
            f"Boxes by class: {_told(facts.classes) or 'none'}. Objects are drawn from the simulator's catalogue of vehicle "
            "and pedestrian models, which is small and follows North American and European roads; traffic follows the "
            f"simulator's traffic manager. Scenes by town: {towns or 'not said'}; by weather: {weather or 'not said'}."
        ),
        personal_information=(
            "None. Every person, face, number plate and place is made by a simulator; no data of people was collected."
        ),
        uses=(
            "Meant for: detection, tracking, segmentation and prediction of road users from several drones, collaborative "
            "perception, studies of occlusion and viewpoint, pre-training. Not meant for: safety cases of real vehicles or "
            "drones, identification of people, surveillance."
        ),
        social_impact=(
            "Helps research on traffic monitoring, search and rescue and drone safety without flying over people. Perception "
            "from drones can also serve surveillance and weapons; the data shows no real people or places."
        ),
        derived_from=("https://carla.org",),
        generated_by=made,
    )


def _made_by(certificate: JsonDict | None, simulators: str) -> tuple[tuple[str, str], ...]:
    if certificate is None:
        return (("simulation", f"Rendered and labelled by a simulator ({simulators}); the run's ledger is not there."),)
    versions = ", ".join(f"{name} {version}" for name, version in certificate["versions"].items())
    run = (
        f"uavsim generate, data set {certificate['dataset']}, seed {certificate['seed']}, configuration "
        f"{certificate['fingerprint']}; {versions}. Simulator: {simulators}."
    )
    labels = "Boxes, tracks, visibility and masks come from the simulator's state and instance images; nobody labels by hand."
    return (("simulation and capture", run), ("annotation", labels))


def _told(counts: Mapping[str, Any]) -> str:
    shown = sorted(counts.items(), key=lambda item: -item[1])
    return ", ".join(f"{name or 'not said'} {count:,}" for name, count in shown)
