"""Limits of one trace (check) and of a comparison (diff --fail-if): judged on everything, and the run ends as it must."""

import csv
import json

import pytest

from conftest import DATA
from test_matrix import check
from training import USUAL, broken, rows_of, training, with_warm_up, words_of


# ---- the gate ----


def test_gate(gputime, changed):
    done = gputime("diff", *changed, "--json", "--fail-if", "step>+3%", "--fail-if", "busy>+2%", "--fail-if",
                   "exposed_comm>+5%", "--fail-if", "kernel:*flash*>+10%", "--fail-if", "category:attention>+50us",
                   "--fail-if", "utilisation<-20%")
    assert done.returncode == 3
    report = json.loads(done.stdout)
    assert broken(report) == ["kernel:*flash*>+10%"] or "kernel:*flash*>+10%" in broken(report)
    assert "exposed_comm>+5%" not in broken(report) and "utilisation<-20%" not in broken(report)
    assert len(report["tables"]["limits"]["rows"]) == 6
    assert done.stderr.startswith(b"gputime: ") and b"broken" in done.stderr


def test_gate_that_holds(gputime, changed):
    a, b = changed
    assert gputime("diff", b, b, "--fail-if", "step>+0%", "--fail-if", "kernel:*>+0%").returncode == 0
    assert gputime("diff", a, b, "--fail-if", "kernel:*flash*>+30%").returncode == 0
    assert gputime("diff", b, a, "--fail-if", "kernel:*flash*>+10%").returncode == 0


@pytest.mark.parametrize("limit", ["bogus>3%", "kernel:nothing>1%", "planet:x>3%", "step", ">3%", "step>", "step>3",
                                   "step>fast", "kernel:*>1.5.2%", "utilisation>3ms", ""])
def test_limits_that_make_no_sense(gputime, changed, limit):
    done = gputime("diff", *changed, f"--fail-if={limit}")
    assert done.returncode == 2 and done.stderr.count(b"\n") == 1 and not done.stdout
    assert gputime("check", changed[0], f"--limit={limit}").returncode == 2


def test_step_without_steps_is_unknown(gputime):
    assert gputime("diff", DATA / "overlap.json", DATA / "overlap.json", "--fail-if", "step>3%").returncode == 2


def test_file_of_limits(gputime, changed, tmp_path):
    limits = tmp_path / "limits.txt"
    limits.write_text("# the gate\n\n  kernel:*flash*>+10%   # of attention\nstep>+90%\r\n")
    done = gputime("diff", *changed, "--limits", limits, "--fail-if", "idle>+500%", "--json")
    assert done.returncode == 3
    assert [row["limit"] for row in json.loads(done.stdout)["tables"]["limits"]["rows"]] == [
        "idle>+500%", "kernel:*flash*>+10%", "step>+90%"]
    assert gputime("diff", *changed, "--limits", tmp_path / "none.txt").returncode == 1


@pytest.mark.parametrize("shown", ["measures", "categories", "kernels", "limits"])
def test_limits_are_judged_on_all_whatever_is_shown(gputime, changed, shown):
    limits = [f"--fail-if={limit}" for limit in (
        "kernel:*flash*>+10%", "range:Prof*>+1%", "phase:*>+1%", "launch:*>+1%", "memory:*>+1%", "category:*>+1%",
        "cause:*>+1%", "work:*>+1%", "step>+1%")]
    whole, narrow = (gputime("diff", *changed, *limits, "--json", *of) for of in ([], ["--of", shown]))
    assert whole.returncode == narrow.returncode == 3 and whole.stderr == narrow.stderr
    whole, narrow = json.loads(whole.stdout)["tables"], json.loads(narrow.stdout)["tables"]
    assert narrow["limits"] == whole["limits"]
    assert set(narrow) == {"limits", shown} and narrow[shown] == whole[shown]


def test_table_of_limits(gputime, changed, tmp_path):
    limits = tmp_path / "limits.txt"
    limits.write_text("kernel:*flash*>+10%\nstep>+90%\n")
    for option in ("--table", "--of"):
        done = gputime("diff", *changed, "--limits", limits, "--csv", option, "limits")
        rows = list(csv.DictReader(done.stdout.decode().splitlines()))
        assert done.returncode == 3, done.stderr
        assert [(row["limit"], row["verdict"]) for row in rows] == [("kernel:*flash*>+10%", "broken"), ("step>+90%", "ok")]
        shown = gputime("diff", *changed, "--limits", limits, option, "limits").stdout
        assert b"Neither side" not in shown and b"Kernels\n" not in shown
        assert b"needs a limit" in gputime("diff", *changed, option, "limits").stderr
    assert b"no table 'limits'" in gputime("summary", changed[0], "--table", "limits").stderr


