"""``uavsim plan``, ``check`` and ``schema``: plans and configuration, without a flight."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from uavsim.cli.generate import refuse_lists
from uavsim.cli.options import (
    DATASET_HELP,
    FormationOption,
    JsonOption,
    RigOption,
    RunOption,
    SamplesOption,
    SeedOption,
    SettleOption,
    SimulatorOption,
    TopologyOption,
    WeatherOption,
    check_png,
    overrides_of,
    run_config,
)
from uavsim.config.library import Library
from uavsim.errors import DatasetError, InputError, SimulatorError
from uavsim.files.results import ResultPath
from uavsim.files.scratch import scratch_folder
from uavsim.files.whole import write_whole
from uavsim.records.ingredients import Ingredient, ingredients_of
from uavsim.records.road_map import SITES
from uavsim.run.request import Request
from uavsim.terminal import Screen, columns_screen, count, first_rows, histogram_blocks, line, write_out
from uavsim.typing import FloatArray, JsonDict

if TYPE_CHECKING:
    from uavsim.records.plan import ScenePlan
    from uavsim.records.road_map import RoadMap

_CITY_BYTES = 10_000_000  # reading a larger map takes longer than planning
_LARGEST_MAP_BYTES = 300_000_000
_SITE_FARTHEST_M = 150.0  # same as the search range of corner cases


def plan(
    *,
    dataset: Annotated[str | None, typer.Option(help=DATASET_HELP)] = None,
    town: Annotated[
        str | None, typer.Option(help="Town of the dataset: Town10HD, Town03, ... (uavsim list towns).")
    ] = None,
    scenes: Annotated[str | None, typer.Option(help="Scene numbers, 0-4,7; default: all of the town.")] = None,
    samples: SamplesOption = None,
    seed: SeedOption = None,
    topology: TopologyOption = None,
    formation: FormationOption = None,
    rig: RigOption = None,
    weather: WeatherOption = None,
    settle: SettleOption = None,
    xodr: Annotated[
        Path | None,
        typer.Option(help="OpenDRIVE map of the town, or a map by `uavsim map`; default: the headless simulator's."),
    ] = None,
    png: Annotated[Path | None, typer.Option(help="Draw the scenes from above into this image.")] = None,
    make_routes: Annotated[
        str | None, typer.Option(metavar="TOWN", help="Write the routes of this town into flight_plans/.")
    ] = None,
    rows: Annotated[int, typer.Option(help="With --make-routes: rows of the grid of routes.")] = 5,
    columns: Annotated[int, typer.Option(help="With --make-routes: columns of the grid of routes.")] = 5,
    force: Annotated[bool, typer.Option("--force", help="With --make-routes: replace an existing file.")] = False,
    forecast: Annotated[
        bool, typer.Option("--forecast", help="Fly a few short scenes and estimate the time and disk space of the run.")
    ] = False,
    out: Annotated[str, typer.Option(help="With --forecast: folder of the future dataset.")] = "data",
    simulator: SimulatorOption = None,
    run: RunOption = None,
    as_json: JsonOption = False,
) -> None:
    """Run ``uavsim plan``."""
    overrides = overrides_of(locals())
    if make_routes is not None:
        _make_routes(make_routes, rows=rows, columns=columns, force=force)
        return
    if dataset is None:
        raise InputError("--dataset is missing; for example: uavsim plan --dataset smoke --town Town10HD")
    refuse_lists([town] if town is not None else ())
    check_png(png)
    if forecast:
        request = Request(
            dataset=dataset,
            out=out,
            towns=(town,) if town is not None else (),
            scenes=scenes,
            **overrides.model_dump(),
            simulators=tuple(simulator or ()),
            run=run_config(run),
        )
        from uavsim.probing.forecast import show_forecast

        show_forecast(request, as_json=as_json)
        return
    from uavsim.plan import numbering, plan_scenes

    xodr_roads = _roads(xodr) if xodr is not None else []
    plans = plan_scenes(
        dataset,
        town=town,
        scenes=numbering.parse_numbers(scenes) if scenes is not None else None,
        overrides=overrides,
    )
    _refuse_far(plans, xodr_roads)
    if as_json:
        reported = {"dataset": plans[0].dataset, "scenes": [_scene_as_json(scene) for scene in plans]}
        for part in (one.show_json for one in _used(plans) if one.show_json is not None):
            reported |= part.load()(dataset, plans)
        write_out(json.dumps(reported))
        if png is not None:
            _draw(dataset, plans, xodr_roads or _headless_roads(plans[0].town.carla_map), png, as_json=True)
        return
    screen = columns_screen()
    _print_scenes(screen, plans)
    if png is not None:
        _draw(dataset, plans, xodr_roads or _headless_roads(plans[0].town.carla_map), png)
    for part in (one.show for one in _used(plans) if one.show is not None):
        part.load()(dataset, plans, png)


def _used(plans: Sequence[ScenePlan]) -> list[Ingredient]:
    """Return the ingredients of the scenes."""
    return [used.ingredient for used in ingredients_of({name: None for plan in plans for name in plan.ingredients})]


def _refuse_far(plans: Sequence[ScenePlan], xodr_roads: Sequence[FloatArray] | RoadMap) -> None:
    """Refuse scenes that need a crossing or a junction but have no such site near their flight.

    Raises:
        InputError: no site is near; without ``--xodr`` on the headless simulator's map.
    """
    maps: dict[str, Sequence[FloatArray] | RoadMap] = {}
    for scene in plans:
        for used in ingredients_of(scene.ingredients):
            needed = used.ingredient.sites.load()(used.record) if used.ingredient.sites is not None else {}
            for site, what in needed.items():
                town = scene.town.carla_map
                if town not in maps:
                    maps[town] = xodr_roads or _headless_roads(town)
                roads = maps[town]
                if isinstance(roads, Sequence):  # outlines of roads alone, or no map
                    continue
                layer, having = SITES[site]
                flown_m = scene.swarm.map_SE3_flu.translation_m.reshape(-1, 3)
                away_m = float(roads.distance_m(flown_m, layer, having=having).min())
                if away_m > _SITE_FARTHEST_M:
                    nearest = f"the nearest one {away_m:.0f} m away" if away_m < float("inf") else "none"
                    raise InputError(
                        f"{scene.scene_name}: {what} needs a {site} within {_SITE_FARTHEST_M:g} m of the flight; the map of "
                        f"{roads.name} has {nearest}; fly another route, or give the town's own map with --xodr FILE"
                    )


def _draw(
    dataset: str,
    plans: Sequence[ScenePlan],
    roads: Sequence[FloatArray] | RoadMap,
    target: Path,
    *,
    as_json: bool = False,
) -> None:
    """Write the image and print its content."""
    from uavsim.images.codec import encode_png
    from uavsim.plan.chart import draw_plan
    from uavsim.plan.trajectories import route_path

    library = Library.of().with_dataset(dataset)[1]
    routes = library.routes(plans[0].town.name)
    flown = {plan.route_name for plan in plans}
    paths = {name: route_path(library, routes, name) for name in routes.model.routes if name in flown}
    write_whole(target, encode_png(draw_plan(library.town(plans[0].town.name).model, paths, plans, roads=roads)))
    missing = "" if roads != [] else " (no roads: give the town's map with --xodr FILE)"
    Screen(stderr=as_json).print(f"{target}: {count(len(paths), 'route')}, {count(len(plans), 'scene')}{missing}")


def _roads(xodr: Path) -> Sequence[FloatArray] | RoadMap:
    """Read an OpenDRIVE file as a vector map, or as (N, 2) road outlines for a city; or read a map expansion."""
    from uavsim.files.parse import read_regular
    from uavsim.maps.build import build
    from uavsim.maps.expansion import read_expansion
    from uavsim.maps.opendrive.read import read_opendrive
    from uavsim.maps.raster import road_outlines

    if xodr.suffix.lower() == ".json":
        try:
            return read_expansion(read_regular(xodr, most_bytes=_LARGEST_MAP_BYTES), name=xodr.name)
        except DatasetError as error:
            raise InputError(str(error)) from error
    network = read_opendrive(xodr)
    return road_outlines(network) if xodr.stat().st_size > _CITY_BYTES else build(network, xodr.stem)


def _headless_roads(town: str) -> Sequence[FloatArray] | RoadMap:
    """Return the roads of the headless simulator's town; [] without the town or the package."""
    from uavsim.cli.map_source import write_headless_map

    with scratch_folder("uavsim-plan-") as folder:
        path = folder / "town.xodr"
        try:
            write_headless_map(town, path)
        except (InputError, SimulatorError):
            return []
        return _roads(path)


