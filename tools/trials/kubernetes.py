"""Validate docker/kubernetes by the configuration class of Prefect's worker and by Kubernetes' schemas; no cluster is run.

    scripts/trial kubernetes [--work FOLDER]

Installs prefect-kubernetes and kubernetes-validate (the schemas of Kubernetes, strict) into an environment of its own, turns
each pool's template into the job of a flow run as the worker does, and validates that and every manifest. Exit code 1 where
one is refused.
"""

import argparse
import os
import subprocess
import sys
import tempfile
from importlib.metadata import version
from pathlib import Path
from typing import Final

from tools.common import ROOT

INSTALLED: Final = ("prefect-kubernetes==0.8.0", "kubernetes-validate==1.37.0", "pyyaml")
CHECK: Final = """
import asyncio, json, sys, uuid
from pathlib import Path
import kubernetes_validate, yaml
from prefect.client.schemas.objects import FlowRun
from prefect_kubernetes.worker import KubernetesWorkerJobConfiguration

def schema(what, manifest):
    kubernetes_validate.validate(manifest, "1.37", strict=True)
    print(f"{what}: {manifest['kind']} {manifest['metadata'].get('name', '')} is valid")

async def job_of(template):
    configuration = await KubernetesWorkerJobConfiguration.from_template_and_values(base_job_template=template, values={})
    configuration.prepare_for_flow_run(FlowRun(id=uuid.uuid4(), flow_id=uuid.uuid4(), name="trial"))
    return configuration.job_manifest

for path in sorted(Path(sys.argv[1]).iterdir()):
    if path.suffix == ".json":
        job = asyncio.run(job_of(json.loads(path.read_text())))
        pod = job["spec"]["template"]["spec"]
        for key in ("parallelism", "completions"):  # the worker asks for them where no pod has them; a server drops them
            pod.pop(key)
        words = [*pod["containers"][0]["command"], *pod["containers"][0]["args"]]
        assert words == ["env", "prefect", "flow-run", "execute"], words
        schema(path.name, job)
    else:
        for manifest in yaml.safe_load_all(path.read_text()):
            schema(path.name, manifest)
"""


def main() -> int:
    """Run the trial."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--work", type=Path)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=given.work) as folder:
        python = f"{folder}/venv/bin/python"
        subprocess.run([sys.executable, "-m", "venv", f"{folder}/venv"], check=True)
        subprocess.run(
            [python, "-m", "pip", "install", "--quiet", f"prefect=={version('prefect')}", *INSTALLED], check=True
        )
        env = {**os.environ, "PREFECT_API_URL": "http://prefect:4200/api", "PREFECT_HOME": folder}
        return subprocess.run([python, "-c", CHECK, ROOT / "docker/kubernetes"], env=env, check=False).returncode
