"""Errors of third-party packages and of a host without threads are one line each, and not reported as defects of uavsim."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.plugins import install_plugin
from uavsim.cli import _unexpected

RAISES = """
import sys

class Ends(BaseException):
    pass

def leaving(request):
    sys.exit(0)

def ending(request):
    raise Ends("of their own")

def dividing(request):
    return 1 / 0

def interrupting(request):
    raise KeyboardInterrupt("of their own")

def closing(request):
    sys.stdout.close()
    return ()
"""
RUN_EACH = """
import sys
site, root, out = sys.argv[1:]
sys.path.insert(0, site)
from uavsim.cli import main
for kind in ("leaving", "ending", "dividing"):
    sys.argv = ["uavsim", "export", root, out, "--format", kind]
    try:
        main()
    except SystemExit as end:
        print(kind, end.code, file=sys.stderr)
"""


def test_a_plug_in_that_raises_whatever_is_one_line_with_its_name(strict: Path, tmp_path: Path) -> None:
    names = ("leaving", "ending", "dividing")
    adds = {name: f"raising:{name}" for name in names}
    site = install_plugin(tmp_path, "raising", group="uavsim.exporters", adds=adds, source=RAISES)
    words = [sys.executable, "-c", RUN_EACH, site, str(strict), str(tmp_path / "out")]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    lines = done.stderr.splitlines()
    assert lines[1::2] == ["leaving 2", "ending 2", "dividing 2"]
    for line, raised in zip(
        lines[::2], ("SystemExit: 0", "Ends: of their own", "ZeroDivisionError: division"), strict=True
    ):
        assert line.startswith(f"error: the package raising 1.2 raised {raised}")
        assert line.endswith("report it to its authors")


def ran(site: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    program = f"import sys; sys.path.insert(0, {site!r}); from uavsim.cli import main; main(take_signals=True)"
    return subprocess.run([sys.executable, "-c", program, *arguments], capture_output=True, text=True, check=False)


@pytest.mark.parametrize(
    ("kind", "code", "message"),
    [
        ("interrupting", 2, "an installed package raised KeyboardInterrupt"),
        ("closing", 3, "cannot write to standard output: is closed"),
    ],
)
def test_a_plug_in_that_interrupts_or_closes_standard_output(
    kind: str, code: int, message: str, strict: Path, tmp_path: Path
) -> None:
    adds = {kind: f"raising:{kind}"}
    site = install_plugin(tmp_path, "raising", group="uavsim.exporters", adds=adds, source=RAISES)
    done = ran(site, "export", str(strict), str(tmp_path / "out"), "--format", kind)
    assert (done.returncode, message in done.stderr) == (code, True), done.stderr


def test_the_overview_spells_out_the_names_of_plug_ins(tmp_path: Path) -> None:
    source = "from uavsim.cli.commands import Command\nC = Command('\\x1b[1mGroup', 'a:b', 'Help.')\n"
    site = install_plugin(tmp_path, "named", group="uavsim.commands", adds={"a\x1b[31mb": "named:C"}, source=source)
    done = ran(site, "--help")
    assert done.returncode == 0
    assert "\x1b" not in done.stdout
    assert "\\x1b[31mb" in done.stdout


def test_too_little_memory_for_a_library_is_no_mistake(capsys: pytest.CaptureFixture[str]) -> None:
    assert _unexpected(ImportError("libav.so: failed to map segment from shared object")) == 3
    assert "this machine: out of memory" in capsys.readouterr().err


def test_a_host_that_gives_no_more_threads_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    assert _unexpected(RuntimeError("can't start new thread")) == 3
    assert "this host has no processes or threads left; raise its limit (ulimit -u)" in capsys.readouterr().err
