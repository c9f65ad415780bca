// SPDX-License-Identifier: BSD-3-Clause
// The reading half of a link: moves bytes from the socket to the reader of the stream, through a receive
// buffer that the links share, or right to the place in the host's memory where a large message belongs.
// @thread progress
#pragma once

#include "common/stream_reader.h"
#include "stream_link/coalescer.h"
#include "stream_link/link_events.h"
#include "stream_link/receive_buffers.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <sys/types.h>
#include <utility>
#include <vector>

namespace plexus::stream_link {

class Reader {
  public:
    Reader(std::unique_ptr<module::StreamReader> stream, ReceiveBuffers& buffers, Coalescer& coalescer,
           LinkEvents& events)
      : stream_(std::move(stream))
      , buffers_(buffers)
      , coalescer_(coalescer)
      , events_(events) {}

    struct Result {
        std::uint32_t handled = 0;    ///< events; a part of a large message is an event, too
        bool is_over = false;         ///< nothing more can come, because
        const char* damage = nullptr; ///< the stream makes no sense, or
        int error = 0;                ///< the socket has failed: errno; 0: the peer closed the connection
    };

    /// Reads and hands over what there is. Without a backlog only; if there is one afterwards, it is in the
    /// current buffer, which the caller must hold.
    Result read(int socket, std::uint32_t budget);
    /// Hands over messages of the backlog; the rest stays one.
    Result resume(std::uint32_t budget);
    /// Whole messages that an exhausted budget left in a receive buffer.
    bool has_backlog() const noexcept { return !backlog_.empty(); }
    bool is_inside_message() const { return stream_->inside_message() || !kept_.empty(); }
    /// Forgets what was read and not handed over.
    void discard();
    /// Ends what is being placed.
    void abandon() { stream_->abandon(events_.owner()); }

  private:
    bool read_landing(int socket, std::uint32_t& budget, Result& result);
    bool read_frames(int socket, std::uint32_t& budget, Result& result);
    bool go_on(ssize_t got, std::size_t asked, Result& result) const;
    void consume(std::span<const std::byte> bytes, std::uint32_t& budget);
    std::size_t take_several(std::span<const std::byte> bytes, std::uint32_t& budget);

    const std::unique_ptr<module::StreamReader> stream_;
    ReceiveBuffers& buffers_;
    Coalescer& coalescer_;
    LinkEvents& events_;
    std::vector<std::byte> kept_; // the beginning of a frame
    std::span<const std::byte> backlog_{};
};

} // namespace plexus::stream_link
