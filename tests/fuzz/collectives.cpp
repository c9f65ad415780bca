// SPDX-License-Identifier: BSD-3-Clause
// libFuzzer target: what a member of a group gets from the others: messages of calls that are under way, that
// are over and that are yet to come, with any numbers, slots, senders and sizes, and news that the group is
// broken. Nothing is written outside of the calls' memory, and each call ends.
//
// The input: a byte that chooses the calls, then messages: what, call, slot, sender, size, and its bytes.
#include "group/group_state.h"
#include "group/mailbox.h"
#include "input.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <thread>

namespace {

using namespace plexus;
using namespace plexus::eco;
using namespace plexus::eco::detail;

constexpr Rank kMembers = 3;
constexpr std::size_t kElements = 40;

void require(bool holds) {
    if (!holds) std::abort();
}

Options options() {
    Options out;
    out.set = {{"methods", "local"},
               {"method.local.skip_poll", "1"}, // what was sent is found in the next turn
               {"progress.thread", "false"},
               {"log", "off"}};
    out.file = "/dev/null";
    return out;
}

/// So many groups are made of one mailbox: what it keeps of groups that have ended goes with it.
constexpr std::uint64_t kGroupsOfAMailbox = 1024;

/// The member whose memory is at stake, and a context that takes what the group sends to all others. Between
/// two inputs nothing is under way.
struct World {
    Context here{options()};
    Context there{options()};
    std::shared_ptr<Mailbox> mine;
    std::shared_ptr<Mailbox> theirs;
    GlobalPointer<Mailbox> far;
    std::uint64_t groups = 0;

    World() {
        renew();
        // Opens the ways, which a send from here would wait for.
        std::atomic<bool> open{false};
        std::thread pump([&] { there.run_until([&] { return open.load(); }); });
        for (const auto& to : {far, mine->pointer()}) (void)to.call(kAlive, std::uint64_t{0}, 0u, 0u).get();
        open = true;
        there.stop(); // wakes it
        pump.join();
    }
    void renew() {
        mine.reset();
        theirs.reset();
        mine = Mailbox::of(here);
        theirs = Mailbox::of(there);
        far = GlobalPointer<Mailbox>::load(here, theirs->pointer().save());
    }
    std::shared_ptr<GroupState> group() {
        if (++groups % kGroupsOfAMailbox == 0) renew();
        std::vector<Member> members{{mine->pointer(), {}}, {far, {}}, {far, {}}};
        GroupOptions limits;
        limits.ahead_bytes = 4096;
        limits.watch = std::chrono::hours(1); // no input takes so long
        return GroupState::make(mine, groups, 0, std::move(members), limits);
    }
    /// Carries out all that is under way.
    void turn() {
        for (int idle = 0; idle < 2;) idle = here.progress() + there.progress() == 0 ? idle + 1 : 0;
    }
};

constexpr Operation kOperations[] = {Operation::barrier, Operation::broadcast, Operation::gather,
                                     Operation::all_gather, Operation::all_to_all};

/// By operation. A plan follows from the members and the sizes alone, which are always the same.
using Plans = std::array<std::shared_ptr<const PlannedCall>, std::size(kOperations)>;

/// A call of this member, and its memory.
struct Call {
    CollectiveArgs args;
    std::vector<std::uint32_t> from = std::vector<std::uint32_t>(kElements * kMembers, 1);
    std::vector<std::uint32_t> into = std::vector<std::uint32_t>(kElements * kMembers, 2);
    std::shared_ptr<const PlannedCall> planned;
    Future<void> over;

    Call(GroupState& group, Plans& plans, std::uint8_t choice) {
        const std::size_t which = choice % std::size(kOperations);
        args.operation = kOperations[which];
        const bool gathers = args.operation == Operation::gather || args.operation == Operation::all_gather;
        args.root = args.operation == Operation::broadcast ? 1 : 0;
        args.element_bytes = sizeof(std::uint32_t);
        args.send = reinterpret_cast<const std::byte*>(from.data());
        args.receive = reinterpret_cast<std::byte*>(into.data());
        args.send_elements = gathers ? kElements : kElements * kMembers;
        args.receive_elements = kElements * kMembers;
        if (plans[which] == nullptr) plans[which] = group.prepare(args, Algorithm::messages(), false);
        planned = plans[which];
        over = group.start(planned, args);
    }
};

void take_message(GroupState& group, const std::vector<std::unique_ptr<Call>>& calls, fuzz::Input& in) {
    const std::uint8_t what = in.byte();
    MessageHeader head{};
    head.call = in.byte() % 8;
    head.slot = in.byte();
    head.sender = in.byte() % 8 == 7 ? UINT32_MAX : in.byte() % (kMembers + 1);
    head.last = (what & 1) == 0;
    head.digest = head.call < calls.size() && (what & 2) == 0 ? calls[head.call]->planned->digest : what;
    // Mostly what a call of these sizes has.
    const std::size_t size = (what & 4) == 0 ? in.byte() : kElements * sizeof(std::uint32_t);
    std::vector<std::byte> bytes(size); // of exactly that size
    const Bytes given = in.take((what & 8) == 0 ? size : 0);
    std::copy(given.begin(), given.end(), bytes.begin());
    if ((what & 0xf0) == 0xf0) {
        std::vector<EarlyMessage> early;
        early.emplace_back(head, bytes);
        group.calls().take_early(std::move(early));
    } else if ((what & 0xf0) == 0xe0) {
        (void)group.calls().text_of(head.call);
        (void)group.calls().presence(head.call, head.digest);
    } else {
        group.arrive(head, bytes);
    }
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    static World& world = *new World; // modules have objects that end before it would
    static Plans& plans = *new Plans;
    fuzz::Input in(std::as_bytes(std::span(data, size)));
    {
        const auto group = world.group();
        const std::uint8_t first = in.byte();
        std::vector<std::unique_ptr<Call>> calls;
        calls.push_back(std::make_unique<Call>(*group, plans, first));
        for (int messages = 0; messages < 64 && !in.at_end(); ++messages) {
            if (messages == 3 && (first & 0x80) != 0) {
                try {
                    calls.push_back(
                        std::make_unique<Call>(*group, plans, static_cast<std::uint8_t>(first >> 3)));
                } catch (const Error&) {} // the group is broken
            }
            take_message(*group, calls, in);
            if (messages % 4 == 0) world.turn();
        }
        group->break_up(Status::message_lost, "the input is over", false);
        const auto all_over = [&] {
            return std::all_of(calls.begin(), calls.end(),
                               [](const auto& each) { return each->over.ready(); });
        };
        const auto latest = std::chrono::steady_clock::now() + std::chrono::seconds(10);
        while (!all_over()) { // a timer has one of them
            require(std::chrono::steady_clock::now() < latest);
            world.turn();
        }
    }
    world.turn();
    return 0;
}
