// SPDX-License-Identifier: BSD-3-Clause
// The table of a group's calls alone: what each message that arrives changes, and what has to be done then.
// No message travels; the case is the thread that owns the call.
#include "group/call_table.h"
#include "eco/group/party.h"
#include "group/planner.h"

#include <array>
#include <functional>

namespace call_table_test {

using namespace plexus;
using namespace plexus::eco;
using namespace plexus::eco::detail;
using namespace plexus::testing;

namespace {

using Kind = Consequence::Kind;

/// Member 0 of a group of two on two hosts.
struct Table {
    Context context{by("local")};
    Membership members{Mailbox::of(context), 1, 0, {{}, {}}, options(), {}};
    Planner planner{2, 0};
    CallTable calls{members};

    Table() {
        members.learn({{"a"}, {"b"}});
        planner.learn_hosts(false, members.levels());
    }
    static GroupOptions options() {
        GroupOptions out;
        out.ahead_bytes = 4 * early_size(0);
        return out;
    }
};

/// A call in which this member waits for eight bytes of member 1.
struct Call {
    Table& table;
    std::uint64_t from = 3;
    std::uint64_t into = 0;
    CollectiveArgs args;
    std::shared_ptr<const PlannedCall> planned;
    std::vector<Consequence> before; ///< of messages that came before it
    Execution* execution = nullptr;

