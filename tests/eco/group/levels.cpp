// SPDX-License-Identifier: BSD-3-Clause
// Groups whose calls go by a pattern for each level: what they give, and what they know of sockets and hosts.
#include "eco/group/party.h"

#include "group/own_socket.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <numeric>
#include <sched.h>

namespace levels_test {

using namespace plexus;
using namespace plexus::eco;
using namespace plexus::testing;
using Catch::Matchers::Contains;

namespace {

/// Two hosts; on the first two sockets with two members each, on the second a socket with three members.
GroupOptions on_sockets(Rank rank) {
    GroupOptions options;
    options.host = rank < 4 ? "a" : "b";
    options.socket = rank < 4 && rank % 2 == 0 ? "0" : "1";
    return options;
}

const Algorithm kTwo = *parse_algorithm("levels:star/binomial");

/// Members of whom two are on different sockets of host a, for a plan by kTwo.
std::size_t between_sockets(const Plan& plan) {
    std::size_t count = 0;
    for (const Message& each : plan.messages)
        count += each.from < 4 && each.to < 4 && each.from % 2 != each.to % 2;
    return count;
}

std::string try_every_operation(const Group& all) {
    const Rank size = all.size();
    for (const std::size_t n : {std::size_t{1}, std::size_t{5000}})
        for (Rank root = 0; root < size; root += 3) {
            std::vector<std::uint64_t> data(n, all.rank() == root ? 7 + root : 0);
            all.broadcast(std::span(data), root);
            if (data.front() != 7 + root || data.back() != 7 + root) return "broadcast";
            all.reduce(std::span(data), std::plus<>{}, root);
            if (all.rank() == root && data.back() != (7 + root) * size) return "reduce";
            std::fill(data.begin(), data.end(), std::uint64_t{1});
            all.all_reduce(std::span(data), std::plus<>{});
            if (data.front() != size || data.back() != size) return "all_reduce";
            all.barrier();
        }
    return {};
}

class ProcessorFiles {
  public:
    ProcessorFiles()
      : folder_(std::filesystem::temp_directory_path() / ("plexus-sockets-" + std::to_string(::getpid()))) {}
    ~ProcessorFiles() { std::filesystem::remove_all(folder_); }
    void add(std::size_t processor, std::string_view package) const {
        const auto place = folder_ / ("cpu" + std::to_string(processor)) / "topology";
        std::filesystem::create_directories(place);
        std::ofstream(place / "physical_package_id") << package << '\n';
    }
    const std::filesystem::path& folder() const { return folder_; }

