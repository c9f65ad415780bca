// SPDX-License-Identifier: BSD-3-Clause
// The C functions that a module under test calls back, and the promises of abi.h that can
// be checked only at that moment.
#include "support/bare_host.h"

#include "base/log.h"
#include "support/log_guard.h"

#include <cstdlib>
#include <cstring>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <sys/random.h>

namespace plexus::testing {
namespace {

std::string_view text_of(plexus_view bytes) { return {static_cast<const char*>(bytes.data), bytes.size}; }
ByteView bytes_of(plexus_view bytes) { return {static_cast<const std::byte*>(bytes.data), bytes.size}; }

log::Level level_of(plexus_level level) {
    switch (level) {
    case PLEXUS_ERROR:
        return log::Level::error;
    case PLEXUS_WARN:
        return log::Level::warn;
    case PLEXUS_INFO:
        return log::Level::info;
    case PLEXUS_DEBUG:
        break;
    }
    return log::Level::debug;
}

constexpr const char* kLevelNames[] = {"error", "warn", "info", "debug"};
constexpr std::size_t kLine = 64; // the alignment that a place promises

} // namespace

// The host's side of abi.h. Every function that names an end goes through check_callback.
struct BareHost::Calls {
    static BareHost& host(void* self) { return *static_cast<BareHost*>(self); }

    static void log(void* self, plexus_level level, const char* text) {
        BareHost& h = host(self);
        {
            const std::lock_guard hold(h.mutex_);
            h.log_.push_back(std::string(kLevelNames[level]) + ": " + text);
        }
        log::write(level_of(level), h.method_.name, text);
    }

    static std::int32_t setting(void* self, const char* key, plexus_text* value) {
        BareHost& h = host(self);
        const std::string name = key;
        const auto given = h.options_.settings.find(name);
        // Of the host, which need not know it.
        const bool is_hosts = name == "limits.max_message" || name == "within";
        if (is_hosts && given == h.options_.settings.end()) return PLEXUS_BAD_ARGUMENT;
        const std::size_t dot = name.find('.');
        const char* preset = is_hosts ? ""
                             : dot == std::string::npos
                                 ? h.method_.preset(name)
                                 : find_method(name.substr(0, dot)).preset(name.substr(dot + 1));
        if (preset == nullptr) return PLEXUS_BAD_ARGUMENT;
        const std::string text = given == h.options_.settings.end() ? preset : given->second;
        if (text.size() > value->capacity) return PLEXUS_TOO_LARGE;
        std::memcpy(value->data, text.data(), text.size());
        value->size = text.size();
        return PLEXUS_OK;
    }

    static void random(void*, void* data, std::size_t size) {
        auto* bytes = static_cast<std::byte*>(data);
        while (size > 0) {
            const ssize_t got = ::getrandom(bytes, size, 0);
            if (got <= 0) std::abort();
            bytes += got;
            size -= static_cast<std::size_t>(got);
        }
    }

    static std::int32_t hmac(void* self, plexus_view transcript, std::uint8_t code[32]) {
        const BareHost& h = host(self);
        unsigned size = 0;
        const auto* made =
            ::HMAC(::EVP_sha256(), h.options_.key.data(), static_cast<int>(h.options_.key.size()),
                   static_cast<const unsigned char*>(transcript.data), transcript.size, code, &size);
        return made != nullptr && size == 32 ? PLEXUS_OK : PLEXUS_UNSUPPORTED;
    }

    static std::int32_t accepted(void* self, plexus_link* link, const plexus_id* peer, void** cookie) {
        BareHost& h = host(self);
        h.check_callback("accepted", nullptr);
        End& end = h.adopt(true);
        end.peer = *peer;
        {
            const std::lock_guard hold(end.calls_);
            end.link_ = link;
        }
        end.opened_ = true;
        const std::int32_t verdict = h.hooks.accepted ? h.hooks.accepted(end) : std::int32_t{PLEXUS_OK};
        if (verdict != PLEXUS_OK) {
            const std::lock_guard hold(end.calls_);
            end.link_ = nullptr;
            return verdict;
        }
        *cookie = &end;
        const std::lock_guard hold(h.mutex_);
        h.incoming_.push_back(&end);
        ++h.incoming_count_;
        return PLEXUS_OK;
    }

    // A refusal here is for good and comes with `lost`.
    static void resume(End& end) {
        const std::lock_guard hold(end.order_);
        static_cast<void>(end.host.send_backlog(end));
    }

    static void opened(void* cookie) {
        End& end = *static_cast<End*>(cookie);
        BareHost& h = end.host;
        h.check_callback("opened", &end);
        if (end.accepted || end.opened_) report_violation("`opened` came for an end that was open already");
        if (end.lost_) report_violation("`opened` came after `lost`");
        end.opened_ = true;
        ++end.writable_;
        resume(end);
        if (h.hooks.opened) h.hooks.opened(end);
    }

    static void deliver(void* cookie, plexus_view message) {
        End& end = *static_cast<End*>(cookie);
        BareHost& h = end.host;
        h.check_callback("deliver", &end);
        if (!end.opened_) report_violation("`deliver` came before `opened`");
        if (end.lost_) report_violation("`deliver` came after `lost`");
        if (reinterpret_cast<std::uintptr_t>(message.data) % 8 != 0)
            report_violation("a delivered message is not 8-byte aligned");
        h.finish(end, bytes_of(message));
    }

