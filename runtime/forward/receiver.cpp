// SPDX-License-Identifier: BSD-3-Clause
#include "forward/receiver.h"

#include <cstring>

namespace plexus::forward {

bool Receiver::take(void* cookie, const Hop& hop) {
    if (hop.kind == Kind::more) {
        if (!store(hop)) return false;
        finish(cookie);
        return true;
    }
    return missing_ == 0 && begin(cookie, hop);
}

bool Receiver::store(const Hop& hop) {
    if (hop.kind != Kind::more || hop.bytes.empty() || hop.bytes.size() > missing_) return false;
    put(hop.bytes);
    stored_ = true;
    return true;
}

bool Receiver::finish(void* cookie) {
    if (!std::exchange(stored_, false)) return false;
    if (missing_ > 0) {
        host_.arriving(cookie);
        return false;
    }
    tell(cookie, PLEXUS_OK);
    return true;
}

bool Receiver::begin(void* cookie, const Hop& hop) {
    const std::size_t head = head_in(hop.number);
    const std::uint64_t total = total_in(hop.number);
    const std::size_t here = hop.bytes.size();
    if (head > PLEXUS_HEAD_MAX || head > here || here > total || (here == 0 && total != 0)) return false;
    if (max_message_ != 0 && total > max_message_) return false; // the handshake has told it
    if (here == total) {
        host_.deliver(cookie, {hop.bytes.data(), here});
        return true;
    }
    missing_ = total - head;
    void* where = nullptr;
    void* token = nullptr;
    const bool placed = host_.place(cookie, {hop.bytes.data(), head}, missing_, &where, &token) == PLEXUS_OK;
    {
        Lock hold(place_mutex_);
        placing_ = placed && !given_up_;
        where_ = placing_ ? static_cast<std::byte*>(where) : nullptr;
        token_ = token;
    }
    put(hop.bytes.subspan(head));
    return true;
}

void Receiver::put(wire::View bytes) {
    missing_ -= bytes.size();
    Lock hold(place_mutex_);
    if (where_ == nullptr || bytes.empty()) return;
    std::memcpy(where_, bytes.data(), bytes.size());
    where_ += bytes.size();
}

void Receiver::tell(void* cookie, std::int32_t status) {
    void* token = nullptr;
    {
        Lock hold(place_mutex_);
        where_ = nullptr;
        token = token_;
        if (!std::exchange(placing_, false)) return;
    }
    host_.placed(cookie, token, status);
}

void Receiver::give_up() {
    Lock hold(place_mutex_);
    given_up_ = true;
    placing_ = false;
    where_ = nullptr;
}

void Receiver::end(void* cookie) { tell(cookie, PLEXUS_LINK_LOST); }

} // namespace plexus::forward
