// SPDX-License-Identifier: BSD-3-Clause
// The other process: a context with every method that is here. Writes a pointer to its object
// to a file and answers until it is told to finish, or killed. Arguments: the key's file, the pointer's.
#include "far.h"

#include <array>
#include <atomic>
#include <cstdio>
#include <filesystem>
#include <fstream>

using namespace plexus;
using namespace plexus::testing;

namespace {

int serve(const char* key_file, const std::filesystem::path& place) {
    Options options;
    options.file = "/dev/null";
    options.set["job.key_file"] = key_file;
    Log log;
    Context here(std::move(options));
    install(here);
    std::atomic<bool> finished{false}; // nothing else goes with it
    here.on(finish_process, [&](Log&) { finished.store(true, std::memory_order_relaxed); });
    std::atomic<std::uint64_t> written{0}; // ditto
    here.on(write_for_ever, threaded, [&](Log&, GlobalSpan<std::uint64_t> memory, const std::string& way) {
        memory.use(way);
        const std::vector<std::uint64_t> all(memory.size(), 9);
        for (;;) {
            std::array<Future<void>, 4> under_way;
            for (Future<void>& each : under_way) each = memory.put(0, all);
            for (Future<void>& each : under_way) {
                each.get();
                written.fetch_add(1, std::memory_order_relaxed);
            }
        }
    });
    here.on(times_written, [&](Log&) { return written.load(std::memory_order_relaxed); });
    const Bound<Log> bound = here.bind(log);

    // Renamed when complete: whoever sees the file may read it.
    const std::filesystem::path draft = place.string() + ".draft";
    const std::vector<std::byte> bytes = bound.pointer().save();
    std::ofstream(draft, std::ios::binary)
        .write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
    std::filesystem::rename(draft, place);
    here.run_until([&] { return finished.load(std::memory_order_relaxed); });
    return 0;
}

} // namespace

int main(int count, char** arguments) {
    try {
        if (count == 3) return serve(arguments[1], arguments[2]);
        std::fprintf(stderr, "two arguments are wanted: the key's file and the pointer's\n");
    } catch (const std::exception& error) { std::fprintf(stderr, "far process: %s\n", error.what()); }
    return 2;
}
