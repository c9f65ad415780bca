// SPDX-License-Identifier: BSD-3-Clause
// The udp method of one context: sockets, sessions over them, and the host's functions. One lock for all of
// it, never held during a callback, except during those that any thread may call.
#pragma once

#include "base/lock.h"
#include "common/surroundings.h"
#include "stream_link/addresses.h"
#include "stream_link/descriptor.h"
#include "stream_link/poller.h"
#include "udp/options.h"
#include "udp/sessions.h"
#include "udp/sockets.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace plexus::udp {

extern const plexus_ops kOps;

class Module {
  public:
    Module(const plexus_host& host, Options options);
    ~Module();
    Module(const Module&) = delete;
    Module& operator=(const Module&) = delete;

    // The functions of the table, as abi.h says.
    static std::int32_t make(const plexus_host& host, std::unique_ptr<Module>& made);
    void close();
    void drain();
    std::int32_t describe(plexus_rows& rows) const;
    std::int32_t applies(plexus_view descriptor, plexus_text& why) const;
    std::int32_t connect(plexus_view descriptor, const plexus_id& peer, void* cookie, plexus_link** link);
    std::uint32_t poll(std::uint32_t budget);
    std::int32_t arm(std::uint64_t& sleep_ns);
    int wait_fd() const noexcept { return poller_.fd(); }
    std::int32_t query(const Session* session, plexus_query what, std::uint64_t& value) const;
    // Of a link.
    std::int32_t send(Session& session, std::span<const plexus_view> pieces);
    void disconnect(Session& session);
    const plexus_host& host() const noexcept { return host_; }

  private:
    /// Reads one socket.
    class Reader final : public stream_link::Watched {
      public:
        Reader(Module& module, std::size_t socket)
          : Watched(module.poller_)
          , module_(module)
          , socket_(socket) {}
        void ready(std::uint32_t events, std::uint32_t budget, std::uint32_t& handled) override;

      private:
        Module& module_;
        const std::size_t socket_;
    };
    std::int32_t listen();
    /// Every way to a descriptor's context; none: `why` says why not.
    std::vector<Path> paths_to(plexus_view descriptor, std::string& why) const;
    void log(plexus_level level, const std::string& text) const {
        host_.log(host_.self, level, text.c_str());
    }
    void take(const Path& from, Bytes datagram);
    void tell(const Event& event);
    bool given_up(const Session& session) const;

    const plexus_host& host_;
    const Options options_;
    const module::Surroundings here_;
    stream_link::Descriptor self_;
    Sockets sockets_;
    stream_link::Poller poller_;
    std::vector<std::unique_ptr<Reader>> readers_;
    std::vector<std::uint8_t> incoming_; ///< one datagram. @thread progress
    mutable Mutex mutex_;
    Sessions sessions_ PLEXUS_GUARDED_BY(mutex_);
    bool closing_ PLEXUS_GUARDED_BY(mutex_) = false;
    bool armed_ PLEXUS_GUARDED_BY(mutex_) = false;
};

} // namespace plexus::udp
