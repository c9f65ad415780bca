// SPDX-License-Identifier: BSD-3-Clause
// The receive buffers of one endpoint. Each is free, posted (the provider fills it), with the engine (it
// holds a message), or on its way back to be posted again; as many as wanted are posted, as far as memory
// and the provider have room.
//
// Under the endpoint's lock, unless it says otherwise.
#pragma once

#include "libfabric/memory.h"

#include <optional>

namespace plexus::libfabric {

class Receives {
  public:
    /// `bytes`: of the largest message with its header. At most `wanted` buffers are posted. @thread setup
    void open(const MemoryRules& rules, std::size_t bytes, std::size_t wanted);

    /// Posts buffers that came back, and new ones. Zero, or an error code of libfabric's: the rest waits for
    /// the next call. @thread progress
    int post(fid_ep* endpoint);
    /// Buffers have come back. @thread progress
    bool has_returned() const noexcept { return !returned_.empty() || !spoilt_.empty(); }
    std::size_t posted() const noexcept { return posted_; }

    /// The provider has filled `buffer` with `size` bytes, or failed, if `out.why` says so. True: `out` is
    /// the event of a message; the buffer is the engine's until recycle().
    bool completed(Buffer& buffer, std::size_t size, message_link::Event& out);
    /// The engine is through with the message. @thread progress, without the lock
    void recycle(Buffer& buffer) { returned_.push_back(&buffer); }

  private:
    std::optional<Buffers> buffers_;
    std::size_t bytes_ = 0;
    std::size_t wanted_ = 0;
    std::size_t posted_ = 0;
    std::vector<Buffer*> spoilt_;   // brought no message; post() takes them over
    std::vector<Buffer*> returned_; // the progress thread's
};

} // namespace plexus::libfabric
