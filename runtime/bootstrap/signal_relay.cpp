// SPDX-License-Identifier: BSD-3-Clause
#include "bootstrap/signal_relay.h"

#include <atomic>
#include <cerrno>
#include <fcntl.h>
#include <unistd.h>

namespace plexus::bootstrap {
namespace {

// Written before the handlers are set and after they are taken back; read by them, on
// whichever thread the signal comes.
std::atomic<int> relay_to{-1};
static_assert(std::atomic<int>::is_always_lock_free);

extern "C" void plexus_relay_signal(int number) {
    const int saved = errno;
    const auto byte = static_cast<unsigned char>(number);
    // The pipe does not block; when it is full, enough signals wait there already.
    [[maybe_unused]] const ssize_t ignored = ::write(relay_to.load(std::memory_order_relaxed), &byte, 1);
    errno = saved;
}

} // namespace

SignalRelay::SignalRelay() {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0) return;
    read_end_.reset(ends[0]);
    write_end_.reset(ends[1]);
    // [set] pairs with the load in the handler: sigaction() below orders them.
    relay_to.store(write_end_.get(), std::memory_order_relaxed);
    for (std::size_t i = 0; i < kSignals.size(); ++i) {
        ::sigaction(kSignals[i], nullptr, &before_[i]);
        // Ignored ones stay so: that is how nohup works.
        if (before_[i].sa_handler == SIG_IGN && kSignals[i] != SIGCONT) continue;
        struct sigaction relay {};
        relay.sa_handler = plexus_relay_signal;
        relay.sa_flags = SA_RESTART;
        sigfillset(&relay.sa_mask);
        ::sigaction(kSignals[i], &relay, nullptr);
    }
    // A reader of ours that goes away is an error of write(), not our end.
    struct sigaction ignore {};
    ignore.sa_handler = SIG_IGN;
    ::sigaction(SIGPIPE, &ignore, &pipe_before_);
}

SignalRelay::~SignalRelay() {
    if (!write_end_) return;
    for (std::size_t i = 0; i < kSignals.size(); ++i) ::sigaction(kSignals[i], &before_[i], nullptr);
    ::sigaction(SIGPIPE, &pipe_before_, nullptr);
    relay_to.store(-1, std::memory_order_relaxed);
}

std::optional<int> SignalRelay::take() {
    unsigned char byte = 0;
    if (::read(read_end_.get(), &byte, 1) != 1) return std::nullopt;
    return byte;
}

} // namespace plexus::bootstrap
