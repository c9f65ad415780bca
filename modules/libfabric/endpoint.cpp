// SPDX-License-Identifier: BSD-3-Clause
#include "libfabric/endpoint.h"

#include <algorithm>
#include <cstring>
#include <rdma/fi_errno.h>
#include <rdma/fi_rma.h>
#include <sys/epoll.h>
#include <sys/mman.h>

namespace plexus::libfabric {
namespace {

constexpr std::size_t kWantedInject = 4096;
constexpr std::size_t kMostFetch = 4 * 1024 * 1024;

// How long the host may sleep if no descriptor reports events.
constexpr std::uint64_t kRetrySoonNs = 50'000;
constexpr std::uint64_t kLongNs = 200'000'000;

// libfabric 1.17's tcp ends a read twice, and then falls over a null pointer, where its endpoint
// is closed while a part of the answer is there.
bool trips_over_reads(const Address& address) {
    return core_of(address.provider) == "tcp" && FI_VERSION_LT(fi_version(), FI_VERSION(1, 18));
}

bool starts_with(std::string_view text, std::string_view start) {
    return text.substr(0, start.size()) == start;
}

Reach reach_of(const fi_info& info) {
    if (info.ep_attr->protocol == FI_PROTO_SHM) return Reach::host;
    const std::string_view fabric = info.fabric_attr->name;
    const bool loopback = starts_with(fabric, "127.") || starts_with(fabric, "::1");
    return loopback ? Reach::network : Reach::fabric;
}

// The provider keeps a file in /dev/shm for each endpoint, named by its process first, and a
// process that was killed leaves it. Only after the process has ended.
void remove_left_over(const Address& address, const PageAddress& page_address) {
    if (address.reach != Reach::host) return;
    const std::string file = shared_file_of(address.name);
    if (file.rfind("/" + std::to_string(page_address.process) + ":", 0) == 0)
        (void)::shm_unlink(file.c_str());
}

FabricPeer& ours(message_link::Peer& peer) { return static_cast<FabricPeer&>(peer); }
const FabricPeer& ours(const message_link::Peer& peer) { return static_cast<const FabricPeer&>(peer); }

// Zero, or a code of libfabric's.
Outcome outcome_of(int error, std::string& why) {
    if (error == 0) return PLEXUS_POSTED;
    if (passes(error)) return PLEXUS_AGAIN;
    why = text_of_error(error);
    return PLEXUS_LINK_LOST;
}

} // namespace

FabricPeer::FabricPeer(message_link::Link& its_link, Endpoint& endpoint, Address its_address,
                       const PageAddress& page_address)
  : Peer(its_link)
  , endpoint_(endpoint)
  , address_(std::move(its_address))
  , page_address_(page_address) {}

FabricPeer::~FabricPeer() {
    if (page.process_ended()) remove_left_over(address_, page_address_);
    endpoint_.forget(*this);
}

Endpoint::Endpoint(const plexus_host& host, Info info, const Options& options, Descriptor self,
                   std::shared_ptr<Page> page)
  : host_(host)
  , info_(std::move(info))
  , options_(options)
  , self_(std::move(self))
  , page_(std::move(page))
  , fetches_(options.fetch && (info_->caps & FI_RMA) != 0) {}

Endpoint::~Endpoint() {
    const message_link::Hold hold(lock);
    end_for("it is closed", false);
}

std::string Endpoint::open() {
    Address& address = self_.address;
    address.provider = info_->fabric_attr->prov_name;
    address.fabric = info_->fabric_attr->name;
    address.format = info_->addr_format;
    address.protocol = info_->ep_attr->protocol;
    address.reach = reach_of(*info_);
    const std::size_t inject = std::min(info_->tx_attr->inject_size, kWantedInject);
    traits_.eager = std::min(options_.eager, info_->ep_attr->max_msg_size - kHeaderBytes);
    // Between processes of a host, larger ones would wait for the peer to fetch them.
    if (address.reach == Reach::host) traits_.eager = std::min(traits_.eager, inject - kHeaderBytes);
    traits_.inline_bytes = inject - std::min(inject, kHeaderBytes);
    traits_.shared_bytes = PageLayout::kBytes;
    most_fetch_ = std::min(kMostFetch, info_->ep_attr->max_msg_size);

    const message_link::Hold hold(lock);
    const std::string refused = handles_.open(info_, address.name, Address::kMostName);
    if (!refused.empty()) return "provider " + address.provider + " is not usable: " + refused;
    traits_.wakes = handles_.queue_fd() >= 0;
    epoll_.reset(::epoll_create1(EPOLL_CLOEXEC));
    epoll_event event{EPOLLIN, {nullptr}};
    if (!epoll_ || ::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, page_->ring_fd(), &event) != 0 ||
        (traits_.wakes && ::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, handles_.queue_fd(), &event) != 0))
        return "provider " + address.provider + " is not usable: no descriptor to sleep on can be made";
    rules_ = handles_.memory_rules(info_);
    block_.resize(inject);
    incoming_ = std::make_unique<Buffers>(rules_, kHeaderBytes + traits_.eager, Op::What::receive);
    outgoing_ = std::make_unique<Buffers>(rules_, kHeaderBytes + traits_.eager, Op::What::send);
    post_all();
    if (!closed_.why.empty()) return closed_.why;
    if (counts_.posted == 0) return "provider " + address.provider + " takes no receive buffers";
    if (address.reach == Reach::host) {
        Neighbours& all = Neighbours::all();
        const module::Lock near(all.mutex);
        all.open.insert(key_of(address.name));
    }
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

