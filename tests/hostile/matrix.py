# ruff: noqa: T201 - printing is its job
"""Every environment and every damage against the commands: judged by exit code, one line, processes, foreign files.

A row passes when the exit code is one that the README lists for it, standard error holds at most one line that says ``error:``
and no traceback, nothing that a terminal would obey is printed, no process is left, and no file of others is changed.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import psutil

from tests.dataset_factory import make_dataset
from tests.hostile import canaries
from tests.hostile.damages import DAMAGES, NEW, NOTES
from tests.hostile.surroundings import SURROUNDINGS, Surrounding

COMMANDS: dict[
    str, tuple[list[str], tuple[int, ...]]
] = {  # with SET and OUT filled in -> exit codes on the good data set
    "status": (["status", "SET", "--json"], (0,)),
    "validate": (["validate", "SET", "--workers", "1"], (0,)),
    "convert": (["convert", "SET", "OUT", "--dialect", "uav3d"], (0,)),
    "kitti": (["export", "SET", "OUT", "--format", "kitti"], (0,)),
    "coco": (["export", "SET", "OUT", "--format", "coco"], (0,)),
    "opv2v": (["export", "SET", "OUT", "--format", "opv2v"], (0,)),
    "mmdet3d": (["export", "SET", "OUT", "--format", "mmdet3d"], (0,)),
    "annotate": (["annotate", "SET"], (0,)),
    "generate": (
        ["generate", "--dataset", "smoke", "--town", "Town10HD", "--scenes", "0", "--samples", "1", "--out", "OUT"],
        (0,),
    ),
    "secret": (["generate", "--dataset", "smoke", "--out", "s3://KEY:SEC/RET@bucket/x"], (2,)),
    "linked out": (["generate", "--dataset", "smoke", "--town", "Town10HD", "--scenes", "0", "--out", "SET"], (2,)),
}
BESIDE_EXPORTS = ("map leaves", "split leaves", "deep splits", "32000 pixels", "time 10^30")  # not read by each of them
LIMIT_S = 420.0


@dataclass
class Row:
    """One trial."""

    name: str
    command: str
    codes: tuple[int, ...]
    surrounding: Surrounding = SURROUNDINGS[0]
    damage: Callable[[Path], None] | None = None
    new: bool = False


def rows() -> list[Row]:
    """Return the whole matrix."""
    found = []
    for surrounding in SURROUNDINGS:
        for command in ("status", "validate", "kitti"):
            codes = surrounding.codes or (
                (0, 3) if surrounding.name in {"40 open files", "no temporary folder"} else (0,)
            )
            if surrounding.name == "nobody without a home" and command == "kitti":
                codes = (0, 3)  # the target's folder is not this user's
            if surrounding.name == "umask 0777":
                codes = (0, 3)
            found.append(Row(f"{surrounding.name}: {command}", command, codes, surrounding, new=surrounding.new))
    for number, (name, damage) in enumerate(DAMAGES.items()):
        others = ("convert", "kitti", "coco", "opv2v", "mmdet3d")
        for command in ("validate", others[number % len(others)]):
            lenient = name in {"markup in a scene", "damaged info"} or number >= NEW
            lenient |= command != "validate" and name in BESIDE_EXPORTS
            codes = (0, 4) if lenient else (4,)
            found.append(Row(f"{name}: {command}", command, codes, damage=damage, new=number >= NEW))
    for name, damage in NOTES.items():
        for command in ("status", "annotate"):
            found.append(
                Row(f"{name}: {command}", command, (0, 2, 3, 4), damage=damage, new="fifo" in name or "link" in name)
            )
    by_name = {s.name: s for s in SURROUNDINGS}
    for name in ("plain", "proxy", "prefect's variables", "modules in the current folder", "reader gone"):
        found.append(Row(f"{name}: generate", "generate", (0,), by_name[name]))
    found.append(Row("40 open files: generate", "generate", (3,), by_name["40 open files"]))
    found.append(Row("credentials in the address", "secret", (2,)))
    found.append(
        Row("linked root: generate", "linked out", (2,), damage=lambda root: (root / "lidarseg").symlink_to("/etc"))
    )
    return found


class Matrix:
    """Runs rows, each in a folder of its own, beside the same canary tree."""

    def __init__(self, work: Path) -> None:
        self.work = work
        self.good = make_dataset(work / "good", scenes=1, samples=2, sweeps=0, drones=1, size_px=(64, 36))
        notes = self.good / ".uavsim"
        (notes / "ledger").mkdir(parents=True)
        (notes / "recordings/scene_00").mkdir(parents=True)
        (notes / "fragments").mkdir()
        (notes / "dataset.json").write_text(json.dumps({"dataset": "tiny", "seed": 0, "fingerprint": "x"}))
        (notes / "ledger/scene_00.json").write_text(
            json.dumps({"scene": "scene_00", "state": "quarantined", "reasons": ["x"]})
        )

    def judge(self, row: Row) -> list[str]:
        """Run one row; returns what is wrong."""
        folder = Path(tempfile.mkdtemp(prefix="row-", dir=self.work))
        folder.chmod(0o755)
        root, beside = folder / "set", folder / "beside"
        shutil.copytree(self.good, root, symlinks=True)
        canaries.plant(root, beside)
        for stranger in (
            "predictions.json",
            "results",
        ):  # the validator reads every table that it knows; these are none
            assert (root / "v1.0-mini" / stranger).exists()
        if row.damage is not None:
            row.damage(root)
        (folder / "cwd").mkdir()
        row.surrounding.prepare(folder / "cwd")
        before = canaries.fingerprints(root, beside)
        began = time.monotonic()
        code, out, err = self._run(row, folder)
        wrong = [] if code in row.codes else [f"exit code {code}, not {row.codes}: {err.strip()[-300:]}"]
        lines = [line for line in err.splitlines() if line.startswith("error:")]
        if len(lines) > 1 or "Traceback" in err:
            wrong.append(f"{len(lines)} error lines, or a traceback: {err.strip()[-400:]}")
        if code not in {0} and not lines and "closed" not in row.name and "reader" not in row.name:
            wrong.append(f"exit code {code} without an error line: {err.strip()[-300:]}")
        if any(not (c.isprintable() or c in "\n ") for c in (out + err)) and "colours" not in row.name:
            wrong.append("control characters reach the terminal")
        if "SEC/RET" in out + err:
            wrong.append("a secret is printed")
        wrong += [f"foreign: {name}" for name in canaries.changed(before, canaries.fingerprints(root, beside))]
        wrong += [f"process left: {process}" for process in self._left(folder)]
        if time.monotonic() - began > LIMIT_S:
            wrong.append("takes too long")
        shutil.rmtree(folder, ignore_errors=True)
        return wrong

    def _run(self, row: Row, folder: Path) -> tuple[int, str, str]:
        arguments = [
            a.replace("SET", str(folder / "set")).replace("OUT", str(folder / "out")) for a in COMMANDS[row.command][0]
        ]
        command = [sys.executable, "-P", "-m", "uavsim", *arguments]
        env = {**os.environ, "UAVSIM_ROW": str(folder), "DO_NOT_TRACK": "1"}
        for name, value in row.surrounding.env.items():
            env.pop(name, None)
            if value is not None:
                env[name] = value
        if row.surrounding.shell:
            quoted = " ".join(f"'{part}'" for part in command)
            command = ["bash", "-c", f"set -o pipefail; {quoted} {row.surrounding.shell}"]
        before = row.surrounding.before
        done = subprocess.Popen(
            command, cwd=folder / "cwd", env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            preexec_fn=lambda: before(folder / "cwd"),
        )  # fmt: skip
        try:
            out, err = done.communicate(timeout=LIMIT_S)
        except subprocess.TimeoutExpired:
            done.kill()
            out, err = done.communicate()
        return done.returncode, out.decode(errors="replace"), err.decode(errors="replace")

    def _left(self, folder: Path) -> list[str]:
        end = time.monotonic() + 5.0
        while True:
            left = []
            for process in psutil.process_iter():
                try:
                    if process.environ().get("UAVSIM_ROW") == str(folder) and process.status() != psutil.STATUS_ZOMBIE:
                        left.append(f"{process.pid} {process.name()}")
                except psutil.Error:
                    continue
            if not left or time.monotonic() > end:
                return left
            time.sleep(0.1)


def main() -> int:
    """Run the matrix; 0 when every row holds."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--only", default="", help="rows whose name holds this")
    parser.add_argument("--all", action="store_true", help="tell rows that hold, too")
    parser.add_argument("--workers", type=int, default=2)
    options = parser.parse_args()
    began, failed = time.monotonic(), 0
    chosen = [row for row in rows() if options.only in row.name]
    with tempfile.TemporaryDirectory(prefix="uavsim-hostile-", ignore_cleanup_errors=True) as work:
        Path(work).chmod(0o755)
        matrix = Matrix(Path(work))
        with ThreadPoolExecutor(options.workers) as pool:
            for row, wrong in zip(chosen, pool.map(matrix.judge, chosen), strict=True):
                failed += bool(wrong)
                if options.all and not wrong:
                    print(f"holds {row.name}", flush=True)
                if wrong:
                    print(f"FAILS {row.name}: {wrong}", flush=True)
    minutes = (time.monotonic() - began) / 60
    print(
        f"{len(chosen)} rows ({sum(row.new for row in chosen)} of kinds not named before), {failed} failed, {minutes:.1f} min"
    )
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
