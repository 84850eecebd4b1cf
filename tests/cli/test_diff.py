"""Comparisons: nothing changes against itself, what was changed is found, sums are kept.

The traces are made here, so that it is known what is different in them; real ones where there are some.
"""

import csv
import json

import pytest

import tracegen
from samples import DATA, sample_name
from test_matrix import FORMATS, SAMPLES, TABLES, check
from training import GEMM_A, GEMM_B, USUAL, event, rows_of, training, with_warm_up, words_of

# Tables that cannot be compared, and why. All others can: their columns say what tells rows apart and what adds up.
NO_AMOUNTS = {
    "findings": "sentences; what they go by is in other tables",
    "longest_ranges": "the first rows of many, whose sum says nothing",
    "schema": "tables of a file and their rows, not time",
    "schema_columns": "names of columns",
    "schema_capabilities": "what a file can tell",
    "schema_processes": "names of processes",
    "trace_facts": "kinds of data, not time",
    "critical_path": "single segments; path_parts has their sums",
    "path_kinds": "windows that contain each other; path_parts has those that count",
    "path_windows": "the same",
    "path_unknown": "the first of many",
    "replay": "windows that contain each other",
    "whatif": "the same, and simulated",
    "edge_kinds": "edges, not time",
    "edge_delays": "the same",
    "peaks": "figures of data sheets and clocks",
    "clocks": "clocks, not time",
    "memory_timeline": "memory at one time after another; memory_use has the peaks",
    "memory_steps": "memory after one step after another",
}


# ---- against itself ----


def assert_unchanged(report, where):
    for key, table in report["tables"].items():
        for row in table["rows"]:
            assert row["status"] == "same" and row["match"] == "exact", (where, key, row)
            for column in table["columns"]:
                name = column["key"]
                if name.startswith("delta_") or name in ("change", "contribution"):
                    assert row[name] in (None, 0), (where, key, name, row)


@pytest.mark.parametrize("sample", SAMPLES, ids=sample_name)
def test_nothing_changes_against_itself(gputime, unpacked, sample):
    path = unpacked(sample)
    for format in FORMATS:
        done = gputime("diff", path, path, "--format", format, "--width", "80")
        assert done.returncode == 0, done.stderr
        check(done.stdout, format, ["diff"])
    report = json.loads(gputime("diff", path, path, "--json").stdout)
    assert_unchanged(report, sample)
    assert len(report["inputs"]) == 3 and report["inputs"][0]["format"] == "comparison"


@pytest.mark.parametrize("sample", SAMPLES, ids=sample_name)
def test_every_table_against_itself(gputime, unpacked, sample):
    path = unpacked(sample)
    for table in NO_AMOUNTS:
        done = gputime("diff", path, path, "--of", table)
        assert b"Neither side has" in done.stdout if done.returncode == 0 else b"nothing to compare" in done.stderr, table
    for table in set(TABLES) - set(NO_AMOUNTS):
        done = gputime("diff", path, path, "--of", table, "--json", "--fail-if", "sum>0%")
        if done.returncode == 2:  # a capture without ops, or summed: it has no such measure
            done = gputime("diff", path, path, "--of", table, "--json")
        assert done.returncode == 0, (table, done.stderr)
        report = json.loads(done.stdout)
        assert set(report["tables"]) <= {table, "limits"}, table
        assert_unchanged({"tables": {key: rows for key, rows in report["tables"].items() if key != "limits"}}, table)
        for format in ("text", "md", "csv"):
            shown = gputime("diff", path, path, "--of", table, "--format", format, "--width", "80")
            is_absent = table not in report["tables"] and table != "time_parts"
            assert shown.returncode == (2 if format == "csv" and is_absent else 0), (table, shown.stderr)


def test_every_table_can_be_compared_or_says_why_not(gputime, unpacked):
    assert set(NO_AMOUNTS) <= set(TABLES), "a table that is no more"
    left = set(TABLES) - set(NO_AMOUNTS)
    for sample in [DATA / "nsys/extras.sqlite.gz", *SAMPLES]:
        for table in sorted(left):
            done = gputime("diff", unpacked(sample), unpacked(sample), "--of", table, "--json")
            assert b"nothing to compare" not in done.stderr, (table, "no column has LEADS, or rows were cut")
            if done.returncode == 0 and table in json.loads(done.stdout)["tables"]:
                left.remove(table)
    assert not left, "no sample has these tables"