// True if a peer is where this endpoint can answer it.
bool Endpoint::is_reachable(const Address& there) const {
    const Address& own = address();
    return there.provider == own.provider && there.format == own.format && there.protocol == own.protocol &&
           there.reach == own.reach;
}

std::unique_ptr<message_link::Peer> Endpoint::reach(ByteView descriptor, message_link::Link& link,
                                                    std::int32_t& status, std::string& why) {
    status = PLEXUS_LINK_LOST;
    const auto there = Descriptor::decode(descriptor);
    if (!there || !is_reachable(there->address)) {
        why = "it can't be reached from here";
        return nullptr;
    }
    auto peer = std::make_unique<FabricPeer>(link, *this, there->address, there->page_address);
    int error = 0;
    {
        const message_link::Hold hold(lock);
        error = handles_.is_open() ? contacts_.add(table(), address(), there->address.name, peer->contact)
                                   : -FI_ESHUTDOWN;
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
    epoll_event event{};
    event.events = EPOLLIN;
    event.data.ptr = peer.get();
    if (peer->page.process_fd() >= 0)
        (void)::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, peer->page.process_fd(), &event);
    return peer;
}

void Endpoint::forget(FabricPeer& peer) {
    if (peer.page.process_fd() >= 0)
        (void)::epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, peer.page.process_fd(), nullptr);
    const message_link::Hold hold(lock);
    if (outgoing_ != nullptr && peer.sending > 0) outgoing_->forget(peer);
    std::erase_if(kept_, [&](const Event& each) { return each.peer == &peer; });
    if (peer.contact == nullptr) return;
    --peer.contact->users;
    contacts_.tidy(table(), *peer.contact);
}

// ---- sending

Outcome Endpoint::send(message_link::Peer& its_peer, const Header& header, const plexus_view* pieces,
                       std::uint32_t count, std::size_t size, std::string& why) {
    FabricPeer& peer = ours(its_peer);
    if (!handles_.is_open()) return outcome_of(-FI_ESHUTDOWN, why);
    const std::size_t total = kHeaderBytes + size;
    // A goodbye's completion is waited for.
    const bool at_once = header.kind != message_link::Kind::bye && total <= block_.size();
    Buffer* const buffer = at_once ? nullptr : outgoing_->take();
    if (!at_once && buffer == nullptr) return PLEXUS_AGAIN;
    std::byte* const start = at_once ? block_.data() : buffer->bytes;
    header.write(start);
    std::byte* out = start + kHeaderBytes;
    for (std::uint32_t i = 0; i < count; ++i) {
        if (pieces[i].size > 0) std::memcpy(out, pieces[i].data, pieces[i].size);
        out += pieces[i].size;
    }
    const fi_addr_t to = peer.contact->address;
    const int error = peer.contact->reach([&] {
        fid_ep* const from = handles_.endpoint();
        return static_cast<int>(at_once ? fi_inject(from, start, total, to)
                                        : fi_send(from, start, total, buffer->handle, to, &buffer->context));
    });
    if (!at_once && error != 0) outgoing_->give_back(buffer);
    if (error != 0) return outcome_of(error, why);
    if (!at_once) {
        buffer->peer = &peer;
        buffer->contact = peer.contact;
        ++peer.sending;
        ++peer.contact->sending;
        ++counts_.sending;
    }
    peer.page.ring();
    return PLEXUS_OK;
}

bool Endpoint::is_sending(const message_link::Peer& peer) const { return ours(peer).sending > 0; }

// ---- large messages

// Without a sight of our page a reader could not tell whether the memory is still what it was: between
// processes of a host the provider does not forget a registration that has ended.
bool Endpoint::may_offer(const message_link::Peer& peer) const {
    return address().reach != Reach::host || peer.sees_us;
}

