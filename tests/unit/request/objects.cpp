// SPDX-License-Identifier: BSD-3-Clause
// The table of bound objects: who may enter a slot, and that taking an object out waits for
// whoever uses it.
#include "request/objects.h"
#include "support/catch.h"
#include "support/eventually.h"

#include <thread>

namespace objects_test {

using namespace plexus::testing;
using plexus::Status;
using plexus::detail::Target;
using plexus::request::Objects;

namespace {

constexpr std::uint64_t kKey = 0x1234;
constexpr auto kNever = Objects::Clock::time_point::max();

bool found(Objects& objects, const Target& target) {
    const bool here = objects.enter(target.handle, target.generation, target.key) != nullptr;
    objects.leave();
    return here;
}

} // namespace

TEST_CASE("a bound object is found by its handle, generation and key together") {
    Objects objects;
    int object = 0;
    const Target target = objects.add(&object, 16, 77, kKey);
    Objects::Slot* const slot = objects.enter(target.handle, target.generation, target.key);
    REQUIRE(slot != nullptr);
    CHECK(slot->object == &object);
    CHECK(slot->bytes == 16);
    CHECK(slot->type == 77);
    objects.leave();

    CHECK(objects.enter(target.handle, target.generation, kKey + 1) == nullptr);
    CHECK(objects.enter(target.handle, target.generation, 0) == nullptr);
    CHECK(objects.enter(target.handle, target.generation + 1, kKey) == nullptr);
    CHECK(objects.enter(target.handle + 1, target.generation, kKey) == nullptr);
    for (const std::uint32_t handle : {100u, 1'000'000u, 0x7fffffffu, 0xffffffc0u, 0xffffffffu}) {
        CAPTURE(handle);
        CHECK(objects.enter(handle, target.generation, kKey) == nullptr);
    }
    objects.leave();
}

TEST_CASE("a key of zero opens nothing, also where nobody is bound") {
    Objects objects;
    int object = 0;
    const Target target = objects.add(&object, 0, 0, kKey);
    objects.remove(
        target, [] {}, kNever);
    CHECK(objects.enter(target.handle, target.generation + 1, 0) == nullptr);
    objects.leave();
}

TEST_CASE("a handle is used again, with another generation") {
    Objects objects;
    int first = 0;
    int second = 0;
    const Target old = objects.add(&first, 0, 0, kKey);
    objects.remove(
        old, [] {}, kNever);
    CHECK_FALSE(found(objects, old));
    const Target now = objects.add(&second, 0, 0, kKey);
    CHECK(now.handle == old.handle);
    CHECK(now.generation != old.generation);
    CHECK_FALSE(found(objects, old));
    CHECK(found(objects, now));
    objects.remove(
        now, [] {}, kNever);
}

TEST_CASE("many objects, slots never move") {
    Objects objects;
    std::vector<int> values(5'000);
    std::vector<Target> targets;
    targets.push_back(objects.add(values.data(), 0, 0, 1));
    Objects::Slot* const first = objects.enter(targets[0].handle, targets[0].generation, 1);
    for (std::size_t i = 1; i < values.size(); ++i) targets.push_back(objects.add(&values[i], 0, 0, i + 1));
    std::size_t right = 0;
    for (std::size_t i = 0; i < values.size(); ++i) {
        const auto* slot = objects.enter(targets[i].handle, targets[i].generation, i + 1);
        right += slot != nullptr && slot->object == &values[i];
    }
    CHECK(right == values.size());
    CHECK(objects.enter(targets[0].handle, targets[0].generation, 1) == first);
    objects.leave();
    for (const Target& target : targets)
        objects.remove(
            target, [] {}, kNever);
}

TEST_CASE("taking an object out waits for its pin") {
    Objects objects;
    int object = 0;
    const Target target = objects.add(&object, 0, 0, kKey);
    Objects::Slot* const slot = objects.enter(target.handle, target.generation, kKey);
    REQUIRE(slot != nullptr);
    Objects::pin(*slot);
    objects.leave();
    std::atomic<bool> removed{false}; // alone is the message
    std::thread remover([&] {
        objects.remove(
            target, [] {}, kNever);
        removed = true;
    });
    CHECK(eventually(5s, [&] { return !found(objects, target); })); // nobody enters any more
    std::this_thread::sleep_for(20ms);
    CHECK_FALSE(removed);
    Objects::unpin(*slot);
    CHECK(eventually(5s, [&] { return removed.load(); }));
    remover.join();
}

TEST_CASE("taking an object out waits for a handler that runs on it") {
    Objects objects;
    int object = 0;
    const Target target = objects.add(&object, 0, 0, kKey);
    REQUIRE(objects.enter(target.handle, target.generation, kKey) != nullptr);
    std::atomic<bool> removed{false}; // alone is the message
    std::thread remover([&] {
        objects.remove(
            target, [] {}, kNever);
        removed = true;
    });
    std::this_thread::sleep_for(20ms);
    CHECK_FALSE(removed);
    objects.leave();
    CHECK(eventually(5s, [&] { return removed.load(); }));
    remover.join();
}

TEST_CASE("a handler may take out its own object") {
    Objects objects;
    int object = 0;
    const Target inline_target = objects.add(&object, 0, 0, kKey);
    REQUIRE(objects.enter(inline_target.handle, inline_target.generation, kKey) != nullptr);
    CHECK(objects.remove(inline_target, nullptr, kNever) ==
          Status::ok); // inside the turn: does not wait for itself
    objects.leave();
    CHECK_FALSE(found(objects, inline_target));

    const Target threaded = objects.add(&object, 0, 0, kKey);
    Objects::Slot* const slot = objects.enter(threaded.handle, threaded.generation, kKey);
    REQUIRE(slot != nullptr);
    Objects::pin(*slot);
    objects.leave();
    {
        const Objects::OwnPin own(*slot);
        objects.remove(
            threaded, [] {}, kNever); // its own pin is no reason to wait
    }
    Objects::unpin(*slot);
    CHECK_FALSE(found(objects, threaded));
}

TEST_CASE("inside a turn nobody waits for a handler that waits for this thread") {
    Objects objects;
    int object = 0;
    const Target target = objects.add(&object, 0, 0, kKey);
    Objects::Slot* const slot = objects.enter(target.handle, target.generation, kKey);
    REQUIRE(slot != nullptr);
    auto handler = std::make_unique<Objects::HandlerPin>(*slot, kKey);
    auto behind = std::make_unique<Objects::HandlerPin>(*slot, kKey);
    objects.leave();
    REQUIRE(handler->begin());
    auto own = std::make_unique<Objects::OwnPin>(*slot);
    auto waits = std::make_unique<Objects::Waiting>();
    int left = 0;
    CHECK(objects.remove(target, nullptr, kNever, [&] { ++left; }) == Status::would_deadlock);
    CHECK_FALSE(found(objects, target));
    CHECK_FALSE(behind->begin()); // it came too late
    behind.reset();
    CHECK(left == 0);
    int other = 0;
    const Target next = objects.add(&other, 0, 0, kKey);
    CHECK(next.handle != target.handle); // the place is not free yet
    waits.reset();
    own.reset();
    handler.reset();
    CHECK(left == 1);
    CHECK(objects.add(&other, 0, 0, kKey).handle == target.handle);
}

TEST_CASE("inside a turn a handler that runs is waited for, one that is queued is not") {
    Objects objects;
    int object = 0;
    const Target target = objects.add(&object, 0, 0, kKey);
    Objects::Slot* const slot = objects.enter(target.handle, target.generation, kKey);
    REQUIRE(slot != nullptr);
    Objects::HandlerPin queued(*slot, kKey);
    std::atomic<bool> begun{false};
    std::atomic<bool> over{false};
    std::thread handler([&] {
        Objects::HandlerPin running(*slot, kKey);
        if (running.begin()) begun = true;
        std::this_thread::sleep_for(20ms);
        over = true;
    });
    REQUIRE(eventually(5s, [&] { return begun.load(); }));
    CHECK(objects.remove(target, nullptr, kNever) == Status::ok);
    CHECK(over);
    objects.leave();
    handler.join();
}

TEST_CASE("a handler that ends just now is no deadlock inside a turn") {
    Objects objects;
    int object = 0;
    std::atomic<Objects::Slot*> next{nullptr};
    std::atomic<bool> over{false};
    std::thread handlers([&] {
        while (!over) {
            Objects::Slot* const slot = next.load();
            if (slot == nullptr) {
                std::this_thread::yield();
                continue;
            }
            Objects::HandlerPin running(*slot, kKey);
            running.begin();
            next = nullptr;
        }
    });
    for (int round = 0; round < 2'000; ++round) {
        const Target target = objects.add(&object, 0, 0, kKey);
        Objects::Slot* const slot = objects.enter(target.handle, target.generation, kKey);
        next = slot;
        while (next.load() != nullptr) std::this_thread::yield();
        if (objects.remove(target, nullptr, kNever) != Status::ok) FAIL("round " << round);
        objects.leave();
    }
    over = true;
    handlers.join();
}

TEST_CASE("of handlers that have run, or have not, nothing is counted any more") {
    Objects objects;
    int object = 0;
    const Target target = objects.add(&object, 0, 0, kKey);
    Objects::Slot* const slot = objects.enter(target.handle, target.generation, kKey);
    REQUIRE(slot != nullptr);
    objects.leave();
    {
        Objects::HandlerPin ran(*slot, kKey);
        const Objects::HandlerPin waits(*slot, kKey);
        const std::uint64_t queued = slot->pins;
        CHECK(queued != 0);
        REQUIRE(ran.begin());
        CHECK(slot->pins != queued);
    }
    CHECK(slot->pins == 0);
    objects.remove(
        target, [] {}, kNever);
}

TEST_CASE("what is attached to an object is told of its end when the last user has gone, once") {
    struct Watched : plexus::request::Attached {
        explicit Watched(int& ends)
          : count(ends) {}
        void unbound() noexcept override { ++count; }
        int& count;
    };
    Objects objects;
    int object = 0;
    int ends = 0;
    const auto attached = std::make_shared<Watched>(ends);
    const Target target = objects.add(&object, 0, 0, kKey, attached);
    Objects::Slot* const slot = objects.enter(target.handle, target.generation, kKey);
    REQUIRE(slot != nullptr);
    Objects::pin(*slot);
    objects.leave();
    objects.remove_later(
        target, [] {}, [] {});
    CHECK(ends == 0);
    Objects::unpin(*slot);
    CHECK(ends == 1);
    CHECK(attached.use_count() == 1);
}

TEST_CASE("taking an object out ends at its deadline, whatever its users do") {
    Objects objects;
    int object = 0;
    const Target target = objects.add(&object, 0, 0, kKey);
    Objects::Slot* const slot = objects.enter(target.handle, target.generation, kKey);
    REQUIRE(slot != nullptr);
    Objects::pin(*slot);
    objects.leave();
    bool left = false;
    int turns = 0;
    CHECK(objects.remove(
              target, [&] { ++turns; }, Objects::Clock::now() + 20ms, [&] { left = true; }) ==
          Status::timed_out);
    CHECK(turns > 0);
    CHECK_FALSE(left);
    Objects::unpin(*slot);
    CHECK(left);
}

TEST_CASE("the last user of an object that was taken out at once gives its place back, once") {
    Objects objects;
    int object = 0;
    std::atomic<int> left{0};
    for (int round = 0; round < 2'000; ++round) {
        const Target target = objects.add(&object, 0, 0, kKey);
        CHECK(target.handle < 4);
        Objects::Slot* const slot = objects.enter(target.handle, target.generation, kKey);
        REQUIRE(slot != nullptr);
        Objects::pin(*slot);
        objects.leave();
        std::atomic<bool> go{false};
        std::thread user([&] {
            while (!go) {}
            Objects::unpin(*slot);
        });
        go = true;
        objects.remove_later(
            target, [] {}, [&] { ++left; });
        user.join();
        CHECK(left == round + 1);
    }
}

TEST_CASE("nobody is inside an object after it was taken out, however often the two meet") {
    Objects objects;
    struct Thing {
        std::atomic<bool> alive{false};
    };
    std::array<Thing, 4> things;
    std::atomic<std::uint64_t> name{0}; // handle and generation, as a frame would bring them
    std::atomic<bool> stop{false};
    std::uint64_t entered = 0;
    std::uint64_t dead = 0;
    std::thread leader([&] {
        while (!stop) {
            const std::uint64_t now = name;
            if (auto* slot = objects.enter(static_cast<std::uint32_t>(now >> 32),
                                           static_cast<std::uint32_t>(now), kKey)) {
                ++entered;
                auto& thing = *static_cast<Thing*>(slot->object);
                for (int i = 0; i < 20; ++i) dead += !thing.alive;
            }
            objects.leave();
        }
    });
    const auto end = std::chrono::steady_clock::now() + 300ms;
    for (std::size_t round = 0; std::chrono::steady_clock::now() < end; ++round) {
        Thing& thing = things[round % things.size()];
        thing.alive = true;
        const Target target = objects.add(&thing, 0, 0, kKey);
        name = std::uint64_t{target.handle} << 32 | target.generation;
        if (round % 64 == 0) std::this_thread::yield();
        objects.remove(
            target, [] {}, kNever);
        thing.alive = false;
    }
    stop = true;
    leader.join();
    CHECK(entered > 0);
    CHECK(dead == 0);
}

} // namespace objects_test
