// SPDX-License-Identifier: BSD-3-Clause
#include "transport/host_table.h"

#include "base/crypto.h"
#include "transport/datagrams.h"
#include "transport/demux.h"

namespace plexus::transport {
namespace {

Interface& interface_of(void* self) { return *static_cast<Interface*>(self); }
Link& link_of(void* cookie) { return *static_cast<Link*>(cookie); }
const Host& host_of(void* cookie) { return link_of(cookie).interface.calls; }
wire::View view(plexus_view v) { return {static_cast<const std::byte*>(v.data), v.size}; }

// No exception may pass through a module. What is thrown here comes from the program's own functions (an
// error handler, a policy) or from a lack of memory.
template <class F>
void guarded(const Host& host, F f) noexcept {
    std::string what;
    try {
        return f();
    } catch (const std::exception& error) { what = error.what(); } catch (...) {
        what = "something that is no std::exception";
    }
    try {
        host.endpoint->listener().on_error(Status::handler_threw, "a function threw inside a turn: " + what);
    } catch (...) {
        log::error("transport", "a function threw inside a turn, and so did the error handler: {}", what);
    }
}

void log_line(void* self, plexus_level level, const char* text) {
    constexpr log::Level kLevels[] = {log::Level::error, log::Level::warn, log::Level::info,
                                      log::Level::debug};
    if (Interface& interface = interface_of(self); interface.opening.under_way && level == PLEXUS_ERROR) {
        interface.opening.failure += (interface.opening.failure.empty() ? "" : "; ") + std::string(text);
        return; // said once, by whoever asked for it
    }
    log::write(kLevels[std::min<int>(level, PLEXUS_DEBUG)], interface_of(self).name, text);
}

int32_t tell_setting(const std::string& text, plexus_text* value) {
    if (text.size() > value->capacity) return PLEXUS_TOO_LARGE;
    value->size = text.size();
    std::memcpy(value->data, text.data(), value->size);
    return PLEXUS_OK;
}

int32_t setting(void* self, const char* key, plexus_text* value) {
    const Interface& interface = interface_of(self);
    if (std::string_view(key) == "limits.max_message")
        return tell_setting(std::to_string(interface.calls.endpoint->options().max_message), value);
    // A module that opened another asks on its behalf: "tcp.port" is that module's key.
    const std::size_t dot = std::string_view(key).find('.');
    const bool inner = dot != std::string_view::npos;
    // Under a method that encrypts, an inner one has no boundary: its `within` is about what goes in the
    // clear.
    if (inner && std::string_view(key).substr(dot + 1) == method::kWithin &&
        !interface.shows(std::string_view(key).substr(0, dot)))
        return tell_setting("any", value);
    const std::string name = inner ? std::string("method.") + key : "method." + interface.name + "." + key;
    const config::Settings& settings = *interface.calls.settings;
    if (!settings.has(name)) return PLEXUS_BAD_ARGUMENT;
    return tell_setting(settings.plain(name), value);
}

void random_bytes(void*, void* data, std::size_t size) { crypto::fill_random(data, size); }

int32_t hmac(void* self, plexus_view transcript, std::uint8_t code[32]) {
    const auto made = crypto::hmac_sha256(interface_of(self).calls.endpoint->options().key,
                                          {static_cast<const std::byte*>(transcript.data), transcript.size});
    std::copy(made.begin(), made.end(), code);
    return PLEXUS_OK;
}

int32_t accepted(void* self, plexus_link* link, const plexus_id* peer, void** cookie) {
    Interface& interface = interface_of(self);
    ContextId id;
    std::memcpy(id.bytes.data(), peer->bytes, id.bytes.size());
    int32_t answer = PLEXUS_AGAIN;
    guarded(interface.calls,
            [&] { answer = interface.calls.failover->accepted(interface, link, id, cookie); });
    return answer;
}

void opened(void* cookie) {
    guarded(host_of(cookie), [&] { host_of(cookie).failover->opened(link_of(cookie)); });
}

void deliver(void* cookie, plexus_view message) {
    guarded(host_of(cookie),
            [&] { host_of(cookie).demux->deliver(link_of(cookie), view(message), nullptr); });
}

int32_t place(void* cookie, plexus_view head, std::size_t rest, void** where, void** token) {
    int32_t answer = PLEXUS_TOO_LARGE;
    guarded(host_of(cookie),
            [&] { answer = host_of(cookie).demux->place(link_of(cookie), view(head), rest, where, token); });
    return answer;
}

void placed(void* cookie, void* token, int32_t status) {
    guarded(host_of(cookie), [&] {
        host_of(cookie).demux->placed(link_of(cookie), static_cast<Placement*>(token),
                                      static_cast<Status>(status));
    });
}

void arriving(void* cookie) {
    guarded(host_of(cookie), [&] { host_of(cookie).demux->arriving(link_of(cookie)); });
}

void sent(void*, void* token, int32_t status) {
    auto* const completion = static_cast<Completion*>(token);
    try { // not guarded(): the link of the cookie may have ended before its sends
        completion->ended(completion, status == PLEXUS_OK ? Status::ok : Status::message_lost);
    } catch (const std::exception& error) {
        log::error("transport", "the end of a send could not be told: {}", error.what());
    }
}

void writable(void* cookie) {
    Link& link = link_of(cookie);
    guarded(host_of(cookie), [&] { link.channel->on_outbox([&](Outbox& outbox) { outbox.flush(link); }); });
}

void lost(void* cookie, int32_t status, plexus_view why) {
    guarded(host_of(cookie), [&] {
        host_of(cookie).failover->lost(link_of(cookie), static_cast<Status>(status),
                                       std::string(static_cast<const char*>(why.data), why.size));
    });
}

int32_t open_inner(void* self, const char* name, const plexus_host* under, const plexus_ops** ops,
                   plexus_module** module) {
    const loader::Module* const inner = interface_of(self).calls.modules->find(name);
    if (inner == nullptr) {
        log::error("transport",
                   "{} was told to work over \"{}\", but there is no such method here: see plexus info",
                   interface_of(self).name, name);
        return PLEXUS_NO_METHOD;
    }
    if ((inner->ops.caps & PLEXUS_CAP_UNRELIABLE) != 0 && !interface_of(self).unreliable()) {
        log::error("transport", "{} was told to work over \"{}\", which loses messages",
                   interface_of(self).name, name);
        return PLEXUS_UNSUPPORTED;
    }
    interface_of(self).opening.inner.push_back(inner);
    *ops = &inner->ops;
    return inner->ops.open(under, module);
}

// Of a method that loses messages: the cookie is a DatagramLink.

DatagramLink& datagrams_of(void* cookie) { return *static_cast<DatagramLink*>(cookie); }

int32_t accepted_datagrams(void* self, plexus_link* link, const plexus_id* peer, void** cookie) {
    Interface& interface = interface_of(self);
    ContextId id;
    std::memcpy(id.bytes.data(), peer->bytes, id.bytes.size());
    int32_t answer = PLEXUS_AGAIN;
    guarded(interface.calls, [&] { answer = interface.datagrams->accepted(link, id, cookie); });
    return answer;
}

void opened_datagrams(void* cookie) {
    DatagramLink& link = datagrams_of(cookie);
    guarded(link.owner.calls(), [&] { link.owner.opened(link); });
}

void deliver_datagram(void* cookie, plexus_view message) {
    DatagramLink& link = datagrams_of(cookie);
    guarded(link.owner.calls(), [&] { link.owner.deliver(link, view(message)); });
}

void lost_datagrams(void* cookie, int32_t, plexus_view why) {
    Datagrams& owner = datagrams_of(cookie).owner;
    guarded(owner.calls(), [&] {
        owner.lost(datagrams_of(cookie), std::string_view(static_cast<const char*>(why.data), why.size));
    });
}

} // namespace

plexus_host make_host(Interface& interface) {
    plexus_host host{};
    host.size = PLEXUS_HOST_SIZE;
    host.self = &interface;
    std::memcpy(host.id.bytes, interface.calls.endpoint->self().bytes.data(), sizeof host.id.bytes);
    host.log = &log_line;
    host.setting = &setting;
    host.random = &random_bytes;
    host.hmac = &hmac;
    host.accepted = &accepted;
    host.opened = &opened;
    host.deliver = &deliver;
    host.place = &place;
    host.placed = &placed;
    host.arriving = &arriving;
    host.sent = &sent;
    host.writable = &writable;
    host.lost = &lost;
    host.open_inner = &open_inner;
    if (interface.unreliable()) {
        host.accepted = &accepted_datagrams;
        host.opened = &opened_datagrams;
        host.deliver = &deliver_datagram;
        host.place = [](void*, plexus_view, std::size_t, void**, void**) -> int32_t {
            return PLEXUS_UNSUPPORTED;
        };
        host.placed = [](void*, void*, int32_t) {};
        host.arriving = [](void*) {};
        host.sent = [](void*, void*, int32_t) {};
        host.writable = [](void*) {};
        host.lost = &lost_datagrams;
    }
    return host;
}

} // namespace plexus::transport
