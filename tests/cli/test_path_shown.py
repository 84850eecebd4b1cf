"""How the critical path is shown: in comparisons, limits and reports, complete in data and readable on the screen."""

import json
import re

import pytest
from commandline import error_of
from kineto_by_hand import US, Trace
from samples import DATA

EAGER, COMPILED = DATA / "diff/llama_train_eager.json.gz", DATA / "torch/llama_train_compiled.json.gz"


def rows(report, table):
    return report["tables"][table]["rows"]


def steps_of(tmp_path, name, forward, backward, kernel, steps=4, first=0):
    """Steps with two launches each, after CPU time in two ranges; the step ends when the CPU has waited for its kernel."""
    trace, now = Trace(), 0
    for number in range(steps):
        extra = first if number == 0 else 0
        begin = now
        trace.range("forward", now, forward + extra)
        now = trace.op(now + forward + extra + 7, 10, "small", launched=now + forward + extra, call_length=5) - 5
        trace.range("backward", now, backward)
        end = trace.op(now + backward + 7, kernel, "ampere_sgemm", launched=now + backward, call_length=5)
        trace.call("cudaDeviceSynchronize", now + backward + 6, end + 3 - now - backward - 6)
        now = end + 4
        trace.range(f"ProfilerStep#{number}", begin, now - begin)
    folder = tmp_path / name
    folder.mkdir()
    return trace.write(folder)


def unexplained(tmp_path):
    """Kernels that begin 3 ms after their launch for no reason that the trace has."""
    trace = Trace()
    for i in range(20):
        begin = 4000 * i + (10 if i % 2 else 3500)
        trace.op(begin, 20, launched=4000 * i, call_length=5)
        trace.call("cudaDeviceSynchronize", 4000 * i + 6, begin - 4000 * i + 20)
    folder = tmp_path / "unexplained"
    folder.mkdir()
    return trace.write(folder)


def said_of_path(report):
    return [note for note in report["inputs"][0]["notes"] if "critical path" in note]


# ---- segments ----


@pytest.mark.parametrize("path", [EAGER, COMPILED])
def test_data_has_all_segments_of_every_window(gputime, path):
    report = gputime.json("path", "--top", "3", path)
    windows = {row["window"]: row for row in rows(report, "replay") if row["window"] != "run"}
    assert len(windows) == 3 and "total_rows" not in report["tables"]["critical_path"]
    segments = rows(report, "critical_path")
    for name, window in windows.items():
        own = [row for row in segments if row["window"] == name]
        assert len(own) == window["segments"] and own[0]["start_ns"] == window["start_ns"]
        assert all(a["end_ns"] == b["start_ns"] for a, b in zip(own, own[1:]))
        assert all(row["end_ns"] - row["start_ns"] == row["dur_ns"] for row in own)
        assert sum(row["dur_ns"] for row in own) == window["wall_ns"]
    assert sum(window["segments"] for window in windows.values()) == len(segments)


@pytest.mark.parametrize("path", [EAGER, COMPILED])
def test_segments_say_where_they_are(gputime, path):
    segments = rows(gputime.json("path", path), "critical_path")
    for row in segments:
        if row["kind"] in ("kernel", "comm", "copy", "queue"):
            assert row["device"] is not None and row["stream"] is not None, row
        elif row["kind"] in ("cpu", "call"):
            assert row["pid"] is not None and (row["tid"] is not None or row["inferred"]), row
    assert {row["kind"] for row in segments} >= {"kernel", "cpu", "launch", "sync"}
    text = gputime("path", "--csv", "--table", "critical_path", path).stdout.decode().splitlines()
    assert len(text) == len(segments) + 1


# ---- parts of the path ----


def test_parts_add_up_to_the_windows(gputime):
    for path in (EAGER, COMPILED):
        report = gputime.json("path", path)
        parts = rows(report, "path_parts")
        run = rows(report, "replay")[0]
        assert run["window"] == "run" and sum(row["total_ns"] for row in parts) == run["wall_ns"]
        by_kind = {}
        for row in parts:
            by_kind[row["kind"]] = by_kind.get(row["kind"], 0) + row["total_ns"]
            assert row["name"] == row["kind"] or re.fullmatch(rf"{row['kind']} \(.+\)", row["name"])
        assert by_kind == {row["kind"]: row["total_ns"] for row in rows(report, "path_kinds") if row["window"] == "run"}
        assert sum(row["share"] for row in parts) == pytest.approx(1)
        assert [row["total_ns"] for row in parts] == sorted((row["total_ns"] for row in parts), reverse=True)


