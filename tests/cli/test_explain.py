"""explain: its options, its folder and the sentences in it, whatever a trace has or lacks."""

import collections
import json
import re

import pytest

from samples import DATA, own_capture, sample_name, with_shared
from explained import CASES, OWN_TABLES, check_csv_in_json, check_markdown_in_json, database, explain, unpack


# ---- files that the old tool has not ----


def test_categories_idle_causes_and_phases_have_files_like_the_others(gputime, tmp_path):
    new = explain(gputime, unpack("full", tmp_path), tmp_path / "out")
    for table, name in OWN_TABLES.items():
        rows = new.csv(table)
        assert rows and [row[name] for row in rows] == [row[name] for row in new.table(table)], table
        totals = {"phases": ("exclusive_time_ms", "exclusive_ns")}.get(table, ("total_time_ms", "total_ns"))
        assert [float(row[totals[0]]) * 1e6 for row in rows] == pytest.approx([row[totals[1]] for row in new.table(table)])
        assert sum(float(row[next(key for key in row if key.startswith("pct_"))]) for row in rows) == pytest.approx(
            100 * len({row.get("device_id") for row in rows})), table
    bare = explain(gputime, DATA / "empty.json", tmp_path / "out")
    assert not any((bare.path / f"tables/{table}.csv").exists() for table in OWN_TABLES)


# ---- options ----


def long_trace(path, count=90):
    """As many kernels of different names, with a gap after each."""
    rows = [{"ph": "X", "cat": "kernel", "name": f"kernel_{number}", "pid": 0, "tid": 7, "ts": 10 * number, "dur": 5,
             "args": {"device": 0, "stream": 7, "correlation": number}} for number in range(1, count + 1)]
    path.write_text(json.dumps({"schemaVersion": 1, "traceEvents": rows}))
    return path


@pytest.mark.parametrize("options, kernels, gaps", [([], 30, 50), (["--top", "0"], 90, 89), (["--top", "7"], 7, 7),
                                                    (["--kernel-limit", "0"], 90, 50), (["--kernel-limit", "3"], 3, 50),
                                                    (["--top", "0", "--kernel-limit", "4"], 4, 89)], ids=str)
def test_top_limits_every_list_and_0_lifts_all_limits(gputime, tmp_path, options, kernels, gaps):
    new = explain(gputime, long_trace(tmp_path / "t.json"), tmp_path / "out", *options)
    assert (len(new.csv("kernels")), len(new.csv("gpu_idle_gaps"))) == (kernels, gaps)
    assert (len(new.table("kernels")), len(new.table("gaps"))) == (kernels, gaps)
    shown = gputime("explain", tmp_path / "t.json", *options).stdout.decode()
    assert len(re.findall(r"^kernel_\d+ ", re.split("^Kernels.*\n", shown, flags=re.MULTILINE)[1], re.MULTILINE)) == kernels


@pytest.mark.parametrize("when", ["2026-01-31", "2024-02-29T23:59", "2026-01-31T09:30:00Z", "2026-01-31T09:30:60.25+01:00",
                                  "2026-01-31T09:30:00-05"])
def test_a_time_to_state_is_a_time(gputime, tmp_path, when):
    done = gputime("explain", DATA / "overlap.json", "--out", tmp_path / "out", "--generated-at", when)
    assert done.returncode == 0, done.stderr
    assert json.loads((tmp_path / "out/report.json").read_text())["generated_at"] == when


@pytest.mark.parametrize("when", ["yesterday", "2026", "2026-01", "2026-1-31", "2026-13-01", "2026-02-29", "2026-00-10",
                                  "2026-01-31T", "2026-01-31T24:00", "2026-01-31T09:60", "2026-01-31T09:30:61",
                                  "2026-01-31T09:30:00.", "2026-01-31T09:30:00+", "2026-01-31T09:30:00+1:00",
                                  "2026-01-31 09:30:00", "2026-01-31T09:30:00Z ", "2026-01-31Z", "-026-01-31", "2026-01-3a"])
def test_what_is_no_time_is_a_usage_error(gputime, tmp_path, when):
    done = gputime("explain", DATA / "overlap.json", "--out", tmp_path / "out", f"--generated-at={when}")
    assert done.returncode == 2 and f"'{when}'".encode() in done.stderr and not (tmp_path / "out").exists()


