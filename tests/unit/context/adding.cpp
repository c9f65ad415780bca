// SPDX-License-Identifier: BSD-3-Clause
// Modules that are added while a context runs, by file and by passport: pointers made later carry them, older
// ones and requests under way go on, and what can't be added is refused with the reason.
#include "contexts.h"
#include "loader/modules.h"
#include "plexus/module/abi.h"
#include "support/tmpdir.h"

#include <algorithm>
#include <atomic>
#include <optional>
#include <thread>

namespace adding_test {

using namespace plexus;
using namespace plexus::testing;

struct Log {
    std::vector<int> numbers;
};
constexpr Request<void(Log&, int)> note{"adding.note"};
constexpr Request<int(Log&)> noted{"adding.noted"}; // -1: not in order
constexpr Request<int(Log&)> in_handler{"adding.in_handler"};

std::filesystem::path file_of(const std::string& method) {
    return loader::default_module_path().front() / ("plexus_" + method + ".so");
}

const plexus_passport& built_in(const std::string& method) {
    for (const plexus_passport* each : loader::builtin_passports())
        if (method == each->name) return *each;
    throw std::runtime_error("no such module is built in");
}

struct End {
    explicit End(const std::string& methods, Values more = {})
      : context(by(methods, std::move(more))) {
        context.on(note, [](Log& to, int number) { to.numbers.push_back(number); });
        context.on(noted, [](Log& of) {
            const bool ordered = std::is_sorted(of.numbers.begin(), of.numbers.end());
            return ordered ? static_cast<int>(of.numbers.size()) : -1;
        });
        bound = context.bind(log);
    }
    GlobalPointer<Log> to(const End& other) { return handed(context, other.bound.pointer()); }

