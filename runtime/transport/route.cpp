// SPDX-License-Identifier: BSD-3-Clause
#include "transport/route.h"

#include "base/trace.h"
#include "transport/reach.h"
#include "wire/table.h"

#include <algorithm>

namespace plexus::detail {
namespace {

/// After so long a lost peer is tried again: its network may have come back.
constexpr auto kRetryLost = std::chrono::seconds(1);

/// Tables are sent to others beside requests: what they would refuse is refused here. Parameters do not
/// travel.
void check_travels(const transport::KnownTable& known) {
    const auto there = wire::decode_table(known.encoded);
    const auto alike = [](const Descriptor& one, const Descriptor& other) {
        return one.method == other.method && one.bytes == other.bytes && one.within == other.within;
    };
    const DescriptorTable& table = known.table;
    if (!there || there->place() != table.place() || there->prescribed() != table.prescribed() ||
        !std::equal(there->begin(), there->end(), table.begin(), table.end(), alike))
        throw Error(Status::bad_argument,
                    "this table can't be sent to others: the name of a method has 1 to " +
                        std::to_string(wire::kLongestMethodName) + " bytes, a descriptor at most " +
                        std::to_string(wire::kLongestDescriptor) +
                        ", and a site, a boundary or a prescription is as Plexus writes it");
    if (table.prescribed().empty()) return;
    if (const auto good = method::check_prescription(table.prescribed()); !good)
        throw Error(Status::bad_argument, "what the table prescribes can't be: " + good.failure().why);
}

bool has_boundary(const DescriptorTable& rows) {
    return std::any_of(rows.begin(), rows.end(), [](const Descriptor& row) {
        return row.parameters.contains(std::string(method::kWithin));
    });
}

} // namespace

Route::Route(std::shared_ptr<Core> keep, transport::Endpoint& endpoint, std::shared_ptr<transport::Peer> peer,
             std::shared_ptr<const KnownTable> table)
  : core_(std::move(keep))
  , endpoint_(endpoint)
  , peer_(std::move(peer))
  , table_(std::move(table))
  , rows_(method::prescribed_rows(table_->table))
  , asked_{has_boundary(rows_), !table_->table.prescribed().empty()} {}

Route::Route(const Route& other)
  : birth_(other.birth_)
  , core_(other.core_)
  , endpoint_(other.endpoint_)
  , peer_(other.peer_)
  , table_(other.table_) {
    Lock hold(other.mutex_);
    channel_.store(other.channel_.load(std::memory_order_acquire), std::memory_order_release);
    fast_.store(other.fast_.load(std::memory_order_acquire), std::memory_order_release);
    former_ = other.former_;
    rows_ = other.rows_;
    asked_ = other.asked_;
    policy_ = other.policy_;
    fallback_ = other.fallback_;
}

Status Route::refuse_forked(std::string* why) const {
    if (!birth_.left()) [[likely]]
        return Status::ok;
    if (why != nullptr) *why = kForkedText;
    return Status::closed;
}

transport::Channel* Route::resolve(Status& status, std::string* why, method::Boundary& unheard) {
    status = refuse_forked(why);
    if (status != Status::ok) return nullptr;
    transport::Channel* channel = channel_.load(std::memory_order_acquire); // pairs with [way]
    if (channel != nullptr && !channel->dead()) [[likely]]
        return channel;
    return select(status, why, unheard);
}

Status Route::send(transport::Frame& frame, std::string* why) {
    for (;;) {
        Status status = Status::ok;
        method::Boundary unheard;
        transport::Channel* const channel = resolve(status, why, unheard);
        if (channel == nullptr) return status;
        frame.stays = stays();
        frame.within = unheard.limits() ? &unheard : nullptr;
        status = channel->send(frame, why);
        if (status != Status::link_lost) return status;
    }
}

Status Route::send_unreliable(transport::Frame& frame, std::uint16_t request, std::string* why) {
    using transport::Datagrams;
    Status status = refuse_forked(why);
    if (status != Status::ok) return status;
    Datagrams* by = nullptr;
    // Who is lost gets nothing by a way that cannot tell.
    const bool there = !transport::is_away(peer_->presence());
    if (there && frame.carried.empty()) { // what pointers refer to has to be there before they are
        by = datagrams_.load(std::memory_order_acquire); // pairs with [datagrams]
        if (by == nullptr) by = choose_datagrams();
    }
    if (by != nullptr) {
        status = by->send(*peer_, request, frame, why);
        if (status == Status::not_found) {
            datagrams_.store(nullptr, std::memory_order_release);
            by = choose_datagrams(); // which dials
        } else if (status != Status::link_lost) {
            return status;
        }
    }
    status = send(frame, why);
    transport::Channel* const carrier = last_channel();
    if (status == Status::timed_out) { // out of date before there was room for it
        if (carrier != nullptr) transport::MethodCounts::one_more(carrier->interface().counts.dropped);
        return Status::ok;
    }
    if (status != Status::ok) return status;
    if (by != nullptr) by->introduced(*peer_, request);
    if (carrier != nullptr) transport::MethodCounts::one_more(carrier->interface().counts.fallbacks);
    return status;
}

transport::Datagrams* Route::choose_datagrams() {
    const auto interfaces = endpoint_.interfaces();
    if (std::none_of(interfaces.begin(), interfaces.end(),
                     [](const auto& each) { return each->unreliable(); }))
        return nullptr;
    if (peer_->said_table() == nullptr) return nullptr;
    if (peer_->id == endpoint_.self() || endpoint_.closing()) return nullptr;
    std::vector<std::pair<Descriptor, transport::Datagrams*>> ways; // modules are asked without the lock
    Place place;
    std::uint64_t changes;
    {
        Lock hold(mutex_);
        changes = changes_;
        place = rows_.place();
        for (const Descriptor& row : rows_)
            if (const transport::Interface* const by = endpoint_.find_interface(row.method);
                by != nullptr && by->unreliable())
                ways.emplace_back(row, by->datagrams.get());
    }
    for (const auto& [row, by] : ways) {
        if (!transport::applicable_to_unreliable(endpoint_, peer_.get(), row, place).applies) continue;
        for (const auto& [key, value] : row.parameters)
            if (key != method::kWithin)
                endpoint_.warn_once(row.method + " takes no parameters of a pointer: " + key + "=" + value +
                                    " is passed over");
        by->dial(*peer_, row);
        Lock hold(mutex_);
        if (changes != changes_) return nullptr;         // the pointer's preferences are others now
        datagrams_.store(by, std::memory_order_release); // [datagrams]
        return by;
    }
    return nullptr;
}

transport::Channel* Route::last_channel() const {
    transport::Channel* const now = channel_.load(std::memory_order_acquire); // pairs with [way]
    if (now != nullptr) return now;
    Lock hold(mutex_);
    return former_;
}

bool Route::stays() const {
    Lock hold(mutex_);
    return needs_care();
}

std::optional<Descriptor> Route::choose_row(Choice& choice, bool& preferred) const {
    DescriptorTable rows;
    Policy policy;
    {
        Lock hold(mutex_);
        rows = rows_;
        policy = policy_;
        if (!policy && !asked_.pinned) policy = endpoint_.policy().get();
    }
    if (policy) {
        const std::vector<RowFacts> known = facts();
        for (const RowFacts& row : known)
            choice.trail.push_back({row.descriptor.method, row.applies, row.because});
        choice.row = policy(known);
        if (choice.row && (*choice.row >= known.size() || !known[*choice.row].applies)) choice.row.reset();
    } else {
        choice = method::first_applicable(rows, transport::surroundings(endpoint_, peer_.get(), rows));
        method::tell_prescription(choice, table_->table);
    }
    // A row for marked requests alone is never passed over.
    const auto passed_over = [&](const Descriptor& row) {
        const transport::Interface* const by = endpoint_.find_interface(row.method);
        return by == nullptr || !by->unreliable();
    };
    preferred = choice.row &&
                (policy || std::none_of(rows.begin(), rows.begin() + static_cast<std::ptrdiff_t>(*choice.row),
                                        passed_over));
    return choice.row ? std::optional(rows[*choice.row]) : std::nullopt;
}

// Ok, or what a lost peer's calls end with. It is not tried again at once: that would cost every
// sender a connection.
Status Route::peer_end(std::string* why) {
    using transport::Presence;
    Lock hold(peer_->mutex);
    transport::PeerState& state = peer_->state;
    const bool gone = state.presence == Presence::gone;
    if (!gone && state.presence != Presence::lost) return Status::ok;
    if (!gone && std::chrono::steady_clock::now() - state.since > kRetryLost) {
        state.status = Status::ok; // still lost as long as nothing answers: the program hears when it is back
        state.failed.clear();
        return Status::ok;
    }
    if (why != nullptr) *why = peer_->text() + " is lost: " + state.why;
    return state.status == Status::ok ? Status::peer_lost : state.status;
}

// Whether a channel is one that these preferences may choose: some boundary of theirs may forbid it.
bool Route::may_use(const transport::Channel& channel) const {
    const Choice now = choose();
    return std::any_of(now.trail.begin(), now.trail.end(), [&](const Verdict& verdict) {
        return verdict.applies && transport::share_rows(verdict.method, channel.row_name());
    });
}

transport::Channel* Route::select(Status& status, std::string* why, method::Boundary& unheard) {
    if (endpoint_.closed()) {
        status = Status::closed;
        if (why != nullptr) *why = "the context was closed";
        return nullptr;
    }
    status = peer_end(why);
    if (status != Status::ok) return nullptr;
    Fallback fallback;
    transport::Channel* former;
    std::uint64_t changes;
    bool bounded;
    {
        Lock hold(mutex_);
        bounded = asked_.bounded;
        changes = changes_;
        fallback = fallback_.value_or(endpoint_.options().fallback);
        former = former_ != nullptr ? former_ : channel_.load(std::memory_order_acquire);
    }
    const bool heard = peer_->said_table() != nullptr; // asked before the choice is made
    Choice choice;
    bool preferred = false;
    const auto row = choose_row(choice, preferred);
    if (!row || (!preferred && fallback == Fallback::forbid)) {
        status = Status::no_method;
        if (why != nullptr)
            *why = "no method reaches " + peer_->text() +
                   (row ? " but by falling back, which is forbidden: " : ": ") + to_string(choice);
        return nullptr;
    }
    if (!preferred && fallback == Fallback::warn)
        endpoint_.warn_once("falling back to " + row->method + " for " + peer_->text() + ": " +
                            to_string(choice));
    transport::Channel* const chosen = &endpoint_.channel(*peer_, *row);
    const method::Boundary own = transport::asked_boundary(*row);
    // What went out by the former channel, or by the one that took over from it, must be there before
    // anything leaves by the new one. Inside a turn nobody can wait: that channel stays in use until
    // its frames have arrived.
    transport::Channel* const before = former != nullptr ? former->successor() : nullptr;
    if (before != nullptr && before != chosen && !before->settle() && endpoint_.scheduler().inside_turn()) {
        if (!bounded || may_use(*before)) return before;
        status = Status::again;
        if (why != nullptr)
            *why = "earlier messages to " + peer_->text() + " by " + before->row_name() +
                   " have not arrived, and the pointer's boundary forbids that method now";
        return nullptr;
    }
    PLEXUS_TRACE3(select, peer_->short_id.c_str(), row->method.c_str(), preferred);
    {
        Lock hold(mutex_);
        if (changes == changes_ && own.limits() && !heard) {
            former_ = chosen; // chosen again for each frame, until the peer itself has said where it is
            unheard = own;
            return chosen;
        }
        if (changes == changes_) {
            former_ = nullptr;
            channel_.store(chosen, std::memory_order_release); // [way]
            fast_.store(needs_care() ? nullptr : chosen, std::memory_order_release);
            return chosen;
        }
    }
    return select(status, why, unheard); // the context's policy changed meanwhile, and nothing has left yet
}

void Route::change() {
    Lock hold(mutex_);
    ++changes_;
    fast_.store(nullptr, std::memory_order_release);
    datagrams_.store(nullptr, std::memory_order_release);
    transport::Channel* const now = channel_.exchange(nullptr, std::memory_order_acq_rel);
    if (former_ == nullptr) former_ = now;
    Lock inner(peer_->mutex);
    peer_->state.failed.clear(); // an explicit choice is worth another try
}

void Route::set_table(DescriptorTable table) {
    if (!table_->table.prescribed().empty()) table.set_prescribed(table_->table.prescribed());
    auto known = KnownTable::make(table);
    check_travels(*known);
    DescriptorTable rows = method::prescribed_rows(table);
    {
        Lock hold(mutex_);
        asked_.bounded = has_boundary(rows);
        asked_.pinned = !table.prescribed().empty();
        table_ = std::move(known);
        rows_ = std::move(rows);
    }
    change();
}

DescriptorTable Route::named(const std::vector<method::ListItem>& list) const {
    const DescriptorTable& table = table_->table;
    DescriptorTable rows = method::named_rows(list, table).value();
    if (!rows.empty()) return rows;
    std::string names;
    for (std::size_t row = 0; row < table.size(); ++row)
        if (table.find(table[row].method) == row) names += (names.empty() ? "" : ", ") + table[row].method;
    throw Error(Status::no_method, peer_->text() + " has none of the methods in \"" + method::to_text(list) +
                                       (table.prescribed().empty() ? "\": its table has " + names
                                                                   : "\" that the pointer prescribes: \"" +
                                                                         table.prescribed() + "\""));
}

void Route::prescribe(const std::vector<method::ListItem>& list) {
    DescriptorTable rows = named(list);
    DescriptorTable table = table_->table;
    table.set_prescribed(method::prescription_of(rows));
    if (table.prescribed().size() > wire::kLongestPrescription)
        throw Error(Status::bad_config, "the pointer can't carry so much: its methods and parameters have " +
                                            std::to_string(table.prescribed().size()) + " bytes, " +
                                            std::to_string(wire::kLongestPrescription) + " are the most");
    auto known = KnownTable::make(std::move(table));
    {
        Lock hold(mutex_);
        asked_.bounded = has_boundary(rows);
        asked_.pinned = true;
        table_ = std::move(known);
        rows_ = std::move(rows);
        policy_ = nullptr;
    }
    change();
}

void Route::pin(const std::vector<method::ListItem>& list) {
    DescriptorTable rows = named(list);
    const Choice choice = method::explain(rows, transport::surroundings(endpoint_, nullptr, rows));
    if (!choice.row)
        throw Error(Status::no_method, peer_->text() + " can't be reached so: " + to_string(choice));
    {
        Lock hold(mutex_);
        asked_.bounded = has_boundary(rows);
        asked_.pinned = true;
        rows_ = std::move(rows);
        policy_ = nullptr;
    }
    change();
}

void Route::set_policy(Policy policy) {
    {
        Lock hold(mutex_);
        rows_ = method::prescribed_rows(table_->table);
        asked_.bounded = has_boundary(rows_);
        asked_.pinned = !table_->table.prescribed().empty();
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
    method::Boundary unheard;
    transport::Channel* const channel = resolve(status, &why, unheard);
    if (channel == nullptr) throw Error(status, why);
    return channel->row_name();
}

Choice Route::choose() const {
    Lock hold(mutex_);
    Choice choice = method::explain(rows_, transport::surroundings(endpoint_, peer_.get(), rows_));
    method::tell_prescription(choice, table_->table);
    return choice;
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
        if (const transport::Interface* interface = endpoint_.find_interface(rows_[i].method)) {
            // What any pointer has measured of this way: a policy is asked while its own has none.
            transport::Channel* const channel = endpoint_.find_channel(*peer_, rows_[i]);
            const auto ask = [&](plexus_query what) {
                return channel == nullptr ? interface->query(nullptr, what)
                                          : transport::query(*channel, what);
            };
            row.latency_ns = ask(PLEXUS_QUERY_LATENCY_NS);
            row.bandwidth = ask(PLEXUS_QUERY_BANDWIDTH_BPS);
            row.queued = ask(PLEXUS_QUERY_QUEUED_BYTES);
            row.max_message = interface->limits.max_message;
            row.one_host = interface->one_host();
        }
        facts.push_back(std::move(row));
    }
    return facts;
}

void use_policy(transport::Endpoint& endpoint, Policy policy) {
    endpoint.policy().exchange(std::move(policy)); // the former ends here
    for (const auto& peer : endpoint.peers()) {
        std::vector<std::shared_ptr<Route>> ways;
        {
            Lock hold(peer->mutex);
            for (const auto& [hash, way] : peer->ways) ways.push_back(way);
        }
        for (const auto& way : ways) way->choose_again();
    }
}

} // namespace plexus::detail
