"""Files that the program writes: formats by suffix, several at once, and never over a trace."""

import json
import lzma
import os
import re
import subprocess

import pytest

from commandline import FAILED, NAMES, USAGE, error_of, many_names, names_in, rows_of, text_of, write_trace


@pytest.mark.parametrize("name, start", [("out.json", "{"), ("out.csv", "input,device,"), ("out.md", "#"), ("OUT.JSON", "{")])
def test_suffix_decides_the_format(run, folder, name, start):
    assert not text_of(run("a.json", "-o", name))
    assert (folder / name).read_text().startswith(start)


def test_format_wins_over_the_suffix(run, folder):
    assert not text_of(run("a.json", "--json", "-o", "out.txt"))
    assert json.loads((folder / "out.txt").read_text())["command"] == "summary"


def test_unknown_suffix_is_refused(run, folder):
    message = error_of(run("a.json", "-o", "report.docx"), USAGE)
    assert "'report.docx'" in message and "--format" in message
    assert not (folder / "report.docx").exists()
    assert not text_of(run("a.json", "-o", "report.docx", "--format", "json"))


def test_kernel_list_as_the_older_tool_wrote_it(run, folder):
    printed = text_of(run("kernels", "a.json", "--top", "1"))
    for name in ("list.txt", "list"):
        assert text_of(run("kernels", "a.json", "--top", "1", "-o", name)) == printed
        assert names_in((folder / name).read_text()) == list(NAMES), "the list has every kernel"
    assert names_in(printed) == ["alpha"]


def test_kernel_list_by_suffix(run, folder):
    assert names_in(text_of(run("kernels", "a.json", "-o", "list.csv"))) == list(NAMES)
    assert len((folder / "list.csv").read_text().splitlines()) == len(NAMES) + 1
    text_of(run("kernels", "a.json", "-o", "list.md"))
    assert "|" in (folder / "list.md").read_text()


def test_a_format_that_is_asked_for_counts_more_than_the_suffix(run, folder):
    for command in ("kernels", "gaps", "steps", "summary"):
        text_of(run(command, "a.json", "--json", "-o", "list.md", "-q"))
        assert json.loads((folder / "list.md").read_text())["command"] == command
        text_of(run(command, "a.json", "--format", "parquet", "-o", "list.csv", "-q"))
        assert (folder / "list.csv").read_bytes()[:4] == b"PAR1", command
    assert json.loads(text_of(run("kernels", "a.json", "--json", "-o", "list.md")))["command"] == "kernels"
    text_of(run("kernels", "a.json", "--json", "--gap-output", "gaps.txt", "-q"))
    assert json.loads((folder / "gaps.txt").read_text())["tables"]["transitions"]


@pytest.mark.parametrize("name", ["list.txt", "list.csv", "list.md", "list.json", "tables/"])
def test_files_next_to_the_table_have_every_row(run, folder, name):
    write_trace(folder / "many.json", many_names())
    for command, table, cut in (("kernels", "kernels", ["--top", "1"]), ("gaps", "transitions", ["--top", "1"]),
                                ("gaps", "transitions", ["--gap-top", "1"])):
        text_of(run(command, "many.json", *cut, "-o", name))
        path = folder / name / f"{table}.csv" if name.endswith("/") else folder / name
        assert set(re.findall(r"kernel_\d\d", path.read_text())) == set(many_names()), (command, cut)
    printed = text_of(run("kernels", "many.json", "--top", "1", "--csv", "-o", "list"))
    assert len(printed.splitlines()) == 2 and len((folder / "list").read_text().splitlines()) == 31
    assert not text_of(run("many.json", "--top", "1", "-o", "summary.json"))
    assert len(json.loads((folder / "summary.json").read_text())["tables"]["kernels"]["rows"]) == 1


def test_gap_report_file(run, folder):
    assert "alpha" in text_of(run("kernels", "a.json", "--gap-output", "gaps.txt"))
    assert not text_of(run("gaps", "a.json", "-q", "-o", "same.txt"))
    report = (folder / "gaps.txt").read_text()
    assert "alpha_kernel" in report and report == (folder / "same.txt").read_text()
    assert not text_of(run("gaps", "a.json", "-q", "--gap-output", "gaps.json"))
    assert json.loads((folder / "gaps.json").read_text())["command"] == "gaps"
    assert not text_of(run("gaps", "--per", "device", "a.json", "-q", "-o", "device.txt"))
    assert (folder / "device.txt").read_text()


