// SPDX-License-Identifier: BSD-3-Clause
#include "zstd/link.h"

#include "zstd/codec.h"
#include "zstd/module.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstring>
#include <new>
#include <utility>

namespace plexus::zstd {
namespace {

constexpr std::size_t kSample = 8 * 1024;
/// The inner method is asked for its rate no more often than this: it may ask the kernel.
constexpr std::uint64_t kToldFor = 10'000'000;

std::uint64_t now_ns() {
    return static_cast<std::uint64_t>(
        std::chrono::nanoseconds(std::chrono::steady_clock::now().time_since_epoch()).count());
}

std::unique_ptr<std::byte[]> allocate(std::uint64_t bytes) {
    return std::unique_ptr<std::byte[]>(new (std::nothrow) std::byte[static_cast<std::size_t>(bytes)]);
}

} // namespace

Link::Link(Module& owner)
  : over::Link(owner)
  , module_(owner)
  , worth_(owner.options().is_always) {}

// ---- out -------------------------------------------------------------------------------------

std::int32_t Link::send(const plexus_view* first, std::uint32_t count, void* token) {
    const Pieces pieces(first, count);
    const std::size_t size = size_of(pieces);
    if (module_.most() != 0 && size > module_.most()) return PLEXUS_TOO_LARGE;
    if (size > module_.eager() && count > 0 && pieces[0].size > PLEXUS_HEAD_MAX) return PLEXUS_BAD_ARGUMENT;
    Frame frame;
    if (size >= module_.options().from) frame = packed(pieces, size);
    if (frame.bytes == nullptr && begins_with_mark(pieces)) {
        frame = stored(pieces, size);
        if (frame.bytes == nullptr) { // no memory: the host tries again
            owe_writable();
            return PLEXUS_AGAIN;
        }
    }
    if (frame.bytes != nullptr) {
        // The inner method sees the frame's size; the peer's limit, which may be below ours, is the
        // message's.
        std::uint64_t most = 0;
        (void)module_.query(this, PLEXUS_QUERY_MAX_MESSAGE, most);
        if (most != 0 && size > most) return PLEXUS_TOO_LARGE;
        return send_frame(std::move(frame), size, token);
    }
    const std::int32_t status =
        size <= module_.eager() ? send_inner(first, count, token) : post(pieces, {}, token);
    if (status == PLEXUS_OK || status == PLEXUS_POSTED) worth_.rate.accepted(size);
    return status;
}

Link::Frame Link::packed(Pieces pieces, std::size_t size) {
    if (worth_.passes(size)) return {};
    const std::uint64_t start = now_ns();
    if (start - told_at_ns_ > kToldFor) {
        told_at_ns_ = start;
        (void)query(PLEXUS_QUERY_BANDWIDTH_BPS, told_rate_);
    }
    std::uint64_t queued = 0;
    (void)query(PLEXUS_QUERY_QUEUED_BYTES, queued);
    worth_.rate.look(start, queued, told_rate_);
    const Worth::Step step = worth_.step(size);
    if (step == Worth::Step::plain) return {};

    std::unique_ptr<Packer> packer = module_.borrow();
    Frame frame;
    if (step == Worth::Step::whole || is_worth_it(pieces, size, *packer)) {
        const std::size_t head = head_of(pieces);
        const auto most = static_cast<std::size_t>(static_cast<double>(size) * Worth::kMostRatio);
        frame.bytes = most > kPrefix + head ? allocate(most) : nullptr;
        const std::uint64_t before = now_ns();
        const auto used =
            frame.bytes == nullptr
                ? std::nullopt
                : packer->pack(pieces, head, std::span(frame.bytes.get(), most).subspan(kPrefix + head));
        worth_.measured(size, used.value_or(size), now_ns() - before);
        if (used) {
            frame.size = kPrefix + head + *used;
            write_prefix(frame.bytes.get(), {size, head, false});
            copy_out(pieces, 0, {frame.bytes.get() + kPrefix, head});
        } else {
            frame = {};
        }
    }
    module_.give_back(std::move(packer));
    return frame;
}

bool Link::is_worth_it(Pieces pieces, std::size_t size, Packer& packer) {
    std::array<std::byte, kSample> sample;
    std::array<std::byte, kSample> out;
    const std::span<std::byte> middle(sample.data(), std::min(size, kSample));
    copy_out(pieces, (size - middle.size()) / 2, middle);
    const plexus_view whole[] = {{nullptr, 0}, {middle.data(), middle.size()}};
    const std::uint64_t before = now_ns();
    const auto used = packer.pack(whole, 0, out);
    worth_.measured(middle.size(), used.value_or(middle.size()), now_ns() - before);
    return worth_.pays();
}

Link::Frame Link::stored(Pieces pieces, std::size_t size) {
    Frame frame{allocate(kPrefix + size), kPrefix + size};
    if (frame.bytes == nullptr) return {};
    write_prefix(frame.bytes.get(), {size, head_of(pieces), true});
    copy_out(pieces, 0, {frame.bytes.get() + kPrefix, size});
    return frame;
}

std::int32_t Link::send_frame(Frame frame, std::size_t size, void* token) {
    const std::size_t bytes = frame.size;
    const std::size_t head = std::min<std::size_t>(bytes, PLEXUS_HEAD_MAX);
    const plexus_view pieces[] = {{frame.bytes.get(), head}, {frame.bytes.get() + head, bytes - head}};
    const std::int32_t status =
        size <= module_.eager() ? send_inner(pieces, 2, token) : post(pieces, std::move(frame), token);
    if (status == PLEXUS_OK || status == PLEXUS_POSTED) worth_.rate.accepted(bytes);
    return status;
}

std::int32_t Link::post(Pieces pieces, Frame frame, void* token) {
    auto posted = std::make_unique<Posted>(Posted{token, std::move(frame)});
    Posted* const kept = posted.release(); // before the call: `sent` may be quicker
    const std::int32_t status = send_inner(pieces.data(), static_cast<std::uint32_t>(pieces.size()), kept);
    if (status != PLEXUS_POSTED) const std::unique_ptr<Posted> over(kept);
    return status;
}

void Link::on_sent(void* token, std::int32_t status) {
    const std::unique_ptr<Posted> posted(static_cast<Posted*>(token));
    over::Link::on_sent(posted->token, status);
}

// ---- in --------------------------------------------------------------------------------------

void Link::on_deliver(plexus_view message) {
    const std::span bytes(static_cast<const std::byte*>(message.data), message.size);
    if (!has_mark(bytes)) {
        over::Link::on_deliver(message);
        return;
    }
    // Some methods deliver in memory that the peer can write: what is judged is what is unpacked.
    const std::span<std::byte> copy = module_.room_for_packed(bytes.size());
    std::memcpy(copy.data(), bytes.data(), bytes.size());
    unpack(copy);
}

std::int32_t Link::on_place(plexus_view head, std::size_t rest, void** where, void** token) {
    auto coming = std::make_unique<Coming>();
    std::array<std::byte, PLEXUS_HEAD_MAX> copy{}; // as in on_deliver()
    const std::span<std::byte> begin(copy.data(), std::min(head.size, copy.size()));
    if (!begin.empty()) std::memcpy(begin.data(), head.data, begin.size());
    // Several large messages may come at a time. The host hears of each in its turn: not before the
    // frames that began earlier are there.
    coming->is_plain = !has_mark(begin);
    const bool waits = std::any_of(comings_.begin(), comings_.end(),
                                   [](const auto& each) { return each->frame.bytes != nullptr; });
    const std::int32_t status = coming->is_plain && !waits
                                    ? over::Link::on_place(head, rest, where, &coming->token)
                                    : place_here(*coming, begin, rest, where);
    if (status != PLEXUS_OK) return status;
    *token = coming.get();
    comings_.push_back(std::move(coming));
    return PLEXUS_OK;
}

std::int32_t Link::place_here(Coming& coming, std::span<const std::byte> head, std::size_t rest,
                              void** where) {
    const std::uint64_t size = head.size() + std::uint64_t{rest};
    const std::uint64_t most = module_.most_kept();
    const char* wrong = nullptr;
    if (Prefix prefix; !coming.is_plain)
        wrong = head.size() < kPrefix ? "it ends within its prefix" : read_prefix(head, size, most, prefix);
    else if (most != 0 && size > most)
        wrong = "a message behind it has more bytes than this link permits";
    if (wrong == nullptr) {
        coming.head = head.size();
        coming.frame = {allocate(size), static_cast<std::size_t>(size)};
        if (coming.frame.bytes == nullptr) wrong = "there is no memory to receive it";
    }
    if (wrong != nullptr) {
        refuse(wrong);
        return PLEXUS_LINK_LOST;
    }
    if (!head.empty()) std::memcpy(coming.frame.bytes.get(), head.data(), head.size());
    *where = coming.frame.bytes.get() + head.size();
    return PLEXUS_OK;
}

void Link::on_placed(void* token, std::int32_t status) {
    const auto at = std::find_if(comings_.begin(), comings_.end(),
                                 [token](const auto& each) { return each.get() == token; });
    if (at == comings_.end()) return;
    const std::unique_ptr<Coming> coming = std::move(*at);
    comings_.erase(at);
    if (coming->frame.bytes == nullptr) {
        over::Link::on_placed(coming->token, status);
    } else if (status == PLEXUS_OK && !is_over()) {
        hand_on(*coming);
    }
}

void Link::hand_on(const Coming& coming) {
    const std::span<const std::byte> bytes(coming.frame.bytes.get(), coming.frame.size);
    if (!coming.is_plain) {
        unpack(bytes);
        return;
    }
    void* where = nullptr;
    void* token = nullptr;
    const std::size_t rest = bytes.size() - coming.head;
    if (over::Link::on_place({bytes.data(), coming.head}, rest, &where, &token) != PLEXUS_OK) return;
    std::int32_t status = PLEXUS_LINK_LOST;
    {
        const Lock hold(border());
        if (!is_over()) {
            std::memcpy(where, bytes.data() + coming.head, rest);
            status = PLEXUS_OK;
        }
    }
    over::Link::on_placed(token, status);
}

void Link::unpack(std::span<const std::byte> frame) {
    Prefix prefix;
    const char* wrong = frame.size() < kPrefix ? "it ends within its prefix"
                                               : read_prefix(frame, frame.size(), module_.most(), prefix);
    const std::span<const std::byte> body = wrong == nullptr ? frame.subspan(kPrefix + prefix.head) : frame;
    if (wrong == nullptr && !prefix.is_stored) wrong = Unpacker::fault_of(body, prefix.size - prefix.head);
    if (wrong == nullptr && prefix.size > module_.eager()) {
        unpack_in_place(frame, prefix);
        return;
    }
    if (wrong == nullptr) {
        const std::span<std::byte> message = module_.room_for_message(static_cast<std::size_t>(prefix.size));
        if (prefix.head > 0) std::memcpy(message.data(), frame.data() + kPrefix, prefix.head);
        wrong = fill(frame, prefix, message.subspan(prefix.head));
        if (wrong == nullptr) {
            over::Link::on_deliver({message.data(), message.size()});
            return;
        }
    }
    refuse(wrong);
}

// The host says where, and whether it takes so much at all, before a byte is unpacked.
void Link::unpack_in_place(std::span<const std::byte> frame, const Prefix& prefix) {
    alignas(8) std::array<std::byte, PLEXUS_HEAD_MAX> head{};
    std::memcpy(head.data(), frame.data() + kPrefix, prefix.head);
    void* where = nullptr;
    void* token = nullptr;
    const auto rest = static_cast<std::size_t>(prefix.size) - prefix.head;
    if (over::Link::on_place({head.data(), prefix.head}, rest, &where, &token) != PLEXUS_OK) return;
    const char* wrong = "the link was given up";
    {
        const Lock hold(border());
        if (!is_over()) wrong = fill(frame, prefix, {static_cast<std::byte*>(where), rest});
    }
    over::Link::on_placed(token, wrong == nullptr ? PLEXUS_OK : PLEXUS_LINK_LOST);
    if (wrong != nullptr) refuse(wrong);
}

const char* Link::fill(std::span<const std::byte> frame, const Prefix& prefix, std::span<std::byte> rest) {
    const std::span<const std::byte> body = frame.subspan(kPrefix + prefix.head);
    if (!prefix.is_stored) return module_.unpacker().unpack(body, rest);
    if (!rest.empty()) std::memcpy(rest.data(), body.data(), rest.size());
    return nullptr;
}

void Link::refuse(const char* why) {
    cut(PLEXUS_LINK_LOST,
        "a compressed message of peer " + over::text_of(peer()) + " can't be unpacked: " + why);
}

} // namespace plexus::zstd
