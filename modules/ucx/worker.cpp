// SPDX-License-Identifier: BSD-3-Clause
#include "ucx/worker.h"

#include "common/system_text.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <sys/epoll.h>

namespace plexus::ucx {
namespace {

using message_link::Clock;
using message_link::Hold;
using message_link::kHeaderBytes;
using message_link::Kind;

constexpr unsigned kMessageId = 1;         // of our active messages
constexpr std::uint32_t kMostCopies = 64;  // small messages of a link that UCX holds
constexpr std::uint32_t kQuiet = 3;        // turns after which a dead peer has said all
constexpr std::uint32_t kMostAsked = 4096; // ditto, if others are never quiet: more than a queue of UCX holds
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

void endpoint_failed(void* way, ucp_ep_h, ucs_status_t status) {
    Way& failed = *static_cast<Way*>(way);
    failed.worker.break_way(failed, status);
}

void send_over(void* request, ucs_status_t, void* op) {
    ::ucp_request_free(request);
    Op& over = *static_cast<Op*>(op);
    over.worker->op_over(over, false);
}

void receive_over(void* request, ucs_status_t status, std::size_t, void* op) {
    ::ucp_request_free(request);
    Op& over = *static_cast<Op*>(op);
    over.worker->op_over(over, status != UCS_OK);
}

} // namespace

UcxPeer::~UcxPeer() { way.worker.forget(*this); }

void UcxPeer::enlist(Op& op) noexcept {
    op.previous = nullptr;
    op.next = ops;
    if (ops != nullptr) ops->previous = &op;
    ops = &op;
    if (op.what == Op::What::receive) ++receiving;
    if (op.what != Op::What::copy) return;
    ++copies;
    copied_bytes += op.size;
}

void UcxPeer::take_off(Op& op) noexcept {
    (op.previous != nullptr ? op.previous->next : ops) = op.next;
    if (op.next != nullptr) op.next->previous = op.previous;
    op.peer = nullptr;
    if (op.what == Op::What::receive) --receiving;
    if (op.what != Op::What::copy) return;
    --copies;
    copied_bytes -= op.size;
}

Worker::Worker(const plexus_host& host, const Options& options)
  : host_(host)
  , options_(options)
  , ops_(static_cast<std::size_t>(options.eager))
  , inbox_(static_cast<std::size_t>(options.eager))
  , keys_(*this, options.remote) {}

Worker::~Worker() { shut(); }

std::int32_t Worker::open(std::string& why) {
    const Trace trace;
    if (const std::int32_t status = library_.open(options_, why); status != PLEXUS_OK) return status;
    if (const int error = liveness_socket_.open(host_); error != 0 && !library_.endpoints_fail()) {
        why = "the end of processes on this host can't be noticed, for a socket could not be made: " +
              module::system_text(error);
        return PLEXUS_UNSUPPORTED;
    }
    epoll_.reset(::epoll_create1(EPOLL_CLOEXEC));
    epoll_event event{EPOLLIN, {nullptr}};
    if (!epoll_ || ::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, library_.event_fd(), &event) != 0) {
        why = "no epoll set could be made: " + module::system_text(errno);
        return PLEXUS_UNSUPPORTED;
    }
    ucp_am_handler_param_t handler{};
    handler.field_mask =
        UCP_AM_HANDLER_PARAM_FIELD_ID | UCP_AM_HANDLER_PARAM_FIELD_CB | UCP_AM_HANDLER_PARAM_FIELD_ARG;
    handler.id = kMessageId;
    handler.cb = Inbox::take;
    handler.arg = &inbox_;
    if (::ucp_worker_set_am_recv_handler(handle(), &handler) != UCS_OK) {
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
    if (its_peer == nullptr || ours(*its_peer).way.endpoint == nullptr) return out;
    const ucp_ep_h endpoint = ours(*its_peer).way.endpoint;
    if (const double ns = reckoned_ns(endpoint, 8); ns > 0) out.latency_ns = static_cast<std::uint64_t>(ns);
    if (const double ns = reckoned_ns(endpoint, kLargeSample); ns > 0)
        out.bytes_per_second = static_cast<std::uint64_t>(kLargeSample * 1e9 / ns);
    return out;
}

// ---- operations

Op& Worker::take_op(UcxPeer& peer, Op::What what, std::size_t bytes) {
    Op& op = ops_.take(what, bytes);
    op.worker = this;
    op.peer = &peer;
    return op;
}

void Worker::begin(Op& op) {
    op.peer->enlist(op);
    if (library_.on_host()) waker->wake(); // a sleeper has to look after it
}

void Worker::tell(const Op& op, UcxPeer& peer, bool failed) {
    if (op.what == Op::What::copy) return;
    Event& event = events_.emplace_back();
    event.what = op.what == Op::What::receive ? Event::What::landed : Event::What::sent;
    event.peer = &peer;
    event.token = op.token;
    event.bytes = op.size;
    const std::int32_t how = op.what == Op::What::move ? PLEXUS_LINK_LOST : PLEXUS_MESSAGE_LOST;
    event.status = failed ? how : PLEXUS_OK;
    waker->wake();
}

void Worker::op_over(Op& op, bool failed) {
    if (UcxPeer* const peer = op.peer; peer != nullptr) {
        peer->take_off(op);
        // A process on this host may have reused its memory before we read it. A context closes its liveness
        // socket before it reuses memory that peers may still read.
        if (op.what == Op::What::receive && !library_.endpoints_fail())
            failed = failed || has_hung_up(peer->way.liveness.get());
        if (op.what == Op::What::carried) failed = peer->way.failed;
        tell(op, *peer, failed);
    } else {
        std::erase(orphans_, &op);
    }
    ops_.give_back(op);
}

// UCX keeps the peer's operations of this kind, but nobody waits for them any more.
void Worker::orphan(UcxPeer& peer, Op::What what, bool told) {
    for (Op* next = peer.ops; next != nullptr;) {
        Op& op = *next;
        next = op.next;
        if (op.what != what) continue;
        peer.take_off(op);
        if (told) tell(op, peer, true);
        orphans_.push_back(&op);
    }
}

void Worker::orphan_all(UcxPeer& peer) {
    for (const auto what : {Op::What::copy, Op::What::carried, Op::What::move, Op::What::receive})
        orphan(peer, what, true);
}

void Worker::forget(UcxPeer& peer) {
    const Hold hold(lock);
    orphan(peer, Op::What::copy, false); // what UCX has yet to send from memory of ours is no reason to wait
    std::erase_if(events_, [&](const Event& each) { return each.peer == &peer; });
    std::erase(peer.way.peers, &peer);
    std::erase_if(ways_.failed, [&](const auto& each) {
        if (!each->peers.empty()) return false;
        let_go(*each);
        // UCX may still name one whose endpoint could not be closed by force: those keep little.
        return library_.ends_by_force();
    });
}

// A forked child may hold the descriptor too: then the set would go on to name the way.
void Worker::let_go(Way& way) {
    if (way.liveness) (void)::epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, way.liveness.get(), nullptr);
    way.liveness.reset();
}

