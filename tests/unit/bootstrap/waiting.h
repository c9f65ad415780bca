// SPDX-License-Identifier: BSD-3-Clause
// Turns a directory's callbacks into values that the test's own thread waits for.
#pragma once

#include "base/crypto.h"
#include "bootstrap/directory.h"
#include "support/eventually.h"

#include <atomic>
#include <future>
#include <optional>
#include <string>
#include <string_view>

namespace plexus::bootstrap::testing {

using namespace std::chrono_literals;
using plexus::testing::kPatience;

inline Clock::time_point in(std::chrono::milliseconds length) { return Clock::now() + length; }

inline Bytes bytes_of(std::string_view text) {
    const auto view = std::as_bytes(std::span(text));
    return {view.begin(), view.end()};
}

inline std::string text_of(const Bytes& bytes) {
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

/// What a callback said, or that it has not been called.
template <class T>
class Answer {
  public:
    auto callback() {
        return [promise = promise_](Result<T> said) { promise->set_value(std::move(said)); };
    }
    bool is_there() { return future_.wait_for(0s) == std::future_status::ready; }
    /// Waits at most ten seconds; `runtime_lost` if nothing came.
    Result<T> get() {
        if (future_.wait_for(10s * kPatience) != std::future_status::ready)
            return Failure{Status::runtime_lost, "the callback was not called"};
        return future_.get();
    }

  private:
    std::shared_ptr<std::promise<Result<T>>> promise_ = std::make_shared<std::promise<Result<T>>>();
    std::future<Result<T>> future_ = promise_->get_future();
};

inline Answer<Bytes> ask(Directory& where, std::string_view name, std::chrono::milliseconds timeout) {
    Answer<Bytes> answer;
    where.lookup(name, in(timeout), answer.callback());
    return answer;
}

inline Answer<void> meet(Directory& where, std::chrono::milliseconds timeout) {
    Answer<void> answer;
    where.fence(in(timeout), answer.callback());
    return answer;
}

inline bool mentions(const Failure& failure, std::string_view part) {
    return failure.why.find(part) != std::string::npos;
}

inline ContextId some_context() {
    ContextId id;
    crypto::fill_random(id.bytes.data(), id.bytes.size());
    return id;
}

} // namespace plexus::bootstrap::testing
