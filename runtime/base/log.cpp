// SPDX-License-Identifier: BSD-3-Clause
#include "base/log.h"

#include "base/fork.h"
#include "base/log_names.h"
#include "base/mutex.h"

#include <atomic>
#include <map>
#include <set>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

namespace plexus::log {
namespace {

struct State {
    RankedMutex<60> mutex;
    Level common PLEXUS_GUARDED_BY(mutex) = Level::warn;
    std::map<std::string, Level, std::less<>> special PLEXUS_GUARDED_BY(mutex);
    Sink sink PLEXUS_GUARDED_BY(mutex);
    std::multiset<std::string, std::less<>> names PLEXUS_GUARDED_BY(mutex);
    std::string shown_names PLEXUS_GUARDED_BY(mutex); // "solver, viewer ": each once, a space behind
    spdlog::logger logger{"plexus", std::make_shared<spdlog::sinks::stderr_sink_mt>()};
    // The lowest level that anybody asked for: below it one load decides.
    std::atomic<Level> floor{Level::warn};

    State() {
        logger.set_level(spdlog::level::trace);
        logger.set_pattern("%Y-%m-%d %H:%M:%S.%f plexus %P %l %v");
        logger.flush_on(spdlog::level::trace);
    }
};

// Never destroyed: threads of the program may log while it ends.
State& state() {
    static State& the = *new State;
    return the;
}
const HeldAcrossFork kStateAcrossFork{state().mutex};

constexpr std::string_view kNames[] = {"trace", "debug", "info", "warn", "error", "off"};

Result<Level> level_of(std::string_view name) {
    for (std::size_t i = 0; i < std::size(kNames); ++i)
        if (kNames[i] == name) return static_cast<Level>(i);
    return fail(Status::bad_config, "\"{}\" is no log level: use trace, debug, info, warn, error or off",
                name);
}

void show_names(State& s) PLEXUS_REQUIRES(s.mutex) {
    s.shown_names.clear();
    for (auto name = s.names.begin(); name != s.names.end(); name = s.names.upper_bound(*name))
        s.shown_names += (s.shown_names.empty() ? "" : ", ") + *name;
    if (!s.shown_names.empty()) s.shown_names += ' ';
}

} // namespace

bool enabled(Level level, std::string_view subsystem) noexcept {
    State& s = state();
    if (level < s.floor.load(std::memory_order_relaxed)) return false;
    Lock hold(s.mutex);
    const auto found = s.special.find(subsystem);
    return level >= (found == s.special.end() ? s.common : found->second);
}

void write(Level level, std::string_view subsystem, std::string_view text) {
    if (!enabled(level, subsystem)) return;
    State& s = state();
    Lock hold(s.mutex);
    if (s.sink) {
        s.sink(level, subsystem, text);
    } else {
        s.logger.log(static_cast<spdlog::level::level_enum>(level), "{}[{}] {}", s.shown_names, subsystem,
                     text);
    }
}

Result<void> set_filter(std::string_view filter) {
    Level common = Level::warn;
    Level floor = Level::off;
    std::map<std::string, Level, std::less<>> special;
    while (!filter.empty()) {
        const std::size_t comma = filter.find(',');
        const std::string_view item = filter.substr(0, comma);
        filter = comma == std::string_view::npos ? std::string_view{} : filter.substr(comma + 1);
        const std::size_t equals = item.find('=');
        const auto level = level_of(equals == std::string_view::npos ? item : item.substr(equals + 1));
        if (!level) return level.failure();
        if (equals == std::string_view::npos) {
            common = *level;
        } else {
            special[std::string(item.substr(0, equals))] = *level;
            floor = std::min(floor, *level);
        }
    }
    State& s = state();
    Lock hold(s.mutex);
    s.common = common;
    s.special = std::move(special);
    s.floor.store(std::min(floor, common), std::memory_order_relaxed);
    return {};
}

Name::Name(std::string name)
  : name_(std::move(name)) {
    State& s = state();
    Lock hold(s.mutex);
    s.names.insert(name_);
    show_names(s);
}

Name::~Name() {
    State& s = state();
    Lock hold(s.mutex);
    s.names.erase(s.names.find(name_));
    show_names(s);
}

void set_sink(Sink sink) {
    State& s = state();
    Lock hold(s.mutex);
    s.sink = std::move(sink);
}

} // namespace plexus::log
