// SPDX-License-Identifier: BSD-3-Clause
// Several contexts in this process, each with the methods that a test asks for, and waits
// that end. Test's thread, where nothing else is said.
#pragma once

#include "plexus/plexus.h"
#include "support/catch.h"
#include "support/eventually.h"
#include "support/log_guard.h"

#include <cstdlib>
#include <map>
#include <mutex>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace plexus::testing {

using Values = std::map<std::string, std::string>;

/// Nothing here takes so long, unless it hangs.
inline constexpr std::chrono::seconds kLimit{15};

/// These methods, and the fabrics of this build, over what every machine has: names for by().
inline std::vector<std::string> and_fabrics(std::vector<std::string> methods) {
    const char* const built = std::getenv("TESTED_FABRICS");
    std::istringstream fabrics(built == nullptr ? "" : built);
    for (std::string each; fabrics >> each;) methods.push_back(each);
    return methods;
}

/// Those without the fabric whose library may end the process when a peer is killed, see note 0006.
inline std::vector<std::string> that_survive_kills(std::vector<std::string> methods) {
    const char* const fabric = std::getenv("TESTED_WITHOUT_KILLS");
    if (fabric != nullptr)
        std::erase_if(methods, [&](const std::string& each) { return each.starts_with(fabric); });
    return methods;
}

/// A context with these methods, and with no file of the machine's own.
inline Options by(std::string_view methods, Values more = {}) {
    more.emplace("methods", methods);
    Options options;
    options.set = std::move(more);
    options.file = "/dev/null";
    return options;
}

/// The same pointer as another context holds it.
template <class T>
GlobalPointer<T> handed(Context& to, const GlobalPointer<T>& pointer) {
    return GlobalPointer<T>::load(to, pointer.save());
}

/// The answer; throws if there is none in time.
template <class R>
R within(Future<R> future, std::chrono::seconds limit = kLimit) {
    if (!future.wait_for(limit * kPatience)) throw std::runtime_error("no answer came in time");
    return future.get();
}

/// Replies that a handler keeps until the test gives them. @thread any
template <class R>
class Owed {
  public:
    void add(Reply<R> reply) {
        const std::lock_guard hold(mutex_);
        replies_.push_back(std::move(reply));
    }
    /// The oldest, waiting for it; an empty one where none comes in time.
    Reply<R> take() {
        Reply<R> first;
        eventually(kLimit, [&] {
            const std::lock_guard hold(mutex_);
            if (replies_.empty()) return false;
            first = std::move(replies_.front());
            replies_.erase(replies_.begin());
            return true;
        });
        return first;
    }

  private:
    std::mutex mutex_;
    std::vector<Reply<R>> replies_;
};

/// What a function that ought to fail says.
struct Refusal {
    Status status = Status::ok;
    std::string why;

    bool says(std::string_view part) const { return why.find(part) != std::string::npos; }
};
template <class Function>
Refusal refusal_of(Function&& function) {
    try {
        static_cast<void>(std::forward<Function>(function)());
        return {};
    } catch (const Error& error) { return {error.status(), error.what()}; }
}
template <class R>
Refusal refusal_of(Future<R> future) {
    return refusal_of([&] { within(std::move(future)); });
}

/// Collects what a context tells on_error(). Outlives the context.
class Complaints {
  public:
    void listen_to(Context& context) {
        context.on_error([this](const Error& error) {
            const std::lock_guard hold(mutex_);
            heard_.push_back({error.status(), error.what()});
        });
    }
    /// The first complaint, which is taken out; ok where none comes in time. @thread any
    Refusal next() {
        Refusal first;
        eventually(kLimit, [&] {
            const std::lock_guard hold(mutex_);
            if (heard_.empty()) return false;
            first = heard_.front();
            heard_.erase(heard_.begin());
            return true;
        });
        return first;
    }
    std::size_t count() const {
        const std::lock_guard hold(mutex_);
        return heard_.size();
    }

  private:
    mutable std::mutex mutex_;
    std::vector<Refusal> heard_;
};

} // namespace plexus::testing