    Log log;
    Context context;
    Bound<Log> bound;
};

TEST_CASE("pointers made after a module was added carry its row, and older ones go on as they did") {
    const bool by_file = GENERATE(true, false);
    CAPTURE(by_file);
    End owner("shm");
    End user("shm, tcp");
    auto old = user.to(owner);
    old.send(note, 1);
    const auto saved = owner.bound.pointer().save();

    if (by_file)
        owner.context.add_module(file_of("tcp"));
    else
        owner.context.add_module(built_in("tcp"));
    REQUIRE(owner.context.table().size() == 2);
    CHECK(owner.context.table()[1].method == "tcp");
    CHECK(owner.context.lanes().back().method == "tcp");
    CHECK(owner.context.lanes().back().origin == (by_file ? file_of("tcp").string() : "built in"));

    auto fresh = user.to(owner);
    CHECK(fresh.method() == "shm"); // the new row is the last
    fresh.use("tcp");
    CHECK(within(fresh.call(noted)) == 1);
    fresh.send(note, 2);
    CHECK(fresh.method() == "tcp");
    CHECK(within(fresh.call(noted)) == 2);
    CHECK(old.table().size() == 1);
    CHECK(refusal_of([&] { old.use("tcp"); }).status == Status::no_method);
    old.send(note, 3);
    CHECK(within(old.call(noted)) == 3);
    CHECK(within(GlobalPointer<Log>::load(user.context, saved).call(noted)) == 3);
}

TEST_CASE("a context that lacked a method reaches others by it once the module was added") {
    End owner("tcp");
    End user("shm");
    const auto far = user.to(owner);
    CHECK(refusal_of(far.call(noted)).says("tcp: not available in this context"));
    user.context.add_module(file_of("tcp"));
    CHECK(within(far.call(noted)) == 0);
    CHECK(far.method() == "tcp");
    CHECK(within(handed(owner.context, user.bound.pointer()).call(noted)) == 0);
}

TEST_CASE("a module that is added takes what the file says of it before what the program asks") {
    TmpDir folder;
    Options options;
    options.file =
        folder
            .file("plexus.toml",
                  "methods = \"shm\"\nsite = \"kiel\"\n[method.tcp]\nwithin = \"site\"\nskip_poll = 7\n")
            .string();
    Context context(options);
    context.add_module(file_of("tcp"), {{"within", "any"}, {"skip_poll", "3"}, {"sndbuf", "256 KiB"}});
    CHECK(context.table()[1].within == "site");
    int found = 0;
    for (const SettingReport& each : context.settings()) {
        if (each.key == "method.tcp.skip_poll") {
            ++found;
            CHECK(each.value == "7");
        }
        if (each.key == "method.tcp.sndbuf") {
            ++found;
            CHECK(each.value == "256 KiB");
            CHECK(each.origin == "add_module");
        }
    }
    CHECK(found == 2);
}

TEST_CASE("what can't be added is refused with the reason, and the context goes on") {
    End owner("shm");
    End user("shm");
    Context& context = owner.context;
    const auto refused = [&](Status status, const char* part, auto&&... how) {
        CAPTURE(part);
        const Refusal refusal = refusal_of([&] { context.add_module(how...); });
        CHECK(refusal.status == status);
        CHECK(refusal.says(part));
        CHECK(context.refused().back().why.find(part) != std::string::npos);
        CHECK(context.table().size() == 1);
    };
    refused(Status::bad_module, "No such file", std::filesystem::path("/nowhere/plexus_tcp.so"));
    refused(Status::bad_module, "can't be loaded", std::filesystem::path("/proc/self/maps"));
    refused(Status::busy, "has the method shm already (built in)", file_of("shm"));
    plexus_passport other = built_in("tcp");
    other.abi_major = 99;
    refused(Status::bad_module, "it was built for ABI 99.", other);
    other = built_in("tcp");
    other.name = "Bad Name";
    refused(Status::bad_module, "no proper name", other);
    refused(Status::bad_config, "method.tcp.sndbfu", file_of("tcp"), Parameters{{"sndbfu", "1 KiB"}});
    refused(Status::bad_config, "set the key `site`", file_of("tcp"), Parameters{{"within", "site"}});
    refused(Status::bad_config, "method.tcp.sndbuf", file_of("tcp"), Parameters{{"sndbuf", "plenty"}});
    const std::size_t before = context.refused().size();
    context.add_module(file_of("tcp")); // nothing of all that is in its way
    CHECK(context.refused().size() == before);
    CHECK(within(user.to(owner).call(noted)) == 0);

    Context without(by("^tcp"));
    const Refusal refusal = refusal_of([&] { without.add_module(file_of("tcp")); });
    CHECK(refusal.status == Status::bad_config);
    CHECK(refusal.says("the list of methods \"^tcp\" excludes tcp"));
}

TEST_CASE("a module that could not be added takes no keys with it that the file has values for") {
    TmpDir folder;
    Options options;
    options.file = folder.file("plexus.toml", "methods = \"shm\"\n[method.udp]\nskip_poll = 9\n").string();
    Context context(options);
    const auto misspelt = [&] {
        return refusal_of([&] { context.add_module(file_of("udp"), {{"rcvbfu", "1 MiB"}}); });
    };
    const std::size_t before = context.refused().size();
    for (int i = 0; i < 3; ++i) CHECK(misspelt().status == Status::bad_config);
    CHECK(context.refused().size() == before + 1);
    context.add_module(file_of("tcp"));
    context.add_module(file_of("udp"));
    CHECK(context.lanes().back().method == "udp");
}

TEST_CASE("a module is not added to a context that closes") {
    std::optional<Context> context(by("shm"));
    Refusal refusal;
    Context* const at = &*context;
    context->at_close([&, at] { refusal = refusal_of([&] { at->add_module(file_of("tcp")); }); });
    context.reset();
    CHECK(refusal.status == Status::closed);
}

TEST_CASE("a module is not added inside an inline handler") {
    End owner("shm");
    End user("shm");
    owner.context.on(in_handler, [&](Log&) {
        return static_cast<int>(refusal_of([&] { owner.context.add_module(file_of("tcp")); }).status);
    });
    CHECK(within(user.to(owner).call(in_handler)) == static_cast<int>(Status::would_deadlock));
    CHECK(owner.context.table().size() == 1);
}

TEST_CASE("a module is added on both sides while threads send, choose and look at the lanes") {
    constexpr int kMessages = 2000;
    End owner("shm");
    End user("shm");
    const auto far = user.to(owner);
    std::atomic<bool> over{false}; // says no more than itself
    std::thread sender([&] {
        for (int i = 0; i < kMessages; ++i) far.send(note, i);
    });
    std::thread watcher([&] {
        while (!over.load(std::memory_order_relaxed)) {
            static_cast<void>(user.context.lanes());
            static_cast<void>(owner.context.table());
            static_cast<void>(user.to(owner).explain());
            static_cast<void>(owner.context.refused());
        }
    });
    std::thread other([&] { user.context.add_module(file_of("tcp")); });
    owner.context.add_module(file_of("tcp"));
    other.join();
    auto fresh = user.to(owner);
    fresh.use("tcp");
    CHECK(within(fresh.call(noted)) >= 0);
    sender.join();
    over.store(true, std::memory_order_relaxed);
    watcher.join();
    CHECK(within(far.call(noted)) == kMessages);
    CHECK(fresh.method() == "tcp");
}

} // namespace adding_test
