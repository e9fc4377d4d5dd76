"""All tests named in SECURITY.md exist."""

import re
from pathlib import Path

ROOT = Path(__file__).parent.parent


def test_every_promise_names_tests_that_exist() -> None:
    section = (ROOT / "SECURITY.md").read_text("utf-8").split("## What is promised")[1].split("\n## ")[0]
    rows = [line for line in section.splitlines() if line.startswith("| ")][1:]
    assert len(rows) >= 15
    for row in rows:
        named = re.findall(r"`((?:tests|packages)/[^`]+)`", row)
        assert named, f"no test: {row}"
        for test in named:
            path, _, function = test.partition("::")
            text = (ROOT / path).read_text("utf-8")
            assert f"def {function}(" in text if function else "def test_" in text, test
