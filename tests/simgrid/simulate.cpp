// SPDX-License-Identifier: BSD-3-Clause
// Predicts broadcasts on a platform, carries them out in the simulation, and prints one line for each result.
//
// Usage: simulate PLATFORM ORDER SENDING CHOICE RULES SIZE... [--cfg=SIMGRID_OPTION...]
//
// ORDER is a file with the names of all hosts: the scattered ranks of the blind broadcasts. SENDING is
// at_once, in_turn or arrived, CHOICE plogp or judged. RULES are those whose schedules are carried out beside
// the chosen one: all, none, or names with commas between them. With all of them, patterns are carried out
// inside the largest cluster, too. Lines begin with their kind:
//   acquire SENDING WALL_S MODEL=LINKS...
//   plan    SENDING SPACING SIZE PATTERNS_WALL_S SCHEDULES_WALL_S PATTERN=CLUSTERS...
//   inside  SENDING SIZE MEMBERS PATTERN CHOSEN PREDICTED_S SIMULATED_S
//   whole   SENDING SPACING SIZE RULE CHOSEN PREDICTED_AFTER_S PREDICTED_OVERLAP_S SIMULATED_S
//   blind   SENDING SIZE ORDER SIMULATED_S
#include "grid.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <map>
#include <numeric>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

namespace s4u = simgrid::s4u;
using namespace plexus::eco;

namespace {

const char* to_string(Spacing spacing) { return spacing == Spacing::link ? "link" : "port"; }

std::string name_of(const AlgorithmOptions& options) {
    std::string out(plexus::eco::to_string(options.pattern));
    if (options.pattern == Pattern::tree) out += std::to_string(options.arity);
    if (options.pattern == Pattern::chain) out += "/" + std::to_string(options.segment_bytes);
    return out;
}

void print_counts(const std::map<std::string, std::size_t>& counts) {
    for (const auto& [name, count] : counts) std::printf(" %s=%zu", name.c_str(), count);
    std::printf("\n");
    std::fflush(stdout);
}

class Study {
  public:
    Study(const Grid& grid, Sending sending, Choice choice, std::string rules, std::uint64_t most_bytes)
      : grid_(grid)
      , sending_(sending)
      , rules_("," + std::move(rules) + ",")
      , sending_name_(::to_string(sending)) {
        const auto begin = std::chrono::steady_clock::now();
        models_ = acquire_models(grid, sending, choice, most_bytes);
        const std::chrono::duration<double> wall = std::chrono::steady_clock::now() - begin;
        std::map<std::string, std::size_t> taken;
        for (const auto& row : models_.between)
            for (const auto& link : row)
                if (const auto chosen = choose(link, most_bytes))
                    ++taken[std::string(plexus::eco::to_string(link[*chosen].kind))];
        std::printf("acquire %s %.3f", sending_name_.c_str(), wall.count());
        print_counts(taken);
    }

    /// All patterns in the largest cluster alone.
    void inside(std::uint64_t bytes) const {
        std::size_t cluster = 0;
        for (std::size_t other = 1; other < grid_.clusters(); ++other)
            if (grid_.size(other) > grid_.size(cluster)) cluster = other;
        const auto patterns = patterns_inside(grid_, models_, cluster, bytes);
        const PatternTime* const chosen = &earliest(patterns);
        for (const PatternTime& each : patterns) {
            const Program program = program_inside(grid_, cluster, bytes, each.options);
            std::printf("inside %s %lu %u %s %d %.9g %.9g\n", sending_name_.c_str(), bytes,
                        grid_.size(cluster), name_of(each.options).c_str(), &each == chosen, each.time_s,
                        play(grid_.hosts(), program, sending_));
            std::fflush(stdout);
        }
    }

