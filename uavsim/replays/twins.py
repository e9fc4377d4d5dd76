"""``uavsim twins``: the same instants once more without an occluder, in another weather or skin, linked to the dataset.

A twin is a replay with one thing changed. Each lies in a folder of its own below ``OUT``, a valid dataset whose tokens are
those of the recorded one. ``OUT/twin.json`` links image by image; ``OUT/occlusion_cause.json`` says of each occlusion label
what its twin shows.
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
    "asked_twins",
    "links_of",
    "make_twins",
    "named_occlusions",
    "proven_causes",
    "requests_of",
]

OCCLUDERS: Final = "without-occluders"
_LEAST_HIDDEN: Final = 0.2  # of an object, by its label
_ACCOUNTS_FOR: Final = 1.1  # covered pixels of the box's outline, of those that are hidden of the object
_LEAST_PX: Final = 40  # of an object with nothing in front: the outline of a smaller one is a fifth of it


@dataclass(frozen=True, slots=True)
class Twin:
    """One change; its name is the folder's.

    Attributes:
        kind: weather, without (some actors), skin, or traffic (a skin over other traffic: its boxes are other objects).
        words: the weather's name, what is hidden, or the skin's name and the number of its draw.
        hides: what is known already of the dataset's occlusions: those that may be proven, by scene.
        skin: that is drawn.
    """

    name: str
    kind: str
    words: tuple[str, ...]
    hides: Mapping[str, Sequence[Occlusion]] = field(default_factory=dict, compare=False, repr=False)
    skin: SkinRequest | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class TwinsResult:
    """The result of making twins.

    Attributes:
        images: linked images of each twin.
        causes: occlusion labels whose named occluder is hidden in a twin.
        proven: of them, those whose object is seen in the twin as its label says that it would be.
        seconds: of all of it.
    """

    images: dict[str, int]
    causes: int
    proven: int
    seconds: float
    folders: tuple[str, ...] = field(default=())


def asked_twins(
    folder: Path,
    *,
    weather: Sequence[str],
    without: Sequence[str],
    occluders: bool,
    skins: Sequence[str] = (),
    scenes: str | None = None,
) -> tuple[Twin, ...]:
    """Return the twins that were asked for; where nothing was, those of the dataset's YAML (``twins:``).

    Raises:
        InputError: nothing to make.
    """
    library = Library.of()
    if not (weather or without or occluders or skins):
        kept = kept_dataset(LocalOutput(folder.absolute()))
        if kept is not None:
            loaded, library = library.with_dataset(kept)
        config = loaded.model.twins if kept is not None else None
        if config is None:
            raise InputError(
                f"{folder}: its dataset names no twins; name some with --weather, --without, --skin or --occluders"
            )
        weather, without, occluders, skins = config.weather, config.without, config.occluders, config.skins
    twins = [Twin(f"weather-{Path(name).stem}", "weather", (name,)) for name in weather]
    twins += [Twin(f"without-{_plain(word)}", "without", (word,)) for word in without]
    twins += [twin for name in skins for twin in _in_skins(library, name)]
    if occluders:
        hides = dict(_labels(folder, scenes))
        words = tuple(
            sorted({f"{scene}:{reported.occluder}" for scene, labels in hides.items() for reported in labels})
        )
        if not words and not twins:
            raise InputError(f"{folder}: no object is hidden by an actor; there is nothing to take away")
        twins += [Twin(OCCLUDERS, "without", words, hides)] if words else []
    by_name: dict[str, Twin] = {}
    for twin in twins:
        other = by_name.setdefault(twin.name, twin)
        if other.words != twin.words:
            raise InputError(
                f"twins {other.words[0]} and {twin.words[0]} would have one name, {twin.name}; make them one by one"
            )
    return tuple(by_name.values())


def _in_skins(library: Library, name: str) -> list[Twin]:
    """Return the twins that a skin's file asks for."""
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
    """Return the replay behind each twin, by the twin's name.

    Raises:
        InputError: as of ``request_of_recordings``; or ``out`` is the dataset itself, or no folder can be there.
    """
    if out.resolve() == folder.resolve():
        raise InputError(f"--out {out}: is the dataset itself; name another folder")
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
    """Make every twin, then the two tables; what was interrupted continues.

    Args:
        folder: the dataset.
        out: where the twins go.
        twins: what ``asked_twins`` returned.
        requests: of each, what ``requests_of`` returned.
        generate: runs a request.

    Raises:
        UavsimError: a twin could not be made; the tables are not written then.
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
    """Yield one row an image of a twin: which image it is the twin of, and what differs."""
    for version in sorted(path.name for path in (out / twin.name).glob("v1.0-*")):
        there = {row["token"] for row in _rows(folder / version / "sample_data.json")}
        layers: dict[str, dict[str, str]] = {}
        for layer in _rows(out / twin.name / version / "layer.json"):
            layers.setdefault(layer["sample_data_token"], {})[layer["kind"]] = f"{twin.name}/{layer['filename']}"
        for row in _rows(out / twin.name / version / "sample_data.json"):
            if row["token"] in there and row["height"]:
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
    """Yield one row for each object that an actor hides in an image of ``folder`` and that actor is gone in the twin.

    An occlusion is proven where the twin shows of the object what its label says it would show with nothing in front (to a
    fifth of that, or 5 pixels), and more than before.
    """
    for scene, before, after, seen in _pairs(folder, out / twin.name):
        shown = {info.instance_id for info in after.actors}
        base = (before.plan.dataset, scene)
        stamps = {f.sample_index: f.timestamp_us for f in before.frames}
        for reported in twin.hides[scene] if scene in twin.hides else named_occlusions(before):
            annotation = token(*base, "annotation", reported.sample_index, reported.instance_id)
            image = token(*base, "sample_data", reported.channel, stamps[reported.sample_index])
            now_px = seen.get((annotation, image))
            if reported.occluder in shown or now_px is None:
                continue
            yield {
                "sample_annotation_token": annotation,
                "sample_data_token": image,
                "occluded_by_instance_token": token(*base, "instance", reported.occluder),
                "twin": twin.name,
                "visible_px": reported.visible_px,
                "amodal_px": reported.amodal_px,
                "covered_px": reported.covered_px,
                "twin_visible_px": now_px,
                "proven": now_px > reported.visible_px
                and abs(now_px - reported.amodal_px) <= max(0.2 * reported.amodal_px, 5),
            }


def _may_be_named(views: ViewLabels) -> BoolArray:
    """Say of views whether their label may name an occluder: enough of the object is hidden, and all of it in the image."""
    hidden_share = 1.0 - views.visible_px / np.maximum(views.amodal_px, 1)
    whole = (views.amodal_px >= _LEAST_PX) & (views.truncation == 0)
    return np.asarray(whole & (hidden_share >= _LEAST_HIDDEN))


def named_occlusions(recording: Recording) -> list[Occlusion]:
    """Return the occlusions whose label may name the occluder: what is hidden is hidden mostly by that actor.

    ``covered_px`` is of the box's outline, of which the object fills a half to two thirds. So one that covers just as many
    pixels as are hidden does not account for all of them: another car, or a tree, hides the rest.
    """
    with reading(recording.folder):
        found = occlusions(recording, only=_may_be_named)
    return [
        reported
        for reported in found
        if reported.occluder > 0 and reported.covered_px >= _ACCOUNTS_FOR * (reported.amodal_px - reported.visible_px)
    ]


def _labels(folder: Path, scenes: str | None) -> Iterator[tuple[str, list[Occlusion]]]:
    """Yield each scene and its occlusions whose occluder may be taken away: corner cases stay, and cars that carry sensors."""
    for _, recording in _recordings(folder, scenes):
        stay = {i.instance_id for i in recording.actors if not actor_kind(i.kind).may_hide}
        stay |= {agent.instance_id for agent in recording.frames[0].others}
        yield (
            recording.plan.scene_name,
            [reported for reported in named_occlusions(recording) if reported.occluder not in stay],
        )


def _recordings(folder: Path, scenes: str | None = None) -> Iterator[tuple[LedgerEntry, Recording]]:
    from uavsim.plan.numbering import parse_numbers

    wanted = None if scenes is None else set(parse_numbers(scenes))
    for entry in sorted(read_ledger(LocalOutput(folder.absolute())).values(), key=lambda e: e.index):
        if entry.state == "committed" and (wanted is None or entry.index in wanted):
            generation = generation_of(entry)
            recording = read_recording(folder / generation.recording)
            yield entry, in_dataset(recording, folder, generation=generation.number)


def _pairs(folder: Path, twin: Path) -> Iterator[tuple[str, Recording, Recording, dict[tuple[str, str], int]]]:
    """Yield each scene of a twin: its name, both recordings, and the pixels that the twin's labels say by box and image."""
    before = {recording.plan.scene_name: recording for _, recording in _recordings(folder)}
    for entry, after in _recordings(twin):
        scene = after.plan.scene_name
        yield scene, before[scene], after, _visible_px(twin, entry)


def _visible_px(folder: Path, entry: LedgerEntry) -> dict[tuple[str, str], int]:
    """Return what a scene's labels say: (annotation, sample_data) -> visible pixels."""
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


def _plain(word: str) -> str:
    return "".join(letter if letter.isalnum() or letter in "._-" else "_" for letter in word)
