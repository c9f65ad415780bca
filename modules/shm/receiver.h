// SPDX-License-Identifier: BSD-3-Clause
// The incoming half of a link: takes records out of the ring and gives messages to the
// host, in place where that is possible. Everything that the peer writes is copied once and
// checked; bad input is reported by error(), never followed. @thread progress
//
// What the host may rely on. A view that deliver() hands over stays mapped until it returns, and keeps its
// bytes if the peer keeps the rules: the sender writes there again only when the record was passed. A peer
// that breaks them can change the bytes meanwhile (it is a process of the same user that holds the job's
// key): the host reads a value that it checks once, into a variable of its own, and uses that. What place()
// fills is private.
#pragma once

#include "base/process_memory.h"
#include "base/sealed_memory.h"
#include "common/host_writes.h"
#include "shm/copy_meter.h"
#include "shm/doorbell.h"
#include "shm/ring.h"
#include "shm/socket.h"
#include "shm/spare_descriptor.h"

#include "plexus/module/abi.h"

#include <memory>
#include <string>

namespace plexus::shm {

class Receiver {
  public:
    explicit Receiver(const plexus_host& host)
      : host_(host) {}

    /// Whom the messages come from: the socket to it, its process number, and a pidfd if there is one.
    struct Peer {
        int socket = -1;
        pid_t number = 0;
        int process = -1;
    };
    void attach(Direction& in, Line* ring, std::uint32_t ring_lines, const Doorbell& doorbell,
                const Peer& peer, SpareDescriptor& spare);

    /// Up to `budget` records. Stops early if a callback, or another thread, gives the link up
    /// (`gone`). Negative: the link is broken, error() says how.
    std::int32_t receive(void* cookie, std::uint32_t budget, const std::atomic<bool>& gone) {
        if (state_ != State::ready) [[unlikely]]
            return go_on(cookie);
        std::uint32_t handled = 0;
        RingReader::Record record;
        while (handled < budget && ring_.look(record) == RingReader::Look::record) {
            ++handled;
            if (record.kind == Kind::message && incoming_ == nullptr) [[likely]] {
                host_.deliver(cookie, {record.body, record.size});
                if (ring_.pass(record.size)) made_room();
            } else if (const std::int32_t status = take_large(record, cookie, gone); status != PLEXUS_OK) {
                return status < 0 ? status : static_cast<std::int32_t>(handled);
            }
            if (gone.load(std::memory_order_relaxed)) break;
        }
        if (ring_.corrupt()) [[unlikely]]
            return broken("a record has a length that can't be");
        return static_cast<std::int32_t>(handled);
    }

    bool has_news() const noexcept {
        return state_ == State::copying || (state_ == State::ready && ring_.ready());
    }
    /// It is copying, or waits for memory or for bytes of a message.
    bool is_held_up() const noexcept { return state_ != State::ready; }
    /// A large message is being read from the peer's memory: call receive() again without
    /// being told.
    bool is_copying() const noexcept { return state_ == State::copying; }
    /// This process has no descriptor or no memory for the peer's area: call hear() again later. Until then
    /// nothing is received, and nothing is lost. error() says what is missing.
    bool is_short() const noexcept { return state_ == State::shortage; }
    const std::string& error() const noexcept { return error_; }

    enum class Heard : std::uint8_t { nothing, area, part, later, end, nonsense };
    /// Reads the peer's socket. part: is_copying(). later: is_short(). nonsense: the link is broken, error()
    /// says how.
    Heard hear();
    /// Sets `gone`. Afterwards nothing is written to a place of the host's any more. @thread any
    void give_up(std::atomic<bool>& gone);
    /// Ends a placement that will not be completed. `gone`: the host doesn't want to know.
    void fail(void* cookie, bool gone);

  private:
    /// A message that is larger than what one record carries.
    struct Incoming {
        RemoteBytes remote;         // Kind::fetch
        SealedMemory part;          // the next bytes, if `remote` can't be read
        std::uint64_t part_at = 0;  // of those, taken
        bool lost = false;          // the peer has no memory for them
        std::byte* where = nullptr; // null: the host doesn't want it
        void* token = nullptr;
        std::uint64_t size = 0;
        std::uint64_t rest = 0;
        CopyTimer timer;
    };

    std::int32_t take_large(const RingReader::Record& record, void* cookie, const std::atomic<bool>& gone);
    std::int32_t take_area(const RingReader::Record& record, void* cookie);
    std::int32_t take_fetch(const RingReader::Record& record, void* cookie);
    std::int32_t take_stream(const RingReader::Record& record, void* cookie);
    std::int32_t take_chunk(const RingReader::Record& record, void* cookie, const std::atomic<bool>& gone);
    std::int32_t go_on(void* cookie);
    std::int32_t go_on_copying(void* cookie);
    void begin(const std::byte* head, std::uint32_t head_size, std::uint64_t rest, std::uint32_t sample,
               void* cookie);
    void note_refused(int reason);
    void ask();
    Heard take_part(Packet& packet, bool lost);
    std::int32_t end_copying(void* cookie, std::int32_t status);
    void end_fetch(bool read);
    std::int32_t read_part(const RingReader::Record& record, AreaBody& part);
    std::int32_t need_area();
    Heard wait_for(std::string what);
    void pass(const RingReader::Record& record);
    void release(std::uint64_t to);
    void made_room();
    std::int32_t broken(std::string why);

    const plexus_host& host_;
    RingReader ring_;
    enum class State : std::uint8_t { ready, copying, asking, shortage } state_ = State::ready;
    std::unique_ptr<Incoming> incoming_;
    Direction* in_ = nullptr;
    const Doorbell* doorbell_ = nullptr;
    SealedMemory area_;
    std::uint64_t fetched_ = 0;
    std::uint64_t fetch_failed_ = 0;
    std::uint64_t asked_ = 0;
    std::uint64_t answered_ = 0; // of those
    Peer peer_;
    SpareDescriptor* spare_ = nullptr;
    std::string error_;
    module::HostWrites writes_; // to the places of the host's
};

} // namespace plexus::shm
