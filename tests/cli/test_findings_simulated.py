"""Savings that are simulated, in traces by hand where it is known what would be saved: less than the gaps sum up to."""

import shlex

import pytest

from kineto_by_hand import US, Trace, findings_of


def answer_of(gputime, path, finding):
    """What the command that a finding names answers."""
    program, *args = shlex.split(finding["simulation"]["command"])
    assert program == "gputime"
    rows = gputime.json(*(path if one == "TRACE" else one for one in args))["tables"]["whatif"]["rows"]
    return next(row for row in rows if row["window"] in ("run", "trace"))


def check(gputime, folder, finding, saving_us, claim_us):
    """The saving is that of the simulation, which is less than the claim and repeats itself."""
    path = folder / "trace.json"
    answer = answer_of(gputime, path, finding)
    assert finding["saving_by"] == "simulation" and finding["simulation"]["trust"] == answer["trust"] == "good"
    for key in ("base_ns", "predicted_ns", "low_ns"):
        assert finding["simulation"][key] == answer[key]
    assert answer["saved_ns"] == saving_us * US < claim_us * US
    rows = gputime.json("findings", path, "--why", finding["id"])["tables"]["finding_rows"]["rows"]
    devices = len(finding["savings"])
    assert sum(row["claimed_ns"] for row in rows) // devices == finding["recoverable_ns"]
    assert sum(one["waiting_ns"] + one["compute_ns"] for one in finding["savings"]) // devices == finding["recoverable_ns"]


def two_gpus(gap, until, what=None):
    """GPU 1 waits `gap` us for a launch, GPU 0 is busy until later. Of the gap, only what is after that can be saved."""
    trace = Trace()
    trace.op(2, until - 2, name="long_kernel", launched=0, device=0)
    trace.op(4, 100, name="first", launched=2, device=1)
    if what:
        what(trace, 104, gap)
    trace.op(104 + gap, 100, name="second", launched=104 + gap - 2, device=1)
    return trace


def test_host_bound(gputime, tmp_path):
    """The second kernel of GPU 1 would be done at 200; GPU 0 is busy until 800."""
    found = findings_of(gputime, two_gpus(800, 800), tmp_path)
    finding = found["host_bound"]
    assert finding["recoverable_ns"] == 206 * US // 2  # of both GPUs, on average; the launch of GPU 0 takes 2 us
    check(gputime, tmp_path, finding, 206, 800)
    assert "If the CPU took no time, all of it would take 798 us instead of 1.004 ms (simulated)." in finding["evidence"]


def test_a_gap_that_nobody_waits_for_is_no_finding(gputime, tmp_path):
    assert "host_bound" not in findings_of(gputime, two_gpus(800, 2000), tmp_path)


def test_host_stalls(gputime, tmp_path):
    finding = findings_of(gputime, two_gpus(2000, 1500), tmp_path)["host_stalls"]
    check(gputime, tmp_path, finding, 706, 2000)
    assert finding["recoverable_ns"] == 706 * US // 2


def test_stalls_and_late_launches_share_what_is_saved(gputime, tmp_path):
    """Both are simulated as a CPU that takes no time; together they promise no more than that saves."""
    trace = two_gpus(2000, 2700)
    trace.op(2704, 100, name="third", launched=2702, device=1)
    found = findings_of(gputime, trace, tmp_path)
    saved = found["host_stalls"]["simulation"]["base_ns"] - found["host_stalls"]["simulation"]["predicted_ns"]
    promised = sum(one["waiting_ns"] for rule in ("host_stalls", "host_bound") if rule in found
                   for one in found[rule]["savings"])
    assert 0 < promised <= saved < 2500 * US


def test_data_loading(gputime, tmp_path):
    """Without the 1500 us in the loader the second kernel would start at 604."""
    trace = two_gpus(2000, 1500, lambda trace, start, length: trace.range("next_batch", start, 1500))
    finding = findings_of(gputime, trace, tmp_path)["data_loading"]
    assert finding["simulation"]["command"] == "gputime whatif TRACE --without 'next_batch'"
    check(gputime, tmp_path, finding, 704, 1500)


def test_allocator(gputime, tmp_path):
    trace = two_gpus(800, 700, lambda trace, start, length: trace.call("cudaFree", start, 500))
    finding = findings_of(gputime, trace, tmp_path)["allocator"]
    assert finding["simulation"]["command"] == "gputime whatif TRACE --without 'cudaFree'"
    check(gputime, tmp_path, finding, 304, 500)


def reads(operator=True):
    """Kernels of 300 us, each followed by a copy that the CPU waits for, then by 600 us of other work."""
    trace = Trace()
    for number in range(12):
        start = 1000 * number
        trace.op(start + 2, 300, launched=start)
        if operator:
            trace.operator("aten::item", start + 4, 396)
        trace.op(start + 302, 2, name="Memcpy DtoH (Device -> Pageable)", launched=start + 5, call="cudaMemcpyAsync",
                 call_length=300)
        trace.call("cudaStreamSynchronize", start + 306, 90)
    return trace