def test_gap_file_has_only_the_gaps(run, folder):
    gaps = {"streams", "stream_gaps", "histogram", "transitions"}
    expected = text_of(run("gaps", "a.json", "--csv"))
    for args in ([], ["--gap-top", "1"], ["--columns", "name,count"], ["--table", "kernels"], ["-q"]):
        done = run("kernels", "a.json", *args, "--gap-output", "g.csv")
        assert names_in(text_of(done)) == ([] if args == ["-q"] else list(NAMES)), args
        assert (folder / "g.csv").read_text() == expected, args
        text_of(run("kernels", "a.json", *args, "--gap-output", "g.json"))
        assert set(json.loads((folder / "g.json").read_text())["tables"]) == gaps, args
        text_of(run("kernels", "a.json", *args, "--gap-output", "g.md"))
        markdown = (folder / "g.md").read_text()
        assert "### Stream gaps by previous and next op" in markdown and "### Kernels" not in markdown, args
        text_of(run("kernels", "a.json", *args, "--gap-output", "g/"))
        assert {path.stem for path in (folder / "g").iterdir()} == gaps, args
    text_of(run("kernels", "a.json", "-o", "k.csv", "--gap-output", "g.csv"))
    assert (folder / "k.csv").read_text() == text_of(run("kernels", "a.json", "--csv"))
    text_of(run("gaps", "a.json", "--columns", "from,count", "--gap-output", "g.csv"))
    assert (folder / "g.csv").read_text().startswith("from,count\n")
    assert text_of(run("kernels", "a.json", "--gaps", "--csv")) == text_of(run("kernels", "a.json", "--csv"))


def test_two_outputs_are_two_files(run, folder):
    (folder / "there.csv").write_text("old")
    os.symlink("there.csv", folder / "link.csv")
    os.link(folder / "there.csv", folder / "twin.csv")
    (folder / "tables").mkdir()
    pairs = [("x.csv", "x.csv"), ("x.csv", "./x.csv"), ("x.csv", "tables/../x.csv"), ("there.csv", "link.csv"),
             ("there.csv", "twin.csv"), ("tables/", "tables/transitions.csv"), ("new/", "./new/"),
             ("tables/", "tables//"), ("tables/kernels.csv", "tables/")]
    for output, gap_output in pairs:
        message = error_of(run("kernels", "a.json", "-o", output, "--gap-output", gap_output), USAGE)
        assert f"'{output}'" in message and f"'{gap_output}'" in message
    assert (folder / "there.csv").read_text() == "old"
    assert sorted(path.name for path in folder.iterdir()) == ["a.json", "link.csv", "tables", "there.csv", "twin.csv"]
    for output, gap_output in [("x.csv", "y.csv"), ("/dev/null", "/dev/null"), ("tables/", "tables/gaps.txt")]:
        text_of(run("kernels", "a.json", "-o", output, "--gap-output", gap_output))


@pytest.mark.parametrize("name, args", [("kernels", ["kernels", "-o"]), ("transitions", ["gaps", "-o"]),
                                        ("accounting", ["-o"]), ("transitions", ["kernels", "--gap-output"])])
