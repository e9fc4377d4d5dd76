"""``uavsim twins``: replays of a dataset without an occluder, or in another weather or skin, linked to the dataset.

A twin is a replay with one change. Each twin is a valid dataset in a folder below ``OUT`` with the tokens of the recorded
dataset. ``OUT/twin.json`` links the images; ``OUT/occlusion_cause.json`` compares each occlusion label with the twin.
"""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import numpy as np

from uavsim.annotate.occluders import Occlusion, occlusions
from uavsim.annotate.relocate import in_dataset
from uavsim.capture.recording_reader import read_recording
from uavsim.config.library import Library
from uavsim.config.run import RunConfig
from uavsim.config.skin import Skin
from uavsim.dataset.fragment import open_fragment
from uavsim.dataset.tokens import token
from uavsim.errors import InputError
from uavsim.files.parse import parse_json, read_regular, reading
from uavsim.files.result_folder import check_result_beside
from uavsim.files.whole import to_json_bytes, write_whole
from uavsim.ingredients.skin_plans import check_names
from uavsim.plan.numbering import parse_numbers
from uavsim.records.ingredients import actor_kind
from uavsim.records.labels import ViewLabels
from uavsim.records.recording import Recording
from uavsim.replays.requests import request_of_recordings
from uavsim.run.request import Request, SkinRequest
from uavsim.run.result import Result
from uavsim.store.commit import generation_of, read_fragment
from uavsim.store.identity import kept_dataset
from uavsim.store.ledger import LedgerEntry, read_ledger
from uavsim.store.local import LocalOutput
from uavsim.typing import BoolArray, JsonDict

__all__ = [
    "Twin",
    "TwinsResult",
    "links_of",
    "make_twins",
    "named_occlusions",
    "proven_causes",
    "requested_twins",
    "requests_of",
]

OCCLUDERS: Final = "without-occluders"
_LEAST_HIDDEN: Final = 0.2  # least hidden share of an object, by its label
_LEAST_COVERAGE: Final = 1.1  # least ratio of covered pixels of the box's outline to hidden pixels of the object
_MIN_PX: Final = 40  # least size of an object without occlusion; the outline of a smaller one is a fifth of it


@dataclass(frozen=True, slots=True)
class Twin:
    """A twin with its one change.

    Attributes:
        name: name of the twin's folder.
        kind: weather, without (some actors), skin, or traffic (a skin with other traffic and boxes).
        words: name of the weather, hidden actors, or name of the skin and number of its draw.
        hides: occlusions that the twin may prove, by scene, if they are known already.
        skin: skin to draw.
    """

    name: str
    kind: str
    words: tuple[str, ...]
    hides: Mapping[str, Sequence[Occlusion]] = field(default_factory=dict, compare=False, repr=False)
    skin: SkinRequest | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class TwinsResult:
    """Counts of generated twins.

    Attributes:
        images: number of linked images of each twin.
        causes: number of occlusion labels with an occluder that a twin hides.
        proven: number of these labels that the twin proves, see ``proven_causes``.
        seconds: elapsed time.
        folders: folders of the twins.
    """

    images: dict[str, int]
    causes: int
    proven: int
    seconds: float
    folders: tuple[str, ...] = ()


def requested_twins(
    folder: Path,
    *,
    weather: Sequence[str],
    without: Sequence[str],
    occluders: bool,
    skins: Sequence[str] = (),
    scenes: str | None = None,
) -> tuple[Twin, ...]:
    """Return the requested twins; without any, those of ``twins:`` in the dataset's YAML.

    Raises:
        InputError: no twin is requested, or two twins have one name.
    """
    library = Library.of()
    if not (weather or without or occluders or skins):
        dataset = kept_dataset(LocalOutput(folder.absolute()))
        if dataset is not None:
            loaded, library = library.with_dataset(dataset)
        config = loaded.model.twins if dataset is not None else None
        if config is None:
            raise InputError(
                f"{folder}: its YAML defines no twins; request some with --weather, --without, --skin or --occluders"
            )
        weather, without, occluders, skins = config.weather, config.without, config.occluders, config.skins
    twins = [Twin(f"weather-{Path(name).stem}", "weather", (name,)) for name in weather]
    twins += [Twin(f"without-{_folder_part(word)}", "without", (word,)) for word in without]
    twins += [twin for name in skins for twin in _in_skins(library, name)]
    if occluders:
        hides = dict(_labels(folder, scenes))
        words = tuple(sorted({f"{scene}:{label.occluder}" for scene, labels in hides.items() for label in labels}))
        if not words and not twins:
            raise InputError(f"{folder}: --occluders finds no object that an actor hides")
        twins += [Twin(OCCLUDERS, "without", words, hides)] if words else []
    by_name: dict[str, Twin] = {}
    for twin in twins:
        other = by_name.setdefault(twin.name, twin)
        if other.words != twin.words:
            raise InputError(
                f"twins {other.words[0]} and {twin.words[0]} have the same name {twin.name}; generate them separately"
            )
    return tuple(by_name.values())


