// SPDX-License-Identifier: BSD-3-Clause
#include "poll/deferred_work.h"

#include "base/log.h"

#include <bit>
#include <exception>

namespace plexus::poll {
namespace {

constexpr std::chrono::nanoseconds kAfterException = std::chrono::milliseconds(20);

} // namespace

void DeferredWork::note_exception(const char* where) noexcept {
    if (!std::has_single_bit(++exceptions_)) return;
    try {
        try {
            throw;
        } catch (const std::exception& error) {
            log::error("poll", "an exception from {} was dropped ({} in this context so far): {}", where,
                       exceptions_, error.what());
        } catch (...) {
            log::error("poll",
                       "an exception from {} was dropped ({} in this context so far): no std::exception",
                       where, exceptions_);
        }
    } catch (...) {} // no memory for the message
}

void DeferredWork::run() {
    requested_.exchange(false, std::memory_order_acquire); // pairs with [requested]
    std::chrono::nanoseconds next = kAfterException;
    try {
        next = work_();
    } catch (...) { note_exception("deferred work (a callback such as on_error may have thrown)"); }
    next_ = next == std::chrono::nanoseconds::max() ? Clock::time_point::max() : Clock::now() + next;
}

} // namespace plexus::poll
