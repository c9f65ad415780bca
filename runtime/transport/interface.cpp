// SPDX-License-Identifier: BSD-3-Clause
#include "transport/interface.h"

#include "base/log.h"
#include "method/list.h"
#include "transport/host_table.h"

namespace plexus::transport {
namespace {

// Asks a module for the rows by which it reaches this context.
Status describe(Interface& interface) {
    for (std::uint32_t row = 0; row < DescriptorTable::kMaxRows; ++row) {
        char name[31];
        char bytes[1024];
        plexus_text label{name, sizeof name, 0};
        plexus_text descriptor{bytes, sizeof bytes, 0};
        auto status = interface.ops.describe_row(interface.instance, row, &label, &descriptor);
        if (status == PLEXUS_UNSUPPORTED && row == 0) // it has one, and says so in the older way
            status = interface.ops.describe(interface.instance, &descriptor);
        else if (status == PLEXUS_UNSUPPORTED || status == PLEXUS_NO_METHOD)
            break;
        if (status != PLEXUS_OK) return static_cast<Status>(status);
        std::string own = interface.name;
        if (label.size > 0) own += ":" + std::string(name, label.size);
        if (label.size > sizeof name || !method::parse_list(own)) return Status::bad_module;
        const auto* const start = reinterpret_cast<const std::byte*>(bytes);
        interface.rows.push_back({std::move(own), {start, start + descriptor.size}, {}});
    }
    return interface.rows.empty() ? Status::bad_module : Status::ok;
}

} // namespace

Result<std::unique_ptr<Interface>> Interface::open(const loader::Module& module, const Host& calls) {
    auto made = std::make_unique<Interface>();
    made->name = module.name;
    made->origin = module.origin;
    made->help = module.help;
    made->parameters = module.parameters;
    made->ops = module.ops;
    made->calls = calls;
    made->host = make_host(*made);
    made->opening = true;
    const auto opened = made->ops.open(&made->host, &made->instance);
    made->opening = false;
    if (opened != PLEXUS_OK)
        return fail(static_cast<Status>(opened), "method {} could not be opened ({}): {}", module.name,
                    to_string(static_cast<Status>(opened)),
                    made->open_failure.empty() ? "its module gives no reason" : made->open_failure);
    if (const auto described = describe(*made); described != Status::ok) {
        made->ops.close(made->instance);
        made->ops.drain(made->instance);
        made->ops.destroy(made->instance);
        return fail(described, "method {} has no descriptor", module.name);
    }
    made->limits.eager_bytes = made->query(nullptr, PLEXUS_QUERY_EAGER_BYTES);
    made->limits.max_message = made->query(nullptr, PLEXUS_QUERY_MAX_MESSAGE);
    if ((made->ops.caps & PLEXUS_CAP_REMOTE_MEMORY) != 0)
        made->limits.remote_bytes = made->query(nullptr, PLEXUS_QUERY_REMOTE_BYTES);
    return made;
}

const std::string& Interface::row_of(plexus_link* link) const {
    std::uint32_t row = 0;
    const bool told = rows.size() > 1 && ops.row_of(link, &row) == PLEXUS_OK && row < rows.size();
    return rows[told ? row : 0].method;
}

std::uint64_t Interface::query(plexus_link* link, plexus_query what) const {
    std::uint64_t value = 0;
    return ops.query(instance, link, what, &value) == PLEXUS_OK ? value : 0;
}

} // namespace plexus::transport
