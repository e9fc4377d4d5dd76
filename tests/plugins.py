"""Other people's packages, as pip leaves them: a module and its ``dist-info`` with entry points."""

import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path


def install_plugin(folder: Path, name: str, *, group: str, adds: Mapping[str, str], source: str) -> str:
    """Install the package ``name`` 1.2 into a folder of its own; returns what goes onto ``sys.path``.

    Args:
        folder: of all packages of the test.
        name: of the distribution and of its one module.
        group: of the entry points.
        adds: entry point -> ``module:object``.
        source: of the module.
    """
    site = folder / f"site_{name}"
    info = site / f"{name}-1.2.dist-info"
    info.mkdir(parents=True)
    (site / f"{name}.py").write_text(source, encoding="utf-8")
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.2\n", encoding="utf-8")
    lines = [f"[{group}]", *(f"{entry} = {value}" for entry, value in adds.items())]
    (info / "entry_points.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return str(site)


def uavsim_with(site: str, *arguments: str) -> str:
    """Run the command line in a process of its own that has the package of ``site``; returns what it printed."""
    program = f"import sys; sys.path.insert(0, {site!r}); from uavsim.cli import main; main()"
    done = subprocess.run([sys.executable, "-c", program, *arguments], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout
