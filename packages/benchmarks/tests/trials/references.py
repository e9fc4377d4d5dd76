"""Ask the benchmarks' own programs, in checkouts that are not ours to commit, and hold our scores against their answers.

    PYTHONPATH=.:packages/benchmarks/tests .venv/bin/python -m trials.references NAME CHECKOUT [--python PYTHON] [--write]

NAME is one of airv2x, griffin, uav3d, where2comm, aot, openad and aircopbench. PYTHON is an interpreter with what the
program needs, where the judges' environment lacks it. With --write the answers are stored for the tests. Prints how many
were compared.
"""

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

from evaluate.references import REFERENCES, STORED
from tools.common import ROOT
from uavsim.validate.devkit_process import judge_python


def main() -> int:
    """Ask, compare, and store if that is asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("name", choices=sorted(REFERENCES))
    parser.add_argument("checkout", type=Path)
    parser.add_argument("--python", help="interpreter; default: the judges'")
    parser.add_argument("--write", action="store_true", help="store the answers")
    options = parser.parse_args()
    reference = REFERENCES[options.name]
    if reference.needs and options.python is None:
        parser.error(f"{options.name} needs --python, an interpreter with {reference.needs}")
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        cases = reference.cases(work)
        (work / "cases.json").write_text(json.dumps(cases))
        program = ROOT / "packages/benchmarks/reference" / f"{reference.program}.py"
        command = [options.python or str(judge_python()), "-W", "ignore", str(program)]
        command += [str(options.checkout.resolve()), str(work / "cases.json")]
        output = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout
        answers = reference.keep(json.loads(output))
        compared = reference.compare(cases, answers)
    if options.write:
        STORED.mkdir(exist_ok=True)
        stored = {"from": reference.repository, "answers": answers}
        (STORED / f"{options.name}.json").write_text(json.dumps(stored, separators=(",", ":")) + "\n")
    sys.stdout.write(f"{options.name}: {compared} compared, equal to 1e-9\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
