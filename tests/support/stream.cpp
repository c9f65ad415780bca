// SPDX-License-Identifier: BSD-3-Clause
#include "support/stream.h"

#include <algorithm>
#include <atomic>
#include <cstring>

namespace plexus::testing {
namespace {

constexpr std::size_t kSeedBytes = sizeof(std::uint64_t);

std::uint64_t mix(std::uint64_t z) {
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

std::uint64_t word(std::uint64_t start, std::size_t i) { return (start + i) * 0x9e3779b97f4a7c15u; }

std::uint64_t start_of(std::uint64_t seed, std::uint64_t n) { return mix(seed + n * 0x9e3779b97f4a7c15u); }

std::uint64_t fresh_seed() {
    // Relaxed: only uniqueness counts.
    static std::atomic<std::uint64_t> next{1};
    return mix(next.fetch_add(1, std::memory_order_relaxed) << 32);
}

std::string text_of(std::int32_t status) { return std::to_string(status); }

} // namespace

SizeOf always(std::size_t bytes) {
    return [bytes](std::uint64_t) { return bytes; };
}

std::size_t at_most(std::size_t bytes) {
    static const std::uint64_t own = BareHost(method_under_test()).query(PLEXUS_QUERY_MAX_MESSAGE);
    return own == 0 ? bytes : static_cast<std::size_t>(std::min<std::uint64_t>(bytes, own));
}

SizeOf mixed(std::size_t most) {
    return [most](std::uint64_t n) -> std::size_t {
        const std::uint64_t roll = mix(n + 77);
        if (roll % 16 != 0) return (roll >> 8) % 200;
        if (roll % 64 != 0) return (roll >> 8) % std::max<std::size_t>(most / 16, 1);
        return (roll >> 8) % most;
    };
}

Bytes content(std::uint64_t seed, std::uint64_t n, std::size_t size) {
    Bytes bytes(size);
    const std::uint64_t start = start_of(seed, n);
    std::size_t at = 0;
    for (std::size_t i = 0; at + 8 <= size; at += 8, ++i) {
        const std::uint64_t value = word(start, i);
        std::memcpy(bytes.data() + at, &value, 8);
    }
    const std::uint64_t last = word(start, size / 8);
    if (at < size) std::memcpy(bytes.data() + at, &last, size - at);
    return bytes;
}

bool has_content(ByteView message, std::uint64_t seed, std::uint64_t n) {
    const std::uint64_t start = start_of(seed, n);
    std::size_t at = 0;
    for (std::size_t i = 0; at + 8 <= message.size(); at += 8, ++i) {
        const std::uint64_t value = word(start, i);
        if (std::memcmp(message.data() + at, &value, 8) != 0) return false;
    }
    const std::uint64_t last = word(start, message.size() / 8);
    return at == message.size() || std::memcmp(message.data() + at, &last, message.size() - at) == 0;
}

Stream::Stream(End& end, SizeOf size_of, std::uint64_t messages)
  : end_(end)
  , size_of_(std::move(size_of))
  , messages_(messages)
  , seed_(fresh_seed()) {}

bool Stream::step() {
    constexpr std::uint64_t kMostPosted = 16; // bounds the memory of the test itself
    constexpr int kMostAtOnce = 256; // a peer that keeps up would keep us here, and what it answers unread
    constexpr std::size_t kMostBytesAtOnce = std::size_t{16} << 20;
    std::size_t bytes_sent = 0;
    for (int i = 0; i < kMostAtOnce && bytes_sent < kMostBytesAtOnce && !done() && failure_ == PLEXUS_OK;
         ++i) {
        if (end_.writable() == blocked_at_ || end_.posted() - end_.completed() >= kMostPosted) return false;
        if (!waiting_) {
            Bytes bytes(kSeedBytes);
            std::memcpy(bytes.data(), &seed_, kSeedBytes);
            waiting_ = std::make_shared<Bytes>(next_ == 0 ? bytes : content(seed_, next_, size_of_(next_)));
        }
        const std::uint64_t writable = end_.writable(); // before the send: `writable` may be quicker
        const std::int32_t status =
            end_.host.send(end_, waiting_, (next_ * 8) % (PLEXUS_HEAD_MAX + 8), 1 + next_ % 8);
        if (status == PLEXUS_AGAIN) {
            blocked_at_ = writable;
            ++again_;
        } else if (status == PLEXUS_OK || status == PLEXUS_POSTED) {
            bytes_sent += waiting_->size();
            waiting_.reset();
            ++next_;
        } else {
            failure_ = status;
        }
    }
    return done();
}

Receiver::Receiver(BareHost& host, SizeOf size_of)
  : size_of_(std::move(size_of)) {
    host.hooks.message = [this](End& end, ByteView message) { take(end, message); };
}

void Receiver::take(End& end, ByteView message) {
    const std::lock_guard hold(mutex_);
    Progress& at = progress_[&end];
    const std::uint64_t n = at.next++;
    ++received_;
    if (!fault_.empty()) return;
    if (n == 0) {
        if (message.size() == kSeedBytes) {
            std::memcpy(&at.seed, message.data(), kSeedBytes);
        } else {
            fault_ = "the first message has " + std::to_string(message.size()) + " bytes, not 8";
        }
        return;
    }
    const std::size_t expected = size_of_(n);
    if (message.size() != expected) {
        fault_ = "message " + std::to_string(n) + " has " + std::to_string(message.size()) + " bytes, not " +
                 std::to_string(expected) + ": lost, doubled or out of order";
    } else if (!has_content(message, at.seed, n)) {
        fault_ = "message " + std::to_string(n) + " of " + std::to_string(expected) +
                 " bytes has wrong bytes in it";
    }
}

std::uint64_t Receiver::received() const {
    const std::lock_guard hold(mutex_);
    return received_;
}

std::uint64_t Receiver::received(const End& end) const {
    const std::lock_guard hold(mutex_);
    const auto found = progress_.find(&end);
    return found == progress_.end() ? 0 : found->second.next;
}

std::string Receiver::fault() const {
    const std::lock_guard hold(mutex_);
    return fault_;
}

std::string carry(Pair& pair, SizeOf size_of, std::uint64_t messages, std::chrono::nanoseconds limit) {
    Receiver receiver(pair.b, size_of);
    Stream stream(*pair.to_b, size_of, messages);
    const auto over = [&] {
        stream.step();
        return stream.failure() != PLEXUS_OK || !receiver.fault().empty() || receiver.received() > messages ||
               (stream.done() && receiver.received() == messages &&
                pair.to_b->posted() == pair.to_b->completed());
    };
    const bool in_time = pair.pump(limit, over);
    for (int i = 0; i < 16; ++i) { // a message that comes twice would come now
        pair.a.poll();
        pair.b.poll();
    }
    pair.b.hooks.message = nullptr;
    if (!receiver.fault().empty()) return receiver.fault();
    if (stream.failure() != PLEXUS_OK)
        return "send " + std::to_string(stream.sent()) + " answered " + text_of(stream.failure());
    if (!in_time)
        return "stuck: " + std::to_string(stream.sent()) + " of " + std::to_string(messages) + " sent, " +
               std::to_string(receiver.received()) + " received, " + std::to_string(pair.to_b->posted()) +
               " posted, " + std::to_string(pair.to_b->completed()) + " of those completed";
    if (receiver.received() != messages) return "more messages arrived than were sent";
    return {};
}

} // namespace plexus::testing
