"""define: every key of the JSON and every word on the screen is explained by docs/measures.md or docs/words.md, of which the
program has copies."""

import re

import pytest

from conftest import DATA, ROOT

MEASURES = (ROOT / "docs/measures.md").read_text(encoding="utf-8")
COMMANDS = [("summary",), ("kernels",), ("gaps",), ("gaps", "--per", "device"), ("ranges",), ("ranges", "--tree"), ("steps",),
            ("findings",), ("findings", "--why", "host_bound"), ("explain",), ("efficiency",)]
SAMPLES = ["overlap.json", "devices.json", "nsys/extras.nsys-rep", "nsys/graph_whole.nsys-rep",
           "nsys-csv/mini_cuda_gpu_kern_sum.csv"]
EVERYWHERE = {"input"}  # not of the trace; docs/json.md


ISSUES = re.findall(r'^GT_ISSUE\(\w+, "(\w+)"', (ROOT / "lib/events/issues.def").read_text(), re.MULTILINE)


def keys_of(report):
    keys = set(report["facts"]) | {one["id"] for one in report["findings"] + report["issues"]}
    for key, table in report["tables"].items():
        keys |= {key} | {column["key"] for column in table["columns"]}
    return keys - EVERYWHERE


@pytest.fixture(scope="module")
def keys(gputime):
    return set(ISSUES).union(*(keys_of(gputime.json(*command, DATA / sample)) for command in COMMANDS for sample in SAMPLES))


def define(gputime, key):
    done = gputime("define", key)
    assert done.returncode == 0, done.stderr
    return done.stdout.decode("utf-8")


def test_every_key_of_the_json_has_a_definition(gputime, keys):
    assert len(keys) > 150
    unknown = [key for key in sorted(keys) if gputime("define", key).returncode != 0]
    assert not unknown


def test_every_key_of_an_input_has_a_definition(gputime):
    keys = set(gputime.json("summary", DATA / "overlap.json")["inputs"][0]) - EVERYWHERE
    assert {"rank", "world_size", "rank_source", "host"} <= keys
    assert not [key for key in sorted(keys) if gputime("define", key).returncode != 0]
    assert "SLURM_PROCID" in define(gputime, "rank_source")


def test_every_key_of_a_comparison_has_a_definition(gputime):
    paths = DATA / "diff/llama_train_eager.json.gz", DATA / "torch/llama_train_compiled.json.gz"
    keys = keys_of(dict(gputime.json("diff", *paths, "--fail-if", "step>+99%"), facts={}))
    assert {"a_span_ns", "b_span_ns", "delta_span_ns", "noise_span_ns", "low_span_ns", "match", "limits", "b_name"} <= keys
    assert not [key for key in sorted(keys) if gputime("define", key).returncode != 0]
    text = define(gputime, "noise_span_ns")
    assert "\n    the larger of 1 % (--noise)" in text and "\n    last end - first start of the device's ops" in text
    assert "as divided" not in define(gputime, "match") and "were matched" in define(gputime, "match")
    for key in ("a_", "a_X_ns", "noise_nothing", "delta_"):
        assert gputime("define", key).returncode == 2, key


def test_a_column_has_its_formula_in_every_table_that_defines_it(gputime):
    text = define(gputime, "exposed_comm_ns")
    assert "accounting: one row for each device\n  exposed_comm_ns (ns)\n    |communication without compute|" in text
    rows = re.findall(r"^\| [^|]*`exposed_comm_ns`", MEASURES, re.MULTILINE)
    assert len(re.findall(r"^  (?! ).*exposed_comm_ns", text, re.MULTILINE)) == len(rows) > 1


def test_a_table_has_all_that_is_said_of_it(gputime):
    text = define(gputime, "accounting")
    assert "\n    compute_ns + exposed_comm_ns + exposed_memory_ns + idle_ns = span_ns\n" in text
    assert "\n  busy_ns (ns)\n    |all ops|\n" in text and "accounting_summary has three rows" in text
    assert "|---" not in text and "categories" not in text


def test_findings_and_issues_are_defined_with_the_names_of_their_columns(gputime):
    text = define(gputime, "host_bound")
    assert "\n  host_bound\n    what is claimed or measured: " in text and "\n    saving: " in text
    assert "ops with end = start" in define(gputime, "op_zero_length")


def test_what_only_a_paragraph_defines_is_that_paragraph(gputime):
    assert define(gputime, "idle_work").startswith("idle_causes: gaps by device and cause\n  idle_work splits")


def test_the_text_is_plain_and_fits_a_screen(gputime, keys):
    for key in sorted(keys):
        text = define(gputime, key)
        assert "`" not in text and "**" not in text
        assert all(len(line) < 80 or " " not in line.strip() for line in text.splitlines()), key


