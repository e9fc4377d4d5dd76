"""Write the report: measure and plot the dataset, validate it, read its ledger, render the page."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from jinja2 import Environment, PackageLoader, StrictUndefined

from uavsim.access import Dataset, origin_of_scenes
from uavsim.errors import StorageError, UavsimError
from uavsim.escape import visible
from uavsim.files.results import ResultPath
from uavsim.files.whole import write_whole
from uavsim.records.labels import UNLISTED
from uavsim.records.modalities import UNCHECKED_MASKS
from uavsim.store.ledger import LedgerEntry, read_ledger
from uavsim.store.local import LocalOutput
from uavsim.terminal import count
from uavsim.validate import Report, validate_version
from uavsim.validate.findings import Finding
from uavsim.viewing.report import plots, sheets
from uavsim.viewing.report.measure import NEAR_M, Histogram, Measures, measure

_MOST_SHEETS: Final = 6
_MOST_THUMBNAILS: Final = 12
_MOST_RARE: Final = 15
_VISIBILITY: Final = {1: "0-40 %", 2: "40-60 %", 3: "60-80 %", 4: "80-100 %", 0: "unknown"}
_UAV3D: Final = {
    "scenes": "1,000",
    "samples": "20,000",
    "images": "500,000",
    "boxes": "3,300,000",
    "drones": "5",
    "cameras of a drone": "5",
    "image size": "800 x 450",
    "seconds between samples": "2",
    "classes": "17",
    "towns": "4 (Town03, Town06, Town07, Town10)",
}
"""Source: Ye et al., "UAV3D: A Large-scale 3D Perception Benchmark for Unmanned Aerial Vehicles", NeurIPS 2024."""


@dataclass(frozen=True, slots=True)
class ReportRequest:
    """The options of a report: run the validator (``check``), and let it decode images (``pixels``)."""

    check: bool = True
    pixels: bool = False


def write_report(data: Dataset, path: Path, request: ReportRequest) -> int:
    """Write the page; returns its size in bytes.

    Raises:
        DatasetError: a table is damaged.
        StorageError: the page cannot be written.
    """
    out, found = ResultPath.of_file(path), measure(data)
    report, notes = _validated(data, request)
    ledger = _ledger(data)
    findings = [] if report is None else _findings(report)
    contact_sheets = sheets.contact_sheets(data, most=_MOST_SHEETS)
    notes += [f"There is no table {table}: {content} are not shown." for table, content in data.missing.items()]
    if found.unchecked_masks:
        notes.append(f"Of {count(found.unchecked_masks, 'image')}: {UNCHECKED_MASKS}.")
    notes += _unlisted(data)
    if not contact_sheets:
        notes.append("No image exists: the report shows only the tables.")
    parts = [("images", "Images")] if contact_sheets else []
    parts += [
        ("maps", "Maps"),
        ("labels", "Labels"),
        ("uav3d", "Beside UAV3D"),
        ("findings", "Findings"),
        ("scenes", "Scenes"),
    ]
    html = _render(
        title=str(data.info.get("dataset") or data.root.resolve().name),
        subtitle=_subtitle(data),
        origin=visible(origin_of_scenes(found.simulators)),
        parts=parts,
        facts=_facts(data, found),
        notes=notes,
        large=sheets.large_views(data) if contact_sheets else [],
        sheets=contact_sheets,
        maps=_maps(data, found),
        plots=_plots(found),
        comparison=_comparison(found),
        report=report,
        pixels=request.pixels,
        findings=findings,
        thumbnails=[] if report is None else sheets.thumbnails(data, report, most=_MOST_THUMBNAILS),
        skipped={} if report is None else _by_reason(report.skipped),
        scene_columns=_SCENE_COLUMNS,
        scenes=_scene_rows(found, ledger, report),
    )
    page = html.encode("utf-8")
    write_whole(out, page)
    return len(page)


def _render(**content: Any) -> str:
    """Return the page as HTML; the template escapes all text of the dataset."""
    environment = Environment(
        loader=PackageLoader("uavsim.viewing.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return environment.get_template("report.html").render(**content)


def _validated(data: Dataset, request: ReportRequest) -> tuple[Report | None, list[str]]:
    if not request.check:
        return None, []
    try:
        return validate_version(data.root, data.version, pixels=request.pixels), []
    except UavsimError as error:
        return None, [f"The validator cannot read this dataset: {error}"]


def _unlisted(data: Dataset) -> list[str]:
    """Return a note about scenes with visible vehicles that the simulator does not list."""
    notes = [scene.log.get("uav_notes") or () for scene in data.scenes()]
    scenes = sum(any(str(note).startswith(UNLISTED) for note in of_scene) for of_scene in notes)
    return [f"In {scenes} scenes {UNLISTED}: those in images are ignore regions."] if scenes else []


def _ledger(data: Dataset) -> Mapping[str, LedgerEntry]:
    """Return the ledger entries of scenes; {} without a readable ``.uavsim`` folder."""
    try:
        return read_ledger(LocalOutput(data.root.absolute()))
    except StorageError:
        return {}


def _subtitle(data: Dataset) -> str:
    info = data.info
    items = [f"version {data.version}", f"dialect {data.dialect_name}"]
    if "seed" in info:
        items.append(f"seed {info['seed']}")
    items += [f"uavsim {version}" for name, version in info.get("versions", {}).items() if name == "uavsim"]
    return ", ".join(items)


def _facts(data: Dataset, found: Measures) -> list[tuple[str, str]]:
    facts = [
        ("scenes", f"{len(found.scenes):,}"),
        ("samples", f"{found.samples:,}"),
        ("images", f"{found.images:,}"),
        ("boxes", f"{found.boxes:,}"),
        ("objects", f"{sum(scene.objects for scene in found.scenes):,}"),
        ("near duplicates", f"{count(found.near_duplicates, 'sample')}: nothing moved {NEAR_M} m"),
        ("drones", f"{len(found.drones)}"),
        ("cameras", f"{len(found.channels)}"),
        ("towns", ", ".join(sorted(filter(None, found.towns))) or "unknown"),
    ]
    return facts + [(f"scenes of {split}", f"{len(names):,}") for split, names in data.splits.items() if names]


def _maps(data: Dataset, found: Measures) -> list[dict[str, Any]]:
    maps = []
    for number, (name, town) in enumerate(sorted(found.towns.items())):
        known = data.maps.get(name)
        text = f"{count(len(town.routes), 'scene')}, {sum(town.boxes_per_cell.values()):,} boxes"
        if known is None:
            text += "; the dataset has no position of its map mask"
        svg = plots.town_map(f"map{number}", town, known)
        maps.append({"title": visible(name) or "unnamed town", "svg": svg, "text": text})
    return maps


def _plots(found: Measures) -> list[dict[str, Any]]:
    figures = [
        _bars("classes", "boxes by class", "class", dict(found.classes.most_common())),
        _bars(
            "visibility",
            "visibility in all cameras together",
            "level",
            {_VISIBILITY.get(k, str(k)): n for k, n in sorted(found.visibility.items())},
        ),
        _bars("rare", "rarest boxes by class, distance and visibility", "boxes", _rarest(found)),
        _bars("weather", "scenes by weather", "weather", dict(found.weather.most_common())),
    ]
    figures += [_histogram(name, h) for name, h in found.histograms.items() if h.total]
    return [plot for plot in figures if plot["rows"]]


def _rarest(found: Measures) -> dict[str, int]:
    """Return the number of boxes in the rarest combinations of class, distance and visibility."""
    rarest = sorted(found.combinations.items(), key=lambda item: (item[1], item[0]))[:_MOST_RARE]
    return {f"{name}, from {start_m} m, {_VISIBILITY.get(level, level)}": n for (name, start_m, level), n in rarest}


def _bars(name: str, title: str, head: str, counts: Mapping[str, int]) -> dict[str, Any]:
    labelled = {visible(key): value for key, value in counts.items()}
    rows = [(key, f"{value:,}") for key, value in labelled.items()]
    svg = plots.bars(name, labelled) if labelled else ""
    return {"title": title, "svg": svg, "text": f"{sum(labelled.values()):,} in all", "head": head, "rows": rows}


def _histogram(name: str, found: Histogram) -> dict[str, Any]:
    edges = zip(found.edges[:-1], found.edges[1:], found.counts, strict=True)
    rows = [(f"{low:.4g} to {high:.4g}", f"{int(count):,}") for low, high, count in edges if count]
    svg, text = plots.histogram(name, found), f"{found.total:,} values; the last bin includes larger values"
    return {"title": visible(found.title), "svg": svg, "text": text, "head": visible(found.unit), "rows": rows}


def _comparison(found: Measures) -> list[tuple[str, str, str]]:
    size = max(found.image_sizes, key=lambda s: found.image_sizes[s], default=(0, 0))
    step_s = sum(found.keyframe_step_s) / len(found.keyframe_step_s) if found.keyframe_step_s else 0.0
    values = {
        "scenes": f"{len(found.scenes):,}",
        "samples": f"{found.samples:,}",
        "images": f"{found.images:,}",
        "boxes": f"{found.boxes:,} ({sum(s.seen_boxes for s in found.scenes):,} seen)",
        "drones": f"{len(found.drones)}",
        "cameras of a drone": f"{len(found.channels) / max(len(found.drones), 1):.3g}",
        "image size": f"{size[0]} x {size[1]}",
        "seconds between samples": f"{step_s:.3g}",
        "classes": f"{len(found.classes)}",
        "towns": f"{len(found.towns)} ({', '.join(sorted(filter(None, found.towns)))})",
    }
    return [(name, visible(values[name]), uav3d_value) for name, uav3d_value in _UAV3D.items()]


def _by_reason(skipped: Mapping[str, str]) -> dict[str, list[str]]:
    """Return the skipped checks by reason."""
    found: dict[str, list[str]] = {}
    for check, reason in skipped.items():
        found.setdefault(reason, []).append(check)
    return found


def _findings(report: Report) -> list[dict[str, Any]]:
    first: dict[str, Finding] = {}
    for finding in report.findings:
        first.setdefault(finding.code, finding)
    return [
        {
            "code": code,
            "count": f"{count:,}",
            "place": visible(first[code].place_text),
            "message": visible(first[code].message),
        }
        for code, count in report.counts.items()
        if code in first
    ]


_SCENE_COLUMNS: Final = (
    "scene", "town", "samples", "images", "boxes", "seen", "objects", "vehicles asked", "spawned", "retries", "images/s",
    "findings",
)  # fmt: skip


def _scene_rows(found: Measures, ledger: Mapping[str, LedgerEntry], report: Report | None) -> list[Sequence[str]]:
    counts: dict[str, int] = {}
    for finding in report.findings if report is not None else ():
        counts[finding.scene] = counts.get(finding.scene, 0) + 1
    rows: list[Sequence[str]] = []
    for scene in found.scenes:
        entry = ledger.get(scene.name)
        facts = entry.facts if entry is not None else None
        rows.append(
            (
                visible(scene.name),
                visible(scene.town),
                f"{scene.samples:,}",
                f"{scene.images:,}",
                f"{scene.boxes:,}",
                f"{scene.seen_boxes:,}",
                f"{scene.objects:,}",
                _cell(scene.vehicles_asked),
                _cell(scene.vehicles_spawned),
                _cell(None if entry is None else len(entry.reasons)),
                _cell(None if facts is None or not facts.images_per_s else f"{facts.images_per_s:.1f}"),
                _cell(None if report is None else counts.get(scene.name, 0)),
            )
        )
    return rows


def _cell(value: object) -> str:
    return "–" if value is None else visible(value)
