// SPDX-License-Identifier: BSD-3-Clause
// What the host hears of one link. Once the host has disconnected the link it hears only the ends of its own
// sends, and nothing is written into its memory.
#pragma once

#include "base/lock.h"
#include "common/stream_reader.h"

#include <atomic>
#include <string>
#include <vector>

namespace plexus::stream_link {

class LinkEvents {
  public:
    /// `cookie`: how the host names the link. The host names an accepted link later.
    LinkEvents(const plexus_host& host, void* cookie)
      : host_(host)
      , cookie_(cookie) {}
    void set_cookie(void* cookie) noexcept { cookie_ = cookie; }

    /// Returns when no bytes are written into the host's memory any more. @thread any
    void give_up() {
        const Lock hold(border_);
        given_up_.store(true, std::memory_order_relaxed);
    }
    bool given_up() const noexcept PLEXUS_NO_THREAD_SAFETY {
        return given_up_.load(std::memory_order_relaxed);
    }

    // @thread progress
    void opened() const {
        if (!given_up()) host_.opened(cookie_);
    }
    void arriving() const {
        if (!given_up()) host_.arriving(cookie_);
    }
    void writable() const {
        if (!given_up()) host_.writable(cookie_);
    }
    void lost(std::int32_t status, const std::string& why) const {
        if (!given_up()) host_.lost(cookie_, status, module::view(why));
    }
    void sent(const std::vector<void*>& tokens, std::int32_t status) const {
        for (void* token : tokens) host_.sent(cookie_, token, status);
    }

    /// Whom the reader of the stream tells.
    module::StreamReader::Owner owner() PLEXUS_NO_THREAD_SAFETY {
        return {host_, cookie_, given_up_, border_};
    }
    /// Held while the kernel writes into the host's memory, and by give_up().
    Mutex& border() noexcept { return border_; }

  private:
    const plexus_host& host_;
    void* cookie_;
    Mutex border_;
    // [given up] Set by the host, read before each callback. Relaxed: a callback that began before may still
    // be running.
    std::atomic<bool> given_up_ PLEXUS_GUARDED_BY(border_){false};
};

} // namespace plexus::stream_link
