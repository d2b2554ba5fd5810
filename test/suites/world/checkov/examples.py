"""Runs each check of Checkov on the examples that its tests name for it. Prints a line of JSON an example: the check,
the resources that it fails and passes, and all resources as Checkov reads them."""

import glob
import json
import logging
import os
import re
import sys

logging.disable(logging.CRITICAL)

import checkov.terraform.checks.resource  # noqa: E402,F401
import yaml  # noqa: E402
from checkov.runner_filter import RunnerFilter  # noqa: E402
from checkov.terraform.checks.resource.registry import resource_registry  # noqa: E402
from checkov.terraform.runner import Runner  # noqa: E402

CLOUDS = ("aws", "azure", "gcp", "kubernetes", "oci")
source = sys.argv[1]


def plain(value):
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items() if not str(key).startswith("__")}
    if isinstance(value, (list, tuple, set)):
        return [plain(item) for item in value]
    return value if value is None or isinstance(value, (str, int, float, bool)) else str(value)


def examples():
    by_module = {}
    for checks in [*resource_registry.checks.values(), *resource_registry.wildcard_checks.values()]:
        for check in checks:
            by_module.setdefault(type(check).__module__.rsplit(".", 1)[-1], set()).add(check.id)
    for cloud in CLOUDS:
        base = f"{source}/tests/terraform/checks/resource/{cloud}"
        for test in sorted(glob.glob(f"{base}/test_*.py")):
            text = open(test, encoding="utf-8").read()
            folders = sorted(set(re.findall(r"[\"'/](example_\w+|resources/\w+)[\"']", text)))
            modules = re.findall(r"from checkov\.terraform\.checks\.resource\.\w+\.(\w+) import", text)
            for folder in folders:
                for module in sorted(set(modules)):
                    for check in sorted(by_module.get(module, ())):
                        yield cloud, check, os.path.join(base, folder)
    for path in sorted(glob.glob(f"{source}/checkov/terraform/checks/graph_checks/*/*.yaml")):
        cloud = os.path.basename(os.path.dirname(path))
        check = (yaml.safe_load(open(path, encoding="utf-8")) or {}).get("metadata", {}).get("id")
        folder = f"{source}/tests/terraform/graph/checks/resources/{os.path.basename(path)[:-5]}"
        if cloud in CLOUDS and check:
            yield cloud, check, folder


for cloud, check, folder in examples():
    if not os.path.isdir(folder):
        continue
    runner = Runner()
    report = runner.run(root_folder=folder, runner_filter=RunnerFilter(checks=[check], framework=["terraform"]))
    resources = {}
    for definition in (runner.definitions or {}).values():
        for block in definition.get("resource", []) or []:
            for kind, named in block.items():
                resources.update({f"{kind}.{name}": plain(body) for name, body in named.items()})
    line = {
        "cloud": cloud,
        "check": check,
        "failed": sorted({record.resource for record in report.failed_checks}),
        "passed": sorted({record.resource for record in report.passed_checks}),
        "resources": resources,
    }
    print(json.dumps(line), flush=True)