@pytest.mark.parametrize("operator, command, saved", [
    (True, "--without 'aten::item'", 396), (False, "--without 'cudaMemcpyAsync' --without 'cudaStreamSynchronize'", 390)])
def test_readback(gputime, tmp_path, operator, command, saved):
    """The CPU takes the rest of the 1000 us from launch to launch in any case."""
    found = findings_of(gputime, reads(operator), tmp_path)
    finding = found["readback"]
    assert finding["simulation"]["command"] == f"gputime whatif TRACE {command}"
    assert finding["recoverable_ns"] == 11 * saved * US
    check(gputime, tmp_path, finding, 11 * saved, 11 * 698)
    assert found["host_bound"]["recoverable_ns"] == 11 * (698 - saved) * US


def test_sync_waits(gputime, tmp_path):
    """The CPU is ahead by 4 ms, waits 150 us for the GPU, then launches late. The wait costs all of it but the 2 us that a
    call takes that need not wait."""
    trace = Trace()
    for number in range(40):
        trace.op(100 + 100 * number, 100, name=f"kernel_{number % 8}", launched=2 * number)
    trace.call("cudaDeviceSynchronize", 3950, 150)
    for number in range(20):
        trace.op(4130 + 130 * number, 100)
    finding = findings_of(gputime, trace, tmp_path)["sync_waits"]
    assert finding["recoverable_ns"] == 148 * US
    check(gputime, tmp_path, finding, 148, 150)


def communication(count, ahead):
    """Steps of compute, communication and compute that waits for it: 500, 400 and 100 us. Their launches are all ahead, or
    each just in time."""
    trace = Trace()
    for number in range(count):
        start = 1010 * number + 10 if not ahead else 1000 * number + 50
        now = 10 * number if ahead else start - 2
        trace.range(f"ProfilerStep#{number}", now, 9 if ahead else 1009)
        trace.op(start, 500, name=f"backward_{number % 4}", launched=now)
        trace.op(start + 500, 400, name="ncclDevKernel_AllReduce_Sum", launched=now + 2, stream=9)
        trace.op(start + 900, 100, name=f"update_{number % 4}", launched=now + 4)
    return trace


def test_exposed_communication_of_a_gpu_that_is_never_late(gputime, tmp_path):
    """600 us of compute a step remain; the communication of the last step ends 300 us after its compute."""
    finding = findings_of(gputime, communication(4, ahead=True), tmp_path)["exposed_comm"]
    assert finding["simulation"]["command"] == "gputime whatif TRACE --overlap comm"
    assert finding["recoverable_ns"] == 1300 * US
    check(gputime, tmp_path, finding, 1300, 1600)
    assert finding["title"] == "Exposed all_reduce: 40.0% of the time; hiding it saves 32.5%"


def test_exposed_communication_of_a_cpu_that_is_no_faster(gputime, tmp_path):
    """The CPU begins a step every 1010 us, however early the GPU is done."""
    found = findings_of(gputime, communication(4, ahead=False), tmp_path)
    assert "exposed_comm" not in found
    assert "If only the end waited for communication, nothing would be saved (simulated)." in found["poor_overlap"]["evidence"]


def test_one_step_could_hide_communication_earlier(gputime, tmp_path):
    """Nothing follows that could hide it, but more of the compute before it could have."""
    finding = findings_of(gputime, communication(1, ahead=True), tmp_path)["exposed_comm"]
    assert finding["simulation"]["command"] == "gputime whatif TRACE --class comm=0"
    assert finding["recoverable_ns"] == 400 * US


def test_launches_of_tiny_kernels(gputime, tmp_path):
    """Each launch takes 1 us on the CPU and 1 us to the GPU; the 19 us between two of them stay."""
    trace = Trace()
    for number in range(120):
        trace.op(100 + 20 * number, 4, name=f"kernel_{number % 8}")
    found = findings_of(gputime, trace, tmp_path)
    finding = found["tiny_kernels"]
    assert finding["recoverable_ns"] is None is finding["saving_by"]
    assert finding["simulation"]["base_ns"] == (119 * 20 + 6) * US
    assert finding["simulation"]["predicted_ns"] == (119 * 19 + 4) * US
    assert "If launches took no time, all of it would take 2.265 ms instead of 2.386 ms (simulated)." in finding["evidence"]
    assert answer_of(gputime, tmp_path / "trace.json", finding)["predicted_ns"] == finding["simulation"]["predicted_ns"]


def test_a_launch_storm(gputime, tmp_path):
    trace = Trace()
    for number in range(1200):
        trace.op(100 + 10 * number, 8, name=f"kernel_{number % 8}", launched=number / 100, call_length=0.005)
    finding = findings_of(gputime, trace, tmp_path)["launch_storm"]
    saved = finding["simulation"]["base_ns"] - finding["simulation"]["predicted_ns"]
    assert saved == pytest.approx(100 * US, abs=100)  # only until the first kernel; then all are queued
    assert "nothing" not in finding["evidence"][-1]


