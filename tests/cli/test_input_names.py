"""What an input is called: its file; several files of one capture by what they share; pipes by what they are."""

import os

from samples import DATA

ROCM = sorted((DATA / "rocm").glob("train_*.csv"))


def labels(report):
    return [entry["input"] for entry in report["inputs"]]


def test_files_of_one_capture_have_its_name(gputime):
    assert labels(gputime.json("kernels", *ROCM)) == ["train"]
    assert labels(gputime.json("kernels", DATA / "rocm" / "train_kernel_trace.csv")) == ["train_kernel_trace.csv"]


def test_captures_of_the_same_name_have_their_folders(gputime, tmp_path):
    paths = []
    for folder in "ab":
        (tmp_path / folder).mkdir()
        for table in ROCM:
            paths.append(tmp_path / folder / table.name)
            paths[-1].write_bytes(table.read_bytes())
    assert labels(gputime.json("kernels", *paths)) == ["a/train", "b/train"]


def test_a_capture_without_a_name_of_its_own(gputime, tmp_path):
    header = "Start (ns),Duration (ns),CorrId,Device,Strm,Name\n1,2,3,NVIDIA H200 (0),7,k\n"
    for name in ("_cuda_gpu_trace.csv", "_cuda_gpu_kern_sum.csv"):
        (tmp_path / name).write_text(header)
    names = labels(gputime.json("kernels", tmp_path / "_cuda_gpu_trace.csv", tmp_path / "_cuda_gpu_kern_sum.csv"))
    assert all(name.endswith(".csv") for name in names)


def through_pipes(gputime, *traces):
    ends = [os.pipe() for _ in traces]
    for (_, end), trace in zip(ends, traces):
        os.write(end, trace.read_bytes())
        os.close(end)
    report = gputime.json("kernels", *(f"/dev/fd/{begin}" for begin, _ in ends), pass_fds=[begin for begin, _ in ends])
    for begin, _ in ends:
        os.close(begin)
    return report


def test_pipes_have_a_word_for_a_name(gputime):
    small = DATA / "overlap.json"
    assert small.stat().st_size < 60000  # fits a pipe
    assert labels(through_pipes(gputime, small)) == ["pipe"]
    assert labels(through_pipes(gputime, small, DATA / "devices.json")) == ["pipe", "pipe (2)"]
    assert labels(gputime.json("kernels", "-", stdin=small.read_bytes())) == ["standard input"]
    assert labels(gputime.json("kernels", "/dev/stdin", stdin=small.read_bytes())) == ["standard input"]
