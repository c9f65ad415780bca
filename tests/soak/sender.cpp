// SPDX-License-Identifier: BSD-3-Clause
#include "soak/sender.h"

#include "support/eventually.h"

#include <algorithm>

namespace plexus::soak {
namespace {

/// Nothing takes so long, unless it hangs: a peer is stopped for two seconds at most.
constexpr auto kLimit = std::chrono::seconds(60) * testing::kPatience;
constexpr std::size_t kMostCalls = 24;

} // namespace

Sender::Sender(Life self, std::uint64_t seed, std::vector<std::string> methods)
  : self_(self)
  , methods_(std::move(methods))
  , random_(seed)
  , thread_([this] { run(); }) {}

Sender::~Sender() { stop(); }

void Sender::aim(Life life, GlobalPointer<Desk> desk) {
    const std::lock_guard hold(mutex_);
    next_life_ = life;
    next_desk_ = std::move(desk);
}

void Sender::stop() {
    stop_ = true;
    if (thread_.joinable()) thread_.join();
}

void Sender::run() {
    while (!stop_) {
        take_aim();
        if (life_ == 0) {
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
            continue;
        }
        act();
        if (random_() % 4 == 0) std::this_thread::sleep_for(std::chrono::microseconds(random_() % 2000));
    }
    end_calls(0);
    flush();
    desk_ = {};
    memory_ = {};
    const std::lock_guard hold(mutex_);
    next_desk_ = {};
}

void Sender::take_aim() {
    const std::lock_guard hold(mutex_);
    if (next_life_ == life_) return;
    life_ = next_life_;
    desk_ = next_desk_;
    memory_ = {};
    contexts_[life_] = desk_.context();
    accounts_[life_];
}

template <class R>
bool Sender::ends(const Future<R>& future) {
    if (future.wait_for(kLimit)) return true;
    ++deeds_.hung;
    return false;
}

void Sender::trouble(Life life, std::optional<std::uint64_t> number) {
    ++deeds_.errors;
    if (number) accounts_[life].refused.insert(*number);
    std::this_thread::sleep_for(std::chrono::milliseconds(5)); // a peer that is gone says so at once
}

/// Behind all that was sent: when it is answered, the rest has come.
void Sender::flush() {
    if (life_ == 0) return;
    try {
        Future<GlobalSpan<std::uint64_t>> last = desk_.call(memory_of);
        if (ends(last)) last.get();
    } catch (const Error&) { trouble(life_, std::nullopt); }
}

std::size_t Sender::some_size() {
    const std::uint64_t kind = random_() % 1000;
    if (kind < 700) return random_() % 64;
    if (kind < 940) return random_() % 8192;
    if (kind < 990) return random_() % (256 * 1024);
    return random_() % (2 * 1024 * 1024);
}

void Sender::act() {
    const std::uint64_t what = random_() % 1000;
    if (what < 600) {
        send_one();
    } else if (what < 930) {
        call_one();
    } else if (what < 975) {
        transfer();
    } else if (what < 985) {
        move();
    } else {
        end_calls(0);
    }
}

void Sender::send_one() {
    const std::uint64_t number = accounts_[life_].next++;
    const Load load = load_of(number, some_size());
    try {
        desk_.send(hand, self_, number, load);
    } catch (const Error&) { trouble(life_, number); }
}

void Sender::call_one() {
    end_calls(kMostCalls);
    const std::uint64_t number = accounts_[life_].next++;
    const Load load = load_of(number, some_size());
    const std::uint64_t size = some_size();
    ++deeds_.calls;
    try {
        calls_.push_back({life_, number, size, desk_.call(ask, self_, number, size, load)});
    } catch (const Error&) { trouble(life_, number); }
}

void Sender::end_calls(std::size_t most) {
    while (calls_.size() > most) {
        Call call = std::move(calls_.front());
        calls_.pop_front();
        if (!ends(call.answer)) continue;
        try {
            const Load answer = call.answer.get();
            deeds_.damaged += answer.size() == call.size && is_load_of(call.number, answer) ? 0 : 1;
            ++deeds_.answers;
            auto& answered = accounts_[call.life].answered;
            answered.insert(call.number);
            if (answered.size() > 1024) answered.erase(answered.begin());
        } catch (const Error&) { trouble(call.life, call.number); }
    }
}

void Sender::transfer() {
    try {
        if (!memory_) {
            Future<GlobalSpan<std::uint64_t>> asked = desk_.call(memory_of);
            if (!ends(asked)) return;
            memory_ = asked.get();
        }
        const std::uint64_t count = 1 + random_() % kRegionWords;
        const auto region = memory_.subspan(self_ % kRegions * kRegionWords, count);
        std::vector<std::uint64_t> out(count, random_());
        std::vector<std::uint64_t> in(count);
        Future<void> put = region.put(0, std::span<const std::uint64_t>(out));
        if (!ends(put)) std::abort(); // its memory ends here
        put.get();
        ++deeds_.puts;
        Future<void> got = region.get(0, std::span(in));
        if (!ends(got)) std::abort();
        got.get();
        ++deeds_.gets;
        deeds_.damaged += in == out ? 0 : 1;
    } catch (const Error&) { trouble(life_, std::nullopt); }
}

void Sender::move() {
    if (methods_.empty()) return;
    try {
        if (random_() % 4 == 0)
            desk_.use(automatic);
        else
            desk_.use(methods_[random_() % methods_.size()]);
        ++deeds_.moves;
    } catch (const Error&) {
        ++deeds_.errors;
        try {
            desk_.use(automatic); // the method does not lead there
        } catch (const Error&) { ++deeds_.errors; }
    }
}

} // namespace plexus::soak
