// SPDX-License-Identifier: BSD-3-Clause
// libFuzzer target: transfers and leases of remote memory. One context of this process sends another the
// frames that the input makes, by its real channel, while both have transfers of their own under way. No
// byte beside the bound memory changes, every transfer ends, and the context goes on answering. The method
// is ucx where it is there, for it lends keys, else local.
#include "plexus/plexus.h"

#include "context/core.h"
#include "transport/transport.h"
#include "wire/frame.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <vector>

namespace {

using namespace plexus;

/// Ends the run: the fuzzer keeps the input. Unlike assert(), in every build.
void require(bool holds) {
    if (!holds) std::abort();
}

class Input {
  public:
    Input(const std::uint8_t* data, std::size_t size)
      : data_(data)
      , size_(size) {}
    std::uint8_t next() { return at_ < size_ ? data_[at_++] : std::uint8_t{0}; }
    std::uint64_t number() { // small ones are what is worth trying, and the ends
        const std::uint8_t kind = next();
        if (kind < 200) return kind % 72;
        if (kind < 220) return ~std::uint64_t{0} - kind % 8;
        std::uint64_t all = 0;
        for (int i = 0; i < 8; ++i) all = all << 8 | next();
        return all;
    }
    bool at_end() const { return at_ >= size_; }

  private:
    const std::uint8_t* data_;
    std::size_t size_;
    std::size_t at_ = 0;
};

struct Gate {};
constexpr Request<int(Gate&, int)> echo{"fuzz.echo"};

constexpr std::size_t kGuard = 512;
constexpr std::size_t kBound = 64 * 1024; // above what a module moves by itself
constexpr std::uint64_t kUntouched = 0x5555'5555'5555'5555;

struct Side {
    explicit Side(const Options& options)
      : memory(kBound + 2 * kGuard, kUntouched)
      , context(options) {
        context.on(echo, [](Gate&, int x) { return x; });
        gate = context.bind(door);
        bound = context.bind(std::span(memory).subspan(kGuard, kBound));
    }
    bool is_whole() const {
        const auto untouched = [](std::uint64_t word) { return word == kUntouched; };
        return std::all_of(memory.begin(), memory.begin() + kGuard, untouched) &&
               std::all_of(memory.end() - kGuard, memory.end(), untouched);
    }
    Gate door;
    std::vector<std::uint64_t> memory;
    Context context;
    Bound<Gate> gate;
    BoundSpan<std::uint64_t> bound;
};

Options options_for(const char* methods) {
    Options options;
    options.file = "/dev/null";
    options.set = {{"methods", methods}, {"progress.thread", "false"}, {"log", "off"}};
    return options;
}

std::unique_ptr<Side> make_side() {
    try {
        auto side = std::make_unique<Side>(options_for("ucx"));
        return side;
    } catch (const Error&) { return std::make_unique<Side>(options_for("local")); }
}

class Pair {
  public:
    Pair()
      : victim_(make_side())
      , member_(make_side())
      , to_victim_(GlobalPointer<Gate>::load(member_->context, victim_->gate.pointer().save()))
      , to_member_(GlobalPointer<Gate>::load(victim_->context, member_->gate.pointer().save())) {
        victim_->context.on_error([](const Error&) {});
        member_->context.on_error([](const Error&) {});
        require(answers());
        Future<int> back = to_member_.call(echo, 1);
        end(back);
    }

    /// Both make progress until it has ended.
    template <class R>
    void end(const Future<R>& future) {
        for (int turns = 0; !future.ready(); ++turns) {
            require(turns < 20'000'000);
            victim_->context.progress();
            member_->context.progress();
        }
    }
    bool answers() {
        Future<int> call = to_victim_.call(echo, 7);
        end(call);
        return call.get() == 7;
    }

