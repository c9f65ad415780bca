// SPDX-License-Identifier: BSD-3-Clause
// Members in processes of their own.
#include "host/fetch.h"
#include "unit/eco_host/members.h"

#include "support/process.h"

#include <csignal>
#include <cstring>
#include <unistd.h>

namespace processes_test {

using namespace plexus::testing;
using plexus::eco::Operation;
using plexus::eco::host::Offer;

namespace {

constexpr Rank kMembers = 3;

/// All operations that a member of this test takes part in. Empty: all was right.
std::string take_part(SharedArena& arena) {
    const std::atomic<bool> given_up{false};
    Patient policy(given_up);
    arena.begin(1, policy);
    arena.announce_process();
    std::vector<int> none;
    plexus::eco::host::run(arena, args_of(Operation::barrier, 0, none, none));
    if (!arena.can_fetch_from_all()) return "it can't read the others' memory";
    arena.allow_fetching();
    for (const std::size_t count : {std::size_t{1}, std::size_t{5'000}, std::size_t{200'000}}) {
        const std::vector<double> mine(count, arena.me() + 1);
        std::vector<double> sum(count);
        plexus::eco::host::run(arena, args_of(Operation::all_reduce, 0, mine, sum,
                                              plexus::eco::detail::combine_by<double>(std::plus<>{})));
        if (sum.front() != 6 || sum.back() != 6) return "the sum is wrong";
        std::vector<int> out(count * kMembers); // the largest are read out of the others' memory
        for (std::size_t i = 0; i < out.size(); ++i) out[i] = static_cast<int>(arena.me() * 10 + i / count);
        std::vector<int> in(out.size());
        plexus::eco::host::run(arena, args_of(Operation::all_to_all, 0, out, in));
        for (std::size_t i = 0; i < in.size(); ++i)
            if (in[i] != static_cast<int>(i / count * 10 + arena.me())) return "the exchange is wrong";
    }
    return {};
}

std::shared_ptr<SharedMemory> opened(Channel& channel) {
    const auto told = channel.take(kLimit);
    Offer offer;
    if (!told || told->size() != sizeof offer) return nullptr;
    std::memcpy(&offer, told->data(), sizeof offer);
    return SharedMemory::open(offer);
}

} // namespace

TEST_CASE("members in different processes share memory, operations and each other's memory") {
    std::vector<std::unique_ptr<Process>> others; // forked before this process has threads
    for (Rank rank = 1; rank < kMembers; ++rank)
        others.push_back(std::make_unique<Process>([rank](Channel& channel) {
            const auto memory = opened(channel);
            if (memory == nullptr) return 3;
            SharedArena arena(memory, rank, kMembers, true);
            return take_part(arena).empty() ? 0 : 2;
        }));
    Offer offer;
    const auto memory = SharedMemory::create(plexus::eco::host::arena_bytes(kMembers), offer);
    REQUIRE(memory != nullptr);
    for (const auto& each : others) REQUIRE(each->channel().put(std::as_bytes(std::span(&offer, 1))));
    SharedArena arena(memory, 0, kMembers, true);
    CHECK(take_part(arena) == "");
    for (const auto& each : others) CHECK(each->wait(kLimit) == 0);
}

TEST_CASE("a member whose process was killed can't be read any more, and is named") {
    Process other([](Channel& channel) {
        const auto memory = opened(channel);
        if (memory == nullptr) return 3;
        SharedArena arena(memory, 1, 2, true);
        arena.announce_process();
        const std::byte done{1};
        channel.put(std::span(&done, 1));
        for (;;) ::pause();
        return 0;
    });
    Offer offer;
    const auto memory = SharedMemory::create(plexus::eco::host::arena_bytes(2), offer);
    REQUIRE(memory != nullptr);
    REQUIRE(other.channel().put(std::as_bytes(std::span(&offer, 1))));
    REQUIRE(other.channel().take(kLimit));
    SharedArena arena(memory, 0, 2, true);
    arena.announce_process();
    CHECK(arena.can_fetch_from_all());
    using plexus::eco::host::MemberPage;
    const auto& shown = memory->at<MemberPage>(plexus::eco::host::kPage + sizeof(MemberPage))->process;
    plexus::Cookie cookie{};
    arena.fetch(1, shown.cookie_address, reinterpret_cast<std::byte*>(cookie.data()), cookie.size());
    CHECK(cookie == shown.cookie);
    other.kill(SIGKILL);
    CHECK(other.wait(kLimit) == 128 + SIGKILL);
    Rank named = UINT32_MAX;
    try {
        arena.fetch(1, shown.cookie_address, reinterpret_cast<std::byte*>(cookie.data()), cookie.size());
    } catch (const plexus::eco::host::Unreadable& found) { named = found.member; }
    CHECK(named == 1);
    CHECK_FALSE(arena.can_fetch_from_all());
}

TEST_CASE("memory is read from that process only which shows its cookie") {
    using namespace plexus::eco::host;
    const plexus::eco::host::Process own = this_process();
    if (!can_fetch(own)) SKIP_TEST("this system permits no cross-memory attach");
    plexus::eco::host::Process other = own;
    other.cookie[0] ^= std::remove_reference_t<decltype(other.cookie[0])>{1};
    CHECK_FALSE(can_fetch(other));
    other = own;
    other.id = 0;
    CHECK_FALSE(can_fetch(other));
}

} // namespace processes_test
