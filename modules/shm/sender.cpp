// SPDX-License-Identifier: BSD-3-Clause
#include "shm/sender.h"

#include "common/system_text.h"
#include "shm/socket.h"

#include <algorithm>
#include <cerrno>
#include <unistd.h>

namespace plexus::shm {

using module::Lock;

namespace {

// `size` bytes of the pieces from `offset` on; they have that many. By the kernel: it answers EFAULT where
// the process would die, because the pieces are not there any more. False: errno says why.
bool write_part(int fd, const std::vector<plexus_view>& pieces, std::uint64_t offset, std::uint64_t size) {
    off_t at = 0;
    for (const plexus_view& piece : pieces) {
        std::uint64_t done = std::min<std::uint64_t>(offset, piece.size);
        offset -= done;
        while (done < piece.size && size > 0) {
            const ssize_t written = ::pwrite(fd, static_cast<const std::byte*>(piece.data) + done,
                                             std::min<std::uint64_t>(size, piece.size - done), at);
            if (written < 0) return false;
            done += static_cast<std::uint64_t>(written);
            size -= static_cast<std::uint64_t>(written);
            at += written;
        }
    }
    return true;
}

// Sends those bytes to the peer in memory of their own. Returns 0, or the error.
int send_part(int socket, const std::vector<plexus_view>& pieces, std::uint64_t offset, std::uint64_t size) {
    module::OwnedFd fd;
    if (!SharedMemory::create("plexus part", size, fd) || !write_part(fd.get(), pieces, offset, size))
        return errno;
    const int fds[] = {fd.get()};
    return send_packet(socket, kPartPacket, fds) ? 0 : errno;
}

// `cma = off` does not help against EFAULT: the bytes would be copied from the same addresses.
std::string text_of_loss(int reason) {
    return "a message that the peer can't read is lost: copying the message failed (" +
           module::system_text(reason) + "); " +
           (reason == EFAULT ? "keep what is sent mapped until it is delivered"
                             : "raise the process's limits, or set cma = off");
}

} // namespace

Sender::Sender(const plexus_host& host, const Options& options, Totals& totals)
  : limits(options.limits)
  , host_(host)
  , totals_(totals)
  , inline_bytes_(options.inline_bytes)
  , area_size_(options.area_bytes) {}

Sender::~Sender() { count_area(0); }

void Sender::attach(Direction& out, Line* ring, std::uint32_t ring_lines, const Doorbell& doorbell,
                    int socket) {
    out_ = &out;
    ring_.attach(ring, ring_lines, out.consumed);
    area_.attach(out.released);
    doorbell_ = &doorbell;
    socket_ = socket;
}

std::int32_t Sender::send_slowly(const plexus_view* pieces, std::uint32_t count, void* token,
                                 bool& streaming) {
    Message message{pieces, count, 0, token};
    for (std::uint32_t i = 0; i < count; ++i) message.size += pieces[i].size;
    for (;;) {
        Wants wants;
        const std::uint32_t gate = gate_.load(std::memory_order_acquire);
        if ((gate & (kBroken | kClosed)) != 0) return PLEXUS_LINK_LOST;
        const std::int32_t status =
            gate == 0 ? try_send(message, wants, streaming) : std::int32_t{PLEXUS_AGAIN};
        if (status != PLEXUS_AGAIN || block(wants)) return status;
    }
}

std::int32_t Sender::try_send(const Message& message, Wants& wants, bool& streaming) {
    if (message.size <= inline_bytes_ && message.size <= ring_.largest()) return send_in_ring(message, wants);
    const bool eager = message.size <= limits.eager;
    const std::size_t head = message.pieces[0].size;
    if (!eager && head > PLEXUS_HEAD_MAX) return PLEXUS_BAD_ARGUMENT;
    const bool can_fetch = limits.fetch && head <= PLEXUS_HEAD_MAX && message.size > head &&
                           message.count <= kMostFetchPieces &&
                           out_->can_fetch.load(std::memory_order_relaxed) == 1;
    const CopyChoice::Pick pick = eager ? CopyChoice::Pick{} : choose_large(message, can_fetch);
    if (pick.copy == Copy::fetch) return post(message, pick, wants);
    const std::int32_t status =
        eager ? send_in_area(message, wants) : begin_stream(message, pick, wants, streaming);
    if (status != PLEXUS_MESSAGE_LOST) return status;
    // No shared memory is to be had. What is small must not be posted: it fits into the ring, or nowhere.
    if (can_fetch && !eager) return post(message, {Copy::fetch, false, 0}, wants);
    if (eager && message.size <= ring_.largest()) return send_in_ring(message, wants);
    if (message.token == nullptr) return status; // an attempt in haste: it is repeated, and logged then
    const std::string text = "no shared memory for a message of " + std::to_string(message.size) +
                             " bytes: " + module::system_text(errno) +
                             "; raise the process's limits, or set a smaller area";
    host_.log(host_.self, PLEXUS_ERROR, text.c_str());
    return status;
}

std::int32_t Sender::send_in_ring(const Message& message, Wants& wants) {
    std::byte* const body = ring_.reserve(message.size);
    if (body == nullptr) {
        wants.consumed = ring_.roomy_at();
        return PLEXUS_AGAIN;
    }
    gather(body, message.pieces, message.count);
    ring_.publish(Kind::message, static_cast<std::uint32_t>(message.size));
    doorbell_->notify();
    return PLEXUS_OK;
}

CopyChoice::Pick Sender::choose_large(const Message& message, bool can_fetch) {
    const Lock hold(large_);
    return choose(message, can_fetch);
}

CopyChoice::Pick Sender::choose(const Message& message, bool can_fetch) {
    const CopySet allowed = limits.allowed(message.size, message.size - message.pieces[0].size, can_fetch);
    if (!allowed.several()) return {allowed.first(), false, 0};
    if (meter_ == nullptr) meter_ = std::make_unique<CopyMeter>(*out_, area_size_);
    // The first copy to a page takes several times as long, by any strategy.
    return meter_->next(message.size, allowed, message.size > limits.eager || area_.is_populated());
}

std::uint32_t Sender::begin_sample(const Message& message, const CopyChoice::Pick& pick, bool behind) {
    return pick.trial == 0 ? 0 : meter_->begin(message.size, pick, behind); // 0: there was no choice
}

std::int32_t Sender::send_in_area(const Message& message, Wants& wants) {
    const Lock hold(large_);
    if (const std::int32_t status = make_area(); status != PLEXUS_OK) return status;
    std::byte* const body = ring_.reserve(sizeof(AreaBody));
    if (body == nullptr) {
        wants.consumed = ring_.roomy_at();
        return PLEXUS_AGAIN;
    }
    const CopyChoice::Pick choice = choose(message, false);
    const bool behind = choice.measure && area_.held() > 0;
    auto part = area_.take(message.size);
    if (!part) {
        wants.released = area_.roomy_at(message.size);
        return PLEXUS_AGAIN;
    }
    part->sample = begin_sample(message, choice, behind);
    std::chrono::steady_clock::time_point start;
    if (choice.measure) start = std::chrono::steady_clock::now();
    std::byte* to = area_.at(*part);
    if (choice.copy == Copy::cached) {
        gather(to, message.pieces, message.count);
    } else {
        for (std::uint32_t i = 0; i < message.count; ++i) {
            copy_past_caches(to, static_cast<const std::byte*>(message.pieces[i].data),
                             message.pieces[i].size);
            to += message.pieces[i].size;
        }
        flush_past_caches();
    }
    if (choice.measure)
        meter_->copied(static_cast<std::uint32_t>(part->sample), std::chrono::steady_clock::now() - start);
    std::memcpy(body, &*part, sizeof *part);
    ring_.publish(Kind::area, sizeof *part);
    doorbell_->notify();
    return PLEXUS_OK;
}

std::int32_t Sender::post(const Message& message, const CopyChoice::Pick& pick, Wants& wants) {
    const Lock hold(large_); // fail() waits: a post is counted before it, or refused after it
    if ((gate_.load(std::memory_order_acquire) & kBroken) != 0) return PLEXUS_LINK_LOST;
    if (posted_.is_full()) {
        wants.fetched = posted_.pushed() - PostedSends::kMost + 1;
        return PLEXUS_AGAIN;
    }
    FetchHead head{};
    head.pieces = message.count - 1;
    const std::size_t body_size = sizeof head + head.pieces * sizeof(FetchPiece);
    std::byte* const body = ring_.reserve(body_size);
    if (body == nullptr) {
        wants.consumed = ring_.roomy_at();
        return PLEXUS_AGAIN;
    }
    head.head_size = static_cast<std::uint32_t>(message.pieces[0].size);
    head.rest = message.size - head.head_size;
    head.sample = begin_sample(message, pick, false);
    copy_small(head.head, message.pieces[0].data, head.head_size);
    std::memcpy(body, &head, sizeof head);
    for (std::uint32_t i = 0; i < head.pieces; ++i) {
        const plexus_view& piece = message.pieces[i + 1];
        const FetchPiece there{reinterpret_cast<std::uintptr_t>(piece.data), piece.size};
        std::memcpy(body + sizeof head + i * sizeof there, &there, sizeof there);
    }
    posted_.push(message.token, message.size, message.pieces + 1, head.pieces); // before the peer can answer
    ring_.publish(Kind::fetch, static_cast<std::uint32_t>(body_size));
    doorbell_->notify();
    return PLEXUS_POSTED;
}

// True: the caller answers AGAIN, and the poller calls `writable` later. False: try again.
bool Sender::block(const Wants& wants) {
    wanted_.consumed.store(wants.consumed, std::memory_order_relaxed);
    wanted_.released.store(wants.released, std::memory_order_relaxed);
    wanted_.fetched.store(wants.fetched, std::memory_order_relaxed);
    blocked_.store(true, std::memory_order_seq_cst); // [blocked]
    if ((gate_.load(std::memory_order_seq_cst) & kConnecting) == 0)
        out_->waiting.store(1, std::memory_order_seq_cst); // pairs with Receiver::made_room
    if (!may_go_on()) return true;
    return !blocked_.exchange(false, std::memory_order_seq_cst); // false now: the poller was faster
}

bool Sender::may_go_on() const noexcept {
    const std::uint32_t gate = gate_.load(std::memory_order_seq_cst);
    return gate == 0 &&
           out_->consumed.load(std::memory_order_seq_cst) >=
               wanted_.consumed.load(std::memory_order_relaxed) &&
           out_->released.load(std::memory_order_seq_cst) >=
               wanted_.released.load(std::memory_order_relaxed) &&
           posted_.ended() >= wanted_.fetched.load(std::memory_order_relaxed);
}

bool Sender::has_news() const noexcept {
    if (fetched() > posted_.ended() || is_asked()) return true;
    const bool waits = blocked_.load(std::memory_order_seq_cst);
    const bool streams = is_streaming();
    if (!waits && !streams) return false;
    ask_for_progress();
    return (waits && may_go_on()) || (streams && progress() != stuck_at_);
}

// The peer takes `waiting` back when it tells of progress, also if that is less than is needed here. Before
// this context waits for more, it has to ask again; and look again, because the peer may have been faster.
void Sender::ask_for_progress() const noexcept {
    if ((gate_.load(std::memory_order_seq_cst) & kConnecting) != 0) return; // nothing is attached yet
    if (out_->waiting.load(std::memory_order_seq_cst) == 0)
        out_->waiting.store(1, std::memory_order_seq_cst); // pairs with Receiver::made_room
}

// Pairs with the store in Receiver::end_fetch: the peer no longer reads those bytes.
std::uint64_t Sender::fetched() const noexcept {
    return std::min(out_->fetched.load(std::memory_order_seq_cst), posted_.pushed());
}

// Pairs with the store in Receiver::ask. A peer that asks for nothing that was posted gets no answer.
bool Sender::is_asked() const noexcept {
    return !posted_.is_empty() && out_->asked.load(std::memory_order_seq_cst) != answered_.asked;
}

// Grows whenever the peer has taken something.
std::uint64_t Sender::progress() const noexcept {
    return out_->consumed.load(std::memory_order_seq_cst) + out_->released.load(std::memory_order_seq_cst);
}

std::uint32_t Sender::settle(void* cookie, bool gone) {
    std::uint32_t done = 0;
    const bool asked = is_asked(); // before fetched(): it asks for one that is not fetched then
    const std::uint64_t until = fetched();
    for (std::uint64_t ended = posted_.ended(); ended < until; ++ended) {
        const bool failed =
            (out_->fetch_failed.load(std::memory_order_relaxed) >> ended % PostedSends::kMost & 1) != 0;
        host_.sent(cookie, posted_.pop(), failed ? PLEXUS_MESSAGE_LOST : PLEXUS_OK);
        ++done;
    }
    if (asked && !posted_.is_empty()) [[unlikely]]
        answer();
    if (gone || !blocked_.load(std::memory_order_seq_cst)) return done;
    if (!may_go_on()) {
        ask_for_progress();
        if (!may_go_on()) return done;
    }
    if (!blocked_.exchange(false, std::memory_order_seq_cst)) return done;
    host_.writable(cookie);
    return done + 1;
}

// Copies for the peer what it could not read of the oldest post, or says that this is lost.
void Sender::answer() {
    answered_.asked = out_->asked.load(std::memory_order_seq_cst);
    if (answered_.post != posted_.ended()) {
        answered_.post = posted_.ended();
        answered_.end = 0;
    }
    const std::vector<plexus_view>& pieces = posted_.oldest().rest;
    std::uint64_t whole = 0;
    for (const plexus_view& piece : pieces) whole += piece.size;
    const std::uint64_t from = out_->wanted_from.load(std::memory_order_relaxed);
    // No receiver asks for what has come, what is lost, or what there is not.
    if (from < answered_.end) return;
    if (from >= whole) return;
    const std::uint64_t size = std::min(whole - from, kMostPart);
    answered_.end = from + size;
    const int reason = send_part(socket_, pieces, from, size);
    if (reason == 0) return;
    answered_.end = whole;
    if (send_packet(socket_, kLostPacket)) host_.log(host_.self, PLEXUS_ERROR, text_of_loss(reason).c_str());
}

void Sender::fail(void* cookie) {
    std::vector<void*> lost;
    {
        const Lock hold(large_);
        const std::uint32_t gate = gate_.fetch_or(kBroken, std::memory_order_seq_cst);
        while (!posted_.is_empty()) lost.push_back(posted_.pop());
        if ((gate & kStreaming) != 0) {
            lost.push_back(stream_.token);
            stream_ = {};
            stream_bytes_.store(0, std::memory_order_relaxed);
            gate_.fetch_and(~std::uint32_t{kStreaming}, std::memory_order_relaxed);
        }
    }
    for (void* const token : lost) host_.sent(cookie, token, PLEXUS_MESSAGE_LOST);
}

CopyChoice::AllLearned Sender::learned() const {
    CopyChoice::AllLearned now{};
    bool is_free = false;
    if (large_.try_lock()) {
        if (meter_ != nullptr) now = meter_->learned();
        large_.unlock();
        is_free = true;
    }
    const Lock hold(told_.mutex);
    if (is_free) told_.all = now;
    return told_.all;
}

std::uint64_t Sender::queued_bytes() const noexcept {
    // The peer says only each quarter of the ring how far it is: less than that says nothing.
    const std::uint64_t consumed = out_->consumed.load(std::memory_order_relaxed);
    const std::uint64_t written = ring_.position();
    const std::uint64_t lines = consumed < written ? written - consumed : 0;
    const std::uint64_t in_ring = lines > ring_.lines() / 4 ? lines * kLineBytes : 0;
    return in_ring + area_.held() + posted_.bytes() + stream_bytes_.load(std::memory_order_relaxed);
}

} // namespace plexus::shm
