// SPDX-License-Identifier: BSD-3-Clause
// Hello: every context of a job greets the first context, which prints the method of each greeting.
//
//     plexus run -n 4 -- hello
#include <plexus/plexus.h>

#include <atomic>
#include <cstdio>
#include <exception>
#include <string_view>

namespace {

struct Door {
    std::atomic<std::uint32_t> greetings{0}; // the waiting thread reads this number only
};

// A request is declared once and shared by both sides.
inline constexpr plexus::Request<void(Door&, std::uint32_t, std::string_view)> greet{"hello.greet"};

int run(int argc, char** argv) {
    plexus::Context here{argc, argv};
    Door door;
    plexus::Bound<Door> bound;
    if (here.rank() == 0) {
        here.on(greet, [](Door& at, std::uint32_t rank, std::string_view method) {
            std::printf("hello from rank %u, by %.*s\n", rank, static_cast<int>(method.size()),
                        method.data());
            at.greetings.fetch_add(1, std::memory_order_relaxed);
        });
        bound = here.bind(door);
        here.publish("hello.door", bound.pointer());
    }

    const auto far = here.lookup<Door>("hello.door").get();
    far.send(greet, here.rank(), far.method());

    if (here.rank() == 0) {
        here.run_until([&] { return door.greetings.load(std::memory_order_relaxed) == here.size(); });
        std::printf("all %u are here\n", here.size());
    }
    return 0;
}

} // namespace

int main(int argc, char** argv) {
    try {
        return run(argc, argv);
    } catch (const std::exception& error) {
        std::fprintf(stderr, "hello: %s\n", error.what());
        return 1;
    }
}
