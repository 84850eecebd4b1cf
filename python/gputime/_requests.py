"""What a command of the program or an analysis runs and shows, as options of a report."""

import ctypes

from . import _c
from ._commands import COMMANDS
from ._library import UsageError, encoded, entries, lib, text
from ._options import analysis_options, run, selection, set_texts, sized, whole

ANALYSES = {text(entry.key): (text(entry.title), [table for table in text(entry.detail).split(",") if table])
            for entry in entries(_c.GPUTIME_ANALYSES)}
NAMES = {"full": _c.GPUTIME_NAMES_FULL, "short": _c.GPUTIME_NAMES_SHORT}


def analysis_of(table):
    """The analysis that makes a table; None: there is none."""
    return next((key for key, (_, tables) in ANALYSES.items() if table in tables), None)


def analysis_command(keys):
    """Analyses alone, as if a command ran them."""
    main = next((table for key in keys for table in ANALYSES.get(key, ("", []))[1]), None)
    return {"parts": [{"main_table": main, "analyses": list(keys)}]}


class Request:
    """Analyses, tables and their shapes. Takes what is about them out of the keywords that were given."""

    def __init__(self, command, given, limits=()):
        self.analyses, self.shown, self.shapes, self.absent = [], [], {}, ["spreads"]
        self.main = self.layout = None
        self.given = given
        self.asked = {key: given.pop(key) for key in self.option_names(command) if key in given}
        for part in self.wanted(command["parts"]):
            self.add_part(part)
        for limit in limits:
            table = text(lib.gputime_limit_table(encoded(limit)))
            if table and analysis_of(table):
                self.add(self.analyses, analysis_of(table))

    @staticmethod
    def option_names(command):
        """Keywords for the options that choose parts and that sort and cut tables."""
        for part in command["parts"]:
            for name in [part.get("option")] + [listed.get(kind) for listed in part.get("lists", ())
                                                for kind in ("sort_option", "top_option")]:
                if name:
                    yield name.replace("-", "_")

    def chosen(self, part):
        """The number of the choice, or 0 and 1."""
        value = self.asked.get(part["option"].replace("-", "_"))
        if "choices" not in part:
            return int(bool(value))
        choices = part["choices"].split("|")
        if value is not None and value not in choices:
            raise UsageError(f"invalid {part['option']} '{value}'; use one of {', '.join(choices)}")
        return choices.index(value) if value is not None else 0

    def wanted(self, parts):
        """Parts for pages are left out: their tables can be asked for by themselves."""
        parts = [part for part in parts if not part.get("for_page")
                 and ("option" not in part or self.chosen(part) == part["value"])]
        alone = [part for part in parts if part.get("alone")]
        return alone or parts

    @staticmethod
    def add(items, item):
        if item not in items:
            items.append(item)

    def add_part(self, part):
        self.main = part.get("main_table") or self.main
        self.layout = part.get("text_layout") or self.layout
        for key in part["analyses"]:
            self.add(self.analyses, key)
        tables = part.get("tables")
        if tables is None:
            tables = [table for key in part["analyses"] for table in ANALYSES.get(key, ("", []))[1]]
        for table in tables:
            if not part.get("for_data"):  # such tables are there and not shown, as in the program's data formats
                self.add(self.shown, table)
        for shape in part.get("shapes", ()):
            self.shapes[shape["table"]] = {key: value for key, value in shape.items() if key != "cut_sort"}
        for listed in part.get("lists", ()):
            self.shape_list(listed)

    def shape_list(self, listed):
        shape = self.shapes.setdefault(listed["table"], {"table": listed["table"]})
        if "sort" in listed:
            shape["sort"] = listed["sort"]
        if "screen_rows" in listed:
            shape["screen_limit"] = listed["screen_rows"]
        if listed.get("ranked"):
            shape["ranked"] = 1
        sort = self.asked.get(listed.get("sort_option", "").replace("-", "_"))
        top = self.asked.get(listed.get("top_option", "").replace("-", "_"))
        if top is not None:
            top = whole(listed["top_option"], top)
            shape["limit"], shape["screen_limit"] = top, top or -1
        if sort is not None:
            shape["sort"] = self.column_of(listed, sort)

    @staticmethod
    def column_of(listed, sort):
        """A short name or a column, '+' before it for the smallest first."""
        is_ascending, name = sort.startswith("+"), sort.removeprefix("+")
        if name in listed.get("sorts", {}):
            return listed["sorts"][name][0 if is_ascending else 1:]
        if listed.get("only_sorts"):
            raise UsageError(f"cannot sort {listed['table']} by '{sort}'; use one of {', '.join(listed['sorts'])}")
        return sort

    def shaping(self):
        shapes = []
        for fields in self.shapes.values():
            shape = _c.gputime_shape()
            for key, value in fields.items():
                if key == "columns":
                    set_texts(shape, "columns", "column_count", value)
                else:
                    setattr(shape, key, encoded(value) if isinstance(value, str) else value)
            shapes.append(shape)
        options = sized(_c.gputime_shaping, shape_size=ctypes.sizeof(_c.gputime_shape), shape_count=len(shapes))
        options.shapes, options.kept = (_c.gputime_shape * max(1, len(shapes)))(*shapes), shapes
        if self.main:
            options.main_table = encoded(self.main)
        set_texts(options, "shown", "shown_count", self.shown)
        set_texts(options, "absent", "absent_count", self.absent)
        return options

    def options(self, name, threads=0):
        """A struct gputime_report_options. What is left of the keywords are options of analyses."""
        names = self.given.pop("names", "full")
        if names not in NAMES:
            raise UsageError(f"invalid names '{names}'; use one of {', '.join(NAMES)}")
        options = sized(_c.gputime_report_options, names=NAMES[names], threads=threads, command=encoded(name))
        options.selection = ctypes.pointer(selection(self.given))
        options.run = ctypes.pointer(run(self.given))
        set_texts(options, "analyses", "analysis_count", self.analyses)
        options.options, options.option_count = analysis_options(self.given)
        options.shaping = ctypes.pointer(self.shaping())
        return options


def request_of(name, given, limits=()):
    command = COMMANDS.get(name) or analysis_command([name])
    return Request(command, given, limits)
