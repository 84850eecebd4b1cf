"""The law that the library and the oracle agree, on the random traces of tracegen.py and a selection of each."""

import json

import oracle
import tracegen
from oracle_report import COMMANDS, compare_report, selections
from python_package import package

# The commands of the oracle as the package calls them.
CALLS = {"summary": ("summary", {}), "kernels": ("kernels", {"gaps": True, "launches": True}), "gaps": ("gaps", {}),
         "device gaps": ("gaps", {"per": "device"}), "steps": ("steps", {}), "ranges": ("ranges", {})}


def keywords(args):
    """Options of the command line as those of the package."""
    words = [word for arg in args for word in (arg.split("=", 1) if arg.startswith("--name=") else [arg])]
    given = {name.removeprefix("--"): value for name, value in zip(words[::2], words[1::2])}
    if "from" in given:
        given["from_"] = given.pop("from")
    if "category" in given:
        given["category"] = given["category"].split(",")
    return given


def report(opened, command, **selection):
    name, options = CALLS[command]
    return json.loads(opened.command(name, **options, **selection).to_string("json"))


def judged(_, pick, folder):
    """Every number of a report is that of the oracle."""
    text, _ = tracegen.trace(pick.randrange(1 << 40))
    path = folder / "trace.json"
    path.write_text(text, encoding="utf-8")
    trace = oracle.load(path)
    command = pick.choice(list(COMMANDS))
    with package.open(path, cache=False, threads=1) as opened:
        compare_report(command, report(opened, command), oracle.View(trace))
        args, selection = pick.choice(list(selections(trace, pick)) or [([], oracle.Selection())])
        view = oracle.View(trace, selection)
        is_empty = view.window is not None and view.window[0] >= view.window[1]
        if view.ops and not is_empty:  # the program refuses a window that is empty
            compare_report(command, report(opened, command, **keywords(args)), view)