# ---- kernels that nothing waits for ----

def long_kernel(length):
    """Ten kernels of 100 us on one stream, a long one on another."""
    trace = Trace()
    for number in range(10):
        trace.op(10 + 100 * number, 100, name=f"kernel_{number}", launched=number / 10, call_length=0.05)
    trace.op(10, length, name="long_kernel", launched=1, call_length=1, stream=9)
    return trace


def test_a_long_kernel_with_slack_is_not_recommended(gputime, tmp_path):
    finding = findings_of(gputime, long_kernel(600), tmp_path)["dominant_kernel"]
    assert finding["title"] == "One kernel takes 37.5% of kernel time, but nothing waits for it: 'long_kernel'"
    assert "It could end 400 us later without making anything late (median slack)." in finding["evidence"]
    assert "If it took 10% less time, nothing would be saved (simulated)." in finding["evidence"]
    assert finding["advice"] == ["Look at what is waited for instead: 'gputime path' shows it."]
    assert finding["recoverable_ns"] is None


def test_a_long_kernel_that_is_waited_for_is(gputime, tmp_path):
    finding = findings_of(gputime, long_kernel(2000), tmp_path)["dominant_kernel"]
    assert finding["title"] == "One kernel takes 66.7% of kernel time: 'long_kernel'"
    simulation = finding["simulation"]
    assert simulation["base_ns"] - simulation["predicted_ns"] == 200 * US
    assert simulation["command"] == "gputime whatif TRACE --scale 'long_kernel=0.9'"
    assert any("Nsight Compute" in one for one in finding["advice"])


# ---- where nothing is simulated ----

def unexplained():
    """A call returns long after what it waited for: the graph cannot say why."""
    trace = Trace()
    for number in range(10):
        start = 1000 * number
        trace.op(start + 10, 100, launched=start)
        trace.call("cudaStreamSynchronize", start + 2, 900)
    return trace


def test_a_trace_that_the_graph_explains_badly_keeps_the_upper_bound(gputime, tmp_path):
    found = findings_of(gputime, unexplained(), tmp_path)
    finding = found["sync_waits"]
    assert finding["recoverable_ns"] == 9 * 900 * US and finding["saving_by"] == "upper_bound"
    assert finding["simulation"] == {"command": "gputime whatif TRACE --no sync", "trust": "refused", "base_ns": None,
                                     "predicted_ns": None, "low_ns": None}
    text = " ".join(gputime("findings", tmp_path / "trace.json").stdout.decode().split())
    assert "(high, saves up to 8.1 ms)" in text and "simulated" not in text
    why = " ".join(gputime("findings", tmp_path / "trace.json", "--why", "sync_waits").stdout.decode().split())
    assert "an upper bound: the dependency graph explains the trace too badly to simulate" in why


def test_rules_without_a_simulation_have_an_upper_bound(gputime, tmp_path):
    trace = Trace()
    trace.op(10, 1000, name="kernel", launched=0)
    trace.copy(1010, 800, 10**8, launched=2)
    trace.op(1810, 1000, name="kernel", launched=4)
    finding = findings_of(gputime, trace, tmp_path)["copies_in_line"]
    assert finding["saving_by"] == "upper_bound" and finding["simulation"] is None


def test_a_part_of_a_run_is_not_simulated(gputime, tmp_path):
    trace = reads()
    whole = findings_of(gputime, trace, tmp_path)["readback"]
    part = findings_of(gputime, trace, tmp_path, "--from", "1ms")["readback"]
    assert whole["saving_by"] == "simulation" and part["saving_by"] == "upper_bound"


# ---- all commands and formats ----

def test_all_commands_have_the_same_savings(gputime, tmp_path):
    path = reads().write(tmp_path)
    found = gputime.json("findings", path)["findings"]
    assert gputime.json(path)["findings"] == found == gputime.json("findings", path, "--threads", "1")["findings"]
    one, = gputime.json("findings", path, "--why", "readback")["findings"]
    assert one in found


def test_why_shows_the_simulation(gputime, tmp_path):
    path = reads().write(tmp_path)
    report = gputime.json("findings", path, "--why", "readback")
    one, = report["findings"]
    row, = report["tables"]["finding_simulation"]["rows"]
    assert {key: row[key] for key in one["simulation"]} == one["simulation"]
    assert row["saved_ns"] == row["base_ns"] - row["predicted_ns"] and row["recoverable_ns"] == one["recoverable_ns"]
    text = " ".join(gputime("findings", path, "--why", "readback").stdout.decode().split())
    assert f"To simulate it without the cause: {one['simulation']['command']}" in text
    assert "as far as the simulation saves it" in text


@pytest.mark.parametrize("given, meant", [("readbak", "readback"), ("host-bound", "host_bound"), ("sync", "sync_waits")])
def test_why_suggests_the_nearest_finding(gputime, tmp_path, given, meant):
    done = gputime("findings", reads().write(tmp_path), "--why", given)
    assert done.returncode == 2 and f"did you mean '{meant}'?" in done.stderr.decode()
