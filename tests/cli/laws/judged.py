"""The law that the library and the oracle agree, on the random traces of tracegen.py and a selection of each."""

import json

import oracle
import tracegen
from python_package import package
from test_oracle import COMMANDS, compare_report, selections

SIMPLE = {"summary": "summary", "steps": "steps", "gaps": "gaps"}  # commands that need no options here


def keywords(args):
    """Options of the command line as those of the package."""
    words = [word for arg in args for word in (arg.split("=", 1) if arg.startswith("--name=") else [arg])]
    given = {name.removeprefix("--"): value for name, value in zip(words[::2], words[1::2])}
    if "from" in given:
        given["from_"] = given.pop("from")
    if "category" in given:
        given["category"] = given["category"].split(",")
    return given


def judged(_, pick, folder):
    """Every number of a report is that of the oracle."""
    text, _ = tracegen.trace(pick.randrange(1 << 40))
    path = folder / "trace.json"
    path.write_text(text, encoding="utf-8")
    trace = oracle.load(path)
    command = pick.choice(list(SIMPLE))
    assert COMMANDS[command][:1] in ([], [command])
    with package.open(path, cache=False, threads=1) as opened:
        compare_report(command, json.loads(opened.command(SIMPLE[command]).to_string("json")), oracle.View(trace))
        args, selection = pick.choice(list(selections(trace, pick)) or [([], oracle.Selection())])
        view = oracle.View(trace, selection)
        is_empty = view.window is not None and view.window[0] >= view.window[1]
        if view.ops and not is_empty:  # the program refuses a window that is empty
            report = opened.command(SIMPLE[command], **keywords(args))
            compare_report(command, json.loads(report.to_string("json")), view)
