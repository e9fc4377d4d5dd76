"""Third-party packages as installed by pip: a module and its ``dist-info`` with entry points."""

import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path


def install_plugin(folder: Path, name: str, *, group: str, adds: Mapping[str, str], source: str) -> str:
    """Install the package ``name`` 1.2 into a separate folder; returns the entry for ``sys.path``.

    Args:
        folder: folder of all packages of the test.
        name: name of the distribution and its module.
        group: group of the entry points.
        adds: entry point -> ``module:object``.
        source: source text of the module.
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
    """Run the command line in a process with the package of ``site``; returns its output."""
    program = f"import sys; sys.path.insert(0, {site!r}); from uavsim.cli import main; main()"
    done = subprocess.run([sys.executable, "-c", program, *arguments], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout
