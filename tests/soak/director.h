// SPDX-License-Identifier: BSD-3-Clause
// Leads a soak: starts four members, kills and restarts them, stops them for a while, cuts their
// connections, lets them form groups, and settles all accounts at the end. It has no threads and no
// context of its own, so that it can fork at any time.
#pragma once

#include "soak/ledger.h"
#include "soak/member.h"
#include "unit/context/key_file.h"

#include <array>
#include <memory>
#include <optional>
#include <random>
#include <string>

namespace plexus::soak {

struct SoakOptions {
    std::chrono::seconds time{1800};
    std::uint64_t seed = 1;
    std::string methods;
};

class Director {
  public:
    explicit Director(const SoakOptions& options);
    /// Runs to the end, prints the table. True: everything is accounted for.
    bool run();

  private:
    static constexpr std::uint32_t kRanks = 4;
    struct Place {
        std::unique_ptr<testing::Process> process;
        Life life = 0;
        std::vector<std::byte> pointer;
        std::string group; ///< that it works in; empty: none
    };
    struct Report {
        std::map<Life, Sent> sent;
        std::map<Life, Received> received;
    };
    struct Totals {
        std::uint64_t kills = 0, stops = 0, cuts_asked = 0;
        std::uint64_t groups = 0, groups_ended_ok = 0, groups_broken = 0;
        std::array<std::uint64_t, 10> deeds{}; // as the word 'd' of a member says them
    };

    void start(std::uint32_t rank);
    void introduce(std::uint32_t rank);
    void disturb();
    void kill(std::uint32_t rank);
    void stop_for_a_while(std::uint32_t rank);
    void begin_group();
    void listen(std::chrono::milliseconds time);
    void take_word(std::uint32_t rank, const std::string& word);
    bool end_group(std::chrono::seconds limit);
    void collect();
    void settle();
    Holdings holdings_of_survivor() const;
    void check_survivor();
    void print() const;
    void blame(const std::string& what);

    const SoakOptions options_;
    std::mt19937_64 random_;
    testing::KeyFile key_;
    std::unique_ptr<testing::Process> directory_;
    std::string url_;
    std::array<Place, kRanks> places_;
    std::map<Life, Report> reports_;
    std::set<Life> dead_;
    Life next_life_ = 1;
    Holdings at_start_{}, at_end_{};
    std::uint64_t warm_resident_ = 0; ///< of the survivor, bytes
    std::size_t stopped_ = 0, reported_ = 0;
    bool group_disturbed_ = false;
    Totals totals_;
    Balance balance_;
    std::uint64_t repeated_ = 0, late_ = 0, lost_alive_ = 0;
    std::vector<std::string> blames_;
};

} // namespace plexus::soak
