#!/usr/bin/env python3
"""Prints python/gputime/_commands.py, what the program's commands run and show, from its command table:
make build/dump_commands && python3 python/make_commands.py build/dump_commands > python/gputime/_commands.py"""

import json
import pprint
import subprocess
import sys

INTRO = '''"""What the commands of the program run and show. Made by python/make_commands.py from the program's own table; do not
edit."""

'''


def page(commands):
    named = {command.pop("name"): command for command in commands}
    return INTRO + "COMMANDS = \\\n" + pprint.pformat(named, width=120, sort_dicts=False) + "\n"


if __name__ == "__main__":
    print(page(json.loads(subprocess.run([sys.argv[1]], check=True, capture_output=True).stdout)), end="")
