"""A gate neither passes nor fails wrongly: what cannot be judged is an error, what is judged is said."""

import csv
import io
import json

import pytest

from samples import DATA, own_capture
from training import GEMM_A, USUAL, event, training

EMPTY = {"traceEvents": []}


def verdicts(done):
    return {row["limit"]: row for row in json.loads(done.stdout)["tables"]["limits"]["rows"]}


def without(document, *starts):
    return dict(document, traceEvents=[row for row in document["traceEvents"] if not row["name"].startswith(starts)])


@pytest.fixture
def stepless(trace):
    return trace("stepless.json", without(training(USUAL, seed=2), "ProfilerStep"))


@pytest.fixture
def usual(trace):
    return trace("usual.json", training(USUAL))


# ---- what a side cannot tell ----


@pytest.mark.parametrize("limit, why", [("step>+3%", "has no steps"), ("range:*>+3%", "has no ranges"),
                                        ("phase:forward>+3%", "has no ranges"), ("coverage<-3%", "has no ranges"),
                                        ("each range:*>+3%", "has no ranges")])
def test_what_one_side_cannot_tell_cannot_be_judged(gputime, usual, stepless, limit, why):
    for paths, side in (((usual, stepless), "B"), ((stepless, usual), "A")):
        done = gputime("diff", *paths, f"--fail-if={limit}")
        assert done.returncode == 2 and not done.stdout
        assert f"{side} 'stepless.json' {why}" in done.stderr.decode(), done.stderr
    assert gputime("check", stepless, "--limit", limit.replace("+", "").replace("-", "")).returncode == 2


@pytest.mark.parametrize("limit", ["idle>+3%", "busy>+3%", "span>+3%", "step>+3%", "gap>+3%", "utilisation<-3%",
                                   "cause:sync>+3%", "cause:*>+3%", "launch:*>+3%", "work:*>+3%", "range:*>+3%"])
def test_sums_have_no_times(gputime, limit):
    trace, sums = DATA / "torch/llama_train_compiled.json.gz", DATA / "nsys-csv/mini_cuda_gpu_kern_sum.csv"
    for paths, side in (((trace, sums), "B"), ((sums, trace), "A"), ((sums, sums), "A")):
        done = gputime("diff", *paths, f"--fail-if={limit}")
        assert done.returncode == 2 and f"{side} 'mini".encode() in done.stderr, (done.stdout, done.stderr)


def test_sums_of_kernels_have_only_kernels(gputime):
    trace, sums = DATA / "torch/llama_train_compiled.json.gz", DATA / "nsys-csv/mini_cuda_gpu_kern_sum.csv"
    done = gputime("diff", trace, sums, "--fail-if", "kernel:*>+99999%", "--fail-if", "category:gemm>+99999%")
    assert done.returncode == 0, done.stderr
    done = gputime("diff", trace, sums, "--fail-if", "memory:*>+3%")
    assert done.returncode == 2 and b"has no memory operations" in done.stderr
    for limit in ("category:memcpy_h2d>+3%", "category:memset>+3%", "each category:mem*>+3%", "category:memcpy_p2p>+3%"):
        for paths, side in (((trace, sums), "B"), ((sums, trace), "A")):
            done = gputime("diff", *paths, f"--fail-if={limit}")
            assert done.returncode == 2 and f"{side} 'mini".encode() in done.stderr, (limit, done.stderr)
    assert gputime("check", sums, "--limit", "category:memset<3%").returncode == 2
    assert gputime("check", sums, "--limit", "category:moe<3%").returncode == 0
    rows = {row["category"]: row for row in gputime.json("diff", trace, sums)["tables"]["categories"]["rows"]}
    assert rows["memset"]["status"] == "unknown" and rows["memset"]["b_total_ns"] is None
    assert rows["attention"]["status"] == "only A" or rows["attention"]["b_total_ns"] is not None
    both = [sums, sums.with_name("mini_cuda_gpu_mem_time_sum.csv")]
    assert gputime("diff", "--a", *both, "--b", *both, "--fail-if", "category:memcpy_p2p>+3%").returncode == 0


@pytest.mark.parametrize("limit", ["idle>+3%", "step>+3%", "kernel:*>+3%", "each kernel:*>+3%", "category:gemm>+3%",
                                   "cause:host>+3%", "memory:*>+3%", "launches>+3%", "utilisation<-3%", "gap>+3ms",
                                   "range:*>+3%"])
