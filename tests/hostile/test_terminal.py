"""Names and reasons from a dataset reach the terminal as text: no escape sequences, no markup, no crash."""

import io
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.table import Table

from tests.e2e.command import uavsim
from tests.hostile.datasets import edit_first
from uavsim.escape import visible
from uavsim.store.ledger import LedgerEntry, write_entry
from uavsim.store.local import LocalOutput
from uavsim.terminal import Screen, line

NASTY = [
    "[/x]",
    "[bold]gone[/bold]",
    "\x1b[2J\x1b[31mred",
    "a\rb",
    "\u202egpj.exe",
    "\ud800",
    "x\ny",
    ":smile:",
    "\x9b31m",
]


def printed(*objects: object) -> str:
    file = io.StringIO()
    screen = Screen(file=file, width=300)
    for item in objects:
        screen.print(item)
    return file.getvalue()


def harmless(text: str) -> bool:
    return all(c == "\n" or c.isprintable() or c == " " for c in text)


@given(st.text(st.characters(), max_size=60))
def test_strings_lines_and_cells_are_printed_verbatim(text: str) -> None:
    table = Table("head")
    table.add_row(text)
    out = printed(text, line(("bold", text), text), table)
    assert harmless(out)
    assert visible(text) == out.split("\n", maxsplit=1)[0] or not visible(text).strip() or len(visible(text)) > 290


@pytest.mark.parametrize("text", NASTY)
def test_harmful_text_is_one_harmless_line(text: str) -> None:
    out = printed(text)
    assert harmless(out)
    assert out.count("\n") == 1
    if text.isprintable():
        assert out == f"{text}\n"


def test_closed_reader_does_not_end_the_work() -> None:
    class Gone(io.StringIO):
        def write(self, text: str) -> int:
            raise BrokenPipeError

    screen = Screen(file=Gone())
    screen.print("one")
    screen.print("two")
    assert screen.quiet


@pytest.fixture(scope="module")
def nasty(tiny: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A dataset with control characters and markup in names and reasons."""
    root = Path(shutil.copytree(tiny, tmp_path_factory.mktemp("nasty") / "set"))
    edit_first(root, "scene", name="[/x]\x1b[31m")
    edit_first(root, "category", name="vehicle.[/bold]\x1b]0;owned\x07")
    edit_first(root, "sample_data", filename="samples/[/red]\x1b[2J.png")
    (root / ".uavsim/ledger").mkdir(parents=True)
    (root / ".uavsim/dataset.json").write_text(json.dumps({"dataset": "[/x]\x1b[5m", "seed": 0, "fingerprint": "x"}))
    write_entry(
        LocalOutput(root), LedgerEntry("scene_00", "quarantined", attempts=1, reasons=("[/x] \x1b[31m\nsecond line",))
    )
    return root


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (("validate",), 4),
        (("status",), 0),
        (("export", "out", "--format", "opv2v"), 4),
        (("convert", "out", "--dialect", "uav3d"), 4),
    ],
)
def test_commands_print_harmless_text(nasty: Path, tmp_path: Path, arguments: tuple[str, ...], code: int) -> None:
    command, *rest = [str(tmp_path / "out") if a == "out" else a for a in arguments]
    done = uavsim(command, nasty, *rest)
    assert done.returncode == code, done.stderr
    assert harmless(done.stdout + done.stderr)
    assert "Traceback" not in done.stderr
    assert len(done.stderr.splitlines()) <= 1


@pytest.mark.parametrize(
    "closed", [(0, 1, 2), *(pytest.param((number,), marks=pytest.mark.release) for number in range(3))]
)
def test_closed_descriptors(nasty: Path, tmp_path: Path, closed: tuple[int, ...]) -> None:
    """No file gets the number of a closed standard stream: prints would go into it."""
    shut = " ".join(f"{n}{'<' if n == 0 else '>'}&-" for n in closed)
    done = subprocess.run(
        ["bash", "-c", f"exec {sys.executable} -m uavsim status {nasty} --json {shut}"], check=False, timeout=120
    )
    assert done.returncode == 0


def test_a_full_device_is_reported_and_a_closed_pipe_is_not(nasty: Path) -> None:
    command = [sys.executable, "-m", "uavsim", "status", str(nasty), "--json"]
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert done.returncode == 3
    assert done.stderr.count("\n") == 1
    assert "No space left" in done.stderr
    read, write = os.pipe()
    os.close(read)
    done = subprocess.run(command, stdout=write, stderr=subprocess.PIPE, text=True, check=False)
    os.close(write)
    assert (done.returncode, done.stderr) == (0, "")
