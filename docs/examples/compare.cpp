// What changed from one trace to another: reports of both sides, their comparison and a limit on it, in C++.
//
//   c++ -std=c++17 -o compare compare.cpp $(pkg-config --cflags --libs gputime)
//   ./compare BEFORE AFTER
//
// Exits 3 where busy time grew by more than 5%.
#include <gputime.h>

#include <cstdio>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

// Objects of the library that free themselves.
struct Free {
    void operator()(gputime_trace *trace) const {
        gputime_trace_free(trace);
    }
    void operator()(gputime_report *report) const {
        gputime_report_free(report);
    }
};
using Trace = std::unique_ptr<gputime_trace, Free>;
using Report = std::unique_ptr<gputime_report, Free>;

static void check(gputime_status status, const gputime_error &error) {
    if (status != GPUTIME_OK)
        throw std::runtime_error(error.message);
}

static Trace open_trace(const char *path) {
    gputime_error error;
    gputime_trace *trace = nullptr;
    check(gputime_trace_open(&path, 1, nullptr, nullptr, &trace, &error), error);
    return Trace(trace);
}

static void print_changes(const gputime_table *table) {
    size_t name = gputime_table_find_column(table, "name"), a = gputime_table_find_column(table, "a_total_ns");
    size_t b = gputime_table_find_column(table, "b_total_ns");
    for (size_t row = 0; row < gputime_table_row_count(table); row++) {
        gputime_text text = gputime_table_text(table, row, name);
        std::printf("%14.1f ns -> %14.1f ns  %s\n", gputime_table_real(table, row, a),
                    gputime_table_real(table, row, b), std::string(text.bytes ? text.bytes : "", text.size).c_str());
    }
}

static int compare(const char *before, const char *after) {
    const std::vector<const char *> analyses = {"overview",   "accounting", "steps",  "measures",
                                                "categories", "gaps",       "spread", "kernels"};
    const char *limit = "busy>+5%";
    gputime_report_options options = GPUTIME_REPORT_OPTIONS_INIT;
    gputime_diff_options diff = GPUTIME_DIFF_OPTIONS_INIT;
    gputime_error error;
    options.analyses = analyses.data();
    options.analysis_count = analyses.size();
    diff.per = GPUTIME_PER_NONE;
    diff.label_a = "before";
    diff.label_b = "after";
    Trace a = open_trace(before), b = open_trace(after);
    gputime_trace *traces[] = {a.get(), b.get()};
    gputime_report *sides[2], *compared = nullptr;
    check(gputime_report_new_sides(traces, 2, 1, &options, sides, &error), error);
    Report of_a(sides[0]), of_b(sides[1]);
    check(gputime_report_diff(of_a.get(), of_b.get(), &diff, &compared, &error), error);
    Report report(compared);
    print_changes(gputime_report_table(report.get(), 0, "kernels"));
    size_t broken = 0;
    check(gputime_report_check(report.get(), &limit, 1, &broken, &error), error);
    std::printf("%s: %s\n", limit, broken ? "broken" : "holds");
    return broken ? 3 : 0;
}

int main(int argc, char **argv) {
    if (argc != 3) {
        std::fprintf(stderr, "usage: compare BEFORE AFTER\n");
        return 2;
    }
    try {
        return compare(argv[1], argv[2]);
    } catch (const std::exception &failure) {
        std::fprintf(stderr, "compare: %s\n", failure.what());
        return 1;
    }
}
