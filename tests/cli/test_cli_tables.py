"""Tables as options ask for them: order, rows, columns, bins and which of them there are."""

import collections
import json
import re

import pytest

from commandline import NAMES, USAGE, error_of, many_names, names_in, rows_of, text_of, write_trace
from conftest import DATA


@pytest.mark.parametrize("sort, order", [
    (None, "abcd"), ("count", "abcd"), ("percentage", "abcd"), ("duration", "dcba"), ("avg_ns", "dcba"),
    ("+avg_ns", "abcd"), ("+duration", "abcd"), ("+count", "dcba"), ("+percentage", "dcba"), ("+name", "abcd"),
    ("Mean", "dcba"), ("+mean", "abcd"), ("av", "dcba"),  # a title, or a beginning that is of one column alone
    ("name", None), ("duration-percentage", None),
])
def test_sort_of_kernels(run, sort, order):
    args = ["--sort", sort] if sort else []
    rows = rows_of(run("kernels", "a.json", "--csv", *args))
    shown = names_in(text_of(run("kernels", "a.json", *args)))
    if sort == "duration-percentage":
        shares = [float(row["share"]) for row in rows]
        assert shares == sorted(shares, reverse=True)
    elif order:
        initials = {name[0]: f"{name}_kernel" for name in ("alpha", "beta")} | {"c": "gamma_kernel", "d": "delta_kernel"}
        if sort == "+name":
            initials = dict(zip("abcd", sorted(f"{name}_kernel" for name in NAMES)))
        assert [row["name"] for row in rows] == [initials[letter] for letter in order]
    else:
        assert [row["name"] for row in rows] == sorted((f"{name}_kernel" for name in NAMES), reverse=True)
    assert shown == [row["name"].removesuffix("_kernel") for row in rows]


def test_hint_only_below_text_sorted_by_count(run):
    hint = "--sort duration-percentage"
    assert hint in text_of(run("kernels", "a.json"))
    assert hint in text_of(run("kernels", "a.json", "--sort", "count"))
    for args in (["--sort", "duration"], ["--sort", "duration-percentage"], ["--csv"], ["--json"], ["--md"], ["-q"]):
        assert hint not in text_of(run("kernels", "a.json", *args)), args
    assert hint not in text_of(run("a.json")) and hint not in text_of(run("gaps", "a.json"))


@pytest.mark.parametrize("sort", [None, "count", "total_ns", "+total_ns", "avg_ns", "median_ns", "median", "+Median", "p90",
                                  "p99", "name"])
def test_rows_shown_are_the_first_of_all(run, folder, sort):
    """Statistics of the others need not be made: which rows are shown must not depend on it."""
    write_trace(folder / "many.json", many_names(), growth=3)
    args = ["kernels", "many.json"] + (["--sort", sort] if sort else [])
    table = text_of(run(*args)).split("\nKernels")[1].split("\n\n")[0]
    shown = list(dict.fromkeys(re.findall(r"kernel_\d\d", table)))
    rows = json.loads(text_of(run(*args, "--json")))["tables"]["kernels"]["rows"]
    assert len(shown) == 10 and shown == [row["name"].removesuffix("_kernel") for row in rows[:10]]


@pytest.mark.parametrize("args", [["--why"], ["--details"], ["--columns", "name,count"], ["--sort", "count"]])
def test_list_in_a_file_has_all_its_columns(run, folder, args):
    """What is printed next to it may show fewer of them."""
    write_trace(folder / "growing.json", growth=3)
    lists = []
    for more in ([], args):
        text_of(run("kernels", "growing.json", "--device", "0", *more, "-q", "-o", "list.txt"))
        lists.append((folder / "list.txt").read_text())
    assert lists[0] == lists[1] and re.search(r"Standard Deviation: 0\.\d*[1-9]|Standard Deviation: [1-9]", lists[0])


def test_rows_shown_and_rows_written(run, folder):
    write_trace(folder / "many.json", many_names())

    def shown(*args):
        table = text_of(run(*args)).split("\nKernels")[1].split("\n\n")[0]
        return len(set(re.findall(r"kernel_\d\d", table)))

    def written(*args):
        return len(json.loads(text_of(run(*args, "--json")))["tables"]["kernels"]["rows"])
    assert shown("kernels", "many.json") == 10
    assert shown("kernels", "many.json", "--top", "3") == 3
    assert shown("kernels", "many.json", "--top", "0") == 30
    assert written("kernels", "many.json") == 30
    assert written("kernels", "many.json", "--top", "3") == 3
    assert written("kernels", "many.json", "--top", "0") == 30
    assert shown("many.json") == 6
    assert shown("many.json", "--top", "25") == 25
    assert shown("many.json", "--top", "0") == 30
    assert written("many.json") == 30
    assert written("many.json", "--top", "25") == 25
    assert written("many.json", "--top", "0") == 30


