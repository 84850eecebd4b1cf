"""Reports of the library, made inside of this process: files come in, the document of the report goes out."""

import json

from python_package import package

# What every law looks at, unless it says that it holds for some of them only.
ANALYSES = ("overview", "findings", "accounting", "categories", "kernels", "device_kernels", "process_kernels", "tiny_kernels",
            "sync_calls", "memory", "gaps", "streams", "stream_gaps", "transitions", "histogram", "launches", "steps",
            "measures", "ranges", "phases", "operators", "range_tree", "range_kernels", "graphs", "collectives", "processes",
            "path_kinds", "path_parts", "critical_path", "path_kernels", "path_host", "slack", "replay", "efficiency")


class Document:
    """Tables by key as lists of rows, facts and issues. Which file it was is left out of all of them."""

    def __init__(self, text):
        document = json.loads(text)
        self.tables = {key: [without_input(row) for row in table["rows"]] for key, table in document["tables"].items()}
        self.facts = document["inputs"][0]["facts"]
        self.notes = document["inputs"][0]["notes"]
        self.findings = document["findings"]
        self.issues = {issue["id"]: issue["count"] for issue in document["issues"]}

    def everything(self):
        return {"tables": self.tables, "facts": self.facts, "findings": [without_input(one) for one in self.findings],
                "issues": self.issues}


def without_input(row):
    return {key: value for key, value in row.items() if key != "input"}


def document(*paths, analyses=ANALYSES, threads=1, **selection):
    with package.open(*paths, cache=False, threads=threads) as trace:
        return Document(trace.report(*analyses, **selection).to_string("json"))


def ranks(paths):
    return Document(package.ranks(list(paths), cache=False, threads=1).to_string("json"))
