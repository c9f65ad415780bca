// SPDX-License-Identifier: BSD-3-Clause
#include "shm/sender.h"

#include "common/pieces.h"
#include "common/system_text.h"

#include <algorithm>
#include <cerrno>
#include <string>

namespace plexus::shm {

Sender::Sender(const plexus_host& host, const Options& options, Totals& totals)
  : limits(options.limits)
  , host_(host)
  , inline_bytes_(options.inline_bytes)
  , wait_(gate_, posted_)
  , parts_(host, posted_)
  , large_(gate_, records_, totals, options.area_bytes) {}

void Sender::attach(Direction& out, Line* ring, std::uint32_t ring_lines, const Doorbell& doorbell,
                    int socket) {
    out_ = &out;
    records_.attach(ring, ring_lines, out, doorbell);
    wait_.attach(out);
    parts_.attach(out, socket);
    large_.attach(out, socket);
}

std::int32_t Sender::send_slowly(const plexus_view* pieces, std::uint32_t count, void* token,
                                 bool& streaming) {
    const Message message{pieces, count, module::size_of({pieces, count}), token};
    for (;;) {
        const Gate::Passage passage = gate_.passage();
        if (passage == Gate::Passage::never) return PLEXUS_LINK_LOST;
        Wants wants;
        const std::int32_t status =
            passage == Gate::Passage::open ? try_send(message, wants, streaming) : std::int32_t{PLEXUS_AGAIN};
        if (status != PLEXUS_AGAIN || wait_.begin(wants)) return status;
    }
}

std::int32_t Sender::try_send(const Message& message, Wants& wants, bool& streaming) {
    const bool fits_ring = message.size <= records_.largest();
    if (message.size <= inline_bytes_ && fits_ring) return send_in_ring(message, wants);
    if (message.body_size() > limits.eager) return send_large(message, wants, streaming);
    const CopySet allowed = limits.allowed(message.size, message.rest(), false);
    const std::int32_t status = large_.send_in_area(message, allowed, wants);
    if (status != PLEXUS_MESSAGE_LOST) return status;
    // No shared memory is to be had. What is small must not be posted: it fits into the ring, or nowhere.
    if (fits_ring) return send_in_ring(message, wants);
    report_no_memory(message);
    return status;
}

std::int32_t Sender::send_in_ring(const Message& message, Wants& wants) {
    std::byte* const body = records_.reserve(message.size);
    if (body == nullptr) {
        wants.consumed = records_.roomy_at();
        return PLEXUS_AGAIN;
    }
    module::copy_pieces(body, {message.pieces, message.count});
    records_.publish(Kind::message, static_cast<std::uint32_t>(message.size));
    return PLEXUS_OK;
}

std::int32_t Sender::send_large(const Message& message, Wants& wants, bool& streaming) {
    if (message.head_size() > PLEXUS_HEAD_MAX) return PLEXUS_BAD_ARGUMENT;
    const bool can_fetch = limits.fetch && message.rest() > 0 && message.count <= kMostFetchPieces &&
                           out_->can_fetch.load(std::memory_order_relaxed) == 1;
    const CopyChoice::Pick pick =
        large_.choose(message, limits.allowed(message.size, message.rest(), can_fetch));
    if (pick.copy == Copy::fetch) return large_.post(message, pick, posted_, wants);
    const std::int32_t status = large_.begin_stream(message, pick, wants, streaming);
    if (status != PLEXUS_MESSAGE_LOST) return status;
    if (can_fetch) return large_.post(message, {Copy::fetch, false, 0}, posted_, wants);
    report_no_memory(message);
    return status;
}

// errno says why there is none.
void Sender::report_no_memory(const Message& message) const {
    if (message.token == nullptr) return; // an attempt in haste: it is repeated, and logged then
    const std::string text = "no shared memory for a message of " + std::to_string(message.size) +
                             " bytes: " + module::system_text(errno) +
                             "; raise the process's limits, or set a smaller area";
    host_.log(host_.self, PLEXUS_ERROR, text.c_str());
}

bool Sender::has_news() const noexcept {
    if (fetched() > posted_.ended() || parts_.is_asked()) return true;
    const bool waits = wait_.is_waiting();
    const bool streams = is_streaming();
    if (!waits && !streams) return false;
    wait_.ask_for_progress();
    return (waits && wait_.may_go_on()) || (streams && !large_.is_stuck());
}

// Pairs with the store in Receiver::end_fetch: the peer no longer reads those bytes.
std::uint64_t Sender::fetched() const noexcept {
    return std::min(out_->fetched.load(std::memory_order_seq_cst), posted_.pushed());
}

std::uint32_t Sender::settle(void* cookie, bool gone) {
    std::uint32_t done = 0;
    const bool asked = parts_.is_asked(); // before fetched(): it asks for one that is not fetched then
    const std::uint64_t until = fetched();
    for (std::uint64_t ended = posted_.ended(); ended < until; ++ended) {
        const bool failed =
            (out_->fetch_failed.load(std::memory_order_relaxed) >> ended % PostedSends::kMost & 1) != 0;
        host_.sent(cookie, posted_.pop(), failed ? PLEXUS_MESSAGE_LOST : PLEXUS_OK);
        ++done;
    }
    if (asked && !posted_.is_empty()) [[unlikely]]
        parts_.answer();
    if (gone || !wait_.is_waiting()) return done;
    if (!wait_.may_go_on()) {
        wait_.ask_for_progress();
        if (!wait_.may_go_on()) return done;
    }
    if (!wait_.end()) return done;
    host_.writable(cookie);
    return done + 1;
}

Sender::Go Sender::carry_on(void* cookie) {
    void* token = nullptr;
    const Go go = large_.carry_on(token);
    if (go == Go::done) host_.sent(cookie, token, PLEXUS_OK);
    return go;
}

void Sender::fail(void* cookie) {
    for (void* const token : large_.abandon(posted_)) host_.sent(cookie, token, PLEXUS_MESSAGE_LOST);
}

std::uint64_t Sender::queued_bytes() const noexcept {
    const std::uint64_t consumed = out_->consumed.load(std::memory_order_relaxed);
    return records_.queued_bytes(consumed) + large_.queued_bytes() + posted_.bytes();
}

} // namespace plexus::shm