// ---- sending

bool Worker::has_room(const message_link::Peer& its_peer, bool) const {
    const UcxPeer& peer = ours(its_peer);
    return peer.copies == 0 ||
           (peer.copies < kMostCopies && peer.copied_bytes + traits_.eager <= options_.queue);
}

bool Worker::is_sending(const message_link::Peer& peer) const {
    return ours(peer).copies > 0 && !ours(peer).way.failed;
}

std::uint64_t Worker::queued_bytes(const message_link::Peer& peer) const { return ours(peer).copied_bytes; }

Outcome Worker::submit(Op& op, const void* data, std::size_t count, ucp_datatype_t type,
                       std::size_t header_size, std::uint32_t flags, std::string& why) {
    Way& way = op.peer->way;
    ucp_request_param_t how{};
    how.op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA | UCP_OP_ATTR_FIELD_FLAGS |
                       UCP_OP_ATTR_FIELD_DATATYPE | UCP_OP_ATTR_FIELD_MEMORY_TYPE;
    how.flags = flags;
    how.cb.send = send_over;
    how.datatype = type;
    how.user_data = &op;
    how.memory_type = UCS_MEMORY_TYPE_HOST;
    const ucs_status_ptr_t request =
        ::ucp_am_send_nbx(way.endpoint, kMessageId, op.header.data(), header_size, data, count, &how);
    if (UCS_PTR_IS_PTR(request)) {
        begin(op);
        return PLEXUS_POSTED;
    }
    ops_.give_back(op);
    if (request == nullptr) return PLEXUS_OK;
    const ucs_status_t status = UCS_PTR_STATUS(request);
    if (status == UCS_ERR_NO_MEMORY || status == UCS_ERR_NO_RESOURCE) return PLEXUS_AGAIN;
    why = std::string("UCX: ") + ::ucs_status_string(status);
    break_way(way, status);
    return PLEXUS_LINK_LOST;
}