    static std::int32_t place(void* cookie, plexus_view head, std::size_t rest, void** where, void** token) {
        End& end = *static_cast<End*>(cookie);
        BareHost& h = end.host;
        h.check_callback("place", &end);
        if (!end.opened_) report_violation("`place` came before `opened`");
        if (end.lost_) report_violation("`place` came after `lost`");
        if (head.size > PLEXUS_HEAD_MAX) report_violation("`place` came with a head above PLEXUS_HEAD_MAX");
        if (h.hooks.place) {
            const std::int32_t verdict = h.hooks.place(end, rest);
            if (verdict != PLEXUS_OK) return verdict;
        }
        // The head goes right before the rest, so that the whole message is one stretch.
        const std::size_t room = (kLine + rest + kLine - 1) / kLine * kLine;
        auto* base = static_cast<std::byte*>(std::aligned_alloc(kLine, room));
        if (base == nullptr) return PLEXUS_TOO_LARGE;
        std::byte* start = base + kLine - head.size;
        std::memcpy(start, head.data, head.size);
        const std::lock_guard hold(h.mutex_);
        *where = base + kLine;
        *token = base;
        h.placements_.emplace(base, Placement{&end, {base, std::free}, start, head.size + rest});
        return PLEXUS_OK;
    }

    static void placed(void* cookie, void* token, std::int32_t status) {
        End& end = *static_cast<End*>(cookie);
        BareHost& h = end.host;
        h.check_callback("placed", &end, true);
        std::unique_lock hold(h.mutex_);
        const auto found = h.placements_.find(token);
        if (found == h.placements_.end() || found->second.end != &end) {
            report_violation("`placed` came for something that was not being placed");
            return;
        }
        const Placement placement = std::move(found->second);
        h.placements_.erase(found);
        hold.unlock();
        if (status != PLEXUS_OK) return;
        ++end.placed_;
        h.finish(end, {placement.head, placement.size});
    }

    static void sent(void* cookie, void* token, std::int32_t status) {
        End& end = *static_cast<End*>(cookie);
        BareHost& h = end.host;
        h.check_callback("sent", nullptr, true); // a posted send is ended also after disconnect
        {
            const std::lock_guard hold(h.mutex_);
            const auto found = h.posted_.find(token);
            if (found == h.posted_.end() || found->second.first != &end) {
                report_violation("`sent` came for something that was not posted, or twice");
                return;
            }
            h.posted_.erase(found);
        }
        ++end.completed_;
        if (h.hooks.sent) h.hooks.sent(end, status);
    }

    static void arriving(void* cookie) {
        End& end = *static_cast<End*>(cookie);
        end.host.check_callback("arriving", &end);
        if (end.lost_) report_violation("`arriving` came after `lost`");
        ++end.arriving_;
    }

    static void writable(void* cookie) {
        End& end = *static_cast<End*>(cookie);
        BareHost& h = end.host;
        h.check_callback("writable", &end);
        if (end.lost_) report_violation("`writable` came after `lost`");
        ++end.writable_;
        resume(end);
        if (h.hooks.writable) h.hooks.writable(end);
    }

    static void lost(void* cookie, std::int32_t status, plexus_view why) {
        End& end = *static_cast<End*>(cookie);
        BareHost& h = end.host;
        h.check_callback("lost", &end);
        if (end.lost_) report_violation("`lost` came twice for one link");
        if (why.size == 0) report_violation("`lost` came without a reason");
        {
            const std::lock_guard one(end.calls_); // a send that returns just now is not posted yet
            const std::lock_guard hold(h.mutex_);
            for (const auto& [token, kept] : h.posted_)
                if (kept.first == &end) report_violation("`lost` came before every posted send was ended");
            for (const auto& [token, placement] : h.placements_)
                if (placement.end == &end) report_violation("`lost` came before every placement was ended");
        }
        {
            const std::lock_guard hold(end.records_);
            end.lost_status_ = status;
            end.lost_why_ = text_of(why);
        }
        end.lost_ = true;
        if (h.hooks.lost) {
            h.hooks.lost(end);
        } else {
            h.disconnect(end);
        }
    }

    static std::int32_t open_inner(void* self, const char* name, const plexus_host* under,
                                   const plexus_ops** ops, plexus_module** module) {
        try {
            const Method& inner = find_method(name);
            const std::int32_t status = inner.ops.open(under, module);
            if (status == PLEXUS_OK) *ops = &inner.ops;
            return status;
        } catch (const std::exception& error) {
            log(self, PLEXUS_ERROR, error.what());
            return PLEXUS_BAD_CONFIG;
        }
    }
};

void BareHost::fill_table() {
    table_.size = PLEXUS_HOST_SIZE;
    table_.self = this;
    table_.log = Calls::log;
    table_.setting = Calls::setting;
    table_.random = Calls::random;
    table_.hmac = Calls::hmac;
    table_.accepted = Calls::accepted;
    table_.opened = Calls::opened;
    table_.deliver = Calls::deliver;
    table_.place = Calls::place;
    table_.placed = Calls::placed;
    table_.arriving = Calls::arriving;
    table_.sent = Calls::sent;
    table_.writable = Calls::writable;
    table_.lost = Calls::lost;
    table_.open_inner = Calls::open_inner;
}

} // namespace plexus::testing
