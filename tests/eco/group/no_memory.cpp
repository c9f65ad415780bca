// SPDX-License-Identifier: BSD-3-Clause
// A member that finds no memory in the middle of a collective call: all are told who it was.
#include "eco/group/party.h"
#include "support/limit.h"

#include <barrier>
#include <optional>

namespace no_memory_test {

using namespace plexus;
using namespace plexus::eco;
using namespace plexus::testing;

namespace {

/// More than the C library keeps for a thread: it is refused when the address space is full.
constexpr std::size_t kLarge = std::size_t{72} << 20;

rlim_t hardly_more() { return address_space() + kLarge / 4; }

std::string ending_of(const std::function<void()>& call) {
    try {
        call();
        return "nothing";
    } catch (const Error& error) {
        return std::string(to_string(error.status())) + ": " + error.what();
    } catch (const std::bad_alloc&) { return "bad_alloc"; }
}

void check_all_name(const std::vector<std::string>& endings, const std::string& member) {
    for (const std::string& each : endings) {
        CAPTURE(each);
        CHECK(each.starts_with(std::string(to_string(Status::too_large)) + ": "));
        CHECK(each.find(member + " has no memory left for its call") != std::string::npos);
    }
}

} // namespace

TEST_CASE("a member that has no memory to pack a message breaks its group, and all calls end") {
    if (kSanitized) SKIP_TEST("a sanitizer needs all of the address space");
    const bool blocks = GENERATE(false, true); // the member with too little memory
    CAPTURE(blocks);
    const auto late = expect_warning("plexus.eco.arrive"); // for a member that has left by then
    constexpr Rank kRoot = 1; // what the members 3 and 0 get does not lie side by side
    Party party(4, "local");
    std::barrier<> entered(4);
    const std::vector<char> whole(2 * kLarge);
    std::optional<Limit> limit;
    const auto endings = party.run([&](const Group& all) -> std::string {
        const Group group = all.with(Pattern::binomial);
        std::vector<char> mine(kLarge / 2);
        return ending_of([&] {
            Future<void> done;
            if (all.rank() != kRoot)
                done = group.async().scatter(std::span<const char>(), std::span(mine), kRoot);
            entered.arrive_and_wait();
            if (all.rank() == kRoot) {
                limit.emplace(RLIMIT_AS, hardly_more());
                if (blocks) group.scatter(std::span(whole), std::span(mine), kRoot);
                done = group.async().scatter(std::span(whole), std::span(mine), kRoot);
            }
            if (!done.wait_for(kLimit * kPatience)) throw std::runtime_error("no end came");
            done.get();
        });
    });
    limit.reset();
    check_all_name(endings, "member 1");
}

TEST_CASE("a member that has no memory to keep a message breaks its group, and all calls end") {
    if (kSanitized) SKIP_TEST("a sanitizer needs all of the address space");
    const auto late = expect_warning("plexus.eco.arrive");
    Party party(4, "local");
    std::atomic<bool> root_waits{false};
    std::atomic<bool> broken{false};
    const std::vector<char> mine(kLarge);
    std::optional<Limit> limit;
    const auto endings = party.run([&](const Group& all) -> std::string {
        const Group group = all.with(Pattern::star);
        std::vector<char> sum(all.rank() == 0 ? kLarge : 0);
        // The root combines with what member 1 sends, and waits for member 2, who does not come.
        const auto combine = [&](char left, char right) {
            if (!root_waits) {
                limit.emplace(RLIMIT_AS, hardly_more());
                root_waits = true;
            }
            return static_cast<char>(left + right);
        };
        return ending_of([&] {
            if (all.rank() == 3) (void)eventually(kLimit, [&] { return root_waits.load(); });
            if (all.rank() == 2) (void)eventually(kLimit, [&] { return broken.load(); });
            try {
                group.reduce(std::span(mine), std::span(sum), combine, 0);
                for (;;) group.barrier();
            } catch (...) {
                broken = true;
                throw;
            }
        });
    });
    limit.reset();
    check_all_name(endings, "member 0");
}

} // namespace no_memory_test