def test_table_of_another_analysis(run):
    expected = rows_of(run("gaps", "a.json", "--csv"))
    assert "from" in expected[0] and "to" in expected[0]
    assert rows_of(run("a.json", "--csv", "--table", "transitions", "--sort", "avg")) == expected
    assert len(rows_of(run("a.json", "--csv", "--table", "transitions", "--top", "1"))) == 1
    assert len(rows_of(run("a.json", "--csv", "--table", "kernels"))) == len(NAMES)


def test_table_alone_on_the_screen(run):
    both = text_of(run("gaps", "--per", "device", "a.json"))
    text = text_of(run("gaps", "--per", "device", "a.json", "--table", "idle_causes"))
    assert len(text.splitlines()) < len(both.splitlines())


def test_the_column_that_is_sorted_by_is_shown_and_others_give_way(run):
    for key, title in (("total_ns", "Total"), ("stddev_ns", "Std dev"), ("share", "Share")):
        text = text_of(run("gaps", "a.json", "--table", "transitions", "--sort", key, "--width", "60"))
        header = " ".join(text.split("──")[0].split("\n\n")[-1].split())
        assert key not in text.split("(not shown:")[-1] and title.split()[0] in header, text
    assert "Total" not in text_of(run("kernels", "a.json", "--sort", "duration", "--columns", "name,count"))


def test_columns_on_the_screen(run):
    assert "Std" in text_of(run("kernels", "a.json"))
    text = text_of(run("kernels", "a.json", "--columns", "count,name"))
    assert "Std" not in text and text.index("Count") < text.index("alpha_kernel")
    assert "no_such" in error_of(run("kernels", "a.json", "--columns", "name,no_such"), USAGE)


def test_gap_options_ask_for_the_gaps(run):
    def tables(*args):
        return set(json.loads(text_of(run("kernels", "a.json", "--json", *args)))["tables"])
    gap_tables = {"streams", "histogram", "transitions"}
    assert not gap_tables & tables()
    for args in (["--gaps"], ["-g"], ["--gap-top", "3"], ["--gap-sort", "count"], ["--hist", "linear"], ["--bins", "3"],
                 ["--hist-min", "0.5"], ["--hist-max", "100"]):
        assert gap_tables <= tables(*args), args
    assert "launches" in tables("--launches") and "launches" not in tables("--gaps")


LLAMA = DATA / "torch/llama_train_compiled.json.gz"


@pytest.mark.parametrize("bounds", [("--hist-min", "1.5"), ("--hist-max", "100"), ("--hist-min", "1", "--hist-max", "100"),
                                    ("--hist-min", "90000")], ids=" ".join)
def test_gaps_that_are_left_out_are_in_no_number(gputime, tmp_path, bounds):
    """What the help says of --hist-min and --hist-max, in every table and fact on the gaps of streams."""
    def tables(*args):
        return gputime.json("gaps", LLAMA, *args)["tables"]
    limits = dict(zip(bounds[::2], bounds[1::2]))
    least, most = (1000 * float(limits.get(name, default)) for name, default in (("--hist-min", 0), ("--hist-max", 1e12)))
    gaps = tables("--table", "stream_gaps")["stream_gaps"]["rows"]
    kept = [row for row in gaps if least <= row["gap_ns"] <= most]
    assert tables("--table", "stream_gaps", *bounds)["stream_gaps"]["rows"] == kept and len(kept) < len(gaps)
    report = gputime.json("gaps", LLAMA, *bounds)
    total = sum(row["gap_ns"] for row in kept)
    for table, count, length in (("streams", "gap_count", "gap_ns"), ("histogram", "count", "total_ns"),
                                 ("transitions", "count", "total_ns")):
        rows = report["tables"][table]["rows"]
        assert (sum(row[count] for row in rows), sum(row[length] for row in rows)) == (len(kept), total), table
    pairs = collections.Counter((row["after"], row["before"]) for row in kept)
    assert {(row["from"], row["to"]): row["count"] for row in report["tables"]["transitions"]["rows"]} == pairs
    assert (report["facts"]["stream_gap_count"], report["facts"]["stream_gap_total_ns"]) == (len(kept), total)
    note = f"--hist-min and --hist-max leave out {len(gaps) - len(kept)} of {len(gaps)} stream gaps."
    assert note in report["inputs"][0]["notes"]
    both = gputime("kernels", LLAMA, *bounds, "--gap-output", tmp_path / "gaps.txt")
    assert note in text_of(both) and f"Total gaps found: {len(kept)}\n" in (tmp_path / "gaps.txt").read_text()