def test_an_empty_trace_is_no_improvement(gputime, usual, trace, limit):
    empty = trace("empty.json", EMPTY)
    for paths, side in (((usual, empty), "B"), ((empty, usual), "A")):
        done = gputime("diff", *paths, f"--fail-if={limit}")
        assert done.returncode == 2 and f"{side} 'empty.json' has no".encode() in done.stderr, done.stderr


def test_one_capture_of_a_side_that_cannot_tell_is_enough(gputime, usual, stepless):
    done = gputime("diff", "--a", usual, "--b", usual, stepless, "--fail-if", "step>+3%")
    assert done.returncode == 2 and b"B 'stepless.json' has no steps" in done.stderr
    measures = {row["measure"]: row for row in
                json.loads(gputime("diff", "--a", usual, "--b", usual, stepless, "--json").stdout)["tables"]["measures"]["rows"]}
    assert measures["step"]["b_total_ns"] is None and measures["step"]["status"] == "unknown"
    assert measures["busy"]["b_total_ns"] is not None


def test_nothing_selected_is_nothing_judged(gputime, usual):
    done = gputime("diff", usual, usual, "--name", "no_such_kernel", "--fail-if", "busy>+3%")
    assert done.returncode == 2 and b"name no_such_kernel" in done.stderr


def test_a_row_that_one_side_does_not_have_is_a_change(gputime, usual, trace):
    other = trace("other.json", training({**USUAL, "brand_new_thing": (2, 30_000)}, seed=2))
    done = gputime("diff", usual, other, "--fail-if", "kernel:brand_new_thing>+3%", "--json")
    assert done.returncode == 3 and verdicts(done)["kernel:brand_new_thing>+3%"]["detail"].startswith("new (0 ns ->")
    done = gputime("diff", other, usual, "--fail-if", "kernel:brand_new_thing<-3%", "--json")
    assert done.returncode == 3 and verdicts(done)["kernel:brand_new_thing<-3%"]["value"] == -1


def test_tables_leave_open_what_a_side_cannot_tell(gputime, usual, stepless, trace):
    shown = gputime("diff", usual, stepless).stdout.decode()
    step = next(line for line in shown.splitlines() if line.startswith("step "))
    assert step.split()[2:] == ["-", "-", "-", "unknown", "none"], step
    assert "Only one trace has the data for: " in shown and "only A" not in shown
    report = gputime.json("diff", usual, trace("empty.json", EMPTY))
    for key, table in report["tables"].items():
        for row in table["rows"]:
            assert row["status"] == "unknown" and row["change"] is None, (key, row)
            assert all(row[name] is None for name in row if name.startswith(("b_", "delta_")) and name != "b_names"), (key, row)


def test_a_report_against_its_sums(gputime):
    train = own_capture("train")
    report, sums = train.report, train.table("cuda_gpu_kern_sum")
    assert b"B 'train" in gputime("diff", report, sums, "--fail-if", "idle>+3%").stderr
    assert gputime("diff", report, sums, "--fail-if", "idle>+3%").returncode == 2
    assert gputime("diff", report, sums, "--fail-if", "kernel:*>+1%").returncode == 0, "sums agree"


def test_a_side_that_was_cut_says_so_when_it_cannot_tell(gputime, usual):
    cut = usual.with_name("cut.json")
    cut.write_bytes(usual.read_bytes()[:100])
    done = gputime("diff", usual, cut, "--fail-if", "busy>+3%")
    lines = done.stderr.decode().splitlines()
    assert done.returncode == 2 and len(lines) == 2
    assert "cut.json' was only partly read" in lines[0] and "B 'cut.json' has no" in lines[1]
    assert gputime("diff", usual, cut, "--fail-if", "busy>+3%", "--strict").returncode == 1


# ---- every row by itself ----


@pytest.fixture
def one_slower(usual, trace):
    slower = dict(USUAL, layer_norm_kernel=(5, 9_000), vectorized_elementwise_kernel=(10, 4_000))
    return usual, trace("slower.json", training(slower, seed=2))


