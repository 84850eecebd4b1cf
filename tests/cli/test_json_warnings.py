"""Which notes are warnings: what was left out or only partly read, or that traces are of several jobs."""

import pytest

from conftest import has_page, page_report
from simulated_jobs import make_job, traces_of

needs_page = pytest.mark.skipif(not has_page(), reason="built without the page")
SMALL = ("--steps", 2, "--layers", 1, "--kernels", 3)


@pytest.fixture
def job(tmp_path):
    folder = make_job(tmp_path / "job", "--ranks", 10, *SMALL)
    (folder / "truth.json").unlink()
    return folder


def cut(path):
    path.write_bytes(path.read_bytes()[:-2000])


def warnings_of(report, place=0):
    """They are some of the notes, in their order."""
    entry = report["inputs"][place]
    assert "warnings" not in entry or entry["warnings"]
    warnings = entry.get("warnings", [])
    assert [note for note in entry["notes"] if note in warnings] == warnings
    return warnings


def test_job_that_is_whole(gputime, job):
    assert warnings_of(gputime.json("ranks", job)) == []


def test_partly_read_and_counted(gputime, job):
    for path in traces_of(job):
        cut(path)
    warnings = warnings_of(gputime.json("ranks", job))
    assert len(warnings) == 9 and all("only partly read" in note for note in warnings)
    assert warnings[-1] == "2 more traces were only partly read."


@needs_page
def test_left_out_and_missing(gputime, job):
    traces_of(job)[3].write_text("no trace")
    done = gputime("ranks", *traces_of(job), "--format", "html", "-o", job / "page.html")
    assert done.returncode != 0
    left_out, missing = warnings_of(page_report((job / "page.html").read_bytes()))
    assert left_out.startswith("Left out: ") and missing.startswith("Rank 3 of ")


def test_several_jobs(gputime, job, tmp_path):
    """What is about all of them comes first."""
    other = make_job(tmp_path / "other", "--ranks", 2, *SMALL)
    cut(traces_of(other)[1])
    report = gputime.json("ranks", *traces_of(job), *traces_of(other))
    of_all, = warnings_of(report)
    assert of_all.startswith("These traces are of 2 jobs") and report["inputs"][0]["notes"][0] == of_all
    of_other, = warnings_of(report, 1)
    assert of_other.startswith("'other/rank0001.json' was only partly read (input_cut)")


@needs_page
def test_trace_and_comparison(gputime, job, tmp_path):
    whole, other = traces_of(job)[:2]
    cut(other)
    gputime("summary", other, "--format", "html", "-o", tmp_path / "page.html")
    report = page_report((tmp_path / "page.html").read_bytes())
    assert [note.split(":")[0] for note in warnings_of(report)] == ["Only partly read (input_cut)"]
    compared, = warnings_of(gputime.json("diff", whole, other))
    assert compared.startswith("Only partly read: B, ")
