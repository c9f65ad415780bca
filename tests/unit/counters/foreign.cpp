// SPDX-License-Identifier: BSD-3-Clause
// Memory that only looks like a context's, in a process that may be looked into: what it is not, no reader
// maps, waits for or believes.
#include "plexus/counters.h"
#include "tables.h"

#include "support/catch.h"

#include <algorithm>
#include <cstddef>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>

namespace foreign_memory_test {

using namespace plexus;
using namespace plexus::counters;
using namespace plexus::testing;

namespace {

constexpr int kSizeSeals = F_SEAL_SHRINK | F_SEAL_GROW;

UniqueFd make(std::size_t bytes, int seals) {
    UniqueFd fd(::memfd_create(kLabel, MFD_CLOEXEC | MFD_ALLOW_SEALING));
    REQUIRE(::ftruncate(fd.get(), static_cast<off_t>(bytes)) == 0);
    REQUIRE(::fcntl(fd.get(), F_ADD_SEALS, seals) == 0);
    return fd;
}

void write_at(const UniqueFd& fd, std::size_t offset, std::uint64_t word) {
    REQUIRE(::pwrite(fd.get(), &word, sizeof word, static_cast<off_t>(offset)) == sizeof word);
}

/// What a reader of this process is told.
std::string told() {
    try {
        return std::to_string(RunningContext::of(::getpid()).size());
    } catch (const Error& error) { return error.what(); }
}

const std::string kNone = "process " + std::to_string(::getpid()) + " has no context that shows its counters";

} // namespace

TEST_CASE("memory that is not sealed, of no size of ours, or not begun yet is passed over") {
    const auto begins = [](const UniqueFd& fd) { // else it would be passed over for that
        write_at(fd, offsetof(Header, magic), kMagic);
    };
    SECTION("it may shrink under a reader") {
        const auto fd = make(4096, F_SEAL_GROW);
        begins(fd);
        CHECK(told() == kNone);
    }
    SECTION("it is empty") {
        const auto fd = make(0, kSizeSeals);
        CHECK(told() == kNone);
    }
    SECTION("it is shorter than a header") {
        const auto fd = make(64, kSizeSeals);
        begins(fd);
        CHECK(told() == kNone);
    }
    SECTION("it is too long") {
        const auto fd = make(kMostBytes + 8, kSizeSeals);
        begins(fd);
        CHECK(told() == kNone);
    }
    SECTION("it has half a word") {
        const auto fd = make(4097, kSizeSeals);
        begins(fd);
        CHECK(told() == kNone);
    }
    SECTION("it says nothing yet") {
        const auto fd = make(4096, kSizeSeals);
        CHECK(told() == kNone);
    }
}

TEST_CASE("memory of another kind or version is refused in words") {
    const auto fd = make(4096, kSizeSeals);
    write_at(fd, offsetof(Header, magic), 77);
    CHECK(told().find("does not begin as a context's counters do") != std::string::npos);
    write_at(fd, offsetof(Header, magic), kMagic);
    write_at(fd, offsetof(Header, version), std::uint64_t{kMajor + 6} << 32 | 5);
    CHECK(told().find("have version 7.5, and version 1 is known here") != std::string::npos);
    write_at(fd, offsetof(Header, version), std::uint64_t{kMajor} << 32);
    write_at(fd, offsetof(Header, words), 511);
    CHECK(told().find("it is cut: of 511 words 512 are there") != std::string::npos);
    std::vector<std::string> refused;
    for (const RunningContext& each : RunningContext::all(&refused))
        CHECK(each.label().process != ::getpid());
    CHECK(std::any_of(refused.begin(), refused.end(),
                      [](const std::string& why) { return why.find("it is cut") != why.npos; }));
}

TEST_CASE("memory that can't be read hides no other of its process") {
    const auto fd = make(4096, kSizeSeals);
    write_at(fd, offsetof(Header, magic), 77);
    const Area area = Area::create(some_label(), kSomeTables).value();
    std::vector<std::string> refused;
    const std::vector<RunningContext> all = RunningContext::all(&refused);
    CHECK(std::count_if(all.begin(), all.end(),
                        [](const auto& each) { return each.label().process == ::getpid(); }) == 1);
    CHECK(std::count_if(refused.begin(), refused.end(), [](const std::string& why) {
              return why.starts_with("process " + std::to_string(::getpid()) + ": ");
          }) == 1);
    CHECK(told().find("does not begin") != std::string::npos);
}

TEST_CASE("a reader that has no descriptor left says so, and takes no context for one that is gone") {
    const Area area = Area::create(some_label(), kSomeTables).value();
    const Area other = Area::create(some_label(), kSomeTables).value();
    rlimit before{};
    REQUIRE(::getrlimit(RLIMIT_NOFILE, &before) == 0);
    const int next = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
    ::close(next);
    const auto leave = [&](int descriptors) {
        const rlimit few{static_cast<rlim_t>(next + descriptors), before.rlim_max};
        ::setrlimit(RLIMIT_NOFILE, &few);
    };
    std::string said[2];
    std::vector<std::string> refused[2];
    for (const int descriptors : {0, 1}) { // none to look into /proc; one, for the first of two memories
        leave(descriptors);
        said[descriptors] = told();
        static_cast<void>(RunningContext::all(&refused[descriptors]));
        ::setrlimit(RLIMIT_NOFILE, &before);
    }
    for (const std::string& why : said) CHECK(why.find("Too many open files") != std::string::npos);
    for (const auto& each : refused) {
        REQUIRE_FALSE(each.empty());
        CHECK(each.front().find("Too many open files") != std::string::npos);
    }
    CHECK(told() == "2");
}

TEST_CASE("a sample that is never finished is not waited for without end") {
    const Area area = Area::create(some_label(), kSomeTables).value();
    std::vector<RunningContext> found = RunningContext::of(::getpid());
    REQUIRE(found.size() == 1);
    area.header().sequence.store(1);
    CHECK_THROWS_WITH(found[0].read(std::chrono::milliseconds(10)),
                      "its counters were half written all the time");
    CHECK(told() == "1"); // who it is does not change
    area.header().sequence.store(2);
    CHECK_FALSE(found[0].read(std::chrono::milliseconds(10)).fresh); // nobody answers
}

} // namespace foreign_memory_test