def test_traces_in_an_output_folder_are_never_overwritten(gputime, run, folder, name, args):
    before = (folder / "a.json").read_bytes()
    (folder / "d").mkdir()
    trace = folder / "d" / f"{name}.csv"
    os.link(folder / "a.json", trace)
    for path in (f"d/{name}.csv", f"d/../d/{name}.csv", "a.json"):
        assert f"'d/{name}.csv': it is an input trace" in error_of(run("-q", *args, "d/", path), USAGE)
    done = subprocess.run(["bash", "-c", f'"{gputime.binary}" -q {" ".join(args)} d/ - < a.json'], cwd=folder,
                          env=gputime.environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert f"'d/{name}.csv': it is an input trace" in error_of(done, USAGE)
    assert trace.read_bytes() == before and len(list((folder / "d").iterdir())) == 1

    trace.rename(folder / "d" / "trace.csv")
    assert not text_of(run("-q", *args, "d/", "d/trace.csv"))
    assert (folder / "d" / "trace.csv").read_bytes() == before and trace.read_bytes() != before


def test_traces_are_never_overwritten(run, folder):
    before = (folder / "a.json").read_bytes()
    os.link(folder / "a.json", folder / "link.json")
    for name in ("a.json", "./a.json", "link.json"):
        for args in (["-o", name], ["kernels", "-o", name], ["gaps", "--gap-output", name]):
            assert "trace" in error_of(run(*args[:-2], "a.json", *args[-2:]), USAGE)
    assert (folder / "a.json").read_bytes() == before


def test_files_of_one_capture(run, folder):
    """Files that share the name before a report's go to one reader, and the one for JSON takes no second file. Only CSVs
    are reports."""
    for name in ("x_cuda_gpu_trace.csv", "y_cuda_gpu_trace.csv", "x_nvtx_sum.csv", "x_nvtx_sum.json"):
        write_trace(folder / name)
    names = ["x_cuda_gpu_trace.csv", "a.json", "y_cuda_gpu_trace.csv", "x_nvtx_sum.json"]
    report = json.loads(text_of(run("--json", *names)))
    assert [os.path.basename(entry["path"]) for entry in report["inputs"]] == names
    done = run("x_cuda_gpu_trace.csv", "a.json", "x_nvtx_sum.csv")
    assert done.returncode == FAILED and b"not 2" in done.stderr and b"a.json" in done.stdout


@pytest.mark.parametrize("arguments", [("memory", "{}"), ("findings", "{}"), ("check", "--limit", "idle<5%", "{}"),
                                       ("diff", "{}", "{}")])
def test_a_directory_says_which_commands_take_one(gputime, tmp_path, arguments):
    done = gputime(*(argument.format(tmp_path) for argument in arguments))
    assert done.returncode == 1 and not done.stdout
    assert b"it is a directory; name the traces in it (directories: 'gputime ranks', check --ranks" in done.stderr


# ---- patterns that the shell left alone ----


def test_a_pattern_in_quotes_means_the_files(run, folder):
    for number in (10, 2):
        write_trace(folder / f"rank{number}.json")
    (folder / "rank_folder.json").mkdir()
    rows = rows_of(run("kernels", "rank*.json", "--csv"))
    assert list(dict.fromkeys(row["input"] for row in rows)) == ["rank2.json", "rank10.json"]
    assert rows_of(run("kernels", "rank2.json", "rank10.json", "--csv")) == rows
    assert run("rank[0-9]*.json").returncode == 0


def test_a_pattern_that_nothing_matches(run):
    done = run("kernels", "nothing*.json")
    assert done.returncode == 1 and b"no files match 'nothing*.json'" in done.stderr


def test_a_file_may_be_named_like_a_pattern(run, folder):
    write_trace(folder / "a[1].json")
    rows = rows_of(run("kernels", "a[1].json", "--csv"))
    assert rows and {row["input"] for row in rows} == {"a[1].json"}


# ---- xz ----


def xz_of(run):
    if b"no xz" in run("--version").stdout:
        pytest.skip("this build has no liblzma")
    return lzma.compress


def test_xz_is_inflated(run, folder):
    pack, plain = xz_of(run), (folder / "a.json").read_bytes()
    wanted = [row["name"] for row in rows_of(run("kernels", "a.json", "--csv"))]
    half = len(plain) // 2
    for packed in (pack(plain), pack(plain[:half]) + pack(plain[half:]), pack(plain) + bytes(8), pack(plain, preset=9)):
        (folder / "b.json.xz").write_bytes(packed)
        assert [row["name"] for row in rows_of(run("kernels", "b.json.xz", "--csv"))] == wanted
        assert [row["name"] for row in rows_of(run("kernels", "-", "--csv", stdin=packed))] == wanted


def test_damaged_xz_is_counted(run, folder):
    packed = bytearray(xz_of(run)((folder / "a.json").read_bytes() + b" " * 100_000))
    path = folder / "b.json.xz"
    for size in range(1, len(packed), 7):
        path.write_bytes(packed[:size])
        done = run("kernels", "b.json.xz")
        assert done.returncode == 1 or b"packing_damaged" in done.stdout, size
    for place in range(8, len(packed), 11):
        packed[place] ^= 0x21
        path.write_bytes(packed)
        done = run("kernels", "b.json.xz")
        assert done.returncode == 1 or b"packing_damaged" in done.stdout, place
        packed[place] ^= 0x21