def test_summary_for_a_pull_request(gputime, changed, tmp_path):
    page = tmp_path / "pr.md"
    done = gputime("diff", *changed, "--fail-if", "kernel:*flash*>+10%", "-o", page)
    assert done.returncode == 3 and not done.stdout
    text = page.read_text()
    check(page.read_bytes(), "md", ["diff"])
    assert text.index("### Limits") < text.index("per step") < text.index("### Kernels")
    assert "broken" in text


def test_warm_up_hides_no_regression(gputime, trace):
    slower = {name: (launches, length * 3 // 2) for name, (launches, length) in USUAL.items()}
    paths = (trace("a.json", with_warm_up(training(USUAL, steps=3))),
             trace("b.json", with_warm_up(training(slower, steps=3, seed=2))))
    gate = ["--fail-if", "step>+3%", "--fail-if", "busy>+3%"]
    done = gputime("diff", *paths, *gate, "--json")
    report = json.loads(done.stdout)
    assert done.returncode == 3 and broken(report) == ["step>+3%", "busy>+3%"]
    assert "Amounts are per step: 3 in A, 3 in B." in words_of(report)
    shown = gputime("diff", *paths).stdout.decode()
    assert shown.count("Warm-up excluded: 1 of 4 steps") == 2
    whole = gputime("diff", *paths, *gate, "--from", "0")
    assert whole.returncode == 0 and b"4 in A, 4 in B" in whole.stdout and b"Left out" not in whole.stdout
    done = gputime("check", paths[0], "--limit", "step<5ms", "--limit", "steps>=4")
    assert done.returncode == 0 and b"(1 warm-up left out)" in done.stdout


# ---- one trace ----


def test_check(gputime, changed):
    path = changed[0]
    holds = ["idle<50%", "utilisation>=50%", "step<100ms", "step>1us", "gap<1s", "losses<1", "issues<1000", "steps>=8",
             "launches>=10", "coverage>=0%", "kernel:*flash*<90%", "category:attention<1s", "cause:*<=100%", "span<10s"]
    done = gputime("check", path, *(f"--limit={limit}" for limit in holds), "--json")
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    assert [row["verdict"] for row in report["tables"]["limits"]["rows"]] == ["ok"] * len(holds)
    own = rows_of(gputime.json("summary", path, "--table", "measures"), "measures")
    values = {row["limit"]: row["value"] for row in report["tables"]["limits"]["rows"]}
    assert values["idle<50%"] == own["idle"]["share"] and values["utilisation>=50%"] == pytest.approx(own["busy"]["share"])
    assert values["step<100ms"] == own["step"]["total_ns"] / own["step"]["count"] and values["steps>=8"] == 8
    for limit in ("idle<1%", "gap<1ns", "kernel:*flash*<1%", "steps>8", "utilisation>99.9%"):
        done = gputime("check", path, "--limit", limit, "--limit", "losses<1")
        assert done.returncode == 3 and b"1 of 2 limits is broken" in done.stderr
        assert b"broken" in done.stdout


def test_limits_look_at_more_than_is_shown(gputime, tmp_path):
    """Text shows the first kernels of many; a limit is judged on all of them, whatever is printed."""
    path = tmp_path / "many.json"
    path.write_text(json.dumps(training({f"kernel_{i:02}": (1, 1_000 * (40 - i)) for i in range(30)}, jitter=0)))
    for limit, status in [("kernel:kernel_29<1us", 3), ("kernel:*_2?<1us", 3), ("kernel:kernel_29<1s", 0)]:
        results = [gputime("check", path, "--limit", limit, "--format", name) for name in ("text", "md", "json")]
        assert [done.returncode for done in results] == [status] * 3, limit
        detail = json.loads(results[2].stdout)["tables"]["limits"]["rows"][0]["detail"]
        assert all(detail in done.stdout.decode() for done in results), limit


def test_check_of_several_traces(gputime, changed):
    done = gputime("check", *changed, "--limit", "kernel:softmax_warp_forward<100%")
    assert done.returncode == 2, "B has no such kernel"
    done = gputime("check", *changed, "--limit", "kernel:softmax*<100%")
    assert done.returncode == 0 and b"nothing matches" in done.stdout, "a pattern may match nothing"
    done = gputime("check", *changed, "--limit", "idle<1%")
    assert done.returncode == 3 and b"2 of 2 limits are broken" in done.stderr


def test_a_pattern_that_matches_nothing_amounts_to_nothing(gputime, changed, tmp_path):
    page = tmp_path / "pr.md"
    done = gputime("diff", *changed, "--fail-if", "kernel:*nccl*>+9%", "--fail-if", "kernel:*flash*>+10%", "-o", page)
    assert done.returncode == 3 and b"1 of 2 limits" in done.stderr
    assert "| `kernel:*nccl*>+9%` | ok | nothing matches |" in page.read_text()
    for limit, status in (("kernel:*nccl*<10%", 0), ("kernel:*nccl*<1ms", 0), ("kernel:*nccl*>1%", 3), ("phase:?x<1s", 0)):
        done = gputime("check", changed[0], "--limit", limit)
        assert done.returncode == status and b"nothing matches" in done.stdout, limit


def test_check_of_phases(gputime, trace, tmp_path):
    path = trace("a.json", training(USUAL))
    phases = tmp_path / "phases.json"
    phases.write_text(json.dumps({"mine": ["re:ProfilerStep.*"]}))
    done = gputime("ranges", path, "--table", "phases", "--phase-map", phases, "--json")
    name = json.loads(done.stdout)["tables"]["phases"]["rows"][0]["phase"]
    done = gputime("check", path, "--limit", f"phase:{name}<1s", "--phase-map", phases)
    assert done.returncode == 0, done.stderr


def test_check_tells_of_traces_that_it_could_not_read(gputime, changed, tmp_path):
    for limit, status in (("idle<1%", 3), ("idle<100%", 1)):
        done = gputime("check", changed[0], tmp_path / "none.json", "--limit", limit)
        assert done.returncode == status and b"cannot read" in done.stderr, limit


def test_gates_tell_of_losses(gputime, trace):
    whole = trace("a.json", training(USUAL))
    cut = whole.with_name("cut.json")
    cut.write_bytes(whole.read_bytes()[:-whole.stat().st_size // 3])
    for args in (["check", cut, "--limit", "busy<1s"], ["diff", whole, cut, "--fail-if", "busy>+900%"]):
        for more in ([], ["-q"], ["--json"]):
            done = gputime(*args, *more)
            assert done.returncode == 0 and b"cut.json' was only partly read" in done.stderr, (args, more)
        rows = json.loads(done.stdout)["tables"]["limits"]["rows"]
        assert rows[0]["detail"].endswith("; partly read" + (" in B" if args[0] == "diff" else ""))


def test_check_of_a_trace_without_work(gputime, trace):
    done = gputime("check", trace("empty.json", {"traceEvents": []}), "--limit", "idle<20%")
    assert done.returncode == 2 and b"has no GPU work" in done.stderr
    done = gputime("check", DATA / "overlap.json", "--limit", "step<1s")
    assert done.returncode == 2 and b"has no steps" in done.stderr


def test_limit_and_per_mean_what_the_command_says(gputime, changed):
    assert gputime("kernels", changed[0], "--limit", "2").returncode == 0
    assert gputime("gaps", changed[0], "--per", "device").returncode == 0
    assert gputime("diff", *changed, "--per", "device").returncode == 2
    assert gputime("diff", *changed, "--limit", "3").returncode == 0


# ---- one name, one measure ----


def spelt(name):
    return [name, name.upper(), name.capitalize()]


@pytest.mark.parametrize("name, bound", [("step", "1ms"), ("idle", "20%"), ("gap", "5ms"), ("launches", "99"), ("sum", "9ms"),
                                         ("utilisation", "50%"), ("utilization", "50%"), ("exposed_comm", "5%"), ("steps", "9")])
def test_case_does_not_matter_in_the_name_of_a_measure(gputime, changed, name, bound):
    limits = [f"{spelling}<{bound}" for spelling in spelt(name)]
    done = gputime("check", changed[0], *(f"--limit={limit}" for limit in limits), "--json")
    rows = json.loads(done.stdout)["tables"]["limits"]["rows"]
    assert [row.pop("limit") for row in rows] == limits and rows[0] == rows[1] == rows[2]
    limits = [f"{spelling}>+3%" for spelling in spelt(name)]
    done = gputime("diff", *changed, *(f"--fail-if={limit}" for limit in limits), "--json")
    rows = json.loads(done.stdout)["tables"]["limits"]["rows"]
    assert [row.pop("limit") for row in rows] == limits and rows[0] == rows[1] == rows[2] and rows[0]["rows"] == 1


@pytest.mark.parametrize("name", ["ste?", "s*", "*", "*step", "GA?", "step*", ":step", "ste", "steps?"])
def test_a_pattern_is_no_measure(gputime, changed, name):
    for args in (["check", changed[0], f"--limit={name}<1ms"], ["diff", *changed, f"--fail-if={name}>+1%"]):
        done = gputime(*args)
        assert done.returncode == 2 and not done.stdout and done.stderr.count(b"\n") == 1
        assert f"unknown measure '{name}'; use one of step, span, busy, ".encode() in done.stderr


# ---- limits that would never do what they look like ----


@pytest.mark.parametrize("limit, meant", [("step<+3%", "step>+3%"), ("idle<=+2ms", "idle>+2ms"), ("losses < +1", "losses > +1"),
                                          ("each kernel:*<+10%", "each kernel:*>+10%"), ("step<+0%", "step>+0%"),
                                          ("kernel:f<1>(int)<+5%", "kernel:f<1>(int)>+5%")])
def test_less_than_an_increase_is_a_mistake(gputime, changed, tmp_path, limit, meant):
    limits = tmp_path / "limits.txt"
    limits.write_text(f"busy>+900%\n{limit}\n")
    for more, where in ((["--fail-if", limit], "gputime: "), (["--limits", limits], "limits.txt:2: ")):
        done = gputime("diff", *changed, *more)
        assert done.returncode == 2 and not done.stdout
        message = f"limit '{limit}': --fail-if names the change that fails; use '{meant}'"
        assert where in done.stderr.decode() and message in done.stderr.decode()


def test_limits_of_a_decrease_stay(gputime, changed):
    a, b = changed
    assert gputime("diff", b, a, "--fail-if", "kernel:*flash*<-5%").returncode == 3
    assert gputime("diff", a, b, "--fail-if", "kernel:*flash*<-5%").returncode == 0
    assert gputime("diff", a, b, "--fail-if", "kernel:*flash*>-5%").returncode == 3


def test_launches_per_launch_cannot_change(gputime, changed):
    for limit in ("launches>+3%", "LAUNCHES<-1"):
        done = gputime("diff", *changed, "--per", "launch", "--fail-if", limit)
        assert done.returncode == 2 and b"launches per launch is always 1" in done.stderr and b"--per none" in done.stderr
    assert gputime("diff", *changed, "--per", "launch", "--fail-if", "busy>+900%", "--fail-if", "issues>+9").returncode == 0
    for per in ("step", "none"):
        assert gputime("diff", *changed, "--per", per, "--fail-if", "launches>+3%").returncode == 0


# ---- what is said ----


def test_units_name_the_side_as_the_user_does(gputime, changed):
    assert b"% of A, or a time" in gputime("diff", *changed, "--fail-if", "step>+3").stderr
    assert b"% of main, or a time" in gputime("diff", *changed, "--fail-if", "step>+3", "--label", "main,PR").stderr


def test_the_title_names_sides_of_several_captures(gputime, changed):
    a, b = changed
    several = ["diff", "--a", a, a, "--b", b, b, b]
    assert gputime(*several).stdout.startswith(b"2 captures -> 3 captures\n")
    assert gputime(*several, "--label", "main,PR").stdout.startswith(b"main (2 captures) -> PR (3 captures)\n")


def test_a_byte_order_mark_is_no_part_of_a_limit(gputime, changed, tmp_path):
    limits = tmp_path / "limits.txt"
    for text in (b"idle<99%\nbusy<100%\n", b"# the gate\nidle<99%\nbusy<100%\n"):
        limits.write_bytes(b"\xef\xbb\xbf" + text)
        done = gputime("check", changed[0], "--limits", limits, "--json")
        assert [row["limit"] for row in json.loads(done.stdout)["tables"]["limits"]["rows"]] == ["idle<99%", "busy<100%"]
    limits.write_bytes(b"\xef\xbb\xbf")
    assert b"has no limits" in gputime("check", changed[0], "--limits", limits).stderr


@pytest.mark.parametrize("limit, verdict", [("losses>=+0", "broken"), ("losses>+0", "ok"), ("launches>=+0%", "broken"),
                                            ("losses>=+1", "ok"), ("steps<=-0", "broken"), ("launches>-5%", "broken")])
def test_counts_that_stay_are_no_noise(gputime, changed, limit, verdict):
    done = gputime("diff", changed[0], changed[0], "--fail-if", limit, "--json")
    [row] = json.loads(done.stdout)["tables"]["limits"]["rows"]
    assert row["verdict"] == verdict and row["noise"] is None and b"noise" not in done.stderr
    assert done.returncode == (3 if verdict == "broken" else 0)
