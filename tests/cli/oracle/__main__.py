"""python3 -m oracle TRACE, in the folder above: the tables of a trace as JSON."""

import json
import sys

from . import load, report

json.dump(report(load(sys.argv[1])), sys.stdout, indent=1, default=str)
