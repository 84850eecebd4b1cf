"""What a comparison says and shows: one meaning for every number, the largest change first, short and findable."""

import gzip
import json
import re

import pytest

from samples import DATA, own_capture
from training import USUAL, rows_of, training, words_of

EAGER, COMPILED = DATA / "diff/llama_train_eager.json.gz", DATA / "torch/llama_train_compiled.json.gz"


def text_of(gputime, *args, width=80):
    done = gputime("diff", *args, "--width", str(width))
    assert done.returncode == 0, done.stderr
    return done.stdout.decode()


def table_of(text, title):
    """The lines of a table of the screen below its header."""
    lines = text[text.index(f"\n{title}\n"):].splitlines()[2:]
    start = next(i for i, line in enumerate(lines) if line.startswith("─")) + 1
    return lines[start:lines.index("", start) if "" in lines[start:] else len(lines)]


# ---- the time of a step ----


@pytest.mark.parametrize("per", [[], ["--per", "step"], ["--per", "none"], ["--per", "launch"]])
def test_a_step_is_the_mean_of_one_whatever_amounts_are_per(gputime, changed, per):
    report = gputime.json("diff", *changed, *per, "--fail-if", "step>+500%")
    step = rows_of(report, "measures")["step"]
    for side, path in zip("ab", changed):
        rows = [row for row in gputime.json("steps", path)["tables"]["steps"]["rows"] if row["state"] != "warm-up"]
        mean = sum(row["cpu_ns"] for row in rows) / len(rows)
        assert step[f"{side}_total_ns"] == pytest.approx(mean), (per, side)
    limit, = report["tables"]["limits"]["rows"]
    assert limit["value"] == pytest.approx(step["change"])
    assert step["noise_total_ns"] < 0.2 * step["a_total_ns"]


# ---- the order of rows ----


@pytest.mark.parametrize("paths", [(EAGER, COMPILED), (COMPILED, EAGER)])
def test_rows_come_by_their_part_in_the_change(gputime, paths):
    report = gputime.json("diff", *paths)
    is_mixed = False
    for key, table in report["tables"].items():
        if key == "measures":
            continue
        lead = next(column["key"] for column in table["columns"] if column["key"].startswith("delta_"))
        sizes = [abs(row[lead] or 0) for row in table["rows"]]
        assert sizes == sorted(sizes, reverse=True), key
        statuses = [row["status"] for row in table["rows"]]
        is_mixed |= "noise" in statuses and any(status in ("up", "down") for status in statuses[statuses.index("noise"):])
    assert is_mixed, "noise is not always last"


def test_parts_of_the_first_sentence_are_on_the_screen(gputime):
    shown = text_of(gputime, EAGER, COMPILED)
    first = " ".join(shown.split("\n\n")[1].split())
    parts = re.findall(r"([a-z_]+(?: \([a-z]+\))?) [+-][\d.]+", first.split("): ")[1])
    assert len(parts) >= 5
    for part in parts:
        name = part.removeprefix("idle (").rstrip(")").removeprefix("the ")
        assert name == "rest" or re.search(rf"^(  0  )?{name} ", shown, re.M), part


def test_small_noise_does_not_fill_the_screen(gputime, trace):
    many = {f"kernel_{i}": (2, 10_000 + i) for i in range(30)}
    paths = trace("a.json", training(many)), trace("b.json", training(dict(many, kernel_4=(2, 30_000)), seed=2))
    rows = table_of(text_of(gputime, *paths), "Kernels")
    assert rows[0].startswith("kernel_4 ") and len(rows) == 2 and "29 more rows" in rows[1], rows


# ---- what changed at all ----


def test_an_unchanged_total_is_called_so(gputime, trace):
    """What one kernel gains another loses: the GPU is as busy as before."""
    before = dict(USUAL, layer_norm_kernel=(5, 7_000), softmax_warp_forward=(5, 12_000))
    after = dict(USUAL, layer_norm_kernel=(5, 12_000), softmax_warp_forward=(5, 7_000))
    paths = [trace(f"{name}.json", training(kernels, jitter=0)) for name, kernels in (("a", before), ("b", after))]
    first = words_of(gputime.json("diff", *paths))[0]
    assert re.fullmatch(r"Total unchanged \([\d.]+ us of GPU span per step\); within it, in us: "
                        r"norm \+25\.0, softmax -25\.0\.", first), first


def test_rows_of_nothing_are_left_out_of_what_people_read(gputime):
    report = gputime.json("diff", EAGER, COMPILED)
    blank = [row["measure"] for row in report["tables"]["measures"]["rows"] if not row["a_total_ns"] and not row["b_total_ns"]]
    assert blank == ["exposed_comm", "comm", "overlap"], "data has them"
    markdown = gputime("diff", EAGER, COMPILED, "--md").stdout.decode()
    for shown in (text_of(gputime, EAGER, COMPILED), markdown):
        assert "exposed_memory" in shown and "exposed_comm" not in shown
        assert not re.search(r"^\S.* 0\.0+ +0\.0+ ", shown, re.M)
    chosen = text_of(gputime, EAGER, COMPILED, "--of", "measures", "--columns", "measure,a_count")
    assert "exposed_comm" in chosen, "a choice of columns is about all rows"