def test_a_sum_hides_what_each_row_shows(gputime, one_slower):
    assert gputime("diff", *one_slower, "--fail-if", "kernel:*>+10%").returncode == 0
    done = gputime("diff", *one_slower, "--fail-if", "each kernel:*>+10%", "--json")
    row = verdicts(done)["each kernel:*>+10%"]
    assert done.returncode == 3 and row["worst"] == "layer_norm_kernel"
    assert row["rows"] == len(USUAL) and row["broken_rows"] == 1 and row["value"] == pytest.approx(2 / 7, abs=0.02)
    assert row["detail"].startswith("1 of 6, worst +2") and row["detail"].endswith("% layer_norm_kernel")
    assert b"gputime: broken: each kernel:*>+10%: 1 of 6, worst +2" in done.stderr
    assert gputime("diff", *one_slower, "--fail-if", "each kernel:*>+40%").returncode == 0
    assert gputime("diff", *one_slower, "--fail-if", "each kernel:*norm*>+10%").returncode == 3
    assert gputime("diff", *one_slower, "--fail-if", "each kernel:*flash*>+10%").returncode == 0
    assert gputime("diff", *one_slower, "--fail-if", "each kernel:*<-10%").returncode == 3
    assert gputime("diff", *one_slower, "--fail-if", "each kernel:*>+1s").returncode == 0


@pytest.mark.parametrize("limit", ["each kernel:*>+0%", "each category:*>+0%", "each cause:*>+0%", "each range:*>+0%",
                                   "each phase:*>+0%", "each launch:*>+0%", "each work:*>+0%"])
def test_each_row_is_judged_as_the_table_shows_it(gputime, one_slower, limit):
    table = {"kernel": "kernels", "category": "categories", "cause": "idle_causes_all", "range": "ranges",
             "phase": "phases", "launch": "launches", "work": "idle_work"}[limit.split()[1].split(":")[0]]
    done = gputime("diff", *one_slower, "--fail-if", limit, "--json")
    row, rows = verdicts(done)[limit], json.loads(done.stdout)["tables"][table]["rows"]
    more = [one for one in rows if one["status"] in ("up", "only B")]
    assert row["rows"] == len(rows) and row["broken_rows"] == len(more)
    assert done.returncode == (3 if more else 0)
    assert row["verdict"] == ("broken" if more else "noise" if row["value"] and row["value"] > 0 else "ok")


def test_each_row_has_its_own_noise(gputime, trace):
    wild = {"flash_fwd_kernel": (1, 50_000), GEMM_A: (20, 80_000)}
    paths = [trace(f"{seed}.json", training(wild, seed=seed, jitter=0.5)) for seed in (1, 2)]
    done = gputime("diff", *paths, "--fail-if", "each kernel:*>+0.01%", "--fail-if", "each kernel:*<-0.01%", "--json")
    assert done.returncode == 0
    for row in verdicts(done).values():
        assert row["verdict"] in ("noise", "ok") and row["broken_rows"] == 0
    assert " within noise, worst " in verdicts(done)["each kernel:*<-0.01%"]["detail"] + \
        verdicts(done)["each kernel:*>+0.01%"]["detail"]


def test_each_row_of_one_trace(gputime, usual):
    own = gputime.json("kernels", usual)["tables"]["kernels"]["rows"]
    done = gputime("check", usual, "--limit", "each kernel:*<20%", "--limit", "each kernel:*<100%", "--json")
    row = verdicts(done)["each kernel:*<20%"]
    assert done.returncode == 3
    assert row["broken_rows"] == sum(one["share"] >= 0.2 for one in own) and row["rows"] == len(own)
    largest = max(own, key=lambda one: one["share"])
    assert row["worst"] == largest["name"] and row["value"] == largest["share"]
    assert verdicts(done)["each kernel:*<100%"]["verdict"] == "ok"
    done = gputime("check", usual, "--limit", "each kernel:*>1us", "--json")
    assert done.returncode == 0 and verdicts(done)["each kernel:*>1us"]["worst"] == min(own, key=lambda one: one["share"])["name"]
    assert gputime("check", usual, "--limit", "each kernel:*nosuch*<1%").returncode == 0


@pytest.mark.parametrize("limit", ["each idle>+3%", "each step>+3%", "each >+3%", "each kernel:*>+3"])
def test_each_needs_rows(gputime, one_slower, limit):
    assert gputime("diff", *one_slower, "--fail-if", limit).returncode == 2


