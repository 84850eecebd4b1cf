"""The page as a file: the same numbers as JSON, bounded, and nothing of a trace outside the report's strings. What a browser
makes of it is tested in tests/browser."""

import base64
import hashlib
import json
import re
import time

import pytest

from conftest import DATA, ROOT, has_page, page_report

pytestmark = pytest.mark.skipif(not has_page(), reason="built without the page")

TRACE = DATA / "torch/llama_train_compiled.json.gz"


def kernel(name, start_us, length_us):
    return {"ph": "X", "cat": "kernel", "name": name, "pid": 0, "tid": 7, "ts": start_us, "dur": length_us,
            "args": {"device": 0, "stream": 7}}


def page(gputime, *args):
    done = gputime(*args, "--html")
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("command", ["summary", "kernels", "gaps", "ranges"])
def test_numbers_are_those_of_json(gputime, command):
    shown = page_report(page(gputime, command, TRACE))
    report = gputime.json(command, TRACE)
    assert {"tool", "command", "issues", "findings", "facts"} <= set(shown)
    assert all(shown[key] == report[key] for key in ("tool", "command", "issues", "findings", "facts"))
    for key, table in report["tables"].items():
        if key in shown["tables"]:
            assert shown["tables"][key]["rows"] == table["rows"][:2000], key
    assert set(report["tables"]) - set(shown["tables"]) <= {"accounting_summary", "idle_causes_all"}  # of one GPU: the same again


def test_rows_are_bounded_and_shared_between_inputs(gputime, tmp_path):
    paths = []
    for name, count in (("few", 100), ("many", 3000), ("more", 5000)):
        events = [kernel(f"kernel {i}", 10 * i, 5) for i in range(count)]
        paths.append(tmp_path / f"{name}.json")
        paths[-1].write_text(json.dumps({"traceEvents": events}))
    table = page_report(page(gputime, "kernels", *paths))["tables"]["kernels"]
    counts = {name: sum(row["input"] == f"{name}.json" for row in table["rows"]) for name in ("few", "many", "more")}
    assert counts == {"few": 100, "many": 950, "more": 950}
    assert table["total_rows"] == 8100


def test_endless_names_are_cut_when_there_are_many(gputime, tmp_path):
    names = [f"kernel {i} " + "\u00e9" * 5000 for i in range(1000)]
    path = tmp_path / "endless.json"
    path.write_text(json.dumps({"traceEvents": [kernel(name, 10 * i, 5 + (i == 0)) for i, name in enumerate(names)]}))
    text = page(gputime, "kernels", path)
    assert len(text) < 3_000_000
    shown = [row["name"] for row in page_report(text)["tables"]["kernels"]["rows"]]
    assert len(shown) == 1000 and shown[0] == names[0]
    assert all(name in names or (name[-1] == "\u2026" and any(n.startswith(name[:-1]) for n in names)) for name in shown)


def test_a_page_written_to_a_file_is_not_printed(gputime, tmp_path):
    for command in ("kernels", "gaps"):
        printed = gputime(command, TRACE).stdout
        assert gputime(command, TRACE, "--html", "-o", tmp_path / "own.html").stdout == printed
        assert page_report((tmp_path / "own.html").read_bytes())["command"] == command


def test_ranges_nest_on_their_page(gputime):
    shown = page_report(page(gputime, "ranges", TRACE))["tables"]
    assert shown["range_tree"]["rows"] == gputime.json("ranges", "--tree", TRACE)["tables"]["range_tree"]["rows"]


def test_integers_beyond_doubles_stay_exact(gputime, tmp_path):
    path = tmp_path / "long.json"
    path.write_text(json.dumps({"traceEvents": [kernel("long", 0, 9_007_199_254_741)]}))
    row = page_report(page(gputime, "kernels", path))["tables"]["kernels"]["rows"][0]
    assert row["total_ns"] == "9007199254741000"


def test_policy_allows_only_the_pages_own_script_and_style(gputime):
    text = page(gputime, TRACE).decode()
    policy = re.search(r'http-equiv="Content-Security-Policy" content="([^"]*)"', text)[1]
    for tag, directive in (("script", "script-src"), ("style", "style-src")):
        body = re.findall(rf"<{tag}>(.*?)</{tag}>", text, re.DOTALL)
        assert len(body) == 1
        digest = base64.b64encode(hashlib.sha256(body[0].encode()).digest()).decode()
        assert f"{directive} 'sha256-{digest}'" in policy
    assert "default-src 'none'" in policy and "unsafe" not in policy
    assert not re.search(r"<[a-z]+ [^>]*\bon\w+=", text[:text.index("<script>")])


def test_page_is_small(gputime):
    assert len(page(gputime, TRACE)) < 2_000_000


@pytest.fixture
def browser(tmp_path):
    """A browser that notes the page it is given, and a folder for temporary files."""
    (tmp_path / "tmp").mkdir()
    script = tmp_path / "browser"
    script.write_text(f'#!/bin/sh\nprintf %s "$1" > {tmp_path}/opened.new\nmv {tmp_path}/opened.new {tmp_path}/opened\n')
    script.chmod(0o755)
    return {"BROWSER": str(script), "TMPDIR": str(tmp_path / "tmp")}


def wait_for(path):
    for _ in range(200):
        if path.exists():
            return path.read_text()
        time.sleep(0.02)
    pytest.fail("no browser was started")


def test_open_shows_a_new_page(gputime, browser, tmp_path):
    done = gputime(TRACE, "--open", env=browser)
    assert done.returncode == 0, done.stderr
    opened = wait_for(tmp_path / "opened")
    assert done.stdout.decode() == f"Page: {opened}\n" and opened.startswith(browser["TMPDIR"])
    assert page_report(open(opened, "rb").read())["command"] == "summary"


def test_open_shows_the_page_that_is_written_anyway(gputime, browser, tmp_path):
    done = gputime("kernels", TRACE, "--open", "-q", "-o", tmp_path / "own.html", env=browser)
    assert done.returncode == 0 and done.stdout == b""
    assert wait_for(tmp_path / "opened") == str(tmp_path / "own.html")
    assert not list((tmp_path / "tmp").iterdir())


def test_open_leaves_nothing_when_the_trace_is_bad(gputime, browser, tmp_path):
    assert gputime(tmp_path / "missing.json", "--open", env=browser).returncode == 1
    assert not list((tmp_path / "tmp").iterdir()) and not (tmp_path / "opened").exists()


def test_open_says_where_the_page_is_without_a_browser(gputime, browser, tmp_path):
    done = gputime(TRACE, "--open", env=browser | {"BROWSER": str(tmp_path / "nothing")})
    assert done.returncode == 1 and b"cannot open '" in done.stderr and b".html' with" in done.stderr and b"set BROWSER" in done.stderr
    assert len(list((tmp_path / "tmp").iterdir())) == 1


def test_categories_have_colours_of_their_own():
    """One that is not listed gets one by its name."""
    theme = re.search(r"const CATEGORIES.*?};", (ROOT / "web/src/theme.ts").read_text(), re.DOTALL)[0]
    listed = re.findall(r"^  (\w+): '#[0-9a-f]{6}',$", theme, re.MULTILINE)
    categories = re.findall(r"^CATEGORY\((\w+),", (ROOT / "lib/label/rules/categories.def").read_text(), re.MULTILINE)
    assert set(listed) <= set(categories)
    colours = re.findall(r"^  \w+: '(#[0-9a-f]{6})',$", theme, re.MULTILINE)
    assert len(set(colours)) == len(colours)