  private:
    std::filesystem::path folder_;
};

} // namespace

TEST_CASE("calls by level give what they should, on sockets, hosts and all") {
    Party party(7, "local");
    const auto said = party.run_with(on_sockets, [](const Group& all) -> std::string {
        for (const char* const text : {"levels:butterfly/binomial", "levels:chain:8KiB/star",
                                       "levels:ring/butterfly", "levels:star/binomial/chain"}) {
            const Group by = all.with(*parse_algorithm(text));
            if (std::string_view(text).find("ring") == std::string_view::npos) {
                if (std::string bad = try_every_operation(by); !bad.empty())
                    return std::string(text) + ": " + bad;
                continue;
            }
            std::vector<std::uint64_t> data(3000, by.rank());
            by.all_reduce(std::span(data), std::plus<>{});
            if (data.back() != 21) return std::string(text) + ": all_reduce";
        }
        // One message from the root's socket to the other socket of its host, and one to the other host.
        const Plan plan = all.with(kTwo).plan_of({Operation::broadcast, 7, 2, 100, 8, true});
        if (!prove(plan)) return "the plan proves wrong";
        std::size_t between_hosts = 0;
        for (const Message& each : plan.messages) between_hosts += (each.from < 4) != (each.to < 4);
        return between_sockets(plan) == 1 && between_hosts == 1 ? "" : "the plan crosses too often";
    });
    CHECK(complaints(said) == "");
}

TEST_CASE("members that choose other levels are named, and what has no levels is refused") {
    Party party(4, "local");
    const auto said = party.run_with(on_sockets, [](const Group& all) -> std::string {
        try {
            std::vector<int> data(4);
            const std::vector<std::uint64_t> ones(4, 1);
            std::vector<int> into(4);
            all.with(*parse_algorithm("levels:chain/star"))
                .all_to_all_v(std::span(data), Layout{ones, {}}, std::span(into), Layout{ones, {}});
            return "a v form went by level";
        } catch (const Error& error) {
            if (error.code() != Status::unsupported) return error.what();
        }
        const char* const mine = all.rank() == 3 ? "levels:chain/star" : "levels:star/chain";
        try {
            std::vector<int> data(4);
            all.with(*parse_algorithm(mine)).all_reduce(std::span(data), std::plus<>{});
            return "different levels went unnoticed";
        } catch (const Error& error) {
            const std::string_view why = error.what();
            return why.find("member 3") != why.npos || all.rank() == 3 ? "" : error.what();
        }
    });
    CHECK(complaints(said) == "");
}

TEST_CASE("levels that join nothing do not count, without a map either") {
    // Four hosts of one member: the last pattern is for all of them.
    Party four(4, "local");
    const auto apart = four.run_with(on_hosts("abcd"), [](const Group& all) -> std::string {
        const PlanRequest request{Operation::broadcast, 4, 0, 1, 8, true};
        const Plan by = all.with(*parse_algorithm("levels:chain/star")).plan_of(request);
        return by.steps[0].size() == 3 ? "" : "the root does not send to all";
    });
    CHECK(complaints(apart) == "");
    // A member that is on no socket in particular: its host counts as one socket.
    const auto loose = four.run_with(
        [](Rank rank) {
            GroupOptions options;
            options.host = "a";
            options.socket = rank == 0 ? std::string() : std::to_string(rank % 2);
            return options;
        },
        [](const Group& all) -> std::string {
            const Plan by = all.with(*parse_algorithm("levels:chain/star"))
                                .plan_of({Operation::broadcast, 4, 0, 1, 8, true});
            // The system may know the socket of this process: then member 0 has a name.
            const bool has_socket = !eco::detail::own_socket().empty();
            return has_socket || by.steps[0].size() == 3 ? "" : "sockets count where one is not known";
        });
    CHECK(complaints(loose) == "");
}

TEST_CASE(
    "what eco chooses by level is carried out: all_gather, reduce_scatter and all_to_all, and v forms") {
    Party party(7, "local");
    const auto said = party.run_with(on_sockets, [](const Group& whole) -> std::string {
        for (const char* const text :
             {"levels:pairwise/pairwise", "levels:butterfly/chain", "levels:bruck/binomial"}) {
            const Algorithm by = *parse_algorithm(text);
            const Group all = whole.with(by);
            const Rank size = all.size();
            for (const std::size_t n : {std::size_t{1}, std::size_t{3000}}) {
                std::vector<std::uint64_t> mine(n, all.rank());
                std::vector<std::uint64_t> whole_vector(n * size);
                if (supports(by, Operation::all_gather)) {
                    all.all_gather(std::span(mine), std::span(whole_vector));
                    for (std::size_t i = 0; i < whole_vector.size(); ++i)
                        if (whole_vector[i] != i / n) return std::string(text) + ": all_gather";
                    const std::vector<std::uint64_t> counts{n, 0, n, n, 0, n, n};
                    std::vector<std::uint64_t> varied(5 * n);
                    all.all_gather_v(std::span(mine).first(counts[all.rank()]), std::span(varied),
                                     Layout{counts, {}});
                    if (varied.front() != 0 || varied.back() != 6)
                        return std::string(text) + ": all_gather_v";
                }
                if (supports(by, Operation::reduce_scatter)) {
                    for (std::size_t i = 0; i < whole_vector.size(); ++i) whole_vector[i] = i / n;
                    all.reduce_scatter(std::span(whole_vector), std::span(mine), std::plus<>{});
                    if (mine.front() != all.rank() * size || mine.back() != all.rank() * size)
                        return std::string(text) + ": reduce_scatter";
                }
                if (supports(by, Operation::all_to_all)) {
                    std::fill(whole_vector.begin(), whole_vector.end(), all.rank());
                    all.all_to_all(std::span(whole_vector));
                    for (std::size_t i = 0; i < whole_vector.size(); ++i)
                        if (whole_vector[i] != i / n) return std::string(text) + ": all_to_all";
                }
            }
        }
        return {};
    });
    CHECK(complaints(said) == "");
}

TEST_CASE("by level go calls with a future and persistent ones, and values of any length go without") {
    Party party(7, "local");
    const auto said = party.run_with(on_sockets, [](const Group& whole) -> std::string {
        const Group all = whole.with(*parse_algorithm("levels:butterfly/chain:64B"));
        std::vector<std::uint64_t> data(100, all.rank());
        all.async().all_reduce(std::span(data), std::plus<>{}).get();
        if (data.front() != 21 || data.back() != 21) return "a call with a future";
        auto again = all.prepare().broadcast(std::span(data), 5);
        for (std::uint64_t turn = 0; turn < 3; ++turn) {
            if (all.rank() == 5) std::fill(data.begin(), data.end(), turn);
            again.run();
            if (data.back() != turn) return "a persistent call";
        }
        std::string text = all.rank() == 3 ? "three" : "";
        all.broadcast(text, 3);
        return text == "three" ? "" : "a value of any length";
    });
    CHECK(complaints(said) == "");
}

TEST_CASE("levels without a pattern are refused, and a host's name may have line breaks") {
    Party party(2, "local");
    const auto said = party.run_with(
        [](Rank rank) {
            GroupOptions options;
            options.host = rank == 0 ? "one\nhost" : "\n";
            return options;
        },
        [](const Group& all) -> std::string {
            if (all.host_of(0) != "one\nhost" || all.host_of(1) != "\n") return "hosts";
            try {
                int value = 0;
                all.with(Algorithm::by_level({})).broadcast(std::span(&value, 1));
                return "a call without a pattern";
            } catch (const Error& error) {
                if (error.status() != Status::bad_argument) return error.what();
            }
            all.barrier();
            return {};
        });
    CHECK(complaints(said) == "");
}

TEST_CASE("a socket's name is one line") {
    Party party(1, "local");
    GroupOptions options;
    options.socket = "left\nright";
    CHECK_THAT(party.run([](const Group&) { return ""; }, options).front(), Contains("in one line"));
    options.socket = std::string(256, 's');
    CHECK_THAT(party.run([](const Group&) { return ""; }, options).front(), Contains("255"));
}

TEST_CASE("a process on one package is on that socket, on several on none in particular") {
    const ProcessorFiles files;
    for (const std::size_t each : {0, 1, 2, 3}) files.add(each, each < 2 ? "0" : "7");
    files.add(4, "-1");
    files.add(5, "none");
    CHECK(eco::detail::socket_of({0, 1}, files.folder()) == "0");
    CHECK(eco::detail::socket_of({3}, files.folder()) == "7");
    CHECK(eco::detail::socket_of({1, 2}, files.folder()).empty());
    CHECK(eco::detail::socket_of({2, 4}, files.folder()).empty());
    CHECK(eco::detail::socket_of({5}, files.folder()).empty());
    CHECK(eco::detail::socket_of({2, 9}, files.folder()).empty());
    CHECK(eco::detail::socket_of({}, files.folder()).empty());
}

TEST_CASE("the socket of this process is that of each of its processors, or none") {
    cpu_set_t set;
    REQUIRE(::sched_getaffinity(0, sizeof set, &set) == 0);
    std::vector<std::size_t> usable;
    for (std::size_t processor = 0; processor < CPU_SETSIZE; ++processor)
        if (CPU_ISSET(processor, &set)) usable.push_back(processor);
    const std::string whole = eco::detail::own_socket();
    CHECK(whole == eco::detail::socket_of(usable));
    for (const std::size_t each : usable)
        if (!whole.empty()) CHECK(eco::detail::socket_of({each}) == whole);
}

} // namespace levels_test
