// SPDX-License-Identifier: BSD-3-Clause
// What a context knows of the requests of one peer. @thread progress, except where a line says otherwise
#pragma once

#include "plexus/handler.h"
#include "request/newest.h"
#include "request/parked_requests.h"
#include "request/waiting_requests.h"
#include "transport/peer.h"
#include "wire/frame.h"

#include <cstdint>
#include <string>
#include <vector>

namespace plexus::request {

/// The peer's own numbers for its requests, as it has declared them.
class DeclaredRequests {
  public:
    struct Entry {
        std::string name;
        std::uint64_t signature = 0;
        detail::Handler* handler = nullptr; ///< once found it stays
    };

    void declare(const wire::Declare& declared) {
        if (declared.request >= entries_.size()) entries_.resize(declared.request + std::size_t{1});
        entries_[declared.request] = {std::string(declared.name), declared.signature, nullptr};
    }
    /// Null: nothing was declared for that number. Valid until declare().
    Entry* find(std::uint16_t number) noexcept {
        if (number >= entries_.size() || entries_[number].name.empty()) [[unlikely]]
            return nullptr;
        return &entries_[number];
    }

  private:
    std::vector<Entry> entries_;
};

struct PeerRequests : transport::Attachment {
    DeclaredRequests declared;
    ParkedRequests::Line parked;
    WaitingRequests waiting; ///< @thread any
    Newest newest;
};

inline PeerRequests& requests_of(const transport::Peer& peer) noexcept {
    return static_cast<PeerRequests&>(*peer.attachment);
}

} // namespace plexus::request