// In one stretch with its header, which the transport carries faster than two.
Outcome Worker::send(message_link::Peer& its_peer, const message_link::Header& header,
                     const plexus_view* pieces, std::uint32_t count, std::size_t size, std::string& why) {
    UcxPeer& peer = ours(its_peer);
    if (peer.way.failed) {
        why = std::string("UCX: ") + ::ucs_status_string(peer.way.status);
        return PLEXUS_LINK_LOST;
    }
    const bool fits =
        peer.copies == 0 || (peer.copies < kMostCopies && peer.copied_bytes + size <= options_.queue);
    if (header.kind == Kind::message && !fits) return PLEXUS_AGAIN;
    Op& op = take_op(peer, Op::What::copy, size);
    header.write(op.block.get());
    std::byte* out = op.block.get() + kHeaderBytes;
    for (std::uint32_t i = 0; i < count; ++i) {
        if (pieces[i].size > 0) std::memcpy(out, pieces[i].data, pieces[i].size);
        out += pieces[i].size;
    }
    const Outcome outcome = submit(op, op.block.get(), kHeaderBytes + size, ucp_dt_make_contig(1), 0,
                                   UCP_AM_SEND_FLAG_EAGER, why);
    return outcome == PLEXUS_POSTED ? PLEXUS_OK : outcome; // copied
}

Outcome Worker::carry(message_link::Peer& its_peer, const message_link::Header& header,
                      const plexus_view* pieces, std::uint32_t count, std::uint64_t rest, void* token,
                      std::string& why) {
    UcxPeer& peer = ours(its_peer);
    if (peer.way.failed) {
        why = std::string("UCX: ") + ::ucs_status_string(peer.way.status);
        return PLEXUS_LINK_LOST;
    }
    Op& op = take_op(peer, Op::What::carried, 0);
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
    if (peer.way.failed) { // what UCX held of the message went with the endpoint
        arrival.store = Arrival::Store::here;
        return PLEXUS_MESSAGE_LOST;
    }
    Op& op = take_op(peer, Op::What::receive, 0);
    op.token = token;
    ucp_request_param_t how{};
    how.op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA | UCP_OP_ATTR_FIELD_DATATYPE |
                       UCP_OP_ATTR_FIELD_MEMORY_TYPE;
    how.cb.recv_am = receive_over;
    how.datatype = ucp_dt_make_contig(1);
    how.user_data = &op;
    how.memory_type = UCS_MEMORY_TYPE_HOST;
    peer.enlist(op); // before UCX can say that it is over
    const ucs_status_ptr_t request =
        ::ucp_am_recv_data_nbx(handle(), arrival.memory, where, static_cast<std::size_t>(message.rest), &how);
    arrival.store = Arrival::Store::here; // the descriptor is UCX's again
    if (UCS_PTR_IS_PTR(request)) return PLEXUS_POSTED;
    peer.take_off(op);
    ops_.give_back(op);
    return request == nullptr ? PLEXUS_OK : PLEXUS_MESSAGE_LOST;
}

// ---- ways

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
    Way* const way = why.empty() ? way_to(*there, why) : nullptr;
    if (way == nullptr) return nullptr;
    auto peer = std::make_unique<UcxPeer>(link, *way);
    const Hold hold(lock);
    way->peers.push_back(peer.get());
    return peer;
}

