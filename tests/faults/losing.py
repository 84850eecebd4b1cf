"""Cases of the program without power at every moment: results are whole or absent and safe at the end; what may be left of the
cache is put there, and must change nothing."""

import pathlib
import shutil

import power
from faulted import OLD, Broken, files_of, run_to_end


def record(machine, case):
    """What a run wrote, and the folder trees before and after it."""
    journal = machine.scratch.parent / (machine.scratch.name + ".journal")
    outcome = machine.run(case, FAULTY_JOURNAL=str(journal))
    if outcome["status"] != 0:
        raise Broken(f"{case.name}: fails without a fault: {outcome['said']}")
    work, home = machine.scratch / "work", machine.scratch / "home"
    return {"steps": power.read_journal(journal), "folders": [work, home, home / "tmp", home / "config"],
            "before": {str(work / name): OLD for name in case.replaces},
            "results": {str(work / name): content for name, content in outcome["files"].items()},
            "cache": {str(home / "cache" / name): content for name, content in outcome["cache"].items()}}


def lose_power(machine, case):
    """{what: states that were looked at}; nothing for a case that writes nothing."""
    if case.kind != "run" or case.name == "cached":  # which reads what "cache" writes
        return {}
    run = record(machine, case)
    remains = {}

    def is_of_cache(path, content):
        if "/home/cache/" in path:
            remains.setdefault(path, set()).add(content)
        return "/home/cache/" in path

    states, sure = power.replay(run["steps"], machine.scratch, run["folders"], run["before"], run["results"] | run["cache"], is_of_cache)
    unsure = set(run["results"]) - sure
    if unsure:
        raise Broken(f"{case.name}: after the run these are not safe: {sorted(unsure)}")
    if run["cache"] and not remains:
        raise Broken(f"{case.name}: its cache was not looked at")
    checked = sum(check_remains(machine, case, path, contents) for path, contents in remains.items())
    return {name: count for name, count in (("files", states), ("remains of the cache", checked)) if count}


def check_remains(machine, case, path, contents):
    """Each of them in the place of the cache's file: the same report, no word about it, and a whole file afterwards."""
    usual = machine.run(case)
    whole = files_of(machine.scratch / "home/cache")
    for content in sorted(contents):
        place, home = machine.scratch / "work", machine.scratch / "home"
        shutil.rmtree(place)
        place.mkdir()
        pathlib.Path(path).write_bytes(content)
        outcome = run_to_end(machine.command(case), place, machine.environment(home, LD_PRELOAD=""), None, None)
        if (outcome["status"], outcome["printed"], outcome["said"]) != (0, usual["printed"], b""):
            raise Broken(f"{case.name}: {len(content)} bytes of a cache change the report: {outcome['said']}")
        if files_of(home / "cache") != whole:
            raise Broken(f"{case.name}: {len(content)} bytes of a cache are not replaced")
    return len(contents)
