// SPDX-License-Identifier: BSD-3-Clause
#include "ucx/worker.h"

#include "common/pieces.h"
#include "common/system_text.h"

#include <algorithm>
#include <cstring>

namespace plexus::ucx {
namespace {

using message_link::Clock;
using message_link::Hold;
using message_link::kHeaderBytes;
using message_link::Kind;

constexpr unsigned kMessageId = 1;            // of our active messages
constexpr std::uint32_t kMostCopies = 64;     // small messages of a link that UCX holds
constexpr std::uint64_t kPendingNs = 500'000; // shared memory does not tell when there is room
constexpr std::size_t kLargeSample = 1024 * 1024;

// For enquiries before there is an endpoint to ask.
struct Guess {
    const char* transport;
    message_link::Port::Speed speed;
};
constexpr Guess kGuesses[] = {{"rc_mlx5", {1'000, 12'000'000'000}},  {"dc_mlx5", {1'000, 12'000'000'000}},
                              {"rc_verbs", {1'200, 12'000'000'000}}, {"ud_mlx5", {1'300, 10'000'000'000}},
                              {"ud_verbs", {1'500, 10'000'000'000}}, {"posix", {300, 10'000'000'000}},
                              {"sysv", {300, 10'000'000'000}},       {"tcp", {10'000, 1'250'000'000}}};

// Nanoseconds that UCX reckons with for a message; 0: it does not say.
double reckoned_ns(ucp_ep_h endpoint, std::size_t size) {
    ucp_ep_evaluate_perf_param_t asked{};
    asked.field_mask = UCP_EP_PERF_PARAM_FIELD_MESSAGE_SIZE;
    asked.message_size = size;
    ucp_ep_evaluate_perf_attr_t answer{};
    answer.field_mask = UCP_EP_PERF_ATTR_FIELD_ESTIMATED_TIME;
    return ::ucp_ep_evaluate_perf(endpoint, &asked, &answer) == UCS_OK ? answer.estimated_time * 1e9 : 0;
}

void send_over(void* request, ucs_status_t, void* op) {
    ::ucp_request_free(request);
    Op& over = *static_cast<Op*>(op);
    over.owner->complete(over, false);
}

void receive_over(void* request, ucs_status_t status, std::size_t, void* op) {
    ::ucp_request_free(request);
    Op& over = *static_cast<Op*>(op);
    over.owner->complete(over, status != UCS_OK);
}

} // namespace

Worker::Worker(const plexus_host& host, const Options& options)
  : host_(host)
  , options_(options)
  , operations_(*this, library_, static_cast<std::size_t>(options.eager))
  , inbox_(static_cast<std::size_t>(options.eager))
  , endpoints_(*this, library_, operations_)
  , keys_(host, *this, library_, operations_, options.remote) {}

Worker::~Worker() { shut(); }

std::int32_t Worker::open(std::string& why) {
    const Trace trace;
    if (const std::int32_t status = library_.open(options_, why); status != PLEXUS_OK) return status;
    if (const int error = liveness_socket_.open(host_); error != 0 && !library_.endpoints_fail()) {
        why = "the end of processes on this host can't be noticed, for a socket could not be made: " +
              module::system_text(error);
        return PLEXUS_UNSUPPORTED;
    }
    if (const int error = endpoints_.open(library_.event_fd()); error != 0) {
        why = "no epoll set could be made: " + module::system_text(error);
        return PLEXUS_UNSUPPORTED;
    }
    ucp_am_handler_param_t handler{};
    handler.field_mask =
        UCP_AM_HANDLER_PARAM_FIELD_ID | UCP_AM_HANDLER_PARAM_FIELD_CB | UCP_AM_HANDLER_PARAM_FIELD_ARG;
    handler.id = kMessageId;
    handler.cb = Inbox::take;
    handler.arg = &inbox_;
    if (::ucp_worker_set_am_recv_handler(library_.worker(), &handler) != UCS_OK) {
        why = "UCX takes no handler for active messages: " + trace.text();
        return PLEXUS_UNSUPPORTED;
    }
    self_.where = module::surroundings();
    self_.library = Library::version();
    self_.liveness = liveness_socket_.name();
    self_.endpoints_fail = library_.endpoints_fail();
    self_.address = library_.address();
    describe_resources(self_, library_.resources());
    for (const std::uint8_t byte : self_.encode(host_)) descriptor_.push_back(static_cast<std::byte>(byte));
    if (descriptor_.empty()) {
        why = "UCX's address of this context has " + std::to_string(self_.address.size()) +
              " bytes, more than a descriptor holds: choose fewer transports by tls or fewer devices by "
              "net_devices";
        return PLEXUS_UNSUPPORTED;
    }
    traits_.eager = static_cast<std::size_t>(options_.eager);
    traits_.inline_bytes = Arrival::kRoom;
    traits_.keeps_order = false;
    traits_.same_eager = false;
    traits_.most_landings = 4;
    traits_.turns_between_looks = 512;
    return PLEXUS_OK;
}

message_link::Port::Speed Worker::speed(const message_link::Peer* its_peer) const {
    Speed out = std::end(kGuesses)[-1].speed;
    const auto is_known = [&](const char* name) {
        return std::find(self_.transports.begin(), self_.transports.end(), name) != self_.transports.end();
    };
    const auto* guess = std::find_if(std::begin(kGuesses), std::end(kGuesses),
                                     [&](const Guess& each) { return is_known(each.transport); });
    if (guess != std::end(kGuesses)) out = guess->speed;
    if (its_peer == nullptr || ours(*its_peer).endpoint.handle == nullptr) return out;
    const ucp_ep_h endpoint = ours(*its_peer).endpoint.handle;
    if (const double ns = reckoned_ns(endpoint, 8); ns > 0) out.latency_ns = static_cast<std::uint64_t>(ns);
    if (const double ns = reckoned_ns(endpoint, kLargeSample); ns > 0)
        out.bytes_per_second = static_cast<std::uint64_t>(kLargeSample * 1e9 / ns);
    return out;
}

// ---- sending

bool Worker::has_room(const message_link::Peer& its_peer, bool) const {
    const UcxPeer& peer = ours(its_peer);
    return peer.copies == 0 ||
           (peer.copies < kMostCopies && peer.copied_bytes + traits_.eager <= options_.queue);
}

bool Worker::is_sending(const message_link::Peer& peer) const {
    return ours(peer).copies > 0 && !ours(peer).endpoint.failed;
}

std::uint64_t Worker::queued_bytes(const message_link::Peer& peer) const { return ours(peer).copied_bytes; }

Outcome Worker::submit(Op& op, const void* data, std::size_t count, ucp_datatype_t type,
                       std::size_t header_size, std::uint32_t flags, std::string& why) {
    Endpoint& endpoint = op.peer->endpoint;
    ucp_request_param_t how{};
    how.op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA | UCP_OP_ATTR_FIELD_FLAGS |
                       UCP_OP_ATTR_FIELD_DATATYPE | UCP_OP_ATTR_FIELD_MEMORY_TYPE;
    how.flags = flags;
    how.cb.send = send_over;
    how.datatype = type;
    how.user_data = &op;
    how.memory_type = UCS_MEMORY_TYPE_HOST;
    const ucs_status_ptr_t request =
        ::ucp_am_send_nbx(endpoint.handle, kMessageId, op.header.data(), header_size, data, count, &how);
    if (UCS_PTR_IS_PTR(request)) {
        operations_.begin(op);
        return PLEXUS_POSTED;
    }
    operations_.give_back(op);
    if (request == nullptr) return PLEXUS_OK;
    const ucs_status_t status = UCS_PTR_STATUS(request);
    if (status == UCS_ERR_NO_MEMORY || status == UCS_ERR_NO_RESOURCE) return PLEXUS_AGAIN;
    why = std::string("UCX: ") + ::ucs_status_string(status);
    endpoints_.fail(endpoint, status);
    return PLEXUS_LINK_LOST;
}

// In one stretch with its header, which the transport carries faster than two.
Outcome Worker::send(message_link::Peer& its_peer, const message_link::Header& header,
                     const plexus_view* pieces, std::uint32_t count, std::size_t size, std::string& why) {
    UcxPeer& peer = ours(its_peer);
    if (peer.endpoint.failed) {
        why = std::string("UCX: ") + ::ucs_status_string(peer.endpoint.status);
        return PLEXUS_LINK_LOST;
    }
    const bool fits =
        peer.copies == 0 || (peer.copies < kMostCopies && peer.copied_bytes + size <= options_.queue);
    if (header.kind == Kind::message && !fits) return PLEXUS_AGAIN;
    Op& op = operations_.take(peer, Op::What::copy, size);
    header.write(op.block.get());
    module::copy_pieces(op.block.get() + kHeaderBytes, {pieces, count});
    const Outcome outcome = submit(op, op.block.get(), kHeaderBytes + size, ucp_dt_make_contig(1), 0,
                                   UCP_AM_SEND_FLAG_EAGER, why);
    return outcome == PLEXUS_POSTED ? PLEXUS_OK : outcome; // copied
}

Outcome Worker::carry(message_link::Peer& its_peer, const message_link::Header& header,
                      const plexus_view* pieces, std::uint32_t count, std::uint64_t rest, void* token,
                      std::string& why) {
    UcxPeer& peer = ours(its_peer);
    if (peer.endpoint.failed) {
        why = std::string("UCX: ") + ::ucs_status_string(peer.endpoint.status);
        return PLEXUS_LINK_LOST;
    }
    Op& op = operations_.take(peer, Op::What::carried, 0);
    op.token = token;
    op.size = static_cast<std::size_t>(rest) + pieces[0].size;
    header.write(op.header.data());
    if (pieces[0].size > 0) std::memcpy(op.header.data() + kHeaderBytes, pieces[0].data, pieces[0].size);
    op.pieces.clear();
    for (std::uint32_t i = 1; i < count; ++i)
        if (pieces[i].size > 0) op.pieces.push_back({const_cast<void*>(pieces[i].data), pieces[i].size});
    const std::size_t header_size = kHeaderBytes + pieces[0].size;
    if (op.pieces.size() == 1)
        return submit(op, op.pieces[0].buffer, op.pieces[0].length, ucp_dt_make_contig(1), header_size, 0,
                      why);
    return submit(op, op.pieces.data(), op.pieces.size(), ucp_dt_make_iov(), header_size, 0, why);
}

Outcome Worker::receive(message_link::Peer& its_peer, message_link::Message& message, void* where,
                        void* token) {
    UcxPeer& peer = ours(its_peer);
    auto& arrival = static_cast<Arrival&>(message);
    if (peer.endpoint.failed) { // what UCX held of the message went with the endpoint
        arrival.store = Arrival::Store::here;
        return PLEXUS_MESSAGE_LOST;
    }
    Op& op = operations_.take(peer, Op::What::receive, 0);
    op.token = token;
    ucp_request_param_t how{};
    how.op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA | UCP_OP_ATTR_FIELD_DATATYPE |
                       UCP_OP_ATTR_FIELD_MEMORY_TYPE;
    how.cb.recv_am = receive_over;
    how.datatype = ucp_dt_make_contig(1);
    how.user_data = &op;
    how.memory_type = UCS_MEMORY_TYPE_HOST;
    peer.enlist(op); // before UCX can say that it is over
    const ucs_status_ptr_t request = ::ucp_am_recv_data_nbx(library_.worker(), arrival.memory, where,
                                                            static_cast<std::size_t>(message.rest), &how);
    arrival.store = Arrival::Store::here; // the descriptor is UCX's again
    if (UCS_PTR_IS_PTR(request)) return PLEXUS_POSTED;
    peer.take_off(op);
    operations_.give_back(op);
    return request == nullptr ? PLEXUS_OK : PLEXUS_MESSAGE_LOST;
}

// ---- peers

std::unique_ptr<message_link::Peer> Worker::reach(message_link::ByteView descriptor, message_link::Link& link,
                                                  std::int32_t& status, std::string& why) {
    const plexus_view bytes{descriptor.data(), descriptor.size()};
    const auto there = Descriptor::decode(bytes);
    status = PLEXUS_DENIED;
    if (!there || !Descriptor::sealed(host_, bytes)) {
        why = "its descriptor was not made by a holder of this job's key";
        return nullptr;
    }
    status = PLEXUS_LINK_LOST;
    why = there->why_not(self_);
    Endpoint* const endpoint = why.empty() ? endpoints_.reach(*there, self_, why) : nullptr;
    if (endpoint == nullptr) return nullptr;
    auto peer = std::make_unique<UcxPeer>(link, *endpoint);
    const Hold hold(lock);
    endpoint->peers.push_back(peer.get());
    return peer;
}

// ---- the turn

std::size_t Worker::poll(Event* out, std::size_t most) {
    const Trace trace;
    std::size_t count = 0;
    {
        const Hold hold(lock);
        inbox_.flush(library_.worker());
        const bool asks = inbox_.is_empty() && library_.worker() != nullptr;
        const bool progressed = asks && ::ucp_worker_progress(library_.worker()) != 0;
        if (progressed) has_progressed = true;
        // What has come is handed out below before the end of its sender is told.
        if (endpoints_.needs_check()) endpoints_.check(asks, !progressed && inbox_.is_empty());
        for (; count < most; ++count) {
            Arrival* const arrival = inbox_.next();
            if (arrival == nullptr) break;
            out[count].what = Event::What::arrived;
            out[count].message = arrival;
        }
        if (operations_.has_events() && count < most)
            count += operations_.take_events(out + count, most - count);
    }
    if (!trace.empty()) host_.log(host_.self, PLEXUS_DEBUG, ("UCX says: " + trace.text()).c_str());
    return count;
}

bool Worker::arm(std::uint64_t& sleep_ns, bool) {
    const Trace trace;
    const Hold hold(lock);
    if (library_.worker() == nullptr) return true;
    inbox_.flush(library_.worker());
    if (!inbox_.is_empty() || operations_.has_events() || endpoints_.needs_check()) return false;
    if (::ucp_worker_arm(library_.worker()) != UCS_OK) return false;
    if (library_.on_host() && operations_.are_awaited()) sleep_ns = std::min(sleep_ns, kPendingNs);
    return true;
}

// ---- the end

// UCX writes to the host's memory: it has to be through with it. By force where endpoints
// know that; the others copy by themselves, and are through soon.
void Worker::stop_writes(message_link::Peer& its_peer, const std::atomic<std::uint32_t>&) {
    UcxPeer& peer = ours(its_peer);
    const Trace trace;
    const Hold hold(lock);
    if (peer.receiving > 0 && library_.endpoints_fail()) endpoints_.abort(peer.endpoint, UCS_ERR_CANCELED);
    // Of a peer that died UCX may never say so: nobody writes any more.
    constexpr auto kMoment = std::chrono::milliseconds(20);
    const auto enough = Clock::now() + kMoment;
    while (peer.receiving > 0 && library_.worker() != nullptr)
        if (::ucp_worker_progress(library_.worker()) == 0 && Clock::now() > enough &&
            has_hung_up(peer.endpoint.liveness.get()))
            break;
    waker->wake(); // for what arrived meanwhile
}

// A peer that was given up may be stopped. By force where endpoints know that; over shared memory what UCX
// reads of the host's stays with it until the peer goes on or dies.
void Worker::cut(message_link::Peer& its_peer) {
    const Hold hold(lock);
    if (library_.endpoints_fail()) endpoints_.abort(ours(its_peer).endpoint, UCS_ERR_TIMED_OUT);
}

void Worker::shut() {
    const Trace trace;
    // First of all: memory of ours that peers still read is not valid any more.
    liveness_socket_.close();
    const Hold hold(lock);
    if (library_.worker() != nullptr) {
        endpoints_.close_all();
        if (library_.ends_by_force()) {
            const auto enough = Clock::now() + std::chrono::milliseconds(100);
            while (::ucp_worker_progress(library_.worker()) != 0 && Clock::now() < enough) {}
        }
        inbox_.drop(library_.worker());
        keys_.end();
    }
    library_.close();
    inbox_.drop(nullptr); // what came while UCX closed
    endpoints_.orphan_all();
    operations_.free_orphans();
    set_shut();
}

} // namespace plexus::ucx
