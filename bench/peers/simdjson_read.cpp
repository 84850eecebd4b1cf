// simdjson at its best: on-demand parsing, one walk over the events, the members that gputime keeps into columns.
// With "mapped" the file is mapped, which saves a copy; else it is loaded as the library's documentation shows.
#include <cstdint>
#include <cstdio>
#include <fcntl.h>
#include <string_view>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <unordered_map>
#include <vector>

#include <simdjson.h>

using namespace simdjson;

namespace {

struct Columns {
    std::vector<double> ts, dur;
    std::vector<uint64_t> pid, tid, device, stream, correlation;
    std::vector<uint32_t> name;
    std::unordered_map<std::string_view, uint32_t> names;
    uint64_t kernels = 0, events = 0;
    double kernel_us = 0;
};

struct Event {
    std::string_view ph, cat, name;
    double ts = 0, dur = 0;
    uint64_t pid = 0, tid = 0, device = 0, stream = 0, correlation = 0;
};

bool needs_args(std::string_view cat) {
    return cat == "kernel" || cat == "gpu_memcpy" || cat == "gpu_memset" || cat == "cuda_runtime" ||
           cat == "cuda_driver";
}

void read_args(ondemand::object args, Event &event) {
    for (auto member : args) {
        ondemand::raw_json_string key = member.key();
        if (key == "device")
            (void)member.value().get(event.device);
        else if (key == "stream")
            (void)member.value().get(event.stream);
        else if (key == "correlation") {
            (void)member.value().get(event.correlation);
            return;
        }
    }
}

void read_event(ondemand::object object, Event &event) {
    for (auto member : object) {
        ondemand::raw_json_string key = member.key();
        ondemand::value value = member.value();
        if (key == "ph")
            (void)value.get(event.ph);
        else if (key == "cat")
            (void)value.get(event.cat);
        else if (key == "name")
            (void)value.get(event.name);
        else if (key == "ts")
            (void)value.get(event.ts);
        else if (key == "dur")
            (void)value.get(event.dur);
        else if (key == "pid")
            (void)value.get(event.pid);
        else if (key == "tid")
            (void)value.get(event.tid);
        else if (key == "args" && needs_args(event.cat))
            read_args(value.get_object(), event);
    }
}

void keep(const Event &event, Columns &columns) {
    columns.events++;
    if (event.ph != "X")
        return;
    columns.ts.push_back(event.ts);
    columns.dur.push_back(event.dur);
    columns.pid.push_back(event.pid);
    columns.tid.push_back(event.tid);
    columns.device.push_back(event.device);
    columns.stream.push_back(event.stream);
    columns.correlation.push_back(event.correlation);
    columns.name.push_back(columns.names.try_emplace(event.name, uint32_t(columns.names.size())).first->second);
    if (event.cat == "kernel") {
        columns.kernels++;
        columns.kernel_us += event.dur;
    }
}

// The file, with the readable bytes behind its end that simdjson asks for.
padded_string_view map_file(const char *path) {
    int fd = open(path, O_RDONLY);
    struct stat info;
    if (fd < 0 || fstat(fd, &info) != 0)
        return {};
    size_t size = size_t(info.st_size), room = (size + SIMDJSON_PADDING + 4095) / 4096 * 4096;
    void *pages = mmap(nullptr, room, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (pages == MAP_FAILED || mmap(pages, size, PROT_READ, MAP_PRIVATE | MAP_FIXED, fd, 0) == MAP_FAILED)
        return {};
    close(fd);
    return padded_string_view(static_cast<const char *>(pages), size, room);
}

} // namespace

int main(int argc, char **argv) {
    if (argc != 3)
        return 2;
    Columns columns;
    try {
        ondemand::parser parser;
        padded_string loaded;
        padded_string_view text;
        if (std::string_view(argv[1]) == "mapped") {
            text = map_file(argv[2]);
        } else {
            loaded = padded_string::load(argv[2]);
            text = loaded;
        }
        ondemand::document document = parser.iterate(text);
        for (ondemand::object object : document["traceEvents"].get_array()) {
            Event event;
            read_event(object, event);
            keep(event, columns);
        }
    } catch (const simdjson_error &error) {
        std::fprintf(stderr, "simdjson: %s\n", error.what());
        return 1;
    }
    std::printf("kernels %llu kernel_ns %.0f kept %zu\n", static_cast<unsigned long long>(columns.kernels),
                columns.kernel_us * 1000, columns.ts.size());
    return 0;
}