# ---- what was changed is found ----


def test_only_the_changed_kernels_are_beyond_noise(gputime, changed):
    report = gputime.json("diff", *changed)
    rows = rows_of(report, "kernels")
    assert {name: row["status"] for name, row in rows.items() if row["status"] not in ("same", "noise")} == {
        "flash_fwd_kernel": "up", "softmax_warp_forward": "only A"}
    assert rows["flash_fwd_kernel"]["change"] == pytest.approx(0.2, abs=0.01)
    assert list(rows)[:2] == ["flash_fwd_kernel", "softmax_warp_forward"], "the largest change of the whole comes first"
    first = words_of(report)[0]
    assert first.startswith("+") and "per step" in first and "attention +" in first, first


def test_sums_are_kept_to_the_ns(gputime, changed):
    report = gputime.json("diff", *changed, "--per", "none")
    own = [gputime.json("summary", path)["tables"] for path in changed]
    for table, lead in (("kernels", "total_ns"), ("categories", "wall_ns"), ("categories", "total_ns"),
                        ("idle_causes", "total_ns"), ("accounting", "span_ns"), ("streams", "busy_ns")):
        rows = report["tables"][table]["rows"]
        sums = [sum(row[lead] for row in tables[table]["rows"]) for tables in own]
        assert [sum(row[f"{side}_{lead}"] for row in rows) for side in "ab"] == sums, table
        assert sum(row[f"delta_{lead}"] for row in rows) == sums[1] - sums[0], table
    span = rows_of(report, "measures")["span"]
    parts = [rows_of(report, "measures")[name]["delta_total_ns"]
             for name in ("compute", "exposed_comm", "exposed_memory", "idle")]
    assert span["delta_total_ns"] == sum(parts)


@pytest.mark.parametrize("seed", range(40))
def test_nothing_is_dropped_from_random_traces(gputime, tmp_path, seed):
    paths = [tmp_path / name for name in ("a.json", "b.json")]
    for path, offset in zip(paths, (0, 1000)):
        path.write_text(tracegen.trace(seed + offset)[0])
    report = gputime.json("diff", *paths, "--per", "none")
    own = [gputime.json("kernels", path, "--launches")["tables"] for path in paths]
    for table, lead in (("kernels", "total_ns"), ("kernels", "count"), ("launches", "count")):
        rows = report["tables"].get(table, {"rows": []})["rows"]
        for side, tables in zip("ab", own):
            assert sum(row[f"{side}_{lead}"] or 0 for row in rows) == sum(row[lead] for row in tables[table]["rows"])


def test_tables_say_which_time_and_show_what_is_noise(gputime, changed):
    shown = gputime("diff", *changed).stdout.decode()
    assert "\nRanges, exclusive sum\n" in shown
    assert "\nGPU time by category, wall\n" in shown and "\nKernels\n" in shown
    assert "over all" not in shown, "one GPU"
    categories = gputime.json("diff", *changed)["tables"]["categories"]["rows"]
    assert len(categories) <= 10 and all(f"\n{row['category']} " in shown for row in categories)
    assert gputime("diff", *changed, "--of", "idle_causes_all").stdout.count(b"all GPUs") == 1


# ---- captures of different length ----