def test_names_may_have_signs(gputime, trace):
    path = trace("a.json", training({"void reduce<512, 1>(int)": (3, 9_000), "other_kernel": (1, 1_000)}))
    done = gputime("check", path, "--limit", "kernel:void reduce<512, 1>(int)<10%", "--json")
    assert done.returncode == 3 and verdicts(done)["kernel:void reduce<512, 1>(int)<10%"]["value"] > 0.9


# ---- files of limits ----


def test_files_of_limits_add_up(gputime, one_slower, tmp_path):
    for name, text in (("one.txt", "step>+90%\n"), ("two.txt", "busy>+90%\nidle>+90%\n")):
        (tmp_path / name).write_text(text)
    done = gputime("diff", *one_slower, "--limits", tmp_path / "one.txt", "--fail-if", "span>+90%", "--limits",
                   tmp_path / "two.txt", "--json")
    assert list(verdicts(done)) == ["span>+90%", "step>+90%", "busy>+90%", "idle>+90%"]


def test_a_comment_has_white_space_before_it(gputime, tmp_path, trace):
    document = training(USUAL)
    document["traceEvents"].append(event("user_annotation", "Optimizer.step#AdamW.step", 1_000_100, 90_000, 100, {}))
    limits = tmp_path / "limits.txt"
    limits.write_text("#range:none<1%\nrange:Optimizer.step#AdamW.step<90% # of all\n\t# more\nidle<90%\t#no\n")
    done = gputime("check", trace("a.json", document), "--limits", limits, "--json")
    assert done.returncode == 0, done.stderr
    assert list(verdicts(done)) == ["range:Optimizer.step#AdamW.step<90%", "idle<90%"]


@pytest.mark.parametrize("line, why", [("bogus<3%", "unknown measure 'bogus'"), ("idle", "invalid limit"),
                                       ("kernel:nothing<3%", "matches 'nothing'"), ("idle<3ms%", "needs a number")])
def test_errors_name_file_and_line(gputime, usual, tmp_path, line, why):
    limits = tmp_path / "limits.txt"
    limits.write_text(f"# first\n\nbusy<100%\n{line}\n")
    done = gputime("check", usual, "--limits", limits)
    assert done.returncode == 2 and done.stderr.count(b"\n") == 1
    assert f"limits.txt:4: " in done.stderr.decode() and why in done.stderr.decode()


@pytest.mark.parametrize("text", ["", "\n\n", "# nothing\n   \n#\n"])
def test_an_empty_file_of_limits_is_no_gate(gputime, usual, tmp_path, text):
    limits = tmp_path / "limits.txt"
    limits.write_text(text)
    for args in (["check", usual], ["diff", usual, usual], ["check", usual, "--limit", "idle<90%"],
                 ["diff", usual, usual, "--fail-if", "idle>+90%"]):
        done = gputime(*args, "--limits", limits)
        assert done.returncode == 2 and b"has no limits" in done.stderr


def test_limits_on_standard_input(gputime, usual):
    assert gputime("check", usual, "--limits", "-", stdin=b"idle<1%\n").returncode == 3
    assert gputime("check", usual, "--limits", "-", stdin=b"idle<99%\n").returncode == 0
    done = gputime("check", "-", "--limits", "-", stdin=usual.read_bytes())
    assert done.returncode == 2 and b"read only once" in done.stderr
    assert b"limits (binary)" in gputime("check", usual, "--limits", "-", stdin=b"idle<1%\0\n").stderr


# ---- which way a limit points ----


def test_a_limit_of_one_trace_is_none_of_a_comparison(gputime, one_slower):
    for limit in ("kernel:*flash*<20%", "idle<20%", "step<=30ms", "each kernel:*<5%"):
        done = gputime("diff", *one_slower, "--fail-if", limit)
        assert done.returncode == 2 and b"needs a negative number" in done.stderr and b"gputime check" in done.stderr
    for limit in ("idle>+3%", "busy<-3%", "each kernel:*>+10%"):
        done = gputime("check", one_slower[0], "--limit", limit)
        assert done.returncode == 2 and b"diff --fail-if" in done.stderr
    assert gputime("diff", *one_slower, "--fail-if", "kernel:layer_norm_kernel>10%").returncode == 3, "as >+10%"


