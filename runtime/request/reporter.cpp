// SPDX-License-Identifier: BSD-3-Clause
#include "request/reporter.h"

#include "base/log.h"

#include <fmt/core.h>
#include <utility>

namespace plexus::request {
namespace {

constexpr auto kPause = std::chrono::seconds(1);

/// Calls a handler of the program; false: there is none.
template <class Handler, class What>
bool call(const Handler& handler, const What& what, const std::string& text) noexcept {
    if (!handler) return false;
    try {
        handler(what);
    } catch (const std::exception& thrown) {
        log::error("request", "a handler for errors or peers threw \"{}\" when it was told: {}",
                   thrown.what(), text);
    } catch (...) { log::error("request", "a handler for errors or peers threw when it was told: {}", text); }
    return true;
}

} // namespace

void Reporter::on_error(Context::ErrorHandler handler) {
    Lock hold(mutex_);
    on_error_ = std::move(handler);
}

void Reporter::on_peer(Context::PeerHandler handler) {
    Lock hold(mutex_);
    on_peer_ = std::move(handler);
}

bool Reporter::tell(const Error& error) noexcept {
    Context::ErrorHandler handler;
    {
        Lock hold(mutex_);
        handler = on_error_;
    }
    return call(handler, error, error.what());
}

void Reporter::report_error(Status status, const std::string& what) noexcept {
    if (!tell(Error(status, what))) log::warn("request", "{}: {}", to_string(status), what);
}

void Reporter::peer_event(const PeerEvent& event) noexcept {
    const std::string text = fmt::format(
        "context {}{} is {}{}", to_string(event.context), event.name.empty() ? "" : " (" + event.name + ")",
        event.status == Status::peer_back ? "back" : "lost", event.why.empty() ? "" : ": " + event.why);
    Context::PeerHandler handler;
    {
        Lock hold(mutex_);
        handler = on_peer_;
    }
    const bool peer = call(handler, event, text);
    const bool error = tell(Error(event.status, text));
    if (!peer && !error) log::info("request", "{}", text); // requests that were lost are told apart
}

void Reporter::refused(const std::string& what) noexcept {
    std::uint64_t unsaid = 0;
    {
        const auto now = Clock::now();
        Lock hold(mutex_);
        if (now < next_line_) {
            ++unsaid_;
            return;
        }
        next_line_ = now + kPause;
        unsaid = std::exchange(unsaid_, 0);
    }
    log::warn("request", "{}{}", what,
              unsaid > 0 ? fmt::format(" ({} refusals before this one were not logged)", unsaid) : "");
}

} // namespace plexus::request