Way* Worker::way_to(const Descriptor& target, std::string& why) {
    if (const auto found = ways_.by_address.find(key_of(target.address)); found != ways_.by_address.end())
        return found->second.get();
    const bool endpoints_fail = library_.endpoints_fail();
    auto way = std::make_unique<Way>(*this, target.address);
    if (target.where.same_network(self_.where) && target.liveness != LivenessName{}) {
        way->liveness = connect_liveness(target.liveness);
        const int error = errno;
        if (!way->liveness && error == ECONNREFUSED) {
            why = "the peer's context has ended";
            return nullptr;
        }
        if (!way->liveness && !endpoints_fail) {
            why = "the end of the peer could not be noticed: " + module::system_text(error);
            return nullptr;
        }
    }
    const Trace trace;
    const Hold hold(lock);
    ucp_ep_params_t wanted{};
    wanted.field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS | UCP_EP_PARAM_FIELD_ERR_HANDLER |
                        UCP_EP_PARAM_FIELD_ERR_HANDLING_MODE;
    wanted.address = reinterpret_cast<const ucp_address_t*>(way->address.data());
    wanted.err_mode = library_.ends_by_force() ? UCP_ERR_HANDLING_MODE_PEER : UCP_ERR_HANDLING_MODE_NONE;
    wanted.err_handler = {endpoint_failed, way.get()};
    const ucs_status_t status = ::ucp_ep_create(handle(), &wanted, &way->endpoint);
    if (status != UCS_OK) {
        why = std::string("UCX can't reach the peer: ") + ::ucs_status_string(status) +
              (trace.empty() ? "" : " (" + trace.text() + ")");
        return nullptr;
    }
    epoll_event event{0, {way.get()}}; // hang-ups are told without being asked for
    if (way->liveness) (void)::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, way->liveness.get(), &event);
    Way* const out = way.get();
    ways_.by_address.emplace(key_of(out->address), std::move(way));
    return out;
}

void Worker::break_way(Way& way, ucs_status_t status) {
    if (way.failed) return;
    way.failed = true;
    way.status = status;
    ways_.any_failed = true;
    waker->wake();
}

void Worker::close_endpoint(Way& way, bool by_force) {
    if (way.endpoint == nullptr) return;
    ucp_request_param_t how{};
    how.op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS;
    how.flags = by_force ? static_cast<std::uint32_t>(UCP_EP_CLOSE_FLAG_FORCE) : 0;
    const ucs_status_ptr_t request = ::ucp_ep_close_nbx(std::exchange(way.endpoint, nullptr), &how);
    if (UCS_PTR_IS_PTR(request)) ::ucp_request_free(request);
}

// Under the lock.
void Worker::fail(Way& way, const std::string& why) {
    way.failed = true;
    // Its peer has gone, or UCX has ended it: nobody reads our memory any more.
    close_endpoint(way, library_.ends_by_force());
    for (UcxPeer* const peer : way.peers) {
        if (!library_.endpoints_fail()) {
            // UCX will do nothing with them, and may never say so.
            orphan(*peer, Op::What::carried, true);
            orphan(*peer, Op::What::move, true);
            if (way.cut) orphan(*peer, Op::What::receive, true); // nobody writes any more
        }
        Event& event = events_.emplace_back();
        event.what = Event::What::broken;
        event.peer = peer;
        event.why = why;
    }
    const auto found = ways_.by_address.find(key_of(way.address));
    ways_.failed.push_back(std::move(found->second));
    ways_.by_address.erase(found);
}

// What a peer sent before its end comes first. Under the lock.
void Worker::check_ways(bool asked, bool quiet) {
    ways_.any_failed = false;
    ways_.quiet = quiet ? ways_.quiet + 1 : 0;
    std::vector<Way*> over;
    for (const auto& [address, way] : ways_.by_address) {
        if (way->cut && asked) ++way->asked;
        if (way->failed || (way->cut && (ways_.quiet >= kQuiet || way->asked >= kMostAsked)))
            over.push_back(way.get());
    }
    for (Way* const way : over) {
        if (way->cut) --ways_.cut;
        fail(*way, way->cut ? "the peer's context has ended"
                            : std::string("UCX: ") + ::ucs_status_string(way->status));
    }
}

// ---- the turn

std::size_t Worker::poll(Event* out, std::size_t most) {
    const Trace trace;
    std::size_t count = 0;
    {
        const Hold hold(lock);
        inbox_.flush(handle());
        const bool asks = inbox_.is_empty() && handle() != nullptr;
        const bool progressed = asks && ::ucp_worker_progress(handle()) != 0;
        if (progressed) has_progressed = true;
        // What has come is handed out below before the end of a way is told.
        if (ways_.any_failed || ways_.cut > 0) check_ways(asks, !progressed && inbox_.is_empty());
        for (; count < most; ++count) {
            Arrival* const arrival = inbox_.next();
            if (arrival == nullptr) break;
            out[count].what = Event::What::arrived;
            out[count].message = arrival;
        }
        if (!events_.empty() && count < most) {
            const std::size_t more = std::min(most - count, events_.size());
            const auto end = events_.begin() + static_cast<std::ptrdiff_t>(more);
            std::move(events_.begin(), end, out + count);
            events_.erase(events_.begin(), end);
            count += more;
        }
    }
    if (!trace.empty()) host_.log(host_.self, PLEXUS_DEBUG, ("UCX says: " + trace.text()).c_str());
    return count;
}

