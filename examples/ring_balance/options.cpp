// SPDX-License-Identifier: BSD-3-Clause
#include "options.h"

#include <CLI/CLI.hpp>
#include <sstream>

namespace balance {
namespace {

/// "1:2.5": rank 1 is slower by 2.5.
void read_slow(const std::string& text, std::vector<double>& slowness) {
    std::istringstream in(text);
    std::uint32_t rank = 0;
    char colon = 0;
    double factor = 0;
    const bool read = static_cast<bool>(in >> rank >> colon >> factor) && in.peek() == EOF && text[0] != '-';
    if (!read || colon != ':' || rank >= slowness.size() || !(factor >= 1 && factor <= 1000))
        throw Ending{2, "--slow takes RANK:FACTOR, with a rank below " + std::to_string(slowness.size()) +
                            " and a factor from 1 to 1000, for instance 1:3; not \"" + text + "\""};
    slowness[rank] = factor;
}

} // namespace

Options read_options(const std::vector<std::string>& arguments, std::uint32_t members) {
    Options options;
    options.slowness.assign(members, 1);
    std::vector<std::string> slow;
    std::string load = "time";
    bool off = false;
    CLI::App app{
        "The Mandelbrot set, row by row, where rows cost what they cost: neighbours in a ring tell each\n"
        "other their loads and pass rows on. Start it with: plexus run -n 4 -- ring_balance"};
    app.name("ring_balance");
    app.add_option("--rows", options.rows, "of the picture")
        ->check(CLI::Range(1u, 100'000u))
        ->capture_default_str();
    app.add_option("--columns", options.columns, "of the picture")
        ->check(CLI::Range(1u, 100'000u))
        ->capture_default_str();
    app.add_option("--iterations", options.iterations, "how often every row is worked on")
        ->check(CLI::Range(1, 1'000'000))
        ->capture_default_str();
    app.add_option("--passes", options.passes, "of z*z + c over a row in each iteration")
        ->check(CLI::Range(1u, 1'000'000u))
        ->capture_default_str();
    app.add_option("--slow", slow, "RANK:FACTOR: that member does its work so many times; may be repeated");
    app.add_option("--load", load,
                   "time: what a member's processor took; work: what it computed, the same in every run")
        ->check(CLI::IsMember({"time", "work"}))
        ->capture_default_str();
    app.add_flag("--off", off, "every row stays where it is");
    app.add_option("--map", options.map,
                   "the measured network that the ring follows: a map or a plain matrix");

    try {
        // CLI11 takes a vector from its end.
        app.parse(std::vector<std::string>(arguments.rbegin(), arguments.rend()));
    } catch (const CLI::CallForHelp&) { throw Ending{0, app.help()}; } catch (const CLI::ParseError& error) {
        throw Ending{2, std::string(error.what()) + "; see --help"};
    }

    for (const std::string& each : slow) read_slow(each, options.slowness);
    options.balances = !off;
    options.counts_work = load == "work";
    if (options.rows < members)
        throw Ending{2, "every member needs a row: take --rows " + std::to_string(members) + " or more"};
    return options;
}

} // namespace balance