def _in_skins(library: Library, name: str) -> list[Twin]:
    """Return a twin for each draw of a skin."""
    loaded = check_names(library.of_ingredient("skin", name))
    skin: Skin = loaded.model
    kind, name = "traffic" if skin.traffic == "other" else "skin", loaded.name
    return [
        Twin(f"skin-{name}-{draw}", kind, (name, str(draw)), skin=SkinRequest(name=name, draw=draw, skin=skin))
        for draw in range(skin.twins)
    ]


def requests_of(
    folder: Path,
    out: Path,
    twins: Sequence[Twin],
    *,
    scenes: str | None = None,
    simulators: tuple[str, ...] = (),
    run: RunConfig | None = None,
) -> dict[str, Request]:
    """Return the replay request of each twin by name.

    Raises:
        InputError: see ``request_of_recordings``; or ``out`` is the dataset itself, or no folder can be there.
    """
    if out.resolve() == folder.resolve():
        raise InputError(f"--out {out} is the dataset itself; choose another folder")
    check_result_beside(folder, out)
    return {
        twin.name: request_of_recordings(
            folder,
            str(out / twin.name),
            scenes=scenes,
            hide=twin.words if twin.kind == "without" else (),
            changes={"weather": twin.words[0] if twin.kind == "weather" else None},
            skin=twin.skin,
            simulators=simulators,
            run=run,
        )
        for twin in twins
    }


def make_twins(
    folder: Path,
    out: Path,
    twins: Sequence[Twin],
    requests: dict[str, Request],
    *,
    generate: Callable[[Request], Result],
) -> TwinsResult:
    """Generate or resume every twin, then write the two tables.

    Args:
        folder: the dataset.
        out: folder of the twins.
        twins: result of ``requested_twins``.
        requests: result of ``requests_of``.
        generate: runs a request.

    Raises:
        UavsimError: a twin could not be generated; no table is written.
    """
    began = time.monotonic()
    for request in requests.values():
        result = generate(request)
        if result.error is not None:
            raise result.error
    links = [row for twin in twins for row in links_of(folder, out, twin)]
    causes = [row for twin in twins if twin.kind == "without" for row in proven_causes(folder, out, twin)]
    write_whole(out / "twin.json", to_json_bytes(links))
    write_whole(out / "occlusion_cause.json", to_json_bytes(causes))
    return TwinsResult(
        images={twin.name: sum(row["twin"] == twin.name for row in links) for twin in twins},
        causes=len(causes),
        proven=sum(row["proven"] for row in causes),
        seconds=time.monotonic() - began,
        folders=tuple(str(out / twin.name) for twin in twins),
    )


def links_of(folder: Path, out: Path, twin: Twin) -> Iterator[JsonDict]:
    """Yield one row for each image of a twin: the recorded image and the change."""
    for version in sorted(path.name for path in (out / twin.name).glob("v1.0-*")):
        recorded = {row["token"] for row in _rows(folder / version / "sample_data.json")}
        layers: dict[str, dict[str, str]] = {}
        for layer in _rows(out / twin.name / version / "layer.json"):
            layers.setdefault(layer["sample_data_token"], {})[layer["kind"]] = f"{twin.name}/{layer['filename']}"
        for row in _rows(out / twin.name / version / "sample_data.json"):
            if row["token"] in recorded and row["height"]:
                yield {
                    "token": token("twin", twin.name, row["token"]),
                    "sample_data_token": row["token"],
                    "sample_token": row["sample_token"],
                    "twin": twin.name,
                    "kind": twin.kind,
                    "change": list(twin.words),
                    "filename": f"{twin.name}/{row['filename']}",
                    "layers": layers.get(row["token"], {}),
                }