def test_longer_captures_compare_by_step(gputime, trace):
    paths = trace("short.json", training(USUAL, steps=4)), trace("long.json", training(USUAL, steps=12, first_step=90))
    report = gputime.json("diff", *paths)
    assert words_of(report)[1] == "Amounts are per step: 4 in A, 12 in B."
    assert {row["status"] for row in report["tables"]["kernels"]["rows"]} <= {"same", "noise"}
    whole = gputime.json("diff", *paths, "--per", "none")
    assert rows_of(whole, "kernels")[GEMM_A]["change"] == pytest.approx(2, abs=0.01)
    by_launch = gputime.json("diff", *paths, "--per", "launch")
    assert rows_of(by_launch, "kernels")[GEMM_A]["a_count"] == pytest.approx(6 / 30)
    by_range = gputime.json("diff", paths[0], paths[0], "--per", "range", "ProfilerStep#4")
    assert "per instance of the range" in words_of(by_range)[0]
    for shown in ("kernels", "measures"):
        narrow = gputime.json("diff", paths[0], paths[0], "--per", "range", "ProfilerStep#4", "--of", shown)
        assert narrow["tables"] == {shown: by_range["tables"][shown]}, "ranges are counted whatever is shown"
    for args in (["--per", "range", "nothing"], ["--per", "week"], ["--per", "range"]):
        assert gputime("diff", *paths, *args).returncode == 2
    assert b"needs a name" in gputime("diff", *paths, "--per", "range", "--of", "kernels").stderr


def test_without_steps_whole_captures_compare(gputime):
    report = gputime.json("diff", DATA / "overlap.json", DATA / "names.json")
    assert words_of(report)[1] == "Amounts are totals of captures."
    assert gputime("diff", DATA / "overlap.json", DATA / "names.json", "--per", "step").returncode == 2


def test_steps_count_whole_however_many_there_are(gputime, trace):
    """Each waits for data before its first kernel, the first one too: between N steps there are only N - 1 such times."""
    many, few = (training(USUAL, steps=steps, jitter=0, wait_ns=2_000_000) for steps in (6, 2))
    steps = [row for row in many["traceEvents"] if row["name"].startswith("ProfilerStep")]
    paths = trace("many.json", many), trace("few.json", few)
    for a, b in (paths, paths[::-1]):
        report = gputime.json("diff", a, b, "--fail-if", "span>+0.1%", "--fail-if", "idle>+0.1%")
        assert [row["verdict"] for row in report["tables"]["limits"]["rows"]] == ["ok", "ok"]
        for measure in ("span", "idle", "busy", "step"):
            row = rows_of(report, "measures")[measure]
            assert row["a_total_ns"] == pytest.approx(row["b_total_ns"], rel=1e-3), measure
    span = rows_of(gputime.json("diff", *paths), "measures")["span"]
    start, end = steps[0]["ts"], steps[-1]["ts"] + steps[-1]["dur"]
    assert span["a_total_ns"] == pytest.approx((end - start) * 1000 / 6, abs=1)


def in_other_process(document, number):
    """The same on another GPU, launched by another process."""
    moved = []
    for row in document["traceEvents"]:
        args = dict(row["args"])
        if "correlation" in args:
            args["correlation"] += 100_000 * number
        if "device" in args:
            args["device"] = number
        pid = number if row["cat"] == "kernel" else row["pid"] + number
        moved.append(dict(row, pid=pid, args=args))
    return moved


def test_steps_of_several_processes_are_done_at_the_same_time(gputime, trace):
    document = training(USUAL, jitter=0, wait_ns=100_000)
    many = dict(document, traceEvents=[row for number in range(4) for row in in_other_process(document, number)])
    paths = trace("one.json", document), trace("four.json", many)
    for pair in (paths, paths[::-1]):
        report = gputime.json("diff", *pair, "--fail-if", "busy>+1%", "--fail-if", "span>+1%")
        for measure in ("span", "idle", "busy", "step"):
            row = rows_of(report, "measures")[measure]
            assert row["a_total_ns"] == pytest.approx(row["b_total_ns"], rel=1e-3), measure
            assert row["contribution"] is None, "measures are parts of each other"
        assert "8 in A, 8 in B" in words_of(report)[1]


def test_what_is_outside_the_steps_is_left_out_of_amounts_per_step(gputime, trace):
    """As of a capture that begins and ends inside of steps."""
    document = training(USUAL, jitter=0)
    steps = [row for row in document["traceEvents"] if row["name"].startswith("ProfilerStep")]
    inner = dict(document, traceEvents=[row for row in document["traceEvents"] if row not in (steps[0], steps[-1])])
    report = gputime.json("diff", trace("a.json", document), trace("b.json", inner))
    assert "8 in A, 6 in B" in words_of(report)[1]
    for row in report["tables"]["kernels"]["rows"]:
        assert row["a_total_ns"] == pytest.approx(row["b_total_ns"], rel=1e-3), row
    assert any("outside the steps excluded: 30 ops before the first, 30 after" in note for note in report["inputs"][2]["notes"])


