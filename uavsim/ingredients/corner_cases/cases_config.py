"""Configuration of corner cases: objects that ordinary traffic never has, and their tags.

They are ``flight_plans/corner_cases/*.yaml``, and the key ``corner_cases`` of a dataset's YAML chooses among them.
"""

from collections.abc import Iterable
from typing import Annotated, Any, ClassVar, Final, Literal, Self

from pydantic import AfterValidator, Field, StringConstraints, model_validator

from uavsim.config.base import MESH, TAG, Metres3, Model, Name, Reference, Text
from uavsim.config.explain import KeyPath
from uavsim.ingredients.corner_cases.case_plans import Facing, Ground, Light, Site
from uavsim.records.classes import LABELS
from uavsim.records.props import MESHES, PROP_MESH, PROPS
from uavsim.registry import nearest

__all__ = ["Case", "CornerCaseChoice", "CornerCases", "Part", "TagEntry", "TrainingSet"]

Tag = Annotated[str, StringConstraints(pattern=TAG)]
"""One word: OpenAD's files are split at spaces."""
Degrees = Annotated[float, Field(ge=-360, le=360)]
_VEHICLE: Final = "vehicle."


def _known_blueprint(name: str) -> str:
    """Refuse props that are not in CARLA's library; vehicles are checked by the simulator."""
    if name.startswith(_VEHICLE) and name.count(".") == 2:
        return name
    if name == PROP_MESH or name in PROPS:
        return name
    raise ValueError(f"unknown prop or vehicle {name!r}{_guess(name, (*PROPS, PROP_MESH))}")


def _guess(word: str, known: Iterable[str]) -> str:
    guess = nearest(word, known)
    return f"; did you mean {guess!r}?" if guess else ""


Blueprint = Annotated[str, AfterValidator(_known_blueprint)]
MeshPath = Annotated[str, StringConstraints(pattern=MESH)]


def _is_empty(value: dict[str, Any]) -> bool:
    """Omit a key from the dataset's identity, so that older datasets keep theirs."""
    return not value


def _is_none(value: object) -> bool:
    """Leave a key out for the same reason."""
    return value is None


class CornerCaseChoice(Model):
    """The choice of each scene's corner cases."""

    from_: Annotated[Reference, Field(alias="from")]
    """A file of ``flight_plans/corner_cases``."""
    kinds: tuple[Name, ...] = ()
    """Cases of that file; all of them by default."""
    per_scene: Annotated[int, Field(ge=1, le=20)] = 1
    order: Literal["in_turn", "drawn"] = "in_turn"
    """One after the other, scene by scene, or drawn from the dataset's seed."""
    min_visible_px: Annotated[int, Field(ge=1, le=1_000_000)] = 100
    """Least number of visible pixels of each case in at least one keyframe image."""
    min_visible_px_of: Annotated[dict[Name, Annotated[int, Field(ge=1, le=1_000_000)]], Field(exclude_if=_is_empty)] = (
        Field(default_factory=dict)
    )
    """The same for single cases, instead of ``min_visible_px`` and the value in their file."""


class TagEntry(Model):
    """Other words for a tag."""

    synonyms: tuple[Tag, ...] = ()
    """Words for the same thing."""
    hypernyms: tuple[Tag, ...] = ()
    """Words for this and more, the nearest first."""


class TrainingSet(Model):
    """The classes that a detector was trained on."""

    tags: tuple[Tag, ...] = ()
    """Tags of the objects that it labels."""
    towns: tuple[Name, ...] = ()
    """Towns of its domain; without towns, no scene is in its domain."""
    weather: tuple[Reference, ...] = ()
    """Weathers of its domain; default: all."""


