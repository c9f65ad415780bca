// SPDX-License-Identifier: BSD-3-Clause
// What contexts show of themselves to readers of their counters, while they work, come and go.
#include "context/core.h"
#include "contexts.h"
#include "key_file.h"
#include "plexus/counters.h"
#include "support/process.h"

#include <algorithm>
#include <atomic>
#include <csignal>
#include <optional>
#include <thread>
#include <unistd.h>

namespace plexus {

/// As in the library: what the published pointers name.
struct PublishedCounters {};

} // namespace plexus

namespace shown_test {

using namespace plexus;
using namespace plexus::testing;

namespace {

struct Shelf {};
constexpr Request<int(Shelf&, int)> echo{"shown.echo"};

struct Owner {
    explicit Owner(const std::string& methods)
      : context(by(methods)) {
        context.on(echo, [](Shelf&, int number) { return number; });
        bound = context.bind(shelf);
    }
    Shelf shelf;
    Context context;
    Bound<Shelf> bound;
};

/// All contexts of this process; none while all are closing.
std::vector<RunningContext> shown_here() {
    try {
        return RunningContext::of(::getpid());
    } catch (const Error& error) {
        if (error.status() == Status::not_found) return {};
        throw;
    }
}

/// The counters of one of them; nothing if it has ended.
std::optional<CounterSample> read_of(RunningContext& context) {
    try {
        return context.read(std::chrono::seconds(10 * kPatience));
    } catch (const Error& error) {
        if (error.status() == Status::peer_lost) return {};
        throw;
    }
}

/// A column of a table, all rows together.
std::uint64_t sum_in(const CounterSample& sample, std::string_view table, std::string_view column) {
    std::uint64_t sum = 0;
    for (const CounterTable& each : sample.tables) {
        if (each.name != table) continue;
        const auto found = std::find_if(each.columns.begin(), each.columns.end(),
                                        [&](const CounterColumn& one) { return one.name == column; });
        if (found == each.columns.end()) throw std::runtime_error("there is no such column");
        for (const auto& row : each.rows)
            sum += row[static_cast<std::size_t>(found - each.columns.begin())].number;
    }
    return sum;
}

std::optional<CounterSample> sample_of(const Context& context) {
    for (RunningContext& each : shown_here())
        if (each.label().id == context.id()) return read_of(each);
    return {};
}

const CounterTable& groups_in(const CounterSample& sample) {
    return *std::find_if(sample.tables.begin(), sample.tables.end(),
                         [](const CounterTable& table) { return table.name == "group"; });
}

} // namespace

TEST_CASE("groups that libraries report are among a context's counters, as far as there is room") {
    std::optional<Context> context(by("local"));
    CHECK(groups_in(sample_of(*context).value()).rows.empty());
    const auto held = std::make_shared<int>(0);
    const auto reports = [&](std::uint64_t first, std::uint64_t last) {
        context->show_groups([=](const ShowGroup& show) {
            for (std::uint64_t id = first; id < last; ++id) {
                ShownGroup group;
                group.id = id;
                group.members = 3 + static_cast<std::uint32_t>(*held);
                show(group);
            }
        });
    };
    reports(1, 2);
    reports(2, 200);
    const CounterSample sample = sample_of(*context).value();
    CHECK(sum_in(sample, "group", "members") == 3 * groups_in(sample).rows.size());
    CHECK(groups_in(sample).rows.at(1).at(0).text == "0000000000000002");
    CHECK(groups_in(sample).rows.size() + groups_in(sample).left_out == 199);
    CHECK(groups_in(sample).left_out > 0);
    const auto core = context->core(); // as pointers of the program keep it
    context.reset();
    CHECK(held.use_count() == 1); // what reports them has ended with the context
    core->shown_groups().add([held](const ShowGroup&) {});
    CHECK(held.use_count() == 1); // nor is it taken later
}

TEST_CASE("what a report of groups throws leaves the other counters as they are, and the context alive") {
    const bool is_number = GENERATE(false, true);
    const auto warned = expect_warning("a sample for a reader is not whole");
    Owner owner("local");
    Context& context = owner.context;
    const CounterSample before = sample_of(context).value();
    context.show_groups([=](const ShowGroup& show) {
        show({});
        if (is_number) throw 42;
        throw std::runtime_error("no groups today");
    });
    const CounterSample sample = sample_of(context).value();
    CHECK(sample.fresh);
    CHECK(groups_in(sample).rows.size() == 1);
    for (const CounterTable& table : before.tables) {
        if (table.name == "group") continue;
        const auto after = std::find_if(sample.tables.begin(), sample.tables.end(),
                                        [&](const CounterTable& each) { return each.name == table.name; });
        REQUIRE(after != sample.tables.end());
        CHECK(after->rows.size() == table.rows.size());
    }
    CHECK(sum_in(sample, "method", "polls") >= sum_in(before, "method", "polls"));
    CHECK(warned.count() >= 1);
}

TEST_CASE("counters are read while connections open and contexts end") {
    const std::string method = GENERATE(as<std::string>{}, "local", "shm", "tcp");
    CAPTURE(method);
    Owner owner(method);
    std::mutex mutex;
    std::string broken;
    for (int round = 0; round < 20; ++round) {
        std::atomic<int> samples{0};
        std::optional<Context> user(by(method));
        std::thread reader([&, contexts = shown_here()]() mutable {
            try {
                for (bool there = true; there;)
                    for (RunningContext& each : contexts) {
                        const auto sample = read_of(each);
                        there = there && sample;
                        if (sample && !sample->fresh) throw std::runtime_error("a context did not answer");
                        ++samples;
                    }
            } catch (const std::exception& error) {
                const std::lock_guard hold(mutex);
                broken = error.what();
            }
        });
        CHECK(eventually(kLimit, [&] { return samples > 0; }));
        const auto far = handed(*user, owner.bound.pointer());
        for (int i = 0; i < 20; ++i) CHECK(within(far.call(echo, i)) == i);
        user.reset();
        reader.join();
    }
    CHECK(broken.empty());
}

TEST_CASE("a peer is shown with what went to it, by the method that is in use") {
    const std::string method = GENERATE(as<std::string>{}, "shm", "tcp");
    CAPTURE(method);
    Owner owner(method);
    Context user(by(method));
    const auto far = handed(user, owner.bound.pointer());
    for (int i = 0; i < 20; ++i) CHECK(within(far.call(echo, i)) == i);
    const auto sample = sample_of(user);
    REQUIRE(sample);
    CHECK(sum_in(*sample, "peer", "links") == 1);
    CHECK(sum_in(*sample, "peer", "in_use") == 1);
    CHECK(sum_in(*sample, "peer", "sent_messages") >= 20);
    CHECK(sum_in(*sample, "peer", "sent_messages") == sum_in(*sample, "method", "sent_messages"));
    CHECK(sum_in(*sample, "context", "peers") == 1);
    CHECK(sum_in(*sample, "context", "lost_peers") == 0);
}

TEST_CASE("a connection that breaks is counted as lost, one whose peer closes is not") {
    const std::string method = GENERATE(as<std::string>{}, "shm", "tcp");
    CAPTURE(method);
    const bool killed = GENERATE(true, false);
    CAPTURE(killed);
    const KeyFile key;
    const Values values{{"job.key_file", key.path()}};
    Process peer([&](Channel& parent) {
        Context context(by(method, values));
        Shelf shelf;
        context.on(echo, [](Shelf&, int number) { return number; });
        const auto bound = context.bind(shelf);
        parent.put(bound.pointer().save());
        parent.take(std::chrono::minutes(1));
        return 0;
    });
    const auto saved = peer.channel().take(kLimit * kPatience);
    REQUIRE(saved);
    Complaints complaints; // of what may not have arrived
    Context user(by(method, values));
    complaints.listen_to(user);
    const auto far = GlobalPointer<Shelf>::load(user, *saved);
    CHECK(within(far.call(echo, 1)) == 1);
    if (killed)
        peer.kill(SIGKILL);
    else
        peer.channel().put(*saved); // whatever it is: the peer closes
    CHECK(peer.code(kLimit * kPatience) == (killed ? 128 + SIGKILL : 0));
    CHECK(eventually(kLimit, [&] {
        const auto now = sample_of(user);
        return now && sum_in(*now, "peer", "links") == 0;
    }));
    const auto sample = sample_of(user);
    REQUIRE(sample);
    CHECK(sum_in(*sample, "method", "lost_links") == (killed ? 1 : 0));
}

TEST_CASE("counters of a job are read although rank 0 does not answer, and names are missing") {
    const Request<std::vector<std::uint64_t>(PublishedCounters&)> read{"plexus.counters.read"};
    Context told(by("tcp", {{"listen", "plexus://127.0.0.1:0"}, {"name", "told"}}));
    Context job(by("tcp", {{"listen", "plexus://127.0.0.1:0"}, {"counters", "false"}}));
    std::atomic<bool> over{false}; // says no more than itself
    job.on(read, threaded, [&](PublishedCounters&) {
        while (!over.load(std::memory_order_relaxed))
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
        return std::vector<std::uint64_t>();
    });
    PublishedCounters nothing;
    const auto silent = job.bind(nothing);
    struct Ends { // before the handlers are waited for, also if something fails
        std::atomic<bool>& flag;
        ~Ends() { flag = true; }
    } const ends{over};
    Context of_told = Context::attach(told.url(), by("tcp"));
    const auto answers = within(of_told.lookup<PublishedCounters>("plexus.counters.0"));
    job.publish("plexus.counters.3", handed(job, answers));
    job.publish("plexus.counters.5", silent.pointer());
    Context reader = Context::attach(job.url(), by("tcp"));
    const auto look = [&] {
        std::vector<std::string> refused;
        const auto seen = read_counters(reader, std::chrono::milliseconds(4000) * kPatience, refused);
        REQUIRE(seen.size() == 1);
        CHECK(seen[0].label.name == "told");
        return refused;
    };
    const auto nobody = look(); // rank 0 has published nothing
    REQUIRE(nobody.size() == 2);
    CHECK(nobody[0].find("rank 0") == 0);
    CHECK(nobody[1].find("rank 5") == 0);
    job.publish("plexus.counters.0", silent.pointer());
    const auto first = look();
    REQUIRE(first.size() == 2);
    CHECK(first[0].find("rank 0") == 0);
}

} // namespace shown_test