def test_cpu_time_is_named_by_its_range_and_ops_by_their_category(gputime, tmp_path):
    parts = {row["name"]: row for row in
             rows(gputime.json("path", steps_of(tmp_path, "a", 300, 500, 100)), "path_parts")}
    assert parts["cpu (forward)"]["total_ns"] == 4 * 300 * US
    assert parts["cpu (backward)"]["total_ns"] == pytest.approx(4 * 500 * US, abs=4 * 10 * US)
    assert parts["kernel (gemm)"]["total_ns"] == 4 * 100 * US
    assert parts["cpu (forward)"]["windows"] == 4


# ---- comparisons ----


def test_a_comparison_says_which_part_of_the_path_changed(gputime, tmp_path):
    a, b = steps_of(tmp_path, "a", 300, 5000, 100), steps_of(tmp_path, "b", 300, 1100, 500)
    report = gputime.json("diff", a, b)
    (words,) = said_of_path(report)
    assert re.fullmatch(r"-3\.50 ms of critical path per step \(5\.\d+ ms -> 1\.\d+ ms, -\d\d\.\d%\): "
                        r"cpu \(backward\) -3\.90, kernel \(gemm\) \+0\.40\.", words), words
    changes = {row["name"]: row["delta_total_ns"] for row in rows(report, "path_parts")}
    assert changes["cpu (backward)"] == -3900 * US and changes["kernel (gemm)"] == 400 * US


@pytest.mark.parametrize("paths", [(EAGER, COMPILED), (COMPILED, EAGER)])
def test_the_changes_add_up_to_that_of_the_step(gputime, paths):
    report = gputime.json("diff", *paths)
    compared = rows(report, "path_parts")
    for side, path in zip("ab", paths):
        steps = [row for row in rows(gputime.json("path", path), "replay") if row["window"].startswith("step")]
        left_out = len(steps) - step_count(report, side)
        mean = sum(row["wall_ns"] for row in steps[left_out:]) / len(steps[left_out:])
        assert sum(row[f"{side}_total_ns"] for row in compared) == pytest.approx(mean, abs=0.5)
    change = sum(row["delta_total_ns"] for row in compared)
    assert change == pytest.approx(sum(row["b_total_ns"] - row["a_total_ns"] for row in compared), abs=0.5)
    assert len(said_of_path(report)) == 1


def step_count(report, side):
    """Steps that amounts are divided by."""
    said = next(note for note in report["inputs"][0]["notes"] if note.startswith("Amounts are per step"))
    return int(re.search(rf"(\d+) in {side.upper()}", said).group(1))


def test_warm_up_is_no_part_of_the_mean(gputime, tmp_path):
    a, b = steps_of(tmp_path, "a", 300, 500, 100, first=9000), steps_of(tmp_path, "b", 300, 500, 100)
    report = gputime.json("diff", a, b)
    changes = {row["name"]: row["delta_total_ns"] for row in rows(report, "path_parts")}
    assert changes["cpu (forward)"] == 0


def test_the_path_is_that_of_a_step_whatever_amounts_are_per(gputime, tmp_path):
    a, b = steps_of(tmp_path, "a", 300, 500, 100), steps_of(tmp_path, "b", 400, 500, 100, steps=7)
    report = gputime.json("diff", "--per", "none", a, b)
    changes = {row["name"]: row["delta_total_ns"] for row in rows(report, "path_parts")}
    assert changes["cpu (forward)"] == 100 * US
    assert re.match(r"\+100 us of critical path on average \(", said_of_path(report)[0])


def test_nothing_is_said_of_a_path_that_is_refused(gputime, tmp_path):
    good, bad = steps_of(tmp_path, "a", 300, 500, 100), unexplained(tmp_path)
    for paths in ((good, bad), (bad, good)):
        report = gputime.json("diff", *paths)
        assert not said_of_path(report)
        assert all(row["delta_total_ns"] is None for row in rows(report, "path_parts"))
        notes = [note for capture in report["inputs"][1:] for note in capture["notes"] if "ritical path" in note]
        assert len(notes) == 1 and "replay error" in notes[0]


