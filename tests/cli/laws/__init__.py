"""Laws: what must hold between the reports of a random trace and of the same trace changed in a known way.

traces.py makes traces, kineto.py and nsight.py write them, reports.py asks the library, rules.py has the laws,
run.py is the long mode (`make laws N=100000`). docs/laws.md says what each law means.
"""