bool Endpoint::offer(const plexus_view& memory, Registration& out, message_link::Stretch& stretch) {
    std::uint64_t key = 0;
    host_.random(host_.self, &key, sizeof key); // an outsider shall not guess it
    MemoryRegion made;
    if (register_memory(rules_, memory.data, memory.size, FI_REMOTE_READ, key, made) != 0) return false;
    stretch.address = rules_.virtual_addresses ? reinterpret_cast<std::uintptr_t>(memory.data) : 0;
    stretch.key = fi_mr_key(made.get());
    stretch.size = memory.size;
    out = std::move(made);
    return true;
}

Outcome Endpoint::prepare(void* memory, std::size_t size, Registration& out, void*& handle,
                          std::string& why) {
    handle = nullptr;
    if (!rules_.local) return PLEXUS_OK;
    std::uint64_t key = 0;
    host_.random(host_.self, &key, sizeof key);
    MemoryRegion made;
    if (const int error = register_memory(rules_, memory, size, FI_READ, key, made); error != 0) {
        why = text_of_error(error);
        return PLEXUS_LINK_LOST;
    }
    handle = fi_mr_desc(made.get());
    out = std::move(made);
    return PLEXUS_OK;
}

Outcome Endpoint::fetch(message_link::Peer& its_peer, std::byte* where, std::size_t size, void* handle,
                        const message_link::Stretch& from, std::string& why) {
    FabricPeer& peer = ours(its_peer);
    if (!handles_.is_open()) return outcome_of(-FI_ESHUTDOWN, why);
    if (free_reads_.empty()) free_reads_.push_back(&reads_.emplace_back());
    Op& op = *free_reads_.back();
    op.what = Op::What::fetch;
    op.peer = &peer;
    op.size = size;
    const int error = peer.contact->reach([&] {
        return static_cast<int>(fi_read(handles_.endpoint(), where, size, handle, peer.contact->address,
                                        from.address, from.key, &op.context));
    });
    if (error == 0) {
        free_reads_.pop_back();
        ++counts_.reading;
    }
    peer.page.ring(); // some providers need the peer's help
    return outcome_of(error, why);
}

std::size_t Endpoint::fetches_over(const FabricPeer& peer) {
    const message_link::Hold hold(lock);
    (void)keep_events();
    return static_cast<std::size_t>(std::count_if(kept_.begin(), kept_.end(), [&](const Event& one) {
        return one.what == Event::What::fetched && one.peer == &peer;
    }));
}

// A read that the provider has can't be called back. Either it is over within a moment, or the
// endpoint is given up.
void Endpoint::stop_writes(message_link::Peer& peer, const std::atomic<std::uint32_t>& writes) {
    constexpr auto kMoment = std::chrono::milliseconds(5);
    const auto until = message_link::Clock::now() + kMoment;
    while (!is_shut() && fetches_over(ours(peer)) < writes.load(std::memory_order_relaxed))
        if (message_link::Clock::now() > until) shut();
}

// ---- receiving

void Endpoint::recycle(message_link::Message& message) { to_post_.push_back(&static_cast<Buffer&>(message)); }

void Endpoint::post_all() {
    to_post_.insert(to_post_.end(), spoilt_.begin(), spoilt_.end());
    spoilt_.clear();
    const std::size_t wanted = std::min(options_.buffers, info_->rx_attr->size);
    while (handles_.is_open() && (counts_.posted < wanted || !to_post_.empty())) {
        if (to_post_.empty()) {
            Buffer* const fresh = incoming_->take();
            if (fresh == nullptr) return;
            to_post_.push_back(fresh);
        }
        Buffer* const buffer = to_post_.back();
        if (counts_.posted >= wanted) {
            incoming_->give_back(buffer);
        } else {
            const ssize_t error = fi_recv(handles_.endpoint(), buffer->bytes, kHeaderBytes + traits_.eager,
                                          buffer->handle, FI_ADDR_UNSPEC, &buffer->context);
            if (error != 0 && !passes(error)) fail("a receive buffer was given to it", error);
            if (error != 0) return; // or tried again in the next turn
            ++counts_.posted;
        }
        to_post_.pop_back();
    }
}

