# ruff: noqa: T201 - printing is its job
"""Run the commands in every hostile environment and on every damaged dataset.

    python -m tests.hostile.matrix [--only WORDS]

A row passes when the exit code is the one that the README lists, standard error holds at most one ``error:`` line and no
traceback, no control character is printed, no process is left, no foreign file is changed, and the result, or the output,
has the bytes of the same command in plain surroundings.
"""

import argparse
import itertools
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import psutil

from tests.hostile import canaries
from tests.hostile.damages import DAMAGES, NOTES
from tests.hostile.datasets import WRITING, filled, make_tiny
from tests.hostile.surroundings import NAMES, OUTS, SURROUNDINGS, Out, Surrounding
from tools.common.leftovers import contents, differing
from tools.common.small_dataset import one_scene
from uavsim.store.ledger import LedgerEntry, write_entry
from uavsim.store.local import LocalOutput

COMMANDS: dict[str, str] = {
    **WRITING,
    "status": "status SET --json",
    "validate": "validate SET --workers 1",
    "v2xsim": "export SET OUT --format v2xsim",
    "publish": "publish SET --out OUT --date 2026-01-01",
    "events": "events SET --out OUT --workers 2",
    "annotate": "annotate SET",
    "generate": f"generate {' '.join(one_scene(1))} --out OUT",
    "secret": "generate --dataset smoke --out s3://KEY:SEC/RET@bucket/x",
    "linked out": "generate --dataset smoke --town Town10HD --scenes 0 --out SET",
}
NOT_READ = {  # damage -> command that succeeds because it does not read the damaged part
    "32000 pixels": "opv2v", "4 billion pixels": "v2xsim", "time 10^30": "v2xsim",
    "deep splits": "mmdet3d", "damaged info": "validate", "huge coordinates": "opv2v",
    "bool for a time": "convert", "scene in circles": "v2xsim", "2^70 pixels wide": "convert", "mask cut off": "v2xsim",
}  # fmt: skip
NOTES_CODES = {"ledger garbage": (3, 3), "ledger deep": (3, 3), "ledger of another": (3, 3), "dataset.json garbage": (3, 2),
               "dataset.json deep": (3, 2)}  # fmt: skip
"""Exit codes of ``status`` and ``annotate``; for other notes ``status`` succeeds and ``annotate`` finds no scene."""
DECODED = {
    "2^70 pixels wide": ("publish", "video"),
    "mask cut off": ("coco", "events"),
    "32000 pixels": ("events", "video"),
}
"""Damages that only commands which decode pixels find."""
LIMIT_S = 420.0


@dataclass
class Row:
    """One command under one hostile condition, with its exit code."""

    name: str
    command: str
    code: int
    surrounding: Surrounding = SURROUNDINGS[0]
    damage: Callable[[Path], object] | None = None
    name_of_set: str = "set"
    out: Out | None = None


def rows() -> list[Row]:
    """Return the whole matrix."""
    found = [
        Row(f"{surrounding.name}: {command}", command, surrounding.codes.get(command, 0), surrounding)
        for surrounding in SURROUNDINGS
        for command in surrounding.only
    ]
    damaged = []
    for name, other in zip(DAMAGES, itertools.cycle(("convert", "v2xsim", "coco", "opv2v", "mmdet3d")), strict=False):
        damaged += [(name, command, 0 if NOT_READ.get(name) == command else 4) for command in ("validate", other)]
    damaged += [(name, command, 4) for name, commands in DECODED.items() for command in commands]
    for name in NOTES:
        damaged += [(name, *one) for one in zip(("status", "annotate"), NOTES_CODES.get(name, (0, 2)), strict=True)]
    found += [
        Row(f"{name}: {command}", command, code, damage=(DAMAGES | NOTES)[name]) for name, command, code in damaged
    ]
    found.append(Row("credentials in the address", "secret", 2))
    found.append(
        Row("linked root: generate", "linked out", 2, damage=lambda root: (root / "lidarseg").symlink_to("/etc"))
    )
    found += [
        Row(f"dataset named with {kind}: {command}", command, 0, name_of_set=name)
        for kind, name in NAMES.items()
        for command in ("status", "opv2v")
    ]
    for kind, out in OUTS.items():
        codes = {"opv2v": out.code} | ({} if out.run is None else {"generate": out.run})
        found += [Row(f"result goes to {kind}: {command}", command, code, out=out) for command, code in codes.items()]
    return found