def test_nothing_is_said_of_a_path_that_did_not_change(gputime, tmp_path):
    a = steps_of(tmp_path, "a", 300, 500, 100)
    report = gputime.json("diff", a, a)
    assert not said_of_path(report) and all(row["delta_total_ns"] == 0 for row in rows(report, "path_parts"))


def test_parts_of_the_path_are_a_table_of_comparisons(gputime, tmp_path):
    a, b = steps_of(tmp_path, "a", 300, 500, 100), steps_of(tmp_path, "b", 300, 400, 100)
    chosen = gputime.json("diff", "--of", "path_parts", a, b)
    assert list(chosen["tables"]) == ["path_parts"] and said_of_path(chosen)
    shown = gputime("diff", a, b).stdout.decode()
    assert "cpu (backward) -100" in " ".join(shown.split())


@pytest.mark.parametrize("table", ["path_kinds", "path_windows", "replay", "whatif"])
def test_windows_are_not_compared_one_by_one(gputime, table):
    done = gputime("diff", "--of", table, EAGER, COMPILED)
    assert done.returncode == 2 and b"has nothing to compare" in done.stderr


def test_kernels_and_cpu_time_on_the_path_are_compared_per_step(gputime):
    for table, amount in (("path_kernels", "path_ns"), ("path_host", "total_ns")):
        whole = {row["name"] if "name" in row else (row["range"], row["operator"], row["call"]): row[amount]
                 for row in rows(gputime.json("path", EAGER), table)}
        for row in rows(gputime.json("diff", "--of", table, EAGER, EAGER), table):
            key = row["name"] if "name" in row else (row["range"], row["operator"], row["call"])
            assert row[f"a_{amount}"] == pytest.approx(whole[key] / 3), key


# ---- limits ----


def test_limits_on_parts_of_the_path(gputime, tmp_path):
    path = steps_of(tmp_path, "a", 300, 500, 100)
    share = sum(row["share"] for row in rows(gputime.json("path", path), "path_parts") if row["kind"] == "cpu")
    for limit, status in ((f"path:cpu*<{100 * share + 0.1:.2f}%", 0), (f"path:cpu*<{100 * share - 0.1:.2f}%", 3),
                          (f"path:cpu<{100 * share + 0.1:.2f}%", 0), (f"path:CPU<{100 * share - 0.1:.2f}%", 3),
                          ("path:cpu (forward)<301us", 0), ("path:cpu (forward)<299us", 3), ("each path:*<90%", 0),
                          ("path:comm*<1%", 0)):
        done = gputime("check", path, "--limit", limit)
        assert done.returncode == status, (limit, done.stderr)
    assert gputime("check", path, "--limit", "idle<100%").returncode == 0


def test_a_name_that_matches_nothing_lists_those_there_are(gputime, tmp_path):
    path = steps_of(tmp_path, "a", 300, 500, 100)
    for arguments in (("check", path, "--limit", "path:forward<10%"), ("check", path, "--limit", "each path:forward<10%"),
                      ("diff", path, path, "--fail-if", "path:forward>+10%")):
        done = gputime(*arguments)
        assert "matches 'forward'; there are 'cpu (backward)', 'cpu (forward)', " in error_of(done, 2)
        assert error_of(done, 2).count("'cpu (") == 2


def test_limits_on_changes_of_the_path(gputime, tmp_path):
    a, b = steps_of(tmp_path, "a", 300, 500, 100), steps_of(tmp_path, "b", 400, 500, 100)
    assert gputime("diff", a, b, "--fail-if", "path:cpu*>+5%").returncode == 3
    assert gputime("diff", a, b, "--fail-if", "path:cpu>+5%").returncode == 3
    assert gputime("diff", a, b, "--fail-if", "path:kernel*>+5%").returncode == 0
    limits = tmp_path / "limits.txt"
    limits.write_text("# nothing\npath:cpu (forward)>+50us\n")
    assert gputime("diff", a, b, "--limits", limits).returncode == 3


def test_a_refused_path_has_no_limits(gputime, tmp_path):
    done = gputime("check", unexplained(tmp_path), "--limit", "path:cpu*<50%")
    assert done.returncode == 2 and b"critical path" in done.stderr


# ---- what people read ----


def lines_of(gputime, *args, width=80):
    done = gputime(*args, "--width", str(width))
    assert done.returncode == 0, done.stderr
    return done.stdout.decode().splitlines()


