// SPDX-License-Identifier: BSD-3-Clause
// The function table: from C handles to our types and back.
#include "libfabric/module.h"

namespace plexus::libfabric {
namespace {

Module& of(plexus_module* handle) { return *reinterpret_cast<Module*>(handle); }
Link& of(plexus_link* handle) { return *reinterpret_cast<Link*>(handle); }

std::int32_t open(const plexus_host* host, plexus_module** out) {
    auto options = read_options(*host);
    if (!options) return PLEXUS_BAD_CONFIG;
    auto opened = std::make_unique<Module>(*host, std::move(*options));
    const std::int32_t status = opened->open();
    if (status == PLEXUS_OK) *out = reinterpret_cast<plexus_module*>(opened.release());
    return status;
}

std::int32_t set(const Link& link, const char* key, plexus_text& why) {
    const plexus_host& host = link.module.host();
    std::array<char, 4096> room;
    plexus_text known{room.data(), room.size(), 0};
    if (host.setting(host.self, key, &known) == PLEXUS_BAD_ARGUMENT) {
        module::write(why, "the libfabric method has no such parameter");
        return PLEXUS_BAD_ARGUMENT;
    }
    module::write(why, "this parameter is set when the context starts only");
    return PLEXUS_UNSUPPORTED;
}

} // namespace

const plexus_ops kOps = {
    .size = PLEXUS_OPS_SIZE,
    .caps = PLEXUS_CAP_SLEEP | PLEXUS_CAP_FRAGILE,
    .open = open,
    .close = [](plexus_module* m) { of(m).close(); },
    .drain = [](plexus_module* m) { of(m).drain(); },
    .destroy = [](plexus_module* m) { delete &of(m); },
    .describe = [](plexus_module* m, plexus_text* out) { return of(m).describe(*out); },
    .applies = [](plexus_module* m, plexus_view d, plexus_text* why) { return of(m).applies(d, *why); },
    .connect = [](plexus_module* m, plexus_view d, const plexus_id* peer, void* cookie,
                  plexus_link** link) { return of(m).connect(d, *peer, cookie, link); },
    .disconnect = [](plexus_link* l) { of(l).disconnect(); },
    .send = [](plexus_link* l, const plexus_view* pieces, std::uint32_t count,
               void* token) { return of(l).send(pieces, count, token); },
    .poll = [](plexus_module* m, std::uint32_t budget) { return of(m).poll(budget); },
    .arm = [](plexus_module* m, std::uint64_t* sleep_ns) { return of(m).arm(*sleep_ns); },
    .wait_fd = [](plexus_module* m) { return of(m).wait_fd(); },
    .query = [](plexus_module* m, plexus_link* l, plexus_query what,
                std::uint64_t* value) { return of(m).query(reinterpret_cast<Link*>(l), what, *value); },
    .set = [](plexus_link* l, const char* key, const char*,
              plexus_text* why) { return set(of(l), key, *why); },
};

} // namespace plexus::libfabric
