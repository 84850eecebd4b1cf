"""DuckDB reads the Parquet files of reports and exports: the same rows and sums as the JSON output has."""

import json
import re
import shutil
import subprocess

import pytest

from building import OFFLINE, alone
from conftest import DATA, sample_name
from samples import ROOT

SOURCE = ROOT / "tests/duckdb"
FOLDER = ROOT / "build/duckdb"
SAMPLES = [DATA / "devices.json", DATA / "torch/llama_train_compiled.json.gz", DATA / "torch/tpdp_rank0.json.gz",
           DATA / "nsys/train.nsys-rep", DATA / "nsys/graph_whole.nsys-rep"]
OLDEST_NODE = 18


def install():
    """DuckDB from npm, once for all runs; why not, where it cannot be had."""
    lock = "package-lock.json"
    if (FOLDER / "done").exists() and (FOLDER / lock).read_bytes() == (SOURCE / lock).read_bytes():
        return None
    shutil.rmtree(FOLDER, ignore_errors=True)
    shutil.copytree(SOURCE, FOLDER)
    done = subprocess.run(["npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"], cwd=FOLDER,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode and OFFLINE.search(done.stdout):
        return "npm cannot reach its registry"
    assert done.returncode == 0, done.stdout
    (FOLDER / "done").touch()
    return None


@pytest.fixture(scope="module")
def duckdb():
    """Runs statements, all at once: their rows."""
    if not shutil.which("npm") or not shutil.which("node"):
        pytest.skip("npm is not installed")
    version = subprocess.run(["node", "--version"], stdout=subprocess.PIPE, text=True).stdout
    if int(re.match(r"v(\d+)", version)[1]) < OLDEST_NODE:
        pytest.skip(f"Node.js {version.strip()} is too old for DuckDB")
    with alone("duckdb"):
        reason = install()
    if reason:
        pytest.skip(reason)

    def ask(*statements):
        done = subprocess.run(["node", FOLDER / "query.mjs"], input="\n".join(statements), stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True)
        assert done.returncode == 0, done.stderr
        return [json.loads(line) for line in done.stdout.splitlines()]

    return ask


def numbers(row):
    """DuckDB's JSON has whole numbers as texts."""
    return {key: int(value) if isinstance(value, str) and re.fullmatch(r"-?\d+", value) else value
            for key, value in row.items()}


def test_reports(duckdb, gputime, tmp_path):
    """Every file, row by row: all tables of all samples at once."""
    files, wanted = [], []
    for sample in SAMPLES:
        folder = tmp_path / sample_name(sample)
        assert gputime("summary", sample, "--format", "parquet", "-o", f"{folder}/").returncode == 0
        for key, table in gputime.json("summary", sample)["tables"].items():
            files.append(folder / f"{key}.parquet")
            wanted.append(table["rows"])
    answers = duckdb(*(f"from '{path}'" for path in files))
    assert len(answers) == len(files) > 50
    for path, rows, expected in zip(files, answers, wanted):
        assert [numbers(row) for row in rows] == [numbers(row) for row in expected], path


def test_exports(duckdb, gputime, tmp_path):
    """All files can be read whole, and what they sum to is what the report says."""
    for sample in SAMPLES:
        folder = tmp_path / sample_name(sample)
        assert gputime("export", "-q", sample, "-o", f"{folder}/").returncode == 0
        tables = sorted(path.name for path in folder.iterdir())
        everything = duckdb(*(f"select count(*) as n, count(columns(*)) from '{folder / name}'" for name in tables))
        assert len(everything) == len(tables) > 20
        rows = duckdb(
            f"select category, count(*) as n, sum(dur_ns)::bigint as total_ns from '{folder}/ops.parquet' group by 1",
            f"select cause, count(*) as n, sum(gap_ns)::bigint as total_ns from '{folder}/gaps.parquet' group by 1",
            f"select o.name from '{folder}/ops.parquet' o join '{folder}/calls.parquet' c on o.call_id = c.id "
            "where c.api is distinct from o.call",
            f"select value from parquet_kv_metadata('{folder}/ops.parquet') where key = 'column.dur_ns.unit'")
        check_sums(gputime.json("summary", sample, "--top", "0"), rows)


def check_sums(report, rows):
    categories, gaps, mismatched, unit = rows
    tables = report["tables"]
    assert {row["category"]: (int(row["n"]), int(row["total_ns"])) for row in categories} == {
        row["category"]: (row["count"], row["total_ns"]) for row in tables["categories"]["rows"] if row["count"]}
    idle = {}
    for row in tables["idle_causes"]["rows"]:
        count, total = idle.get(row["cause"], (0, 0))
        idle[row["cause"]] = count + row["count"], total + row["total_ns"]
    assert {row["cause"]: (int(row["n"]), int(row["total_ns"])) for row in gaps} == {
        key: value for key, value in idle.items() if value[0]}
    assert mismatched == [] and unit == [{"value": "ns"}]
