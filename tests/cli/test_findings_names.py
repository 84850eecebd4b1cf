"""What the sentences of findings name: code, calls, the words of the vendor; and what gaps of several GPUs share."""

from finding_traces import US, Trace, findings_of


def test_gpus_that_wait_for_one_thread_have_the_same_cause(gputime, tmp_path):
    """While both GPUs are idle the thread works through many operators: slow launching on either of them."""
    trace = Trace()
    for number in range(10):
        start = 5000 * number
        for device in (0, 1):
            trace.op(start + 100, 1000, launched=start + 10 + 5 * device, device=device)
        for operator in range(150):
            trace.event("cpu_op", f"aten::op_{operator}", start + 1200 + 25 * operator, 20)
    findings = findings_of(gputime, trace.write(tmp_path))
    assert "host_stalls" not in findings
    savings = findings["host_bound"]["savings"]
    assert [saving["waiting_ns"] > 9 * 3000 * US for saving in savings] == [True, True], savings
