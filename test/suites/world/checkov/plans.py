"""Runs Checkov on plans. Prints a line of JSON a plan: the resources that its checks fail, by address, with the checks."""

import glob
import json
import logging
import os
import sys

logging.disable(logging.CRITICAL)

from checkov.runner_filter import RunnerFilter  # noqa: E402
from checkov.terraform.plan_runner import Runner  # noqa: E402

for path in sorted(glob.glob(f"{sys.argv[1]}/*.json")):
    report = Runner().run(root_folder=None, files=[path], runner_filter=RunnerFilter(framework=["terraform_plan"]))
    failed = {}
    for record in report.failed_checks:
        failed.setdefault(record.resource, []).append(record.check_id)
    print(json.dumps({"plan": os.path.basename(path), "failed": failed}), flush=True)