def below(lines, title):
    """Header and rows of a table of the screen."""
    start = next(i for i, line in enumerate(lines) if line.startswith(title)) + 1
    end = lines.index("", start) if "" in lines[start:] else len(lines)
    return lines[start:end]


def test_the_screen_has_the_run_and_no_step_that_is_like_it(gputime):
    lines = lines_of(gputime, "path", EAGER)
    kinds = below(lines, "Critical path by kind")
    assert {line.split()[0] for line in kinds[2:-1]} == {"run"} and "18 more rows" in kinds[-1]
    replay = below(lines, "Replay of the dependency graph")
    assert replay[2].startswith("run ") and "3 more rows" in replay[3]
    chosen = below(lines_of(gputime, "path", "--step", "4", EAGER), "Critical path by kind")
    assert all(line.startswith("step 4 ") for line in chosen[2:])


def test_columns_that_say_nothing_are_left_out_of_the_screen(gputime, tmp_path):
    path = steps_of(tmp_path, "a", 300, 500, 100)
    lines = lines_of(gputime, "path", path)
    host = below(lines, "CPU time on the critical path")
    assert "Range" in host[0] and "Operator" not in host[0] and "Call" not in host[0]
    assert "Inferred" not in below(lines, "Critical path by kind")[0]
    assert "slack" not in "".join(lines).lower()
    markdown = gputime("path", "--md", path).stdout.decode()
    assert "| Range |" in markdown and "Operator" not in markdown
    asked = lines_of(gputime, "path", "--table", "path_host", "--columns", "range,call,total_ns", path)
    assert any("Call" in line for line in asked)
    csv = gputime("path", "--csv", "--table", "path_host", path).stdout.decode()
    assert csv.splitlines()[0] == "input,range,operator,call,total_ns,share"


def test_savings_of_nothing_are_left_out_of_the_screen(gputime):
    lines = lines_of(gputime, "whatif", EAGER)
    table = below(lines, "What would save time")
    assert "Trust" in " ".join(table[:2]) and "At least" not in " ".join(table[:2]) and "Window" not in table[1]
    shares = [re.search(r"(<?[\d.]+)%", line).group(1) for line in table[3:-1]]
    assert all(float(share) >= 0.1 for share in shares) and len(shares) >= 4
    assert "more row" in table[-1]
    report = gputime.json("whatif", EAGER)
    assert any(row["saved_share"] < 0.0005 for row in rows(report, "whatif"))


@pytest.mark.parametrize("width", [80, 140])
@pytest.mark.parametrize("command", ["path", "whatif"])
def test_nothing_is_cut_from_usual_screens(gputime, command, width):
    for path in (EAGER, COMPILED):
        lines = lines_of(gputime, command, path, width=width)
        assert all(len(line) <= width for line in lines)
        assert not any("not shown:" in line for line in lines), lines


def test_savings_in_words(gputime, tmp_path):
    """The first sentence of a prediction has the numbers of the table, per step."""
    path = steps_of(tmp_path, "a", 300, 500, 100)
    for arguments, change, pattern in (
            ((), "cpu=2", r"^A CPU twice as fast would save ([\d.]+)%: ([\d.]+) us a step instead of ([\d.]+) (us|ms)\."),
            (("--no", "launch"), None, r"^This would save ([\d.]+)%: ([\d.]+) us a step instead of ([\d.]+) (us|ms)\.")):
        report = gputime.json("whatif", path, *arguments)
        row = next(row for row in rows(report, "whatif") if row["window"] == "run" and change in (None, row["change"]))
        shown = re.search(pattern, report["inputs"][0]["notes"][0])
        assert float(shown[1]) == pytest.approx(100 * row["saved_share"], abs=0.06)
        assert float(shown[2]) == pytest.approx(row["predicted_ns"] / 4e3, rel=1e-3)
        assert "".join(gputime("whatif", path, *arguments).stdout.decode().split()).find(
            "".join(shown[0].split())) < 200
    assert gputime.json("whatif", path, "--scale", "*=2")["inputs"][0]["notes"][0].startswith("This would cost ")
    assert "almost nothing" in gputime.json("whatif", path, "--class", "comm=0.5")["inputs"][0]["notes"][0]