def _scene_as_json(scene: ScenePlan) -> JsonDict:
    heights_m = scene.swarm.map_SE3_flu.translation_m[..., 2] - scene.town.ground_z_m
    return {
        "scene": scene.scene_name,
        "number": scene.scene_index,
        "town": scene.town.name,
        "route": scene.route_name,
        "formation": scene.formation_name,
        "drones": len(scene.swarm.drone_ids),
        "height_m": [round(float(heights_m.min()), 2), round(float(heights_m.max()), 2)],
        "weather": scene.weather.name,
        "samples": scene.samples,
        "images": scene.image_count,
        "splits": list(scene.splits),
        "seed": scene.seed,
        **({"drawn": dict(scene.notes.drawn)} if scene.notes.drawn else {}),
        **_summary(scene, as_json=True),
    }


def _summary(scene: ScenePlan, *, as_json: bool = False) -> JsonDict:
    """Return the ingredients' lines about a scene."""
    found: JsonDict = {}
    for used in ingredients_of(scene.ingredients):
        part = (as_json and used.ingredient.summary_json) or used.ingredient.summary
        found |= part.load()(used.record) if part is not None else {}
    return found


def _print_scenes(screen: Screen, plans: Sequence[ScenePlan]) -> None:
    """Print the values that all scenes share, and a table of the rest."""
    first, rows = plans[0], [_cells(scene) for scene in plans]
    columns = list(dict.fromkeys(column for row in rows for column in row))
    values = {column: [row.get(column, "-") for row in rows] for column in columns}
    alike = [column for column in columns[1:] if len(set(values[column])) == 1]
    varying = [column for column in columns if column not in alike]
    seconds = first.capture_steps[-1] * first.step_us / 1e6
    screen.print(
        f"{first.dataset}: {count(len(plans), 'scene')} of {first.town.name}, each {count(first.samples, 'sample')}, "
        f"{seconds:g} s, {count(first.image_count, 'image')}; topology {first.topology}"
    )
    for column in alike:
        screen.print(f"  {column}: {values[column][0]}")
    numbers = {column for column in varying if all(cell.replace("-", "").isdecimal() for cell in values[column])}
    cells = list(zip(*(values[column] for column in varying), strict=True))
    screen.print(first_rows("", varying, cells, numbers=numbers))
    for key in first.notes.drawn:
        drawn = sorted(scene.notes.drawn[key] for scene in plans if key in scene.notes.drawn)
        middle = drawn[len(drawn) // 2]
        screen.print(f"  {key}: {drawn[0]:.4g} to {drawn[-1]:.4g}, median {middle:.4g}  {histogram_blocks(drawn)}")


def _cells(scene: ScenePlan) -> dict[str, str]:
    """Return the table cells of a scene, by column."""
    heights_m = scene.swarm.map_SE3_flu.translation_m[..., 2] - scene.town.ground_z_m
    low, high = f"{heights_m.min():.0f}", f"{heights_m.max():.0f}"
    return {
        "scene": scene.scene_name,
        "route": scene.route_name,
        "formation": scene.formation_name,
        "drones": str(len(scene.swarm.drone_ids)),
        "height m": low if low == high else f"{low}-{high}",
        "weather": scene.weather.name,
        **{column: str(value) for column, value in _summary(scene).items()},
        "split": " ".join(scene.splits) or "-",
        "seed": str(scene.seed),
    }


def _make_routes(town: str, *, rows: int, columns: int, force: bool) -> None:
    """Write the routes of a town; replace an existing file only with --force."""
    from uavsim.plan.route_maker import make_routes

    site = Library.of().town(town)
    text = make_routes(site.model, rows=rows, columns=columns)
    target = Path("flight_plans") / f"{site.name}.yaml"
    if target.exists() and not force:
        raise InputError(f"{target} exists already; move it away, or replace it with --force")
    write_whole(target, text.encode())
    Screen().print(f"{target}: {rows * columns} routes")


def check(
    paths: Annotated[list[Path], typer.Argument(help="YAML files and folders of them.")],
    *,
    as_json: JsonOption = False,
) -> None:
    """Run ``uavsim check``."""
    from uavsim.plan.check import check_paths

    findings = check_paths(paths)
    wrong = [finding for finding in findings if finding.error is not None]
    if as_json:
        reported = [{"file": str(f.path), "error": f.error, "errors": list(f.every)} for f in findings]
        write_out(json.dumps({"ok": not wrong, "files": reported}))
    errors = Screen(stderr=True, errors=True)
    for finding in wrong:
        for message in finding.every:
            errors.print(line(("bold red", "error: "), message))
    good = len(findings) - len(wrong)
    Screen(quiet=as_json).print(
        f"{good} of {count(len(findings), 'file')} {'is' if len(findings) == 1 else 'are'} valid"
    )
    if wrong:
        sys.exit(2)


def schema(out: Annotated[Path, typer.Option(help="Folder for the schemas; created if missing.")]) -> None:
    """Run ``uavsim schema``."""
    from uavsim.config.schema import schema_texts

    folder, texts = ResultPath.open(out), schema_texts()
    for name, text in texts.items():
        write_whole(folder / str(name), text.encode())
    Screen().print(f"{out}: {len(texts)} schemas")
