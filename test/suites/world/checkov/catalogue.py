"""Prints the checks of Checkov that look at resources, by identifier: their name and the argument that they read."""

import json
import logging

logging.disable(logging.CRITICAL)

import checkov.terraform.checks.resource  # noqa: E402,F401
from checkov.common.checks_infra.registry import get_graph_checks_registry  # noqa: E402
from checkov.terraform.checks.resource.registry import resource_registry  # noqa: E402

found = {}
for checks in [*resource_registry.checks.values(), *resource_registry.wildcard_checks.values()]:
    for check in checks:
        try:
            argument = check.get_inspected_key()
        except (AttributeError, NotImplementedError):
            argument = None
        found[check.id] = {"name": check.name, "argument": argument if isinstance(argument, str) else None}
graph = get_graph_checks_registry("terraform")
graph.load_checks()
for check in graph.checks:
    found[check.id] = {"name": check.name, "argument": None}
print(json.dumps(found))