    /// The next frame of the input, from the member to the victim.
    void send(Input& in) {
        using wire::Kind;
        constexpr Kind kinds[] = {Kind::put, Kind::get, Kind::data, Kind::borrow, Kind::lend, Kind::give_back, Kind::recall};
        const Kind kind = kinds[in.next() % std::size(kinds)];
        const std::uint8_t how = in.next();
        wire::Bytes head;
        if (kind == Kind::put || kind == Kind::get || kind == Kind::borrow) {
            const auto target = victim_->bound.span().target();
            wire::BulkHeader header;
            header.key = how & 1 ? in.number() : target.key;
            header.handle = how & 2 ? static_cast<std::uint32_t>(in.number()) : target.handle;
            header.generation = how & 4 ? static_cast<std::uint32_t>(in.number()) : target.generation;
            header.offset = how & 8 ? in.number() : in.next() * 8u;
            header.length = in.number();
            header.call = call_id(in);
            head.resize(wire::BulkHeader::kBytes);
            wire::encode(kind, header, head.data());
        } else if (kind == Kind::lend) {
            const wire::LendHeader header{(how & 1) != 0, static_cast<std::uint16_t>(how & 2 ? in.next() : 0),
                                          call_id(in), static_cast<std::uint32_t>(in.number())};
            head.resize(wire::LendHeader::kBytes);
            wire::encode(header, head.data());
        } else {
            const bool loan = kind != Kind::data;
            const wire::ReplyHeader header{static_cast<std::uint16_t>(how & 2 ? in.next() : 0),
                                           loan ? in.number() : call_id(in)};
            head.resize(wire::ReplyHeader::kBytes);
            wire::encode(kind, header, head.data());
        }
        if (how & 16) head.resize(std::max<std::size_t>(8, in.next() % (head.size() + 1)));
        wire::Bytes rest(how & 32 ? in.next() * 257u : in.number() % 512);
        for (std::size_t i = 0; i < std::min<std::size_t>(rest.size(), 16); ++i) rest[i] = std::byte{in.next()};
        raw(head, rest);
    }
    /// The victim begins a transfer of its own, which the member answers when it polls, or the input before.
    void begin_transfer(Input& in) {
        const std::uint64_t words = 1 + in.next() * 200u;
        const GlobalSpan<std::uint64_t> far(member_->bound.span().target(), to_member_.route(), 0, kBound);
        into_.assign(2 * kGuard + words, kUntouched);
        const auto part = std::span(into_).subspan(kGuard, words);
        if (in.next() % 2 == 0)
            under_way_ = far.get(0, part);
        else
            under_way_ = far.put(0, std::span<const std::uint64_t>(part));
        ++calls_;
    }
    void poll_victim(int turns) {
        for (int i = 0; i < turns; ++i) victim_->context.progress();
    }
    void poll_member(int turns) {
        for (int i = 0; i < turns; ++i) member_->context.progress();
    }
    void settle() {
        if (under_way_.valid()) {
            end(under_way_);
            under_way_ = {};
        }
        const auto untouched = [](std::uint64_t word) { return word == kUntouched; };
        if (!into_.empty()) {
            require(std::all_of(into_.begin(), into_.begin() + kGuard, untouched));
            require(std::all_of(into_.end() - kGuard, into_.end(), untouched));
        }
        require(answers());
        require(victim_->is_whole());
        require(member_->is_whole());
    }

  private:
    /// Mostly that of the victim's call under way: it has one at a time, in its only place.
    std::uint64_t call_id(Input& in) {
        const std::uint64_t near = in.next();
        return near < 200 ? (calls_ << 32) : near < 230 ? ((calls_ - near % 4) << 32 | near % 3) : in.number();
    }
    void raw(const wire::Bytes& head, const wire::Bytes& rest) {
        const auto peer = member_->context.core()->endpoint().peer(victim_->context.id());
        for (transport::Channel* channel : peer->all_channels()) {
            if (channel->dead()) continue;
            wire::Bytes own(head);
            const detail::Piece pieces[2]{{own.data(), own.size()}, {rest.data(), rest.size()}};
            transport::Frame frame;
            frame.pieces = pieces;
            frame.count = rest.empty() ? 1 : 2;
            frame.size = own.size() + rest.size();
            frame.head = own.data();
            std::string why;
            require(channel->send(frame, &why) == Status::ok);
            return;
        }
        std::abort(); // none of these frames breaks a link
    }

    std::unique_ptr<Side> victim_;
    std::unique_ptr<Side> member_;
    GlobalPointer<Gate> to_victim_;
    GlobalPointer<Gate> to_member_;
    std::vector<std::uint64_t> into_;
    Future<void> under_way_;
    std::uint64_t calls_ = 1; ///< the victim has made one at the start
};

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    static Pair& pair = *new Pair; // its contexts live as long as the process
    Input in(data, std::min<std::size_t>(size, 512));
    bool begun = false;
    while (!in.at_end()) {
        switch (in.next() % 8) {
        case 0:
            if (!begun) pair.begin_transfer(in);
            begun = true;
            break;
        case 1:
            pair.poll_victim(in.next() % 8);
            break;
        case 2:
            pair.poll_member(in.next() % 8);
            break;
        default:
            pair.send(in);
        }
    }
    pair.settle();
    return 0;
}