std::size_t Endpoint::poll(Event* out, std::size_t most) {
    const message_link::Hold hold(lock);
    if (!to_post_.empty() || !spoilt_.empty()) post_all();
    if (kept_.empty()) return read_queue(out, most);
    const std::size_t count = std::min(most, kept_.size());
    const auto end = kept_.begin() + static_cast<std::ptrdiff_t>(count);
    std::move(kept_.begin(), end, out);
    kept_.erase(kept_.begin(), end);
    return count;
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
    std::array<char, 256> room{};
    const char* const detail =
        fi_cq_strerror(handles_.queue(), entry.prov_errno, entry.err_data, room.data(), room.size());
    std::string error = text_of_error(entry.err);
    if (detail != nullptr && *detail != 0 && error != detail) error += std::string(" (") + detail + ")";
    return tell(entry.op_context == nullptr ? nullptr : &Op::of(entry.op_context), 0, std::move(error), out);
}

// What a completion means. False: nothing that the engine has to know.
bool Endpoint::tell(Op* op, std::size_t size, std::string error, Event& out) {
    out.why = std::move(error);
    if (op == nullptr) {
        out.what = Event::What::unknown_failed;
        return !out.why.empty();
    }
    out.peer = op->peer;
    switch (op->what) {
    case Op::What::receive: {
        --counts_.posted;
        auto& buffer = static_cast<Buffer&>(*op);
        if (!out.why.empty())
            host_.log(host_.self, PLEXUS_DEBUG, ("a message was not received: " + out.why).c_str());
        if (!out.why.empty() || size < kHeaderBytes) {
            spoilt_.push_back(&buffer); // to_post_ is the progress thread's, and any may be here
            return false;
        }
        buffer.header = Header::read(buffer.bytes);
        buffer.body = buffer.bytes + kHeaderBytes;
        buffer.message_link::Message::size = size - kHeaderBytes;
        out.what = Event::What::arrived;
        out.message = &buffer;
        return true;
    }
    case Op::What::send: {
        auto& buffer = static_cast<Buffer&>(*op);
        --counts_.sending;
        --buffer.contact->sending;
        if (buffer.peer != nullptr) --buffer.peer->sending;
        contacts_.tidy(table(), *buffer.contact);
        buffer.peer = nullptr;
        outgoing_->give_back(&buffer);
        out.what = Event::What::broken;
        if (out.why.empty() || out.peer == nullptr) return false;
        out.why = "a message could not be sent: " + out.why;
        return true;
    }
    case Op::What::fetch:
        --counts_.reading;
        free_reads_.push_back(op);
        out.what = Event::What::fetched;
        out.bytes = op->size;
        return true;
    }
    return false;
}

bool Endpoint::keep_events() {
    std::array<Event, 16> events;
    const std::size_t count = read_queue(events.data(), events.size());
    for (std::size_t i = 0; i < count; ++i) kept_.push_back(std::move(events[i]));
    return count > 0;
}

// ---- sleeping

void Endpoint::look_around() {
    if (std::exchange(slept_, false)) page_->announce_sleep(false);
    std::array<epoll_event, 16> events;
    const int count = ::epoll_wait(epoll_.get(), events.data(), static_cast<int>(events.size()), 0);
    for (int i = 0; i < count; ++i) {
        auto* const peer = static_cast<FabricPeer*>(events[static_cast<std::size_t>(i)].data.ptr);
        if (peer == nullptr) {
            page_->silence();
            continue;
        }
        (void)::epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, peer->page.process_fd(), nullptr);
        Event ended;
        ended.what = Event::What::ended;
        ended.peer = peer;
        const message_link::Hold hold(lock);
        kept_.push_back(std::move(ended));
    }
}

bool Endpoint::arm(std::uint64_t& sleep_ns, bool stalled) {
    slept_ = true;
    page_->announce_sleep(true);
    if (stalled) sleep_ns = std::min(sleep_ns, kRetrySoonNs);
    const message_link::Hold hold(lock);
    if (!kept_.empty() || !to_post_.empty() || !spoilt_.empty()) return false;
    if (!handles_.is_open()) return true;
    if (traits_.wakes) {
        std::array<fid*, 1> all{&handles_.queue()->fid};
        const int error = fi_trywait(handles_.fabric(), all.data(), 1);
        if (error != 0 && !passes(error)) fail("it was asked whether one may sleep", error);
        return error == 0;
    }
    const bool under_way = counts_.reading + counts_.sending > 0;
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
    std::erase_if(kept_, [](const Event& one) { return one.what != Event::What::arrived; });
    Neighbours& all = Neighbours::all();
    const module::Lock alone(all.mutex);
    if (address().reach == Reach::host) all.open.erase(key_of(address().name));
    if (counts_.reading == 0 || !trips_over_reads(address())) return handles_.close_endpoint();
    // It writes only from within calls (FI_PROGRESS_MANUAL), and there is none after this.
    all.abandoned.push_back(handles_.abandon());
}

} // namespace plexus::libfabric