def proven_causes(folder: Path, out: Path, twin: Twin) -> Iterator[JsonDict]:
    """Yield one row for each object that an actor hides in an image of ``folder``, if the twin lacks that actor.

    The twin proves an occlusion if it shows more pixels of the object than the recording, and as many as the label's amodal
    pixels up to a fifth of them, or 5 pixels.
    """
    for scene, before, after, visible_px in _pairs(folder, out / twin.name):
        remaining = {info.instance_id for info in after.actors}
        base = (before.plan.dataset, scene)
        stamps = {f.sample_index: f.timestamp_us for f in before.frames}
        for label in twin.hides[scene] if scene in twin.hides else named_occlusions(before):
            annotation = token(*base, "annotation", label.sample_index, label.instance_id)
            image = token(*base, "sample_data", label.channel, stamps[label.sample_index])
            now_px = visible_px.get((annotation, image))
            if label.occluder in remaining or now_px is None:
                continue
            yield {
                "sample_annotation_token": annotation,
                "sample_data_token": image,
                "occluded_by_instance_token": token(*base, "instance", label.occluder),
                "twin": twin.name,
                "visible_px": label.visible_px,
                "amodal_px": label.amodal_px,
                "covered_px": label.covered_px,
                "twin_visible_px": now_px,
                "proven": now_px > label.visible_px and abs(now_px - label.amodal_px) <= max(0.2 * label.amodal_px, 5),
            }


def _may_be_named(views: ViewLabels) -> BoolArray:
    """Return (N,) whether an object is large enough, inside the image, and hidden enough to name its occluder."""
    hidden_share = 1.0 - views.visible_px / np.maximum(views.amodal_px, 1)
    whole = (views.amodal_px >= _MIN_PX) & (views.truncation == 0)
    return np.asarray(whole & (hidden_share >= _LEAST_HIDDEN))


def named_occlusions(recording: Recording) -> list[Occlusion]:
    """Return the occlusions that one actor mostly causes.

    ``covered_px`` counts pixels of the box's outline, of which the object fills a half to two thirds. An actor that covers
    only as many pixels as are hidden therefore does not cause the whole occlusion.
    """
    with reading(recording.folder):
        labels = occlusions(recording, only=_may_be_named)
    return [
        label
        for label in labels
        if label.occluder > 0 and label.covered_px >= _LEAST_COVERAGE * (label.amodal_px - label.visible_px)
    ]


def _labels(folder: Path, scenes: str | None) -> Iterator[tuple[str, list[Occlusion]]]:
    """Yield each scene and its occlusions by actors that may be hidden: no corner cases and no cars with sensors."""
    for _, recording in _recordings(folder, scenes):
        protected = {i.instance_id for i in recording.actors if not actor_kind(i.kind).may_hide}
        protected |= {agent.instance_id for agent in recording.frames[0].others}
        yield (
            recording.plan.scene_name,
            [label for label in named_occlusions(recording) if label.occluder not in protected],
        )


def _recordings(folder: Path, scenes: str | None = None) -> Iterator[tuple[LedgerEntry, Recording]]:
    numbers = None if scenes is None else set(parse_numbers(scenes))
    for entry in sorted(read_ledger(LocalOutput(folder.absolute())).values(), key=lambda e: e.index):
        if entry.state == "committed" and (numbers is None or entry.index in numbers):
            generation = generation_of(entry)
            recording = read_recording(folder / generation.recording)
            yield entry, in_dataset(recording, folder, generation=generation.number)


def _pairs(folder: Path, twin: Path) -> Iterator[tuple[str, Recording, Recording, dict[tuple[str, str], int]]]:
    """Yield name, recording, twin's recording, and the twin's visible pixels by box and image of each scene."""
    before = {recording.plan.scene_name: recording for _, recording in _recordings(folder)}
    for entry, after in _recordings(twin):
        scene = after.plan.scene_name
        yield scene, before[scene], after, _visible_px(twin, entry)


def _visible_px(folder: Path, entry: LedgerEntry) -> dict[tuple[str, str], int]:
    """Return the visible pixels of a scene's labels by (annotation, sample_data) token."""
    rows = open_fragment(read_fragment(LocalOutput(folder.absolute()), entry)).rows("visibility_detail")
    return {
        (row["sample_annotation_token"], view["sample_data_token"]): view["visible_px"]
        for row in rows
        for view in row["views"]
    }


def _rows(path: Path) -> list[dict[str, Any]]:
    with reading(path):
        found: list[dict[str, Any]] = parse_json(read_regular(path))
        return found


def _folder_part(word: str) -> str:
    return "".join(letter if letter.isalnum() or letter in "._-" else "_" for letter in word)
