"""Where did the GPU time go? Reads GPU traces and measures them.

    import gputime

    with gputime.open("trace.nsys-rep") as t:
        print(t.summary())
        t.kernels()["total_ns"].sum()
        t.ops.to_pandas()
"""

from ._compare import check, define, diff, ranks, schema, sql
from ._library import Error, UsageError, __version__
from ._report import Finding, Issue, Report, Table
from ._trace import Info, Trace, open_trace as open
from ._frame import Frame
from ._rows import Rows
from ._values import Column

__all__ = ["Column", "Error", "Finding", "Frame", "Info", "Issue", "Report", "Rows", "Table", "Trace", "UsageError", "__version__",
           "check", "define", "diff", "open", "ranks", "schema", "sql"]
