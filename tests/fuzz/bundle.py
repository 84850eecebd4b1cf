"""The corpus of a fuzz target as one file: each input after its size in four bytes, little endian, behind a first word.

bundle.py unpack BUNDLE FOLDER          each input as a file, named by its hash; nothing where there is no bundle
bundle.py keep FUZZER FOLDER BUNDLE     of the folder's inputs those that reach something new, smallest first, up to a limit
"""

import hashlib
import pathlib
import struct
import subprocess
import sys
import tempfile

MAGIC = b"inputs\0\1"
LARGEST, ALL = 8 << 10, 64 << 10  # of one input, and of a bundle


def inputs(bundle):
    data = bundle.read_bytes()
    assert data.startswith(MAGIC), f"{bundle} is not a bundle"
    at = len(MAGIC)
    while at < len(data):
        (size,) = struct.unpack_from("<I", data, at)
        yield data[at + 4:at + 4 + size]
        at += 4 + size


def unpack(bundle, folder):
    folder.mkdir(parents=True, exist_ok=True)
    for one in inputs(bundle) if bundle.exists() else ():
        (folder / hashlib.sha1(one).hexdigest()).write_bytes(one)


def minimised(fuzzer, folder):
    """libFuzzer's own choice: a small set with the same coverage. Without counters, so that it stays small."""
    with tempfile.TemporaryDirectory() as place:
        subprocess.run([fuzzer, "-merge=1", "-use_counters=0", f"-max_len={LARGEST}", place, folder], check=True,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        return sorted((path.read_bytes() for path in pathlib.Path(place).iterdir()), key=lambda one: (len(one), one))


def keep(fuzzer, folder, bundle):
    kept, size = [], 0
    for one in minimised(fuzzer, folder):
        if size + len(one) > ALL:
            break
        kept.append(struct.pack("<I", len(one)) + one)
        size += len(one)
    if kept:
        bundle.parent.mkdir(exist_ok=True)
        bundle.write_bytes(MAGIC + b"".join(kept))
    print(f"{bundle.name}: {len(kept)} inputs, {size} bytes")


if __name__ == "__main__":
    command, *paths = sys.argv[1:]
    {"unpack": unpack, "keep": keep}[command](*map(pathlib.Path, paths))
