"""What the tests reach, from the profiles that `make coverage` collects.

coverage.py table LLVM_COV LIBRARY NAME=PROFDATA...      lines and branches of each room, by each of the profiles
coverage.py files LLVM_COV LIBRARY PROFDATA              the same for each file of the rooms
coverage.py unreached LLVM_COV LIBRARY PROFDATA          what is not reached, by function
coverage.py check LLVM_COV LIBRARY PROFDATA REASONS.md   whether the goal is met, and each file below it has its reasons

REASONS.md has a row `| file | function | reason |` for each function with an unreached line in a file below the goal; a row
for anything else is out of date. LIBRARY holds all of the library, so that it alone says which lines there are.
"""

import collections
import json
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
GOAL = {"lines": 97, "branches": 90}
# The rooms that read what nobody may trust. A file belongs to the first that matches.
ROOMS = (
    ("lib/decode", r"lib/decode/"),
    ("lib/events", r"lib/events/"),
    ("lib/base", r"lib/base/"),
    ("the server: lib/serve, lib/viewing*", r"lib/serve/|lib/viewing[^/]*$"),
)


def room_of(path):
    return next((name for name, pattern in ROOMS if re.match(pattern, path)), None)


class Function:
    def __init__(self, name, first, last):
        self.name, self.first, self.last = name, first, last


class File:
    """Lines and branches of one source file and how often each was taken."""

    def __init__(self, path, one):
        self.path = path
        self.functions = []
        self.lines = line_counts(one["segments"])
        # A header has the same branch once for each file that includes it.
        self.branches = collections.Counter()
        for line, column, end_line, end_column, taken, not_taken, *_ in one["branches"]:
            for way, count in ((True, taken), (False, not_taken)):
                self.branches[line, column, end_line, end_column, way] += count

    def numbers(self):
        return [len(self.lines), sum(map(bool, self.lines.values())),
                len(self.branches), sum(map(bool, self.branches.values()))]

    def unreached_lines(self):
        return [line for line, count in sorted(self.lines.items()) if not count]

    def unreached_ways(self):
        """Lines with a condition that was true or false only; {line: words}. What is never asked is an unreached line."""
        ways = collections.defaultdict(set)
        for (line, _, _, _, way), count in self.branches.items():
            if not count and self.lines.get(line):
                ways[line].add("true" if way else "false")
        return {line: " or ".join(sorted(words)) for line, words in sorted(ways.items())}

    def function_at(self, line):
        return next((one.name for one in self.functions if one.first <= line <= one.last), "(outside of functions)")

    def is_below_goal(self):
        lines, reached, branches, taken = self.numbers()
        return reached * 100 < GOAL["lines"] * lines or taken * 100 < GOAL["branches"] * branches


def line_counts(segments):
    """How often each line was run, from the segments of `llvm-cov export`: a line counts as often as the region that runs
    into it or the most frequent one that begins in it."""
    by_line = collections.defaultdict(list)
    for segment in segments:
        by_line[segment[0]].append(segment)
    counts, before = {}, None  # `before` is the last segment of the lines before
    for line in range(min(by_line, default=1), max(by_line, default=0) + 1):
        here = by_line.get(line, ())
        starts = [count for _, _, count, has_count, is_entry, is_gap in here if has_count and is_entry and not is_gap]
        is_skipped = here and not here[0][3] and here[0][4]
        if not is_skipped and (starts or (before and before[3])):
            counts[line] = max([before[2] if before else 0, *starts])
        before = here[-1] if here else before
    return counts


def export(llvm_cov, library, profile):
    command = [llvm_cov, "export", "-skip-expansions", f"-instr-profile={profile}", library]
    return json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)["data"][0]


def relative(name):
    path = pathlib.Path(name)
    return str(path.relative_to(ROOT)) if path.is_absolute() and ROOT in path.parents else str(path)


def read(llvm_cov, library, profile):
    """The files of the rooms, by path."""
    data = export(llvm_cov, library, profile)
    files = {}
    for one in data["files"]:
        path = relative(one["filename"])
        if room_of(path):
            files[path] = File(path, one)
    for one in data["functions"]:
        path = relative(one["filenames"][0])
        if path in files:
            first, _, last = one["regions"][0][:3]
            files[path].functions.append(Function(one["name"].rpartition(":")[2], first, last))
    return files


