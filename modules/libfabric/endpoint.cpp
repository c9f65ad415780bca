// SPDX-License-Identifier: BSD-3-Clause
#include "libfabric/endpoint.h"

#include "libfabric/errors.h"

#include <algorithm>
#include <array>
#include <rdma/fi_errno.h>

namespace plexus::libfabric {
namespace {

constexpr std::size_t kWantedInject = 4096;

// How long the host may sleep if no descriptor reports events.
constexpr std::uint64_t kRetrySoonNs = 50'000;
constexpr std::uint64_t kLongNs = 200'000'000;

// True if a peer is where an endpoint can answer it.
bool is_reachable(const Address& own, const Address& there) {
    return there.provider == own.provider && there.format == own.format && there.protocol == own.protocol &&
           there.reach == own.reach;
}

} // namespace

using message_link::Event;
using message_link::Header;
using message_link::kHeaderBytes;
using message_link::Outcome;

Endpoint::Endpoint(const plexus_host& host, Info info, Descriptor self, std::shared_ptr<Page> page)
  : host_(host)
  , self_(std::move(self))
  , wait_set_(page)
  , handles_(std::move(info))
  , fetches_(host, std::move(page)) {}

Endpoint::~Endpoint() {
    const message_link::Hold hold(lock);
    end_for("it is closed", false);
}

std::string Endpoint::open(const Options& options) {
    const message_link::Hold hold(lock);
    const std::string refused = handles_.open(self_.address);
    const std::string provider = "provider " + address().provider;
    if (!refused.empty()) return provider + " is not usable: " + refused;
    const fi_info& info = handles_.info();
    const std::size_t most_message = info.ep_attr->max_msg_size;
    const std::size_t inject = std::min(info.tx_attr->inject_size, kWantedInject);
    const bool on_host = address().reach == Reach::host;
    traits_.eager = std::min(options.eager, most_message - kHeaderBytes);
    // Between processes of a host, larger ones would wait for the peer to fetch them.
    if (on_host) traits_.eager = std::min(traits_.eager, inject - kHeaderBytes);
    traits_.inline_bytes = inject - std::min(inject, kHeaderBytes);
    traits_.shared_bytes = PageLayout::kBytes;
    traits_.wakes = handles_.queue_fd() >= 0;
    may_fetch_ = options.fetch && (info.caps & FI_RMA) != 0;
    if (!wait_set_.open(handles_.queue_fd()))
        return provider + " is not usable: no descriptor to sleep on can be made";
    const MemoryRules rules = handles_.memory_rules();
    receives_.open(rules, kHeaderBytes + traits_.eager, std::min(options.buffers, info.rx_attr->size));
    sends_.open(rules, kHeaderBytes + traits_.eager, inject);
    fetches_.open(handles_.endpoint(), rules, most_message, on_host);
    post_receives();
    if (!closed_.why.empty()) return closed_.why;
    if (receives_.posted() == 0) return provider + " takes no receive buffers";
    return {};
}

// Guesses, until links measure: a fabric, a network of the kernel's, memory of one host.
message_link::Port::Speed Endpoint::speed(const message_link::Peer*) const {
    if (address().reach == Reach::host) return {700, 10'000'000'000};
    const std::string_view core = core_of(address().provider);
    if (core == "tcp" || core == "net" || core == "udp" || core == "sockets") return {25'000, 1'250'000'000};
    return {2'000, 12'000'000'000};
}

// ---- peers

std::unique_ptr<message_link::Peer> Endpoint::reach(ByteView descriptor, message_link::Link& link,
                                                    std::int32_t& status, std::string& why) {
    status = PLEXUS_LINK_LOST;
    const auto there = Descriptor::decode(descriptor);
    if (!there || !is_reachable(address(), there->address)) {
        why = "it can't be reached from here";
        return nullptr;
    }
    auto peer = std::make_unique<FabricPeer>(link, *this, there->address, there->page_address);
    int error = -FI_ESHUTDOWN;
    {
        const message_link::Hold hold(lock);
        if (handles_.is_open())
            error = contacts_.add(handles_.addresses(), address(), there->address.name, peer->contact);
    }
    if (error != 0) {
        why = "the provider does not take the peer's address: " + text_of_error(error);
        return nullptr;
    }
    // Peers of this host are watched, and may be woken and read.
    if (!there->where.same_boot(self_.where)) return peer;
    (void)peer->page.open(there->page_address, there->where.same_processes(self_.where));
    if (peer->page.is_gone()) {
        why = "the peer's process has ended";
        return nullptr;
    }
    wait_set_.watch(*peer);
    return peer;
}

void Endpoint::forget(FabricPeer& peer) {
    wait_set_.unwatch(peer);
    const message_link::Hold hold(lock);
    sends_.forget(peer);
    pending_.forget(peer);
    if (peer.contact != nullptr) contacts_.drop(handles_.addresses(), *peer.contact);
}

// ---- messages

Outcome Endpoint::send(message_link::Peer& its_peer, const Header& header, const plexus_view* pieces,
                       std::uint32_t count, std::size_t size, std::string& why) {
    FabricPeer& peer = FabricPeer::of(its_peer);
    if (!handles_.is_open()) return outcome_of(-FI_ESHUTDOWN, why);
    const int error = sends_.send(handles_.endpoint(), peer, header, pieces, count, size);
    if (error != 0) return outcome_of(error, why);
    peer.page.ring();
    return PLEXUS_OK;
}

bool Endpoint::is_sending(const message_link::Peer& peer) const { return FabricPeer::of(peer).sending > 0; }

void Endpoint::recycle(message_link::Message& message) { receives_.recycle(static_cast<Buffer&>(message)); }

void Endpoint::post_receives() {
    if (!handles_.is_open()) return;
    const int error = receives_.post(handles_.endpoint());
    if (error != 0 && !passes(error)) fail("a receive buffer was given to it", error);
}

// ---- completions

std::size_t Endpoint::poll(Event* out, std::size_t most) {
    const message_link::Hold hold(lock);
    if (receives_.has_returned()) post_receives();
    return pending_.is_empty() ? read_queue(out, most) : pending_.take(out, most);
}

std::size_t Endpoint::read_queue(Event* out, std::size_t most) {
    constexpr std::size_t kBatch = 16;
    if (!handles_.is_open()) return 0;
    std::array<fi_cq_msg_entry, kBatch> entries;
    const ssize_t got = fi_cq_read(handles_.queue(), entries.data(), std::min(most, kBatch));
    if (got == -FI_EAVAIL) return read_error(*out) ? 1 : 0;
    if (got < 0 && !passes(got)) fail("its completions were read", got);
    std::size_t told = 0;
    for (ssize_t i = 0; i < got; ++i) {
        const auto& entry = entries[static_cast<std::size_t>(i)];
        Op* const op = entry.op_context == nullptr ? nullptr : &Op::of(entry.op_context);
        if (tell(op, entry.len, {}, out[told])) ++told;
    }
    return told;
}

bool Endpoint::read_error(Event& out) {
    fi_cq_err_entry entry{};
    const ssize_t got = fi_cq_readerr(handles_.queue(), &entry, 0);
    if (got < 0 && !passes(got)) fail("an error of an operation was read", got);
    if (got != 1) return false;
    return tell(entry.op_context == nullptr ? nullptr : &Op::of(entry.op_context), 0,
                text_of_failure(handles_.queue(), entry), out);
}

bool Endpoint::tell(Op* op, std::size_t size, std::string error, Event& out) {
    out.why = std::move(error);
    if (op == nullptr) {
        out.what = Event::What::unknown_failed;
        return !out.why.empty();
    }
    out.peer = op->peer;
    switch (op->what) {
    case Op::What::receive:
        if (!out.why.empty())
            host_.log(host_.self, PLEXUS_DEBUG, ("a message was not received: " + out.why).c_str());
        return receives_.completed(static_cast<Buffer&>(*op), size, out);
    case Op::What::send: {
        const Contact& contact = *op->contact;
        const bool failed = sends_.completed(static_cast<Buffer&>(*op), out);
        contacts_.tidy(handles_.addresses(), contact);
        return failed;
    }
    case Op::What::fetch:
        fetches_.completed(*op, out);
        return true;
    }
    return false;
}

bool Endpoint::keep_events() {
    std::array<Event, 16> events;
    const std::size_t count = read_queue(events.data(), events.size());
    for (std::size_t i = 0; i < count; ++i) pending_.add(std::move(events[i]));
    return count > 0;
}

std::size_t Endpoint::fetches_over(const message_link::Peer& peer) {
    const message_link::Hold hold(lock);
    (void)keep_events();
    return pending_.fetched_over(peer);
}

// A read that the provider has can't be called back. Either it is over within a moment, or the
// endpoint is given up.
void Endpoint::stop_writes(message_link::Peer& peer, const std::atomic<std::uint32_t>& writes) {
    constexpr auto kMoment = std::chrono::milliseconds(5);
    const auto until = message_link::Clock::now() + kMoment;
    while (!is_shut() && fetches_over(peer) < writes.load(std::memory_order_relaxed))
        if (message_link::Clock::now() > until) shut();
}

// ---- sleeping

void Endpoint::look_around() {
    std::array<FabricPeer*, 16> ended;
    const std::size_t count = wait_set_.look(ended);
    for (std::size_t i = 0; i < count; ++i) {
        Event event;
        event.what = Event::What::ended;
        event.peer = ended[i];
        const message_link::Hold hold(lock);
        pending_.add(std::move(event));
    }
}

bool Endpoint::arm(std::uint64_t& sleep_ns, bool stalled) {
    wait_set_.announce_sleep();
    if (stalled) sleep_ns = std::min(sleep_ns, kRetrySoonNs);
    const message_link::Hold hold(lock);
    if (!pending_.is_empty() || receives_.has_returned()) return false;
    if (!handles_.is_open()) return true;
    if (traits_.wakes) {
        const int error = handles_.try_wait();
        if (error != 0 && !passes(error)) fail("it was asked whether one may sleep", error);
        return error == 0;
    }
    const bool under_way = fetches_.under_way() + sends_.under_way() > 0;
    sleep_ns = std::min(sleep_ns, under_way ? kRetrySoonNs : kLongNs);
    return !keep_events();
}

// ---- the end

void Endpoint::shut() {
    const message_link::Hold hold(lock);
    end_for("the endpoint of provider " + address().provider +
                " had to be closed to end a read that would not end",
            false);
}

void Endpoint::fail(const char* when, long error) {
    end_for("provider " + address().provider + " failed when " + when + ": " + text_of_error(error), true);
}

message_link::Port::Closed Endpoint::closed() {
    const message_link::Hold hold(lock);
    return closed_;
}

void Endpoint::end_for(std::string why, bool failed) {
    if (!handles_.is_open()) return;
    closed_ = {std::move(why), failed};
    set_shut();
    // A link may be freed from now on, so that nothing kept may name one.
    pending_.keep_arrivals();
    fetches_.close();
    handles_.close(fetches_.under_way() > 0);
}

} // namespace plexus::libfabric