def test_options_of_the_old_tool(gputime, tmp_path):
    trace = unpack("full", tmp_path)
    few = explain(gputime, trace, tmp_path / "few", "--top-kernels", "1", "--no-kernel-percentiles", "--phases-json", CASES / "full/phases.json")
    assert [row["kernel_name"] for row in few.csv("kernels")] == ["flash_fwd_kernel"] * 2
    assert {(row["p50_duration_us"], row["p90_duration_us"]) for row in few.csv("kernels")} == {("", "")}
    assert few.metrics["nvtx_kernel_phases"]["present"] is True
    bare = explain(gputime, trace, tmp_path / "bare", "--no-nvtx-kernel-map")
    assert bare.metrics["nvtx_kernel_time"]["present"] is False and bare.metrics["nvtx_kernel_phases"] is None
    assert {row["attributed_kernel_count"] for row in bare.csv("nvtx_by_pid")} == {""}
    assert [row["count"] for row in bare.csv("nvtx_ranges")] == ["2", "2", "12", "6", "4", "2"]


def test_without_kernels_of_ranges_phases_stay_and_nothing_is_said_to_be_zero(gputime, tmp_path):
    trace = unpack("full", tmp_path)
    (tmp_path / "map.json").write_text('{"all": ["re:."]}')
    bare = explain(gputime, trace, tmp_path / "bare", "--phase-map", tmp_path / "map.json", "--no-nvtx-kernel-map")
    assert "### Phases" in bare.markdown and "Kernel time inside ranges" not in bare.markdown
    assert "range_kernel_coverage" not in bare.json["facts"]
    full = explain(gputime, trace, tmp_path / "full", "--phase-map", tmp_path / "map.json")
    assert bare.metrics["nvtx_phases"] == full.metrics["nvtx_phases"] and bare.metrics["nvtx_phases"]["present"]
    assert bare.metrics["nvtx_kernel_phases"] is None
    assert {row["exclusive_ns"] for row in bare.table("phases")} == {None}


def test_low_coverage_is_warned_of_below_the_threshold(gputime, tmp_path):
    trace = unpack("full", tmp_path)
    assert explain(gputime, trace, tmp_path / "a").metrics["nvtx_coverage_warn_threshold"] == 0.7
    high = explain(gputime, trace, tmp_path / "b", "--nvtx-coverage-warn-threshold", "0.79")
    warnings = "\n".join(high.json["warnings"])
    assert "78.6%" in warnings and "Process 4343" in warnings and "78.6%" in high.markdown
    assert not any("%" in warning for warning in explain(gputime, trace, tmp_path / "c").json["warnings"])
    refused = gputime("explain", trace, "--out", tmp_path / "d", "--nvtx-coverage-warn-threshold", "7")
    assert refused.returncode == 2 and b"'7'" in refused.stderr and not (tmp_path / "d").exists()


def test_print_schema_shows_tables_rows_and_columns_of_exports_and_what_other_inputs_hold(gputime, tmp_path):
    new = explain(gputime, unpack("full", tmp_path), tmp_path / "out", "--print-schema")
    assert "CUPTI_ACTIVITY_KIND_KERNEL (rows=144): start:INTEGER, end:INTEGER" in new.stdout
    assert "StringIds (rows=16): id:INTEGER, value:TEXT" in new.stdout
    other = explain(gputime, DATA / "overlap.json", tmp_path / "other", "--print-schema")
    assert "kernels (rows=3)" in other.stdout and other.json["schema"]["tables"] == {}


def test_print_schema_without_a_folder_prints_the_schema_and_nothing_else(gputime, tmp_path):
    trace = unpack("full", tmp_path)
    done = gputime("explain", trace, "--print-schema")
    lines = done.stdout.decode().splitlines()
    assert done.returncode == 0 and not done.stderr
    assert "StringIds (rows=16): id:INTEGER, value:TEXT" in lines
    assert all(" (rows=" in line for line in lines if line)
    folder = explain(gputime, trace, tmp_path / "out", "--print-schema")
    assert lines == [line for line in folder.stdout.splitlines() if " (rows=" in line] + [""]
    assert folder.table("kernels") and folder.table("findings")
    assert set(gputime.json("explain", trace, "--print-schema")["tables"]) == {
        "schema", "schema_columns", "schema_capabilities", "schema_processes", "trace_facts"}
    facts = gputime("explain", trace, "--print-schema", "--table", "trace_facts", "--csv").stdout.decode().splitlines()
    assert facts[1].endswith(",ops,GPU ops with timestamps,present")
    assert b"trace_facts" in gputime("explain", trace, "--print-schema", "--table", "qqqq").stderr
    written = gputime("explain", trace, "--print-schema", "--csv").stdout.decode().splitlines()
    assert written[0].startswith("input,table,role,rows") and len(written) == len(lines)


