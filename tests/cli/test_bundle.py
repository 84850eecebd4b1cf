"""The page's bundle in web/dist: it is what `make page` makes of web/, and carries the licences of all that is in it."""

import json
import re
import shutil
import subprocess

import pytest

from building import AS_BUILT, OFFLINE, alone, run_make
from conftest import DATA, ROOT, has_page

DIST = ROOT / "web/dist"


def bundled_packages():
    """Name and version of every package with bytes in the bundle."""
    modules = json.loads((DIST / "modules.json").read_text())
    names = {match[1] for match in map(re.compile(r"node_modules/((?:@[^/]+/)?[^/]+)/").match, modules) if match}
    locked = json.loads((ROOT / "web/package-lock.json").read_text())["packages"]
    return {name: locked[f"node_modules/{name}"] for name in names}


def notices_of(text):
    """Name, version, licence and text of each notice."""
    parts = re.split(r"^---- (\S+) (\S+) \((\S+)\) ----$", text, flags=re.MULTILINE)[1:]
    return {name: (version, licence, body.strip()) for name, version, licence, body in zip(*(iter(parts),) * 4)}


def test_every_package_has_its_notice():
    packages, notices = bundled_packages(), notices_of((DIST / "notices.txt").read_text())
    assert {"echarts", "zrender", "tslib"} <= set(packages) == set(notices)
    for name, package in packages.items():
        version, licence, text = notices[name]
        assert (version, licence) == (package["version"], package["license"])
        assert "Copyright" in text and "AS IS" in text
    assert "Mike Bostock" in notices["echarts"][2], "parts of d3"


def test_notice_file_has_them_all():
    text = (ROOT / "NOTICE").read_text()
    assert text.endswith((DIST / "notices.txt").read_text())
    for library in ("zlib", "zstd", "lz4", "SQLite", "PCRE2", "ISA-L", "xxHash", "glibc"):
        assert re.search(rf"^\| {library} \| .+ \| .+ \|$", text, re.MULTILINE), library


@pytest.mark.skipif(not has_page(), reason="built without the page")
def test_every_page_carries_them(gputime):
    page = gputime(DATA / "devices.json", "--html").stdout.decode()
    head = page[:page.index("</head>")]
    assert page.startswith("<!doctype html>\n") and page.index('charset="utf-8"') < 1024
    assert f"<!--\n{(DIST / 'notices.txt').read_text().strip()}\n-->" in head


@pytest.mark.skipif(not has_page(), reason="built without the page")
def test_every_page_carries_the_definitions(gputime):
    page = gputime(DATA / "devices.json", "--html").stdout.decode()
    text = re.search(r'<script type="application/json" id="definitions">(.*?)</script>', page, re.DOTALL)[1]
    assert json.loads(text) == (ROOT / "docs/measures.md").read_text()
    assert "{{" not in page[:page.index("<script>")]


def test_bundle_does_not_depend_on_the_documentation():
    modules = json.loads((DIST / "modules.json").read_text())
    assert modules and not any("docs/" in path for path in modules)


def test_bundle_is_current(tmp_path):
    if not shutil.which("npm") or not shutil.which("node"):
        pytest.skip("npm is not installed")
    with alone("packages"):
        done = run_make(*AS_BUILT, "build/web/packages")
    if done.returncode != 0 and OFFLINE.search(done.stdout):
        pytest.skip("npm cannot reach its registry")
    assert done.returncode == 0, done.stdout
    subprocess.run(["node", "web/build.mjs", tmp_path], cwd=ROOT, check=True)
    for path in sorted(DIST.iterdir()):
        assert (tmp_path / path.name).read_bytes() == path.read_bytes(), f"{path.name} is old; run: make page"
    assert {path.name for path in tmp_path.iterdir()} == {path.name for path in DIST.iterdir()}
