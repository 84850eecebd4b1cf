"""The library's interface for ctypes. Made from include/gputime.h by python/make_binding.py; do not edit."""

from ctypes import (CFUNCTYPE, POINTER, Structure, c_char, c_char_p, c_double, c_int, c_int64, c_size_t, c_uint32,
                    c_uint64, c_void_p)

HEADER_VERSION = "0.2.0"

GPUTIME_OK = 0
GPUTIME_FAILED = 1
GPUTIME_USAGE = 2
GPUTIME_BROKEN = 3
GPUTIME_TIME_NONE = 0
GPUTIME_TIME_NS = 1
GPUTIME_TIME_SHARE = 2
GPUTIME_READER_AUTO = 0
GPUTIME_READER_NATIVE = 1
GPUTIME_READER_NSYS = 2
GPUTIME_FACT_OPS = 1
GPUTIME_FACT_CALLS = 2
GPUTIME_FACT_CORRELATION = 4
GPUTIME_FACT_RANGES = 8
GPUTIME_FACT_CPU_OPS = 16
GPUTIME_FACT_GROUPS = 32
GPUTIME_FACT_BYTES = 64
GPUTIME_FACT_PROJECTIONS = 128
GPUTIME_FACT_OVERHEADS = 256
GPUTIME_FACT_GRAPHS = 512
GPUTIME_FACT_RANGE_TEXTS = 1024
GPUTIME_FACT_SOURCE = 2048
GPUTIME_FACT_MEMORY = 4096
GPUTIME_FACT_COUNTERS = 8192
GPUTIME_FACT_COMMS = 16384
GPUTIME_FACT_SYNCS = 32768
GPUTIME_FACT_FLOWS = 65536
GPUTIME_FACT_ARGUMENTS = 131072
GPUTIME_FACT_CONFIGS = 262144
GPUTIME_FACT_STACKS = 524288
GPUTIME_FACT_METRICS = 1048576
GPUTIME_FACT_DETAILS = 2097152
GPUTIME_FACT_COMM_LOGS = 4194304
GPUTIME_FACT_HOST_CALLS = 8388608
GPUTIME_FACT_CALL_ARGS = 16777216
GPUTIME_REDACT_NOTHING = 0
GPUTIME_REDACT_PRIVATE = 1
GPUTIME_REDACT_NAMES = 2
GPUTIME_FIELD_U8 = 0
GPUTIME_FIELD_U16 = 1
GPUTIME_FIELD_U32 = 2
GPUTIME_FIELD_U64 = 3
GPUTIME_FIELD_I64 = 4
GPUTIME_FIELD_F64 = 5
GPUTIME_FIELD_TEXT = 6
GPUTIME_NULL_NEVER = 0
GPUTIME_NULL_MAX = 1
GPUTIME_NULL_MIN = 2
GPUTIME_NULL_NEGATIVE = 3
GPUTIME_STEPS_ANY = 0
GPUTIME_STEPS_IF_MOST = 1
GPUTIME_STEPS_WHOLE = 2
GPUTIME_OPTION_FLAG = 0
GPUTIME_OPTION_INT = 1
GPUTIME_OPTION_REAL = 2
GPUTIME_OPTION_TEXT = 3
GPUTIME_OPTION_CHOICE = 4
GPUTIME_NAMES_FULL = 0
GPUTIME_NAMES_SHORT = 1
GPUTIME_PER_AUTO = 0
GPUTIME_PER_STEP = 1
GPUTIME_PER_RANGE = 2
GPUTIME_PER_LAUNCH = 3
GPUTIME_PER_NONE = 4
GPUTIME_UNIT_AUTO = 0
GPUTIME_UNIT_NS = 1
GPUTIME_UNIT_US = 2
GPUTIME_UNIT_MS = 3
GPUTIME_UNIT_S = 4
GPUTIME_COLOR_AUTO = 0
GPUTIME_COLOR_ALWAYS = 1
GPUTIME_COLOR_NEVER = 2
GPUTIME_CELL_NULL = 0
GPUTIME_CELL_INT = 1
GPUTIME_CELL_REAL = 2
GPUTIME_CELL_TEXT = 3
GPUTIME_INPUTS = 0
GPUTIME_ANALYSES = 1
GPUTIME_OUTPUTS = 2
GPUTIME_CATEGORIES = 3
GPUTIME_EXPORTS = 4
GPUTIME_FACTS_USUAL = 4095


