// SPDX-License-Identifier: BSD-3-Clause
#include "transport/reach.h"

#include "base/log.h"
#include "transport/channel.h"

#include <algorithm>

namespace plexus::transport {
namespace {

// The file's boundary, or a narrower one that a pointer asks for.
method::Boundary boundary_for(const Interface& interface, const Descriptor& row) {
    return method::narrower(interface.within, asked_boundary(row));
}

std::string why_apart(const method::Boundary& ours, std::string_view theirs, const Place& here,
                      const Place& there) {
    std::string why = method::why_outside(ours, here, there);
    if (why.empty()) why = method::why_not_for_us(theirs, here, there);
    return why.empty() ? method::why_one_sided(ours, theirs, here, there) : why;
}

method::Applicable reaches(const Endpoint& here, const Interface& interface, const Peer* peer,
                           const Descriptor& row, const Place& there) {
    if (auto taken = check_parameters(interface, row.parameters); !taken)
        return {false, taken.failure().why}; // what a pointer prescribes was written elsewhere
    const auto said = peer != nullptr ? peer->said_table() : nullptr;
    std::string apart = why_apart(boundary_for(interface, row), row.within, here.options().place,
                                  said != nullptr ? said->table.place() : there);
    if (!apart.empty()) return {false, std::move(apart)};
    char room[1024];
    plexus_text why{room, sizeof room, 0};
    const plexus_view bytes{row.bytes.data(), row.bytes.size()};
    if (interface.ops.applies(interface.instance, bytes, &why) != PLEXUS_OK)
        return {false, std::string(room, why.size)};
    return {true, why.size == 0 ? "applies" : "applies, " + std::string(room, why.size)};
}

} // namespace

Result<method::Boundary> boundary_in(const config::Settings& settings, std::string_view method,
                                     std::uint32_t caps, const Place& here, bool used) {
    const std::string key = fmt::format("method.{}.{}", method, method::kWithin);
    auto boundary = method::parse_boundary(settings.text(key));
    Result<void> kept;
    if (!boundary)
        kept = boundary.failure();
    else if (boundary->kind == method::Boundary::Kind::subnet &&
             (caps & (PLEXUS_CAP_SUBNET | PLEXUS_CAP_LOCAL)) == 0)
        kept = fail(Status::bad_config,
                    "this method can't keep to a subnet: set it for the method under it, if there is one, or "
                    "name the network as a site of its own");
    else if (used || (here.site.empty() && boundary->kind != method::Boundary::Kind::host))
        kept = method::check_boundary(*boundary, here);
    if (!kept) return fail(Status::bad_config, "{}: {}: {}", settings.origin(key), key, kept.failure().why);
    return boundary;
}

Result<void> check_parameters(const Interface& method, const Parameters& parameters) {
    if (parameters.empty()) return {};
    const config::Schema known = config::module_keys(method.name, method.parameters).value();
    for (const auto& [key, value] : parameters) {
        if (key == method::kWithin) {
            const auto boundary = method::parse_boundary(value);
            if (!boundary)
                return fail(Status::bad_config, "the parameter within of the method {}: {}", method.name,
                            boundary.failure().why);
            if (boundary->kind == method::Boundary::Kind::subnet && method.within.kind < boundary->kind)
                return fail(Status::bad_config,
                            "the parameter within of the method {}: a pointer can't ask for \"subnet\", "
                            "which a method keeps to from its start, or not: set method.{}.within",
                            method.name, method.name);
            continue;
        }
        const std::string name = "method." + method.name + "." + key;
        const auto found = std::find_if(known.begin(), known.end(),
                                        [&](const config::Key& each) { return each.name == name; });
        if (found == known.end()) {
            std::string names;
            for (const config::Key& each : known) names += each.name.substr(each.name.rfind('.') + 1) + ", ";
            return fail(Status::bad_config, "the method {} has no parameter \"{}\": it has {}{}", method.name,
                        key, names, method::kWithin);
        }
        if (const auto good = config::check_value(*found, value); !good)
            return fail(Status::bad_config, "the parameter {} of the method {}: {}", key, method.name,
                        good.failure().why);
    }
    return {};
}

method::Boundary asked_boundary(const Descriptor& row) {
    const auto asked = row.parameters.find(std::string(method::kWithin));
    return asked == row.parameters.end() ? method::Boundary{} : method::parse_boundary(asked->second).value();
}

method::Applicable applicable(const Endpoint& here, const Peer* peer, const Descriptor& row,
                              const Place& there) {
    const Interface* const interface = here.find_interface(row.method);
    if (interface == nullptr) return {false, "not available in this context"};
    if (interface->unreliable()) return {false, "only for requests that are marked plexus::unreliable"};
    method::Applicable found = reaches(here, *interface, peer, row, there);
    if (peer == nullptr || !found.applies) return found;
    Lock hold(peer->mutex);
    for (const auto& [failed, reason] : peer->state.failed)
        if (share_rows(failed, row.method)) return {false, reason};
    return found;
}

method::Applicable applicable_to_unreliable(const Endpoint& here, const Peer* peer, const Descriptor& row,
                                            const Place& there) {
    const Interface* const interface = here.find_interface(row.method);
    if (interface == nullptr) return {false, "not available in this context"};
    if (!interface->unreliable()) return {false, "loses no messages"};
    return reaches(here, *interface, peer, row, there);
}

method::Surroundings surroundings(const Endpoint& here, const Peer* peer, const DescriptorTable& table) {
    return [&here, peer, there = table.place()](const Descriptor& row) {
        return applicable(here, peer, row, there);
    };
}

std::string forbids(const Endpoint& here, const Interface& interface, std::string_view row,
                    const DescriptorTable& table) {
    const auto theirs = std::find_if(table.begin(), table.end(),
                                     [&](const Descriptor& each) { return share_rows(each.method, row); });
    return why_apart(interface.within, theirs == table.end() ? std::string_view() : theirs->within,
                     here.options().place, table.place());
}

Result<void> check_claim(const Link& link, plexus_claim what, const std::string& said) {
    if (said.empty()) return {};
    char room[1024];
    plexus_text why{room, sizeof room, 0};
    const std::int32_t answer = link.interface.ops.check_claim(link.handle, what, said.c_str(), &why);
    if (answer == PLEXUS_OK) return {};
    return fail(answer == PLEXUS_DENIED ? Status::denied : Status::link_lost, "it says {} {}: {}",
                what == PLEXUS_CLAIM_SITE ? "that it is at site" : "that its name is", said,
                std::string_view(room, why.size));
}

void warn_of_refusal(Endpoint& here, const Peer& peer, const std::string& row, const std::string& why) {
    here.warn_once(fmt::format("no connection by {} with {}: {}", row, peer.text(), why));
}

Descriptor for_module(Descriptor row) {
    row.parameters.erase(std::string(method::kWithin));
    row.within.clear();
    return row;
}

Choice explain(const Endpoint& here, const DescriptorTable& table) {
    Choice choice = method::explain(method::prescribed_rows(table), surroundings(here, nullptr, table));
    method::tell_prescription(choice, table);
    return choice;
}

BothWays traffic_of(const Endpoint& here, const Interface& interface) {
    BothWays all;
    const auto peers = here.peers(); // held to the end: of a peer that is forgotten, the counts are kept
    for (const auto& peer : peers)
        for (const Channel* channel : peer->all_channels())
            if (&channel->interface() == &interface) all += channel->traffic();
    return all += interface.counts.kept();
}

} // namespace plexus::transport
