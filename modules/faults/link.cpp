// SPDX-License-Identifier: BSD-3-Clause
#include "faults/link.h"

#include "faults/module.h"

#include <cstring>
#include <memory>
#include <string>
#include <utility>

namespace plexus::faults {
namespace {

// A link that has swallowed something is cut by then, also if nobody sends any more: a sender
// that waits for an answer to what was swallowed would wait for ever.
constexpr auto kSwallowed = std::chrono::milliseconds(50);

std::int64_t now_ns() {
    return std::chrono::nanoseconds(std::chrono::steady_clock::now().time_since_epoch()).count();
}

} // namespace

Link::Link(Module& owner, std::uint64_t seed)
  : module_(owner)
  , dice_(seed) {
    messages_until_cut_ = owner.plan().drop_link_every;
    const std::uint32_t lost = messages_until_cut_ > 1 ? static_cast<std::uint32_t>(dice_.roll() % 4) : 0;
    messages_carried_ = messages_until_cut_ - std::min(lost, messages_until_cut_);
}

std::int32_t Link::connect(plexus_view inner, const plexus_id& peer, void* cookie) {
    cookie_ = cookie;
    plexus_link* under = nullptr;
    const std::int32_t status = module_.inner_ops().connect(module_.inner(), inner, &peer, this, &under);
    if (status == PLEXUS_OK) inner_ = under;
    return status;
}

std::int32_t Link::refuse(void* cookie) {
    cookie_ = cookie;
    owes_lost_ = "the fault plan refused the connection";
    module_.owe(*this);
    return PLEXUS_OK;
}

void Link::disconnect() {
    given_up_ = true;
    if (plexus_link* inner = inner_.exchange(nullptr)) module_.inner_ops().disconnect(inner);
    module_.bury(*this);
}

std::int32_t Link::send(const plexus_view* pieces, std::uint32_t count, void* token) {
    if (owes_lost_ != nullptr || inner_ == nullptr) return PLEXUS_LINK_LOST;
    if (dice_.hits(module_.plan().again_every)) {
        owes_writable_ = true;
        module_.owe(*this);
        return PLEXUS_AGAIN;
    }
    const bool swallow = messages_until_cut_ != 0 && messages_carried_ == 0;
    std::int32_t status = PLEXUS_OK;
    if (!swallow) {
        ++posted_; // before the call: `sent` may be quicker
        status = module_.inner_ops().send(inner_, pieces, count, token);
        if (status != PLEXUS_POSTED) --posted_;
        if (status != PLEXUS_OK && status != PLEXUS_POSTED) return status;
        if (messages_carried_ > 0) --messages_carried_;
    } else if (swallowing_since_ == 0) {
        swallowing_since_ = now_ns();
        module_.owe(*this);
    }
    if (messages_until_cut_ != 0 && --messages_until_cut_ == 0) {
        owes_lost_ = "the fault plan cut the link";
        module_.inner_ops().disconnect(inner_.exchange(nullptr));
        module_.owe(*this);
    }
    return status;
}

std::int32_t Link::set(const char* key, const char* value, plexus_text& why) {
    plexus_link* inner = inner_;
    if (inner == nullptr) return PLEXUS_LINK_LOST;
    return module_.inner_ops().set(inner, key, value, &why);
}

std::uint32_t Link::row() const {
    std::uint32_t row = 0;
    plexus_link* inner = inner_;
    if (inner != nullptr) (void)module_.inner_ops().row_of(inner, &row);
    return row;
}

bool Link::pay(std::int32_t& handled) {
    const plexus_host& host = module_.host();
    if (given_up_) return true;
    if (owes_writable_.exchange(false) && owes_lost_ == nullptr) {
        ++handled;
        host.writable(cookie_);
    }
    if (given_up_) return true;
    if (owes_lost_ == nullptr) {
        if (swallowing_since_ == 0) return true;
        if (now_ns() - swallowing_since_ < std::chrono::nanoseconds(kSwallowed).count()) return false;
        // Sends end here from now on; the inner link goes when the host has given this one up.
        owes_lost_ = "the fault plan cut the link";
    }
    if (!idle()) return false; // `lost` comes after the last `sent`
    const char* why = owes_lost_;
    ++handled;
    held_.clear();
    host.lost(cookie_, PLEXUS_LINK_LOST, module::view(std::string_view(why)));
    return true;
}

bool Link::keeps_back() const noexcept {
    return module_.plan().delay.count() > 0 || module_.plan().withhold_polls > 0;
}

Link::Held Link::make_held(bool large, plexus_view head, std::size_t rest) const {
    Held held{std::chrono::steady_clock::now() + module_.plan().delay,
              module_.plan().withhold_polls,
              large,
              {},
              head.size,
              head.size + rest};
    held.words.resize((held.bytes + 7) / 8);
    if (head.size > 0) std::memcpy(held.words.data(), head.data, head.size);
    return held;
}

void Link::hold(Held held) {
    if (held_.empty()) module_.holds_back(*this);
    held_.push_back(std::move(held));
}

std::int32_t Link::release(std::chrono::steady_clock::time_point now) {
    std::int32_t handled = 0;
    for (Held& held : held_)
        if (held.polls_left > 0) --held.polls_left;
    while (!given_up_ && !held_.empty() && held_.front().polls_left == 0 && held_.front().due <= now) {
        const Held held = std::move(held_.front());
        held_.pop_front();
        hand_on(held);
        ++handled;
    }
    if (given_up_) held_.clear();
    return handled;
}

void Link::flush() {
    while (!given_up_ && !held_.empty()) {
        const Held held = std::move(held_.front());
        held_.pop_front();
        hand_on(held);
    }
}

void Link::hand_on(const Held& held) {
    const plexus_host& host = module_.host();
    const auto* bytes = reinterpret_cast<const std::byte*>(held.words.data());
    if (!held.large) {
        host.deliver(cookie_, {bytes, held.bytes});
        return;
    }
    void* where = nullptr;
    void* token = nullptr;
    const std::size_t rest = held.bytes - held.head_bytes;
    if (host.place(cookie_, {bytes, held.head_bytes}, rest, &where, &token) != PLEXUS_OK) return;
    std::memcpy(where, bytes + held.head_bytes, rest);
    host.placed(cookie_, token, PLEXUS_OK);
}

// What the inner module calls. Cookies are Links, `self` is the Module.
struct Link::Callbacks {
    static Module& module(void* self) { return *static_cast<Module*>(self); }
    static Link& link(void* cookie) { return *static_cast<Link*>(cookie); }

