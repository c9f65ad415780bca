// SPDX-License-Identifier: BSD-3-Clause
// `plexus schedule table`: the paper's Tables 1 and 3 (rounds) and 5 and 6 (success and time), printed values
// beside ours.
#include "tools/common/json.h"
#include "tools/common/text_table.h"
#include "tools/common/usage.h"
#include "tools/schedule/arguments.h"
#include "tools/schedule/paper.h"
#include "tools/verb.h"

#include <algorithm>
#include <cstdio>
#include <fmt/format.h>

namespace plexus::tools::schedule {
namespace {

constexpr Seconds kUsualTime{10};
constexpr std::uint32_t kMostRuns = 1000;

struct TableOptions {
    Search search;
    std::uint32_t runs;
    std::uint64_t seed;       ///< of the first run; the next ones have the next
    Seconds time;             ///< of each search
    bool paper_alone = false; ///< runs of umda look for the paper's number of rounds alone
};

/// What the runs of one collective on one network with one root gave.
struct Sample {
    std::string_view network;
    eco::CollectiveKind kind = eco::CollectiveKind::oab;
    std::uint32_t root = 0;
    std::uint32_t paper = 0; ///< rounds of the paper's search
    std::uint32_t runs = 0;
    std::uint32_t failed = 0; ///< without a schedule
    std::uint32_t at_bound = 0;
    std::uint32_t as_paper = 0; ///< in so few rounds as the paper's search, or fewer
    std::size_t best = 0;       ///< rounds of the shortest schedule; 0: there is none
    std::size_t worst = 0;
    eco::RoundBound bound;
    Seconds all{0};
    Seconds successful{0}; ///< of the runs `as_paper`
};

Sample sample_of(const PaperRow& row, eco::CollectiveKind kind, std::size_t place,
                 const TableOptions& options) {
    const eco::LinkGraph graph = eco::named_graph(row.network);
    const std::uint32_t paper = paper_rounds(row, kind)[place];
    Sample out;
    out.network = row.network;
    out.kind = kind;
    out.root = paper_roots(row, kind)[place];
    out.paper = paper;
    out.runs = options.runs;
    for (std::uint32_t run = 0; run < options.runs; ++run) {
        const Found found = search_once({graph, kind, out.root, options.search, options.seed + run,
                                         options.time, options.paper_alone ? paper : 0});
        const std::size_t rounds = found.result.schedule.rounds.size();
        out.bound = found.result.bound;
        out.all += found.took;
        if (rounds == 0) {
            ++out.failed;
            continue;
        }
        out.best = out.best == 0 ? rounds : std::min(out.best, rounds);
        out.worst = std::max(out.worst, rounds);
        if (found.result.optimal()) ++out.at_bound;
        if (rounds <= paper) {
            ++out.as_paper;
            out.successful += found.took;
        }
    }
    return out;
}

std::string to_json(const Sample& sample, const PaperCell& cell) {
    json::Object out;
    out.add("network", sample.network)
        .add("collective", eco::to_string(sample.kind))
        .add("root", sample.root);
    out.add("runs", sample.runs).add("failed", sample.failed).add("at_bound", sample.at_bound);
    out.add("as_paper", sample.as_paper).add("best", sample.best).add("worst", sample.worst);
    out.add("bound", sample.bound.rounds)
        .add("reason", sample.bound.reason)
        .add("seconds", sample.all.count());
    const bool succeeded = sample.as_paper > 0;
    out.raw("seconds_of_success",
            succeeded ? json::number(sample.successful.count() / sample.as_paper) : std::string("null"));
    json::Object paper;
    paper.add("rounds", cell.rounds).add("success", cell.success).add("time", cell.time);
    return out.raw("paper", paper.text()).text();
}

std::vector<std::string> head(const std::vector<std::string>& behind) {
    std::vector<std::string> out{"network"};
    for (const eco::CollectiveKind kind : eco::kCollectiveKinds) {
        out.emplace_back(eco::to_string(kind));
        out.insert(out.end(), behind.begin(), behind.end());
    }
    return out;
}

std::string joined(const std::string& front, const std::string& more) {
    return front.empty() ? more : front + "/" + more;
}

/// Table 1 or 3; the worst of the runs counts.
class RoundsTable {
  public:
    explicit RoundsTable(const TableOptions& options)
      : options_(options)
      , table_(head({"bound", "paper"})) {}

    void add(const PaperRow& row) {
        std::vector<std::string> cells{std::string(row.network)};
        for (const eco::CollectiveKind kind : eco::kCollectiveKinds) {
            std::string rounds;
            std::string bounds;
            for (std::size_t place = 0; place < paper_roots(row, kind).size(); ++place) {
                const Sample sample = sample_of(row, kind, place, options_);
                rounds = joined(rounds, sample.failed > 0 ? "-" : std::to_string(sample.worst));
                bounds = joined(bounds, std::to_string(sample.bound.rounds));
                json_.push_back(to_json(sample, row.cell(kind)));
                took_ += sample.all;
                searches_ += sample.runs;
            }
            cells.insert(cells.end(), {rounds, bounds, std::string(row.cell(kind).rounds)});
        }
        table_.add(std::move(cells));
    }

