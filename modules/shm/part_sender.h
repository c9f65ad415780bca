// SPDX-License-Identifier: BSD-3-Clause
// What a peer gets that cannot read a posted message from this process's memory: the bytes from where it
// asks, copied into shared memory of their own, which travels by the socket; or word that they are lost. No
// byte is copied twice, whatever the peer asks for. @thread progress
#pragma once

#include "shm/layout.h"
#include "shm/posted_sends.h"

namespace plexus::shm {

class PartSender {
  public:
    PartSender(const plexus_host& host, const PostedSends& posted) noexcept
      : host_(host)
      , posted_(posted) {}
    void attach(const Direction& out, int socket) noexcept {
        out_ = &out;
        socket_ = socket;
    }

    /// The peer asks for bytes of the oldest posted send.
    bool is_asked() const noexcept;
    /// Copies them for it, or says that they are lost. There is a posted send.
    void answer();

  private:
    const plexus_host& host_;
    const PostedSends& posted_;
    const Direction* out_ = nullptr;
    int socket_ = -1;

    std::uint64_t answered_ = 0; // Direction::asked at the last answer
    std::uint64_t message_ = 0;  // of PostedSends, the number of the message that end_ is about
    std::uint64_t end_ = 0;      // bytes of it before this were copied, or are lost
};

} // namespace plexus::shm
