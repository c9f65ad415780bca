// SPDX-License-Identifier: BSD-3-Clause
#include "forward/renewals.h"

#include "base/log.h"
#include "bootstrap/directory.h"
#include "forward/hub.h"

#include <algorithm>
#include <csignal>
#include <exception>
#include <future>
#include <new>
#include <pthread.h>

namespace plexus::forward {
namespace {

using Clock = std::chrono::steady_clock;

/// Whoever listens and relays has published that by then.
constexpr auto kLookup = std::chrono::seconds(1);
constexpr auto kLongestQuestion = std::chrono::seconds(1);
constexpr auto kAskAgain = std::chrono::seconds(1);
constexpr std::size_t kMostQuestions = 16;
constexpr std::size_t kMostKnown = 64;

bool contains(const std::vector<ContextId>& all, const ContextId& one) noexcept {
    return std::find(all.begin(), all.end(), one) != all.end();
}

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

// Each question once a second, and so many different ones.
bool Renewals::may_ask(const Question& question) {
    const auto now = Clock::now();
    while (!asked_.empty() && now - asked_.front().at >= kAskAgain) asked_.pop_front();
    const bool is_new = std::none_of(asked_.begin(), asked_.end(),
                                     [&](const Asked& each) { return each.question == question; });
    if (question.url.empty() || !is_new || asked_.size() == kMostQuestions) return false;
    asked_.push_back({question, now});
    return true;
}

void Renewals::ask(const ContextId& lost, const std::string& url) {
    if (!may_ask({lost, url})) return;
    {
        const Lock hold(mutex_);
        if (stopped_ || questions_.size() == kMostQuestions) return;
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
    } catch (const std::exception&) {
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
            question = std::move(questions_.front());
            questions_.pop_front();
            asking_ = question;
        }
        std::optional<Via> now = answer_to(question);
        if (now && now->hub.context != question.lost) add({question.lost, std::move(*now)});
    }
}

void Renewals::add(Answer answer) noexcept {
    try {
        const Lock hold(mutex_);
        if (!std::exchange(asking_, std::nullopt)) return; // it was forgotten meanwhile
        std::erase_if(answers_, [&](const Answer& each) { return each.lost == answer.lost; });
        if (answers_.size() == kMostKnown) return;
        answers_.push_back(std::move(answer));
        any_.store(true, std::memory_order_relaxed);
    } catch (const std::bad_alloc&) {} // it is asked again
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
        for (auto& [earlier, doubted] : known_)
            if (earlier.now.hub.context == each.lost && earlier.now.url == each.now.url) {
                earlier.now = each.now;
                doubted.clear();
            }
        std::erase_if(known_, [&](const Known& earlier) { return earlier.answer.lost == each.lost; });
        if (known_.size() == kMostKnown) known_.erase(known_.begin());
        known_.push_back({each, {}});
    }
    return fresh;
}

Renewals::Known* Renewals::known(const Via& row) noexcept {
    const auto found = std::find_if(known_.begin(), known_.end(), [&](const Known& each) {
        return each.answer.lost == row.hub.context && each.answer.now.url == row.url;
    });
    return found == known_.end() ? nullptr : &*found;
}

const Via& Renewals::current(const Via& row, const ContextId& target) noexcept {
    const Known* const found = known(row);
    return found == nullptr || contains(found->doubted, target) ? row : found->answer.now;
}

void Renewals::doubt(const Via& row, const ContextId& target, const ContextId& used) {
    const bool is_rows_own =
        (used == ContextId{} ? current(row, target).hub.context : used) == row.hub.context;
    Known* const found = known(row);
    if (found != nullptr) {
        std::erase(found->doubted, target);
        if (!is_rows_own) {
            if (found->doubted.size() == kMostKnown) found->doubted.erase(found->doubted.begin());
            found->doubted.push_back(target);
        }
    }
    if (is_rows_own) ask(row.hub.context, row.url);
}

void Renewals::forget(const ContextId& lost) {
    std::erase_if(known_, [&](const Known& each) { return each.answer.lost == lost; });
    const Lock hold(mutex_);
    std::erase_if(answers_, [&](const Answer& each) { return each.lost == lost; });
    std::erase_if(questions_, [&](const Question& each) { return each.lost == lost; });
    if (asking_ && asking_->lost == lost) asking_.reset();
}

} // namespace plexus::forward
