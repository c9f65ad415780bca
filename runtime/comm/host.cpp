// SPDX-License-Identifier: BSD-3-Clause
// The host's side of the module contract: plain C functions that find their way back to an
// Exchange. No exception leaves them.
#include "comm/exchange.h"

#include <openssl/hmac.h>
#include <openssl/rand.h>

namespace plexus::comm {

struct HostCalls {
    static Method& method(void* self) { return *static_cast<Method*>(self); }
    static Connection& connection(void* cookie) { return *static_cast<Connection*>(cookie); }
    static Exchange& exchange(void* cookie) { return *connection(cookie).method->exchange; }
    static wire::View view(plexus_view v) { return {static_cast<const std::byte*>(v.data), v.size}; }

    static void log(void* self, plexus_level level, const char* text) {
        constexpr log::Level kLevels[] = {log::Level::error, log::Level::warn, log::Level::info,
                                          log::Level::debug};
        if (Method& m = method(self); m.opening && level == PLEXUS_ERROR) {
            m.open_failure += (m.open_failure.empty() ? "" : "; ") + std::string(text);
            return; // said once, by whoever asked for it
        }
        log::write(kLevels[std::min<int>(level, PLEXUS_DEBUG)], method(self).name, text);
    }

    static int32_t setting(void* self, const char* key, plexus_text* value) {
        const Method& m = method(self);
        // A module that opened another asks on its behalf: "tcp.port" is that module's key.
        const bool inner = std::string_view(key).find('.') != std::string_view::npos;
        const std::string name = inner ? std::string("method.") + key : "method." + m.name + "." + key;
        const config::Settings& settings = *m.exchange->settings_;
        if (!settings.has(name)) return PLEXUS_BAD_ARGUMENT;
        const std::string text = settings.plain(name);
        if (text.size() > value->capacity) return PLEXUS_TOO_LARGE;
        value->size = text.size();
        std::memcpy(value->data, text.data(), value->size);
        return PLEXUS_OK;
    }

    static void random(void*, void* data, std::size_t size) {
        if (RAND_bytes(static_cast<unsigned char*>(data), static_cast<int>(size)) != 1)
            std::abort(); // no randomness, no safety
    }

    static int32_t prove(void* self, plexus_view transcript, std::uint8_t proof[32]) {
        const auto& key = method(self).exchange->options().key;
        unsigned size = 32;
        const auto* done =
            HMAC(EVP_sha256(), key.data(), static_cast<int>(key.size()),
                 static_cast<const unsigned char*>(transcript.data), transcript.size, proof, &size);
        return done != nullptr ? PLEXUS_OK : PLEXUS_RUNTIME_LOST;
    }

    static int32_t accepted(void* self, plexus_link* link, const plexus_id* peer, void** cookie) {
        ContextId id;
        std::memcpy(id.bytes.data(), peer->bytes, id.bytes.size());
        return method(self).exchange->accepted(method(self), link, id, cookie);
    }
    static void opened(void* cookie) { exchange(cookie).opened(connection(cookie)); }
    static void deliver(void* cookie, plexus_view message) {
        exchange(cookie).deliver(connection(cookie), view(message), nullptr);
    }
    static int32_t place(void* cookie, plexus_view head, std::size_t rest, void** where, void** token) {
        return exchange(cookie).place(connection(cookie), view(head), rest, where, token);
    }
    static void placed(void* cookie, void* token, int32_t status) {
        exchange(cookie).placed(connection(cookie), static_cast<Placement*>(token),
                                static_cast<Status>(status));
    }
    static void sent(void*, void* token, int32_t status) {
        auto* posted = static_cast<Posted*>(token);
        posted->ended(posted, status == PLEXUS_OK ? Status::ok : Status::message_lost);
    }
    static void writable(void* cookie) { connection(cookie).object->flush(connection(cookie)); }
    static void lost(void* cookie, int32_t status, plexus_view why) {
        exchange(cookie).lost(connection(cookie), static_cast<Status>(status),
                              std::string(static_cast<const char*>(why.data), why.size));
    }

    static int32_t open_inner(void* self, const char* name, const plexus_host* under, const plexus_ops** ops,
                              plexus_module** module) {
        const loader::Module* inner = method(self).exchange->modules_->find(name);
        if (inner == nullptr) {
            log::error("comm",
                       "{} was told to work over \"{}\", but there is no such method here: see plexus info",
                       method(self).name, name);
            return PLEXUS_NO_METHOD;
        }
        *ops = &inner->ops;
        return inner->ops.open(under, module);
    }
};

plexus_host Exchange::make_host(Method& method) {
    plexus_host host{};
    host.size = PLEXUS_HOST_SIZE;
    host.self = &method;
    std::memcpy(host.id.bytes, method.exchange->self_.bytes.data(), sizeof host.id.bytes);
    host.log = &HostCalls::log;
    host.setting = &HostCalls::setting;
    host.random = &HostCalls::random;
    host.prove = &HostCalls::prove;
    host.accepted = &HostCalls::accepted;
    host.opened = &HostCalls::opened;
    host.deliver = &HostCalls::deliver;
    host.place = &HostCalls::place;
    host.placed = &HostCalls::placed;
    host.sent = &HostCalls::sent;
    host.writable = &HostCalls::writable;
    host.lost = &HostCalls::lost;
    host.open_inner = &HostCalls::open_inner;
    return host;
}

} // namespace plexus::comm
