// SPDX-License-Identifier: BSD-3-Clause
// The incoming half of a link: takes records out of the ring and gives messages to the
// host, in place where that is possible. Everything that the peer writes is copied once and
// checked; what doesn't fit ends in trouble(), never in a wild access. @thread progress
#pragma once

#include "shm/cma.h"
#include "shm/doorbell.h"
#include "shm/memory.h"
#include "shm/ring.h"

#include "plexus/module/abi.h"

#include <memory>
#include <string>

namespace plexus::shm {

class Receiver {
  public:
    explicit Receiver(const plexus_host& host)
      : host_(host) {}

    void attach(Direction& in, Line* ring, std::uint32_t ring_lines, const Bell& bell, int socket,
                pid_t peer);

    /// Up to `budget` records. Stops early if a callback, or another thread, gives the link up
    /// (`gone`). Negative: the link is broken, trouble() says how.
    std::int32_t receive(void* cookie, std::uint32_t budget, const std::atomic<bool>& gone) {
        if (copying_) [[unlikely]]
            return go_on_copying(cookie);
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

    bool has_news() const noexcept { return copying_ || ring_.ready(); }
    /// A large message is being read from the peer's memory: call receive() again without
    /// being told.
    bool is_copying() const noexcept { return copying_; }
    const std::string& trouble() const noexcept { return trouble_; }

    /// The peer's area, from its packet. False: trouble() says what is wrong.
    bool map_area(int fd);
    /// Ends a placement that will not be completed. `gone`: the host doesn't want to know.
    void fail(void* cookie, bool gone);

  private:
    /// A message that is larger than what one record carries.
    struct Incoming {
        RemoteBytes remote;         // Kind::fetch
        std::byte* where = nullptr; // null: the host doesn't want it
        void* token = nullptr;
        std::uint64_t rest = 0;
    };

    std::int32_t take_large(const RingReader::Record& record, void* cookie, const std::atomic<bool>& gone);
    std::int32_t take_area(const RingReader::Record& record, void* cookie);
    std::int32_t take_fetch(const RingReader::Record& record, void* cookie);
    std::int32_t take_stream(const RingReader::Record& record, void* cookie);
    std::int32_t take_chunk(const RingReader::Record& record, void* cookie, const std::atomic<bool>& gone);
    std::int32_t go_on_copying(void* cookie);
    void begin(const std::byte* head, std::uint32_t head_size, std::uint64_t rest, void* cookie);
    void end_fetch();
    bool read_part(const RingReader::Record& record, AreaBody& part);
    bool fetch_area();
    void pass(const RingReader::Record& record);
    void release(std::uint64_t to);
    void made_room();
    std::int32_t broken(std::string why);

    const plexus_host& host_;
    RingReader ring_;
    bool copying_ = false;
    std::unique_ptr<Incoming> incoming_;
    Direction* in_ = nullptr;
    const Bell* bell_ = nullptr;
    SharedMemory area_;
    std::uint64_t fetched_ = 0;
    int socket_ = -1;
    pid_t peer_ = 0;
    std::string trouble_;
};

} // namespace plexus::shm
