// SPDX-License-Identifier: BSD-3-Clause
#include "tcp/greeting.h"

namespace plexus::tcp {

std::span<std::uint8_t> Greeting::room() {
    return std::span(record_).first(handshake_.wanted_bytes()).subspan(got_);
}

std::int32_t Greeting::took(std::size_t bytes) {
    got_ += bytes;
    if (got_ < handshake_.wanted_bytes()) return PLEXUS_AGAIN;
    const std::int32_t verdict = handshake_.feed(std::span(record_).first(std::exchange(got_, 0)));
    is_known_ = is_known_ || verdict == PLEXUS_AGAIN || verdict == PLEXUS_OK ||
                verdict == PLEXUS_WRONG_PEER || verdict == PLEXUS_UNSUPPORTED;
    return verdict;
}

} // namespace plexus::tcp
