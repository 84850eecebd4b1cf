"""`gputime whatif --without`: CPU work of a name takes no time, in traces by hand where the answer is known."""

from commandline import error_of
from kineto_by_hand import US, Trace


def saved_us(gputime, trace, folder, *args):
    rows = gputime.json("whatif", trace.write(folder), *args)["tables"]["whatif"]["rows"]
    assert [row["window"] for row in rows] == ["trace"] and rows[0]["trust"] == "good"
    return rows[0]["saved_ns"] / US


def late_launch():
    """An operator of 1 ms, with another one in it, between two launches."""
    trace = Trace()
    trace.op(12, 100, launched=0, call_length=10)
    trace.operator("slow", 200, 1000)
    trace.operator("slow_part", 300, 500)
    trace.op(1312, 100, launched=1300, call_length=10)
    return trace


def test_an_operator(gputime, tmp_path):
    assert saved_us(gputime, late_launch(), tmp_path, "--without", "slow") == 1000


def test_a_part_of_it(gputime, tmp_path):
    assert saved_us(gputime, late_launch(), tmp_path, "--without", "slow_part") == 500


def test_what_is_nested_counts_once(gputime, tmp_path):
    assert saved_us(gputime, late_launch(), tmp_path, "--without", "slow*") == 1000
    assert saved_us(gputime, late_launch(), tmp_path, "--without", "slow", "--without", "slow_part") == 1000


def test_of_another_thread(gputime, tmp_path):
    trace = late_launch()
    trace.operator("elsewhere", 200, 1000, tid=2)
    assert saved_us(gputime, trace, tmp_path, "--without", "elsewhere") == 0


def test_a_call_waits_for_nothing(gputime, tmp_path):
    """The second launch comes 995 us earlier, but then its kernel waits for the first."""
    trace = Trace()
    trace.op(12, 1000, launched=0, call_length=10)
    trace.call("cudaDeviceSynchronize", 20, 995)
    trace.op(1112, 100, launched=1100, call_length=10)
    assert saved_us(gputime, trace, tmp_path, "--without", "cudaDeviceSynchronize") == 100
    assert saved_us(gputime, trace, tmp_path, "--no", "sync") == 100


def test_a_launch_call(gputime, tmp_path):
    """Its 300 us are gone; the 2 us from the call to the kernel stay."""
    trace = Trace()
    trace.op(12, 100, launched=0, call_length=10)
    trace.op(802, 100, launched=500, call_length=300, call="cudaLaunchKernelExC")
    assert saved_us(gputime, trace, tmp_path, "--without", "cudaLaunchKernelExC") == 300


def test_a_name_that_nothing_has(gputime, tmp_path):
    message = error_of(gputime("whatif", late_launch().write(tmp_path), "--without", "fast"), 2)
    assert "no call, operator or range is named 'fast'" in message
