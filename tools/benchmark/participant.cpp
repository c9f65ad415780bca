// SPDX-License-Identifier: BSD-3-Clause
#include "tools/benchmark/participant.h"

#include "tools/benchmark/ping_pong.h"

#include <algorithm>
#include <chrono>

namespace plexus::tools::benchmark {

Participant::Participant(Context& here, std::uint32_t buffers)
  : here_(here)
  , buffers_(buffers) {
    here_.on(ping_word, [](Echo& echo, std::uint64_t word) { echo.back.send(pong_word, word); });
    here_.on(ping_bytes, [](Echo& echo, Bytes bytes) { echo.back.send(pong_bytes, bytes); });
    here_.on(ping_large, [](Echo& echo, Bytes bytes) {
        if (echo.own.bytes() != bytes.size()) echo.own.assign(bytes.size(), std::byte{1});
        echo.answer = echo.own.next();
        std::copy_n(bytes.begin(), std::min(bytes.size(), kStampBytes), echo.answer.begin());
        echo.due.store(true, std::memory_order_release); // [set] pairs with answer_due()
    });
    here_.on(play_with, threaded, [](Echo& echo, GlobalPointer<Player> player, const std::string& methods) {
        echo.back = std::move(player);
        if (!methods.empty()) echo.back.use(methods);
    });
    Player::install(here_);
}

Participant::~Participant() {
    if (watches_errors_) here_.on_error([](const Error&) {});
}

void Participant::watch_errors() {
    watches_errors_ = true;
    here_.on_error([this](const Error& error) { fail(error.what()); });
}

GlobalPointer<Echo> Participant::add_echo() {
    return bound_.emplace_back(here_.bind(echoes_.emplace_back(buffers_))).pointer();
}

void Participant::until(const std::function<bool()>& done) {
    for (bool over = false; !over;) {
        here_.run_until([&] { return (over = done()) || has_due() || has_failed(); });
        answer_due();
        check();
    }
}

void Participant::serve(const std::function<bool()>& done) {
    for (bool over = false; !over;) {
        here_.run_until([&] { return (over = done()) || has_due(); });
        answer_due();
    }
}

void Participant::run_for(double seconds) {
    here_.run_for(
        std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::duration<double>(seconds)));
    check();
}

bool Participant::has_due() const noexcept {
    return std::any_of(echoes_.begin(), echoes_.end(),
                       [](const Echo& echo) { return echo.due.load(std::memory_order_relaxed); });
}

void Participant::answer_due() {
    for (Echo& echo : echoes_)
        if (echo.due.exchange(false, std::memory_order_acquire))
            echo.back.send(pong_large, Bytes(echo.answer));
}

void Participant::fail(const std::string& why) {
    const Lock hold(mutex_);
    if (failure_.empty()) failure_ = why;
    failed_.store(true, std::memory_order_release); // [fail]
}

void Participant::forget_failure() {
    const Lock hold(mutex_);
    failure_.clear();
    failed_.store(false, std::memory_order_relaxed); // under mutex_ with failure_
}

void Participant::check() {
    if (!has_failed()) return;
    const Lock hold(mutex_);
    throw Error(Status::message_lost, failure_);
}

} // namespace plexus::tools::benchmark
