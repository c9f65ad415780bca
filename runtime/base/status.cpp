// SPDX-License-Identifier: BSD-3-Clause
#include "plexus/error.h"
#include "plexus/id.h"
#include "plexus/module/abi.h"

namespace plexus {

// The ABI's numbers and ours are one list.
static_assert(static_cast<int>(Status::too_large) == PLEXUS_TOO_LARGE);
static_assert(static_cast<int>(Status::unsupported) == PLEXUS_UNSUPPORTED);
static_assert(static_cast<int>(Status::bad_config) == PLEXUS_BAD_CONFIG);
static_assert(static_cast<int>(Status::denied) == PLEXUS_DENIED);
static_assert(static_cast<int>(Status::busy) == PLEXUS_BUSY);
static_assert(static_cast<int>(Status::no_method) == PLEXUS_NO_METHOD);
static_assert(static_cast<int>(Status::message_lost) == PLEXUS_MESSAGE_LOST);
static_assert(static_cast<int>(Status::link_lost) == PLEXUS_LINK_LOST);
static_assert(static_cast<int>(Status::wrong_peer) == PLEXUS_WRONG_PEER);
static_assert(static_cast<int>(Status::peer_lost) == PLEXUS_PEER_LOST);
static_assert(static_cast<int>(Status::runtime_lost) == PLEXUS_RUNTIME_LOST);

std::string_view to_string(Status status) noexcept {
    switch (status) {
    case Status::ok:
        return "ok";
    case Status::again:
        return "try again";
    case Status::posted:
        return "posted";
    case Status::bad_argument:
        return "bad argument";
    case Status::too_large:
        return "message too large";
    case Status::unsupported:
        return "unsupported";
    case Status::no_handler:
        return "no handler";
    case Status::bad_signature:
        return "signature differs";
    case Status::dead_pointer:
        return "dead pointer";
    case Status::bad_archive:
        return "bad archive";
    case Status::handler_threw:
        return "handler threw";
    case Status::would_deadlock:
        return "would deadlock";
    case Status::timed_out:
        return "timed out";
    case Status::bad_config:
        return "bad configuration";
    case Status::bad_module:
        return "bad module";
    case Status::no_method:
        return "no method applies";
    case Status::denied:
        return "denied";
    case Status::not_found:
        return "not found";
    case Status::busy:
        return "busy";
    case Status::message_lost:
        return "message lost";
    case Status::link_lost:
        return "link lost";
    case Status::wrong_peer:
        return "wrong peer";
    case Status::peer_lost:
        return "peer lost";
    case Status::peer_back:
        return "peer is back";
    case Status::runtime_lost:
        return "runtime lost";
    case Status::closed:
        return "closed";
    case Status::deadline_exceeded:
        return "deadline exceeded";
    case Status::cancelled:
        return "cancelled";
    }
    return "unknown status";
}

const std::error_category& error_category() noexcept {
    static const struct final : std::error_category {
        const char* name() const noexcept override { return "plexus"; }
        std::string message(int value) const override {
            return std::string(to_string(static_cast<Status>(value)));
        }
    } category;
    return category;
}

std::string to_string(const ContextId& id) {
    constexpr char kDigits[] = "0123456789abcdef";
    std::string text;
    text.reserve(2 * id.bytes.size());
    for (const std::uint8_t byte : id.bytes) {
        text += kDigits[byte >> 4];
        text += kDigits[byte & 15];
    }
    return text;
}

} // namespace plexus
