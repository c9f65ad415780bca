// SPDX-License-Identifier: BSD-3-Clause
#include "comm/exchange.h"

#include "comm/route.h"

#include <map>
#include <thread>

namespace plexus::comm {

using Clock = std::chrono::steady_clock;

namespace {

constexpr auto kDrainLook = std::chrono::milliseconds(1);

// Asks a module for the rows by which it reaches this context.
Status describe(Method& method) {
    for (std::uint32_t row = 0; row < DescriptorTable::kMaxRows; ++row) {
        char name[31];
        char bytes[1024];
        plexus_text label{name, sizeof name, 0};
        plexus_text descriptor{bytes, sizeof bytes, 0};
        auto status = method.ops.describe_row(method.instance, row, &label, &descriptor);
        if (status == PLEXUS_UNSUPPORTED && row == 0) // it has one, and says so in the older way
            status = method.ops.describe(method.instance, &descriptor);
        else if (status == PLEXUS_UNSUPPORTED || status == PLEXUS_NO_METHOD)
            break;
        if (status != PLEXUS_OK) return static_cast<Status>(status);
        std::string own = method.name;
        if (label.size > 0) own += ":" + std::string(name, label.size);
        if (label.size > sizeof name || !method::parse_list(own)) return Status::bad_module;
        const auto* const start = reinterpret_cast<const std::byte*>(bytes);
        method.rows.push_back({std::move(own), {start, start + descriptor.size}, {}});
    }
    return method.rows.empty() ? Status::bad_module : Status::ok;
}

} // namespace

Exchange::Exchange(const ContextId& self, ExchangeOptions options, poll::Scheduler& scheduler,
                   Listener& listener)
  : self_(self)
  , options_(options)
  , scheduler_(scheduler)
  , listener_(listener) {
    scheduler_.set_chores([this] { return chores(); });
}

Exchange::~Exchange() = default;

Result<void> Exchange::open(const loader::Module& module, const config::Settings& settings,
                            const loader::Modules& modules) {
    modules_ = &modules;
    settings_ = &settings;
    auto method = std::make_unique<Method>();
    method->name = module.name;
    method->origin = module.origin;
    method->module = &module;
    method->ops = module.ops;
    method->exchange = this;
    method->host = make_host(*method);
    method->opening = true;
    const auto opened = method->ops.open(&method->host, &method->instance);
    method->opening = false;
    if (opened != PLEXUS_OK)
        return fail(static_cast<Status>(opened), "method {} could not be opened ({}): {}", module.name,
                    to_string(static_cast<Status>(opened)),
                    method->open_failure.empty() ? "its module gives no reason" : method->open_failure);
    if (const auto described = describe(*method); described != Status::ok) {
        method->ops.close(method->instance);
        method->ops.drain(method->instance);
        method->ops.destroy(method->instance);
        return fail(described, "method {} has no descriptor", module.name);
    }
    method->eager_bytes = method->query(nullptr, PLEXUS_QUERY_EAGER_BYTES);
    method->max_message = method->query(nullptr, PLEXUS_QUERY_MAX_MESSAGE);
    if ((method->ops.caps & PLEXUS_CAP_REMOTE_MEMORY) != 0)
        method->remote_bytes = method->query(nullptr, PLEXUS_QUERY_REMOTE_BYTES);

    poll::LaneSource lane;
    lane.name = module.name;
    lane.ops = &method->ops;
    lane.module = method->instance;
    lane.sleeps = (method->ops.caps & PLEXUS_CAP_SLEEP) != 0;
    lane.blocking = settings.boolean("method." + module.name + ".blocking");
    lane.skip_poll = settings.skip_poll("method." + module.name + ".skip_poll");
    method->lane = scheduler_.add(lane);
    methods_.push_back(std::move(method));
    return {};
}

void Exchange::seal_table(const std::vector<method::ListItem>& order) {
    std::map<std::string, const Descriptor*> rows;
    std::vector<std::string> names;
    for (const auto& method : methods_)
        for (const Descriptor& row : method->rows)
            if (rows.emplace(row.method, &row).second) names.push_back(row.method);
    DescriptorTable table;
    for (const method::ListItem& item : method::apply_list(order, names))
        if (table.size() < DescriptorTable::kMaxRows) table.push_back(*rows.at(item.method));
    own_table_ = KnownTable::make(std::move(table));
}

Method* Exchange::find_method(std::string_view name) const noexcept {
    for (const auto& method : methods_)
        if (means_row(method->name, name)) return method.get();
    return nullptr;
}

std::shared_ptr<Peer> Exchange::peer(const ContextId& id) {
    Lock hold(peers_mutex_);
    std::shared_ptr<Peer>& peer = peers_[id];
    if (peer == nullptr) {
        peer = std::make_shared<Peer>(id);
        peer->attachment = listener_.attach(*peer);
        if (id == self_) peer->learn(own_table_, true);
    }
    return peer;
}

method::Applicable Exchange::applicable(const Peer* peer, const Descriptor& row) const {
    const Method* method = find_method(row.method);
    if (method == nullptr) return {false, "not available in this context"};
    char room[256];
    plexus_text why{room, sizeof room, 0};
    const plexus_view bytes{row.bytes.data(), row.bytes.size()};
    if (method->ops.applies(method->instance, bytes, &why) != PLEXUS_OK)
        return {false, std::string(room, why.size)};
    if (peer != nullptr) {
        Lock hold(peer->mutex);
        for (const auto& [failed, reason] : peer->failed)
            if (share_rows(failed, row.method)) return {false, reason};
    }
    return {true, "applies"};
}

namespace {

Object* present_object(Peer& peer, const Method& method, const Descriptor& row) PLEXUS_REQUIRES(peer.mutex) {
    for (const auto& object : peer.objects)
        if (&object->method() == &method && !object->dead() && object->serves(row)) return object.get();
    return nullptr;
}

} // namespace

Object* Exchange::find_object(Peer& peer, const Descriptor& row) const {
    const Method* const method = find_method(row.method);
    Lock hold(peer.mutex);
    return method == nullptr ? nullptr : present_object(peer, *method, row);
}

Object& Exchange::object(Peer& peer, const Descriptor& row) {
    Method& method = *find_method(row.method);
    Lock hold(peer.mutex);
    if (Object* const present = present_object(peer, method, row)) return *present;
    return *peer.objects.emplace_back(std::make_unique<Object>(*this, peer, method, row));
}

std::shared_ptr<detail::Route> Exchange::way(const std::shared_ptr<Peer>& peer,
                                             const std::shared_ptr<const KnownTable>& table) {
    auto keeper = keeper_.lock();
    if (keeper == nullptr) throw Error(Status::closed, "this context is closing");
    Lock hold(peer->mutex);
    std::shared_ptr<detail::Route>& way = peer->ways[table->hash];
    if (way == nullptr) way = std::make_shared<detail::Route>(std::move(keeper), *this, peer, table);
    return way;
}

Status Exchange::answer(Object& to, Frame& frame, std::string* why) {
    const Status status = to.send(frame, why);
    if (status != Status::link_lost) return status;
    const auto table = to.peer().owners_table();
    if (table == nullptr || closing()) return status;
    return way(to.peer().shared_from_this(), table)->send(frame, why);
}

void Exchange::warn_once(const std::string& text) {
    {
        Lock hold(peers_mutex_);
        if (std::find(warned_.begin(), warned_.end(), text) != warned_.end()) return;
        warned_.push_back(text);
    }
    log::warn("comm", "{}", text);
}

Connection& Exchange::new_connection(Method& method, Peer& peer, Object& object) {
    auto connection = std::make_unique<Connection>();
    connection->method = &method;
    connection->peer = peer.shared_from_this();
    connection->object = &object;
    Lock hold(connections_mutex_);
    return *connections_.emplace_back(std::move(connection));
}

void Exchange::connect_failed(Connection& connection) {
    {
        Lock hold(connections_mutex_);
        failed_.push_back(&connection);
    }
    scheduler_.request_chores();
}

void Exchange::pump_closing() {
    std::this_thread::sleep_for(
        std::chrono::milliseconds(1)); // destroy() is ending the links on another thread
}

void Exchange::close(Clock::time_point deadline) {
    closing_.store(true, std::memory_order_relaxed);
    std::vector<std::shared_ptr<Peer>> peers; // holds the objects: the leader forgets peers that go
    std::vector<Object*> objects;
    {
        Lock hold(peers_mutex_);
        for (const auto& [id, peer] : peers_) {
            peers.push_back(peer);
            Lock inner(peer->mutex);
            for (const auto& object : peer->objects) objects.push_back(object.get());
        }
    }
    const auto drained = [&] {
        return std::all_of(objects.begin(), objects.end(), [](Object* object) { return object->drained(); });
    };
    // What the kernel still holds empties without an event: look again by the clock.
    const auto drain = [&] {
        while (!scheduler_.wait_for_true(drained, std::min(deadline, Clock::now() + kDrainLook)))
            if (Clock::now() >= deadline) break;
    };
    for (Object* object : objects) object->hurry();
    drain();
    farewell_.store(true, std::memory_order_release); // [farewell]
    scheduler_.request_chores();
    scheduler_.wait_for_true([&] { return !farewell_.load(std::memory_order_acquire); }, deadline);
    drain();
}

void Exchange::destroy() {
    for (const auto& method : methods_) method->ops.close(method->instance);
    withdraw_all();
    for (const auto& method : methods_) method->ops.drain(method->instance);
    std::vector<std::shared_ptr<Peer>> peers;
    {
        Lock hold(peers_mutex_);
        for (auto& [id, peer] : peers_) peers.push_back(peer);
    }
    for (const auto& peer : peers) {
        std::map<std::uint64_t, std::shared_ptr<detail::Route>> ways; // end outside of the lock
        std::vector<Object*> objects;
        {
            Lock hold(peer->mutex);
            ways.swap(peer->ways);
            for (const auto& object : peer->objects) objects.push_back(object.get());
        }
        for (Object* object : objects) Object::bury(object->die(), Status::closed);
        listener_.peer_lost(*peer, Status::closed, "this context was closed");
    }
    for (const auto& method : methods_) method->ops.destroy(method->instance);
    retries_.clear();
    {
        Lock hold(connections_mutex_);
        connections_.clear();
    }
    Lock hold(peers_mutex_);
    peers_.clear();
}

} // namespace plexus::comm
