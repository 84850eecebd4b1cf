"""coverage_table.py SUMMARY.json [FILES]: a table of lines and branches by folder, from `llvm-cov export -summary-only`.

With FILES, a row for each file that is not reached in full instead.
"""

import collections
import json
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]


def counted(document, is_by_file):
    sums = collections.defaultdict(lambda: [0, 0, 0, 0])
    for one in document["data"][0]["files"]:
        path = pathlib.Path(one["filename"])
        path = path.relative_to(ROOT) if path.is_absolute() and ROOT in path.parents else path
        if path.parts[0] not in ("lib", "cli"):
            continue
        summary = one["summary"]
        numbers = [summary[kind][key] for kind in ("lines", "branches") for key in ("covered", "count")]
        key = str(path) if is_by_file else str(path.parent)
        sums[key] = [a + b for a, b in zip(sums[key], numbers)]
    return sums


def share(part, whole):
    return f"{100 * part / whole:.1f} %" if whole else "-"


def main(path, *by_file):
    sums = counted(json.loads(pathlib.Path(path).read_text()), bool(by_file))
    print("| folder | lines | reached | branches | reached |\n|---|---|---|---|---|")
    for key, (lines, all_lines, branches, all_branches) in sorted(sums.items()):
        if not by_file or lines < all_lines or branches < all_branches:
            print(f"| {key} | {all_lines} | {share(lines, all_lines)} | {all_branches} | {share(branches, all_branches)} |")


if __name__ == "__main__":
    main(*sys.argv[1:])