def test_steps_beside_each_other_do_not_cover_more(gputime, trace):
    document = training(USUAL)
    many = [row for number in range(8) for row in in_other_process(document, number)]
    last = max(row["ts"] + row["dur"] for row in many)
    tail = [dict(row, ts=row["ts"] + last * (turn + 1), name=row["name"].replace("ProfilerStep", "other"))
            for turn in range(3) for row in document["traceEvents"]]
    path = trace("tail.json", dict(document, traceEvents=many + tail))
    assert "Amounts are totals of captures. Steps cover less" in words_of(gputime.json("diff", path, path))[1]


def test_a_step_that_went_wrong_is_no_noise_of_the_others(gputime, trace):
    document = training(USUAL, jitter=0)
    steps = [row for row in document["traceEvents"] if row["name"].startswith("ProfilerStep")]
    late = steps[4]["ts"] + steps[4]["dur"] - 1
    slow = dict(document, traceEvents=[
        dict(row, ts=row["ts"] + 50_000) if row["ts"] > late else
        dict(row, dur=row["dur"] + 50_000) if row is steps[4] else row for row in document["traceEvents"]])
    done = gputime("diff", trace("a.json", document), trace("b.json", slow), "--fail-if", "step>+3%", "--fail-if", "idle>+3%")
    assert done.returncode == 3, done.stdout.decode()


def test_three_captures_a_side_tell_the_noise_themselves(gputime, trace):
    """Steps of a capture differ much, runs do not."""
    def run(factor, seed):
        kernels = {name: (launches, round(length * factor)) for name, (launches, length) in USUAL.items()}
        return training(kernels, steps=3, seed=7, jitter=0.9, gap_ns=2_000 + seed)

    sides = [[trace(f"{factor}-{seed}.json", run(factor, seed)) for seed in range(3)] for factor in (1, 1.3)]
    done = gputime("diff", "--a", *sides[0], "--b", *sides[1], "--fail-if", "busy>+3%")
    assert done.returncode == 3, done.stdout.decode()


def test_captures_of_one_step_compare_whole(gputime, trace):
    paths = [trace(f"{wait}.json", training(USUAL, steps=1, wait_ns=wait)) for wait in (1_000, 900_000)]
    report = gputime.json("diff", *paths)
    assert "totals of captures" in words_of(report)[1] and "--per step" in words_of(report)[1]
    for side, path in zip("ab", paths):
        total = gputime.json("summary", path)["tables"]["accounting"]["rows"][0]["span_ns"]
        assert rows_of(report, "measures")["span"][f"{side}_total_ns"] == total
    by_step = rows_of(gputime.json("diff", *paths, "--per", "step"), "measures")["span"]
    assert by_step["b_total_ns"] - by_step["a_total_ns"] == pytest.approx(899_000, abs=2_000)


def with_work_outside(document, start_ns=60_000_000, length_ns=50_000_000):
    """Work behind all steps that takes longer than they do."""
    launch = event("cuda_runtime", "cudaLaunchKernel", start_ns, 1_000, 100, {"correlation": 91_000})
    kernel = event("kernel", GEMM_A, start_ns + 2_000, length_ns, 7, {"device": 0, "stream": 7, "correlation": 91_000}, pid=0)
    return dict(document, traceEvents=[*document["traceEvents"], launch, kernel])