def test_no_definition_points_at_text_that_is_not_there(gputime, keys):
    assert "median dependency gap" in " ".join(define(gputime, "recoverable_ns").split())
    for key in sorted(keys):
        assert "\n    see below\n" not in define(gputime, key), key


def test_keys_of_the_files_of_explain(gputime):
    assert define(gputime, "gap_ms").startswith(
        "gap_ms in the files of 'gputime explain'\n  gap_ns/1000000 of the table gaps\n\ngaps: one row for each")
    assert "gap_ns (ns)" in define(gputime, "gap_ms")
    assert "share*100 of the table device_kernels" in define(gputime, "pct_total_kernel_time")
    assert "start_ns in the trace's own clock of the table gaps" in define(gputime, "gap_start_ns")
    assert "range_kernel_coverage*100, a fact" in define(gputime, "coverage_pct")


def test_every_column_of_the_files_of_explain_has_a_definition(gputime, tmp_path):
    assert gputime("explain", DATA / "nsys" / "extras.nsys-rep", "--out", tmp_path / "out").returncode == 0
    files = list((tmp_path / "out" / "tables").glob("*.csv"))
    columns = {column for file in files for column in file.read_text().splitlines()[0].split(",")}
    assert len(columns) > 20
    for column in sorted(columns):
        define(gputime, column)


# Columns whose values are words of gputime, not names of the trace.
WORD_COLUMNS = {"cause", "part", "state", "severity", "activity", "time_class", "measure", "status"}


def words_of(report):
    """Titles of tables and columns, and words in cells."""
    words = set()
    for table in report["tables"].values():
        words |= {table["title"]} | {column["title"] for column in table["columns"]}
        shown = WORD_COLUMNS & {column["key"] for column in table["columns"]}
        words |= {row[key] for row in table["rows"] for key in shown if row[key] is not None}
    return words


def unknown(gputime, words):
    return [word for word in sorted(words) if gputime("define", word).returncode != 0]


def test_every_word_on_a_screen_has_a_definition(gputime):
    words = set().union(*(words_of(gputime.json(*command, DATA / sample)) for command in [*COMMANDS, ("graph",), ("stats",)]
                          for sample in SAMPLES))
    assert {"host", "Potential saving", "% of launches", "Idle by CPU state", "steady", "high", "in untraced code"} <= words
    assert len(words) > 200 and not unknown(gputime, words)


def test_every_word_of_a_comparison_has_a_definition(gputime):
    paths = DATA / "diff/llama_train_eager.json.gz", DATA / "torch/llama_train_compiled.json.gz"
    words = words_of(gputime.json("diff", *paths))
    assert {"A: Busy", "up", "Streams, busy"} <= words and not unknown(gputime, words)


def test_parts_of_the_span_and_every_category_kind_have_a_definition(gputime):
    parts = ["compute", "exposed communication", "exposed memory", "idle", "compute", "comm", "memory", "mixed"]
    assert not unknown(gputime, parts)


def test_reasons_of_waits_that_nobody_caused_are_defined(gputime):
    for word, meaning in (("spread", "what nobody caused"), ("window", "it began before the trace")):
        assert meaning in " ".join(gputime("define", word).stdout.decode().split())


def test_words_are_found_in_any_case_and_without_their_remark(gputime):
    text = define(gputime, "SHARE OF BUSY")
    assert text == "Columns\n  Share of busy\n    wall time of a category / busy time (share of categories)\n"
    assert define(gputime, "Exposed") == define(gputime, "exposed") != define(gputime, "hidden")
    assert define(gputime, "op time") == define(gputime, "Op time (sum)")
    assert "Causes of idle time\n  host (cause)\n    the CPU had not launched" in define(gputime, "host")
    assert define(gputime, "A: Idle by cause") == define(gputime, "Idle by cause")


def test_a_key_comes_before_the_word(gputime):
    text = define(gputime, "share")
    assert text.index("\n  share (share of busy time)") < text.index("Traces and reports\n  share\n")


@pytest.mark.parametrize("words", [(), ("a", "b"), ("no_such_key",), ("",), ("`",), ("x" * 10000,)])
def test_anything_else_is_a_usage_error(hardened, words):
    done = hardened("define", *words)
    assert done.returncode == 2 and done.stdout == b"" and done.stderr.count(b"\n") == 1


def test_columns_of_events_that_are_about_launches(gputime):
    assert "start of the op - start of its launch call" in define(gputime, "launch_delay_ns")
    assert "start of the op - end of its launch call" in define(gputime, "queue_ns")
