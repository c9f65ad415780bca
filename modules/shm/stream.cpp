// SPDX-License-Identifier: BSD-3-Clause
// Sender: the area, and messages that are copied through it in chunks.
#include "shm/sender.h"

#include "shm/socket.h"

#include <algorithm>
#include <cerrno>

namespace plexus::shm {

using module::Lock;

namespace {
constexpr std::uint64_t kMostChunk = 1 << 20; // bytes, about 50 us

std::uint64_t chunk_bytes(std::uint64_t area) { return std::min(area / 32, kMostChunk); }
} // namespace

// The descriptor travels by the socket, before the first record that speaks of the area.
// MESSAGE_LOST: errno says why there is none. LINK_LOST: the peer has hung up, which a poll will tell.
std::int32_t Sender::make_area() {
    area_used_ = true;
    if (area_.exists()) {
        count_area(area_size_);
        return PLEXUS_OK;
    }
    module::OwnedFd fd;
    SharedMemory memory = SharedMemory::create("plexus area", area_size_, fd);
    const int fds[] = {fd.get()};
    if (memory && send_packet(socket_, kAreaPacket, fds)) {
        area_.give(std::move(memory));
        count_area(area_size_);
        return PLEXUS_OK;
    }
    return memory && (errno == EPIPE || errno == ECONNRESET) ? PLEXUS_LINK_LOST : PLEXUS_MESSAGE_LOST;
}

std::int32_t Sender::begin_stream(const Message& message, const CopyChoice::Pick& pick, Wants& wants,
                                  bool& streaming) {
    const auto start = std::chrono::steady_clock::now();
    const Lock hold(large_);
    if ((gate_.load(std::memory_order_acquire) & kBroken) != 0) return PLEXUS_LINK_LOST;
    if (const std::int32_t status = make_area(); status != PLEXUS_OK) return status;
    StreamHead head{};
    std::byte* const body = ring_.reserve(sizeof head);
    if (body == nullptr) {
        wants.consumed = ring_.roomy_at();
        return PLEXUS_AGAIN;
    }
    head.head_size = static_cast<std::uint32_t>(message.pieces[0].size);
    head.rest = message.size - head.head_size;
    head.sample = begin_sample(message, pick, true); // both ends copy at once
    copy_small(head.head, message.pieces[0].data, head.head_size);
    std::memcpy(body, &head, sizeof head);
    ring_.publish(Kind::stream, sizeof head);
    doorbell_->notify();

    stream_.pieces.assign(message.pieces + 1, message.pieces + message.count);
    stream_.piece = stream_.offset = 0;
    stream_.token = message.token;
    stream_.size = message.size;
    stream_.copy = pick.copy;
    stream_.sample = head.sample;
    stream_.copying = {};
    stream_.start = start;
    stream_bytes_.store(head.rest, std::memory_order_relaxed);
    if (pump(kMostChunk) == Go::done) return PLEXUS_OK;
    gate_.fetch_or(kStreaming, std::memory_order_seq_cst);
    streaming = true;
    return PLEXUS_POSTED;
}

Sender::Go Sender::carry_on(void* cookie) {
    if (progress() == stuck_at_) return Go::stuck; // before a sleep has_news() asks to be told of more
    void* token = nullptr;
    {
        const Lock hold(large_);
        const Go go = pump(kMostChunk);
        if (go != Go::done) return go;
        token = stream_.token;
        totals_.note(stream_.size, std::chrono::steady_clock::now() - stream_.start);
        gate_.fetch_and(~std::uint32_t{kStreaming}, std::memory_order_seq_cst); // [gate]
    }
    host_.sent(cookie, token, PLEXUS_OK);
    return Go::done;
}

Sender::Go Sender::pump(std::uint64_t budget) {
    const std::uint64_t chunk = chunk_bytes(area_size_);
    for (;;) {
        const std::uint64_t left = stream_bytes_.load(std::memory_order_relaxed);
        if (left == 0) {
            stream_.pieces = {};
            if (stream_.sample != 0) meter_->copied(stream_.sample, stream_.copying);
            return Go::done;
        }
        if (budget < chunk) {
            stuck_at_ = kNotStuck;
            return Go::more;
        }
        const std::uint64_t size = std::min(left, chunk);
        if (!send_chunk(size)) {
            out_->waiting.store(1, std::memory_order_seq_cst); // pairs with Receiver::made_room
            stuck_at_ = progress();
            if (!send_chunk(size)) return Go::stuck;
            stuck_at_ = kNotStuck;
        }
        budget -= chunk;
        stream_bytes_.store(left - size, std::memory_order_relaxed);
    }
}

bool Sender::send_chunk(std::uint64_t size) {
    area_used_ = true;
    std::byte* const body = ring_.reserve(sizeof(AreaBody));
    if (body == nullptr) return false;
    const auto part = area_.take(size);
    if (!part) return false;
    std::chrono::steady_clock::time_point start;
    if (stream_.sample != 0) start = std::chrono::steady_clock::now();
    copy_from_stream(area_.at(*part), size);
    if (stream_.sample != 0) stream_.copying += std::chrono::steady_clock::now() - start;
    std::memcpy(body, &*part, sizeof *part);
    ring_.publish(Kind::chunk, sizeof *part);
    doorbell_->notify();
    return true;
}

void Sender::copy_from_stream(std::byte* to, std::uint64_t size) {
    while (size > 0) {
        const plexus_view& piece = stream_.pieces[stream_.piece];
        const std::uint64_t part = std::min<std::uint64_t>(size, piece.size - stream_.offset);
        const std::byte* const from = static_cast<const std::byte*>(piece.data) + stream_.offset;
        if (stream_.copy == Copy::nontemporal)
            copy_past_caches(to, from, part);
        else if (part > 0)
            std::memcpy(to, from, part);
        to += part;
        size -= part;
        stream_.offset += part;
        if (stream_.offset == piece.size) {
            ++stream_.piece;
            stream_.offset = 0;
        }
    }
    if (stream_.copy == Copy::nontemporal) flush_past_caches();
}

void Sender::discard_idle_area() {
    if (area_in_use_.load(std::memory_order_relaxed) == 0) return;
    const Lock hold(large_);
    if (std::exchange(area_used_, false)) return; // one more period
    if (!is_streaming() && area_.discard()) count_area(0);
}

// Relaxed: for enquiries. Under large_, or alone.
void Sender::count_area(std::uint64_t bytes) noexcept {
    const std::uint64_t before = area_in_use_.load(std::memory_order_relaxed);
    if (before == bytes) return;
    area_in_use_.store(bytes, std::memory_order_relaxed);
    totals_.area_bytes.fetch_add(bytes - before, std::memory_order_relaxed);
}

void Totals::note(std::uint64_t bytes, std::chrono::nanoseconds time) noexcept {
    if (time.count() <= 0) return;
    const double now = static_cast<double>(bytes) * 1e9 / static_cast<double>(time.count());
    const auto before = static_cast<double>(bytes_per_second.load(std::memory_order_relaxed));
    const double mean = before == 0 ? now : before + (now - before) / 8;
    bytes_per_second.store(static_cast<std::uint64_t>(mean), std::memory_order_relaxed);
}

} // namespace plexus::shm