    Call(Table& all, Operation operation)
      : table(all) {
        args.operation = operation;
        args.root = operation == Operation::broadcast ? 1 : 0;
        args.element_bytes = sizeof from;
        args.send = reinterpret_cast<const std::byte*>(&from);
        args.receive = reinterpret_cast<std::byte*>(&into);
        args.send_elements = operation == Operation::broadcast ? 0 : 1;
        args.receive_elements = 1;
        if (operation == Operation::reduce)
            args.combine = eco::detail::combine_by<std::uint64_t>(std::plus<>{});
        planned = table.planner.prepare(args, Algorithm::messages(), true);
    }
    void begin() {
        const Schedule& schedule = planned->schedule;
        std::unique_ptr<Execution> fresh = table.calls.make(schedule.scratch_bytes);
        fresh->planned = planned;
        fresh->combine = args.combine;
        fresh->space[static_cast<std::size_t>(Space::send)] = reinterpret_cast<std::byte*>(&from);
        fresh->space[static_cast<std::size_t>(Space::receive)] = args.receive;
        fresh->space[static_cast<std::size_t>(Space::scratch)] = fresh->scratch.data();
        fresh->slots = std::vector<Execution::Slot>(schedule.op_of_slot.size());
        fresh->copy(schedule.before);
        execution = &table.calls.enter(std::move(fresh), before);
    }
    void park() {
        const Lock hold(table.calls.mutex);
        while (execution->ops()[execution->at].send) ++execution->at;
        execution->wait.parked = true;
    }
    void end() {
        {
            const Lock hold(table.calls.mutex);
            execution->at = execution->ops().size();
        }
        Ending ending;
        REQUIRE(table.calls.take_ending(*execution, ending));
        CHECK(ending.status == Status::ok);
        execution->copy(planned->schedule.after);
        table.calls.release(*execution);
    }
    MessageHeader head(std::uint32_t number) const { return {number, 0, true, planned->digest, 1}; }
};

Bytes bytes_of(const std::uint64_t& value) { return std::as_bytes(std::span(&value, 1)); }

} // namespace

TEST_CASE("a message of a call is stored, and the call goes on") {
    Table table;
    Call call(table, Operation::broadcast);
    call.begin();
    call.park();
    const std::uint64_t value = 7;
    const Consequence what = table.calls.arrive(call.head(0), bytes_of(value));
    CHECK(what.kind == Kind::resume);
    CHECK(what.call == nullptr); // a thread is blocked in it
    CHECK(call.execution->end.ready.load());
    CHECK(table.calls.arrive(call.head(0), bytes_of(value)).kind == Kind::differ); // the same once more
    call.end();
    CHECK(call.into == 7);
}

TEST_CASE("a message that came before its call is stored when the call begins") {
    Table table;
    Call call(table, Operation::broadcast);
    const std::uint64_t value = 8;
    CHECK(table.calls.arrive(call.head(0), bytes_of(value)).kind == Kind::none);
    call.begin();
    CHECK(call.before.empty());
    CHECK(call.execution->slots[0].stored.load());
    call.end();
    CHECK(call.into == 8);
    // What was kept is not counted any more.
    for (std::uint32_t number = 1; number <= 4; ++number)
        CHECK(table.calls.arrive(call.head(number), {}).kind == Kind::none);
}

TEST_CASE("messages of calls that are far ahead are kept up to a limit") {
    Table table;
    Call call(table, Operation::broadcast);
    for (std::uint32_t number = 0; number < 4; ++number)
        CHECK(table.calls.arrive(call.head(number), {}).kind == Kind::none);
    const Consequence what = table.calls.arrive(call.head(4), {});
    CHECK(what.kind == Kind::break_up);
    CHECK(what.status == Status::too_large);
    CHECK(what.why.find("member 1 is 5 calls ahead of member 0") == 0);
}

TEST_CASE("a message of another call by that number, or of one that is over, is a difference") {
    Table table;
    Call call(table, Operation::broadcast);
    call.begin();
    MessageHeader other = call.head(0);
    ++other.digest;
    const Consequence what = table.calls.arrive(other, {});
    CHECK(what.kind == Kind::differ);
    CHECK(what.sender == 1);
    MessageHeader slot = call.head(0);
    slot.slot = 9;
    CHECK(table.calls.arrive(slot, {}).kind == Kind::differ);
    CHECK(table.calls.presence(0, call.planned->digest) == Presence::here);
    CHECK(table.calls.presence(0, other.digest) == Presence::differs);
    CHECK(table.calls.presence(1, other.digest) == Presence::here); // it has not begun
    call.end();
    CHECK(table.calls.arrive(call.head(0), {}).kind == Kind::differ);
    CHECK(table.calls.text_of(0) == call.planned->signature.text());
    CHECK(table.calls.text_of(1) == "something else");
}

TEST_CASE("a message of another length breaks the group") {
    Table table;
    Call call(table, Operation::broadcast);
    call.begin();
    const std::array<std::byte, 9> many{};
    const Consequence what = table.calls.arrive(call.head(0), many);
    CHECK(what.kind == Kind::break_up);
    CHECK(what.status == Status::bad_argument);
    CHECK(what.why.find("member 1 sends 9 bytes, and member 0 expects 8 of it") == 0);
}

TEST_CASE("a message that is combined waits for the call's owner, unless the call waits for it") {
    Table table;
    Call call(table, Operation::reduce);
    call.begin();
    const std::uint64_t value = 10;
    CHECK(table.calls.arrive(call.head(0), bytes_of(value)).kind == Kind::none);
    CHECK(call.execution->slots[0].kept.size == sizeof value);

    Call next(table, Operation::reduce);
    next.begin();
    next.park();
    CHECK(table.calls.arrive(next.head(1), bytes_of(value)).kind == Kind::resume);
    CHECK(next.execution->slots[0].kept.size == 0);
    next.end();
    CHECK(next.into == 13);
}

TEST_CASE("a broken table fails all calls, and takes no message and no call") {
    Table table;
    Call call(table, Operation::broadcast);
    call.begin();
    call.park();
    std::vector<Execution*> ours;
    CHECK(table.calls.break_up(Status::peer_lost, "member 1 is lost", ours));
    CHECK(ours.empty()); // a thread is blocked in it
    CHECK(call.execution->end.ready.load());
    CHECK(call.execution->outcome.failed);
    CHECK_FALSE(table.calls.break_up(Status::closed, "again", ours));
    const std::uint64_t value = 7;
    CHECK(table.calls.arrive(call.head(0), bytes_of(value)).kind == Kind::none);
    CHECK(call.into == 0);
    CHECK(refusal_of([&] { return table.calls.make(0); }).says("member 1 is lost; the group is broken"));
    Ending ending;
    REQUIRE(table.calls.take_ending(*call.execution, ending));
    CHECK(ending.status == Status::peer_lost);
    table.calls.release(*call.execution);
}

TEST_CASE("a call does not end while a handler writes to its memory") {
    Table table;
    Call call(table, Operation::broadcast);
    call.begin();
    Ending ending;
    {
        const Lock hold(table.calls.mutex);
        ++call.execution->writers;
    }
    CHECK_FALSE(table.calls.take_ending(*call.execution, ending));
    {
        const Lock hold(table.calls.mutex);
        --call.execution->writers;
    }
    CHECK(table.calls.take_ending(*call.execution, ending));
    table.calls.release(*call.execution);
}

} // namespace call_table_test
