"""``uavsim list``: the names for options, one line each."""

import json
import re
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Annotated, Final

import typer

from uavsim.cli.options import JsonOption
from uavsim.config.library import Library, folders
from uavsim.errors import ConfigError, UavsimError
from uavsim.files.parse import read_regular
from uavsim.registry import Registry
from uavsim.terminal import Screen, write_out

__all__ = ["LISTS", "list_names"]

_SENTENCE: Final = re.compile(r"(?<=\.)\s")
_FOR_EDITORS: Final = "# yaml-language-server"


def list_names(
    kind: Annotated[str | None, typer.Argument(help="formations, rigs, weathers, ...; without it, every list.")] = None,
    *,
    as_json: JsonOption = False,
) -> None:
    """Run ``uavsim list``."""
    found = {name: LISTS.pick(name)() for name in ([kind] if kind is not None else LISTS.names())}
    if as_json:
        write_out(json.dumps(found))
        return
    texts = found[kind] if kind is not None else {name: ", ".join(lines) for name, lines in found.items() if lines}
    wide, screen = max(map(len, texts), default=0), Screen()
    for name, text in texts.items():
        row = f"{name:<{wide}}  {text}".rstrip()
        if screen.is_terminal and kind is not None:
            screen.print(row, soft_wrap=False, no_wrap=True, overflow="ellipsis")
        else:
            screen.print(row)


def _files(kind: str) -> Mapping[str, str]:
    """Return the configurations of one kind in the search path: name -> description."""
    return {name: _first_sentence(path) for name, path in Library.of().names(kind).items()}


def _towns() -> Mapping[str, str]:
    """Return the towns by their names in CARLA."""
    library, found = Library.of(), {}
    for stem, path in library.names("town").items():
        try:
            found[library.town(stem).model.name] = _first_sentence(path)
        except ConfigError as error:
            found[stem] = str(error)
    return found


def _weathers() -> Mapping[str, str]:
    """Return the weathers of the search path and CARLA's presets."""
    from uavsim.plan.weather import PRESETS

    return {**_files("weather"), **dict.fromkeys(PRESETS, "CARLA's preset")}


def _first_sentence(path: Path) -> str:
    """Return the first sentence of a file's leading comment, or its path without one."""
    comment = []
    try:
        lines = read_regular(path).decode("utf-8", "replace").splitlines()
    except UavsimError as error:
        return str(error)
    for text in lines:
        if not text.startswith("#"):
            break
        if not text.startswith(_FOR_EDITORS):
            comment.append(text.strip("# "))
    return _SENTENCE.split(" ".join(comment))[0] or str(path)


def _exports() -> Mapping[str, str]:
    from uavsim.exports.formats import EXPORTERS, FORMATS

    return {name: FORMATS.get(name) or _docstring(EXPORTERS.pick(name)) for name in EXPORTERS.names()}


def _docstring(function: Callable[..., object]) -> str:
    return (function.__doc__ or "of an installed package").strip().partition("\n")[0]


def _topologies() -> Mapping[str, str]:
    from uavsim.config.backends import BACKENDS

    backends = {name: BACKENDS.pick(name) for name in BACKENDS.names()}
    return {
        name: f"{' and '.join(server.title for server in backend.servers)}; images by {backend.sensors_from}"
        for name, backend in backends.items()
    }


def _of_folders() -> dict[str, Callable[[], Mapping[str, str]]]:
    others = {folder: partial(_files, kind) for kind, folder in folders().items() if kind not in ("routes", "weather")}
    return {**others, "weathers": _weathers, "towns": _towns}


LISTS: Final[Registry[Callable[[], Mapping[str, str]]]] = Registry(
    "lists", {**_of_folders(), "topologies": _topologies, "exports": _exports}, expects=Callable
)
"""Lists by name; each returns name -> line. Installed packages add theirs (``uavsim.lists``)."""