def share(part, whole):
    # Cut, not rounded: 96.96 % is not 97.0 %.
    return f"{1000 * part // whole / 10:.1f} %" if whole else "-"


def sums(files):
    rooms = {name: [0, 0, 0, 0] for name, _ in ROOMS}
    for path, one in files.items():
        name = room_of(path)
        rooms[name] = [a + b for a, b in zip(rooms[name], one.numbers())]
    return rooms


def print_table(llvm_cov, library, *profiles):
    names = [profile.partition("=")[0] for profile in profiles]
    measured = [sums(read(llvm_cov, library, profile.partition("=")[2])) for profile in profiles]
    print("| room | lines | branches | " + " | ".join(f"lines, {name} | branches, {name}" for name in names) + " |")
    print("|---|---|---|" + "---|---|" * len(names))
    for room in measured[0]:
        lines, _, branches, _ = measured[0][room]
        cells = [share(reached, whole) for sum in measured
                 for reached, whole in ((sum[room][1], lines), (sum[room][3], branches))]
        print(f"| {room} | {lines:,} | {branches:,} | " + " | ".join(cells) + " |")


def print_files(llvm_cov, library, profile):
    print("| file | lines | unreached | reached | branches | unreached | reached |\n|---|---|---|---|---|---|---|")
    for path, one in sorted(read(llvm_cov, library, profile).items()):
        lines, reached, branches, taken = one.numbers()
        print(f"| {path} | {lines} | {lines - reached} | {share(reached, lines)} "
              f"| {branches} | {branches - taken} | {share(taken, branches)} |")


def joined(numbers):
    """1, 2, 3, 7 -> 1-3, 7"""
    runs = []
    for number in numbers:
        if runs and runs[-1][1] == number - 1:
            runs[-1][1] = number
        else:
            runs.append([number, number])
    return ", ".join(str(first) if first == last else f"{first}-{last}" for first, last in runs)


def by_function(one):
    """{function: unreached lines} of a file."""
    found = collections.defaultdict(list)
    for line in one.unreached_lines():
        found[one.function_at(line)].append(line)
    return found


def print_unreached(llvm_cov, library, profile):
    for path, one in sorted(read(llvm_cov, library, profile).items()):
        source = (ROOT / path).read_text().splitlines()
        for name, lines in by_function(one).items():
            print(f"{path}: {name}: lines {joined(lines)}")
        for line, words in one.unreached_ways().items():
            print(f"{path}:{line}: {one.function_at(line)}: never {words}: {source[line - 1].strip()}")


def read_reasons(path):
    """{(file, function): reason} of the rows of a Markdown file."""
    row = re.compile(r"\| (lib/\S+) \| (\S+|\(outside of functions\)) \| (.+) \|")
    matches = (row.fullmatch(line) for line in pathlib.Path(path).read_text().splitlines())
    return {(match[1], match[2]): match[3] for match in matches if match}


def check(llvm_cov, library, profile, reasons_path):
    files = read(llvm_cov, library, profile)
    reasons = read_reasons(reasons_path)
    complaints = []
    for room, (lines, reached, branches, taken) in sums(files).items():
        for what, part, whole in (("lines", reached, lines), ("branches", taken, branches)):
            if part * 100 < GOAL[what] * whole:
                complaints.append(f"{room}: {share(part, whole)} of {what} are reached, {GOAL[what]} % are the goal")
    found = {path: by_function(one) for path, one in files.items()}
    for path, one in sorted(files.items()):
        if one.is_below_goal():
            complaints += [f"{path}: {name}: lines {joined(lines)} are not reached; {reasons_path} has no reason"
                           for name, lines in found[path].items() if (path, name) not in reasons]
    complaints += [f"{reasons_path}: {path}: {name}: nothing of it is unreached"
                   for path, name in reasons if name not in found.get(path, ())]
    print("\n".join(complaints) or f"coverage: the goal is met, {len(reasons)} reasons hold")
    sys.exit(1 if complaints else 0)


if __name__ == "__main__":
    {"table": print_table, "files": print_files, "unreached": print_unreached, "check": check}[sys.argv[1]](*sys.argv[2:])
