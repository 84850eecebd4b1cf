"""Categories: how much of real traces the rules place, where each answer comes from, and rules of the user's own."""

import csv
import gzip
import json
import re

import pytest

from samples import (DATA, NVIDIA_EXPORTS, OWN_CAPTURES, PUBLIC_EXPORTS, own_capture, real_traces, trace_name, values,
                     with_shared)

OVERLAP = DATA / "overlap.json"
COMPILED = DATA / "torch" / "llama_train_compiled.json.gz"
EXPORTS = with_shared([capture.export for capture in OWN_CAPTURES], NVIDIA_EXPORTS, PUBLIC_EXPORTS)
OTHER_MAX = {"NVIDIA": 0.03, "AMD": 0.06}


def rows(report, table):
    return report["tables"][table]["rows"]


def kernel_rows(gputime, trace, *options):
    return rows(gputime.json("kernels", trace, *options), "kernels")


def trace_of(tmp_path, names, kind="kernel"):
    events = [{"ph": "X", "cat": kind, "name": name, "pid": 0, "tid": 7, "ts": 100 * i, "dur": 10 + i,
               "args": {"device": 0, "stream": 7, "correlation": i + 1}} for i, name in enumerate(names)]
    path = tmp_path / "trace.json"
    path.write_text(json.dumps({"traceEvents": events}))
    return path


def rules_file(tmp_path, content, name="rules.json"):
    path = tmp_path / name
    path.write_text(content if isinstance(content, str) else json.dumps(content))
    return path


# ---- coverage ------------------------------------------------------------------------------------------------------

def vendor(path):
    return "AMD" if path.name.startswith("mi") else "NVIDIA"


@pytest.mark.parametrize("trace", real_traces() + EXPORTS, ids=trace_name)
def test_little_is_other(gputime, unpacked, trace):
    found = kernel_rows(gputime, unpacked(trace))
    total = sum(row["total_ns"] for row in found)
    other = sum(row["total_ns"] for row in found if row["category"] == "other")
    worst = [row["name"][:80] for row in found if row["category"] == "other"][:5]
    assert other <= OTHER_MAX[vendor(trace)] * total, f"{other / total:.1%}: {worst}"


def test_there_are_traces_of_both_vendors(shared):
    assert shared("data/public").is_dir()
    assert {vendor(path) for path in values(real_traces())} == {"AMD", "NVIDIA"}
    assert len(values(EXPORTS)) >= 10


# ---- answers -------------------------------------------------------------------------------------------------------

def listed_rules(gputime):
    return {row["key"]: row for row in rows(gputime.json("list", "rules"), "rules")}


def test_every_answer_names_a_listed_rule(gputime):
    listed = listed_rules(gputime)
    for row in kernel_rows(gputime, COMPILED):
        rule, pattern = row["rule"].split(": ", 1)
        assert listed[rule]["title"] == row["category"] and listed[rule]["source"] == "built-in"
        assert pattern in [item.strip() for item in listed[rule]["detail"].split("|")]
    for row in kernel_rows(gputime, COMPILED, "--rules", "sglang,ds"):
        rule, pattern = row["rule"].split(": ", 1)
        assert (listed[rule]["title"], listed[rule]["detail"]) == (row["category"], pattern)


def test_why_shows_the_rule(gputime):
    text = gputime("kernels", "--why", OVERLAP, "--width", "120").stdout.decode()
    assert "Category" in text and "Rule" in text and "builtin" in text and ": allreduce" in text
    plain = gputime("kernels", OVERLAP, "--width", "120").stdout.decode()
    assert "builtin" not in plain
    narrow = gputime("kernels", "--why", COMPILED, "--width", "80").stdout.decode()
    assert "(not shown:" not in narrow and narrow.count(": multi_tensor") >= 1


def test_rules_and_collectives_in_csv(gputime, tmp_path):
    trace = trace_of(tmp_path, ["nvjet_x", "ncclDevKernel_AllGather_RING_LL", "ncclDevKernel_Generic_1", "unknown thing"])
    text = gputime("kernels", trace, "--csv").stdout.decode()
    table = {row["name"]: row for row in csv.DictReader(text.splitlines())}
    assert table["nvjet_x"]["category"] == "gemm" and table["nvjet_x"]["rule"].endswith(": nvjet")
    assert table["ncclDevKernel_AllGather_RING_LL"]["collective"] == "all_gather"
    assert table["ncclDevKernel_Generic_1"]["category"] == "comm" and table["ncclDevKernel_Generic_1"]["collective"] == ""
    assert table["unknown thing"]["category"] == "other" and table["unknown thing"]["rule"] == ""


