// SPDX-License-Identifier: BSD-3-Clause
#include "tools/probe/caller.h"

#include "tools/benchmark/timing.h"

#include <chrono>
#include <span>
#include <thread>
#include <utility>

namespace plexus::tools::probe {

using benchmark::Clock;
using benchmark::seconds_since;

Caller::Caller(benchmark::Participant& end, std::uint64_t first_stamp)
  : end_(end)
  , stamp_(first_stamp)
  , bound_(end.here().bind(*this)) {}

void Caller::face(GlobalPointer<Answerer> far) {
    far_ = std::move(far);
    messages_ = 0;
    bytes_ = 0;
}

Caller::Times Caller::trip(std::uint64_t bytes, std::uint64_t answer_bytes) {
    size(bytes);
    ++stamp_;
    const auto start = Clock::now();
    send(answer_bytes);
    const double sent = seconds_since(start);
    await_answer();
    return {sent, seconds_since(start)};
}

double Caller::row(std::uint64_t bytes, std::uint64_t messages) {
    size(bytes);
    ++stamp_;
    const auto start = Clock::now();
    for (std::uint64_t left = messages; left > 1; --left) send(kNoAnswer);
    send(0);
    await_answer();
    return seconds_since(start);
}

double Caller::take_in(std::uint64_t answer_bytes, double absent_s) {
    size(0);
    ++stamp_;
    send(answer_bytes);
    std::this_thread::sleep_for(std::chrono::duration<double>(absent_s));
    const auto start = Clock::now();
    await_answer();
    return seconds_since(start);
}

void Caller::size(std::uint64_t bytes) { payload_.resize(bytes, std::byte{1}); }

void Caller::send(std::uint64_t answer_bytes) {
    far_.send(ping, stamp_, answer_bytes, payload_);
    ++messages_;
    bytes_ += payload_.size();
    if (answer_bytes == kNoAnswer) return;
    ++messages_;
    bytes_ += answer_bytes;
}

void Caller::await_answer() {
    end_.until([&] { return answered_.load(std::memory_order_relaxed) == stamp_; });
}

void install_callers(Context& here) {
    here.on(ping, [](Answerer& answerer, std::uint64_t stamp, std::uint64_t bytes, benchmark::Bytes) {
        if (bytes == kNoAnswer) return;
        if (answerer.own.size() < bytes) answerer.own.resize(bytes, std::byte{1});
        answerer.back.send(answered, stamp, std::span(answerer.own).first(bytes));
    });
    here.on(answered, [](Caller& caller, std::uint64_t stamp, benchmark::Bytes) { caller.note(stamp); });
}

} // namespace plexus::tools::probe