def test_a_mean_with_warm_up_says_so(gputime, tmp_path):
    """The mean of the path has all steps; findings leave the warm-up out."""
    path = steps_of(tmp_path, "cold", 300, 500, 100, first=20_000)
    windows = [row for row in rows(gputime.json("path", path), "path_windows") if row["window"].startswith("step")]
    usual_ms = sum(row["total_ns"] for row in windows[1:]) / len(windows[1:]) / 1e6
    text = " ".join(gputime("path", path).stdout.decode().split())
    shown = re.search(r"1 of 4 steps is warm-up; without it a step takes ([\d.]+) (us|ms) on average\.", text)
    assert float(shown[1]) * {"us": 1e-3, "ms": 1}[shown[2]] == pytest.approx(usual_ms, rel=2e-3)
    assert "warm-up" not in gputime("path", steps_of(tmp_path, "even", 300, 500, 100)).stdout.decode()
    assert "warm-up" not in gputime("path", path, "--step", "1-3").stdout.decode()


def test_a_refusal_is_said_first_and_no_list_of_dashes_follows(gputime, tmp_path):
    path = unexplained(tmp_path)
    words = gputime("path", path, "--width", "200").stdout.decode().split("\n\n")
    assert words[1].startswith("The critical path cannot be trusted, and nothing is predicted or compared from it: the "
                               "dependency graph explains 'trace' badly: ")
    done = gputime("whatif", path)
    assert done.returncode == 1
    table = below(done.stdout.decode().splitlines(), "What would save time")
    assert sum("refused" in line for line in table) == 1


# ---- explain ----


def test_explain_has_the_path_if_it_is_asked_for(gputime, tmp_path):
    plain = gputime("explain", EAGER).stdout.decode()
    assert "ritical path" not in plain
    text = gputime("explain", "--path", EAGER).stdout.decode()
    assert "\nStep 36.32 ms on average: 82% CPU work" in text and "\nCritical path by kind" in text
    done = gputime("explain", "--path", EAGER, "--out", tmp_path / "report")
    assert done.returncode == 0, done.stderr
    assert "### Critical path by kind" in (tmp_path / "report/report.md").read_text()
    tables = json.loads((tmp_path / "report/report.json").read_text())["tables"]
    assert {row["window"] for row in tables["path_kinds"]["rows"]} >= {"run", "step 3"} and tables["path_parts"]["rows"]


def test_ranges_of_a_step(gputime, tmp_path):
    """--step and --from leave ranges that are inside."""
    path = steps_of(tmp_path, "a", 100, 200, 50)
    every = rows(gputime.json("path", "--range", "*ward", path), "path_windows")
    assert len(every) == 8
    third = rows(gputime.json("path", "--range", "*ward", "--step", "2", path), "path_windows")
    assert third == every[4:6]
    assert rows(gputime.json("path", "--range", "*ward", "--step", "1-2", path), "path_windows") == every[2:6]
    saved = rows(gputime.json("whatif", "--cpu", "2", "--range", "forward", "--step", "2", path), "whatif")
    assert [row["base_ns"] for row in saved] == [third[0]["total_ns"]]
    middle = third[1]["start_ns"]
    late = rows(gputime.json("path", "--range", "*ward", "--from", f"{middle}ns", path), "path_windows")
    assert [row["total_ns"] for row in late] == [row["total_ns"] for row in every[5:]]
    message = error_of(gputime("path", "--range", "*ward", "--step", "2", "--to", "10us", path), 2)
    assert "no range inside what is selected is named '*ward'" in message


def test_a_step_between_two_times(gputime, tmp_path):
    path = steps_of(tmp_path, "a", 100, 200, 50)
    second = rows(gputime.json("path", "--step", "1", path), "path_windows")[0]
    middle = second["start_ns"] + 100 * US
    (late,) = rows(gputime.json("path", "--step", "1", "--from", f"{middle}ns", path), "path_windows")
    assert (late["window"], late["total_ns"]) == ("step 1", second["total_ns"] - 100 * US)


def test_windows_of_one_name_are_shown_with_their_start(gputime, tmp_path):
    path = steps_of(tmp_path, "a", 100, 200, 50)
    for arguments in (["whatif", "--cpu", "2"], ["path", "--table", "path_windows"]):
        by_range = gputime(*arguments, "--range", "forward", path).stdout.decode()
        assert "Start" in by_range and "Start" not in gputime(*arguments, path).stdout.decode()
    starts = [row["start_ns"] for row in rows(gputime.json("whatif", "--cpu", "2", "--range", "forward", path), "whatif")]
    assert starts == [row["start_ns"] for row in rows(gputime.json("path", "--range", "forward", path), "path_windows")]


