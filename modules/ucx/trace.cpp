// SPDX-License-Identifier: BSD-3-Clause
#include "ucx/trace.h"

#include "base/lock.h"

#include <array>
#include <cstdarg>
#include <cstdio>
#include <utility>

extern "C" {
#include <ucs/debug/log_def.h>
}

namespace plexus::ucx {
namespace {

constexpr std::size_t kMostLines = 16;

// Small enough for the room that the loader keeps for late comers; asked for in every turn.
__attribute__((tls_model("initial-exec"))) thread_local Trace* innermost = nullptr;

Mutex uses_mutex;
int uses PLEXUS_GUARDED_BY(uses_mutex) = 0;

__attribute__((format(printf, 6, 0))) ucs_log_func_rc_t take_line(const char*, unsigned, const char*,
                                                                  ucs_log_level_t level,
                                                                  const ucs_log_component_config_t*,
                                                                  const char* message, va_list arguments) {
    if (innermost == nullptr || level > UCS_LOG_LEVEL_WARN) return UCS_LOG_FUNC_RC_CONTINUE;
    std::array<char, 1024> room{};
    va_list copy;
    va_copy(copy, arguments);
    const int size = std::vsnprintf(room.data(), room.size(), message, copy);
    va_end(copy);
    if (size > 0) innermost->add(room.data());
    return UCS_LOG_FUNC_RC_STOP;
}

} // namespace

TraceUse::TraceUse() {
    const Lock hold(uses_mutex);
    if (uses++ == 0) ::ucs_log_push_handler(take_line);
}

TraceUse::~TraceUse() {
    const Lock hold(uses_mutex);
    if (--uses == 0) ::ucs_log_pop_handler();
}

Trace::Trace() noexcept
  : outer_(std::exchange(innermost, this)) {}

Trace::~Trace() { innermost = outer_; }

std::string Trace::text() const {
    std::string out;
    for (const std::string& line : lines_) out += (out.empty() ? "" : "; ") + line;
    return out;
}

void Trace::add(std::string line) {
    if (lines_.size() < kMostLines) lines_.push_back(std::move(line));
}

} // namespace plexus::ucx