    void whole(Spacing spacing, std::uint64_t bytes) const {
        const GridPrediction prediction = predict(grid_, models_, spacing, bytes);
        std::map<std::string, std::size_t> patterns;
        for (const PatternTime& each : prediction.inside) ++patterns[name_of(each.options)];
        std::printf("plan %s %s %lu %.6f %.6f", sending_name_.c_str(), to_string(spacing), bytes,
                    prediction.patterns_wall_s, prediction.schedules_wall_s);
        print_counts(patterns);
        // Rules often agree on the sends.
        std::map<std::vector<std::pair<std::size_t, std::size_t>>, double> known;
        for (std::size_t at = 0; at < prediction.schedules.size(); ++at) {
            const InterclusterSchedule& schedule = prediction.schedules[at];
            const std::string rule(plexus::eco::to_string(*schedule.rule));
            if (at != prediction.chosen && !takes(rule)) continue;
            std::vector<std::pair<std::size_t, std::size_t>> key;
            for (const ClusterSend& send : schedule.sends) key.emplace_back(send.from, send.to);
            const auto [place, is_new] = known.try_emplace(key, 0);
            if (is_new)
                place->second = play(grid_.hosts(),
                                     program_of(grid_, schedule.sends, prediction.inside, bytes), sending_);
            std::printf("whole %s %s %lu %s %d %.9g %.9g %.9g\n", sending_name_.c_str(), to_string(spacing),
                        bytes, rule.c_str(), at == prediction.chosen, schedule.after_s, schedule.overlap_s,
                        place->second);
            std::fflush(stdout);
        }
    }

    void blind(const std::vector<std::uint32_t>& order, const char* name, std::uint64_t bytes) const {
        AlgorithmOptions binomial;
        binomial.pattern = Pattern::binomial;
        std::printf("blind %s %lu %s %.9g\n", sending_name_.c_str(), bytes, name,
                    play(grid_.hosts(), program_of_all(order, bytes, binomial), sending_));
        std::fflush(stdout);
    }

    bool takes_all() const { return rules_ == ",all,"; }

  private:
    bool takes(const std::string& rule) const {
        return takes_all() || rules_.find("," + rule + ",") != std::string::npos;
    }

    const Grid& grid_;
    Sending sending_;
    std::string rules_;
    std::string sending_name_;
    GridModels models_;
};

std::vector<std::uint32_t> read_order(const Grid& grid, const char* path) {
    std::map<std::string, std::uint32_t> places;
    for (std::uint32_t at = 0; at < grid.hosts().size(); ++at) places[grid.hosts()[at]->get_name()] = at;
    std::vector<std::uint32_t> out;
    std::ifstream file(path);
    for (std::string name; file >> name;) {
        const auto place = places.find(name);
        if (place == places.end()) throw std::runtime_error(path + (": not in the platform: " + name));
        out.push_back(place->second);
    }
    if (out.size() != places.size())
        throw std::runtime_error(std::string(path) + " does not have each host of the platform");
    return out;
}

Sending sending_of(std::string_view name) {
    for (const Sending each : {Sending::at_once, Sending::in_turn, Sending::arrived})
        if (name == to_string(each)) return each;
    throw std::runtime_error("SENDING is at_once, in_turn or arrived, not " + std::string(name));
}

Choice choice_of(std::string_view name) {
    if (name == "plogp") return Choice::plogp;
    if (name == "judged") return Choice::judged;
    throw std::runtime_error("CHOICE is plogp or judged, not " + std::string(name));
}

struct Request {
    std::vector<std::uint32_t> scattered;
    Sending sending;
    Choice choice;
    std::string rules;
    std::vector<std::uint64_t> sizes;
};

void run(const Grid& grid, const Request& request) {
    std::vector<std::uint32_t> by_cluster(grid.hosts().size());
    std::iota(by_cluster.begin(), by_cluster.end(), 0);
    if (request.sending != Sending::arrived) take_over_latencies();
    const Study study(grid, request.sending, request.choice, request.rules,
                      *std::max_element(request.sizes.begin(), request.sizes.end()));
    for (const std::uint64_t bytes : request.sizes) {
        study.whole(Spacing::link, bytes);
        // Other senders are busy for as long as the link is.
        if (request.sending == Sending::at_once) study.whole(Spacing::port, bytes);
        study.blind(by_cluster, "by_cluster", bytes);
        study.blind(request.scattered, "scattered", bytes);
        if (study.takes_all()) study.inside(bytes);
    }
}

} // namespace

int main(int argc, char** argv) {
    s4u::Engine engine(&argc, argv);
    if (argc < 7) {
        std::fputs("usage: simulate PLATFORM ORDER SENDING CHOICE RULES SIZE...\n", stderr);
        return 2;
    }
    engine.load_platform(argv[1]);
    const Grid grid;
    Request request{read_order(grid, argv[2]), sending_of(argv[3]), choice_of(argv[4]), argv[5], {}};
    for (int at = 6; at < argc; ++at) request.sizes.push_back(std::stoull(argv[at]));
    s4u::Actor::create("study", grid.hosts().front(), [&] { run(grid, request); });
    engine.run();
}
