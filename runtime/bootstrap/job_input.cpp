// SPDX-License-Identifier: BSD-3-Clause
#include "bootstrap/job_input.h"

#include <cerrno>
#include <unistd.h>

namespace plexus::bootstrap {
namespace {

constexpr std::size_t kPiece = std::size_t{64} * 1024;

} // namespace

pollfd JobInput::wanted() const {
    if (!to_) return {-1, 0, 0};
    if (!left_.empty()) return {to_.get(), POLLOUT, 0};
    // In the background, reading from the terminal would stop us.
    const bool foreground = ::tcgetpgrp(STDIN_FILENO) == ::getpgrp();
    return {foreground ? STDIN_FILENO : -1, POLLIN, 0};
}

void JobInput::pass_on() {
    if (left_.empty()) {
        left_.resize(kPiece);
        const ssize_t got = ::read(STDIN_FILENO, left_.data(), left_.size());
        left_.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
        if (got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR)) to_.reset();
        return;
    }
    const ssize_t wrote = ::write(to_.get(), left_.data(), left_.size());
    if (wrote > 0) left_.erase(0, static_cast<std::size_t>(wrote));
    if (wrote < 0 && errno != EAGAIN && errno != EINTR) to_.reset(); // rank 0 reads no more
}

} // namespace plexus::bootstrap