    static void log(void* self, plexus_level level, const char* text) {
        const Module& m = module(self);
        m.host().log(m.host().self, level, (m.plan().over + ": " + text).c_str());
    }

    // The inner module's parameters are asked for as "tcp.sndbuf".
    static std::int32_t setting(void* self, const char* key, plexus_text* value) {
        const Module& m = module(self);
        return m.host().setting(m.host().self, (m.plan().over + "." + key).c_str(), value);
    }

    static void random(void* self, void* data, std::size_t size) {
        const plexus_host& host = module(self).host();
        host.random(host.self, data, size);
    }

    static std::int32_t hmac(void* self, plexus_view transcript, std::uint8_t code[32]) {
        const plexus_host& host = module(self).host();
        return host.hmac(host.self, transcript, code);
    }

    static std::int32_t accepted(void* self, plexus_link* inner, const plexus_id* peer, void** cookie) {
        Module& m = module(self);
        Link& made = m.add_link();
        made.inner_ = inner;
        const std::int32_t status = m.host().accepted(m.host().self, made.handle(), peer, &made.cookie_);
        if (status != PLEXUS_OK) {
            m.remove_link(made);
            return status;
        }
        *cookie = &made;
        return PLEXUS_OK;
    }

    static void opened(void* cookie) {
        Link& l = link(cookie);
        if (!l.given_up_) l.module_.host().opened(l.cookie_);
    }

    static void deliver(void* cookie, plexus_view message) {
        Link& l = link(cookie);
        if (l.given_up_ || l.owes_lost_ != nullptr) return;
        if (!l.keeps_back()) {
            l.module_.host().deliver(l.cookie_, message);
            return;
        }
        l.hold(l.make_held(false, message, 0));
    }

    static std::int32_t place(void* cookie, plexus_view head, std::size_t rest, void** where, void** token) {
        Link& l = link(cookie);
        if (l.given_up_ || l.owes_lost_ != nullptr) return PLEXUS_LINK_LOST;
        auto placement = std::make_unique<Placement>();
        if (l.keeps_back()) {
            placement->held = l.make_held(true, head, rest);
            *where = reinterpret_cast<std::byte*>(placement->held.words.data()) + head.size;
        } else {
            const std::int32_t status =
                l.module_.host().place(l.cookie_, head, rest, where, &placement->host_token);
            if (status != PLEXUS_OK) return status;
        }
        *token = placement.release();
        return PLEXUS_OK;
    }

    static void placed(void* cookie, void* token, std::int32_t status) {
        Link& l = link(cookie);
        const std::unique_ptr<Placement> placement(static_cast<Placement*>(token));
        if (placement->host_token != nullptr) {
            l.module_.host().placed(l.cookie_, placement->host_token, status);
        } else if (status == PLEXUS_OK && !l.given_up_) {
            l.hold(std::move(placement->held));
        }
    }

    static void sent(void* cookie, void* token, std::int32_t status) {
        Link& l = link(cookie);
        l.module_.host().sent(l.cookie_, token, status);
        --l.posted_;
    }

    static void writable(void* cookie) {
        Link& l = link(cookie);
        if (!l.given_up_ && l.owes_lost_ == nullptr) l.module_.host().writable(l.cookie_);
    }

    static void lost(void* cookie, std::int32_t status, plexus_view why) {
        Link& l = link(cookie);
        l.flush();
        if (!l.given_up_ && l.owes_lost_ == nullptr) l.module_.host().lost(l.cookie_, status, why);
    }

    static std::int32_t open_inner(void* self, const char* name, const plexus_host* under,
                                   const plexus_ops** ops, plexus_module** inner) {
        const plexus_host& host = module(self).host();
        return host.open_inner(host.self, name, under, ops, inner);
    }
};

plexus_host Link::under(Module& module) {
    plexus_host table{};
    table.size = PLEXUS_HOST_SIZE;
    table.self = &module;
    table.id = module.host().id;
    table.log = Callbacks::log;
    table.setting = Callbacks::setting;
    table.random = Callbacks::random;
    table.hmac = Callbacks::hmac;
    table.accepted = Callbacks::accepted;
    table.opened = Callbacks::opened;
    table.deliver = Callbacks::deliver;
    table.place = Callbacks::place;
    table.placed = Callbacks::placed;
    table.sent = Callbacks::sent;
    table.writable = Callbacks::writable;
    table.lost = Callbacks::lost;
    table.open_inner = Callbacks::open_inner;
    return table;
}

} // namespace plexus::faults