class Matrix:
    """Runs rows, each in its own folder with the same foreign files."""

    def __init__(self, work: Path) -> None:
        self.work = work
        self._plain = dict[str, dict[str, str]]()
        self.good = make_tiny(work / "good")
        for folder in ("ledger", "recordings/scene_00", "fragments"):
            (self.good / ".uavsim" / folder).mkdir(parents=True)
        (self.good / ".uavsim/dataset.json").write_text(json.dumps({"dataset": "tiny", "seed": 0, "fingerprint": "x"}))
        write_entry(LocalOutput(self.good), LedgerEntry("scene_00", "quarantined", reasons=("x",)))

    def failures(self, row: Row) -> list[str]:
        """Run one row and list its failures."""
        folder = Path(tempfile.mkdtemp(prefix="row-", dir=self.work))
        folder.chmod(0o755)
        root, beside = folder / row.name_of_set, folder / "beside"
        shutil.copytree(self.good, root, symlinks=True)
        canaries.plant(root, beside)
        if row.damage is not None:
            row.damage(root)
        if row.out is not None:
            row.out.make(folder / row.out.name, root)
        occupied = self._occupied(folder, row).items()
        (folder / "cwd").mkdir()
        row.surrounding.prepare(folder / "cwd")
        if row.command == "validate":
            (root / "link_out").unlink()  # the validator rightly reports it
        if row.command == "convert":
            (root / "v1.0-mini/predictions.json").unlink()  # convert rightly refuses an unknown table
        before = canaries.fingerprints(root, beside)
        code, out, err = self._run(row, folder)
        found = [] if code == row.code else [f"exit code {code}, not {row.code}: {err.strip()[-300:]}"]
        lines = [line for line in err.splitlines() if line.startswith("error:")]
        if len(lines) > 1 or "Traceback" in err:
            found.append(f"{len(lines)} error lines, or a traceback: {err.strip()[-400:]}")
        if code and not lines and "closed" not in row.name and "reader" not in row.name:
            found.append(f"exit code {code} without an error line: {err.strip()[-300:]}")
        if any(not (c.isprintable() or c in "\n ") for c in (out + err)) and "colours" not in row.name:
            found.append("control characters reach the terminal")
        if "SEC/RET" in out + err:
            found.append("a secret is printed")
        found += [] if code else self._unlike_plain(row, folder, out)
        found += [f"changed in the result folder: {name}" for name, _ in occupied - self._occupied(folder, row).items()]
        found += [f"foreign file: {name}" for name in sorted(before ^ canaries.fingerprints(root, beside))]
        found += [f"process left: {process}" for process in self._left(folder)]
        shutil.rmtree(folder, ignore_errors=True)
        return found

    def _run(self, row: Row, folder: Path) -> tuple[int, str, str]:
        out = folder / (row.out.name if row.out else "out")
        words = filled(COMMANDS[row.command], folder / row.name_of_set, out)
        command = [*row.surrounding.wrap, sys.executable, "-P", "-m", "uavsim", *words]
        changed = {**os.environ, "UAVSIM_ROW": str(folder), "DO_NOT_TRACK": "1", **row.surrounding.env}
        env = {name: value for name, value in changed.items() if value is not None}
        if row.out is not None and row.out.home:
            env["HOME"] = str(out)
        if shell := row.surrounding.shell:
            quoted = " ".join(f"'{part}'" for part in command)
            if shell == "TWICE":
                shell = f"& {quoted} > /dev/null 2>&1; other=$?; wait $! || exit; exit $other"
            command = ["bash", "-c", f"set -o pipefail; {quoted} {shell}"]
        try:
            done = subprocess.run(
                command, cwd=folder / "cwd", env=env, stdin=subprocess.DEVNULL, capture_output=True, check=False,
                timeout=LIMIT_S, preexec_fn=lambda: row.surrounding.before(folder / "cwd"),
            )  # fmt: skip
        except subprocess.TimeoutExpired as late:
            return -signal.SIGKILL, "", str(late)
        return done.returncode, done.stdout.decode(errors="replace"), done.stderr.decode(errors="replace")

    def _occupied(self, folder: Path, row: Row) -> dict[str, str]:
        """Hash the files of the result folder: an export may add files but change none."""
        out = folder / row.out.name if row.out is not None else None
        return {} if out is None or out == folder / "set" or out.is_symlink() else contents(out)

    def _unlike_plain(self, row: Row, folder: Path, said: str) -> list[str]:
        """List files, or output, that differ from those of the same command in plain surroundings."""
        shell = row.surrounding.shell
        if row.damage is not None or row.out is not None or shell not in {"", "TWICE", "< /dev/zero"}:
            return []
        if row.command == "status":
            comparable = not shell and row.name_of_set == "set" and "ascii" not in row.name
            made = {"said": said.replace(str(folder / row.name_of_set), "SET")} if comparable else {}
        else:
            made = contents(folder / "out")
        if not made:
            return []
        if row.name.startswith("plain: "):
            self._plain[row.command] = made
        return [
            f"other bytes than in plain surroundings: {name}" for name in differing(self._plain[row.command], made)
        ][:3]

    def _left(self, folder: Path) -> list[str]:
        """List processes of a row that still run after five seconds."""
        end = time.monotonic() + 5.0
        while (
            left := [process for process in psutil.process_iter() if _runs_in(process, folder)]
        ) and time.monotonic() < end:
            time.sleep(0.1)
        return [str(process) for process in left]


def _runs_in(process: psutil.Process, folder: Path) -> bool:
    try:
        return process.environ().get("UAVSIM_ROW") == str(folder) and process.status() != psutil.STATUS_ZOMBIE
    except psutil.Error:
        return False


def main() -> int:
    """Run the matrix; 0 when every row holds."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--only", default="", help="run the rows that contain this text")
    parser.add_argument("--workers", type=int, default=2)
    options = parser.parse_args()
    failed = 0
    chosen = [row for row in rows() if options.only in row.name]
    plain = [row for row in rows() if row.name in {f"plain: {other.command}" for other in chosen}]
    chosen = [row for row in chosen if row not in plain]
    with tempfile.TemporaryDirectory(prefix="uavsim-hostile-", ignore_cleanup_errors=True) as work:
        Path(work).chmod(0o755)
        matrix = Matrix(Path(work))
        with ThreadPoolExecutor(options.workers) as pool:
            for batch in (plain, chosen):  # the other rows are compared with the plain ones
                for row, found in zip(batch, pool.map(matrix.failures, batch), strict=True):
                    failed += bool(found)
                    if found:
                        print(f"FAILS {row.name}: {found}", flush=True)
    print(f"{len(plain) + len(chosen)} rows, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