def test_whole_captures_have_their_warm_up(gputime, trace):
    slower = {name: (launches, length * 2) for name, (launches, length) in USUAL.items()}
    paths = (trace("a.json", with_work_outside(with_warm_up(training(USUAL, steps=3)))),
             trace("b.json", with_work_outside(with_warm_up(training(slower, steps=3, seed=2)))))
    report, whole = gputime.json("diff", *paths), gputime.json("diff", *paths, "--per", "none")
    assert words_of(report)[1] == ("Amounts are totals of captures. Warm-up is included. Steps cover less than half of the "
                                   "time; use --per step to normalize by them.")
    assert report["tables"] == whole["tables"] and words_of(whole)[1] == "Amounts are totals of captures. Warm-up is included."
    for side, path in zip("ab", paths):
        own = rows_of(gputime.json("summary", path, "--table", "measures"), "measures")
        for measure in ("span", "busy", "idle", "sum"):
            assert rows_of(report, "measures")[measure][f"{side}_total_ns"] == own[measure]["total_ns"], measure
    assert b"Left out" not in gputime("diff", *paths).stdout
    stepped = gputime("diff", *paths, "--per", "step").stdout
    assert stepped.count(b"Warm-up excluded: 1 of 4 steps") == 2 and b"3 in A, 3 in B." in stepped
    launches = gputime("diff", *paths, "--per", "launch").stdout
    assert b"Warm-up excluded" not in launches and b"Warm-up is included." in launches


@pytest.mark.parametrize("options", [[], ["--per", "none"], ["--of", "kernels"]], ids=str)
def test_a_side_that_lost_data_is_named_first(gputime, trace, options):
    whole = trace("whole.json", training(USUAL))
    cut = whole.with_name("cut.json")
    cut.write_bytes(whole.read_bytes()[:-3000])
    for paths, sides in (((whole, cut), "B"), ((cut, whole), "A"), ((cut, cut), "AB"), ((whole, whole), "")):
        expected = [f"Only partly read: {side}, 'cut.json' (input_cut). Differences may come from lost events." for side in sides]
        report = gputime.json("diff", *paths, *options)
        assert words_of(report)[: len(sides)] == expected
        assert sum("Only partly read" in note for note in words_of(report)) == len(sides)
        for format in ("text", "md"):
            shown = gputime("diff", *paths, *options, "--format", format, "--width", "200").stdout.decode().replace("\\", "")
            assert all(0 < shown.index(note) < shown.index("Amounts are") for note in expected)
        [row] = gputime.json("diff", *paths, "--fail-if", "step>+900%")["tables"]["limits"]["rows"]
        assert row["detail"].partition("; partly")[2] == "; partly".join(f" read in {side}" for side in sides)


def test_warm_up_is_left_out_of_both_sides_or_none(gputime, trace):
    document = training(USUAL, steps=3, seed=2)
    document["traceEvents"] = [row for row in document["traceEvents"] if not row["name"].startswith("ProfilerStep")]
    stepless = trace("b.json", document)
    stepped = trace("a.json", with_warm_up(training(USUAL, steps=3)))
    for paths, side in (((stepped, stepless), "a"), ((stepless, stepped), "b")):
        report = gputime.json("diff", *paths)
        assert "Amounts are totals of captures. Warm-up is included." in words_of(report)
        span = rows_of(gputime.json("diff", *paths, "--from", "0"), "measures")["span"]
        assert rows_of(report, "measures")["span"][f"{side}_total_ns"] == span[f"{side}_total_ns"]
        assert b"Left out" not in gputime("diff", *paths).stdout


# ---- names that differ ----


def test_joined_rows_name_the_largest_of_each_side(gputime, trace):
    """Matrix products of two vendors: nothing but the category is the same."""
    rest = {name: amounts for name, amounts in USUAL.items() if name != GEMM_A}
    a = trace("a.json", training({**rest, GEMM_A: (1, 20_000), "nvjet_tst_256x8_64x4_1x2_h_bz_NNT": (4, 30_000)}))
    b = trace("b.json", training({**rest, GEMM_B: (2, 90_000), "Cijk_Alik_Bljk_HHS_MT8": (1, 9_000), "Cijk_Z": (1, 8_000)}))
    row = rows_of(gputime.json("diff", a, b), "kernels")["gemm (2 -> 3 names)"]
    assert (row["a_name"], row["b_name"]) == ("nvjet_tst_256x8_64x4_1x2_h_bz_NNT", GEMM_B)
    assert (row["a_names"], row["b_names"], row["match"]) == (2, 3, "category")
    swapped = rows_of(gputime.json("diff", b, a), "kernels")["gemm (3 -> 2 names)"]
    assert (swapped["a_name"], swapped["b_name"]) == (row["b_name"], row["a_name"])
    several = rows_of(gputime.json("diff", "--a", a, a, "--b", b, b, b), "kernels")["gemm (2 -> 3 names)"]
    assert (several["a_name"], several["b_name"]) == (row["a_name"], row["b_name"])
    told = f"gemm (2 -> 3 names): the largest is '{row['a_name']}' in A, '{GEMM_B}' in B."
    for format in ("text", "md"):
        shown = gputime("diff", a, b, "--format", format, "--width", "200").stdout.decode().replace("\\", "")
        assert shown.count(told) == 1
    named = gputime("diff", a, b, "--label", "main,PR", "--width", "200").stdout.decode()
    assert told.replace(" in A,", " in main,").replace(" in B.", " in PR.") in named
    for name, other in rows_of(gputime.json("diff", a, a), "kernels").items():
        assert (other["a_name"], other["b_name"], other["a_names"], other["b_names"]) == (None, None, 1, 1), name


