// SPDX-License-Identifier: BSD-3-Clause
#include "comm/route.h"

#include <algorithm>

namespace plexus::detail {
namespace {

/// After so long a lost peer is tried again: its network may have come back.
constexpr auto kRetryLost = std::chrono::seconds(1);

std::string short_name(const ContextId& id) { return to_string(id).substr(0, 8); }

} // namespace

Route::Route(std::shared_ptr<Core> keep, comm::Exchange& exchange, std::shared_ptr<comm::Peer> peer,
             std::shared_ptr<const KnownTable> table)
  : core_(std::move(keep))
  , exchange_(exchange)
  , peer_(std::move(peer))
  , table_(std::move(table))
  , rows_(table_->table) {}

Route::Route(const Route& other)
  : core_(other.core_)
  , exchange_(other.exchange_)
  , peer_(other.peer_)
  , table_(other.table_) {
    Lock hold(other.mutex_);
    object_.store(other.object_.load(std::memory_order_acquire), std::memory_order_release);
    former_ = other.former_;
    rows_ = other.rows_;
    policy_ = other.policy_;
    fallback_ = other.fallback_;
}

comm::Object* Route::resolve(Status& status, std::string* why) {
    comm::Object* object = object_.load(std::memory_order_acquire); // pairs with [way]
    if (object != nullptr && !object->dead()) [[likely]]
        return object;
    return select(status, why);
}

Status Route::send(comm::Frame& frame, std::string* why) {
    for (;;) {
        Status status = Status::ok;
        comm::Object* object = resolve(status, why);
        if (object == nullptr) return status;
        status = object->send(frame, why);
        if (status != Status::link_lost) return status;
    }
}

std::optional<Descriptor> Route::choose_row(Choice& choice, bool& preferred) const {
    DescriptorTable rows;
    Policy policy;
    {
        Lock hold(mutex_);
        rows = rows_;
        policy = policy_;
    }
    if (policy) {
        const std::vector<RowFacts> known = facts();
        for (const RowFacts& row : known)
            choice.trail.push_back({row.descriptor.method, row.applies, row.because});
        choice.row = policy(known);
        if (choice.row && (*choice.row >= known.size() || !known[*choice.row].applies)) choice.row.reset();
    } else {
        choice = method::first_applicable(
            rows, [&](const Descriptor& row) { return exchange_.applicable(peer_.get(), row); });
    }
    preferred = choice.row && (*choice.row == 0 || policy);
    return choice.row ? std::optional(rows[*choice.row]) : std::nullopt;
}

// Ok, or what a lost peer's calls end with. It is not tried again at once: that would cost every
// sender a connection.
Status Route::peer_end(std::string* why) {
    Lock hold(peer_->mutex);
    const bool gone = peer_->presence == comm::Presence::gone;
    if (!gone && peer_->presence != comm::Presence::lost) return Status::ok;
    if (!gone && std::chrono::steady_clock::now() - peer_->lost_at > kRetryLost) {
        peer_->presence = comm::Presence::unknown;
        peer_->status = Status::ok;
        peer_->failed.clear();
        return Status::ok;
    }
    if (why != nullptr) *why = "context " + short_name(peer_->id) + " is lost: " + peer_->why;
    return peer_->status;
}

comm::Object* Route::select(Status& status, std::string* why) {
    status = peer_end(why);
    if (status != Status::ok) return nullptr;
    Choice choice;
    bool preferred = false;
    const auto row = choose_row(choice, preferred);
    Fallback fallback;
    comm::Object* former;
    {
        Lock hold(mutex_);
        fallback = fallback_.value_or(exchange_.options().fallback);
        former = former_;
    }
    const std::string name = short_name(peer_->id);
    if (!row || (!preferred && fallback == Fallback::forbid)) {
        status = Status::no_method;
        if (why != nullptr)
            *why = "no method reaches context " + name +
                   (row ? " but by falling back, which is forbidden: " : ": ") + to_string(choice);
        return nullptr;
    }
    if (!preferred && fallback == Fallback::warn)
        exchange_.warn_once("falling back to " + row->method + " for context " + name + ": " +
                            to_string(choice));
    comm::Object* const chosen = &exchange_.object(*peer_, *row);
    // What went out by the former way must be there before anything leaves by the new one. Inside
    // a turn nobody can wait: the former way stays in use until it has settled.
    if (former != nullptr && former != chosen && !former->dead() && !former->settle() && !former->dead() &&
        exchange_.scheduler().inside_turn())
        return former;
    Lock hold(mutex_);
    former_ = nullptr;
    object_.store(chosen, std::memory_order_release); // [way]
    return chosen;
}

void Route::change() {
    Lock hold(mutex_);
    comm::Object* const now = object_.exchange(nullptr, std::memory_order_acq_rel);
    if (former_ == nullptr) former_ = now;
    Lock inner(peer_->mutex);
    peer_->failed.clear(); // an explicit wish is worth another try
}

void Route::set_table(DescriptorTable table) {
    auto known = KnownTable::make(table);
    {
        Lock hold(mutex_);
        table_ = std::move(known);
        rows_ = std::move(table);
    }
    change();
}

void Route::pin(const std::vector<method::ListItem>& list) {
    std::vector<std::string> available;
    for (const Descriptor& row : table_->table)
        if (std::find(available.begin(), available.end(), row.method) == available.end())
            available.push_back(row.method);
    DescriptorTable rows;
    for (const method::ListItem& item : method::apply_list(list, available)) {
        for (Descriptor row : table_->table) {
            if (row.method != item.method) continue;
            row.parameters = item.parameters;
            rows.push_back(std::move(row));
        }
    }
    if (rows.empty())
        throw Error(
            Status::no_method, "context " + short_name(peer_->id) + " has none of the methods in \"" +
                                   method::to_text(list) + "\": its table has " + [&] {
                                       std::string names;
                                       for (const std::string& name : available)
                                           names += (names.empty() ? "" : ", ") + name;
                                       return names;
                                   }());
    const Choice choice =
        method::explain(rows, [&](const Descriptor& row) { return exchange_.applicable(nullptr, row); });
    if (!choice.row)
        throw Error(Status::no_method,
                    "context " + short_name(peer_->id) + " can't be reached so: " + to_string(choice));
    {
        Lock hold(mutex_);
        rows_ = std::move(rows);
        policy_ = nullptr;
    }
    change();
}

void Route::set_policy(Policy policy) {
    {
        Lock hold(mutex_);
        rows_ = table_->table;
        policy_ = std::move(policy);
    }
    change();
}

void Route::set_automatic() { set_policy(nullptr); }

void Route::set_fallback(Fallback fallback) {
    {
        Lock hold(mutex_);
        fallback_ = fallback;
    }
    change();
}

std::string Route::method() {
    Status status = Status::ok;
    std::string why;
    comm::Object* const object = resolve(status, &why);
    if (object == nullptr) throw Error(status, why);
    return object->row_name();
}

Choice Route::choose() const {
    Lock hold(mutex_);
    return method::explain(rows_,
                           [&](const Descriptor& row) { return exchange_.applicable(peer_.get(), row); });
}

std::vector<RowFacts> Route::facts() const {
    std::vector<RowFacts> facts;
    const Choice choice = choose();
    Lock hold(mutex_);
    for (std::size_t i = 0; i < rows_.size(); ++i) {
        RowFacts row;
        row.descriptor = rows_[i];
        row.applies = choice.trail[i].applies;
        row.because = choice.trail[i].because;
        if (const comm::Method* method = exchange_.find_method(rows_[i].method)) {
            // What any pointer has measured of this way: a policy is asked while its own has none.
            comm::Object* const object = exchange_.find_object(*peer_, rows_[i]);
            const auto ask = [&](plexus_query what) {
                return object != nullptr ? object->query(what) : method->query(nullptr, what);
            };
            row.latency_ns = ask(PLEXUS_QUERY_LATENCY_NS);
            row.bandwidth = ask(PLEXUS_QUERY_BANDWIDTH_BPS);
            row.queued = ask(PLEXUS_QUERY_QUEUED_BYTES);
            row.max_message = method->max_message;
            row.one_host = method->one_host();
        }
        facts.push_back(std::move(row));
    }
    return facts;
}

} // namespace plexus::detail
