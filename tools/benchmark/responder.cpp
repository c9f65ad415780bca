// SPDX-License-Identifier: BSD-3-Clause
#include "tools/benchmark/responder.h"

#include "tools/benchmark/participant.h"

#include <algorithm>
#include <deque>

namespace plexus::tools::benchmark {

/// Counts a stream, and looks at both ends of each message.
struct Sink {
    GlobalPointer<Source> back{};
    std::uint64_t wanted = 0;
    std::uint64_t seen = 0;
    std::uint64_t sum = 0;
};

/// Memory that put and get move.
struct Store {
    Context& here;
    BoundSpan<std::byte> bytes{};
};

/// Commands for the context as a whole.
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

void respond(Context& here, const PairOptions& options, const std::atomic<bool>& abandoned) {
    install(here);
    Participant end(here, options.buffers);
    std::deque<Sink> sinks(options.threads);
    Control control{here};
    Store store{here};

    for (std::size_t at = 0; at < (options.kind == Kind::dual ? 2 : 1); ++at)
        here.publish(echo_name(at), end.add_echo());
    std::deque<Bound<Sink>> bound_sinks;
    for (std::size_t at = 0; at < sinks.size(); ++at)
        here.publish(sink_name(at), bound_sinks.emplace_back(here.bind(sinks[at])).pointer());
    const Bound<Store> bound_store = here.bind(store);
    here.publish(kStoreName, bound_store.pointer());
    const Bound<Control> bound_control = here.bind(control);
    here.publish(kControlName, bound_control.pointer());

    end.serve([&] {
        return control.finished.load(std::memory_order_relaxed) || abandoned.load(std::memory_order_relaxed);
    });
}

} // namespace plexus::tools::benchmark
