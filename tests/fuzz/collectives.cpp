// SPDX-License-Identifier: BSD-3-Clause
// libFuzzer target: what members of a group send each other. Member 1 of a group of two, in this process,
// sends member 0 the messages that the input makes: pieces of collectives, questions, ends of groups,
// for this group and for others. Every collective of member 0 ends, and one that nobody disturbed is right.
#include "exec/team.h"
#include "plexus/eco/group.h"
#include "plexus/plexus.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <optional>
#include <vector>

namespace {

using namespace plexus;
using namespace plexus::eco;

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
    std::uint32_t word() {
        const std::uint8_t kind = next();
        if (kind < 220) return kind % 8;
        if (kind < 240) return exec::kLastPiece | kind % 8u;
        return static_cast<std::uint32_t>(next()) << 24 | static_cast<std::uint32_t>(next()) << 16 | next();
    }
    bool at_end() const { return at_ >= size_; }

  private:
    const std::uint8_t* data_;
    std::size_t size_;
    std::size_t at_ = 0;
};

Options options() {
    Options made;
    made.file = "/dev/null";
    made.set = {{"methods", "local"}, {"progress.thread", "false"}, {"log", "off"}};
    return made;
}

/// Both contexts, with the mailbox of each; they live as long as the process.
struct Both {
    Both()
      : hub_a(exec::Hub::of(a))
      , hub_b(exec::Hub::of(b))
      , a_of_b(GlobalPointer<exec::Hub>::load(b, hub_a->pointer().save()))
      , b_of_a(GlobalPointer<exec::Hub>::load(a, hub_b->pointer().save())) {
        for (Context* each : {&a, &b}) each->on_error([](const Error&) {});
    }
    template <class R>
    void end(const Future<R>& future) {
        for (int turns = 0; !future.ready(); ++turns) {
            require(turns < 20'000'000);
            progress();
        }
    }
    void progress() {
        a.progress();
        b.progress();
    }
    Context a{options()};
    Context b{options()};
    std::shared_ptr<exec::Hub> hub_a;
    std::shared_ptr<exec::Hub> hub_b;
    GlobalPointer<exec::Hub> a_of_b;
    GlobalPointer<exec::Hub> b_of_a;
    std::uint64_t next_group = 1;
};

std::shared_ptr<exec::Team> team_of(const std::shared_ptr<exec::Hub>& hub, std::uint64_t id, Rank me,
                                    const GlobalPointer<exec::Hub>& first, const GlobalPointer<exec::Hub>& second) {
    std::vector<exec::Member> members{{first, "here"}, {second, "here"}};
    auto team = exec::Team::make(hub, id, me, std::move(members), GroupOptions{});
    team->learn_hosts({"here", "here"});
    return team;
}

/// A collective of both members, on memory that outlives it.
struct Work {
    explicit Work(std::size_t count)
      : mine(count, 1.0)
      , all(2 * count) {}
    Future<void> begin(const AsyncGroup& group, std::uint8_t kind) {
        switch (kind % 5) {
        case 0:
            return group.barrier();
        case 1:
            return group.broadcast(std::span(mine), 1);
        case 2:
            return group.all_reduce(std::span(mine), std::plus<>{});
        case 3:
            return group.all_gather(std::span<const double>(mine), std::span(all));
        default:
            return group.reduce(std::span(mine), std::plus<>{}, 0);
        }
    }
    std::vector<double> mine;
    std::vector<double> all;
};

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    static Both& both = *new Both;
    Input in(data, std::min<std::size_t>(size, 512));
    const std::uint64_t id = both.next_group++;
    const std::uint8_t kind = in.next();
    const bool takes_part = in.next() % 2 == 0;
    Work near(1 + in.next() * 40u);
    Work far(near.mine.size());
    auto team = team_of(both.hub_a, id, 0, both.hub_a->pointer(), both.b_of_a);
    auto other = team_of(both.hub_b, id, 1, both.a_of_b, both.hub_b->pointer());
    const AsyncGroup group(team, How());
    bool disturbed = false;
    std::optional<Future<void>> ended;
    std::optional<Future<void>> ended_far;
    const bool early = in.next() % 2 == 0; // messages come before the call
    if (!early) ended = near.begin(group, kind);
    while (!in.at_end()) {
        const std::uint8_t what = in.next();
        const std::uint64_t whose = what % 16 == 15 ? in.word() : id;
        std::vector<std::byte> bytes(in.next() * (what & 64 ? 300u : 1u));
        for (std::size_t i = 0; i < std::min<std::size_t>(bytes.size(), 8); ++i) bytes[i] = std::byte{in.next()};
        switch (what % 8) {
        case 0:
        case 1:
        case 2:
        case 3: {
            const std::uint32_t call = in.word();
            const std::uint32_t slot = in.word();
            const std::uint32_t digest = in.word();
            both.a_of_b.send(exec::kArrive, whose, call, slot, digest, in.word(), std::span<const std::byte>(bytes));
            disturbed = disturbed || whose == id;
            break;
        }
        case 4:
            both.end(both.a_of_b.call(exec::kAsk, whose, in.word()));
            break;
        case 5:
            // An answer that says that its caller does another call than the member breaks nothing by itself.
            both.end(both.a_of_b.call(exec::kAlive, whose, in.word(), in.word()));
            break;
        case 6:
            both.end(both.a_of_b.call(exec::kRoster, whose));
            break;
        default:
            both.end(both.a_of_b.call(exec::kBroken, whose, static_cast<std::int32_t>(in.word()), std::string(in.next(), 'x')));
            disturbed = disturbed || whose == id;
        }
        both.progress();
    }
    if (early) ended = near.begin(group, kind);
    if (takes_part) ended_far = far.begin(AsyncGroup(other, How()), kind);
    if (!takes_part || disturbed) {
        for (int i = 0; i < 20; ++i) both.progress();
        const Status status = Status::peer_lost;
        both.end(both.a_of_b.call(exec::kBroken, id, static_cast<std::int32_t>(status), std::string("over")));
        both.end(both.b_of_a.call(exec::kBroken, id, static_cast<std::int32_t>(status), std::string("over")));
    }
    for (auto* each : {&ended, &ended_far}) {
        if (!*each) continue;
        both.end(**each);
        try {
            (*each)->get();
            if (!disturbed && kind % 5 == 2) require(near.mine.front() == 2.0 && near.mine.back() == 2.0);
        } catch (const Error&) { require(disturbed || !takes_part); }
    }
    return 0;
}
