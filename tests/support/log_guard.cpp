// SPDX-License-Identifier: BSD-3-Clause
#include "support/log_guard.h"

#include "base/log.h"

#include <algorithm>
#include <cstdio>
#include <mutex>

namespace plexus::testing {
namespace {

struct Expectation {
    const ExpectWarning* owner;
    std::string part;
    std::vector<std::string> taken;
};

struct Watch {
    std::mutex mutex;
    std::vector<Expectation> expectations;
    std::size_t unexpected = 0;
};

// Never destroyed: threads may log while the process ends.
Watch& watch() {
    static Watch& the = *new Watch;
    return the;
}

// True if the innermost expectation that fits has taken the line. A broken promise is
// taken only by who names it.
bool taken(Watch& w, std::string_view text, bool promise) {
    const auto fits = std::find_if(w.expectations.rbegin(), w.expectations.rend(), [&](const Expectation& e) {
        return text.find(e.part) != std::string_view::npos && !(promise && e.part.empty());
    });
    if (fits == w.expectations.rend()) return false;
    fits->taken.emplace_back(text);
    return true;
}

void print(const char* what, std::string_view subsystem, std::string_view text) {
    std::fprintf(stderr, "%s[%.*s] %.*s\n", what, static_cast<int>(subsystem.size()), subsystem.data(),
                 static_cast<int>(text.size()), text.data());
}

void take_line(log::Level level, std::string_view subsystem, std::string_view text) {
    if (level < log::Level::warn) {
        print("", subsystem, text);
        return;
    }
    Watch& w = watch();
    const std::lock_guard hold(w.mutex);
    if (taken(w, text, false)) return;
    ++w.unexpected;
    print("unexpected in the log: ", subsystem, text);
}

} // namespace

ExpectWarning::ExpectWarning(std::string part) {
    Watch& w = watch();
    const std::lock_guard hold(w.mutex);
    w.expectations.push_back({this, std::move(part), {}});
}

ExpectWarning::~ExpectWarning() {
    Watch& w = watch();
    const std::lock_guard hold(w.mutex);
    std::erase_if(w.expectations, [this](const Expectation& e) { return e.owner == this; });
}

std::vector<std::string> ExpectWarning::lines() const {
    Watch& w = watch();
    const std::lock_guard hold(w.mutex);
    for (const Expectation& e : w.expectations)
        if (e.owner == this) return e.taken;
    return {};
}

std::size_t ExpectWarning::count() const { return lines().size(); }

LogGuard::LogGuard()
  : before_(unexpected_lines()) {}

std::size_t LogGuard::unexpected() const { return unexpected_lines() - before_; }

void watch_log() { log::set_sink(take_line); }

std::size_t unexpected_lines() {
    Watch& w = watch();
    const std::lock_guard hold(w.mutex);
    return w.unexpected;
}

void report_violation(const std::string& sentence) {
    Watch& w = watch();
    const std::lock_guard hold(w.mutex);
    if (taken(w, sentence, true)) return;
    ++w.unexpected;
    std::fprintf(stderr, "broken promise: %s\n", sentence.c_str());
}

} // namespace plexus::testing
