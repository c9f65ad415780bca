// SPDX-License-Identifier: BSD-3-Clause
// Pointers travel, are stored, and are refused once they are dead, forged or of another type.
#include "contexts.h"

#include "context/core.h"

#include <algorithm>
#include <cereal/types/vector.hpp>

namespace pointers_test {

using namespace plexus;
using namespace plexus::testing;

struct Lamp {
    int lit = 0;
};
struct Shelf {
    GlobalPointer<Lamp> lamp;
};
struct Other {};

constexpr Request<int(Lamp&)> light{"pointers.light"};
constexpr Request<void(Shelf&, GlobalPointer<Lamp>)> put{"pointers.put"};
constexpr Request<GlobalPointer<Lamp>(Shelf&)> take{"pointers.take"};
constexpr Request<std::size_t(Shelf&, std::vector<GlobalPointer<Lamp>>)> count{"pointers.count"};

struct Owner {
    explicit Owner(const std::string& methods)
      : context(by(methods)) {
        context.on(light, [](Lamp& it) { return ++it.lit; });
        bound = context.bind(lamp);
    }
    Lamp lamp;
    Context context;
    Bound<Lamp> bound;
};

/// A saved pointer with one byte changed. Its layout: magic 4, version 1, context 16,
/// key 8, handle 4, generation 4, table.
std::vector<std::byte> changed(std::vector<std::byte> saved, std::size_t at) {
    saved[at] ^= std::byte{0x5a};
    return saved;
}
constexpr std::size_t kContextAt = 5;
constexpr std::size_t kKeyAt = 21;
constexpr std::size_t kHandleAt = 29;
constexpr std::size_t kGenerationAt = 33;

TEST_CASE("a pointer in a request works in a third context") {
    const std::string method = GENERATE(as<std::string>{}, "local", "shm", "tcp");
    CAPTURE(method);
    Owner owner(method);
    Context middle(by(method));
    Context third(by(method));
    Shelf shelf;
    third.on(put, [](Shelf& it, GlobalPointer<Lamp> lamp) { it.lamp = std::move(lamp); });
    third.on(take, [](Shelf& it) { return it.lamp; });
    const Bound<Shelf> bound = third.bind(shelf);

    const auto lamp = handed(middle, owner.bound.pointer());
    const auto far = handed(middle, bound.pointer());
    far.send(put, lamp);
    const auto round = within(far.call(take));
    CHECK(round == lamp);
    CHECK(round.context() == owner.context.id());
    CHECK(within(round.call(light)) == 1);
    CHECK(within(shelf.lamp.call(light)) == 2); // the third context's own use of it
    CHECK(shelf.lamp.method() == method);
    CHECK(shelf.lamp.table() == lamp.table());
    shelf.lamp = {};
}

TEST_CASE("the table of a context that was introduced long ago is told again") {
    constexpr std::size_t kContexts = 700; // more than either end of a link remembers
    constexpr std::size_t kRecent = 200;   // fewer than either may forget
    const std::string method = GENERATE(as<std::string>{}, "local", "shm", "tcp");
    CAPTURE(method);
    Owner owner(method);
    Context middle(by(method));
    Context third(by(method));
    Shelf shelf;
    third.on(put, [](Shelf& it, GlobalPointer<Lamp> lamp) { it.lamp = std::move(lamp); });
    third.on(count, [](Shelf&, const std::vector<GlobalPointer<Lamp>>& lamps) { return lamps.size(); });
    const Bound<Shelf> bound = third.bind(shelf);
    const auto far = handed(middle, bound.pointer());

    // The first is a context that there is; of the others nobody will ever use a pointer.
    std::vector<GlobalPointer<Lamp>> lamps{handed(middle, owner.bound.pointer())};
    for (std::size_t i = 1; i < kContexts; ++i) {
        std::vector<std::byte> saved = owner.bound.pointer().save();
        saved[kContextAt] ^= static_cast<std::byte>(i);
        saved[kContextAt + 1] ^= static_cast<std::byte>(i >> 8);
        lamps.push_back(GlobalPointer<Lamp>::load(middle, saved));
    }
    using Lamps = std::vector<GlobalPointer<Lamp>>;
    for (std::size_t i = 0; i < kContexts; ++i) {
        CAPTURE(i);
        REQUIRE(within(far.call(count, Lamps{lamps[i], lamps[i - std::min(i, kRecent)]})) == 2);
    }
    for (std::size_t i = 0; i < kContexts; ++i) {
        CAPTURE(i);
        REQUIRE(within(far.call(count, Lamps{lamps[i]})) == 1);
    }
    far.send(put, lamps.front());
    REQUIRE(within(far.call(count, Lamps{})) == 0);
    CHECK(within(shelf.lamp.call(light)) == 1);
    shelf.lamp = {};
}

TEST_CASE("null pointers and many pointers travel in one request") {
    Owner owner("shm");
    Context user(by("shm"));
    Shelf shelf;
    owner.context.on(put, [](Shelf& it, GlobalPointer<Lamp> lamp) { it.lamp = std::move(lamp); });
    owner.context.on(take, [](Shelf& it) { return it.lamp; });
    owner.context.on(count, [](Shelf&, const std::vector<GlobalPointer<Lamp>>& lamps) {
        std::size_t good = 0;
        for (const auto& lamp : lamps) good += lamp ? 1 : 0;
        return good;
    });
    const Bound<Shelf> bound = owner.context.bind(shelf);
    const auto far = handed(user, bound.pointer());
    far.send(put, handed(user, owner.bound.pointer()));
    CHECK(within(far.call(take)));
    far.send(put, GlobalPointer<Lamp>{});
    CHECK_FALSE(within(far.call(take)));
    const auto lamp = handed(user, owner.bound.pointer());
    CHECK(within(far.call(count, std::vector<GlobalPointer<Lamp>>{lamp, {}, lamp})) == 2);
}

TEST_CASE("a null pointer is refused where it is used") {
    const GlobalPointer<Lamp> null;
    CHECK_FALSE(null);
    CHECK(refusal_of([&] { null.send(light); }).status == Status::dead_pointer);
    CHECK(refusal_of([&] { return null.call(light); }).status == Status::dead_pointer);
    CHECK(null.try_send(light) == Status::dead_pointer);
    CHECK(refusal_of([&] { null.method(); }).status == Status::dead_pointer);
    CHECK(refusal_of([&] { null.save(); }).status == Status::dead_pointer);
}

TEST_CASE("a context reaches its own objects") {
    Owner owner("local");
    const auto lamp = owner.bound.pointer();
    CHECK(within(lamp.call(light)) == 1);
    lamp.send(light);
    CHECK(within(lamp.call(light)) == 3);
}

TEST_CASE("a stored pointer works after it was loaded again") {
    const std::string method = GENERATE(as<std::string>{}, "local", "shm", "tcp");
    CAPTURE(method);
    Owner owner(method);
    const std::vector<std::byte> saved = owner.bound.pointer().save();
    Context user(by(method));
    const auto first = GlobalPointer<Lamp>::load(user, saved);
    const auto second = GlobalPointer<Lamp>::load(user, first.save());
    CHECK(first == second);
    CHECK(first.save() == saved);
    CHECK(within(second.call(light)) == 1);
}

TEST_CASE("bytes that are no saved pointer are refused") {
    Owner owner("tcp");
    const std::vector<std::byte> saved = owner.bound.pointer().save();
    for (std::size_t length = 0; length < saved.size(); ++length) {
        CAPTURE(length);
        CHECK(refusal_of([&] {
                  GlobalPointer<Lamp>::load(owner.context, std::span(saved).first(length));
              }).status == Status::bad_archive);
    }
    CHECK(refusal_of([&] { GlobalPointer<Lamp>::load(owner.context, changed(saved, 0)); }).status ==
          Status::bad_archive);
    CHECK(refusal_of([&] { GlobalPointer<Lamp>::load(owner.context, changed(saved, 4)); }).status ==
          Status::bad_archive);
    std::vector<std::byte> of_nobody = saved; // its context has no identity
    std::fill_n(of_nobody.begin() + 5, sizeof(ContextId::bytes), std::byte{});
    CHECK(refusal_of([&] { GlobalPointer<Lamp>::load(owner.context, of_nobody); }).status ==
          Status::bad_archive);
}

TEST_CASE("a pointer to an object that was unbound is dead, for calls and for sends") {
    const std::string method = GENERATE(as<std::string>{}, "local", "shm", "tcp");
    CAPTURE(method);
    Complaints complaints;
    Owner owner(method);
    Context user(by(method));
    complaints.listen_to(user);
    const auto far = handed(user, owner.bound.pointer());
    CHECK(within(far.call(light)) == 1);
    owner.bound.reset();
    const Refusal refusal = refusal_of(far.call(light));
    CHECK(refusal.status == Status::dead_pointer);
    CHECK(refusal.says("pointers.light"));
    far.send(light);
    CHECK(complaints.next().status == Status::dead_pointer);

    Lamp another; // takes the same place in the table of objects
    const Bound<Lamp> next = owner.context.bind(another);
    CHECK(refusal_of(far.call(light)).status == Status::dead_pointer);
    CHECK(within(handed(user, next.pointer()).call(light)) == 1);
    CHECK(another.lit == 1);
}

TEST_CASE("a forged pointer is refused, whatever part of it was made up") {
    const std::string method = GENERATE(as<std::string>{}, "local", "shm", "tcp");
    CAPTURE(method);
    Owner owner(method);
    Context user(by(method));
    const std::vector<std::byte> saved = owner.bound.pointer().save();
    for (const std::size_t at :
         {kKeyAt, kKeyAt + 7, kHandleAt, kHandleAt + 1, kHandleAt + 3, kGenerationAt, kGenerationAt + 3}) {
        CAPTURE(at);
        const auto forged = GlobalPointer<Lamp>::load(user, changed(saved, at));
        CHECK(refusal_of(forged.call(light)).status == Status::dead_pointer);
    }
    std::vector<std::byte> without_key = saved;
    std::fill_n(without_key.begin() + kKeyAt, 8, std::byte{0});
    CHECK(refusal_of(GlobalPointer<Lamp>::load(user, without_key).call(light)).status ==
          Status::dead_pointer);
    CHECK(within(GlobalPointer<Lamp>::load(user, saved).call(light)) == 1); // nothing but the true one ran
}

TEST_CASE("a pointer to an object of another type is refused") {
    const std::string method = GENERATE(as<std::string>{}, "local", "shm", "tcp");
    CAPTURE(method);
    Owner owner(method);
    Context user(by(method));
    Other other;
    const Bound<Other> bound = owner.context.bind(other);
    const auto mistaken = GlobalPointer<Lamp>::load(user, bound.pointer().save());
    const Refusal refusal = refusal_of(mistaken.call(light));
    CHECK(refusal.status == Status::bad_signature);
    CHECK(refusal.says("another type"));
}

namespace {

/// A pointer as it travels inside a request.
struct Travelling : detail::PointerBase {
    Travelling() = default;
    explicit Travelling(const detail::PointerBase& pointer)
      : PointerBase(pointer) {}
    void write_to(detail::Writer& out) const { write(out); }
    void read_from(detail::Reader& in) { read(in); }
};

} // namespace

TEST_CASE("a pointer whose table nobody has told spoils what it comes with") {
    constexpr std::size_t kTableAt = 16 + 8 + 4 + 4; // behind context, key, handle and generation
    Owner owner("local");
    detail::Writer writer(0);
    Travelling(owner.bound.pointer()).write_to(writer);
    const std::vector<std::byte> bytes = writer.bytes();
    detail::Channel channel(owner.context.core()->endpoint());
    const auto is_read = [&](const std::vector<std::byte>& from) {
        detail::Reader in(&channel, from.data(), from.size(), 0);
        Travelling().read_from(in);
        return in.ok();
    };
    CHECK(is_read(bytes));
    CHECK_FALSE(is_read(changed(bytes, kTableAt)));
    CHECK_FALSE(is_read(changed(bytes, 3))); // of a context that nobody knows
}

} // namespace pointers_test
