"""run.py PLACE TARGET SECONDS SEEDS: runs a fuzzer that `make fuzz` built, and adds to build/fuzz/executions how often.

PLACE is where the fuzzer is. SEEDS are files, separated by commas. What fails is left in build/fuzz; it is to become a seed.
"""

import pathlib
import re
import subprocess
import sys

BUILD = pathlib.Path("build/fuzz")
SHORT = ("fuzz_text_", "fuzz_seal", "fuzz_labels", "fuzz_analyses", "fuzz_writers")  # inputs of such targets are short
BUNDLE = b"inputs\0\1"


def seed_files(names):
    return [name for name in names.split(",") if name and pathlib.Path(name).read_bytes()[:len(BUNDLE)] != BUNDLE]


def main(place, target, seconds, seeds=""):
    longest = 2048 if target.startswith(SHORT) else 65536
    done = subprocess.run(
        [pathlib.Path(place) / target, f"-max_total_time={seconds}", "-timeout=10", "-rss_limit_mb=2048",
         f"-max_len={longest}", "-malloc_limit_mb=4096", "-print_final_stats=1", "-verbosity=0", "-entropic=0",
         f"-artifact_prefix={BUILD}/",
         *([f"-dict={words}"] if (words := BUILD / f"{target}.dict").stat().st_size else []),
         *([f"-seed_inputs={','.join(files)}"] if (files := seed_files(seeds)) else []),
         BUILD / "corpus" / target], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace")
    numbers = dict(re.findall(r"stat::(\w+):\s+(\d+)", done.stdout))
    if done.returncode:
        print(done.stdout[-6000:])
    with open(BUILD / "executions", "a", encoding="utf-8") as file:
        print(target, numbers.get("number_of_executed_units", 0), seconds, pathlib.Path(place).name, file=file)
    print("\n".join(f"{key}: {value}" for key, value in numbers.items()))
    return done.returncode


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