def test_short_names_of_several_categories_are_mixed(gputime, tmp_path):
    trace = trace_of(tmp_path, ["void at::native::vectorized_elementwise_kernel<4, at::native::FillFunctor<int>>(int)",
                                "void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<int>>(int)",
                                "void a::rms_norm<int>(int)", "void b::rms_norm<float>(float)"])
    short = {row["name"]: row for row in kernel_rows(gputime, trace, "--names", "short")}
    assert short["vectorized_elementwise_kernel"]["category"] == "mixed"
    assert short["vectorized_elementwise_kernel"]["rule"] is None
    assert short["rms_norm"]["category"] == "norm" and short["rms_norm"]["rule"].endswith(": rms_norm")


def test_categories_sum_up(gputime):
    report = gputime.json(COMPILED)
    busy = sum(row["busy_ns"] for row in rows(report, "accounting"))
    assert sum(row["wall_ns"] for row in rows(report, "categories")) == busy
    assert {row["category"] for row in rows(report, "categories")} >= {"gemm", "attention", "optimizer", "norm", "rope"}


def test_selection(gputime):
    chosen = kernel_rows(gputime, COMPILED, "--category", "gemm,attention")
    assert {row["category"] for row in chosen} == {"gemm", "attention"}
    everything = kernel_rows(gputime, COMPILED)
    assert kernel_rows(gputime, COMPILED, "--category", "compute") == everything
    copies = rows(gputime.json(COMPILED, "--category", "memcpy"), "categories")
    assert copies and all(row["category"].startswith("memcpy") for row in copies)
    memory = rows(gputime.json(COMPILED, "--category", "memory"), "categories")
    assert {row["time_class"] for row in memory} == {"memory"}


# ---- rules of the user ---------------------------------------------------------------------------------------------

RULES = {"myengine": {"mymodel": {"nvjet|gemm": "products", "nccl": "exchange", "CUDA mem": "moves"}}}


def test_rules_replace_categories_and_not_the_accounting(gputime, tmp_path):
    path = rules_file(tmp_path, RULES)
    plain, ruled = gputime.json(COMPILED), gputime.json(COMPILED, "--rules", f"{path},myengine,mymodel")
    assert rows(plain, "accounting") == rows(ruled, "accounting")
    assert {row["category"] for row in rows(ruled, "categories")} == {"products", "moves", "misc"}
    for key in ("count", "total_ns", "wall_ns"):
        assert sum(row[key] for row in rows(plain, "categories")) == sum(row[key] for row in rows(ruled, "categories"))
    chosen = kernel_rows(gputime, COMPILED, "--rules", path, "--category", "products")
    assert chosen and all(row["rule"] == "myengine/mymodel 1: nvjet|gemm" for row in chosen)


def test_a_category_of_several_kinds_of_time_is_one_row(gputime, tmp_path):
    path = rules_file(tmp_path, {".": "all"})
    report = gputime.json(OVERLAP, "--rules", path)
    (row,) = rows(report, "categories")
    assert row["category"] == "all" and row["time_class"] == "mixed"
    assert row["wall_ns"] == sum(device["busy_ns"] for device in rows(report, "accounting"))
    comm = rows(gputime.json(OVERLAP, "--rules", path, "--category", "comm"), "categories")
    assert [row["time_class"] for row in comm] == ["comm"]


def test_the_environment_is_the_default(gputime, tmp_path):
    path = rules_file(tmp_path, RULES)
    environment = {"GPUTIME_RULES": str(path)}
    report = gputime.json(COMPILED, env=environment)
    assert "products" in {row["category"] for row in rows(report, "categories")}
    other = rules_file(tmp_path, {".*": "one"}, "other.json")
    report = gputime.json(COMPILED, "--rules", other, env=environment)
    assert [row["category"] for row in rows(report, "categories")] == ["one"]


def test_folders_and_own_files(gputime, tmp_path):
    folder = tmp_path / "rules"
    folder.mkdir()
    rules_file(folder, {"e": {"m": {".*": "early"}, "only": {".*": "other"}}}, "a.json")
    rules_file(folder, {"e": {"m": {".*": "late"}}}, "b.json")
    rules_file(folder, "no JSON at all", "notes.txt")
    report = gputime.json(OVERLAP, "--rules", f"{folder},e,m")
    assert [row["category"] for row in rows(report, "categories")] == ["late"]
    own = tmp_path / "config" / "gputime"
    own.mkdir(parents=True)
    folder.rename(own / "rules")
    environment = {"XDG_CONFIG_HOME": str(tmp_path / "config")}
    report = gputime.json(OVERLAP, "--rules", "e,only", env=environment)
    assert [row["category"] for row in rows(report, "categories")] == ["other"]
    report = gputime.json(OVERLAP, "--rules", "sglang,llama", env=environment)
    assert "nccl_and_custom_ar" in {row["category"] for row in rows(report, "categories")}


