"""What docs/python.md shows is what Python prints: its examples run in order, in one session."""

import doctest
import os
import re

import pytest

from conftest import ROOT
from python_package import package

PAGE = ROOT / "docs/python.md"
BLOCK = re.compile(r"<!-- tested -->\n```python\n(.*?)^```$", re.DOTALL | re.MULTILINE)


def test_examples(monkeypatch, tmp_path):
    pytest.importorskip("pandas")
    monkeypatch.chdir(ROOT)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    blocks = BLOCK.findall(PAGE.read_text(encoding="utf-8"))
    assert len(blocks) >= 4
    session, failures = {}, []
    for block in blocks:
        test = doctest.DocTestParser().get_doctest(block, session, "python.md", str(PAGE), 0)
        assert test.examples
        test.globs = session
        runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS)
        runner.run(test, out=failures.append, clear_globs=False)
    assert not failures, "".join(failures)


def test_links_and_names():
    text = PAGE.read_text(encoding="utf-8")
    for link in re.findall(r"\]\((?!http)([^)#]+)", text):
        assert (PAGE.parent / link).exists(), link
    for name in re.findall(r"`gputime\.(\w+)", text):
        assert hasattr(package, name) or name == "open", name
    for method in set(re.findall(r"`t\.(\w+)\(", text)):
        assert hasattr(package.Trace, method), method
    assert os.path.exists(ROOT / "python/gputime/__init__.py")
