// SPDX-License-Identifier: BSD-3-Clause
#include "libfabric/receives.h"

#include <rdma/fi_endpoint.h>

namespace plexus::libfabric {

using message_link::Event;
using message_link::Header;
using message_link::kHeaderBytes;

void Receives::open(const MemoryRules& rules, std::size_t bytes, std::size_t wanted) {
    buffers_.emplace(rules, bytes, Op::What::receive);
    bytes_ = bytes;
    wanted_ = wanted;
}

int Receives::post(fid_ep* endpoint) {
    returned_.insert(returned_.end(), spoilt_.begin(), spoilt_.end());
    spoilt_.clear();
    while (posted_ < wanted_ || !returned_.empty()) {
        if (returned_.empty()) {
            Buffer* const fresh = buffers_->take();
            if (fresh == nullptr) return 0;
            returned_.push_back(fresh);
        }
        Buffer* const buffer = returned_.back();
        if (posted_ >= wanted_) {
            buffers_->give_back(buffer);
        } else {
            const ssize_t error =
                fi_recv(endpoint, buffer->bytes, bytes_, buffer->handle, FI_ADDR_UNSPEC, &buffer->context);
            if (error != 0) return static_cast<int>(error);
            ++posted_;
        }
        returned_.pop_back();
    }
    return 0;
}

bool Receives::completed(Buffer& buffer, std::size_t size, Event& out) {
    --posted_;
    if (!out.why.empty() || size < kHeaderBytes) {
        spoilt_.push_back(&buffer); // returned_ is the progress thread's, and any may be here
        return false;
    }
    buffer.header = Header::read(buffer.bytes);
    buffer.body = buffer.bytes + kHeaderBytes;
    buffer.message_link::Message::size = size - kHeaderBytes;
    out.what = Event::What::arrived;
    out.message = &buffer;
    return true;
}

} // namespace plexus::libfabric