def test_tiers_of_matching(gputime, trace):
    a = {"same_kernel": (3, 9_000),
         "void at::native::reduce_kernel<512, 1, float>(int)": (3, 8_000),
         "triton_poi_fused_add_3": (3, 7_000),
         "sm80_xmma_fprop_f16_128x64": (3, 6_500),
         GEMM_A: (3, 6_000),
         "ncclDevKernel_AllReduce_Sum_f32_RING_LL(int)": (3, 5_000),
         "my_own_kernel_of_a": (3, 4_000)}
    b = {"same_kernel": (3, 9_000),
         "void at::native::reduce_kernel<256, 4, half>(int)": (3, 8_000),
         "triton_poi_fused_add_7": (3, 7_000),
         "sm90_xmma_fprop_f16_256x128x32": (3, 6_500),
         GEMM_B: (3, 6_000)}
    report = gputime.json("diff", trace("a.json", training(a)), trace("b.json", training(b)))
    matches = {row["name"]: (row["match"], row["b_name"]) for row in report["tables"]["kernels"]["rows"]}
    assert matches["same_kernel"] == ("exact", None)
    assert matches["void at::native::reduce_kernel<512, 1, float>(int)"][0] == "short"
    assert matches["triton_poi_fused_add_3"] == ("similar", "triton_poi_fused_add_7")
    assert matches["sm80_xmma_fprop_f16_128x64"] == ("similar", "sm90_xmma_fprop_f16_256x128x32")
    assert matches[GEMM_A] == ("category", GEMM_B)
    assert matches["my_own_kernel_of_a"] == ("none", None)
    assert "4 only" not in words_of(report)[0]
    assert any(note.startswith("Kernels matched: 1 by name, 1 by simplified name, 2 by similar name, 1 by category; 2 only")
               for note in words_of(report))


def test_other_gpus_are_matched_by_their_order(gputime, trace):
    paths = trace("a.json", training(USUAL)), trace("b.json", training(USUAL, device=5))
    report = gputime.json("diff", *paths)
    rows = report["tables"]["time_parts" if "time_parts" in report["tables"] else "accounting"]["rows"]
    assert {row["match"] for row in rows} == {"order"} and {row["status"] for row in rows} <= {"same", "noise"}
    assert words_of(report)[0].startswith("No change")


def test_inputs_of_different_kinds(gputime):
    report = gputime.json("diff", DATA / "torch/llama_train_compiled.json.gz", DATA / "nsys-csv/mini_cuda_gpu_trace.csv")
    assert report["tables"]["kernels"]["rows"] and words_of(report)[0]
    summed = gputime.json("diff", DATA / "torch/llama_train_compiled.json.gz",
                          DATA / "nsys-csv/mini_cuda_gpu_kern_sum.csv")
    assert "GPU work" in words_of(summed)[0]
    lead = next(column["key"] for column in summed["tables"]["categories"]["columns"] if column["key"].startswith("a_"))
    assert lead == "a_total_ns", "a summed input has no wall time"


# ---- noise ----


