"""Where a dataset lies and what stands where its result is to go: names and places that nobody would choose."""

import os
import socket
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

NAMES: dict[str, str] = {  # kind -> name of the dataset's folder
    "blanks and quotes": "my 'data' \"set\" $HOME `id` ;&",
    "line feed": "two\nlines",
    "no UTF-8": os.fsdecode(b"set\xff\xfe"),
    "markup": "[bold]set[red]",
    "escape": "\x1b[31mset",
    "200 letters": "x" * 200,
    "address": "s3:",
    "percent and hash": "%s%d#?a=b",
    "right to left": "\u202etes",
}


@dataclass(frozen=True, slots=True)
class Out:
    """What stands where the result is to go.

    Attributes:
        make: puts it there; gets the path, and the dataset's folder.
        code: of an export.
        run: exit code of a run; None where none is tried.
        home: it is the user's home.
        place: where the result is to go, below the row's folder.
    """

    make: Callable[[Path, Path], object]
    code: int
    run: int | None = None
    place: str = "out"
    home: bool = False


def _socket(path: Path, _: Path) -> None:
    before = Path.cwd()
    os.chdir(path.parent)  # the name of a socket may have a hundred bytes
    try:
        with socket.socket(socket.AF_UNIX) as made:
            made.bind(path.name)
    finally:
        os.chdir(before)


def _linked(path: Path, root: Path) -> None:
    (root.parent / "elsewhere").mkdir()
    path.symlink_to(root.parent / "elsewhere")


def _repository(path: Path, _: Path) -> None:
    for name in (".git/HEAD", ".git/config", "src/main.c"):
        (path / name).parent.mkdir(parents=True, exist_ok=True)
        (path / name).write_text(f"of somebody else: {name}")


def _home(path: Path, _: Path) -> None:
    for name in (".bashrc", ".ssh/id_ed25519", "Documents/thesis.tex", "all/drone_0/label/scene_00_000000.txt.bak"):
        (path / name).parent.mkdir(parents=True, exist_ok=True)
        (path / name).write_text(f"of somebody else: {name}")


def _linked_inside(path: Path, root: Path) -> None:
    (root.parent / "elsewhere").mkdir()
    path.mkdir()
    (path / "all").symlink_to(root.parent / "elsewhere")


OUTS: dict[str, Out] = {
    "a file": Out(lambda path, _: path.write_text("of somebody else"), 2, run=2),
    "a pipe": Out(lambda path, _: os.mkfifo(path), 2, run=2),
    "a socket": Out(_socket, 2),
    "a link to nowhere": Out(lambda path, _: path.symlink_to("/nonexistent/x"), 2, run=2),
    "a link to itself": Out(lambda path, _: path.symlink_to(path.name), 2, run=2),
    "a link to a folder": Out(_linked, 0),  # the user named it: new files there are what was asked for
    "a folder that holds a link to a folder": Out(_linked_inside, 2, run=2),
    "a repository": Out(_repository, 0, run=2),
    "the home": Out(_home, 0, run=2, home=True),
    "below a file": Out(lambda path, _: path.parent.write_text("of somebody else"), 2, run=2, place="file/out"),
    "inside the dataset": Out(lambda *_: None, 2, place="set/out"),
    "the dataset": Out(lambda *_: None, 2, run=2, place="set"),
    "a device": Out(lambda path, _: path.symlink_to("/dev/full"), 2, run=2),
    "in a folder of the system": Out(lambda *_: None, 3, run=3, place="/proc/uavsim"),
}
