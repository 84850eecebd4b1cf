"""What a job takes in memory: that of a few traces, and a bounded number of bytes for each rank in a collective."""

import pytest
from peak import peak_run
from simulated_jobs import make_job, traces_of

MOST_BYTES = 400  # about 200 are measured; a table of members alone is as much


def peak_bytes(gputime, *options):
    done, peak = peak_run(gputime, "ranks", *options, "--threads", "1")
    assert done.returncode == 0
    return peak


@pytest.fixture(scope="module")
def job(tmp_path_factory):
    """Traces are small, so that the memory of the job is more than that of reading one of them."""
    return make_job(tmp_path_factory.mktemp("job"), "--ranks", 64, "--tp", 8, "--layers", 4, "--kernels", 1,
                    "--steps", 6, "--micro-batches", 3, "--noise", 0.02, "--skew")


def test_a_job_takes_few_bytes_for_each_rank_in_a_collective(gputime, job):
    traces = traces_of(job)
    part, whole = traces[:16], traces
    members = {len(some): sum(row["collectives"] for row in gputime.json("ranks", *some)["tables"]["ranks"]["rows"])
               for some in (part, whole)}
    more = members[len(whole)] - members[len(part)]
    assert more > 15000
    assert (peak_bytes(gputime, *whole) - peak_bytes(gputime, *part)) / more < MOST_BYTES
