"""Prints docs/frames.md: what is said about frames in general, then every frame and column, from the files of an export.

    python3 docs/make_frames.py > docs/frames.md
"""

import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests/cli"))

import parquet_by_hand  # noqa: E402 (found by the line above)

TYPES = {parquet_by_hand.INT64: "int", parquet_by_hand.DOUBLE: "double", parquet_by_hand.BYTES: "text"}


def exported(folder):
    program, trace = ROOT / "build/gputime", ROOT / "tests/data/overlap.json"
    subprocess.run([program, "export", "-q", "--no-cache", trace, "-o", f"{folder}/"], check=True)
    return {path.stem: parquet_by_hand.read(path) for path in sorted(pathlib.Path(folder).iterdir())}


def print_frame(file):
    title = file.about["gputime.title"]
    print(f"\n### {file.name}\n\n{title[0].upper()}{title[1:]}.\n")
    print("| column | type | unit | null | what |\n|---|---|---|---|---|")
    for column in file.schema[2:]:
        about = {part: file.about.get(f"column.{column.key}.{part}", "") for part in ("title", "unit")}
        kind = "unsigned" if column.is_unsigned else TYPES[column.type]
        print(f"| `{column.key}` | {kind} | {about['unit']} | {'may be' if column.is_optional else ''} | {about['title']} |")


def main():
    print((ROOT / "docs/frames.in.md").read_text(encoding="utf-8").rstrip())
    with tempfile.TemporaryDirectory() as folder:
        for file in exported(pathlib.Path(folder) / "frames").values():
            print_frame(file)


main()