def test_later_files_add_models_and_replace_those_of_the_same_name_and_say_so(gputime, tmp_path):
    for name in ("first", "second"):
        (tmp_path / name).mkdir()
    first = rules_file(tmp_path / "first", {"vllm": {"mine": {".*": "first"}}, "e": {"m": {".*": "early"}}})
    second = rules_file(tmp_path / "second", {"vllm": {"llama": {".*": "own"}}, "e": {"m": {".*": "late"}}})
    both = ["--rules", first.parent, "--rules", second.parent]

    def one(*options, **settings):
        report = gputime.json(OVERLAP, *options, **settings)
        (category,) = {row["category"] for row in rows(report, "categories")}
        return category, [note for note in report["inputs"][0]["notes"] if note.startswith("Rules ")]

    assert one(*both, "--rules", "vllm,mine") == ("first", [])
    assert one(*both, "--rules", "vllm,llama") == \
        ("own", [f"Rules vllm/llama come from '{second}' and replace the built-in ones."])
    assert one(*both, "--rules", "e,m") == \
        ("late", [f"Rules e/m come from '{second}' and replace those of '{first}'."])
    assert one("--rules", second, "--rules", first, "--rules", "e,m")[0] == "early"
    assert one("--rules", "e,m", env={"GPUTIME_RULES": str(second)})[0] == "late"
    assert one("--rules", first, "--rules", "e,m", env={"GPUTIME_RULES": str(second)})[0] == "early"
    assert gputime(OVERLAP, *both, "--rules", "vllm,ds").returncode == 0

    listed = rows(gputime.json("list", "rules", *both), "rules")
    found = [(row["key"], row["title"], row["source"], row["replaced_by"]) for row in listed if row["detail"] == ".*"
             and row["source"] != "built-in"]
    assert found == [("vllm/mine 1", "first", str(first), ""), ("e/m 1", "early", str(first), str(second)),
                     ("vllm/llama 1", "own", str(second), ""), ("e/m 1", "late", str(second), "")]
    assert {row["replaced_by"] for row in listed if row["key"] == "vllm/llama 1" and row["source"] == "built-in"} == \
        {str(second)}
    text = gputime("list", "rules", *both).stdout.decode()
    assert f"e/m  ({first}; replaced by {second})" in text and f"e/m  ({second})" in text
    engines = [(row["key"], row["source"]) for row in rows(gputime.json("list", "engines", *both), "engines")]
    assert ("e,m", str(second)) in engines and ("e,m", str(first)) not in engines
    assert ("vllm,llama", str(second)) in engines and ("vllm,llama", "built-in") not in engines


def test_rules_are_listed_with_where_they_are_from(gputime, tmp_path):
    own = tmp_path / "config/gputime/rules"
    own.mkdir(parents=True)
    rules_file(own, {"mine": {"model": {"a\\x1bb": "c"}}})
    environment = {"XDG_CONFIG_HOME": str(tmp_path / "config")}
    listed = rows(gputime.json("list", "rules", env=environment), "rules")
    models = {row["key"].split(" ")[0]: row["source"] for row in listed}
    assert models.pop("mine/model") == str(own / "rules.json")
    assert set(models) == {"builtin"} | {f"{e}/{m}" for e in ("vllm", "sglang") for m in ("llama", "ds", "gpt-oss")}
    assert set(models.values()) == {"built-in"}
    assert b"list rules" in gputime("list", "categories").stdout
    engines = [(row["key"], row["source"]) for row in rows(gputime.json("list", "engines", env=environment), "engines")]
    built_in = [(f"{e},{m}", "built-in") for e in ("vllm", "sglang") for m in ("llama", "ds", "gpt-oss")]
    assert engines == built_in + [("mine,model", str(own / "rules.json"))]
    text = gputime("list", "engines", env=environment).stdout.decode()
    assert [line.split()[0] for line in text.splitlines()[1:-2]] == [key for key, _ in engines]
    rules_file(own, "{")
    done = gputime("list", "rules", env=environment)
    assert done.returncode == 1 and b"rules.json" in done.stderr and not done.stdout


def test_rules_can_be_given_many_times(gputime, tmp_path):
    path = rules_file(tmp_path, {"e": {"m": {".*": "x"}}})
    many = [word for _ in range(64) for word in ("--rules", path)]
    assert gputime(OVERLAP, *many).returncode == 0
    done = gputime(OVERLAP, *many, "--rules", path)
    assert done.returncode == 2 and b"at most 64 times" in done.stderr


@pytest.mark.parametrize("engine", ["vllm", "sglang"])
@pytest.mark.parametrize("model", ["llama", "ds", "gpt-oss"])
def test_builtin_engines(gputime, tmp_path, engine, model):
    trace = trace_of(tmp_path, ["nvjet_sm90_tst_64x8", "fused_moe_kernel", "ncclDevKernel_AllReduce_Sum_bf16_RING_LL",
                                "void flash::flash_fwd_kernel<int>(int)", "what nobody knows"])
    found = {row["name"]: row["category"] for row in kernel_rows(gputime, trace, "--rules", f"{engine},{model}")}
    assert list(found.values()).count("misc") == 1 and found["what nobody knows"] == "misc"
    assert found["fused_moe_kernel"] == "moe_gemm" and found["nvjet_sm90_tst_64x8"] == "gemm"