# ---- what is said ----


def test_noise_that_is_not_known_is_said(gputime, trace):
    paths = [trace(f"{seed}.json", training({GEMM_A: (1, 80_000)}, steps=1, seed=seed)) for seed in (1, 2)]
    for format in ("text", "md", "json"):
        assert b"noise unknown" in gputime("diff", *paths, "--fail-if", "step>+3%", "--format", format).stdout
    row = verdicts(gputime("diff", *paths, "--fail-if", "step>+3%", "--json"))["step>+3%"]
    assert row["noise"] == "unknown"
    row = verdicts(gputime("diff", *paths, "--fail-if", "step>+3%", "--noise", "2%", "--json"))["step>+3%"]
    assert row["noise"] == "known" and "noise unknown" not in row["detail"], "the user has told"
    several = ["diff", "--a", paths[0], paths[1], "--b", paths[1], paths[0], "--fail-if", "step>+3%", "--json"]
    assert verdicts(gputime(*several))["step>+3%"]["noise"] == "known"
    many = [trace(f"many{seed}.json", training(USUAL, seed=seed)) for seed in (1, 2)]
    assert verdicts(gputime("diff", *many, "--fail-if", "step>+3%", "--json"))["step>+3%"]["noise"] == "known"


def test_the_log_names_what_is_broken_and_what_is_noise(gputime, one_slower, tmp_path):
    limits = ["--fail-if", "kernel:layer_norm*>+10%", "--fail-if", "kernel:softmax*>-99%", "--fail-if", "step>+90%"]
    for more in ([], ["-q"], ["-o", tmp_path / "pr.md"], ["--json"]):
        done = gputime("diff", *one_slower, *limits, *more)
        lines = done.stderr.decode().splitlines()
        assert done.returncode == 3 and len(lines) == 4, lines
        assert lines[0].startswith("gputime: broken: kernel:layer_norm*>+10%: +2")
        assert lines[1].startswith("gputime: within the noise: kernel:softmax*>-99%: ")
        assert lines[2] == "gputime: 1 of 3 limits is exceeded within the noise and not broken"
        assert lines[3] == "gputime: 1 of 3 limits is broken"
    done = gputime("diff", *one_slower, "--fail-if", "kernel:softmax*>-99%", "-q")
    assert done.returncode == 0 and done.stderr.count(b"\n") == 2 and not done.stdout
    done = gputime("check", *one_slower, "--limit", "idle<1%", "-q")
    assert done.returncode == 3 and b"broken: idle<1% in usual.json: " in done.stderr
    assert b"broken: idle<1% in slower.json: " in done.stderr


def test_the_log_names_the_worst_row_in_full(gputime, trace):
    name = "void very_long_kernel_name<" + "float, " * 30 + "int>(int)"
    path = trace("a.json", training({name: (3, 9_000)}))
    done = gputime("check", path, "--limit", "each kernel:*<1%")
    assert name in done.stderr.decode() and b"void very_long_kerne..." in done.stdout
    assert b"worst 100.0% void very_long_kerne...\n" in done.stdout


def test_hostile_names_steer_no_terminal(gputime, trace):
    path = trace("a.json", training({"evil\x1b[2Jkernel\n": (3, 9_000)}))
    done = gputime("check", path, "--limit", "each kernel:*<1%", "-q")
    assert done.returncode == 3 and b"\x1b" not in done.stderr and done.stderr.count(b"\n") == 2


# ---- sets that are known ----


@pytest.mark.parametrize("limit", ["cause:sync", "cause:dependency", "cause:SYNC", "category:moe", "category:comm", "phase:decode",
                                   "phase:optimizer"])
def test_a_known_name_without_rows_is_nothing(gputime, usual, limit):
    for args in (["check", usual, "--limit", f"{limit}<5%"], ["diff", usual, usual, "--fail-if", f"{limit}>+5%"]):
        done = gputime(*args)
        assert done.returncode == 0 and b"nothing matches" in done.stdout, done.stderr
    assert gputime("check", usual, "--limit", f"{limit}>5%").returncode == 3


@pytest.mark.parametrize("limit, there", [("cause:snyc", "sync, host, launch"), ("category:moee", "gemm, moe_gemm, moe,"),
                                          ("phase:dekode", "prefill, decode, forward")])
