"""Find changes of third-party libraries and uses of their private names in shipped code, tools and conftests.

Exit code 1 if there are any.
"""

import re
import subprocess
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

from tools.common import ROOT
from tools.quality.foreign import ALLOWED, foreign_changes


def python_files(root: Path) -> list[str]:
    """Return the Python files that git tracks or would track."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "--deduplicate", "*.py"]
    names = subprocess.run(command, cwd=root, check=True, capture_output=True, text=True).stdout.split()
    return [name for name in names if (root / name).is_file()]


def own_names(names: Iterable[str]) -> set[str]:
    """Return the top-level names of this repository: in its root, each ``src``, and two folders of packages."""
    base = re.compile(r"(?:packages/(?:\w+/src|headless_simulator|baselines)/)?([^/]+?)(?:/.*|\.py)$")
    return {match[1] for name in names if (match := base.match(name))}


def foreign_findings(name: str, text: str, *, local_names: set[str]) -> Iterator[str]:
    """Yield a line for each change or private name of a library, except in programs for other environments."""
    ours_all = name.startswith(("uavsim/", "tools/")) and not name.startswith("tools/environments/")
    if ours_all or "/src/" in name or name.endswith("conftest.py"):
        for line, dotted, wrong in foreign_changes(text, local_names=local_names):
            if (name, dotted) not in ALLOWED:
                yield f"{name}:{line}: {dotted} {wrong}: it belongs to another distribution"


def main() -> int:
    """Print all findings."""
    texts = {name: (ROOT / name).read_text("utf-8") for name in python_files(ROOT)}
    local_names = own_names(texts)
    found = [line for name, text in texts.items() for line in foreign_findings(name, text, local_names=local_names)]
    sys.stderr.write("".join(f"{line}\n" for line in found))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
