"""gputime mcp with the official SDK's client (tests/mcp): what it validates is as it expects."""

import json
import os
import re
import shutil
import subprocess

import pytest

from building import OFFLINE, alone
from samples import DATA, ROOT

FOLDER = ROOT / "tests/mcp"


def node_version():
    node = shutil.which("node")
    text = subprocess.run([node, "--version"], stdout=subprocess.PIPE, text=True).stdout if node else ""
    return int((re.match(r"v(\d+)", text) or [0, 0])[1])


@pytest.fixture(scope="module")
def packages():
    if node_version() < 18 or not shutil.which("npm"):
        pytest.skip("SKIPPED: needs Node 18 and npm")
    with alone("mcp-sdk"):
        if not (FOLDER / "node_modules/@modelcontextprotocol/sdk").is_dir():
            done = subprocess.run(["npm", "ci", "--loglevel=error", "--ignore-scripts", "--no-audit", "--no-fund"], cwd=FOLDER,
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
            if done.returncode and OFFLINE.search(done.stdout):
                pytest.skip("SKIPPED: npm cannot reach its registry")
            assert done.returncode == 0, done.stdout


def test_the_official_client(gputime, packages):
    trace, other = DATA / "torch/llama_train_compiled.json.gz", DATA / "overlap.json"
    done = subprocess.run(["node", "client.mjs", gputime.binary, trace, other], cwd=FOLDER, env=os.environ | gputime.environment,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=120)
    assert done.returncode == 0 and done.stderr == "", done.stderr
    seen = json.loads(done.stdout)
    assert seen["server"]["name"] == "gputime" and {"summary", "diff", "sql"} <= set(seen["tools"])
    assert seen["summary"]["structuredContent"]["command"] == "summary" and "busy" in seen["summary"]["content"][0]["text"]
    assert seen["diff"]["structuredContent"]["tables"]["measures"]["rows"]
    assert seen["failed"]["isError"] and "/nowhere.json" in seen["failed"]["content"][0]["text"]
    assert seen["unknown"] == -32602