def test_an_unknown_name_of_a_known_set_lists_them(gputime, usual, limit, there):
    for args in (["check", usual, "--limit", f"{limit}<5%"], ["diff", usual, usual, "--fail-if", f"{limit}>+5%"]):
        done = gputime(*args)
        assert done.returncode == 2 and f"known names: " in done.stderr.decode() and there in done.stderr.decode()


def test_phases_and_categories_of_the_user_are_known(gputime, usual, tmp_path):
    phases = tmp_path / "phases.json"
    phases.write_text(json.dumps({"mine": ["re:ProfilerStep.*"], "never": ["no such range"]}))
    assert gputime("check", usual, "--limit", "phase:never<1%", "--phase-map", phases).returncode == 0
    assert gputime("check", usual, "--limit", "phase:decode<1%", "--phase-map", phases).returncode == 2


def test_causes_are_of_all_gpus(gputime, trace):
    document, more = training(USUAL), training(USUAL, seed=3, device=1)
    document["traceEvents"] += [dict(row, pid=row["pid"] + 1, args={**row["args"], "correlation": row["args"]["correlation"] + 9999})
                                for row in more["traceEvents"] if "correlation" in row["args"]]
    path = trace("two.json", document)
    done = gputime("check", path, "--limit", "cause:*<=100%", "--limit", "work:*<=100%", "--json")
    assert done.returncode == 0, done.stderr
    assert all(row["value"] == pytest.approx(1) for row in verdicts(done).values())


# ---- the same measures ----


def test_comparisons_know_the_measures_of_checks(gputime, one_slower):
    names = ["step", "span", "busy", "idle", "compute", "exposed_comm", "exposed_memory", "comm", "memory", "overlap", "sum",
             "utilisation", "utilization", "coverage", "gap", "launches", "steps", "issues", "losses"]
    done = gputime("diff", *one_slower, *(f"--fail-if={name}>+900%" for name in names), "--json")
    assert done.returncode == 0 and len(verdicts(done)) == len(names), done.stderr
    assert verdicts(done)["launches>+900%"]["value"] == 0
    done = gputime("diff", one_slower[0], one_slower[0], "--fail-if", "launches>+0%", "--fail-if", "losses>+0")
    assert done.returncode == 0


def test_counts_have_no_noise(gputime, usual, trace):
    more = trace("more.json", training({**USUAL, "extra": (1, 500)}, seed=1))
    done = gputime("diff", usual, more, "--fail-if", "launches>+1", "--fail-if", "launches>+0.5", "--json")
    rows = verdicts(done)
    assert [row["verdict"] for row in rows.values()] == ["ok", "broken"] and rows["launches>+1"]["value"] == 1, rows
    assert rows["launches>+1"]["detail"] == "+3.3% (30 -> 31)" and rows["launches>+1"]["noise"] is None


def test_parts_have_digits(gputime, usual):
    done = gputime("check", usual, "--limit", "utilization>0.99", "--json")
    row = verdicts(done)["utilization>0.99"]
    assert done.returncode == 3 and float(row["detail"]) == pytest.approx(row["value"], abs=1e-4) and 0 < row["value"] < 1


def test_csv_has_every_column(gputime, one_slower):
    done = gputime("diff", *one_slower, "--fail-if", "each kernel:*>+10%", "--of", "limits", "--csv")
    [row] = csv.DictReader(io.StringIO(done.stdout.decode()))
    assert row["worst"] == "layer_norm_kernel" and row["rows"] == "6" and row["broken_rows"] == "1" and row["noise"] == "known"


def test_real_steps(gputime, shared):
    paths = [shared(f"data/public/kineto/tb_plugin/resnet50_workers{count}.json.gz") for count in (0, 4)]
    done = gputime("diff", *paths, "--fail-if", "each kernel:*>+10%", "--json")
    row, rows = verdicts(done)["each kernel:*>+10%"], json.loads(done.stdout)["tables"]["kernels"]["rows"]
    worse = [one for one in rows if one["status"] in ("up", "only B") and (one["change"] is None or one["change"] > 0.1)]
    assert done.returncode == 3 and row["broken_rows"] == len(worse) and row["rows"] == len(rows)
