"""The GitHub Action: its steps, as action.yml has them, run here with a stub of gh and files instead of GitHub."""

import json
import os
import pathlib
import re
import shutil
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
if not shutil.which("jq"):
    pytest.skip("SKIPPED: needs jq", allow_module_level=True)
yaml = pytest.importorskip("yaml", reason="SKIPPED: needs python3-yaml")
ACTION = yaml.safe_load((ROOT / "action.yml").read_text())
BEFORE = str(ROOT / "tests/data/torch/llama_train_compiled.json.gz")
OTHER = str(ROOT / "tests/data/overlap.json")
SCRIPTS = sorted((ROOT / "packaging").rglob("*.sh"))


class Runner:
    """Runs the steps of the action as a runner does: environment, outputs, conditions."""

    def __init__(self, folder, event, **inputs):
        self.folder = folder
        (folder / "bin").mkdir()
        (folder / "gh.json").write_text("[]")
        stub = folder / "bin/gh"
        stub.write_text(GH)
        stub.chmod(0o755)
        (folder / "event.json").write_text(json.dumps(event))
        self.inputs = {name: about.get("default", "") for name, about in ACTION["inputs"].items()} | inputs
        self.outputs, self.ran = {}, []
        self.environment = os.environ | {
            "PATH": f"{folder}/bin:{ROOT}/build:{os.environ['PATH']}", "GITHUB_ACTION_PATH": str(ROOT),
            "GITHUB_EVENT_PATH": f"{folder}/event.json", "GITHUB_OUTPUT": f"{folder}/output", "GITHUB_PATH": f"{folder}/path",
            "GITHUB_STEP_SUMMARY": f"{folder}/summary", "GITHUB_REPOSITORY": "me/project", "RUNNER_TEMP": str(folder),
            "XDG_CACHE_HOME": f"{folder}/cache", "GH_STUB": str(folder / "gh.json")}

    def value(self, text):
        def replace(match):
            scope, *path = match[1].split(".")
            return self.value(self.inputs[path[0]]) if scope == "inputs" else "token" if scope == "github" else self.outputs.get(path[2], "")
        return re.sub(r"\$\{\{\s*([\w.-]+)\s*\}\}", replace, text)

    def run(self):
        """The exit status of the first step that fails."""
        for step in ACTION["runs"]["steps"]:
            if step.get("if") == "inputs.comment == 'true'" and self.inputs["comment"] != "true":
                continue
            assert set(step) <= {"name", "id", "if", "continue-on-error", "shell", "env", "run"} and step["shell"] == "bash"
            environment = self.environment | {key: self.value(text) for key, text in step.get("env", {}).items()}
            (self.folder / "output").write_text("")
            done = subprocess.run(["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]], env=environment,
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, cwd=self.folder)
            self.ran.append((step["name"], done.returncode, done.stdout))
            self.outputs |= dict(line.split("=", 1) for line in (self.folder / "output").read_text().splitlines())
            if done.returncode and not step.get("continue-on-error"):
                return done.returncode
        return 0

    def comments(self):
        return json.loads((self.folder / "gh.json").read_text())


GH = r"""#!/usr/bin/env python3
import json, os, subprocess, sys
words, place = sys.argv[1:], os.environ["GH_STUB"]
comments = json.load(open(place))
assert words[0] == "api" and os.environ["GH_TOKEN"] == "token", words
method = words[words.index("--method") + 1] if "--method" in words else "GET"
address = next(word for word in words[1:] if word.startswith("repos/"))
assert address.startswith("repos/me/project/issues/"), address
if method == "GET":
    for page in (comments[:1], comments[1:]):
        subprocess.run(["jq", "-r", words[words.index("--jq") + 1]], input=json.dumps(page).encode(), check=True)
elif os.environ.get("GH_STUB_FAILS"):
    sys.exit("HTTP 403: Resource not accessible by integration")
else:
    field = words[words.index("-F") + 1]
    assert field.startswith("body=@"), field
    body = open(field[6:]).read()
    if method == "POST":
        assert address.endswith("issues/17/comments"), address
        comments.append({"id": 100 + len(comments), "body": body})
    else:
        [one for one in comments if address.endswith(f"comments/{one['id']}")][0]["body"] = body
    json.dump(comments, open(place, "w"))
"""
PULL_REQUEST = {"pull_request": {"number": 17}}


def test_a_change_within_its_limits_passes_and_is_commented(tmp_path):
    runner = Runner(tmp_path, PULL_REQUEST, before=BEFORE, after=f"\n  {BEFORE}\n", **{"fail-if": "step>+3%\neach kernel:*>+10%",
                                                                                       "limits": "idle<99%"})
    assert runner.run() == 0, runner.ran
    assert [name for name, *_ in runner.ran] == [step["name"] for step in ACTION["runs"]["steps"]]
    [comment] = runner.comments()
    assert comment["body"].startswith("<!-- gputime: GPU time -->\n## GPU time\n") and "No change" in comment["body"]
    assert "### Limits" in comment["body"] and runner.outputs["status"] == "ok"
    assert (tmp_path / "summary").read_text() == pathlib.Path(runner.outputs["report"]).read_text()


@pytest.mark.parametrize("title", ['She said "faster"', 'a")) | .id, (.[] | select(.body | startswith("', "\\(1) $x `y` %s", "-n"])
def test_titles_are_data(tmp_path, title):
    """A title with quotes finds its own comment, and none of the others."""
    runner = Runner(tmp_path, PULL_REQUEST, before=BEFORE, after=BEFORE)
    assert runner.run() == 0
    runner.inputs["title"] = title
    assert runner.run() == 0 and runner.run() == 0, runner.ran
    assert [one["body"].splitlines()[0] for one in runner.comments()] == ["<!-- gputime: GPU time -->", f"<!-- gputime: {title} -->"]
    assert not any(status for _, status, _ in runner.ran), runner.ran


@pytest.mark.parametrize("limits, status", [("idle<99%", 0), ("idle<1%", 1)])
def test_a_comment_that_fails_does_not_judge(tmp_path, limits, status):
    runner = Runner(tmp_path, PULL_REQUEST, before=BEFORE, after=BEFORE, limits=limits)
    runner.environment["GH_STUB_FAILS"] = "1"
    assert runner.run() == status and runner.ran[-1][0] == "Judge" and runner.comments() == []
    [comment] = [done for done in runner.ran if done[0].startswith("Comment")]
    assert comment[1] != 0 and "403" in comment[2]


def test_a_later_run_changes_its_comment(tmp_path):
    runner = Runner(tmp_path, PULL_REQUEST, before=BEFORE, after=BEFORE)
    assert runner.run() == 0
    runner.inputs["after"] = OTHER
    runner.run()
    runner.inputs |= {"title": "Other", "after": BEFORE}
    assert runner.run() == 0
    assert [one["body"].splitlines()[0] for one in runner.comments()] == ["<!-- gputime: GPU time -->", "<!-- gputime: Other -->"]
    assert "No change" not in runner.comments()[0]["body"]


@pytest.mark.parametrize("inputs, status, words", [
    ({"limits": "idle<1%"}, "broken", "limits is broken"), ({"fail-if": "nonsense"}, "failed", "nonsense"),
    ({"after": "/nowhere.json"}, "failed", "cannot read '/nowhere.json'"), ({"options": "--per=nonsense"}, "failed", "nonsense"),
    ({"before": ""}, "failed", "two traces"), ({"limits": "idle<1%", "fail-if": "nonsense"}, "failed", "nonsense"),
])
def test_a_failure_is_commented_and_fails_at_the_end(tmp_path, inputs, status, words):
    runner = Runner(tmp_path, PULL_REQUEST, **({"before": BEFORE, "after": BEFORE} | inputs))
    assert runner.run() == 1
    assert runner.ran[-1][0] == "Judge" and runner.outputs["status"] == status, runner.ran
    assert words in runner.comments()[0]["body"]


def test_without_a_pull_request_there_is_no_comment(tmp_path):
    runner = Runner(tmp_path, {"push": {}}, before=BEFORE, after=BEFORE)
    assert runner.run() == 0 and runner.comments() == []
    quiet = Runner(tmp_path / "quiet", PULL_REQUEST, before=BEFORE, after=BEFORE, comment="false") if not (
        tmp_path / "quiet").mkdir() else None
    assert quiet.run() == 0 and quiet.comments() == []


def test_hostile_inputs_stay_words(tmp_path):
    """Whatever a title or a limit has in it, the shell does not run it."""
    hostile = f"$(touch {tmp_path}/ran) `touch {tmp_path}/ran`; touch {tmp_path}/ran"
    runner = Runner(tmp_path, PULL_REQUEST, before=BEFORE, after=BEFORE, title=hostile, **{"fail-if": hostile, "options": hostile})
    assert runner.run() == 1 and not (tmp_path / "ran").exists()
    assert runner.comments()[0]["body"].splitlines()[1] == f"## {hostile}"


def test_inputs_are_never_part_of_a_script():
    """An expression inside of `run` would be text of the script, and so code of whoever names a branch."""
    for step in ACTION["runs"]["steps"]:
        assert "${{" not in step["run"], step


def test_the_workflow_in_the_docs_is_valid():
    text = (ROOT / "docs/install.md").read_text()
    workflow = yaml.safe_load(re.search(r"```yaml\n(.*?)```", text, re.DOTALL)[1])
    [job] = workflow["jobs"].values()
    [step] = [step for step in job["steps"] if "gputime" in step.get("uses", "")]
    assert set(step["with"]) <= set(ACTION["inputs"])
    assert {name for name, about in ACTION["inputs"].items() if about.get("required")} <= set(step["with"])
    assert job["permissions"]["pull-requests"] == "write"


def test_scripts_are_clean():
    if not shutil.which("shellcheck"):
        pytest.skip("SKIPPED: needs shellcheck")
    done = subprocess.run(["shellcheck", *map(str, SCRIPTS), str(ROOT / "setup.sh"), str(ROOT / "probe.sh")],
                          stdout=subprocess.PIPE, text=True)
    assert done.returncode == 0, done.stdout
    assert all(os.access(path, os.X_OK) for path in SCRIPTS)


def test_the_container_is_not_built_from_what_was_built_here():
    """`COPY . .` takes everything that this file does not leave out."""
    left_out = {line for line in (ROOT / ".containerignore").read_text().splitlines() if line and line[0] != "#"}
    assert {".git", "**/build"} <= left_out
    tracked = subprocess.run(["git", "ls-files"], cwd=ROOT, stdout=subprocess.PIPE, text=True).stdout.splitlines()
    assert not [path for path in tracked if {"build", "node_modules"} & set(path.split("/"))]
    assert "liblzma5" in (ROOT / "packaging/Containerfile").read_text().split()


def test_the_container_has_the_libraries_of_the_program():
    """Its last stage installs what the program is linked with here; what those libraries need comes with them."""
    text = (ROOT / "packaging/Containerfile").read_text()
    stages = re.split(r"^FROM ", text, flags=re.MULTILINE)[1:]
    assert len(stages) == 2 and "./setup.sh build" in stages[0] and "COPY --from=build" in stages[1]
    if not shutil.which("dpkg"):
        pytest.skip("SKIPPED: needs dpkg")
    dynamic = subprocess.run(["readelf", "-d", ROOT / "build/gputime"], stdout=subprocess.PIPE, text=True, check=True).stdout
    linked = set(re.findall(r"\(NEEDED\).*\[(\S+)\]", dynamic))
    lines = subprocess.run(["ldd", ROOT / "build/gputime"], stdout=subprocess.PIPE, text=True).stdout.splitlines()
    needed = set()
    assert {"libc.so.6", "libsqlite3.so.0"} <= linked
    for path in (re.search(r"=> (/\S+)", line) for line in lines if line.split()[0] in linked):
        owner = path and subprocess.run(["dpkg", "-S", os.path.realpath(path[1])], stdout=subprocess.PIPE, text=True).stdout
        if owner:
            needed.add(owner.split(":")[0])
    assert needed - {"libc6", "libgcc-s1"} <= set(stages[1].split()), needed
