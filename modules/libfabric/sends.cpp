// SPDX-License-Identifier: BSD-3-Clause
#include "libfabric/sends.h"

#include "common/pieces.h"

#include <rdma/fi_endpoint.h>
#include <rdma/fi_errno.h>

namespace plexus::libfabric {

using message_link::Event;
using message_link::Header;
using message_link::kHeaderBytes;

void Sends::open(const MemoryRules& rules, std::size_t bytes, std::size_t inject) {
    buffers_.emplace(rules, bytes, Op::What::send);
    block_.resize(inject);
}

int Sends::send(fid_ep* from, FabricPeer& peer, const Header& header, const plexus_view* pieces,
                std::uint32_t count, std::size_t size) {
    const std::size_t total = kHeaderBytes + size;
    // A goodbye's completion is waited for.
    const bool at_once = header.kind != message_link::Kind::bye && total <= block_.size();
    Buffer* const buffer = at_once ? nullptr : buffers_->take();
    if (!at_once && buffer == nullptr) return -FI_EAGAIN;
    std::byte* const start = at_once ? block_.data() : buffer->bytes;
    header.write(start);
    module::copy_pieces(start + kHeaderBytes, {pieces, count});
    const fi_addr_t to = peer.contact->address;
    const int error = peer.contact->reach([&] {
        return static_cast<int>(at_once ? fi_inject(from, start, total, to)
                                        : fi_send(from, start, total, buffer->handle, to, &buffer->context));
    });
    if (at_once) return error;
    if (error != 0) {
        buffers_->give_back(buffer);
        return error;
    }
    buffer->peer = &peer;
    buffer->contact = peer.contact;
    ++peer.sending;
    ++peer.contact->sending;
    ++under_way_;
    return 0;
}

bool Sends::completed(Buffer& buffer, Event& out) {
    --under_way_;
    --buffer.contact->sending;
    if (buffer.peer != nullptr) --buffer.peer->sending;
    buffer.peer = nullptr;
    buffers_->give_back(&buffer);
    out.what = Event::What::broken;
    if (out.why.empty() || out.peer == nullptr) return false;
    out.why = "a message could not be sent: " + out.why;
    return true;
}

void Sends::forget(const FabricPeer& peer) {
    if (buffers_ && peer.sending > 0) buffers_->forget(peer);
}

} // namespace plexus::libfabric