class gputime_error(Structure):
    pass


class gputime_text(Structure):
    pass


class gputime_time(Structure):
    pass


class gputime_range(Structure):
    pass


class gputime_class(Structure):
    pass


class gputime_open_options(Structure):
    pass


class gputime_run(Structure):
    pass


class gputime_input(Structure):
    pass


class gputime_trace_info(Structure):
    pass


class gputime_field(Structure):
    pass


class gputime_selection(Structure):
    pass


class gputime_option(Structure):
    pass


class gputime_option_info(Structure):
    pass


class gputime_shape(Structure):
    pass


class gputime_shaping(Structure):
    pass


class gputime_report_options(Structure):
    pass


class gputime_team(Structure):
    pass


class gputime_diff_options(Structure):
    pass


class gputime_write_options(Structure):
    pass


class gputime_export_options(Structure):
    pass


class gputime_sql_options(Structure):
    pass


class gputime_view_options(Structure):
    pass


class gputime_answer(Structure):
    pass


class gputime_serve_options(Structure):
    pass


class gputime_cell(Structure):
    pass


class gputime_column(Structure):
    pass


class gputime_fact(Structure):
    pass


class gputime_window(Structure):
    pass


class gputime_finding(Structure):
    pass


class gputime_issue(Structure):
    pass


class ArrowSchema(Structure):
    pass


class ArrowArray(Structure):
    pass


class ArrowArrayStream(Structure):
    pass


class gputime_entry(Structure):
    pass


class gputime_definition(Structure):
    pass


class gputime_source(Structure):
    pass


class gputime_rule(Structure):
    pass


class gputime_redaction(Structure):
    pass


