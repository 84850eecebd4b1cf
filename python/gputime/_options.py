"""Keyword arguments as the library's structs of options. What they point to lives as long as they do: ctypes keeps what
is assigned to a field."""

import ctypes
import os

from . import _c
from ._library import UsageError, call, encoded, lib, text

SELECTION = ("step", "device", "stream", "process", "from_", "to", "name", "category")
RUN = ("title", "iterations", "gpus", "iteration_range", "elapsed_ns", "without_memory", "remark")


def sized(struct, **fields):
    """A struct of options that begins with its size; the others are 0."""
    options = struct(size=ctypes.sizeof(struct))
    for name, value in fields.items():
        setattr(options, name, value)
    return options


def texts(items):
    """(array of texts, how many)."""
    items = [encoded(item) for item in items]
    return (ctypes.c_char_p * max(1, len(items)))(*items), len(items)


def set_texts(options, name, count, items):
    array, length = texts(items)
    setattr(options, name, array)
    setattr(options, count, length)


def listed(value):
    """One thing or several."""
    if isinstance(value, (str, bytes, os.PathLike)) or not hasattr(value, "__iter__"):
        return [value]
    return list(value)


def whole(name, value, most=2**31 - 1):
    """A number from 0 on, in the words of the program."""
    if isinstance(value, bool) or not hasattr(value, "__index__") or not 0 <= value.__index__() <= most:
        raise UsageError(f"{name} needs a whole number from 0 to {most}, not '{value}'")
    return value.__index__()


# ---- selections ----

def parse_ranges(value):
    """3, "1-3,7", [1, 2], range(5): an array of struct gputime_range."""
    if isinstance(value, range) and value.step == 1 and len(value):
        value = f"{value[0]}-{value[-1]}"
    given = encoded(",".join(str(item) for item in listed(value)))
    count = ctypes.c_size_t()
    call(lib.gputime_ranges_parse, given, None, 0, ctypes.byref(count))
    ranges = (_c.gputime_range * max(1, count.value))()
    call(lib.gputime_ranges_parse, given, ranges, count.value, ctypes.byref(count))
    return ranges, count.value


def parse_time(value, kept):
    """"1.2s", "40%": as the program takes it. A whole number is nanoseconds, as everywhere in tables."""
    time = _c.gputime_time()
    if isinstance(value, (str, bytes)):
        kept.append(encoded(value))
        call(lib.gputime_time_parse, kept[-1], ctypes.byref(time))
        time.text = kept[-1]
    elif isinstance(value, bool) or not hasattr(value, "__index__"):
        raise UsageError(f"invalid time {value!r}; use a text with a unit ('10ms', '40%') or whole nanoseconds")
    else:
        time.kind, time.ns = _c.GPUTIME_TIME_NS, value.__index__()
    return time


def selection(given):
    """A struct gputime_selection of the keywords that choose a part of the trace, which are taken out of `given`."""
    chosen = {key: given.pop(key) for key in SELECTION if key in given}
    chosen = {key: value for key, value in chosen.items() if value is not None}
    options, kept = sized(_c.gputime_selection), []
    for key, field, count in (("step", "steps", "step_count"), ("device", "devices", "device_count"),
                              ("stream", "streams", "stream_count"), ("process", "processes", "process_count")):
        if key in chosen:
            ranges, length = parse_ranges(chosen[key])
            setattr(options, field, ranges)
            setattr(options, count, length)
    if "from_" in chosen:
        setattr(options, "from", parse_time(chosen["from_"], kept))
    if "to" in chosen:
        options.to = parse_time(chosen["to"], kept)
    if "name" in chosen:
        options.name = encoded(chosen["name"])
    if "category" in chosen:
        set_texts(options, "categories", "category_count", listed(chosen["category"]))
    options.kept = kept
    return options


# ---- options of analyses ----

def known_options():
    """Key: struct gputime_option_info."""
    infos = (lib.gputime_option_at(i) for i in range(lib.gputime_option_count()))
    return {text(info.automatic.key): info for info in infos}


def analysis_option(key, value, info):
    """Of the type that the value has, so that the library says what is wrong with it."""
    option, expected = _c.gputime_option(key=encoded(key)), info.automatic.type if info else None
    if isinstance(value, float) or expected == _c.GPUTIME_OPTION_REAL and hasattr(value, "__index__"):
        option.type, option.real = _c.GPUTIME_OPTION_REAL, value
    elif hasattr(value, "__index__"):
        is_flag = isinstance(value, bool) or expected == _c.GPUTIME_OPTION_FLAG
        option.type, option.integer = _c.GPUTIME_OPTION_FLAG if is_flag else _c.GPUTIME_OPTION_INT, value
    else:
        option.type = expected if expected == _c.GPUTIME_OPTION_CHOICE else _c.GPUTIME_OPTION_TEXT
        option.text = encoded("\n".join(value) if isinstance(value, (list, tuple)) else value)
    return option


