// SPDX-License-Identifier: BSD-3-Clause
// The hostile member: the method's own module, driven without the runtime, with the job's key. It opens
// links as a context does, and sends whatever bytes a test makes.
#pragma once

#include "plexus/pointer.h"
#include "support/bare_host.h"
#include "wire/frame.h"

#include <chrono>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <vector>

namespace plexus::testing::hostile {

/// Where the victim is, and what it has.
struct Address {
    std::vector<std::byte> saved;      ///< the pointer to its door
    std::vector<std::byte> descriptor; ///< of the method
    detail::Target door;
    detail::Target memory; ///< of kMemoryBytes bytes
    ContextId third;       ///< the honest one

    static constexpr std::size_t kMemoryBytes = 4096;
    const ContextId& id() const noexcept { return door.context; }
    std::vector<std::byte> bytes() const;
    static Address from(std::span<const std::byte> bytes);
};

class Member {
  public:
    /// `names`: the requests that join() declares, by the numbers 1, 2, …
    Member(std::string method, const JobKey& key, Address address,
           std::vector<const detail::RequestInfo*> names);

    const Address& victim() const noexcept { return address_; }
    const std::string& method() const noexcept { return method_; }
    const JobKey& key() const noexcept { return key_; }
    BareHost& host() noexcept { return *host_; }
    /// From now on another context: another identity, and no link.
    void become(const ContextId& id);

    /// A link without a word. @error std::runtime_error none came up in time
    End& dial();
    /// A link with a hello, and the names of requests.
    End& join();
    /// The link that join() made last; makes one if the victim has closed it.
    End& link();

    void hello(End& end, std::uint32_t stream, std::uint8_t version = wire::kVersion);
    void declare(End& end, std::uint16_t number, const detail::RequestInfo& request);
    /// Sends a frame, waiting while there is no room. False: the link is closed.
    bool say(End& end, wire::Bytes frame, std::size_t head = 64);
    /// Sends while there is room, and gives up when there was none for a while. Reads nothing.
    bool push(End& end, const wire::Bytes& frame);

    wire::RequestHeader to_door(std::uint16_t number) const;
    wire::BulkHeader to_memory(std::uint64_t offset = 0, std::uint64_t length = 64) const;
    wire::Bytes request(std::uint16_t number, std::uint64_t call = 0, wire::View arguments = {}) const;
    /// A pointer to an object of this member, as an argument.
    wire::Bytes own_pointer() const;
    std::uint64_t own_table_hash() const;

    /// True as soon as the victim has closed the link.
    bool closed(End& end, std::chrono::milliseconds limit = std::chrono::seconds(10));
    /// Makes progress until `done`, or false.
    template <class Done>
    bool pump(std::chrono::milliseconds limit, Done&& done) {
        return plexus::testing::pump({host_.get()}, limit, std::forward<Done>(done));
    }
    /// True when the victim has answered a call on that link: all that was sent before has been taken.
    bool heard(End& end);
    /// True when a frame of that kind has come, by whichever link, and is in *frame; others are dropped.
    bool next(wire::Kind kind, Bytes* frame = nullptr);
    void drop_frames() { inbox_.clear(); }

  private:
    void open(std::optional<ContextId> id);
    wire::Bytes own_table() const;

    const std::string method_;
    const JobKey key_;
    const Address address_;
    const std::vector<const detail::RequestInfo*> names_;
    std::unique_ptr<BareHost> host_;
    std::deque<Bytes> inbox_; ///< what has come by any link: the victim answers by the one that it likes
    End* link_ = nullptr;
    std::uint32_t stream_ = 1;
    std::uint64_t calls_ = std::uint64_t{1} << 40;
};

template <class Header>
wire::Bytes frame_of(wire::Kind kind, const Header& header, wire::View rest = {}) {
    wire::Bytes bytes(Header::kBytes);
    wire::encode(kind, header, bytes.data());
    bytes.insert(bytes.end(), rest.begin(), rest.end());
    return bytes;
}

inline wire::Bytes frame_of(const wire::LeaseHeader& header, wire::View key = {}) {
    wire::Bytes bytes(wire::LeaseHeader::kBytes);
    wire::encode(header, bytes.data());
    bytes.insert(bytes.end(), key.begin(), key.end());
    return bytes;
}

/// One argument as it is in a frame.
template <class... T>
wire::Bytes arguments_of(const T&... values) {
    detail::Writer out(0);
    (out.put(values), ...);
    return out.bytes();
}

} // namespace plexus::testing::hostile
