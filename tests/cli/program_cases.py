"""Questions about GPU programs (gpu_programs.py), what gputime answers to them, and how long the changed programs take."""

import functools
import json

from gpu_program_traces import kineto, write_nsys
from gpu_programs import changes, program


class Case:
    """One question about one program."""

    def __init__(self, made, options, base, truth, row):
        self.kind, self.seed, self.options = made.kind, made.seed, " ".join(options)
        self.base, self.truth, self.row = base, truth, row

    def error(self, predicted):
        return abs(predicted - self.truth) / self.truth

    @property
    def predicted_error(self):
        return self.error(self.row["predicted_ns"])

    @property
    def interval_error(self):
        """How far the truth is outside of the answer, [low, predicted]."""
        low, high = sorted((self.row["low_ns"], self.row["predicted_ns"]))
        return 0 if low <= self.truth <= high else min(self.error(low), self.error(high))

    def __repr__(self):
        return (f"seed {self.seed} ({self.kind}) {self.options}: base {self.base} truth {self.truth} predicted "
                f"{self.row['predicted_ns']} low {self.row['low_ns']} ({self.predicted_error:.2%}, {self.row['trust']})")


def write_json(path, timeline, syncs):
    path.write_text(json.dumps(kineto(timeline, syncs)))
    return path


# What the trace says of waits: which record of an event, only the stream, or nothing.
FORMATS = {
    "records": lambda path, timeline: write_json(path, timeline, "records"),
    "streams": lambda path, timeline: write_json(path, timeline, "streams"),
    "none": lambda path, timeline: write_json(path, timeline, "none"),
    "nsys": lambda path, timeline: write_nsys(path.with_suffix(".sqlite"), timeline),
}


def run_row(report, table):
    """The answer for all steps together. Changes of one command act together, so there is one."""
    rows = [row for row in report["tables"][table]["rows"] if row["window"] == "run"]
    assert len(rows) == 1, rows
    return rows[0]


@functools.cache
def questions(seed):
    """(program, its timeline, [(options, how long the changed program takes)])."""
    made = program(seed)
    timeline = made.run()
    return made, timeline, [(options, made.run(change).run_length(timeline)) for options, change in changes(timeline, seed)]


def ask(report_of, folder, form, seeds):
    """report_of: runs gputime with arguments and gives its report."""
    cases = []
    for seed in seeds:
        made, timeline, asked = questions(seed)
        path = FORMATS[form](folder / f"{form}{seed}.json", timeline)
        for options, truth in asked:
            # The programs are tiny, and it is the prediction that is judged here, not whether it is given.
            report = report_of("whatif", path, *options, "--force", "--no-cache", "--top", "0")
            row = run_row(report, "whatif")
            assert row["base_ns"] == timeline.run_length(), (made.kind, seed)
            cases.append(Case(made, options, timeline.run_length(), truth, row))
        path.unlink()
    return cases


def share_within(errors, limit=0.01):
    return sum(error <= limit for error in errors) / len(errors)