def analysis_options(given):
    """(array of struct gputime_option, how many)."""
    known = known_options()
    options = [analysis_option(key, value, known.get(key)) for key, value in given.items() if value is not None]
    array = (_c.gputime_option * max(1, len(options)))(*options)
    array.kept = options
    return array, len(options)


# ---- opening ----

def parse_rules(options, value):
    """FILE, FILE,ENGINE,MODEL or ENGINE,MODEL, as --rules takes it; (engine, model) or several files as a sequence."""
    if isinstance(value, (tuple, list)) and len(value) == 2 and not any(os.path.exists(part) for part in value):
        options.rules_engine, options.rules_model = map(encoded, value)
        return
    if isinstance(value, (tuple, list)):
        set_texts(options, "rule_paths", "rule_path_count", value)
        return
    path, engine, model = value, None, None
    if not os.path.exists(value) and "," in os.fspath(value):
        *rest, engine, model = os.fspath(value).rsplit(",", 2)
        path = rest[0] if rest else None
        if not engine or not model or path == "":
            raise UsageError(f"invalid rules '{value}'; use FILE, FILE,ENGINE,MODEL or ENGINE,MODEL")
    if path is not None:
        options.rules_path = encoded(path)
        set_texts(options, "rule_paths", "rule_path_count", [path])
    if engine:
        options.rules_engine, options.rules_model = encoded(engine), encoded(model)


MOST_THREADS = 1024
READERS = ("auto", "native", "nsys")
REDACTIONS = {False: _c.GPUTIME_REDACT_NOTHING, True: _c.GPUTIME_REDACT_PRIVATE, "names": _c.GPUTIME_REDACT_NAMES}


def facts_of(names):
    """Bits of the names of facts: "ops", "memory"; "all"."""
    bits = 0
    for name in listed(names):
        bit = getattr(_c, f"GPUTIME_FACT_{name.upper()}", None)
        if name == "all":
            bit = sum(value for key, value in vars(_c).items() if key.startswith("GPUTIME_FACT_"))
        if bit is None:
            raise UsageError(f"no fact '{name}'; facts are {', '.join(fact_names(-1))}")
        bits |= bit
    return bits


def fact_names(bits):
    return tuple(key.removeprefix("GPUTIME_FACT_").lower() for key, value in vars(_c).items()
                 if key.startswith("GPUTIME_FACT_") and bits & value)


def progress_function(function):
    """A callback of the library that calls function(done_bytes, total_bytes)."""
    kind = dict(_c.gputime_open_options._fields_)["progress"]
    return kind(lambda _, done, total: function(done, total) and None)


def opening(threads=None, strict=False, cache=True, reader="auto", nsys=None, rules=None, map=None, classes=None,
            facts=None, progress=None, redact=False):
    if redact not in REDACTIONS:
        raise UsageError(f"invalid redact '{redact}'; use True or 'names'")
    if reader not in READERS:
        raise UsageError(f"no reader '{reader}'; use one of {', '.join(READERS)}")
    threads = whole("threads", threads, MOST_THREADS) if threads is not None else 0
    options = sized(_c.gputime_open_options, threads=threads, strict=bool(strict), no_cache=not cache,
                    reader=READERS.index(reader), redact=REDACTIONS[redact])
    if nsys is not None:
        options.nsys_command = encoded(nsys)
    if rules is not None:
        parse_rules(options, rules)
    if map is not None:
        options.map_path = encoded(map)
    if classes is not None:
        pairs = [_c.gputime_class(encoded(part), encoded(name)) for part, name in dict(classes).items()]
        options.classes = (_c.gputime_class * max(1, len(pairs)))(*pairs)
        options.class_count, options.kept = len(pairs), pairs
    if facts is not None:
        options.facts = facts_of(facts)
    if progress is not None:
        options.progress = progress_function(progress)
    return options


def run(given):
    """A struct gputime_run of the keywords about a run, which are taken out of `given`."""
    options = sized(_c.gputime_run)
    for key in RUN:
        value = given.pop(key, None)
        if value is not None:
            is_text = isinstance(getattr(options, key), (bytes, type(None)))
            setattr(options, key, encoded(value) if is_text else int(value))
    return options
