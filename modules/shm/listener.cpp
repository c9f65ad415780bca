// SPDX-License-Identifier: BSD-3-Clause
#include "shm/listener.h"

#include "common/system_text.h"

#include <algorithm>
#include <cerrno>
#include <sys/resource.h>

namespace plexus::shm {

namespace {
constexpr auto kBetweenListens = std::chrono::milliseconds(100);

std::size_t quarter_of_descriptors() noexcept {
    rlimit limit{};
    if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return 0;
    return static_cast<std::size_t>(limit.rlim_cur / 4);
}
} // namespace

bool Listener::open(const SocketName& name) noexcept {
    most_callers_ = std::clamp(quarter_of_descriptors(), kFewestCallers, kMostCallers);
    socket_ = listen_at(name);
    return socket_ && events_.watch(socket_.get(), kListenerTag);
}

void Listener::close() noexcept {
    events_.unwatch(socket_.get());
    socket_.reset();
    while (!callers_.empty()) (void)drop(0);
}

std::optional<std::uint32_t> Listener::accept(Clock::time_point until) {
    UniqueFd socket = accept_from(socket_.get());
    if (!socket) {
        crowded_ = false;
        shut(errno);
        return std::nullopt;
    }
    if (!peer_is_there(socket.get(), -1)) return std::nullopt;
    make_room();
    const std::uint32_t id = next_id_++;
    if (!events_.watch(socket.get(), kCallerTag + id)) return std::nullopt;
    callers_.push_back({id, std::make_unique<Opening>(host_, std::move(socket), until)});
    return id;
}

// The caller stays in the queue and the socket readable: if it was still watched the context could not sleep.
void Listener::shut(int reason) {
    if (!module::is_shortage(reason)) return;
    events_.unwatch(socket_.get());
    shut_ = true;
    tried_ = Clock::now();
    const std::string text = "a connection cannot be accepted for now: " + module::system_text(reason);
    host_.log(host_.self, PLEXUS_WARN, text.c_str());
}

void Listener::make_room() {
    const auto is_silent = [](const Caller& caller) { return caller.opening->is_silent(); };
    const auto silent = std::find_if(callers_.begin(), callers_.end(), is_silent);
    const bool full = callers_.size() >= most_callers_;
    if (silent != callers_.end() &&
        (full || std::count_if(silent, callers_.end(), is_silent) >= std::ptrdiff_t{kMostSilent}))
        return (void)drop(static_cast<std::size_t>(silent - callers_.begin()));
    if (full) (void)drop(0);
}

std::unique_ptr<Opening> Listener::drop(std::size_t index) {
    std::unique_ptr<Opening> opening = std::move(callers_[index].opening);
    callers_.erase(callers_.begin() + static_cast<std::ptrdiff_t>(index));
    events_.unwatch(opening->socket());
    return opening;
}

std::unique_ptr<Opening> Listener::step(std::uint32_t id) {
    const auto found =
        std::find_if(callers_.begin(), callers_.end(), [&](const Caller& caller) { return caller.id == id; });
    if (found == callers_.end()) return nullptr;
    const std::int32_t status = found->opening->step();
    if (status == PLEXUS_AGAIN) return nullptr;
    std::unique_ptr<Opening> opening = drop(static_cast<std::size_t>(found - callers_.begin()));
    if (status == PLEXUS_OK) return opening;
    const std::string text = "a caller was turned away: " + opening->why();
    host_.log(host_.self, PLEXUS_INFO, text.c_str());
    return nullptr;
}

void Listener::check_time(Clock::time_point now) {
    for (std::size_t i = callers_.size(); i-- > 0;)
        if (callers_[i].opening->until() < now) (void)drop(i);
    if (!shut_ || !socket_ || now - tried_ < kBetweenListens) return;
    tried_ = now;
    shut_ = !events_.watch(socket_.get(), kListenerTag);
}

std::optional<Clock::time_point> Listener::next_check() const noexcept {
    std::optional<Clock::time_point> first;
    if (shut_ && socket_) first = tried_ + kBetweenListens;
    for (const Caller& caller : callers_)
        if (!first || caller.opening->until() < *first) first = caller.opening->until();
    return first;
}

} // namespace plexus::shm
