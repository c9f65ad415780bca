// SPDX-License-Identifier: BSD-3-Clause
// A publisher and its readers: what is asked for is answered, whole, and by nobody who is gone.
#include "counters/processes.h"
#include "counters/publisher.h"
#include "counters/question.h"
#include "tables.h"

#include "support/catch.h"
#include "support/eventually.h"
#include "support/footprint.h"
#include "support/log_guard.h"
#include "support/process.h"

#include <algorithm>
#include <csignal>
#include <cstring>
#include <sched.h>
#include <stdexcept>
#include <thread>

namespace publishing_test {

using namespace plexus;
using namespace plexus::counters;
using namespace plexus::testing;

namespace {

std::unique_ptr<Publisher> counting(std::atomic<std::uint64_t>& asked) {
    return Publisher::start(some_label(), kSomeTables,
                            [&asked](Sample& sample) { put_pair(sample, ++asked); })
        .value();
}

std::uint64_t pair_of(const CounterSample& sample) {
    const auto& rows = sample.tables.at(0).rows;
    return rows.size() == 1 && rows[0][0].number == rows[0][1].number ? rows[0][0].number : 0;
}

Status status_of(pid_t process) {
    try {
        RunningContext::of(process);
        return Status::ok;
    } catch (const Error& error) { return error.status(); }
}

/// A child with a publisher of its own, which lives until it is killed.
int publish_for_ever(testing::Channel& parent) {
    std::atomic<std::uint64_t> asked{0};
    const auto publisher = counting(asked);
    const std::byte ready{1};
    if (!parent.put({&ready, 1})) return 1;
    return parent.take(std::chrono::minutes(1)) ? 0 : 1;
}

constexpr auto kSoon = std::chrono::milliseconds(10'000 * kPatience);

} // namespace

TEST_CASE("a reader is told what the counters are now, and nothing is read while nobody asks") {
    std::atomic<std::uint64_t> asked{0};
    const auto publisher = counting(asked);
    std::vector<RunningContext> found = RunningContext::of(::getpid());
    REQUIRE(found.size() == 1);
    CHECK(found[0].label().name == "ocean");
    CHECK(asked == 0);
    for (std::uint64_t i = 1; i <= 100; ++i) {
        const auto before = std::chrono::system_clock::now();
        const CounterSample sample = found[0].read(kSoon);
        CHECK(sample.fresh);
        CHECK(pair_of(sample) == i);
        CHECK(sample.taken >= before);
        CHECK(asked == i);
    }
    const std::vector<RunningContext> all = RunningContext::all();
    CHECK(std::count_if(all.begin(), all.end(),
                        [](const auto& each) { return each.label().process == ::getpid(); }) == 1);
}

TEST_CASE("a question that comes while counters are read has an answer of its own") {
    std::atomic<int> samples{0};
    std::atomic<Header*> header{nullptr};
    std::atomic<std::uint32_t> second{0};
    const auto publisher = Publisher::start(some_label(), kSomeTables, [&](Sample& sample) {
                               put_pair(sample, 1);
                               if (++samples == 1) second = ask(*header);
                           }).value();
    const Memory memory = Memory::open(paths_of(::getpid())->at(0)).value();
    header = &memory.header();
    const auto is_answered = [&](std::uint32_t question) {
        return wait(memory.header(), question, Clock::now() + kSoon, [] { return true; }).value();
    };
    CHECK(is_answered(ask(memory.header())));
    CHECK(is_answered(second));
    CHECK(samples == 2);
}

TEST_CASE("the numbers of questions start again after the highest") {
    const Area area = Area::create(some_label(), kSomeTables).value();
    Header& header = area.header();
    header.asked = header.answered = UINT32_MAX;
    const std::uint32_t question = ask(header);
    CHECK(question == 0);
    const auto is_answered = [&] {
        return wait(header, question, Clock::now(), [] { return true; }).value();
    };
    CHECK_FALSE(is_answered());
    header.answered = question;
    CHECK(is_answered());
}

TEST_CASE("who asks a publisher that has stopped is told so, and does not wait") {
    std::atomic<std::uint64_t> asked{0};
    const auto publisher = counting(asked);
    CHECK(publisher->words(Clock::now() + kSoon));
    publisher->stop();
    CHECK(publisher->words(Clock::now() + std::chrono::milliseconds(10)).status() == Status::peer_lost);
}

TEST_CASE("many readers at once find whole samples that only grow") {
    std::atomic<std::uint64_t> asked{0};
    const auto publisher = counting(asked);
    std::atomic<int> broken{0};
    std::vector<std::thread> readers;
    for (int i = 0; i < 3; ++i)
        readers.emplace_back([&] {
            RunningContext context = std::move(RunningContext::of(::getpid()).at(0));
            std::uint64_t last = 0;
            for (int round = 0; round < 2000; ++round) {
                const std::uint64_t number = pair_of(context.read(kSoon));
                if (number == 0 || number < last) ++broken;
                last = number;
            }
        });
    for (std::thread& reader : readers) reader.join();
    CHECK(broken == 0);
}

TEST_CASE("a publisher leaves nothing behind, and ends while readers tamper with what it waits for") {
    const Footprint before = Footprint::now();
    for (int round = 0; round < 50; ++round) {
        std::atomic<std::uint64_t> asked{0};
        auto publisher = counting(asked);
        std::atomic<bool> done{false};
        std::thread tampering([&, memory = Memory::open(paths_of(::getpid())->at(0)).value()] {
            while (!done) memory.header().asked.store(5);
        });
        publisher.reset();
        done = true;
        tampering.join();
    }
    const Footprint after = Footprint::settled(before.threads);
    CHECK(after.descriptors == before.descriptors);
    CHECK(after.threads == before.threads);
    CHECK(status_of(::getpid()) == Status::not_found);
}

TEST_CASE("what is thrown while counters are read ends the sample, not the context") {
    auto warning = expect_warning("not whole: no luck");
    int times = 0;
    const auto publisher = Publisher::start(some_label(), kSomeTables, [&](Sample& sample) {
                               put_pair(sample, 9);
                               if (++times == 1) throw std::runtime_error("no luck");
                           }).value();
    RunningContext context = std::move(RunningContext::of(::getpid()).at(0));
    CHECK(pair_of(context.read(kSoon)) == 9);
    CHECK(context.read(kSoon).fresh);
    CHECK(warning.count() == 1);
}

TEST_CASE("a process that is stopped shows what it told before; one that was killed is gone") {
    Process child(publish_for_ever);
    REQUIRE(child.channel().take(kSoon));
    RunningContext context = std::move(RunningContext::of(child.pid()).at(0));
    CHECK(pair_of(context.read(kSoon)) == 1);
    child.kill(SIGSTOP);
    const CounterSample late = context.read(std::chrono::milliseconds(20));
    CHECK_FALSE(late.fresh);
    CHECK(pair_of(late) == 1);
    child.kill(SIGCONT);
    CHECK(pair_of(context.read(kSoon)) >= 2);
    child.kill(SIGKILL);
    CHECK(child.code(kSoon) == 128 + SIGKILL);
    CHECK_THROWS_AS(context.read(kSoon), Error);
    CHECK(status_of(child.pid()) == Status::not_found);
}

TEST_CASE("a forked child is not taken for the context whose memory it inherits") {
    std::atomic<std::uint64_t> asked{0};
    auto publisher = counting(asked);
    Process child([&](testing::Channel& parent) {
        static_cast<void>(publisher.release()); // its thread is the parent's
        return parent.take(std::chrono::minutes(1)) ? 0 : 1;
    });
    CHECK(paths_of(child.pid())->size() == 1);
    CHECK(status_of(child.pid()) == Status::not_found);
    CHECK(status_of(::getpid()) == Status::ok);
}

TEST_CASE("a process in a namespace of its own is found by the number that it has outside") {
    Process outer([](testing::Channel& parent) {
        if (::unshare(CLONE_NEWPID) != 0) {
            const std::byte no{0};
            return parent.put({&no, 1}) ? 0 : 1;
        }
        Process inner(publish_for_ever); // it calls itself 1
        if (!inner.channel().take(kSoon)) return 2;
        const pid_t number = inner.pid();
        if (!parent.put(std::as_bytes(std::span(&number, 1)))) return 3;
        return parent.take(std::chrono::minutes(1)) ? 0 : 1;
    });
    const auto said = outer.channel().take(kSoon);
    REQUIRE(said);
    if (said->size() != sizeof(pid_t)) SKIP_TEST("this machine allows no namespaces of process numbers");
    pid_t number = 0;
    std::memcpy(&number, said->data(), sizeof number);
    const std::vector<RunningContext> found = RunningContext::of(number);
    REQUIRE(found.size() == 1);
    CHECK(found[0].label().process == number);
    CHECK(has_number(number, 1));
    CHECK_FALSE(has_number(number, number)); // it does not call itself so
}

TEST_CASE("another user's process is refused, and says whose it is") {
    Process target(publish_for_ever);
    REQUIRE(target.channel().take(kSoon));
    Process nobody([process = target.pid()](testing::Channel&) {
        if (::geteuid() != 0) return status_of(1) == Status::denied ? 0 : 1; // the first process is root's
        if (::setgid(65534) != 0 || ::setuid(65534) != 0) return 2;
        if (status_of(process) != Status::denied) return 3;
        for (const RunningContext& each : RunningContext::all())
            if (each.label().process == process) return 4;
        return 0;
    });
    CHECK(nobody.code(kSoon) == 0);
    CHECK(status_of(target.pid()) == Status::ok);
}

} // namespace publishing_test
