// SPDX-License-Identifier: BSD-3-Clause
#include "transport/interface.h"

#include "base/log.h"
#include "method/list.h"
#include "transport/datagrams.h"
#include "transport/endpoint.h"
#include "transport/host_table.h"
#include "transport/reach.h"

#include <algorithm>
#include <span>

namespace plexus::transport {
namespace {

// Asks a module for the rows by which it reaches this context.
Status describe(Interface& interface) {
    struct Room {
        char label[PLEXUS_LABEL_MAX];
        char descriptor[PLEXUS_DESCRIPTOR_MAX];
    };
    std::vector<Room> rooms(DescriptorTable::kMaxRows);
    std::vector<plexus_row> rows;
    for (Room& room : rooms)
        rows.push_back({{room.label, sizeof room.label, 0}, {room.descriptor, sizeof room.descriptor, 0}});
    plexus_rows described{rows.data(), rows.size(), 0};
    const auto status = static_cast<Status>(interface.ops.describe(interface.instance, &described));
    if (status != Status::ok) return status;
    if (described.size > rows.size()) return Status::bad_module;
    for (const plexus_row& row : std::span(rows).first(described.size)) {
        if (row.label.size > PLEXUS_LABEL_MAX || row.descriptor.size > PLEXUS_DESCRIPTOR_MAX)
            return Status::bad_module;
        std::string own = interface.name;
        if (row.label.size > 0) own += ":" + std::string(row.label.data, row.label.size);
        const auto is_own = [&](const Descriptor& earlier) { return earlier.method == own; };
        if (!method::parse_list(own) || std::any_of(interface.rows.begin(), interface.rows.end(), is_own))
            return Status::bad_module;
        const auto* const start = reinterpret_cast<const std::byte*>(row.descriptor.data);
        interface.rows.push_back({std::move(own), {start, start + row.descriptor.size}, {}});
    }
    return Status::ok;
}

Result<method::Boundary> boundary_of(const Interface& interface) {
    const Host& calls = interface.calls;
    method::Boundary all;
    const auto take = [&](const std::string& name, std::uint32_t caps) -> Result<void> {
        if (!calls.settings->has(fmt::format("method.{}.{}", name, method::kWithin))) return {};
        const auto one = boundary_in(*calls.settings, name, caps, calls.endpoint->options().place, true);
        if (!one) return one.failure();
        all = method::narrower(all, *one);
        return {};
    };
    if (auto own = take(interface.name, interface.ops.caps); !own) return own.failure();
    for (const loader::Module* inner : interface.opening.inner) {
        if (!interface.shows(inner->name)) break;
        if (auto one = take(inner->name, inner->ops.caps); !one) return one.failure();
    }
    return all;
}

} // namespace

Interface::Interface() = default;
Interface::~Interface() = default;

Result<std::unique_ptr<Interface>> Interface::open(const loader::Module& module, const Host& calls) {
    auto made = std::make_unique<Interface>();
    made->name = module.name;
    made->origin = module.origin;
    made->help = module.help;
    made->parameters = module.parameters;
    made->ops = module.ops;
    made->calls = calls;
    if (made->unreliable()) made->datagrams = std::make_unique<Datagrams>(*made);
    made->host = make_host(*made);
    made->opening.under_way = true;
    const auto opened = made->ops.open(&made->host, &made->instance);
    made->opening.under_way = false;
    if (opened != PLEXUS_OK)
        return fail(static_cast<Status>(opened), "method {} could not be opened ({}): {}", module.name,
                    to_string(static_cast<Status>(opened)),
                    made->opening.failure.empty() ? "its module gives no reason" : made->opening.failure);
    const auto give_up = [&](Failure why) {
        made->end();
        return why;
    };
    if (const auto described = describe(*made); described != Status::ok)
        return give_up(fail(described, "method {} has no usable description of its rows: {}", module.name,
                            to_string(described)));
    auto within = boundary_of(*made);
    if (!within) return give_up(within.failure());
    made->limit(*within);
    made->limits.eager_bytes = made->query(nullptr, PLEXUS_QUERY_EAGER_BYTES);
    made->limits.max_message = made->query(nullptr, PLEXUS_QUERY_MAX_MESSAGE);
    if ((made->ops.caps & PLEXUS_CAP_REMOTE_MEMORY) != 0)
        made->limits.remote_bytes = made->query(nullptr, PLEXUS_QUERY_REMOTE_BYTES);
    return made;
}

void Interface::end() noexcept {
    ops.close(instance);
    ops.drain(instance);
    ops.destroy(instance);
}

const std::string& Interface::row_of(plexus_link* link) const {
    if (rows.empty()) return name;
    std::uint32_t row = 0;
    const bool told = rows.size() > 1 && ops.row_of(link, &row) == PLEXUS_OK && row < rows.size();
    return rows[told ? row : 0].method;
}

bool Interface::works_over(std::string_view inner) const {
    return std::any_of(opening.inner.begin(), opening.inner.end(),
                       [&](const loader::Module* each) { return each->name == inner; });
}

bool Interface::shows(std::string_view inner) const {
    bool readable = (ops.caps & PLEXUS_CAP_ENCRYPTS) == 0;
    for (const loader::Module* each : opening.inner) {
        if (each->name == inner) break;
        readable = readable && (each->ops.caps & PLEXUS_CAP_ENCRYPTS) == 0;
    }
    return readable;
}

void Interface::limit(const method::Boundary& boundary) {
    within = method::narrower(within, boundary);
    if (within.limits())
        for (Descriptor& row : rows) row.within = method::to_text(within);
}

std::uint64_t Interface::query(plexus_link* link, plexus_query what) const {
    std::uint64_t value = 0;
    return ops.query(instance, link, what, &value) == PLEXUS_OK ? value : 0;
}

} // namespace plexus::transport