def test_tables_without_news_are_named_by_their_titles(gputime, trace):
    document = training(USUAL)
    shown = text_of(gputime, trace("a.json", document), trace("b.json", training(USUAL, seed=2)))
    said = " ".join(shown[shown.index("No change beyond"):].split("\n\n")[0].split())
    assert said.startswith("No change beyond the noise in: ") and "Kernels" in said and "Launch calls" in said
    assert not re.search(r"[a-z]_[a-z]|\(\d+\)", said), "no keys, no numbers of rows"
    assert "GPU time by category" not in said and "\nGPU time by category, wall\n" in shown, "the first sentence is about it"


def test_what_rounds_to_nothing_looks_the_same_up_and_down(gputime):
    shown = {word for paths in ((EAGER, COMPILED), (COMPILED, EAGER)) for word in text_of(gputime, *paths).split()}
    assert "<0.01" in shown and not {word for word in shown if re.fullmatch(r"[+-]<.*|>.*\d|[+-]0\.0+%?", word)}


# ---- many captures ----


def test_many_captures_are_told_short(gputime, trace):
    a = [trace(f"a{i}.json", training(USUAL, seed=i, steps=4)) for i in range(6)]
    b = [trace(f"b{i}.json", training(USUAL, seed=10 + i, steps=3 + i % 3)) for i in range(6)]
    report = gputime.json("diff", "--a", *a, "--b", *b)
    assert words_of(report)[1] == "Amounts are per step: 4 in each of 6 captures of A, 3 to 5 in 6 captures of B."
    assert len(report["inputs"]) == 13 and "captures" not in report["tables"]
    shown = text_of(gputime, "--a", *a, "--b", *b)
    assert len(table_of(shown, "Captures  (Busy: % of span)")) == 12
    assert "═" not in shown[shown.index("Captures"):], "no part for each"
    assert len(shown.splitlines()) < 90
    assert "### Captures" in gputime("diff", "--a", *a, "--b", *b, "--md").stdout.decode()


def test_equal_notes_of_captures_are_one(gputime, tmp_path):
    paths = []
    for i in range(3):
        path = tmp_path / f"{i}.json"
        path.write_bytes(gzip.decompress(EAGER.read_bytes()))
        paths.append(path)
    shown = text_of(gputime, "--a", *paths[:2], "--b", paths[2])
    assert shown.count("of op time was launched outside ranges") == 1
    assert "Of all 3 captures: 57.9% of op time" in shown
    cut = tmp_path / "cut.json"
    cut.write_bytes(paths[0].read_bytes()[:400_000])
    shown = " ".join(text_of(gputime, "--a", *paths, "--b", cut).split())
    assert "Trace health of B: cut.json: 1 " in shown and "lost data" in shown


# ---- captures of different work ----


def replays(count, kernels=5):
    """A range `decode` for each of so many runs of the same kernels."""
    document = training({f"kernel_{i}": (1, 10_000 + i) for i in range(kernels)}, steps=count)
    for row in document["traceEvents"]:
        if row["name"].startswith("ProfilerStep"):
            row["name"] = "decode"
    return document


def test_captures_of_different_work_are_told(gputime, trace):
    paths = trace("a.json", replays(50)), trace("b.json", replays(40))
    hint = words_of(gputime.json("diff", *paths))[2]
    assert hint == ("Different workloads? 5 of the 5 kernels in both traces are launched 0.8 times as often in B as "
                    "in A; normalize with --per range 'decode'.")
    by_range = gputime.json("diff", *paths, "--per", "range", "decode")
    assert not [note for note in words_of(by_range) if "Different" in note]
    assert rows_of(by_range, "kernels")["kernel_2"]["status"] in ("same", "noise")
    for path, steps in zip(paths, (50, 40)):
        path.write_text(json.dumps(training({"a": (1, 9_000), "b": (1, 9_000)}, steps=steps)))
    assert not [note for note in words_of(gputime.json("diff", *paths)) if "Different" in note], "per step it is the same"
    assert any("--per step" in note for note in words_of(gputime.json("diff", *paths, "--per", "none")))


def test_other_work_is_no_other_amount_of_work(gputime):
    assert not [note for note in words_of(gputime.json("diff", EAGER, COMPILED)) if "Different" in note]


def test_graphs_traced_as_a_whole_do_not_compare_with_kernels(gputime, unpacked):
    whole, nodes = unpacked(DATA / "nsys/graph_whole.sqlite.gz"), COMPILED
    for paths, side, other in (((whole, nodes), "A", "B"), ((nodes, whole), "B", "A")):
        notes = words_of(gputime.json("diff", *paths))
        assert notes[2].startswith(f"CUDA graphs of {side} were traced as a whole") and f"{other} has no such graphs" in notes[2]
    assert not [note for note in words_of(gputime.json("diff", whole, whole)) if "CUDA graphs of" in note]


