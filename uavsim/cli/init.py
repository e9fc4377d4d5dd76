"""``uavsim init``: commented and valid YAML files to start from."""

import re
from importlib import resources
from pathlib import Path
from typing import Annotated, Final

import typer

from uavsim.config.library import Library
from uavsim.config.schema import schema_texts
from uavsim.environment import own_command
from uavsim.errors import InputError
from uavsim.files.whole import write_whole
from uavsim.plan.route_maker import make_routes
from uavsim.terminal import Screen

_ROOT: Final = Path("flight_plans")
_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]*")
_COMMENT_COLUMN: Final = 30  # where the comments of the starters begin
_FOLDERS: Final = {"dataset": "datasets", "formation": "formations", "rig": "rigs", "weather": "weather"}


def init(
    *,
    dataset: Annotated[str | None, typer.Option(help="Name of a new dataset; default: mine.")] = None,
    formation: Annotated[str | None, typer.Option(help="Name of a new formation.")] = None,
    rig: Annotated[str | None, typer.Option(help="Name of a new rig.")] = None,
    weather: Annotated[str | None, typer.Option(help="Name of a new weather.")] = None,
    routes: Annotated[str | None, typer.Option(help="Town of new routes, such as Town03.")] = None,
) -> None:
    """Run ``uavsim init``."""
    parts = {"formation": formation, "rig": rig, "weather": weather}
    named = {kind: name for kind, name in parts.items() if name is not None}
    if dataset is not None or not (named or routes):
        named["dataset"] = dataset or "mine"
    files = {_path(kind, name): _template(kind) for kind, name in named.items()}
    if routes is not None:
        town = Library.of().town(routes).model
        files[_ROOT / f"{town.name.lower()}.yaml"] = make_routes(town, rows=2, columns=2)
    if "dataset" in named:
        path = _path("dataset", named["dataset"])
        for kind in set(named) - {"dataset"}:
            line = f"{kind}: {named[kind]} ".ljust(_COMMENT_COLUMN)
            files[path] = re.sub(rf"^{kind}: \S+ *", line, files[path], flags=re.M)
        if routes is not None:
            chosen = f"[{town.short_name}_row1_col1, {town.short_name}_row1_col2]"
            files[path] = re.sub(
                r"^  Town10HD: {routes: \[.*?\]", f"  {town.name}: {{routes: {chosen}", files[path], flags=re.M
            )
    if taken := [path for path in files if path.exists()]:
        raise InputError(f"{taken[0]}: the file exists; choose another name")
    for path, text in files.items():
        write_whole(path, text.encode())
    for name, text in schema_texts().items():
        write_whole(_ROOT / ".schemas" / name, text.encode())
    screen = Screen()
    for path in files:
        screen.print(f"{path}: written")
    screen.print("next:")
    screen.print(f"  {own_command()} check {_ROOT}")
    screen.print(f"  {own_command()} preview --dataset {named.get('dataset', 'smoke')}" + _options(named))


def _path(kind: str, name: str) -> Path:
    if not _NAME.fullmatch(name):
        raise InputError(f"--{kind} {name}: use letters, digits, - and _ only; the name becomes a file name")
    return _ROOT / _FOLDERS[kind] / f"{name}.yaml"


def _template(kind: str) -> str:
    return (resources.files("uavsim.config") / "starters" / f"{kind}.yaml").read_text(encoding="utf-8")


def _options(named: dict[str, str]) -> str:
    """Return the command line options that use the new files with a shipped dataset."""
    return "" if "dataset" in named else "".join(f" --{kind} {name}" for kind, name in named.items())
