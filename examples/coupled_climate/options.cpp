// SPDX-License-Identifier: BSD-3-Clause
#include "options.h"

#include <CLI/CLI.hpp>
#include <charconv>
#include <optional>
#include <string_view>

namespace climate {
namespace {

constexpr Grid kUsualGrid{192, 80};
constexpr Grid kSmallGrid{48, 24}; // communication dominates
constexpr int kUsualSteps = 2000;
constexpr int kQuickSteps = 800;
constexpr int kTableSteps = 400;
constexpr int kQuickTableSteps = 60;

std::optional<int> whole_number(std::string_view text) {
    int number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
    return number;
}

Grid read_grid(const std::string& text) {
    const std::size_t x = text.find('x');
    const auto columns = whole_number(std::string_view(text).substr(0, x));
    const auto rows =
        x == std::string::npos ? std::nullopt : whole_number(std::string_view(text).substr(x + 1));
    if (!columns || !rows || *columns < 8 || *rows < 4 || *columns > 20000 || *rows > 20000)
        throw Ending{2, "--grid takes columns x rows, from 8x4 to 20000x20000, for instance 192x80; not \"" +
                            text + "\""};
    return {*columns, *rows};
}

Experiment read_polling(const std::string& text) {
    using Polling = Experiment::Polling;
    if (text == "auto") return {"skip_poll auto", false, Polling::automatic};
    if (text == "selective") return {"selective tcp", false, Polling::selective};
    if (text == "blocking") return {"blocking tcp", false, Polling::blocking};
    if (text.starts_with("skip=")) {
        const auto turns = whole_number(std::string_view(text).substr(5));
        if (turns && *turns >= 1)
            return {"skip_poll " + std::to_string(*turns), false, Polling::skip,
                    static_cast<std::uint32_t>(*turns)};
    }
    throw Ending{2, "--polling takes selective, skip=K with K from 1 on, auto or blocking; not \"" + text +
                        "\""};
}

/// The rows of the paper's table, and ours.
std::vector<Experiment> table_rows(const std::vector<int>& skips) {
    std::vector<Experiment> rows{read_polling("selective")};
    for (const int turns : skips) rows.push_back(read_polling("skip=" + std::to_string(turns)));
    rows.push_back(read_polling("auto"));
    rows.push_back({"tcp only", true, Experiment::Polling::skip, 1});
    return rows;
}

} // namespace

Options read_options(const std::vector<std::string>& arguments, int contexts) {
    Options options;
    std::string grid, polling = "auto", methods = "multi", model, between;
    std::vector<int> skips{1, 100, 10000, 12000, 13000};
    bool quick = false;

    CLI::App app{
        "An atmosphere and an ocean, coupled: each on several contexts, shared memory or whatever is best\n"
        "inside each of them, tcp between both. Start it with: plexus run -n 6 -- coupled_climate"};
    app.name("coupled_climate");
    app.add_option("--grid", grid,
                   "cells of the atmosphere, columns x rows (default 192x80; with --table 48x24)");
    app.add_option("--ratio", options.ratio, "cells of the ocean along one of the atmosphere's")
        ->check(CLI::Range(1, 16))
        ->capture_default_str();
    app.add_option("--steps", options.steps,
                   "steps of the atmosphere, an even number (default 2000; 800 with --quick)")
        ->check(CLI::Range(2, 100'000'000));
    auto* const atmosphere_option = app.add_option(
        "--atmosphere", options.atmospheres, "contexts that compute the atmosphere (default two in three)");
    auto* const sites_option =
        app.add_option("--sites", options.sites,
                       "this job runs one model, another job the other one, and they meet at this URL:\n"
                       "that of plexus forward, or of a job with --serve; both need the same job.key_file")
            ->type_name("plexus://HOST:PORT")
            ->excludes(atmosphere_option);
    auto* const model_option =
        app.add_option("--model", model, "with --sites, the model of this job: atmosphere or ocean")
            ->check(CLI::IsMember({"atmosphere", "ocean"}))
            ->needs(sites_option);
    sites_option->needs(model_option);
    app.add_flag("--serve", options.serve, "this job listens at the URL of --sites")->needs(sites_option);
    app.add_option("--wait", options.wait, "seconds that a job waits for the other one")
        ->check(CLI::Range(1, 1'000'000))
        ->capture_default_str()
        ->needs(sites_option);
    app.add_option(
        "--between", between,
        "the method between the models: tcp, tls, forward, or auto for the best one (default tcp;\n"
        "with --sites auto)");
    auto* const methods_option =
        app.add_option("--methods", methods, "multi: the best one inside a model; tcp-only: tcp everywhere")
            ->check(CLI::IsMember({"multi", "tcp-only"}))
            ->capture_default_str();
    auto* const polling_option =
        app.add_option("--polling", polling, "how tcp is asked for work: selective, skip=K, auto or blocking")
            ->capture_default_str();
    app.add_flag("--table", options.table,
                 "runs selective, every --skips value, auto and tcp-only in turn and compares them")
        ->excludes(methods_option)
        ->excludes(polling_option);
    app.add_option("--skips", skips, "skip_poll values for --table")
        ->delimiter(',')
        ->check(CLI::Range(1, 1'000'000'000))
        ->capture_default_str();
    app.add_option("--repetitions", options.repetitions, "of each row of the table; medians are shown")
        ->check(CLI::Range(1, 1000))
        ->capture_default_str();
    app.add_option("--image", options.image,
                   "where the picture of the last moment goes (default climate.png; none: no picture)");
    app.add_flag("--quick", quick, "a shorter run");

    try {
        // CLI11 takes a vector from its end.
        app.parse(std::vector<std::string>(arguments.rbegin(), arguments.rend()));
    } catch (const CLI::CallForHelp&) { throw Ending{0, app.help()}; } catch (const CLI::ParseError& error) {
        throw Ending{2, std::string(error.what()) + "; see --help"};
    }

    if (options.steps % 2 != 0)
        throw Ending{2, "--steps takes an even number: the models meet every two steps"};
    if (options.steps == 0) {
        if (options.table)
            options.steps = quick ? kQuickTableSteps : kTableSteps;
        else
            options.steps = quick ? kQuickSteps : kUsualSteps;
    }
    if (quick && options.table) options.repetitions = std::min(options.repetitions, 3);
    options.grid = !grid.empty() ? read_grid(grid) : options.table ? kSmallGrid : kUsualGrid;
    if (options.atmospheres == 0 && options.sites.empty())
        options.atmospheres = Layout::usual_atmospheres(contexts);
    options.model = model == "ocean" ? Model::ocean : Model::atmosphere;
    options.between = !between.empty() ? between : options.sites.empty() ? "tcp" : "auto";
    if (options.image.empty() && !options.table) options.image = "climate.png";
    if (options.image == "none") options.image.clear();

    if (options.table) {
        options.experiments = table_rows(skips);
    } else {
        Experiment one = read_polling(polling);
        one.tcp_only = methods == "tcp-only";
        if (one.tcp_only && one.polling == Experiment::Polling::selective)
            throw Ending{
                2, "--polling selective needs another method inside the models: not with --methods tcp-only"};
        options.experiments = {one};
    }
    return options;
}

bool wants_blocking(int argc, const char* const* argv) {
    for (int k = 1; k < argc; ++k) {
        const std::string_view word = argv[k];
        if (word == "--polling=blocking") return true;
        if (word == "--polling" && k + 1 < argc && std::string_view(argv[k + 1]) == "blocking") return true;
    }
    return false;
}

} // namespace climate
