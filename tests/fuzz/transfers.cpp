// SPDX-License-Identifier: BSD-3-Clause
// libFuzzer target: what a peer sends about bulk memory: puts and gets of any place, answers to ours with any
// number of bytes, and leases of memory that were requested or not. Between two contexts with a link, so that
// frames pass all rooms that they pass in a program. No byte outside of bound memory is read or written, and
// each of our own transfers ends.
//
// The input: frames, of a byte that chooses the kind, a byte of the size, and bytes for header and rest.
#include "context/core.h"
#include "input.h"
#include "plexus/plexus.h"
#include "transport/transport.h"
#include "wire/frame.h"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <thread>

namespace {

using namespace plexus;

constexpr std::size_t kBound = 64;
/// Inputs may end the world, the first one always. As it takes as long as hundreds of them, no more than one
/// in so many does on the average.
constexpr std::uint64_t kInputsOfAWorld = 1024;

void require(bool holds) {
    if (!holds) std::abort();
}

Options options() {
    Options out;
    out.set = {{"methods", "local"},
               {"method.local.skip_poll", "1"}, // what was sent is found in the next turn
               {"progress.thread", "false"},
               {"log", "off"},
               {"progress.close_timeout", "1 ms"}};
    out.file = "/dev/null";
    return out;
}

struct Door {};
constexpr Request<int(Door&, int)> kKnock{"fuzz.knock"};

/// Memory with what must not change around it.
struct Memory {
    std::vector<std::byte> all = std::vector<std::byte>(3 * kBound, std::byte{7});
    std::span<std::byte> mine() { return std::span(all).subspan(kBound, kBound); }
    bool is_whole() const {
        const auto is_seven = [](std::byte each) { return each == std::byte{7}; };
        return std::all_of(all.begin(), all.begin() + kBound, is_seven) &&
               std::all_of(all.end() - kBound, all.end(), is_seven);
    }
};

/// Two contexts, each of which reaches the other. Between two inputs nothing is under way. A link that a
/// frame ends is the end of both.
struct World {
    Context here{options()};
    Context there{options()};
    Door door;
    Memory leased, asked, into;
    Bound<Door> near = here.bind(door);
    Bound<Door> far = there.bind(door);
    BoundSpan<std::byte> owned = here.bind(leased.mine());
    BoundSpan<std::byte> foreign = there.bind(asked.mine());
    GlobalPointer<Door> to_far = GlobalPointer<Door>::load(here, far.pointer().save());
    GlobalPointer<Door> to_near = GlobalPointer<Door>::load(there, near.pointer().save());

    World() {
        for (Context* each : {&here, &there}) each->on(kKnock, [](Door&, int x) { return x; });
        open(to_far, there);
        open(to_near, here);
    }
    /// Opens the way to `to`, which a send would wait for.
    static void open(const GlobalPointer<Door>& to, Context& other) {
        std::atomic<bool> done{false};
        std::thread pump([&] { other.run_until([&] { return done.load(); }); });
        require(to.call(kKnock, 1).get() == 1);
        done = true;
        other.stop(); // wakes it
        pump.join();
    }
    template <class Done>
    bool turn_until(Done&& done) {
        for (int turns = 0; turns < 100'000; ++turns) {
            if (done()) return true;
            here.progress();
            there.progress();
        }
        return false;
    }
    /// Carries out all that is under way.
    void settle() {
        for (int idle = 0; idle < 2;) idle = here.progress() + there.progress() == 0 ? idle + 1 : 0;
    }
    transport::Channel* way() {
        for (transport::Channel* each : there.core()->endpoint().peer(here.id())->all_channels())
            if (!each->dead()) return each;
        return nullptr;
    }
};

wire::Bytes head_of(World& world, std::uint8_t choice, fuzz::Input& in) {
    using wire::Kind;
    constexpr Kind kKinds[] = {Kind::put,   Kind::get,          Kind::data,         Kind::lease_request,
                               Kind::lease, Kind::lease_return, Kind::lease_recall, Kind::cancel};
    const Kind kind = kKinds[choice % std::size(kKinds)];
    wire::Bytes out;
    if (kind == Kind::put || kind == Kind::get || kind == Kind::lease_request) {
        const detail::Target target = world.owned.span().target();
        wire::BulkHeader header;
        header.flags = in.byte();
        header.call = in.number();
        header.key = target.key;
        header.handle = target.handle;
        header.generation = target.generation;
        header.offset = in.number();
        header.length = in.number();
        out.resize(wire::BulkHeader::kBytes);
        wire::encode(kind, header, out.data());
    } else if (kind == Kind::data || kind == Kind::lease_return || kind == Kind::lease_recall) {
        const auto status = static_cast<std::uint16_t>(in.byte() % 16);
        out.resize(wire::ReplyHeader::kBytes);
        wire::encode(kind, wire::ReplyHeader{status, in.number() << (in.byte() % 2 * 32)}, out.data());
    } else if (kind == Kind::lease) {
        wire::LeaseHeader header;
        header.stays = in.byte() % 2 == 0;
        header.status = static_cast<std::uint16_t>(in.byte() % 16);
        header.call = in.number();
        header.number = static_cast<std::uint32_t>(in.number());
        out.resize(wire::LeaseHeader::kBytes);
        wire::encode(header, out.data());
    } else {
        out.resize(8);
        out[0] = static_cast<std::byte>(kind);
    }
    return out;
}

/// False: there is no link any more.
bool send(World& world, fuzz::Input& in) {
    transport::Channel* const way = world.way();
    if (way == nullptr) return false;
    wire::Bytes head = head_of(world, in.byte(), in);
    const wire::View given = in.take(in.byte());
    const wire::Bytes rest(given.begin(), given.end());
    const detail::Piece pieces[2]{{head.data(), head.size()}, {rest.data(), rest.size()}};
    transport::Frame frame;
    frame.pieces = pieces;
    frame.count = rest.empty() ? 1 : 2;
    frame.size = head.size() + rest.size();
    frame.head = head.data();
    frame.deadline = std::chrono::steady_clock::now() + std::chrono::milliseconds(50);
    std::string why;
    return way->send(frame, &why) == Status::ok;
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    // Never destroyed: modules have objects that end before it would.
    static auto& world = *new std::unique_ptr<World>;
    static std::uint64_t inputs = 0;
    static std::uint64_t ended = 0; // worlds
    if (world == nullptr) world = std::make_unique<World>();
    fuzz::Input in(std::as_bytes(std::span(data, size)));
    const GlobalSpan<std::byte> span(world->foreign.span().target(), world->to_far.route(), 0, kBound);
    const std::uint8_t own = in.byte();
    std::vector<Future<void>> transfers;
    if ((own & 1) != 0) transfers.push_back(span.get(0, world->into.mine()));
    if ((own & 2) != 0) transfers.push_back(span.put(0, std::span<const std::byte>(world->into.mine())));
    bool linked = true;
    for (int frames = 0; frames < 16 && linked && !in.at_end(); ++frames) {
        linked = send(*world, in);
        world->here.progress();
    }
    const bool alive = world->turn_until([&] {
        return std::all_of(transfers.begin(), transfers.end(), [](const auto& each) { return each.ready(); });
    });
    require(alive);
    world->settle();
    require(world->leased.is_whole() && world->asked.is_whole() && world->into.is_whole());
    ++inputs;
    if (linked && ((own & 0xfc) != 0xfc || ended * kInputsOfAWorld > inputs)) return 0;
    world = nullptr;
    ++ended;
    return 0;
}