def test_a_refused_path_gives_no_advice(gputime, tmp_path):
    path = unexplained(tmp_path)
    report = gputime.json("path", path)
    assert rows(report, "path_kernels") and {row["saved_ns"] for row in rows(report, "path_kernels")} == {None}
    text = " ".join(gputime("path", path).stdout.decode().split())
    assert text.count("too much is unexplained to say what would save time") == 1


def test_a_file_without_calls_says_so_once(gputime):
    text = gputime("path", DATA / "nsys-csv/mini_cuda_gpu_trace.csv").stdout.decode()
    assert text.count("Incomplete (") == 1 and "No CPU time" not in text
    assert "The trace has no calls: CPU time is not known." in text


@pytest.mark.parametrize("chosen", [["--name", "small"], ["--device", "0"], ["--category", "gemm"]], ids=lambda it: it[0])
def test_a_selection_of_ops_has_no_effect(gputime, tmp_path, chosen):
    path = steps_of(tmp_path, "a", 100, 200, 50)
    whatif, way = (" ".join(gputime(command, *chosen, path).stdout.decode().split()) for command in ("whatif", "path"))
    assert "All GPU work is simulated: selecting GPUs, streams or ops has no effect." in whatif
    assert "The critical path leads through all GPU work, not only through what is selected." in way
    assert "counts as idle" not in whatif + way
    assert rows(gputime.json("whatif", *chosen, path), "whatif") == rows(gputime.json("whatif", path), "whatif")


def test_calls_on_the_path_have_names(gputime, tmp_path):
    """A call that frees memory takes most of the time: the parts and the list of changes name it."""
    trace = Trace()
    for i in range(5):
        trace.op(1000 * i + 12, 20, launched=1000 * i, call_length=10)
        trace.call("cudaFree_v3020", 1000 * i + 40, 700)
    path = trace.write(tmp_path)
    parts = {row["name"]: row["total_ns"] for row in rows(gputime.json("path", path), "path_parts")}
    assert parts["call (cudaFree)"] == 4 * 700 * US and "call" not in parts
    assert "launch (cudaLaunchKernel)" in parts and "launch" not in parts
    saved = {row["change"]: row["saved_ns"] for row in rows(gputime.json("whatif", path), "whatif")}
    assert saved["without:cudaFree_v3020"] == 4 * 700 * US


def test_of_two_factors_of_a_class_the_last_counts(gputime, tmp_path):
    path = steps_of(tmp_path, "a", 100, 200, 50)
    twice, once = (rows(gputime.json("whatif", *arguments, path), "whatif") for arguments in (
        ["--class", "gemm=0.5", "--cpu", "2", "--class", "gemm=2"], ["--class", "gemm=2", "--cpu", "2"]))
    for row in twice + once:
        assert sorted(row.pop("change").split(", ")) == ["class:gemm=2", "cpu=2"]
    assert twice == once


@pytest.mark.parametrize("change", [["--class", "moe_gemm=0.5"], ["--overlap", "comm"]], ids=lambda it: it[0])
def test_a_change_of_nothing_says_so(gputime, tmp_path, change):
    path = steps_of(tmp_path, "a", 100, 200, 50)
    key = change[0][2:] + ":" + change[1]
    assert f"'{key}' changes nothing: the trace has no such ops." in gputime("whatif", *change, path).stdout.decode()
    assert "changes nothing" not in gputime("whatif", "--class", "gemm=0.5", path).stdout.decode()


def test_words_that_no_option_has(gputime, tmp_path):
    path = steps_of(tmp_path, "a", 100, 200, 50)
    assert "'bogus' is nothing to leave out; --no takes launch, think or sync" in error_of(
        gputime("whatif", "--no", "bogus", path), 2)
    assert "'bogus' is nothing to overlap; --overlap takes comm" in error_of(gputime("whatif", "--overlap", "bogus", path), 2)


def test_a_long_name_of_a_range_is_marked_as_cut(gputime, tmp_path):
    trace = Trace()
    for i in range(5):
        trace.range("a_range_with_a_name_of_far_more_than_forty_letters", 1000 * i + 20, 950)
        trace.op(1000 * i + 12, 5, launched=1000 * i, call_length=10)
    text = " ".join(gputime("path", trace.write(tmp_path)).stdout.decode().split())
    assert "CPU work (a_range_with_a_name_of_far_more_than_for…: 9" in text