@pytest.mark.parametrize("engine", ["vllm", "sglang"])
def test_public_rule_files(gputime, shared, engine):
    """The first expression in file order that Python finds in the name decides."""
    path = shared(f"data/public/engine-models/{engine}_engine_model.json")
    models = json.loads(path.read_text())[engine]
    for model, rules in models.items():
        for row in kernel_rows(gputime, COMPILED, "--rules", f"{path},{engine},{model}"):
            expected = next(category for pattern, category in rules.items() if re.search(pattern, row["name"]))
            assert row["category"] == expected, row["name"]


def test_maps(gputime, tmp_path):
    trace = trace_of(tmp_path, ["Flash_fwd", "a_gemm_b", "ncclGemm", "fused_moe_gemm", "lonely"])
    expected = {"Flash_fwd": "Attn", "a_gemm_b": "mm", "ncclGemm": "nccl", "fused_moe_gemm": "moe", "lonely": "others"}
    for content in ({"Attn": ["flash"], "mm": ["GEMM"], "moe": ["moe_gemm"]},
                    {"kernel_to_class_map": {"flash": "Attn", "gemm": "mm", "moe_gemm": "moe"}, "inputs": []}):
        path = rules_file(tmp_path, content, "map.json")
        assert {row["name"]: row["category"] for row in kernel_rows(gputime, trace, "--map", path)} == expected


def test_rules_apply_to_summed_inputs(gputime, unpacked):
    train = own_capture("train")
    sums, events = train.table("cuda_gpu_kern_sum"), unpacked(train.export)
    for options in ([], ["--rules", "vllm,llama"]):
        by_sum, by_event = ({row["name"]: (row["category"], row["rule"]) for row in kernel_rows(gputime, path, *options)}
                            for path in (sums, events))
        assert by_sum == by_event


# ---- what is wrong -------------------------------------------------------------------------------------------------

@pytest.mark.parametrize("content, option, parts", [
    ('{"e": {"m": {\n  "gemm(": "x"}}}', "FILE,e,m", ["engine 'e', model 'm', line 2, column 3", "bad pattern 'gemm('"]),
    ('{"e": {"m": {}}}', "FILE,e,x", ["no model 'x' of engine 'e'", "available: e: m"]),
    ('{"e": {"m": {}, "n": {}}}', "FILE", ["several models", "e: m, n"]),
    ('{"e": {"m": {"a": ["b"]}}}', "FILE,e,m", ["the category of 'a' must be a string"]),
    ('{"e": 3}', "FILE,e,m", ["line 1, column 2", "an engine must be an object of models, not a number"]),
    ('{"e": ', "FILE,e,m", ["line 1, column 7", "expected a value"]),
    ("{}", "nobody,knows", ["no model 'knows' of engine 'nobody'", "vllm: llama, ds, gpt-oss"]),
    ("{}", ",,", ["invalid --rules ',,'", "FILE,ENGINE,MODEL"]),
])
def test_bad_rules(gputime, tmp_path, content, option, parts):
    path = rules_file(tmp_path, content)
    done = gputime(OVERLAP, "--rules", option.replace("FILE", str(path)))
    message = done.stderr.decode()
    assert done.returncode == (1 if "expected a value" in message else 2) and done.stdout == b""
    assert message.startswith("gputime: ") and message.count("\n") == 1
    assert all(part in message for part in parts), message


def test_rules_and_map_exclude_each_other(gputime, tmp_path):
    path = rules_file(tmp_path, {"a": ["b"]})
    done = gputime(OVERLAP, "--rules", "vllm,llama", "--map", path)
    assert done.returncode == 2 and b"--rules and --map cannot be combined" in done.stderr


def test_rules_are_checked_before_the_trace_is_read(gputime, tmp_path):
    broken = tmp_path / "trace.json.gz"
    broken.write_bytes(gzip.compress(b"this is no trace"))
    done = gputime(broken, "--rules", "nobody,knows")
    assert b"nobody" in done.stderr


@pytest.mark.parametrize("size", [0, 1, 2, 5, 17])
def test_any_bytes_in_rule_files(hardened, tmp_path, size):
    good = json.dumps(RULES).encode()
    for cut in range(0, len(good), 3):
        path = tmp_path / "cut.json"
        path.write_bytes(good[:cut] + bytes(0xF0 + i % 16 for i in range(size)))
        done = hardened(OVERLAP, "--rules", path)
        assert done.returncode in (0, 1, 2), done.stderr
