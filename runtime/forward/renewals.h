// SPDX-License-Identifier: BSD-3-Clause
// Who relays now at an address whose forwarder was lost: another context, if the forwarder was started again.
// Asks the directory there on a thread of its own, which ends when it has asked all; who wants to know looks
// for the answers.
#pragma once

#include "base/mutex.h"
#include "base/result.h"
#include "bootstrap/key.h"
#include "forward/via.h"

#include <atomic>
#include <chrono>
#include <deque>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace plexus::forward {

/// What the directory at this URL says of its forwarder; blocks. @thread any
/// @error what directories say, bad_config it relays nothing, or is `self`
Result<Via> ask_forwarder(const std::string& url, const bootstrap::Key& key, const ContextId& self,
                          std::chrono::steady_clock::time_point deadline);

class Renewals {
  public:
    struct Answer {
        ContextId lost;
        Via now;
    };

    Renewals(const bootstrap::Key& key, const ContextId& self)
      : key_(key)
      , self_(self) {}
    ~Renewals() { stop(); }
    Renewals(const Renewals&) = delete;
    Renewals& operator=(const Renewals&) = delete;

    /// Asks at `url`, where forwarder `lost` was found, unless that was asked less than a second ago, or much
    /// is to be asked. Without a thread in the system nobody is asked. @thread one
    void ask(const ContextId& lost, const std::string& url) PLEXUS_EXCLUDES(mutex_);
    /// Asks no more. Waits for the question that is under way: a second at most, and as long as the system
    /// takes to find the address of a name. @thread one
    void stop() PLEXUS_EXCLUDES(mutex_);
    /// The last answer to each question that was answered since the last call, if another forwarder than the
    /// lost one relays. @thread one
    std::vector<Answer> take() PLEXUS_EXCLUDES(mutex_);
    /// By whom a target is reached: the row itself, or what take() gave last of the forwarder and the URL
    /// that the row names. Valid until the next take(). @thread one
    const Via& current(const Via& row, const ContextId& target) noexcept;
    /// By way of `used` (none: by what current() gives) the target was not reached. A URL may name another
    /// forwarder than meant to whoever holds the row: from now on the row itself leads to that target, and
    /// the other way round where the row's own forwarder was used. @thread one
    void doubt(const Via& row, const ContextId& target, const ContextId& used);
    /// This forwarder is there: rows that name it are as they are again. @thread one
    void forget(const ContextId& lost) PLEXUS_EXCLUDES(mutex_);

  private:
    struct Question {
        ContextId lost;
        std::string url;
        bool operator==(const Question&) const = default;
    };
    struct Known {
        Answer answer;
        std::vector<ContextId> doubted; ///< targets that it did not lead to, the newest last
    };
    struct Asked {
        Question question;
        std::chrono::steady_clock::time_point at;
    };
    bool may_ask(const Question& question);
    Known* known(const Via& row) noexcept;
    std::optional<Via> answer_to(const Question& question) const noexcept;
    void add(Answer answer) noexcept PLEXUS_EXCLUDES(mutex_);
    void answer_all() noexcept PLEXUS_EXCLUDES(mutex_);

    const bootstrap::Key& key_;
    const ContextId self_;
    std::vector<Known> known_; ///< what take() has given, the newest last
    std::deque<Asked> asked_;  ///< lately
    std::thread thread_;
    std::atomic<bool> any_{false}; // a hint for take(): it is set after an answer was added
    RankedMutex<25> mutex_;
    bool stopped_ PLEXUS_GUARDED_BY(mutex_) = false;
    bool asks_ PLEXUS_GUARDED_BY(mutex_) = false; ///< the thread has not ended, or will ask once more
    std::deque<Question> questions_ PLEXUS_GUARDED_BY(mutex_);
    std::optional<Question> asking_ PLEXUS_GUARDED_BY(mutex_); ///< the answer to it is wanted
    std::vector<Answer> answers_ PLEXUS_GUARDED_BY(mutex_);
};

} // namespace plexus::forward
