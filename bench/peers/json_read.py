"""Reads a trace with Python's json module, as scripts do."""
import json
import sys

with open(sys.argv[1], encoding="utf-8") as file:
    events = json.load(file)["traceEvents"]
kernels = [event for event in events if event.get("cat") == "kernel"]
total_us = sum(event["dur"] for event in kernels)
print(f"kernels {len(kernels)} kernel_ns {round(total_us * 1000)} kept {len(events)}")
