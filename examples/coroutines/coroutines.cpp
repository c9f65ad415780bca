// SPDX-License-Identifier: BSD-3-Clause
// Waiting without blocking: a coroutine awaits answers; then an Asio event loop gets one by
// a completion token.
//
//     plexus run -n 2 -- coroutines
#include <plexus/asio.h>
#include <plexus/plexus.h>

#include <asio.hpp>
#include <atomic>
#include <coroutine>
#include <cstdio>
#include <exception>
#include <system_error>
#include <tuple>

namespace {

struct Ocean {
    double warmth = 14.5;
};
inline constexpr plexus::Request<double(Ocean&, int, int)> probe{"ocean.probe"};

/// A minimal coroutine: starts at once, nobody waits for its end, errors end the program.
struct Errand {
    struct promise_type {
        Errand get_return_object() noexcept { return {}; }
        std::suspend_never initial_suspend() noexcept { return {}; }
        std::suspend_never final_suspend() noexcept { return {}; }
        void return_void() noexcept {}
        void unhandled_exception() noexcept { std::terminate(); }
    };
};

/// Continues on the thread that receives the answer, like an inline handler.
Errand measure(plexus::GlobalPointer<Ocean> ocean, std::atomic<bool>& done) {
    double sum = 0;
    for (int i = 0; i < 4; ++i) sum += co_await ocean.call(probe, i, 2);
    std::printf("four places, one after the other: %.1f\n", sum);
    done.store(true, std::memory_order_relaxed); // the waiting thread reads nothing else
}

void ask(plexus::Context& here, const plexus::GlobalPointer<Ocean>& ocean) {
    std::atomic<bool> done{false};
    measure(ocean, done);
    here.run_until([&] { return done.load(std::memory_order_relaxed); });

    // Any completion token will do: asio::use_future, asio::use_awaitable, ...
    asio::io_context loop;
    const auto print = [](std::error_code failure, double warmth) {
        if (failure) throw std::system_error(failure, "the ocean did not answer");
        std::printf("on the event loop: %.1f\n", warmth);
    };
    plexus::async_call(ocean, probe, std::tuple(3, 4), asio::bind_executor(loop, print));
    loop.run(); // the context's own thread makes progress meanwhile
}

int run(int argc, char** argv) {
    plexus::Context here{argc, argv};
    Ocean ocean;
    plexus::Bound<Ocean> bound;
    if (here.rank() == 0) {
        here.on(probe, [](Ocean& at, int i, int j) { return at.warmth + i * 10 + j; });
        bound = here.bind(ocean);
        here.publish("ocean", bound.pointer());
    }
    if (here.rank() + 1 == here.size()) ask(here, here.lookup<Ocean>("ocean").get());
    here.fence().get();
    return 0;
}

} // namespace

int main(int argc, char** argv) {
    try {
        return run(argc, argv);
    } catch (const std::exception& error) {
        std::fprintf(stderr, "coroutines: %s\n", error.what());
        return 1;
    }
}
