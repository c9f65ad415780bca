// SPDX-License-Identifier: BSD-3-Clause
// A client joins a running server, without a launcher: the server prints the URL where it listens, and the
// client attaches to that URL. Both have the same secret in a file that only its owner may read.
//
//     head -c 32 /dev/urandom > key; chmod 600 key
//     join_server serve key                           prints plexus://127.0.0.1:PORT
//     join_server join key plexus://127.0.0.1:PORT    asks, and sends the server home
#include <plexus/plexus.h>

#include <atomic>
#include <cstdio>
#include <exception>
#include <string>
#include <string_view>
#include <vector>

namespace {

struct Counter {
    long total = 0; // handlers of one context run one at a time
    std::atomic<bool> closed{false};
};
inline constexpr plexus::Request<long(Counter&, long)> add{"counter.add"};
inline constexpr plexus::Request<void(Counter&)> close_up{"counter.close_up"};

int serve(const std::string& key_file) {
    plexus::Context here{plexus::Options{
        .set = {{"listen", "plexus://127.0.0.1:0"}, {"job.key_file", key_file}}, .file = {}, .url = {}}};
    here.on(add, [](Counter& to, long amount) { return to.total += amount; });
    here.on(close_up, [](Counter& it) { it.closed.store(true, std::memory_order_relaxed); });
    Counter counter;
    const auto bound = here.bind(counter);
    here.publish("counter", bound.pointer());

    std::printf("%s\n", here.url().c_str());
    std::fflush(stdout); // the starting program waits for this line
    here.run_until([&] { return counter.closed.load(std::memory_order_relaxed); });
    std::printf("served up to %ld\n", counter.total);
    return 0;
}

int join(const std::string& key_file, const std::string& url) {
    plexus::Context here = plexus::Context::attach(
        url, plexus::Options{.set = {{"job.key_file", key_file}}, .file = {}, .url = {}});
    const auto counter = here.lookup<Counter>("counter").get();
    long total = 0;
    for (long amount = 1; amount <= 10; ++amount) total = counter.call(add, amount).get();
    std::printf("the server counts %ld, asked by %s\n", total, counter.method().c_str());
    counter.call(close_up).get();
    return total == 55 ? 0 : 1;
}

} // namespace

int main(int argc, char** argv) {
    const std::vector<std::string> words(argv + 1, argv + argc);
    try {
        if (words.size() == 2 && words[0] == "serve") return serve(words[1]);
        if (words.size() == 3 && words[0] == "join") return join(words[1], words[2]);
        std::fprintf(
            stderr, "join_server: write \"join_server serve KEYFILE\" or \"join_server join KEYFILE URL\"\n");
        return 2;
    } catch (const std::exception& error) {
        std::fprintf(stderr, "join_server: %s\n", error.what());
        return 1;
    }
}
