"""Responsible-AI fields of a dataset, filled from its tables and its certificate."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from uavsim.access import HEADLESS, origin_of_scenes
from uavsim.terminal import count, counts
from uavsim.typing import JsonDict

_UNKNOWN: Final = "unknown"
_USES: Final = (
    "Meant for: detection, tracking, segmentation and prediction of road users from several drones, collaborative "
    "perception, studies of occlusion and viewpoint."
)
_USES_HEADLESS: Final = (
    "Meant for: writing and testing code that reads, trains and scores; checks of labels, masks and geometry. Not meant for: "
    "training a detector for other images than this simulator's."
)
_NO_USES: Final = "Not meant for: safety cases of real vehicles or drones, identification of people, surveillance"


@dataclass(slots=True)
class Facts:
    """Counts of a dataset, taken while its Parquet files are written."""

    name: str
    version: str
    scenes: int = 0
    samples: int = 0
    images: int = 0
    boxes: int = 0
    masks: int = 0
    degraded: int = 0
    vehicles_asked: int = 0
    vehicles_spawned: int = 0
    towns: Counter[str] = field(default_factory=Counter)
    weather: Counter[str] = field(default_factory=Counter)
    classes: Counter[str] = field(default_factory=Counter)
    simulators: Counter[str] = field(default_factory=Counter)
    topologies: Counter[str] = field(default_factory=Counter)
    drawn: dict[str, list[float]] = field(default_factory=dict)

    @property
    def simulated(self) -> bool:
        """Whether every scene names its simulator."""
        return bool(self.simulators) and "" not in self.simulators

    @property
    def headless(self) -> bool:
        """Whether the headless simulator rendered any scene."""
        return HEADLESS in self.simulators

    @property
    def origin(self) -> str:
        """The simulators and their limits in a sentence; "" where they are unknown."""
        return origin_of_scenes(self.simulators)


@dataclass(frozen=True, slots=True)
class Statements:
    """The fields as text; ``synthetic`` is true where simulators are known to have rendered all images."""

    synthetic: bool
    description: str
    limitations: str
    biases: str
    personal_information: str
    uses: str
    social_impact: str
    derived_from: tuple[str, ...]
    generated_by: tuple[tuple[str, str], ...]


def statements(facts: Facts, certificate: JsonDict | None) -> Statements:
    """Return the fields; a dataset that does not name its simulators gets fields that claim nothing."""
    towns, weather = _counted(facts.towns), _counted(facts.weather)
    drawn_by = (f"{name} ({count(scenes, 'scene')})" for name, scenes in facts.simulators.most_common())
    simulators = ", ".join(drawn_by) if facts.simulated else _UNKNOWN
    spawned = (
        f" Of {facts.vehicles_asked:,} requested vehicles, {facts.vehicles_spawned:,} spawned."
        if facts.vehicles_asked
        else ""
    )
    made = _made_by(certificate, simulators, airsim=set(facts.topologies) != {"carla"})
    if not facts.simulated:
        return _of_unknown_origin(facts, made)
    return Statements(
        synthetic=True,
        description=(
            f"{facts.origin} {facts.name}: simulated images of road traffic from a swarm of drones, in the nuScenes format: "
            f"{counts(scene=facts.scenes, sample=facts.samples, camera_image=facts.images)}, "
            f"{facts.boxes:,} 3D boxes with tracks{_with_masks(facts)}; towns: {towns or 'unknown'}."
        ),
        limitations=(
            "All images are rendered; effects of real lenses and shutters exist only where the rig requests them. "
            f"{_degraded(facts)} {facts.origin} A model trained only on this data may "
            f"fail on real images. Towns: {towns or 'unknown'}; weather of scenes: {weather or 'unknown'}.{spawned}"
        ),
        biases=(
            f"Boxes by class: {_counted(facts.classes) or 'none'}. Objects are drawn from the simulator's catalogue of "
            "vehicle and pedestrian models, which is small and follows North American and European roads; traffic follows the "
            f"simulator's traffic manager. Scenes by town: {towns or 'unknown'}; by weather: {weather or 'unknown'}."
        ),
        personal_information=(
            "None. Every person, face, number plate and place is made by a simulator; no data of people was collected."
        ),
        uses=f"{_USES_HEADLESS if facts.headless else _USES} {_NO_USES}.",
        social_impact=(
            "Helps research on traffic monitoring, search and rescue and drone safety without flying over people. Perception "
            "from drones can also serve surveillance and weapons; the data shows no real people or places."
        ),
        derived_from=("https://carla.org",),  # towns, blueprints and protocol, also of the headless simulator
        generated_by=made,
    )


def _with_masks(facts: Facts) -> str:
    return f", {facts.masks:,} instance masks and visibility" if facts.masks else ""


def _degraded(facts: Facts) -> str:
    if facts.degraded:
        return f"{facts.degraded:,} images have a second, degraded version (noise, blur, exposure)."
    return "Images have no sensor noise."


def _of_unknown_origin(facts: Facts, made: tuple[tuple[str, str], ...]) -> Statements:
    """Return the fields of a dataset of unknown origin."""
    towns, unknown = _counted(facts.towns), "The dataset does not state how it was made."
    return Statements(
        synthetic=False,
        description=(
            f"{facts.name}: a dataset in the nuScenes format: {counts(scene=facts.scenes, sample=facts.samples)}, "
            f"{facts.images:,} camera images, {facts.boxes:,} 3D boxes{_with_masks(facts)}; places: {towns or 'unknown'}."
        ),
        limitations=f"{unknown} Places: {towns or 'unknown'}.",
        biases=f"Boxes by class: {_counted(facts.classes) or 'none'}. Scenes by place: {towns or 'unknown'}. {unknown}",
        personal_information=f"Unknown. {unknown} The publisher must look at the images and complete this field.",
        uses="Unknown; the format is made for detection and tracking. The publisher must complete this field.",
        social_impact=f"Unknown. {unknown} The publisher must complete this field.",
        derived_from=(),
        generated_by=made,
    )


def _made_by(certificate: JsonDict | None, simulators: str, *, airsim: bool) -> tuple[tuple[str, str], ...]:
    """Return (kind, text) of the steps that made a dataset.

    Args:
        certificate: the certificate, if there is one.
        simulators: names of the simulators.
        airsim: whether a topology uses AirSim's client.
    """
    if certificate is None and simulators == _UNKNOWN:
        return (("collection", "Unknown: the dataset does not state how it was made."),)
    if certificate is None:
        return (("simulation", f"Rendered and labelled by a simulator ({simulators}); the run's ledger is missing."),)
    names = {"carla": "client carla", "airsim": "client airsim"}
    used = {name: version for name, version in certificate["versions"].items() if airsim or name != "airsim"}
    versions = ", ".join(f"{names.get(name, name)} {version}" for name, version in used.items())
    run = (
        f"uavsim generate, dataset {certificate['dataset']}, seed {certificate['seed']}, configuration "
        f"{certificate['fingerprint']}; {versions}. Simulator: {simulators}."
    )
    labels = "Boxes, tracks, visibility and masks come from the simulator's state and instance images, none by hand."
    return (("simulation and capture", run), ("annotation", labels))


def _counted(counts: Mapping[str, Any]) -> str:
    descending = sorted(counts.items(), key=lambda item: -item[1])
    return ", ".join(f"{name or 'unknown'} {count:,}" for name, count in descending)