    std::string json() const { return json::list(json_); }

    void print(int number) const {
        std::printf("Table %d: rounds, the bound, and rounds in the paper\n\n", number);
        table_.print(stdout);
        std::printf("\n%zu searches took %.3g s\n", searches_, took_.count());
    }

  private:
    const TableOptions& options_;
    TextTable table_;
    std::vector<std::string> json_;
    std::size_t searches_ = 0;
    Seconds took_{0};
};

/// Tables 5 and 6, of the same runs. Of a full binary tree the root is a leaf.
class SuccessTables {
  public:
    explicit SuccessTables(const TableOptions& options)
      : options_(options)
      , rates_(head({"bound", "paper"}))
      , times_(head({"paper"})) {}

    void add(const PaperRow& row) {
        std::vector<std::string> rates{std::string(row.network)};
        std::vector<std::string> times = rates;
        for (const eco::CollectiveKind kind : eco::kCollectiveKinds) {
            const Sample sample = sample_of(row, kind, 0, options_);
            const PaperCell& cell = row.cell(kind);
            rates.insert(rates.end(),
                         {percent(sample.as_paper), looks_for_bound(sample) ? percent(sample.at_bound) : "-",
                          std::to_string(cell.success)});
            times.insert(times.end(),
                         {sample.as_paper == 0
                              ? "-"
                              : fmt::format("{:.3g}s", sample.successful.count() / sample.as_paper),
                          std::string(cell.time)});
            json_.push_back(to_json(sample, cell));
        }
        rates_.add(std::move(rates));
        times_.add(std::move(times));
    }

    std::string json() const { return json::list(json_); }

    void print_rates() const {
        std::printf(
            "Table 5: %u runs; per cent in as few rounds as the paper's search, at the bound, and in the "
            "paper.\nA run of umda looks for the paper's number of rounds alone, and ends with it.\n\n",
            options_.runs);
        rates_.print(stdout);
    }
    void print_times() const {
        std::printf(
            "Table 6: mean time of the runs in as few rounds as the paper's search, and in the paper\n\n");
        times_.print(stdout);
    }

  private:
    /// Runs for the paper's number of rounds alone do not look for fewer.
    bool looks_for_bound(const Sample& sample) const {
        return options_.search != Search::umda || sample.paper <= sample.bound.rounds;
    }
    std::string percent(std::uint32_t runs) const {
        return std::to_string((100 * runs + options_.runs / 2) / options_.runs);
    }

    const TableOptions& options_;
    TextTable rates_;
    TextTable times_;
    std::vector<std::string> json_;
};

bool is_wanted(const std::string& only, const char* table) { return only.empty() || only == table; }

void separate(bool& first) {
    if (!first) std::printf("\n");
    first = false;
}

} // namespace

int print_tables(const Options& options) {
    const std::string& only = options.table.only;
    if (!options.words.empty()) usage_error("schedule", "table takes options alone");
    if (!only.empty() && only != "1" && only != "3" && only != "5" && only != "6")
        usage_error("schedule", "--only takes 1, 3, 5 or 6, not \"" + only + "\"");
    const TableOptions rounds{search_of(options.search, Search::fast),
                              count_of(options.table.runs, "--runs", 1, kMostRuns), seed_of(options),
                              time_of(options, kUsualTime)};
    const TableOptions success{search_of(options.search, Search::umda),
                               count_of(options.table.runs, "--runs", 10, kMostRuns), rounds.seed,
                               rounds.time, true};
    json::Object out;
    bool first = true;
    for (const int number : {1, 3})
        if (is_wanted(only, number == 1 ? "1" : "3")) {
            RoundsTable table(rounds);
            for (const PaperRow& row : paper_rows(number)) table.add(row);
            out.raw(fmt::format("table{}", number), table.json());
            if (options.json) continue;
            separate(first);
            table.print(number);
            std::fflush(stdout);
        }
    if (is_wanted(only, "5") || is_wanted(only, "6")) {
        SuccessTables tables(success);
        for (const int number : {1, 3})
            for (const PaperRow& row : paper_rows(number)) tables.add(row);
        for (const char* number : {"5", "6"})
            if (is_wanted(only, number)) out.raw(fmt::format("table{}", number), tables.json());
        for (const char* number : {"5", "6"})
            if (is_wanted(only, number) && !options.json) {
                separate(first);
                *number == '5' ? tables.print_rates() : tables.print_times();
            }
    }
    if (options.json) std::printf("%s\n", out.text().c_str());
    return kOk;
}

} // namespace plexus::tools::schedule