def test_data_that_was_not_found_in_a_damaged_trace_may_have_been_lost(gputime, tmp_path):
    states = {}
    for name, text in (("whole", (DATA / "overlap.json").read_bytes()), ("cut", (DATA / "overlap.json").read_bytes()[:-40])):
        path = tmp_path / f"{name}.json"
        path.write_bytes(text)
        table = gputime.json("explain", path, "--print-schema", "--table", "trace_facts")["tables"]["trace_facts"]
        states[name] = {row["fact"]: row["state"] for row in table["rows"]}
    assert states["whole"]["ops"] == states["cut"]["ops"] == "present"
    assert states["whole"]["ranges"] == "absent"
    assert states["cut"]["ranges"] == "not found (the file was only partly read)"
    assert states["whole"]["source"] == states["cut"]["source"] == "not in this format"


def test_the_time_is_that_of_source_date_epoch_or_of_the_run(gputime, tmp_path):
    trace = unpack("kernel_only", tmp_path)
    for environment, expected in (({"SOURCE_DATE_EPOCH": "86400"}, r"1970-01-02T00:00:00\+00:00"),
                                  ({"SOURCE_DATE_EPOCH": "x"}, r"20\d\d-\d\d-\d\dT.*\+00:00")):
        assert gputime("explain", trace, "--out", tmp_path / "out", env=environment).returncode == 0
        assert re.fullmatch(expected, json.loads((tmp_path / "out/report.json").read_text())["generated_at"])


def test_stdout_is_short_and_says_what_was_found_and_where_the_files_are(gputime, tmp_path):
    new = explain(gputime, unpack("full", tmp_path), tmp_path / "out")
    lines = new.stdout.splitlines()
    assert len(lines) <= 8 and "'flash_fwd_kernel'" in lines[1] and str(tmp_path / "out/report.md") in lines[-1]
    quiet = gputime("explain", unpack("full", tmp_path), "--out", tmp_path / "out", "-q")
    assert quiet.returncode == 0 and quiet.stdout == b""


# ---- the folder ----


def test_a_folder_is_updated_file_by_file_and_what_is_not_of_the_report_any_more_goes(gputime, tmp_path):
    folder = tmp_path / "a/b"
    explain(gputime, unpack("full", tmp_path), folder)
    (folder / "mine.txt").write_text("stays")
    second = explain(gputime, unpack("kernel_only", tmp_path), folder)
    assert not (folder / "tables/nvtx_by_pid.csv").exists() and (folder / "mine.txt").exists()
    assert second.csv("nvtx_ranges") == [] and not list(folder.rglob("*.tmp*"))


def test_a_folder_that_cannot_be_written_is_an_error_and_leaves_nothing(gputime, tmp_path):
    trace = unpack("full", tmp_path)
    (tmp_path / "file").write_text("")
    done = gputime("explain", trace, "--out", tmp_path / "file")
    assert done.returncode == 1 and b"file" in done.stderr
    (tmp_path / "out/tables").mkdir(parents=True)
    (tmp_path / "out/tables/kernels.csv").mkdir()
    done = gputime("explain", trace, "--out", tmp_path / "out")
    assert done.returncode == 1
    assert sorted(path.name for path in (tmp_path / "out").rglob("*")) == ["kernels.csv", "tables"]


def test_a_folder_is_about_one_trace(gputime, tmp_path):
    trace = unpack("full", tmp_path)
    done = gputime("explain", trace, DATA / "overlap.json", "--out", tmp_path / "out")
    assert done.returncode == 2 and not (tmp_path / "out").exists()
    assert gputime("explain", trace, DATA / "overlap.json").returncode == 0


# ---- traces that lack something ----


