"""``uavsim twins``: the same instants once more without an occluder or in another weather, linked to the data set.

A twin is a replay with one thing changed. Each lies in a folder of its own below ``OUT``, a valid data set whose tokens are
those of the recorded one. ``OUT/twin.json`` links image by image; ``OUT/occlusion_cause.json`` says of each occlusion label
what its twin shows.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from uavsim.annotate.occluders import Occlusion, occlusions
from uavsim.annotate.relocate import in_dataset
from uavsim.capture.recording_reader import read_recording
from uavsim.config.library import Library
from uavsim.config.run import RunConfig
from uavsim.dataset.tokens import token
from uavsim.errors import InputError
from uavsim.files.result_folder import check_result_folder
from uavsim.files.whole import to_json_bytes, write_whole
from uavsim.flows.replay import request_of_recordings
from uavsim.flows.request import Request
from uavsim.records.corner_cases import part_of_role
from uavsim.records.recording import Recording
from uavsim.store.commit import generation_of
from uavsim.store.identity import kept_dataset
from uavsim.store.ledger import read_ledger
from uavsim.store.local import LocalOutput
from uavsim.terminal import Screen
from uavsim.typing import JsonDict

__all__ = ["Twin", "TwinsResult", "asked_twins", "make_twins", "proven_causes", "requests_of"]

OCCLUDERS: Final = "without-occluders"
_LEAST_HIDDEN: Final = 0.2  # of an object, by its label
_LEAST_PX: Final = 40  # of an object with nothing in front: the outline of a smaller one is a fifth of it


@dataclass(frozen=True, slots=True)
class Twin:
    """One change; its name is the folder's.

    Attributes:
        kind: weather, or without (some actors).
        words: the weather's name, or what is hidden.
    """

    name: str
    kind: str
    words: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class TwinsResult:
    """What was made.

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
    folder: Path, *, weather: Sequence[str], without: Sequence[str], occluders: bool, scenes: str | None = None
) -> tuple[Twin, ...]:
    """Return the twins that were asked for; where nothing was, those of the data set's YAML (``twins:``).

    Raises:
        InputError: nothing to make.
    """
    if not (weather or without or occluders):
        kept = kept_dataset(LocalOutput(folder.absolute()))
        config = Library.of().dataset(kept).model.twins if kept is not None else None
        if config is None:
            raise InputError(
                f"{folder}: its data set names no twins; name some with --weather, --without or --occluders"
            )
        weather, without, occluders = config.weather, config.without, config.occluders
    twins = [Twin(f"weather-{Path(name).stem}", "weather", (name,)) for name in weather]
    twins += [Twin(f"without-{_plain(word)}", "without", (word,)) for word in without]
    if occluders:
        words = tuple(
            sorted({f"{scene}:{hides.occluder}" for scene, hides in _labels(folder, scenes) if _named(hides)})
        )
        if not words and not twins:
            raise InputError(f"{folder}: no object is hidden by an actor; there is nothing to take away")
        twins += [Twin(OCCLUDERS, "without", words)] if words else []
    return tuple({twin.name: twin for twin in twins}.values())


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
        InputError: as of ``request_of_recordings``; or ``out`` is the data set itself, or no folder can be there.
    """
    if out.resolve() == folder.resolve():
        raise InputError(f"--out {out}: is the data set itself; name another folder")
    check_result_folder(out)
    return {
        twin.name: request_of_recordings(
            folder,
            str(out / twin.name),
            scenes=scenes,
            hide=twin.words if twin.kind == "without" else (),
            changes={"weather": twin.words[0] if twin.kind == "weather" else None},
            simulators=simulators,
            run=run,
        )
        for twin in twins
    }


def make_twins(
    folder: Path, out: Path, twins: Sequence[Twin], requests: dict[str, Request], *, console: Screen
) -> TwinsResult:
    """Make every twin, then the two tables; what was interrupted continues.

    Raises:
        UavsimError: a twin could not be made; the tables are not written then.
    """
    from uavsim.flows.generate import generate

    began = time.monotonic()
    for request in requests.values():
        result = generate(request, console=console)
        if result.error is not None:
            raise result.error
    links = [row for twin in twins for row in _links(folder, out, twin)]
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


def _links(folder: Path, out: Path, twin: Twin) -> Iterator[JsonDict]:
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
    for scene, before, after in _pairs(folder, out / twin.name):
        shown = {info.instance_id for info in after.actors}
        seen = {(o.sample_index, o.channel, o.instance_id): o for o in occlusions(after)}
        plan = before.plan
        stamps = {f.sample_index: f.timestamp_us for f in before.frames}
        for told in occlusions(before):
            now = seen.get((told.sample_index, told.channel, told.instance_id))
            if not _named(told) or told.occluder in shown or now is None:
                continue
            base = (plan.dataset, scene)
            yield {
                "sample_annotation_token": token(*base, "annotation", told.sample_index, told.instance_id),
                "sample_data_token": token(*base, "sample_data", told.channel, stamps[told.sample_index]),
                "occluded_by_instance_token": token(*base, "instance", told.occluder),
                "twin": twin.name,
                "visible_px": told.visible_px,
                "amodal_px": told.amodal_px,
                "covered_px": told.covered_px,
                "twin_visible_px": now.visible_px,
                "proven": now.visible_px > told.visible_px
                and abs(now.visible_px - told.amodal_px) <= max(0.2 * told.amodal_px, 5),
            }


def _named(told: Occlusion) -> bool:
    """Say whether a label may name its occluder: enough of the object is hidden, and mostly by that actor."""
    hidden_px = told.amodal_px - told.visible_px
    return (
        told.occluder > 0
        and told.amodal_px >= _LEAST_PX
        and told.truncation == 0
        and told.hidden_share >= _LEAST_HIDDEN
        and told.covered_px >= 0.9 * hidden_px
    )


def _labels(folder: Path, scenes: str | None) -> Iterator[tuple[str, Occlusion]]:
    """Yield the scene and each label of an occlusion whose occluder may be taken away: a corner case stays."""
    for recording in _recordings(folder, scenes):
        stay = {i.instance_id for i in recording.actors if part_of_role(i.attributes.get("role_name", "")) is not None}
        yield from ((recording.plan.scene_name, told) for told in occlusions(recording) if told.occluder not in stay)


def _recordings(folder: Path, scenes: str | None = None) -> Iterator[Recording]:
    from uavsim.plan.numbering import parse_numbers

    wanted = None if scenes is None else set(parse_numbers(scenes))
    for entry in sorted(read_ledger(LocalOutput(folder.absolute())).values(), key=lambda e: e.index):
        if entry.state == "committed" and (wanted is None or entry.index in wanted):
            generation = generation_of(entry)
            yield in_dataset(read_recording(folder / generation.recording), folder, generation=generation.number)


def _pairs(folder: Path, twin: Path) -> Iterator[tuple[str, Recording, Recording]]:
    before = {recording.plan.scene_name: recording for recording in _recordings(folder)}
    for after in _recordings(twin):
        yield after.plan.scene_name, before[after.plan.scene_name], after


def _rows(path: Path) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(path.read_bytes())
    return found


def _plain(word: str) -> str:
    return "".join(letter if letter.isalnum() or letter in "._-" else "_" for letter in word)
