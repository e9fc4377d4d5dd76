"""Broken files: always one clear message with file, line and key, exit code 2, under 2 s, and nothing else.

``test_load.py`` tests refusals of YAML syntax (aliases, depth, tags, second documents).
"""

import itertools
import re
import sys
import time
from pathlib import Path

import pytest

from tests.config.mutate import Mutator
from uavsim.cli import configs, main

COUNT = 500


@pytest.fixture
def check(tmp_path, monkeypatch, capsys):
    """Run ``uavsim check`` on one broken file in this process: exit code, stdout, stderr, seconds of processor time.

    Every 25th file runs the whole command line; the others call the command function, which starts faster.
    """
    monkeypatch.chdir(tmp_path)

    count = itertools.count()

    def check(broken):
        path = tmp_path / broken.name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(broken.data)
        monkeypatch.setattr(sys, "argv", ["uavsim", "check", broken.name])
        start = time.process_time()
        try:
            if next(count) % 25:
                configs.check([Path(broken.name)])
            else:
                main()
            code = 0
        except SystemExit as done:
            code = int(done.code or 0)
        took_s = time.process_time() - start
        path.unlink()
        said = capsys.readouterr()
        return code, said.out, said.err, took_s

    return check


def complaint(broken, code, out, err, took_s):
    """Return the difference from the documented behaviour, or None."""
    lines = err.splitlines()
    found = [re.match(rf"error: {re.escape(broken.name)}:(\d+): (.+)", line) for line in lines]
    if code != 2:
        return f"exit code {code}"
    if not lines or not all(found):
        return "not lines with file and line"
    numbers = [int(match[1]) for match in found]
    if numbers != sorted(numbers) or len(lines) > 20:
        return "not in the order of lines, or too many"
    if "Traceback" in err + out or max(map(len, lines)) > 600 or not all(line.isprintable() for line in lines):
        return "not a clear message"
    last = re.split(r"[.\[]", broken.key)[0]
    if broken.key and last not in err:
        return f"does not name {broken.key}"
    if broken.line is not None and broken.line not in numbers:
        return f"points at lines {numbers}, not {broken.line}"
    if took_s > 2.0:
        return f"took {took_s:.1f} s"
    return None


def test_500_broken_files(check):
    broken_files = Mutator(seed=20240101).many(COUNT)
    assert len({broken.what for broken in broken_files}) == 9
    assert len({(broken.name, broken.data) for broken in broken_files}) == COUNT
    wrong = []
    for broken in broken_files:
        result = check(broken)
        problem = complaint(broken, *result)
        if problem:
            wrong.append(f"{broken.what}: {problem}: key {broken.key!r}\n{result[2]}\n{broken.data[:300]!r}")
    assert not wrong, f"{len(wrong)} of {COUNT}:\n" + "\n---\n".join(wrong[:10])