void Worker::look_around() {
    std::array<epoll_event, 16> events;
    const int count = ::epoll_wait(epoll_.get(), events.data(), static_cast<int>(events.size()), 0);
    for (int i = 0; i < count; ++i) {
        auto* const way = static_cast<Way*>(events[static_cast<std::size_t>(i)].data.ptr);
        if (way == nullptr) continue;
        (void)::epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, way->liveness.get(), nullptr);
        way->cut = true;
        const Hold hold(lock);
        const auto current = ways_.by_address.find(key_of(way->address));
        if (current != ways_.by_address.end() && current->second.get() == way) ++ways_.cut;
        ways_.quiet = 0;
    }
}

bool Worker::arm(std::uint64_t& sleep_ns, bool) {
    const Trace trace;
    const Hold hold(lock);
    if (handle() == nullptr) return true;
    inbox_.flush(handle());
    if (!inbox_.is_empty() || !events_.empty() || ways_.any_failed || ways_.cut > 0) return false;
    if (::ucp_worker_arm(handle()) != UCS_OK) return false;
    if (library_.on_host() && ops_.taken() > orphans_.size()) sleep_ns = std::min(sleep_ns, kPendingNs);
    return true;
}

// ---- the end

// UCX writes to the host's memory: it has to be through with it. By force where endpoints
// know that; the others copy by themselves, and are through soon.
void Worker::stop_writes(message_link::Peer& its_peer, const std::atomic<std::uint32_t>&) {
    UcxPeer& peer = ours(its_peer);
    const Trace trace;
    const Hold hold(lock);
    if (peer.receiving > 0 && library_.endpoints_fail()) {
        break_way(peer.way, UCS_ERR_CANCELED);
        close_endpoint(peer.way, true);
    }
    // Of a peer that died UCX may never say so: nobody writes any more.
    constexpr auto kMoment = std::chrono::milliseconds(20);
    const auto enough = Clock::now() + kMoment;
    while (peer.receiving > 0 && handle() != nullptr)
        if (::ucp_worker_progress(handle()) == 0 && Clock::now() > enough &&
            has_hung_up(peer.way.liveness.get()))
            break;
    waker->wake(); // for what arrived meanwhile
}

// A peer that was given up may be stopped. By force where endpoints know that; over shared memory what UCX
// reads of the host's stays with it until the peer goes on or dies.
void Worker::cut(message_link::Peer& its_peer) {
    const Hold hold(lock);
    if (!library_.endpoints_fail()) return;
    break_way(ours(its_peer).way, UCS_ERR_TIMED_OUT);
    close_endpoint(ours(its_peer).way, true);
}

void Worker::shut() {
    const Trace trace;
    // First of all: memory of ours that peers still read is not valid any more.
    liveness_socket_.close();
    const Hold hold(lock);
    if (handle() != nullptr) {
        for (const auto& each : ways_.by_address) {
            each.second->failed = true;
            // Also one that a peer still reads by: a worker of such endpoints may not end before its sends.
            close_endpoint(*each.second, library_.ends_by_force());
        }
        if (library_.ends_by_force()) {
            const auto enough = Clock::now() + std::chrono::milliseconds(100);
            while (::ucp_worker_progress(handle()) != 0 && Clock::now() < enough) {}
        }
        inbox_.drop(handle());
        keys_.end();
    }
    library_.close();
    inbox_.drop(nullptr); // what came while UCX closed
    for (const auto& each : ways_.by_address)
        for (UcxPeer* const peer : each.second->peers) orphan_all(*peer);
    for (const auto& each : ways_.failed)
        for (UcxPeer* const peer : each->peers) orphan_all(*peer);
    for (Op* const op : orphans_) ops_.give_back(*op);
    orphans_.clear();
    set_shut();
}

} // namespace plexus::ucx