gputime_error._fields_ = [
    ("status", c_int),
    ("message", c_char * 1024),
]
gputime_text._fields_ = [
    ("bytes", POINTER(c_char)),
    ("size", c_size_t),
]
gputime_time._fields_ = [
    ("kind", c_int),
    ("ns", c_int64),
    ("share", c_double),
    ("text", c_char_p),
]
gputime_range._fields_ = [
    ("first", c_int64),
    ("last", c_int64),
]
gputime_class._fields_ = [
    ("part", c_char_p),
    ("name", c_char_p),
]
gputime_open_options._fields_ = [
    ("size", c_size_t),
    ("threads", c_int64),
    ("strict", c_int),
    ("no_cache", c_int),
    ("reader", c_int),
    ("nsys_command", c_char_p),
    ("cache_after_ns", c_int64),
    ("progress", CFUNCTYPE(None, c_void_p, c_uint64, c_uint64)),
    ("progress_context", c_void_p),
    ("rules_path", c_char_p),
    ("rules_engine", c_char_p),
    ("rules_model", c_char_p),
    ("rule_paths", POINTER(c_char_p)),
    ("rule_path_count", c_size_t),
    ("map_path", c_char_p),
    ("classes", POINTER(gputime_class)),
    ("class_count", c_size_t),
    ("facts", c_uint64),
    ("redact", c_int),
    ("reserved", c_int),
]
gputime_run._fields_ = [
    ("size", c_size_t),
    ("title", c_char_p),
    ("iterations", c_int64),
    ("gpus", c_int64),
    ("iteration_range", c_char_p),
    ("elapsed_ns", c_int64),
    ("without_memory", c_int),
    ("remark", c_char_p),
]
gputime_input._fields_ = [
    ("paths", POINTER(c_char_p)),
    ("path_count", c_size_t),
    ("options", POINTER(gputime_open_options)),
    ("run", POINTER(gputime_run)),
]
gputime_trace_info._fields_ = [
    ("path", c_char_p),
    ("format", c_char_p),
    ("producer", gputime_text),
    ("origin_ns", c_int64),
    ("base_ns", c_int64),
    ("rank", c_int64),
    ("world_size", c_int64),
    ("skipped_events", c_uint64),
    ("host", gputime_text),
    ("rank_source", c_char_p),
    ("facts_present", c_uint64),
    ("facts_read", c_uint64),
    ("facts_possible", c_uint64),
]
gputime_field._fields_ = [
    ("key", c_char_p),
    ("type", c_int),
    ("null", c_int),
    ("unit", c_char_p),
    ("refers_to", c_char_p),
    ("choices", c_char_p),
    ("data", c_void_p),
]
gputime_selection._fields_ = [
    ("size", c_size_t),
    ("from", gputime_time),
    ("to", gputime_time),
    ("steps", POINTER(gputime_range)),
    ("step_count", c_size_t),
    ("devices", POINTER(gputime_range)),
    ("device_count", c_size_t),
    ("streams", POINTER(gputime_range)),
    ("stream_count", c_size_t),
    ("processes", POINTER(gputime_range)),
    ("process_count", c_size_t),
    ("name", c_char_p),
    ("categories", POINTER(c_char_p)),
    ("category_count", c_size_t),
    ("whole_steps", c_int),
    ("reserved", c_int),
]
gputime_option._fields_ = [
    ("key", c_char_p),
    ("type", c_int),
    ("integer", c_int64),
    ("real", c_double),
    ("text", c_char_p),
]
gputime_option_info._fields_ = [
    ("analysis", c_char_p),
    ("automatic", gputime_option),
    ("min", c_double),
    ("max", c_double),
    ("choices", c_char_p),
    ("unit", c_char_p),
    ("help", c_char_p),
]
gputime_shape._fields_ = [
    ("table", c_char_p),
    ("sort", c_char_p),
    ("limit", c_int64),
    ("screen_limit", c_int64),
    ("columns", POINTER(c_char_p)),
    ("column_count", c_size_t),
    ("ranked", c_int),
    ("joined", c_int),
    ("pivot_row", c_char_p),
    ("pivot_value", c_char_p),
    ("cut_sort", c_char_p),
]
gputime_shaping._fields_ = [
    ("size", c_size_t),
    ("shape_size", c_size_t),
    ("shapes", POINTER(gputime_shape)),
    ("shape_count", c_size_t),
    ("main_table", c_char_p),
    ("shown", POINTER(c_char_p)),
    ("shown_count", c_size_t),
    ("forced", POINTER(c_char_p)),
    ("forced_count", c_size_t),
    ("absent", POINTER(c_char_p)),
    ("absent_count", c_size_t),
    ("for_screen", c_int),
    ("columns_only", c_int),
]
gputime_report_options._fields_ = [
    ("size", c_size_t),
    ("analyses", POINTER(c_char_p)),
    ("analysis_count", c_size_t),
    ("options", POINTER(gputime_option)),
    ("option_count", c_size_t),
    ("names", c_int),
    ("threads", c_int64),
    ("selection", POINTER(gputime_selection)),
    ("shaping", POINTER(gputime_shaping)),
    ("run", POINTER(gputime_run)),
    ("command", c_char_p),
    ("heading", c_char_p),
    ("generated_at", c_char_p),
]
gputime_team._fields_ = [
    ("size", c_size_t),
    ("process", c_uint32),
    ("process_count", c_uint32),
    ("context", c_void_p),
    ("broadcast", CFUNCTYPE(None, c_void_p, c_void_p, c_size_t)),
    ("send", CFUNCTYPE(None, c_void_p, c_uint32, c_void_p, c_size_t)),
    ("receive", CFUNCTYPE(None, c_void_p, c_uint32, c_void_p, c_size_t)),
    ("give_up", CFUNCTYPE(None, c_void_p, c_char_p)),
    ("set_progress", CFUNCTYPE(None, c_void_p, c_uint64)),
    ("progress_of", CFUNCTYPE(c_uint64, c_void_p, c_uint32)),
    ("set_reading", CFUNCTYPE(None, c_void_p, c_int)),
    ("set_tick", CFUNCTYPE(None, c_void_p, CFUNCTYPE(None, c_void_p), c_void_p)),
    ("place_of", CFUNCTYPE(c_char_p, c_void_p, c_uint32)),
]
gputime_diff_options._fields_ = [
    ("size", c_size_t),
    ("per", c_int),
    ("range", c_char_p),
    ("tables", POINTER(c_char_p)),
    ("table_count", c_size_t),
    ("noise_share", c_double),
    ("label_a", c_char_p),
    ("label_b", c_char_p),
    ("shaping", POINTER(gputime_shaping)),
]
gputime_write_options._fields_ = [
    ("size", c_size_t),
    ("format", c_char_p),
    ("table", c_char_p),
    ("columns", POINTER(c_char_p)),
    ("column_count", c_size_t),
    ("unit", c_int),
    ("color", c_int),
    ("width", c_int64),
    ("full_names", c_int),
    ("threads", c_int64),
    ("row_limit", c_int64),
]
gputime_export_options._fields_ = [
    ("size", c_size_t),
    ("format", c_char_p),
    ("selection", POINTER(gputime_selection)),
    ("tables", POINTER(c_char_p)),
    ("table_count", c_size_t),
    ("threads", c_int64),
    ("op_counts", POINTER(c_size_t)),
]
gputime_sql_options._fields_ = [
    ("size", c_size_t),
    ("max_rows", c_int64),
    ("max_bytes", c_int64),
    ("timeout_ns", c_int64),
    ("reporting", POINTER(gputime_report_options)),
    ("is_abandoned", CFUNCTYPE(c_int, c_void_p)),
    ("abandoned_context", c_void_p),
]
gputime_view_options._fields_ = [
    ("size", c_size_t),
    ("reporting", POINTER(gputime_report_options)),
    ("title", c_char_p),
    ("command", c_char_p),
]
gputime_answer._fields_ = [
    ("status", c_int),
    ("content_type", c_char_p),
    ("body", gputime_text),
    ("policy", c_char_p),
]
gputime_serve_options._fields_ = [
    ("size", c_size_t),
    ("address", c_char_p),
    ("port", c_int64),
    ("idle_seconds", c_int64),
    ("ready", CFUNCTYPE(None, c_void_p, c_char_p, c_int)),
    ("context", c_void_p),
]
gputime_cell._fields_ = [
    ("type", c_int),
    ("integer", c_int64),
    ("real", c_double),
    ("text", POINTER(c_char)),
    ("text_bytes", c_size_t),
]
gputime_column._fields_ = [
    ("key", c_char_p),
    ("title", c_char_p),
    ("unit", c_char_p),
    ("of", c_char_p),
]
gputime_fact._fields_ = [
    ("key", c_char_p),
    ("title", c_char_p),
    ("unit", c_char_p),
    ("value", gputime_cell),
]
gputime_window._fields_ = [
    ("start_ns", c_int64),
    ("end_ns", c_int64),
    ("device", c_int64),
]
gputime_finding._fields_ = [
    ("id", c_char_p),
    ("severity", c_char_p),
    ("title", gputime_text),
    ("evidence", gputime_text * 8),
    ("advice", gputime_text * 8),
    ("evidence_count", c_size_t),
    ("advice_count", c_size_t),
    ("recoverable_ns", c_int64),
    ("table", c_char_p),
    ("recoverable_step_ns", c_int64),
    ("share", c_double),
    ("rule", c_char_p),
    ("windows", gputime_window * 5),
    ("window_count", c_size_t),
]
gputime_issue._fields_ = [
    ("id", c_char_p),
    ("help", c_char_p),
    ("count", c_uint64),
    ("first_offset", c_uint64),
    ("is_loss", c_int),
]
ArrowSchema._fields_ = [
    ("format", c_char_p),
    ("name", c_char_p),
    ("metadata", POINTER(c_char)),
    ("flags", c_int64),
    ("n_children", c_int64),
    ("children", POINTER(POINTER(ArrowSchema))),
    ("dictionary", POINTER(ArrowSchema)),
    ("release", CFUNCTYPE(None, POINTER(ArrowSchema))),
    ("private_data", c_void_p),
]
ArrowArray._fields_ = [
    ("length", c_int64),
    ("null_count", c_int64),
    ("offset", c_int64),
    ("n_buffers", c_int64),
    ("n_children", c_int64),
    ("buffers", POINTER(c_void_p)),
    ("children", POINTER(POINTER(ArrowArray))),
    ("dictionary", POINTER(ArrowArray)),
    ("release", CFUNCTYPE(None, POINTER(ArrowArray))),
    ("private_data", c_void_p),
]
ArrowArrayStream._fields_ = [
    ("get_schema", CFUNCTYPE(c_int, POINTER(ArrowArrayStream), POINTER(ArrowSchema))),
    ("get_next", CFUNCTYPE(c_int, POINTER(ArrowArrayStream), POINTER(ArrowArray))),
    ("get_last_error", CFUNCTYPE(c_char_p, POINTER(ArrowArrayStream))),
    ("release", CFUNCTYPE(None, POINTER(ArrowArrayStream))),
    ("private_data", c_void_p),
]
gputime_entry._fields_ = [
    ("key", c_char_p),
    ("title", c_char_p),
    ("detail", c_char_p),
    ("is_data", c_int),
    ("is_missing", c_int),
    ("fills_folders", c_int),
    ("is_binary", c_int),
]
gputime_definition._fields_ = [
    ("section", POINTER(c_char)),
    ("section_bytes", c_size_t),
    ("header", POINTER(c_char)),
    ("header_bytes", c_size_t),
    ("text", POINTER(c_char)),
    ("text_bytes", c_size_t),
]
gputime_source._fields_ = [
    ("key", POINTER(c_char)),
    ("key_bytes", c_size_t),
    ("operation", c_char_p),
    ("table", c_char_p),
]
gputime_rule._fields_ = [
    ("model", c_char_p),
    ("source", c_char_p),
    ("replaced_by", c_char_p),
    ("number", c_uint32),
    ("category", c_char_p),
    ("pattern", c_char_p),
]
gputime_redaction._fields_ = [
    ("kept_tables", c_uint64),
    ("kept_rows", c_uint64),
    ("kept_strings", c_uint64),
    ("left_tables", c_uint64),
    ("left_columns", c_uint64),
    ("left_rows", c_uint64),
    ("hidden_names", c_uint64),
]

