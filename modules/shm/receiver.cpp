// SPDX-License-Identifier: BSD-3-Clause
#include "shm/receiver.h"

#include "common/system_text.h"

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace plexus::shm {
namespace {

constexpr std::int32_t kLinkBroken = -1;
constexpr std::int32_t kUnderWay = 1;
constexpr std::uint64_t kBytesAtOnce = 1 << 20; // bytes, about 100 us

template <class T>
T copy_of(const std::byte* from) noexcept {
    T value;
    std::memcpy(&value, from, sizeof value);
    return value;
}

} // namespace

void Receiver::attach(Direction& in, Line* ring, std::uint32_t ring_lines, const Doorbell& doorbell,
                      const Peer& peer, SpareDescriptor& spare) {
    in_ = &in;
    ring_.attach(ring, ring_lines, in.consumed);
    doorbell_ = &doorbell;
    peer_ = peer;
    spare_ = &spare;
}

std::int32_t Receiver::take_large(const RingReader::Record& record, void* cookie,
                                  const std::atomic<bool>& gone) {
    if (incoming_ != nullptr && record.kind != Kind::chunk) return broken("a message is not complete");
    switch (record.kind) {
    case Kind::area:
        return take_area(record, cookie);
    case Kind::fetch:
        return take_fetch(record, cookie);
    case Kind::stream:
        return take_stream(record, cookie);
    case Kind::chunk:
        return take_chunk(record, cookie, gone);
    case Kind::message:
    case Kind::filler:
        break; // dealt with before
    }
    return broken("a record is of no known kind");
}

std::int32_t Receiver::take_area(const RingReader::Record& record, void* cookie) {
    AreaBody part;
    if (const std::int32_t status = read_part(record, part); status != PLEXUS_OK) return status;
    CopyTimer timer(static_cast<std::uint32_t>(part.sample));
    host_.deliver(cookie, {area_.data() + part.offset, part.size});
    timer.answer(*in_, true);
    pass(record);
    release(part.release_to);
    return PLEXUS_OK;
}

std::int32_t Receiver::take_fetch(const RingReader::Record& record, void* cookie) {
    if (record.size < sizeof(FetchHead)) return broken("a record is too short");
    const auto head = copy_of<FetchHead>(record.body);
    if (head.head_size > sizeof head.head || head.pieces > kMostFetchPieces || head.sample > kSamples ||
        record.size != sizeof head + head.pieces * sizeof(FetchPiece))
        return broken("a message says no sensible lengths");
    std::vector<iovec> pieces(head.pieces);
    std::uint64_t left = head.rest;
    for (std::uint32_t i = 0; i < head.pieces; ++i) {
        const auto piece = copy_of<FetchPiece>(record.body + sizeof head + i * sizeof(FetchPiece));
        if (piece.size > left) return broken("a message says no sensible lengths");
        left -= piece.size;
        pieces[i] = {reinterpret_cast<void*>(static_cast<std::uintptr_t>(piece.address)), piece.size};
    }
    if (left != 0) return broken("a message says no sensible lengths");
    pass(record);
    begin(head.head, head.head_size, head.rest, head.sample, cookie);
    incoming_->remote = RemoteBytes(peer_.number, std::move(pieces));
    if (incoming_->where == nullptr) {
        incoming_->timer.answer(*in_, false);
        incoming_.reset();
        end_fetch(true);
        return PLEXUS_OK;
    }
    if (in_->can_fetch.load(std::memory_order_relaxed) == 0) {
        ask();
        return kUnderWay;
    }
    state_ = State::copying;
    const std::int32_t status = go_on_copying(cookie);
    if (status < 0) return status;
    return is_held_up() ? kUnderWay : std::int32_t{PLEXUS_OK};
}

std::int32_t Receiver::go_on(void* cookie) { return is_copying() ? go_on_copying(cookie) : 0; }

// One event, or kLinkBroken.
std::int32_t Receiver::go_on_copying(void* cookie) {
    Incoming& in = *incoming_;
    if (in.lost) return end_copying(cookie, PLEXUS_MESSAGE_LOST);
    const bool by_part = static_cast<bool>(in.part);
    const std::uint64_t here = by_part ? in.part.size() - in.part_at : kBytesAtOnce;
    const std::uint64_t size = std::min({in.rest, kBytesAtOnce, here});
    bool read = true;
    int reason = 0;
    const bool wanted = writes_.try_write([&] {
        if (by_part) {
            std::memcpy(in.where, in.part.data() + in.part_at, size);
        } else {
            read = in.remote.read(in.where, size);
            reason = errno;
        }
    });
    if (!wanted) return 0;
    // Only now is it sure whose memory that was: a process number can be used again.
    if (!by_part && !peer_is_there(peer_.socket, peer_.process)) {
        error_ = "the peer's process ended";
        return kLinkBroken;
    }
    if (!read) {
        note_refused(reason);
        ask();
        return 1;
    }
    in.where += size;
    in.rest -= size;
    if (in.rest == 0) return end_copying(cookie, PLEXUS_OK);
    if (by_part && (in.part_at += size) == in.part.size()) ask();
    return 1;
}

void Receiver::note_refused(int reason) {
    std::string text = "reading a message from the peer's memory failed: " + module::system_text(reason) +
                       "; the peer copies it";
    // EFAULT is about these addresses; anything else forbids what comes later, too.
    if (reason == EFAULT) {
        text += ": keep what is sent mapped until it is delivered, or set cma = off where other processes "
                "can't read it";
    } else {
        text += ", and from now on all messages of this link: permit cross-memory attach, or set cma = off";
        in_->can_fetch.store(0, std::memory_order_relaxed);
    }
    // A process that ends loses its memory before its descriptors: its end is what is told next.
    if (reason != ESRCH) host_.log(host_.self, PLEXUS_WARN, text.c_str());
}

// The peer answers by its socket.
void Receiver::ask() {
    state_ = State::asking;
    incoming_->timer.answer(*in_, false);
    incoming_->part = {};
    incoming_->part_at = 0;
    in_->wanted_from.store(incoming_->size - incoming_->rest, std::memory_order_relaxed);
    in_->asked.store(++asked_, std::memory_order_seq_cst); // pairs with PartSender::is_asked
    doorbell_->notify();
}

std::int32_t Receiver::end_copying(void* cookie, std::int32_t status) {
    void* const token = incoming_->token;
    incoming_->timer.answer(*in_, status == PLEXUS_OK);
    state_ = State::ready;
    incoming_.reset();
    end_fetch(status == PLEXUS_OK);
    host_.placed(cookie, token, status);
    return 1;
}

std::int32_t Receiver::take_stream(const RingReader::Record& record, void* cookie) {
    if (record.size != sizeof(StreamHead)) return broken("a record is too short");
    const auto head = copy_of<StreamHead>(record.body);
    if (head.head_size > sizeof head.head || head.rest == 0 || head.sample > kSamples)
        return broken("a message says no sensible lengths");
    pass(record);
    begin(head.head, head.head_size, head.rest, head.sample, cookie);
    return PLEXUS_OK;
}

std::int32_t Receiver::take_chunk(const RingReader::Record& record, void* cookie,
                                  const std::atomic<bool>& gone) {
    AreaBody part;
    if (incoming_ == nullptr) return broken("a part comes without its message");
    if (const std::int32_t status = read_part(record, part); status != PLEXUS_OK) return status;
    Incoming& in = *incoming_;
    if (part.size == 0 || part.size > in.rest) return broken("a part is longer than its message");
    if (in.where != nullptr) {
        // What was stopped is taken out of the ring all the same.
        (void)writes_.try_write([&] { std::memcpy(in.where, area_.data() + part.offset, part.size); });
        in.where += part.size;
    }
    in.rest -= part.size;
    pass(record);
    release(part.release_to);
    if (in.rest > 0) return PLEXUS_OK;
    const bool wanted = in.where != nullptr;
    in.timer.answer(*in_, wanted);
    void* const token = in.token;
    incoming_.reset();
    if (wanted && !gone.load(std::memory_order_relaxed)) host_.placed(cookie, token, PLEXUS_OK);
    return PLEXUS_OK;
}

void Receiver::begin(const std::byte* head, std::uint32_t head_size, std::uint64_t rest, std::uint32_t sample,
                     void* cookie) {
    incoming_ = std::make_unique<Incoming>();
    incoming_->timer = CopyTimer(sample);
    incoming_->size = incoming_->rest = rest;
    // The host wants an aligned view no less here than in deliver.
    alignas(kLineBytes) std::byte room[sizeof(FetchHead::head)];
    std::memcpy(room, head, head_size);
    void* where = nullptr;
    if (host_.place(cookie, {room, head_size}, rest, &where, &incoming_->token) == PLEXUS_OK)
        incoming_->where = static_cast<std::byte*>(where);
}

void Receiver::end_fetch(bool read) {
    const std::uint64_t bit = std::uint64_t{1} << fetched_ % 64;
    const std::uint64_t failed = read ? fetch_failed_ & ~bit : fetch_failed_ | bit;
    if (failed != fetch_failed_) in_->fetch_failed.store(fetch_failed_ = failed, std::memory_order_relaxed);
    in_->fetched.store(++fetched_, std::memory_order_seq_cst); // pairs with Sender::fetched
    doorbell_->notify();
}

// OK; kLinkBroken; kUnderWay: the area can't be had yet, the record stays where it is.
std::int32_t Receiver::read_part(const RingReader::Record& record, AreaBody& part) {
    if (record.size != sizeof part) return broken("a record is too short");
    part = copy_of<AreaBody>(record.body);
    if (!area_)
        if (const std::int32_t status = need_area(); status != PLEXUS_OK) return status;
    if (part.sample > kSamples) return broken("a record names no sample");
    if (part.offset % kLineBytes == 0 && part.offset <= area_.size() &&
        part.size <= area_.size() - part.offset)
        return PLEXUS_OK;
    return broken("a message lies outside the shared area");
}

// The packet was sent before the record was written.
std::int32_t Receiver::need_area() {
    switch (hear()) {
    case Heard::area:
        return PLEXUS_OK;
    case Heard::later:
        return kUnderWay;
    case Heard::nonsense:
        return kLinkBroken;
    case Heard::nothing:
    case Heard::part:
    case Heard::end:
        break;
    }
    return broken("there is no shared area");
}

// On an open link the socket brings the area, or the end. The packet stays in the queue until the area is
// mapped: a descriptor that finds no room in this process would be lost with it.
Receiver::Heard Receiver::hear() {
    std::array<std::uint8_t, kAreaPacket.size()> bytes{};
    Packet packet = receive_packet(peer_.socket, bytes, true, true);
    if (packet.fds_missing) {
        spare_->make_room();
        packet = receive_packet(peer_.socket, bytes, true, true);
    }
    if (packet.is != Packet::Is::here) {
        spare_->restore();
        return packet.is == Packet::Is::none ? Heard::nothing : Heard::end;
    }
    const bool lost = packet.size == bytes.size() && bytes == kLostPacket;
    const bool is_part = lost || (packet.size == bytes.size() && bytes == kPartPacket);
    if (area_ && !is_part) {
        error_ = "a second shared area comes";
        packet = {}; // with the descriptors
        spare_->restore();
        return Heard::nonsense;
    }
    if (packet.fds_missing) {
        spare_->restore();
        return wait_for("this process has no descriptor left for the peer's shared memory: raise its limit "
                        "(ulimit -n)");
    }
    if (is_part) return take_part(packet, lost);
    if (packet.size != bytes.size() || bytes != kAreaPacket || packet.fd_count != 1) {
        error_ = "the peer sent what no peer sends";
        packet = {};
        spare_->restore();
        return Heard::nonsense;
    }
    area_ = SealedMemory::map(packet.fds[0].get(), kLineBytes, kMostArea);
    const int reason = errno;
    packet.fds[0].reset();
    spare_->restore();
    if (!area_ && reason != EINVAL)
        return wait_for("the peer's shared area can't be mapped: " + module::system_text(reason));
    if (!area_) {
        error_ = "the peer's shared area can be cut short, or has no sensible size";
        return Heard::nonsense;
    }
    (void)receive_packet(peer_.socket, bytes, false);
    state_ = is_short() ? State::ready : state_;
    return Heard::area;
}

// The answer to ask(). It stays in the queue, as an area does, until it is mapped.
Receiver::Heard Receiver::take_part(Packet& packet, bool lost) {
    const bool due = answered_ != asked_ && packet.fd_count == (lost ? 0 : 1);
    SealedMemory part;
    int reason = EINVAL;
    if (due && !lost) {
        part = SealedMemory::map(packet.fds[0].get(), 1, kMostPart);
        reason = errno;
    }
    packet = {};
    spare_->restore();
    if (due && !lost && !part && reason != EINVAL)
        return wait_for("the bytes of a message can't be mapped: " + module::system_text(reason));
    if (!due || (!lost && !part)) {
        error_ = "the peer sent what no peer sends";
        return Heard::nonsense;
    }
    std::array<std::uint8_t, kPartPacket.size()> bytes{};
    (void)receive_packet(peer_.socket, bytes, false);
    ++answered_;
    if (state_ != State::asking) return Heard::nothing; // the link was given up meanwhile
    incoming_->part = std::move(part);
    incoming_->lost = lost;
    state_ = State::copying;
    return Heard::part;
}

Receiver::Heard Receiver::wait_for(std::string what) {
    error_ = std::move(what);
    if (state_ == State::ready) state_ = State::shortage;
    return Heard::later;
}

void Receiver::pass(const RingReader::Record& record) {
    if (ring_.pass(record.size)) made_room();
}

void Receiver::release(std::uint64_t to) {
    in_->released.store(to, std::memory_order_seq_cst); // pairs with AreaWriter::refresh
    made_room();
}

// Progress has been stored (seq_cst) before: a sender that waits either sees it, or has
// stored `waiting` early enough to be seen here. See RoomWait::begin.
void Receiver::made_room() {
    if (in_->waiting.load(std::memory_order_seq_cst) == 0) return;
    in_->waiting.store(0, std::memory_order_seq_cst);
    doorbell_->notify();
}

void Receiver::give_up(std::atomic<bool>& gone) {
    gone.store(true, std::memory_order_relaxed); // first: whoever finds the writes stopped sees it
    writes_.stop();
}

void Receiver::fail(void* cookie, bool gone) {
    state_ = State::ready;
    const std::unique_ptr<Incoming> ended = std::move(incoming_);
    if (ended != nullptr && ended->where != nullptr && !gone)
        host_.placed(cookie, ended->token, PLEXUS_MESSAGE_LOST);
}

std::int32_t Receiver::broken(std::string why) {
    error_ = "corrupt ring: " + why;
    return kLinkBroken;
}

} // namespace plexus::shm
