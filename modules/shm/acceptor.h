// SPDX-License-Identifier: BSD-3-Clause
// The side of a link that accepts, from a caller on the listener's socket until the link is open. @thread
// progress
#pragma once

#include "shm/links.h"
#include "shm/listener.h"

namespace plexus::shm {

class Acceptor {
  public:
    Acceptor(Parts& parts, Links& links)
      : parts_(parts)
      , links_(links) {}

    Listener& listener() noexcept { return listener_; }
    const Listener& listener() const noexcept { return listener_; }

    /// Callers wait on the listener's socket.
    void accept();
    /// A caller has said something.
    void hear(std::uint32_t caller);

  private:
    void adopt(Opening& opening);
    std::string prepare(Link& link, Opening& opening);

    Parts& parts_;
    Links& links_;
    Listener listener_{parts_.host, parts_.events};
};

} // namespace plexus::shm