# Name: (type of the result, types of the arguments).
FUNCTIONS = {
    "gputime_version": (c_char_p, []),
    "gputime_time_parse": (c_int, [c_char_p, POINTER(gputime_time), POINTER(gputime_error)]),
    "gputime_ranges_parse": (c_int, [c_char_p, POINTER(gputime_range), c_size_t, POINTER(c_size_t), POINTER(gputime_error)]),
    "gputime_open_options_check": (c_int, [POINTER(gputime_open_options), POINTER(gputime_error)]),
    "gputime_trace_open": (c_int, [POINTER(c_char_p), c_size_t, POINTER(gputime_open_options), POINTER(gputime_run), POINTER(c_void_p), POINTER(gputime_error)]),
    "gputime_traces_open": (c_int, [POINTER(gputime_input), c_size_t, c_int, POINTER(c_void_p), POINTER(gputime_error)]),
    "gputime_trace_read": (c_int, [c_void_p, c_uint64, POINTER(gputime_error)]),
    "gputime_trace_free": (None, [c_void_p]),
    "gputime_trace_loss": (c_char_p, [c_void_p]),
    "gputime_trace_describe": (gputime_trace_info, [c_void_p]),
    "gputime_capture_prefix": (c_size_t, [c_char_p]),
    "gputime_capture_is_copy": (c_int, [c_char_p, POINTER(c_char_p), c_size_t]),
    "gputime_trace_rows_count": (c_size_t, [c_void_p]),
    "gputime_trace_rows": (c_void_p, [c_void_p, c_char_p]),
    "gputime_trace_rows_at": (c_void_p, [c_void_p, c_size_t]),
    "gputime_rows_key": (c_char_p, [c_void_p]),
    "gputime_rows_count": (c_size_t, [c_void_p]),
    "gputime_rows_field_count": (c_size_t, [c_void_p]),
    "gputime_rows_field": (gputime_field, [c_void_p, c_size_t]),
    "gputime_rows_find_field": (c_size_t, [c_void_p, c_char_p]),
    "gputime_rows_is_null": (c_int, [c_void_p, c_size_t, c_size_t]),
    "gputime_rows_int": (c_int64, [c_void_p, c_size_t, c_size_t]),
    "gputime_rows_real": (c_double, [c_void_p, c_size_t, c_size_t]),
    "gputime_rows_text": (gputime_text, [c_void_p, c_size_t, c_size_t]),
    "gputime_trace_string_count": (c_size_t, [c_void_p]),
    "gputime_trace_string": (gputime_text, [c_void_p, c_uint32]),
    "gputime_trace_counter_count": (c_size_t, [c_void_p, c_size_t]),
    "gputime_trace_counter_read": (c_size_t, [c_void_p, c_size_t, c_size_t, c_size_t, POINTER(c_int64), POINTER(c_double)]),
    "gputime_trace_short_name": (gputime_text, [c_void_p, c_uint32]),
    "gputime_option_flag": (gputime_option, [c_char_p, c_int]),
    "gputime_option_int": (gputime_option, [c_char_p, c_int64]),
    "gputime_option_real": (gputime_option, [c_char_p, c_double]),
    "gputime_option_text": (gputime_option, [c_char_p, c_char_p]),
    "gputime_option_choice": (gputime_option, [c_char_p, c_char_p]),
    "gputime_option_count": (c_size_t, []),
    "gputime_option_at": (gputime_option_info, [c_size_t]),
    "gputime_report_new": (c_int, [POINTER(c_void_p), c_size_t, POINTER(gputime_report_options), POINTER(c_void_p), POINTER(gputime_error)]),
    "gputime_report_facts": (c_uint64, [POINTER(gputime_report_options)]),
    "gputime_report_sides_facts": (c_uint64, [POINTER(gputime_report_options)]),
    "gputime_report_free": (None, [c_void_p]),
    "gputime_job_open": (c_int, [POINTER(gputime_input), c_size_t, POINTER(gputime_option), c_size_t, POINTER(c_void_p), POINTER(gputime_error), POINTER(gputime_error)]),
    "gputime_job_open_team": (c_int, [POINTER(gputime_team), POINTER(gputime_input), c_size_t, POINTER(gputime_option), c_size_t, POINTER(c_void_p), POINTER(gputime_error), POINTER(gputime_error)]),
    "gputime_team_serve": (None, [POINTER(gputime_team), POINTER(gputime_open_options), POINTER(gputime_option), c_size_t, POINTER(gputime_error)]),
    "gputime_team_end": (None, [POINTER(gputime_team)]),
    "gputime_job_rank_count": (c_size_t, [c_void_p]),
    "gputime_job_report": (c_int, [c_void_p, POINTER(gputime_report_options), POINTER(c_void_p), POINTER(gputime_error)]),
    "gputime_job_free": (None, [c_void_p]),
    "gputime_report_new_sides": (c_int, [POINTER(c_void_p), c_size_t, c_size_t, POINTER(gputime_report_options), POINTER(c_void_p), POINTER(gputime_error)]),
    "gputime_report_diff": (c_int, [c_void_p, c_void_p, POINTER(gputime_diff_options), POINTER(c_void_p), POINTER(gputime_error)]),
    "gputime_limit_table": (c_char_p, [c_char_p]),
    "gputime_report_check": (c_int, [c_void_p, POINTER(c_char_p), c_size_t, POINTER(c_size_t), POINTER(gputime_error)]),
    "gputime_report_write": (c_int, [c_void_p, POINTER(gputime_write_options), c_char_p, POINTER(gputime_error)]),
    "gputime_report_print": (c_int, [c_void_p, POINTER(gputime_write_options), POINTER(gputime_text), POINTER(gputime_error)]),
    "gputime_remove_unfinished": (None, []),
    "gputime_traces_export": (c_int, [POINTER(c_void_p), c_size_t, POINTER(gputime_export_options), c_char_p, POINTER(gputime_error)]),
    "gputime_export_facts": (c_uint64, [POINTER(gputime_export_options), c_char_p]),
    "gputime_sql_query": (c_int, [POINTER(c_void_p), c_size_t, c_char_p, POINTER(gputime_sql_options), POINTER(c_void_p), POINTER(gputime_error)]),
    "gputime_sql_facts": (c_uint64, [c_char_p]),
    "gputime_sql_schema": (c_int, [POINTER(gputime_report_options), POINTER(c_void_p), POINTER(gputime_error)]),
    "gputime_view_facts": (c_uint64, [POINTER(gputime_view_options)]),
    "gputime_view_new": (c_int, [POINTER(c_void_p), c_size_t, POINTER(gputime_view_options), POINTER(c_void_p), POINTER(gputime_error)]),
    "gputime_view_free": (None, [c_void_p]),
    "gputime_view_answer": (c_int, [c_void_p, c_char_p, POINTER(gputime_answer), POINTER(gputime_error)]),
    "gputime_view_can_serve": (c_int, []),
    "gputime_view_serve": (c_int, [c_void_p, POINTER(gputime_serve_options), POINTER(gputime_error)]),
    "gputime_view_stop": (None, [c_void_p]),
    "gputime_report_section_count": (c_size_t, [c_void_p]),
    "gputime_report_section_title": (c_char_p, [c_void_p, c_size_t]),
    "gputime_report_fact_count": (c_size_t, [c_void_p, c_size_t]),
    "gputime_report_fact_at": (gputime_fact, [c_void_p, c_size_t, c_size_t]),
    "gputime_report_fact": (gputime_fact, [c_void_p, c_size_t, c_char_p]),
    "gputime_report_note_count": (c_size_t, [c_void_p, c_size_t]),
    "gputime_report_note": (c_char_p, [c_void_p, c_size_t, c_size_t]),
    "gputime_report_loss": (c_char_p, [c_void_p, c_size_t, c_size_t]),
    "gputime_report_finding_count": (c_size_t, [c_void_p, c_size_t]),
    "gputime_report_finding": (gputime_finding, [c_void_p, c_size_t, c_size_t]),
    "gputime_report_issue_count": (c_size_t, [c_void_p, c_size_t]),
    "gputime_report_issue": (gputime_issue, [c_void_p, c_size_t, c_size_t]),
    "gputime_report_table_count": (c_size_t, [c_void_p, c_size_t]),
    "gputime_report_table": (c_void_p, [c_void_p, c_size_t, c_char_p]),
    "gputime_report_table_at": (c_void_p, [c_void_p, c_size_t, c_size_t]),
    "gputime_table_key": (c_char_p, [c_void_p]),
    "gputime_table_title": (c_char_p, [c_void_p]),
    "gputime_table_row_count": (c_size_t, [c_void_p]),
    "gputime_table_column_count": (c_size_t, [c_void_p]),
    "gputime_table_column": (gputime_column, [c_void_p, c_size_t]),
    "gputime_table_find_column": (c_size_t, [c_void_p, c_char_p]),
    "gputime_table_cell": (gputime_cell, [c_void_p, c_size_t, c_size_t]),
    "gputime_table_int": (c_int64, [c_void_p, c_size_t, c_size_t]),
    "gputime_table_real": (c_double, [c_void_p, c_size_t, c_size_t]),
    "gputime_table_text": (gputime_text, [c_void_p, c_size_t, c_size_t]),
    "gputime_table_print": (c_int, [c_void_p, POINTER(gputime_write_options), POINTER(gputime_text), POINTER(gputime_error)]),
    "gputime_text_free": (None, [gputime_text]),
    "gputime_table_arrow": (c_int, [c_void_p, POINTER(ArrowArrayStream), POINTER(gputime_error)]),
    "gputime_report_arrow": (c_int, [c_void_p, c_char_p, POINTER(ArrowArrayStream), POINTER(gputime_error)]),
    "gputime_trace_arrow": (c_int, [c_void_p, c_char_p, POINTER(c_char_p), c_size_t, POINTER(ArrowArrayStream), POINTER(gputime_error)]),
    "gputime_frame_key": (c_char_p, [c_size_t]),
    "gputime_frame_column_key": (c_char_p, [c_size_t, c_size_t]),
    "gputime_registry_count": (c_size_t, [c_int]),
    "gputime_registry_entry": (gputime_entry, [c_int, c_size_t]),
    "gputime_registry_find": (gputime_entry, [c_int, c_char_p]),
    "gputime_parts": (c_size_t, [c_char_p, c_size_t]),
    "gputime_definitions": (c_size_t, [c_char_p, POINTER(gputime_definition), c_size_t]),
    "gputime_sources": (c_size_t, [c_char_p, POINTER(gputime_source), c_size_t]),
    "gputime_rules_list": (c_int, [POINTER(c_char_p), c_size_t, POINTER(c_void_p), POINTER(gputime_error)]),
    "gputime_rules_free": (None, [c_void_p]),
    "gputime_rules_count": (c_size_t, [c_void_p]),
    "gputime_rules_at": (gputime_rule, [c_void_p, c_size_t]),
    "gputime_config_open": (c_int, [c_char_p, POINTER(c_void_p), POINTER(gputime_error)]),
    "gputime_config_free": (None, [c_void_p]),
    "gputime_config_input_count": (c_size_t, [c_void_p]),
    "gputime_config_paths": (POINTER(c_char_p), [c_void_p, c_size_t, POINTER(c_size_t)]),
    "gputime_config_run": (None, [c_void_p, c_size_t, POINTER(gputime_run)]),
    "gputime_config_map_path": (c_char_p, [c_void_p]),
    "gputime_trace_store_cache": (None, [c_void_p]),
    "gputime_cache_show": (c_int, [c_char_p, c_size_t, POINTER(gputime_error)]),
    "gputime_cache_clear": (c_int, [POINTER(c_uint64), POINTER(gputime_error)]),
    "gputime_redact": (c_int, [c_char_p, c_char_p, c_int, POINTER(gputime_redaction), POINTER(gputime_error)]),
}

