// SPDX-License-Identifier: BSD-3-Clause
// Global pointers: their preferences, and how they travel.
#include "plexus/pointer.h"

#include "method/prescription.h"
#include "request/saved_pointer.h"
#include "transport/reach.h"
#include "transport/route.h"
#include "wire/table.h"

#include <algorithm>

namespace plexus::detail {
namespace {

constexpr std::uint32_t kSavedMagic = 0x50584c50; // "PLXP": a saved pointer, with its whole table

Route& checked(const std::shared_ptr<Route>& route) {
    if (route == nullptr) throw Error(Status::dead_pointer, kNullPointer);
    return *route;
}

// A pointer may ask for a narrower boundary than the file's, never for a wider one.
void check_boundary(const transport::Endpoint& endpoint, const transport::Interface& interface,
                    const std::string& text) {
    const auto refuse = [&](const std::string& why) {
        throw Error(Status::bad_config, "the parameter within of the method " + interface.name + ": " + why);
    };
    const auto asked = method::parse_boundary(text);
    if (!asked) refuse(asked.failure().why);
    if (const auto kept = method::check_boundary(*asked, endpoint.options().place); !kept)
        refuse(kept.failure().why);
    if (method::narrower(interface.within, *asked) != *asked)
        refuse("\"" + text + "\" is more than the configuration allows: that says \"" +
               method::to_text(interface.within) + "\"");
}

// A method list for pointers of this context. A method that is not here is refused by whoever chooses a row,
// with its reason.
std::vector<method::ListItem> checked_list(const transport::Endpoint& endpoint, std::string_view methods,
                                           const Parameters& parameters) {
    auto list = method::parse_list(methods).value();
    for (method::ListItem& item : list) {
        for (const auto& [key, value] : parameters) item.parameters[key] = value;
        const transport::Interface* const method = endpoint.find_interface(item.method);
        if (method == nullptr) continue;
        transport::check_parameters(*method, item.parameters).value();
        const auto within = item.parameters.find(std::string(method::kWithin));
        if (within != item.parameters.end()) check_boundary(endpoint, *method, within->second);
    }
    return list;
}

} // namespace

PointerBase::PointerBase(const Target& target, std::shared_ptr<Route> route) noexcept
  : target_(target)
  , route_(std::move(route)) {}

// Preferences are this pointer's alone: copies of it keep the old ones.
Route& PointerBase::own_route() {
    route_ = std::make_shared<Route>(checked(route_));
    return *route_;
}

std::string PointerBase::method() const { return checked(route_).method(); }
DescriptorTable PointerBase::table() const { return checked(route_).known_table()->table; }
void PointerBase::set_table(DescriptorTable table) {
    const transport::Endpoint& endpoint = checked(route_).endpoint();
    for (const Descriptor& row : table) {
        const auto within = row.parameters.find(std::string(method::kWithin));
        const transport::Interface* const method = endpoint.find_interface(row.method);
        if (within != row.parameters.end() && method != nullptr)
            check_boundary(endpoint, *method, within->second);
    }
    own_route().set_table(std::move(table));
}
void PointerBase::use(Policy policy) { own_route().set_policy(std::move(policy)); }
void PointerBase::use(Automatic) { own_route().set_automatic(); }
void PointerBase::fallback(Fallback what) { own_route().set_fallback(what); }
Choice PointerBase::choose() const { return checked(route_).choose(); }
std::string PointerBase::explain() const { return to_string(choose()); }
std::vector<RowFacts> PointerBase::enquire() const { return checked(route_).facts(); }

void PointerBase::use(std::string_view methods, const Parameters& parameters) {
    const auto list = checked_list(checked(route_).endpoint(), methods, parameters);
    own_route().pin(list);
}

void PointerBase::prescribe(std::string_view methods, const Parameters& parameters) {
    const auto list = checked_list(checked(route_).endpoint(), methods, parameters);
    own_route().prescribe(list);
}

std::vector<std::byte> PointerBase::save() const {
    const Route& route = checked(route_);
    std::vector<std::byte> bytes;
    wire::Builder out(bytes);
    out.u32(kSavedMagic);
    out.u8(wire::kVersion);
    out.raw(target_.context.bytes.data(), target_.context.bytes.size());
    out.u64(target_.key);
    out.u32(target_.handle);
    out.u32(target_.generation);
    const wire::Bytes& table = route.known_table()->encoded;
    out.raw(table.data(), table.size());
    return bytes;
}

// On the wire only the table's number travels; the sender makes sure that it is known.
void PointerBase::write(Writer& out) const {
    out.raw(target_.context.bytes.data(), target_.context.bytes.size());
    out.put(target_.key);
    out.put(target_.handle);
    out.put(target_.generation);
    out.put(route_ == nullptr ? std::uint64_t{0} : route_->known_table()->hash);
    if (route_ != nullptr) out.carry(route_.get());
}

void PointerBase::read(Reader& in) {
    *this = PointerBase();
    Target target;
    in.raw(target.context.bytes.data(), target.context.bytes.size());
    target.key = in.get<std::uint64_t>();
    target.handle = in.get<std::uint32_t>();
    target.generation = in.get<std::uint32_t>();
    const auto hash = in.get<std::uint64_t>();
    if (!in.ok() || !target.context) return;
    if (in.channel() == nullptr) return in.spoil();
    transport::Endpoint& endpoint = in.channel()->endpoint();
    const auto peer = endpoint.peer(target.context);
    const auto table = peer->find_table(hash);
    if (table == nullptr) {
        // Nobody has introduced that context: the peer that was made for the question goes with it.
        if (peer->all_channels().empty()) endpoint.forget(peer);
        return in.spoil();
    }
    *this = PointerBase(target, endpoint.way(peer, table));
}

PointerBase load_pointer(transport::Endpoint& here, std::span<const std::byte> bytes) {
    wire::In in(bytes);
    const bool known = in.u32() == kSavedMagic && in.u8() == wire::kVersion;
    Target target;
    const wire::View id = in.raw(target.context.bytes.size());
    if (in.ok()) std::memcpy(target.context.bytes.data(), id.data(), id.size());
    target.key = in.u64();
    target.handle = in.u32();
    target.generation = in.u32();
    auto table = in.ok() && known && target.context ? wire::decode_table(in.rest()) : std::nullopt;
    if (!table)
        throw Error(Status::bad_archive,
                    "these bytes are not a global pointer saved by this version of Plexus");
    if (!table->prescribed().empty())
        if (const auto good = method::check_prescription(table->prescribed()); !good)
            throw Error(Status::bad_archive,
                        "the saved pointer prescribes what can't be: " + good.failure().why);
    const auto peer = here.peer(target.context);
    auto fresh = transport::KnownTable::make(std::move(*table));
    auto known_table = peer->find_table(fresh->hash);
    if (known_table == nullptr) peer->learn(known_table = fresh, false);
    return {target, here.way(peer, known_table)};
}

} // namespace plexus::detail