def test_markdown_begins_with_what_is_compared(gputime, changed):
    lines = gputime("diff", *changed, "--md", "--fail-if", "step>+1%").stdout.decode().splitlines()
    assert lines[0].startswith("## ") and lines[2] == "comparison", "no ops of its own"
    assert lines[4] == "### Limits" and lines[8].startswith("| `step>+1%` | broken |")


def test_several_captures_have_an_interval(gputime, trace):
    slower = dict(USUAL, layer_norm_kernel=(5, 9_000))
    a = [trace(f"a{i}.json", training(USUAL, seed=i)) for i in range(3)]
    b = [trace(f"b{i}.json", training(slower, seed=10 + i)) for i in range(3)]
    args = ["diff", "--a", *a, "--b", *b, "--json"]
    report = gputime.json(*args[:-1])
    for table in ("measures", "categories", "kernels"):
        for row in report["tables"][table]["rows"]:
            assert row["low_total_ns" if table != "categories" else "low_wall_ns"] is not None
    shown = gputime("diff", "--a", *a, "--b", *b, "--width", "80").stdout.decode()
    assert [line.split()[-4:] for line in shown.splitlines() if line.startswith(("Measure ", "Category "))] == [
        ["Low", "(us)", "High", "(us)"]] * 2, shown
    assert "Low" not in gputime("diff", a[0], b[0]).stdout.decode()
    row = rows_of(report, "kernels")["layer_norm_kernel"]
    assert row["status"] == "up" and 0 < row["low_total_ns"] <= row["delta_total_ns"] <= row["high_total_ns"]
    assert rows_of(report, "measures")["step"]["status"] in ("up", "noise")
    assert gputime(*args).stdout == gputime(*args).stdout, "resampling is the same every time"
    swapped = gputime.json("diff", "--b", *a, "--a", *b)
    assert rows_of(swapped, "kernels")["layer_norm_kernel"]["status"] == "down"


def test_spread_of_steps_is_noise(gputime, trace):
    wild = {"flash_fwd_kernel": (1, 50_000), GEMM_A: (20, 80_000)}
    paths = [trace(f"{seed}.json", training(wild, seed=seed, jitter=0.5)) for seed in (1, 2)]
    rows = rows_of(gputime.json("diff", *paths), "kernels")
    assert rows["flash_fwd_kernel"]["status"] == "noise"
    assert rows["flash_fwd_kernel"]["noise_total_ns"] > abs(rows["flash_fwd_kernel"]["delta_total_ns"])
    done = gputime("diff", *paths, "--fail-if", "kernel:flash*>+0.01%", "--fail-if", "kernel:flash*<-0.01%", "--json")
    assert done.returncode == 0
    assert "noise" in {row["verdict"] for row in json.loads(done.stdout)["tables"]["limits"]["rows"]}


@pytest.mark.parametrize("gpus", [1, 2])
def test_tables_that_say_the_same_have_the_same_noise(gputime, trace, gpus):
    documents = []
    for seed in (1, 2):
        document = training({GEMM_A: (20, 80_000)}, seed=seed, jitter=0.5, gap_ns=9_000)
        for gpu in range(1, gpus):
            more = training({GEMM_A: (20, 80_000)}, seed=seed + 10 * gpu, jitter=0.5, gap_ns=9_000, device=gpu)
            document["traceEvents"] += [
                dict(row, pid=row["pid"] + gpu, args={**row["args"], "correlation": row["args"]["correlation"] + 10_000})
                for row in more["traceEvents"] if "correlation" in row.get("args", {})]
        documents.append(document)
    paths = [trace(f"{side}.json", document) for side, document in zip("ab", documents)]
    report = gputime.json("diff", *paths)
    measures = rows_of(report, "measures")
    assert measures["span"]["noise_total_ns"] > 0.011 * measures["span"]["b_total_ns"], "more than the floor"
    for table in ("accounting", "accounting_summary"):
        rows = report["tables"][table]["rows"]
        assert len(rows) == (gpus if table == "accounting" else 3)
        assert [row["noise_span_ns"] for row in rows] == pytest.approx([measures["span"]["noise_total_ns"]] * len(rows))
    shown = gputime("diff", *paths, "--csv", "--table", "time_parts").stdout.decode()
    parts = list(csv.DictReader(shown.splitlines()))
    assert len(parts) == 4 * gpus
    for row in parts:
        noise = measures[row["part"].replace("communication", "comm").replace(" ", "_")]["noise_total_ns"]
        floor = 0.01 * max(float(row["a_total_ns"]), float(row["b_total_ns"]))  # of the GPU, not of the mean
        assert gpus > 1 and noise <= 1.1 * floor or float(row["noise_total_ns"]) == pytest.approx(noise), row["part"]
    if gpus == 1:
        causes, everywhere = (report["tables"][table]["rows"] for table in ("idle_causes", "idle_causes_all"))
        assert [row["noise_total_ns"] for row in causes] == [row["noise_total_ns"] for row in everywhere]
        host, = (row["noise_total_ns"] for row in causes if row["cause"] == "host")
        assert [row["noise_total_ns"] for row in report["tables"]["idle_host"]["rows"]] == pytest.approx([host])


