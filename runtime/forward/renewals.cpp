// SPDX-License-Identifier: BSD-3-Clause
#include "forward/renewals.h"

#include "base/log.h"
#include "bootstrap/directory.h"
#include "forward/hub.h"

#include <algorithm>
#include <csignal>
#include <exception>
#include <future>
#include <pthread.h>
#include <system_error>

namespace plexus::forward {
namespace {

using Clock = std::chrono::steady_clock;

/// Whoever listens and relays has published that by then.
constexpr auto kLookup = std::chrono::seconds(1);
constexpr auto kLongestQuestion = std::chrono::seconds(1);
constexpr std::size_t kMostQuestions = 16;
constexpr std::size_t kMostKnown = 64;

} // namespace

Result<Via> ask_forwarder(const std::string& url, const bootstrap::Key& key, const ContextId& self,
                          Clock::time_point deadline) {
    auto directory = bootstrap::join(url, key, self, deadline);
    if (!directory) return directory.failure();
    std::promise<Result<bootstrap::Bytes>> answer;
    auto answered = answer.get_future();
    (*directory)
        ->lookup(Hub::kPublished, std::min(deadline, Clock::now() + kLookup),
                 [&](Result<bootstrap::Bytes> found) { answer.set_value(std::move(found)); });
    const Result<bootstrap::Bytes> found = answered.get();
    if (!found)
        return fail(found.status(), "the context that listens there relays nothing (forward.allow): {}",
                    found.failure().why);
    auto via = decode(*found);
    if (!via) return via;
    if (via->hub.context == self) return fail(Status::bad_config, "it is this context itself");
    via->url = url.size() <= kLongestUrl ? url : std::string();
    return via;
}

void Renewals::stop() {
    {
        const Lock hold(mutex_);
        stopped_ = true;
    }
    if (thread_.joinable()) thread_.join();
}

void Renewals::ask(const ContextId& lost, const std::string& url) {
    {
        const Lock hold(mutex_);
        const bool is_asked = std::any_of(questions_.begin(), questions_.end(),
                                          [&](const Question& each) { return each.lost == lost; });
        if (stopped_ || url.empty() || is_asked || questions_.size() == kMostQuestions) return;
        questions_.push_back({lost, url});
        if (std::exchange(asks_, true)) return;
    }
    if (thread_.joinable()) thread_.join(); // it has ended, or is about to
    sigset_t all;
    sigset_t before;
    sigfillset(&all);
    ::pthread_sigmask(SIG_SETMASK, &all, &before); // the program's signals are not for it
    try {
        thread_ = std::thread([this] { answer_all(); });
    } catch (const std::system_error&) {
        const Lock hold(mutex_);
        questions_.clear();
        asks_ = false;
    }
    ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

// Nothing if nobody relays there, or memory or descriptors are missing: it is asked again.
std::optional<Via> Renewals::answer_to(const Question& question) const noexcept {
    try {
        auto via = ask_forwarder(question.url, key_, self_, Clock::now() + kLongestQuestion);
        if (via) return std::move(*via);
        log::debug("forward", "no forwarder was found at {}: {}", question.url, via.failure().why);
    } catch (const std::exception&) {}
    return std::nullopt;
}

void Renewals::answer_all() noexcept {
    for (;;) {
        Question question;
        {
            const Lock hold(mutex_);
            if (stopped_ || questions_.empty()) {
                asks_ = false;
                return;
            }
            question = questions_.front();
        }
        std::optional<Via> now = answer_to(question);
        const Lock hold(mutex_);
        questions_.pop_front();
        if (!now || now->hub.context == question.lost) continue;
        answers_.push_back({question.lost, std::move(*now)});
        any_.store(true, std::memory_order_relaxed);
    }
}

std::vector<Renewals::Answer> Renewals::take() {
    if (!any_.load(std::memory_order_relaxed)) return {};
    std::vector<Answer> fresh;
    {
        const Lock hold(mutex_);
        any_.store(false, std::memory_order_relaxed);
        fresh.swap(answers_);
    }
    for (const Answer& each : fresh) {
        for (Answer& earlier : known_)
            if (earlier.now.hub.context == each.lost) earlier.now = each.now;
        std::erase_if(known_, [&](const Answer& earlier) { return earlier.lost == each.lost; });
        if (known_.size() == kMostKnown) known_.erase(known_.begin());
        known_.push_back(each);
    }
    return fresh;
}

const Via& Renewals::current(const Via& row) const noexcept {
    const auto found = std::find_if(known_.begin(), known_.end(),
                                    [&](const Answer& each) { return each.lost == row.hub.context; });
    return found == known_.end() ? row : found->now;
}

} // namespace plexus::forward