class Part(Model):
    """One actor; a plain blueprint is a part at the case's position."""

    shorthand: ClassVar = {"type": "string"}

    blueprint: Blueprint
    """A prop or a vehicle of CARLA's library."""
    mesh: MeshPath | None = None
    """Path of the asset, for ``static.prop.mesh``; it ends in the name of a mesh of known size."""
    at_m: Metres3 = (0.0, 0.0, 0.0)
    """Position relative to the case's place on the ground: x forward, y left, z up."""
    roll_deg: Degrees = 0.0
    pitch_deg: Degrees = 0.0
    yaw_deg: Degrees = 0.0
    """Clockwise seen from above, as CARLA has it."""
    tag: Tag | None = None
    """Tag of a separate object beside the case's own, such as cones around a manhole."""
    color: Annotated[str, StringConstraints(pattern=r"^\d{1,3},\d{1,3},\d{1,3}$")] | None = None
    """Colour of a vehicle: red,green,blue."""
    lights: tuple[Light, ...] = ()
    """Lights of a vehicle that are on."""
    doors: Annotated[str, StringConstraints(pattern=r"^(open|closed)$")] = "closed"
    """Whether all doors of a vehicle are open."""

    @model_validator(mode="before")
    @classmethod
    def _from_word(cls, value: object) -> object:
        return {"blueprint": value} if isinstance(value, str) else value

    @model_validator(mode="after")
    def _keys_fit_blueprint(self) -> Self:
        if (self.blueprint == PROP_MESH) != (self.mesh is not None):
            raise ValueError(f"mesh needs blueprint {PROP_MESH}, and this blueprint needs mesh")
        if self.mesh is not None and self.mesh_name not in MESHES:
            raise ValueError(f"mesh {self.mesh_name!r} has no known size{_guess(self.mesh_name, MESHES)}")
        drives = self.blueprint.startswith(_VEHICLE)
        for key, is_set in (("color", self.color), ("lights", self.lights), ("doors", self.doors != "closed")):
            if is_set and not drives:
                raise ValueError(f"{key} needs a vehicle, and {self.blueprint} is none; leave it out")
        return self

    @property
    def mesh_name(self) -> str:
        """The last word of the asset's path."""
        return (self.mesh or "").rsplit("/", 1)[-1].partition(".")[0]


class Case(Model):
    """One corner case: its parts and the rule for its place."""

    tag: Tag
    """Tag of the case's main object."""
    parts: Annotated[tuple[Part, ...], Field(min_length=1, max_length=40)]
    on: Ground = "lane"
    at: Annotated[Site | None, Field(exclude_if=_is_none)] = None
    """Place at a pedestrian crossing or a junction of the town's vector map; by default between junctions."""
    facing: Facing = "any"
    clearance_m: Annotated[float, Field(ge=0, le=50)] = 1.0
    """Distance of its outline from the next vehicle or other case."""
    min_visible_px: Annotated[int, Field(ge=1, le=1_000_000)] | None = None
    """Least number of visible pixels, unless the dataset sets it."""
    attributes: dict[Name, Text] = Field(default_factory=dict)
    """Attributes for the tables: state, cause and others."""

    @model_validator(mode="after")
    def _some_part_has_the_tag(self) -> Self:
        if all(part.tag not in (None, self.tag) for part in self.parts):
            raise ValueError(f"no part has the tag {self.tag!r}; leave the key tag out of at least one part")
        return self


class CornerCases(Model):
    """Cases, tags and training sets."""

    description: Text = ""
    tags: Annotated[dict[Tag, TagEntry], Field(min_length=1)]
    """The canonical words; ordinary objects have those of their classes (car, pedestrian)."""
    training_sets: dict[Name, TrainingSet] = Field(default_factory=dict)
    cases: Annotated[dict[Name, Case], Field(min_length=1, max_length=1000)]

    def first_tag_error(self) -> tuple[KeyPath, str] | None:
        """Return the key of the first unknown or ambiguous tag and the correction; None if all are good."""
        used_tags: list[tuple[KeyPath, str]] = []
        for name, case in self.cases.items():
            used_tags.append((("cases", name, "tag"), case.tag))
            parts = [(k, part.tag) for k, part in enumerate(case.parts) if part.tag]
            used_tags += [(("cases", name, "parts", k, "tag"), tag) for k, tag in parts]
        for name, training_set in self.training_sets.items():
            used_tags += [(("training_sets", name, "tags", k), tag) for k, tag in enumerate(training_set.tags)]
        for key, tag in used_tags:
            if tag not in self.tags and tag not in LABELS:
                return key, f"unknown tag {tag!r}{self._hint(tag)}"
        owner = {word: word for word in (*self.tags, *LABELS)}
        for tag, entry in self.tags.items():
            for k, word in enumerate(entry.synonyms):
                if owner.setdefault(word, tag) != tag:
                    return ("tags", tag, "synonyms", k), f"{word!r} is already a synonym of {owner[word]!r}"
        return None

    def _hint(self, word: str) -> str:
        """Offer the canonical word of a synonym, else the nearest word."""
        for tag, entry in self.tags.items():
            if word in entry.synonyms:
                return f"; it is a synonym of {tag!r}, write {tag!r}"
        return _guess(word, (*self.tags, *LABELS))