# ---- per range ----


def test_per_range_in_two_spellings(gputime, trace):
    paths = trace("a.json", replays(50)), trace("b.json", replays(40))
    report = gputime.json("diff", *paths, "--per", "range", "decode")
    assert report == gputime.json("diff", *paths, "--per", "range:decode") == gputime.json("diff", *paths, "--per=range:decode")
    assert words_of(report)[1] == "Amounts are per instance of the range 'decode': 50 in A, 40 in B."
    for args in (["--per", "range"], ["--per", "range:"], ["--per", "range", "--json"]):
        done = gputime("diff", *paths, *args)
        assert done.returncode == 2 and b"--per range NAME" in done.stderr
    done = gputime("diff", *paths, "--per", "range:decoed")
    assert done.returncode == 2 and b"has no range 'decoed'" in done.stderr and b"both traces have: 'decode'" in done.stderr
    bare = trace("c.json", {"traceEvents": [row for row in replays(3)["traceEvents"] if row["name"] != "decode"]})
    assert b"both traces have none in common" in gputime("diff", paths[0], bare, "--per", "range:decode").stderr


# ---- names of the sides ----


def test_sides_have_the_names_that_the_user_gives(gputime, changed):
    shown = text_of(gputime, *changed, "--label", "main,PR")
    assert re.search(r"^Measure +main \(us\) +PR \(us\) +Change \(us\) +Change % ", shown, re.M)
    assert "in main, " in shown and "A is main, B is PR." in shown and "\nPR: b.json\n" in shown
    for format in ("md", "html"):
        assert b"main" in gputime("diff", *changed, "--label", "main,PR", "--format", format).stdout
    plain, named = gputime.json("diff", *changed), gputime.json("diff", *changed, "--label", "main,PR")
    assert {key: table["rows"] for key, table in plain["tables"].items()} == {
        key: table["rows"] for key, table in named["tables"].items()}, "data is the same"
    for label in ("main", "a,b,c", ",PR", "main,", "a,,b", "x,x", "x, x", "a,b,", " ,b", ",", ""):
        assert gputime("diff", *changed, "--label", label).returncode == 2, label


def test_files_of_one_name_are_told_apart_by_their_folders(gputime, tmp_path):
    paths = []
    for folder in ("runs/main/gpu0", "runs/fast/gpu0"):
        path = tmp_path / folder / "trace.json"
        path.parent.mkdir(parents=True)
        path.write_text(json.dumps(training(USUAL)))
        paths.append(path)
    assert text_of(gputime, *paths).splitlines()[0] == "main/gpu0/trace.json -> fast/gpu0/trace.json"
    labels = [entry["input"] for entry in gputime.json("summary", *paths)["inputs"]]
    assert labels == ["main/gpu0/trace.json", "fast/gpu0/trace.json"]
    assert text_of(gputime, paths[0], paths[0]).splitlines()[0] == "trace.json -> trace.json"


# ---- tables ----


@pytest.mark.parametrize("width", [80, 100, 132])
def test_names_that_are_cut_can_be_told_apart(gputime, width):
    for table, top in (("kernels", []), ("kernels", ["--top", "0"]), ("kernel_launches", ["--top", "0"]),
                       ("idle_work", ["--top", "0"])):
        shown = text_of(gputime, EAGER, COMPILED, "--of", table, *top, width=width)
        lines = shown[:shown.index("\n\nA: ")].splitlines()
        start = max(i for i, line in enumerate(lines) if line.startswith("────")) + 1
        names = [re.split(r"  +", line.removeprefix("  0  "))[0] for line in lines[start:] if re.search(r"  (up|down|noise|same|only)", line)]
        assert len(names) > 9 and sorted(names) == sorted(set(names)), (table, top, width)
    markdown = gputime("kernels", EAGER, "--md").stdout.decode()
    names = re.findall(r"^\| \d+ \| (`.*?`) \|", markdown, re.M)
    assert len(names) == len(set(names)) > 5


def test_queue_times_are_compared_by_time(gputime):
    table = gputime.json("diff", EAGER, COMPILED, "--of", "kernel_launches")["tables"]["kernel_launches"]
    assert [column["key"] for column in table["columns"] if column["key"].startswith("a_")][2] == "a_queue_ns"
    assert "(ms)" in text_of(gputime, EAGER, COMPILED, "--of", "kernel_launches")


def test_both_sides_of_bytes_have_one_unit(gputime):
    paths = own_capture("train").report, own_capture("graph_whole").report
    for order in (paths, paths[::-1]):
        lines = text_of(gputime, *order, "--of", "collectives", width=140).splitlines()
        header = next(line for line in lines if "Change" in line)
        assert len(set(re.findall(r"(?:A|B|Change) \((\w+)\)", header))) == 1, header
