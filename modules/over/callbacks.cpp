// SPDX-License-Identifier: BSD-3-Clause
#include "over/callbacks.h"

#include "over/link.h"
#include "over/module.h"

namespace plexus::over {

struct Callbacks {
    static Module& module(void* self) { return *static_cast<Module*>(self); }
    static Link& link(void* cookie) { return *static_cast<Link*>(cookie); }

    static void log(void* self, plexus_level level, const char* text) {
        const Module& m = module(self);
        const std::string from = m.inner_name().empty() ? "" : m.inner_name() + ": ";
        m.host().log(m.host().self, level, (from + text).c_str());
    }

    // The inner module's parameters are asked for as "tcp.sndbuf"; a key that names its module
    // comes from further below.
    static std::int32_t setting(void* self, const char* key, plexus_text* value) {
        const Module& m = module(self);
        std::string name = key;
        if (!m.inner_name().empty() && name.find('.') == std::string::npos)
            name = m.inner_name() + "." + name;
        return m.host().setting(m.host().self, name.c_str(), value);
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
        {
            const Lock hold(made.calls_);
            made.inner_ = inner;
        }
        made.known_as_.peer = *peer;
        made.known_as_.came_in = true;
        const std::int32_t status = made.on_accepted();
        if (status == PLEXUS_OK) {
            *cookie = &made;
        } else {
            m.remove_link(made);
        }
        return status;
    }

    static void opened(void* cookie) {
        if (Link& l = link(cookie); !l.is_over()) l.on_opened();
    }

    static void deliver(void* cookie, plexus_view message) {
        if (Link& l = link(cookie); !l.is_over()) l.on_deliver(message);
    }

    static std::int32_t place(void* cookie, plexus_view head, std::size_t rest, void** where, void** token) {
        Link& l = link(cookie);
        if (l.is_over()) return PLEXUS_LINK_LOST;
        const std::int32_t status = l.on_place(head, rest, where, token);
        if (status == PLEXUS_OK) l.placing_.push_back(*token);
        return status;
    }

    static void placed(void* cookie, void* token, std::int32_t status) {
        Link& l = link(cookie);
        // The host of a method whose links are fragile counts what arrives: with a message left out, what it
        // keeps for another link would be the wrong ones. What is being placed ends with the link.
        if (status == PLEXUS_MESSAGE_LOST && !l.is_over()) {
            l.cut(PLEXUS_LINK_LOST, "the inner method has lost a message");
        } else if (std::erase(l.placing_, token) != 0) {
            l.on_placed(token, status);
        }
    }

    static void arriving(void* cookie) { tell_arriving(link(cookie)); }

    static void sent(void* cookie, void* token, std::int32_t status) {
        Link& l = link(cookie);
        l.on_sent(token, status);
        if (--l.posted_ == 0 && l.is_cut_) l.owner_.owe(l); // `lost` waited for it
    }

    static void writable(void* cookie) {
        if (Link& l = link(cookie); !l.is_over()) l.on_writable();
    }

    static void lost(void* cookie, std::int32_t status, plexus_view why) {
        Link& l = link(cookie);
        if (l.is_over()) return;
        l.on_ending();
        if (l.is_over()) return;
        if (l.is_known_) {
            l.told_lost_ = true;
            l.on_over();
            l.owner_.host().lost(l.known_as_.cookie, status, why);
        } else {
            l.cut(status, std::string(module::text_of(why)));
        }
    }

    static std::int32_t open_inner(void* self, const char* name, const plexus_host* under,
                                   const plexus_ops** ops, plexus_module** inner) {
        const plexus_host& host = module(self).host();
        // Settings belong to a method's name: below the second of one name comes what is below the first.
        if (module(self).inner_name() == name) {
            const std::string why =
                std::string("methods work over one another in a circle: ") + name + " below " + name;
            host.log(host.self, PLEXUS_ERROR, why.c_str());
            return PLEXUS_BAD_CONFIG;
        }
        return host.open_inner(host.self, name, under, ops, inner);
    }
};

plexus_host host_table(Module& module) {
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
    table.arriving = Callbacks::arriving;
    table.sent = Callbacks::sent;
    table.writable = Callbacks::writable;
    table.lost = Callbacks::lost;
    table.open_inner = Callbacks::open_inner;
    return table;
}

} // namespace plexus::over
