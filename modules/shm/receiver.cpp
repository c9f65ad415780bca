// SPDX-License-Identifier: BSD-3-Clause
#include "shm/receiver.h"

#include "shm/socket.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <system_error>

namespace plexus::shm {
namespace {

constexpr std::int32_t kBroken = -1;
constexpr std::int32_t kUnderWay = 1;
constexpr std::uint64_t kOneGo = 1 << 20; // bytes, about 100 us
constexpr std::size_t kMostArea = std::size_t{1} << 30;

template <class T>
T copy_of(const std::byte* from) noexcept {
    T value;
    std::memcpy(&value, from, sizeof value);
    return value;
}

} // namespace

void Receiver::attach(Direction& in, Line* ring, std::uint32_t ring_lines, const Bell& bell, int socket,
                      pid_t peer) {
    in_ = &in;
    ring_.attach(ring, ring_lines, in.consumed);
    bell_ = &bell;
    socket_ = socket;
    peer_ = peer;
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
    if (!read_part(record, part)) return kBroken;
    host_.deliver(cookie, {area_.data() + part.offset, part.size});
    pass(record);
    release(part.release_to);
    return PLEXUS_OK;
}

std::int32_t Receiver::take_fetch(const RingReader::Record& record, void* cookie) {
    if (record.size < sizeof(FetchHead)) return broken("a record is too short");
    const auto head = copy_of<FetchHead>(record.body);
    if (head.head_size > sizeof head.head || head.pieces > kMostFetchPieces ||
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
    begin(head.head, head.head_size, head.rest, cookie);
    incoming_->remote = RemoteBytes(peer_, std::move(pieces));
    if (incoming_->where == nullptr) {
        incoming_.reset();
        end_fetch();
        return PLEXUS_OK;
    }
    copying_ = true;
    const std::int32_t status = go_on_copying(cookie);
    if (status < 0) return status;
    return copying_ ? kUnderWay : std::int32_t{PLEXUS_OK};
}

// One event, or kBroken.
std::int32_t Receiver::go_on_copying(void* cookie) {
    Incoming& in = *incoming_;
    const std::uint64_t size = std::min(in.rest, kOneGo);
    const bool read = in.remote.read(in.where, size);
    const int reason = errno;
    // Only now is it sure whose memory that was: a process number can be used again.
    if (!peer_is_there(socket_)) {
        trouble_ = "the peer's process ended";
        return kBroken;
    }
    if (!read) {
        trouble_ = "reading the peer's memory failed: " + std::system_category().message(reason) +
                   "; set cma = off for the shm method";
        return kBroken;
    }
    in.where += size;
    in.rest -= size;
    if (in.rest > 0) return 1;
    void* const token = in.token;
    copying_ = false;
    incoming_.reset();
    end_fetch();
    host_.placed(cookie, token, PLEXUS_OK);
    return 1;
}

std::int32_t Receiver::take_stream(const RingReader::Record& record, void* cookie) {
    if (record.size != sizeof(StreamHead)) return broken("a record is too short");
    const auto head = copy_of<StreamHead>(record.body);
    if (head.head_size > sizeof head.head || head.rest == 0)
        return broken("a message says no sensible lengths");
    pass(record);
    begin(head.head, head.head_size, head.rest, cookie);
    return PLEXUS_OK;
}

std::int32_t Receiver::take_chunk(const RingReader::Record& record, void* cookie,
                                  const std::atomic<bool>& gone) {
    AreaBody part;
    if (incoming_ == nullptr) return broken("a part comes without its message");
    if (!read_part(record, part)) return kBroken;
    Incoming& in = *incoming_;
    if (part.size == 0 || part.size > in.rest) return broken("a part is longer than its message");
    if (in.where != nullptr && !gone.load(std::memory_order_relaxed)) {
        std::memcpy(in.where, area_.data() + part.offset, part.size);
        in.where += part.size;
    }
    in.rest -= part.size;
    pass(record);
    release(part.release_to);
    if (in.rest > 0) return PLEXUS_OK;
    const bool wanted = in.where != nullptr;
    void* const token = in.token;
    incoming_.reset();
    if (wanted) host_.placed(cookie, token, PLEXUS_OK);
    return PLEXUS_OK;
}

void Receiver::begin(const std::byte* head, std::uint32_t head_size, std::uint64_t rest, void* cookie) {
    incoming_ = std::make_unique<Incoming>();
    incoming_->rest = rest;
    // The host wants an aligned view no less here than in deliver.
    alignas(kLineBytes) std::byte room[sizeof(FetchHead::head)];
    std::memcpy(room, head, head_size);
    void* where = nullptr;
    if (host_.place(cookie, {room, head_size}, rest, &where, &incoming_->token) == PLEXUS_OK)
        incoming_->where = static_cast<std::byte*>(where);
}

void Receiver::end_fetch() {
    in_->fetched.store(++fetched_, std::memory_order_seq_cst); // pairs with Sender::fetched
    bell_->notify();
}

bool Receiver::read_part(const RingReader::Record& record, AreaBody& part) {
    if (record.size != sizeof part) {
        broken("a record is too short");
        return false;
    }
    part = copy_of<AreaBody>(record.body);
    if (!area_ && !fetch_area()) return false;
    if (part.offset % kLineBytes == 0 && part.offset <= area_.size() &&
        part.size <= area_.size() - part.offset)
        return true;
    broken("a message lies outside the shared area");
    return false;
}

// The packet was sent before the record was written.
bool Receiver::fetch_area() {
    std::array<std::uint8_t, kAreaPacket.size()> bytes{};
    const Packet packet = receive_packet(socket_, bytes, true);
    if (packet.is == Packet::Is::here && packet.size == bytes.size() && bytes == kAreaPacket &&
        packet.fd_count == 1)
        return map_area(packet.fds[0].get());
    broken("there is no shared area");
    return false;
}

bool Receiver::map_area(int fd) {
    if (area_) {
        broken("a second shared area comes");
        return false;
    }
    area_ = SharedMemory::map(fd, kLineBytes, kMostArea);
    if (!area_) trouble_ = "the peer's shared area can't be mapped: " + std::system_category().message(errno);
    return static_cast<bool>(area_);
}

void Receiver::pass(const RingReader::Record& record) {
    if (ring_.pass(record.size)) made_room();
}

void Receiver::release(std::uint64_t to) {
    in_->released.store(to, std::memory_order_seq_cst); // pairs with AreaWriter::refresh
    made_room();
}

// Progress has been stored (seq_cst) before: a sender that waits either sees it, or has
// stored `waiting` early enough to be seen here. See Sender::block.
void Receiver::made_room() {
    if (in_->waiting.load(std::memory_order_seq_cst) == 0) return;
    in_->waiting.store(0, std::memory_order_seq_cst);
    bell_->notify();
}

void Receiver::fail(void* cookie, bool gone) {
    copying_ = false;
    const std::unique_ptr<Incoming> ended = std::move(incoming_);
    if (ended != nullptr && ended->where != nullptr && !gone)
        host_.placed(cookie, ended->token, PLEXUS_MESSAGE_LOST);
}

std::int32_t Receiver::broken(std::string why) {
    trouble_ = "corrupt ring: " + why;
    return kBroken;
}

} // namespace plexus::shm
