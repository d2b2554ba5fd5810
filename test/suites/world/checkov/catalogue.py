"""Prints the checks of Checkov that look at resources, by identifier: their name, the argument that they read, the words
of their source, among which are the arguments of checks that read several, and whether they look at several resources
together."""

import ast
import glob
import inspect
import json
import logging
import os
import sys

logging.disable(logging.CRITICAL)

import checkov.terraform.checks.resource  # noqa: E402,F401
import yaml  # noqa: E402
from checkov.common.checks_infra.registry import get_graph_checks_registry  # noqa: E402
from checkov.terraform.checks.resource.registry import resource_registry  # noqa: E402

SHARED = "checkov.terraform.checks.resource.base_"


def parts(texts):
    return {part for text in texts if " " not in text for part in text.replace("/", ".").split(".") if part}


def words_of(check):
    """The texts and numbers that a check is written with, also those that it inherits from another check."""
    modules = {kind.__module__ for kind in type(check).__mro__}
    texts = []
    for module in modules:
        if not module.startswith("checkov.") or module.startswith(SHARED) or ".checks." not in module:
            continue
        tree = ast.parse(inspect.getsource(sys.modules[module]))
        texts += [str(node.value) for node in ast.walk(tree) if isinstance(node, ast.Constant)]
    return parts(texts)


def attributes(value):
    if isinstance(value, dict):
        own = [str(value["attribute"])] if "attribute" in value else []
        return own + [text for item in value.values() for text in attributes(item)]
    return [text for item in value for text in attributes(item)] if isinstance(value, list) else []


found = {}
for checks in [*resource_registry.checks.values(), *resource_registry.wildcard_checks.values()]:
    for check in checks:
        try:
            argument = check.get_inspected_key()
        except (AttributeError, NotImplementedError):
            argument = None
        argument = argument if isinstance(argument, str) else None
        found[check.id] = {"name": check.name, "argument": argument, "words": sorted(words_of(check))}
graph = get_graph_checks_registry("terraform")
graph.load_checks()
read = {}
folder = os.path.join(os.path.dirname(checkov.terraform.__file__), "checks", "graph_checks")
for path in glob.glob(f"{folder}/*/*.[jy]*"):
    body = yaml.safe_load(open(path, encoding="utf-8")) or {}
    read[body.get("metadata", {}).get("id")] = sorted(parts(attributes(body.get("definition", {}))))
for check in graph.checks:
    found[check.id] = {"name": check.name, "argument": None, "words": read.get(check.id, []), "several": True}
print(json.dumps(found))
