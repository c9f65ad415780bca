// SPDX-License-Identifier: BSD-3-Clause
#include "tools/benchmark/responder.h"

#include "tools/benchmark/requests.h"

#include <algorithm>
#include <deque>
#include <utility>

namespace plexus::tools::bench {

/// Commands that are about the far context as a whole.
struct Control {
    Context& here;
    std::atomic<bool> finished{false}; // set by a handler, read by the loop: nothing else goes with it
};

namespace {

void count(Sink& sink, std::uint64_t sum) {
    sink.sum += sum;
    if (++sink.seen == sink.wanted) sink.back.send(all_here, sink.sum);
}

std::uint64_t both_ends(Bytes bytes) {
    return bytes.empty()
               ? 0
               : std::to_integer<std::uint64_t>(bytes.front()) + std::to_integer<std::uint64_t>(bytes.back());
}

void install(Context& here) {
    here.on(ping_word, [](Echo& echo, std::uint64_t word) { echo.back.send(pong_word, word); });
    here.on(ping_bytes, [](Echo& echo, Bytes bytes) { echo.back.send(pong_bytes, bytes); });
    here.on(ping_large, [](Echo& echo, Bytes bytes) {
        echo.own.resize(bytes.size());
        echo.due = true;
    });
    here.on(play_with, threaded, [](Echo& echo, GlobalPointer<Player> player, const std::string& methods) {
        echo.back = std::move(player);
        if (!methods.empty()) echo.back.use(methods);
    });
    here.on(take_word, [](Sink& sink, std::uint64_t word) { count(sink, word); });
    here.on(take_bytes, [](Sink& sink, Bytes bytes) { count(sink, both_ends(bytes)); });
    here.on(drain_for, [](Sink& sink, GlobalPointer<Source> source) { sink.back = std::move(source); });
    here.on(expect, [](Sink& sink, std::uint64_t messages) {
        sink.wanted = messages;
        sink.seen = sink.sum = 0;
    });
    here.on(lend, threaded, [](Store& store, std::uint64_t bytes) {
        store.bytes = store.here.allocate<std::byte>(bytes);
        std::fill(store.bytes.local().begin(), store.bytes.local().end(), kStored);
        return store.bytes.span();
    });
    here.on(holds, threaded, [](Store& store, std::uint8_t wanted) {
        const std::span<const std::byte> bytes = store.bytes.local();
        return std::all_of(bytes.begin(), bytes.end(),
                           [&](std::byte byte) { return byte == std::byte{wanted}; });
    });
    here.on(set_skip_poll, [](Control& control, const std::string& method, std::uint32_t turns) {
        control.here.skip_poll(method, turns == 0 ? std::nullopt : SkipPoll(turns));
    });
    here.on(set_confined, [](Control& control, const std::string& method, bool confined) {
        control.here.confine(method, confined);
    });
    here.on(finish, [](Control& control) { control.finished.store(true, std::memory_order_relaxed); });
}

} // namespace

void serve_far_end(Context& here, const Wish& wish, const std::atomic<bool>& abandoned) {
    install(here);
    std::deque<Echo> echoes(wish.kind == Kind::dual ? 2 : 1);
    std::deque<Sink> sinks(wish.threads);
    Control control{here};
    Store store{here};

    std::deque<Bound<Echo>> bound_echoes;
    std::deque<Bound<Sink>> bound_sinks;
    for (std::size_t at = 0; at < echoes.size(); ++at)
        here.publish(echo_name(at), bound_echoes.emplace_back(here.bind(echoes[at])).pointer());
    for (std::size_t at = 0; at < sinks.size(); ++at)
        here.publish(sink_name(at), bound_sinks.emplace_back(here.bind(sinks[at])).pointer());
    const Bound<Store> bound_store = here.bind(store);
    here.publish(kStoreName, bound_store.pointer());
    const Bound<Control> bound_control = here.bind(control);
    here.publish(kControlName, bound_control.pointer());

    const auto over = [&] {
        return control.finished.load(std::memory_order_relaxed) || abandoned.load(std::memory_order_relaxed);
    };
    Echo& large = echoes.front(); // one ping-pong alone has large messages
    while (!over()) {
        here.run_until([&] { return large.due || over(); });
        if (std::exchange(large.due, false)) large.back.send(pong_large, large.own);
    }
}

} // namespace plexus::tools::bench
