"""Writes what each step of a JAX program ran on the GPU in captures of Nsight Systems, a row for each place of the step.
Compilation and tuning, which such captures have, too, are left out. PROGRAM is the compiled function: jit_train_step.

    jax_steps.py PROGRAM GPUTIME REPORT.nsys-rep... > OUT.csv"""

import csv
import io
import re
import subprocess
import sys

COLUMNS = ("kind", "name", "grid_x", "grid_y", "block_x", "registers", "static_shared_bytes", "dynamic_shared_bytes")
QUERY = """select s.id as step, o.dur_ns, o.range, {columns} from ops o join ranges s
on s.name glob 'XlaModule:#hlo_module={program},*' and o.tid = s.tid
and o.call_start_ns >= s.start_ns and o.call_end_ns <= s.end_ns
order by s.start_ns, o.start_ns"""


def steps_of(gputime, program, report):
    query = QUERY.format(columns=", ".join(f"o.{name}" for name in COLUMNS), program=program)
    text = subprocess.run([gputime, "sql", report, query, "--csv"], stdout=subprocess.PIPE, text=True, check=True).stdout
    steps = {}
    for row in csv.DictReader(io.StringIO(text)):
        steps.setdefault(row["step"], []).append(row)
    return list(steps.values())


def operation(text):
    """Of "Thunk:#name=jit(f)/layer0/dot_general,hlo_op=...#"."""
    found = re.search(r"#name=(.*),hlo_op=", text)
    return found[1] if found else ""


def main(program, gputime, *reports):
    out = csv.writer(sys.stdout, lineterminator="\n")
    out.writerow(["run", "place", "operation", *COLUMNS, "durations_ns"])
    for run, report in enumerate(reports, 1):
        steps = steps_of(gputime, program, report)
        about = [[tuple(row[name] for name in COLUMNS) for row in step] for step in steps]
        assert all(step == about[0] for step in about), f"{report}: steps differ"
        for place, rows in enumerate(zip(*steps)):
            durations = " ".join(row["dur_ns"] for row in rows)
            out.writerow([run, place, operation(rows[0]["range"]), *about[0][place], durations])


if __name__ == "__main__":
    main(*sys.argv[1:])
