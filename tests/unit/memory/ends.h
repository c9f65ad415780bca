// SPDX-License-Identifier: BSD-3-Clause
// Two contexts of this process that move memory, and frames made by hand that one sends the other. Test's
// thread.
#pragma once

#include "unit/context/contexts.h"

#include "context/core.h"
#include "transport/transport.h"
#include "wire/frame.h"

#include <atomic>
#include <thread>

namespace memory_ends {

using namespace plexus;
using namespace plexus::testing;

struct Door {};
constexpr Request<int(Door&, int)> echo{"memory.echo"};
constexpr Request<void(Door&)> note{"memory.note"};

struct End {
    explicit End(const std::string& methods, Values more = {})
      : context(by(methods, std::move(more))) {
        context.on(echo, [](Door&, int x) { return x; });
        context.on(note, [this](Door&) { ++notes; });
        bound = context.bind(door);
    }
    /// A pointer to the door at `user`, with an open link. Neither needs a thread of its own for that.
    GlobalPointer<Door> reached_by(End& user) {
        const auto far = handed(user.context, bound.pointer());
        std::atomic<bool> open{false};
        std::thread pump([&] { context.run_until([&] { return open.load(); }); });
        const int answer = within(far.call(echo, 1));
        open = true;
        context.stop(); // wakes it
        pump.join();
        CHECK(answer == 1);
        return far;
    }
    /// Makes progress here until so many notes have come, all in all.
    void take_notes(int count) {
        const auto end = std::chrono::steady_clock::now() + kLimit;
        while (notes < count && std::chrono::steady_clock::now() < end) context.progress();
        CHECK(notes == count);
    }
    std::atomic<int> notes{0};
    Door door;
    Context context;
    Bound<Door> bound;
};

/// What `from` sends to `to` beside what it ought to.
inline void send_raw(Context& from, const Context& to, wire::View head, wire::View rest = {}) {
    const auto peer = from.core()->endpoint().peer(to.id());
    transport::Channel* way = nullptr;
    for (transport::Channel* each : peer->all_channels())
        if (!each->dead()) way = each;
    REQUIRE(way != nullptr);
    wire::Bytes own(head.begin(), head.end());
    const detail::Piece pieces[2]{{own.data(), own.size()}, {rest.data(), rest.size()}};
    transport::Frame frame;
    frame.pieces = pieces;
    frame.count = rest.empty() ? 1 : 2;
    frame.size = own.size() + rest.size();
    frame.head = own.data();
    std::string why;
    const Status sent = way->send(frame, &why);
    INFO(why);
    REQUIRE(sent == Status::ok);
}

template <class Header>
wire::Bytes head_of(wire::Kind kind, const Header& header) {
    wire::Bytes bytes(Header::kBytes);
    wire::encode(kind, header, bytes.data());
    return bytes;
}

inline wire::BulkHeader header_for(const detail::Target& target) {
    wire::BulkHeader header;
    header.key = target.key;
    header.handle = target.handle;
    header.generation = target.generation;
    return header;
}

/// The first method of these builds that moves memory by itself; empty: there is none.
inline std::string method_with_keys(const std::string& named) {
    try {
        Context probe(by(named));
        for (const auto& method : probe.core()->endpoint().interfaces())
            if (method->limits.remote_bytes != 0) return method->name;
    } catch (const Error&) { return {}; } // not built here
    return {};
}

} // namespace memory_ends
