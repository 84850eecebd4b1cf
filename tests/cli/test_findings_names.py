"""What the sentences of findings name and how they are cut, and what gaps of several GPUs share."""

from finding_traces import US, Trace, dense, findings_of


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


def test_a_range_and_an_operator_of_one_name_are_not_added(gputime, tmp_path):
    """Range X launches 40 % of the copies and operator X others, 30 %: neither has half."""
    trace, now = Trace(), 100
    for number in range(100):
        part = number % 10
        if part < 4:
            trace.range("X", now - 30, 20)
        trace.event("cpu_op", f"other_{part}" if part < 4 else "X" if part < 7 else f"z_{part}", now - 30, 20)
        trace.op(now, 500, name="Memcpy DtoH (Device -> Pinned)", call="cudaMemcpy", launched=now - 20, call_length=5,
                 bytes=8 * 10**6)
        trace.op(now + 500, 500, launched=now + 10)
        now += 1030
    finding = findings_of(gputime, trace.write(tmp_path))["copies_in_line"]
    assert "'X'" not in finding["title"] + " ".join(finding["evidence"]), finding


def test_long_names_of_calls_are_cut_before_a_character(gputime, tmp_path):
    trace = Trace()
    for number in range(12):
        trace.op(1000 * number + 620, 300, launched=1000 * number + 600)
        trace.call("cudaMalloc" + "\u00e9" * 3000, 1000 * number + 1, 500)
    finding = findings_of(gputime, trace.write(tmp_path))["allocator"]
    assert finding["title"].startswith("cudaMalloc" + "\u00e9" * 27 + "... keeps the GPU waiting: ")
    assert all(len(sentence) < 150 and "\ufffd" not in sentence for sentence in finding["evidence"])


def test_a_span_of_no_time_has_no_verdict(gputime, tmp_path):
    trace = Trace()
    trace.op(100, 0)
    report = gputime.json("findings", trace.write(tmp_path))
    assert "findings_verdict" not in report["facts"] and report["findings"] == []
    dense(trace, 100, 3)
    assert "findings_verdict" in gputime.json("findings", trace.write(tmp_path))["facts"]