def test_what_a_trace_lacks_is_said(gputime, tmp_path):
    none = explain(gputime, unpack("kernel_only", tmp_path), tmp_path / "none")
    assert "no runtime calls" in none.markdown and "no ranges" in none.markdown
    assert none.metrics["nvtx_kernel_time"]["present"] is False and none.metrics["per_pid"]["present"] is False
    one = explain(gputime, database(tmp_path / "one.sqlite", [(5, 9, 0, 1, None, "only")]), tmp_path / "one")
    assert one.csv("kernels")[0]["kernel_name"] == "only" and one.metrics["launch_storm"]["total_launches"] == 1
    zero = explain(gputime, database(tmp_path / "zero.sqlite"), tmp_path / "zero")
    assert zero.metrics["launch_storm"]["total_launches"] == 0 and zero.csv("kernels") == []
    assert any(issue["id"] == "no_gpu_work" for issue in zero.json["issues"]) and "no_gpu_work" in zero.markdown


@pytest.mark.parametrize("sample", ["devices.json", "cpu-only.json", "empty.json", "hostile.json", "cut.json",
                                    "nsys/graph_whole.nsys-rep", "nsys-csv/mini_cuda_gpu_kern_sum.csv",
                                    "nsys-csv/mini_cuda_gpu_trace.csv"])
def test_any_input_gives_a_folder(hardened, tmp_path, sample):
    new = explain(hardened, DATA / sample, tmp_path / "out")
    check_markdown_in_json(new)
    check_csv_in_json(new)


JAX = own_capture("jax").report
INFER = with_shared([DATA / "nsys-more/infer_part.sqlite.gz"], "data/h200/nsys/infer/infer.nsys-rep")


@pytest.mark.parametrize("sample", INFER, ids=sample_name)
def test_phases_of_a_real_capture(gputime, unpacked, tmp_path, sample):
    new = explain(gputime, unpacked(sample), tmp_path / "out")
    check_markdown_in_json(new)
    check_csv_in_json(new)
    phases = {row["phase"]: row["total_kernel_time_ms"] for row in new.metrics["nvtx_kernel_phases"]["phases"]}
    assert {"prefill", "decode", "sampling"} <= set(phases)


def test_gaps_and_their_sums_agree_about_the_cpu(gputime):
    """The thread compiled for 692 of 773 ms, and a range of 45 us was around the launch in the end."""
    tables = gputime.json("gaps", JAX)["tables"]
    longest = next(row for row in tables["gaps"]["rows"] if 772_000_000 < row["gap_ns"] < 773_500_000)
    assert longest["meanwhile"] == "XlaCompileBackend:#module=jit_train_step,program_id=4642#"
    calls = {row["name"] for row in gputime.json(JAX, "--table", "launches")["tables"]["launches"]["rows"]}
    sums = collections.Counter()
    for row in tables["gaps"]["rows"]:
        if row["cause"] == "host" and row["meanwhile"] not in calls:
            sums[row["meanwhile"]] += row["gap_ns"]
    by_name = {row["name"]: row["total_ns"] for row in tables["idle_work"]["rows"]}
    name = longest["meanwhile"]
    assert sums[name] == by_name[name] == longest["gap_ns"]


def test_a_trace_without_gpu_work_is_said_to_have_none(gputime, tmp_path):
    trace = database(tmp_path / "t.sqlite", [], [], [])
    text = gputime("explain", trace, "--out", tmp_path / "out").stdout.decode()
    assert text.startswith("The trace has no GPU work.\n")
    markdown = (tmp_path / "out" / "report.md").read_text()
    assert "The trace has no memory ops." in markdown and "selection" not in markdown


def test_one_is_singular(gputime, tmp_path):
    trace = database(tmp_path / "t.sqlite", [(1000, 2000, 0, 100, 1, "k")], [(500, 600, 100, 1, 1, "cudaLaunchKernel")],
                     [(400, 700, 100, 1, "alone")])
    text = gputime("explain", trace, "--out", tmp_path / "out").stdout.decode()
    assert "launches: 1)" in text
    markdown = (tmp_path / "out" / "report.md").read_text()
    assert ", 1 GPU op\n" in markdown
    assert not re.findall(r"(?<![\d.,#])1 (?:[A-Z]+ )?[a-z]{2,}s\b", text + markdown)


def test_the_rate_says_of_what_time_it_is(gputime, tmp_path):
    text = gputime("explain", JAX, "--out", tmp_path / "out").stdout.decode()
    assert "Kernel launches: 1412, 6993/s in 201.9 ms without long gaps; median kernel 28.54 us\n" in text


def test_gaps_say_what_the_cpu_did_and_no_column_is_empty(gputime):
    text = gputime("explain", JAX).stdout.decode()
    assert "was in" in text.split("Longest idle gaps")[1].split("──")[0]
    assert "Kind" not in text