def test_bounds_that_leave_out_nothing_or_everything(gputime):
    assert text_of(gputime("gaps", LLAMA, "--hist-min", "0", "--hist-max", "1000000000")) == \
        text_of(gputime("gaps", LLAMA))
    text = text_of(gputime("gaps", LLAMA, "--hist-min", "99999999"))
    assert text.count("No gap of any stream is within --hist-min and --hist-max.") == 2
    for table in ("streams", "transitions", "stream_gaps", "histogram"):
        wrong = gputime("gaps", LLAMA, "--table", table, "--hist-min", "3", "--hist-max", "2")
        assert "the histogram's shortest gap" in error_of(wrong, USAGE)


def test_gaps_of_whole_devices_have_no_such_bounds(gputime):
    assert gputime.json("gaps", LLAMA, "--per", "device", "--hist-min", "100") == gputime.json("gaps", LLAMA, "--per", "device")


def test_gap_rows(run, folder):
    write_trace(folder / "many.json", many_names())

    def pairs(*args):
        return json.loads(text_of(run("gaps", "many.json", "--json", *args)))["tables"]["transitions"]["rows"]
    assert len(pairs()) > 15
    for option in ("--gap-top", "--top"):
        assert len(pairs(option, "4")) == 4
    averages = [row["avg_ns"] for row in pairs()]
    assert averages == sorted(averages, reverse=True)
    counts = [row["count"] for row in pairs("--gap-sort", "count")]
    assert counts == sorted(counts, reverse=True)
    counts = [row["count"] for row in pairs("--gap-sort", "+count")]
    assert counts == sorted(counts) and counts[0] < counts[-1]
    averages = [row["avg_ns"] for row in pairs("--sort", "+avg")]
    assert averages == sorted(averages) and averages[0] < averages[-1]


def test_number_of_bins_asks_for_linear_ones(run, config):
    def bins(*args, **settings):
        return json.loads(text_of(run("gaps", "a.json", "--json", *args, **settings)))["tables"]["histogram"]["rows"]
    linear = bins("--hist", "linear", "--bins", "3")
    assert len(linear) == 3
    assert bins("--bins", "3") == linear
    assert bins("--bins", "3", "--hist", "log") == bins() != linear
    env = {"XDG_CONFIG_HOME": str(config.parents[1])}
    config.write_text("bins = 3\n")
    assert bins(env=env) == linear
    config.write_text("bins = 3\nhist = log\n")
    assert bins(env=env) == bins()
    config.write_text("hist = log\n")
    assert bins("--bins", "3", env=env) == bins()


def test_rows_are_numbered_for_people(run, folder):
    write_trace(folder / "many.json", many_names())

    def ranks(text, table):
        rows = text.split(f"\n{table}")[1].split("\n\n")[0].splitlines()[1:]
        first = next(number for number, line in enumerate(rows) if line.lstrip().startswith("# "))
        return [line[:2].strip() for line in rows[first + 2:] if line[0] not in "\u2026("]
    numbers = [str(number) for number in range(1, 13)]
    assert ranks(text_of(run("kernels", "many.json", "--top", "12")), "Kernels") == numbers
    assert ranks(text_of(run("gaps", "many.json", "--top", "12")), "Stream gaps by previous and next op") == numbers
    table = text_of(run("kernels", "a.json", "--md")).split("### Kernels")[1]
    assert re.findall(r"^\|([^|]*)\|", table, re.MULTILINE) == [" # ", " ---: ", *(f" {rank} " for rank in "1234")]
    for args in (["a.json"], ["kernels", "a.json", "--columns", "name,count"]):
        assert not re.search(r"^ *# ", text_of(run(*args)), re.MULTILINE), args
    assert "#" not in text_of(run("kernels", "a.json", "--csv"))
    for width in (20, 24, 30, 40, 60):
        text = text_of(run("kernels", "many.json", "--width", str(width)))
        assert max(map(len, text.splitlines())) <= width