# Kind of rows: the facts to read for it.
FACTS_OF_ROWS = {
    "ops": GPUTIME_FACT_OPS,
    "calls": GPUTIME_FACT_CALLS,
    "ranges": GPUTIME_FACT_RANGES,
    "cpu_ops": GPUTIME_FACT_CPU_OPS,
    "overheads": GPUTIME_FACT_OVERHEADS,
    "driver_work": GPUTIME_FACT_OVERHEADS,
    "host_calls": GPUTIME_FACT_HOST_CALLS,
    "copies": GPUTIME_FACT_BYTES,
    "graph_ops": GPUTIME_FACT_GRAPHS,
    "range_categories": GPUTIME_FACT_RANGE_TEXTS,
    "range_texts": GPUTIME_FACT_RANGE_TEXTS,
    "comms": GPUTIME_FACT_COMMS,
    "comm_logs": GPUTIME_FACT_COMM_LOGS,
    "counters": GPUTIME_FACT_COUNTERS,
    "counter_runs": GPUTIME_FACT_COUNTERS,
    "sample_times": GPUTIME_FACT_COUNTERS,
    "sample_values": GPUTIME_FACT_COUNTERS,
    "sample_runs": GPUTIME_FACT_COUNTERS,
    "syncs": GPUTIME_FACT_SYNCS,
    "event_records": GPUTIME_FACT_SYNCS,
    "flows": GPUTIME_FACT_FLOWS,
    "operator_args": GPUTIME_FACT_ARGUMENTS,
    "call_args": GPUTIME_FACT_CALL_ARGS,
    "operator_details": 0,
    "kernel_configs": GPUTIME_FACT_CONFIGS,
    "launch_details": 0,
    "memory_events": GPUTIME_FACT_MEMORY,
    "python_calls": GPUTIME_FACT_STACKS,
    "groups": GPUTIME_FACT_GROUPS,
    "projections": GPUTIME_FACT_PROJECTIONS,
    "projection_groups": GPUTIME_FACT_PROJECTIONS,
    "source_columns": GPUTIME_FACT_SOURCE,
    "fact_issues": 0,
    "processes": 0,
    "threads": 0,
    "devices": 0,
    "lanes": 0,
    "counter_tracks": GPUTIME_FACT_COUNTERS,
    "comm_groups": GPUTIME_FACT_COMMS,
    "steps": GPUTIME_FACT_RANGES,
    "categories": 0,
    "collectives": GPUTIME_FACT_COMMS,
    "collective_groups": GPUTIME_FACT_COMMS,
}
