"""One word for one thing, the field's word: identifiers, docstrings, comments, messages and pages are searched for others.

Words come from the field's formats (nuScenes, CARLA, AirSim) and from what a researcher reads once and knows.
"""

import ast
import io
import re
import subprocess
import tokenize
from collections.abc import Iterator
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parent.parent

INSTEAD: Final = {
    r"data[ -]sets?": "dataset, as the field writes it",
    r"tells?|told|telling": "report, say, give, return; given, reported",
    r"dear|dearer|dearest": "expensive",
    r"worn": "exceeded, used up",
    r"lent|lend": "borrowed",
    r"strangers?": "foreign (files, servers), others, false positives",
    r"teachers?|taught|pupils?": "reference views, fitted",
    r"graves?": "destroyed",
    r"brains?": "controller",
    r"manieth": "stride",
    r"pilots?": "client worker",
    r"stations?": "simulator slot",
    r"spools?": "recording writer, recording reader",
    r"verdicts?": "report, check, result",
    r"pictures?": "image",
    r"desks?": "planner",
    r"wish|wishes|wished": "request, spec",
    r"sketch|sketches": "mesh builder",
    r"politely|in peace": "what happens",
    r"what is to be": "the requested, the planned ...",
    r"mends?|mended": "repair, fix",
    r"kin": "related",
    r"mock": "headless",
    r"set-ups?": "backend",
}
"""Words as whole words of a text, or parts of an identifier; what is written instead."""

ALLOWED: Final = (
    (
        "the historic value of --simulator and of a run's kind, and what follows from it",
        r"\bmock\b",
        r"--simulator|mock-?sim|mock\d|[\"'`]mock|kind|mock \(default|HOST|attach"
        r"|mock 0\.9|mock\.log|mock, command|^mock sim$",
    ),
    (
        "a module of Python's library",
        r"\bmock\b",
        r"unittest|mock\.(MagicMock|patch)|^mock$|^packages/benchmarks/reference/|trials/questions",
    ),
    (
        "surveying's and OpenDRIVE's word for a place along a line",
        r"\bstations?\b",
        r"headless_simulator/(src/headless_simulator|tests)/(towns|models|world|carla)/|docs/",
    ),
    ("CARLA's map objects", r"\bstations?\b", r"(?i)bus|gas"),
    ("knowledge distillation's word", r"\b(teachers?|taught)\b", r"packages/baselines/|docs/baselines"),
    ("a file object's method", r"\btell\b", r"^tell$"),
    ("a letter's beginning", r"\bdear\b", r"Dear diary"),
    ("the validator's class", r"\bdata set\b", r"^ ?Data Set$"),
)
"""Reason, word, and what the file's name or the text has where it may stand."""

CLAUSES: Final = ("what", "whether", "who", "whose", "how", "when", "which")
"""Words with which no docstring begins: it is a noun or a verb sentence, not a relative clause."""

SKIPPED: Final = ("LICENSE", "uv.lock", "tests/test_words.py", "tools/environments/")
WORD: Final = re.compile("|".join(f"(?P<w{i}>{pattern})" for i, pattern in enumerate(INSTEAD)), re.IGNORECASE)
CAMEL: Final = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")


def tracked(*suffixes: str) -> Iterator[Path]:
    names = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, check=True, capture_output=True, text=True).stdout
    for name in names.split("\0"):
        if name.endswith(suffixes) and not name.startswith(SKIPPED):
            yield ROOT / name


def texts(path: Path) -> Iterator[tuple[int, str]]:
    """Yield (line, words) of a file: of Python its identifiers, strings and comments, of others everything."""
    if path.suffix != ".py":
        yield from enumerate(path.read_text("utf-8").replace("_", " ").splitlines(), start=1)
        return
    for token in tokenize.generate_tokens(io.StringIO(path.read_text("utf-8")).readline):
        if token.type == tokenize.NAME:
            yield token.start[0], CAMEL.sub(" ", token.string).replace("_", " ")
        elif token.type in (tokenize.STRING, tokenize.COMMENT):
            yield from enumerate(token.string.splitlines(), start=token.start[0])


def allowed(word: str, place: str) -> bool:
    return any(re.search(known, word) and re.search(where, place) for _, known, where in ALLOWED)


def found(path: Path) -> Iterator[str]:
    whole, name = re.compile(rf"\b(?:{WORD.pattern})\b", re.IGNORECASE), str(path.relative_to(ROOT))
    for line, text in texts(path):
        for match in whole.finditer(text):
            word = match.group().lower()
            if not (allowed(word, text) or allowed(word, name)):
                yield f"{name}:{line}: {word!r}: write {list(INSTEAD.values())[int(str(match.lastgroup)[1:])]}"


def test_one_word_for_one_thing() -> None:
    everywhere = [line for path in tracked(".py", ".md", ".yaml", ".toml", ".ipynb") for line in found(path)]
    assert not everywhere, "\n" + "\n".join(everywhere)


def clauses(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            first = (ast.get_docstring(node) or "").partition(" ")[0]
            if first.lower() in CLAUSES:
                line = 1 if isinstance(node, ast.Module) else node.lineno
                yield f"{path.relative_to(ROOT)}:{line}: a docstring begins with {first!r}: write a noun or a verb sentence"


def test_docstrings_are_noun_or_verb_sentences() -> None:
    shipped = [path for path in tracked(".py") if not {"tests", "reference"} & set(path.relative_to(ROOT).parts)]
    found_there = [line for path in shipped for line in clauses(path)]
    assert not found_there, "\n" + "\n".join(found_there)