def test_noise_option(gputime, changed):
    rows = rows_of(gputime.json("diff", *changed, "--noise", "50%"), "kernels")
    assert rows["flash_fwd_kernel"]["status"] == "noise"
    assert gputime("diff", *changed, "--noise", "much").returncode == 2


# ---- the two sides ----


@pytest.mark.parametrize("words", [["a"], [], ["a", "b", "a"], ["--a", "a"], ["--a", "a", "--b"], ["--b", "--a", "a"],
                                   ["a", "--a", "b", "--b", "a"], ["--a", "a", "--b", "b", "--a", "a"], ["--a=a", "b"]])
def test_sides_that_make_no_sense(gputime, changed, words):
    names = dict(zip("ab", changed))
    done = gputime("diff", *(names.get(word, word) for word in words))
    assert done.returncode == 2 and done.stderr.count(b"\n") == 1


def test_files_of_one_capture_are_one_side(gputime):
    folder = DATA / "nsys-csv"
    mini = [folder / "mini_cuda_gpu_trace.csv", folder / "mini_nvtx_gpu_proj_trace.csv"]
    other = [folder / "mini2023_cuda_gpu_trace.csv", folder / "mini2023_nvtx_gpu_proj_trace.csv"]
    assert len(gputime.json("diff", *mini, *other)["inputs"]) == 3
    assert len(gputime.json("diff", "--a", *mini, "--b", *mini)["inputs"]) == 3
    same = gputime.json("diff", mini[0], mini[0])
    assert len(same["inputs"]) == 3


# ---- real traces ----


def test_more_workers_no_longer_wait_for_data(gputime, shared):
    paths = [shared(f"data/public/kineto/tb_plugin/resnet50_workers{count}.json.gz") for count in (0, 4)]
    first = words_of(gputime.json("diff", *paths))[0]
    assert first.startswith("-36.5 ms of GPU span per step (177.6 ms -> 141.1 ms, -20.6%): waiting for data -51.5"), first
    first_lines = gputime("diff", *paths).stdout.decode().split()[:60]
    assert "waiting for data -51.5" in " ".join(first_lines)


def test_another_vendor_is_matched_by_category(gputime, shared):
    paths = [shared(f"data/public/kineto/tracelens/{gpu}_qwen.json.gz") for gpu in ("h100", "mi300")]
    report = gputime.json("diff", *paths)
    own = [gputime.json("summary", path)["tables"] for path in paths]
    for table, lead in (("kernels", "total_ns"), ("kernels", "count"), ("categories", "wall_ns"), ("accounting", "span_ns"),
                        ("idle_causes", "total_ns"), ("memory", "total_ns")):
        for side, tables in zip("ab", own):
            total = sum(row[f"{side}_{lead}"] or 0 for row in report["tables"][table]["rows"])
            assert total == sum(row[lead] for row in tables[table]["rows"]), (table, side)
    matches = {row["match"] for row in report["tables"]["kernels"]["rows"]}
    assert {"exact", "short", "category"} <= matches
    [gemm] = [row for row in report["tables"]["kernels"]["rows"] if row["name"].startswith("gemm (")]
    assert gemm["match"] == "category" and gemm["a_total_ns"] and gemm["b_total_ns"]
