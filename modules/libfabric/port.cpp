// SPDX-License-Identifier: BSD-3-Clause
#include "libfabric/port.h"

#include <algorithm>
#include <cstring>
#include <rdma/fi_errno.h>
#include <set>
#include <unistd.h>

namespace plexus::libfabric {
namespace {

constexpr std::size_t kWantedInject = 4096;

template <class Fid, class Make>
int make(Owned<Fid>& out, Make&& call) {
    Fid* made = nullptr;
    const int error = call(&made);
    if (error == 0) out.reset(made);
    return error;
}

std::string key_of(const Bytes& name) { return {reinterpret_cast<const char*>(name.data()), name.size()}; }

// Endpoints of the shm provider in this process that are open. Between two of one process the
// provider uses the other's memory as it stands, and would do so after its end.
struct Neighbours {
    module::Mutex mutex; // taken under a port's; no other is taken under it
    std::set<std::string> open PLEXUS_MODULE_GUARDED_BY(mutex);
    std::vector<fid_ep*> abandoned PLEXUS_MODULE_GUARDED_BY(mutex); // that can't be closed
};
Neighbours& neighbours() {
    static auto& the = *new Neighbours; // what is abandoned outlives everything
    return the;
}

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

} // namespace

std::string shared_file_of(const Bytes& name) {
    const std::string text = key_of(name);
    const std::size_t start = text.find("://");
    if (start == std::string::npos) return {};
    const std::string file = text.substr(start + 3, text.find('\0') - start - 3);
    return file.empty() || file.find('/') != std::string::npos ? std::string() : "/" + file;
}

std::unique_ptr<Port> Port::open(const plexus_host& host, Info info, const Options& options,
                                 std::string& why) {
    std::unique_ptr<Port> port(new Port(host, std::move(info), options));
    why = port->start();
    if (!why.empty()) return nullptr;
    return port;
}

Port::Port(const plexus_host& host, Info info, const Options& options)
  : host_(host)
  , info_(std::move(info))
  , buffer_count_(std::min(options.buffers, info_->rx_attr->size))
  , eager_(options.eager)
  , fetches_(options.fetch && (info_->caps & FI_RMA) != 0) {}

Port::~Port() {
    const module::Lock hold(mutex_);
    end_for("it is closed", false);
}

std::string Port::start() {
    address_.provider = info_->fabric_attr->prov_name;
    address_.fabric = info_->fabric_attr->name;
    address_.format = info_->addr_format;
    address_.protocol = info_->ep_attr->protocol;
    address_.reach = reach_of(*info_);
    inject_ = std::min(info_->tx_attr->inject_size, kWantedInject);
    eager_ = std::min(eager_, info_->ep_attr->max_msg_size - kHeaderBytes);
    // Between processes of a host, larger ones would wait for the peer to fetch them.
    if (address_.reach == Reach::host) eager_ = std::min(eager_, inject_ - kHeaderBytes);
    most_fetch_ = std::min(most_fetch_, info_->ep_attr->max_msg_size);

    const char* step = "";
    const auto done = [&](const char* what, int error) {
        step = what;
        return error;
    };
    fi_cq_attr queue{};
    queue.format = FI_CQ_FORMAT_MSG;
    queue.wait_obj = FI_WAIT_FD;
    fi_av_attr peers{};
    peers.type = FI_AV_TABLE;
    int error =
        done("the fabric",
             make(fabric_, [&](fid_fabric** out) { return fi_fabric(info_->fabric_attr, out, nullptr); }));
    if (error == 0)
        error = done("the domain", make(domain_, [&](fid_domain** out) {
                         return fi_domain(fabric_.get(), info_.get(), out, nullptr);
                     }));
    if (error == 0)
        error = done("the address table", make(peers_by_address_, [&](fid_av** out) {
                         return fi_av_open(domain_.get(), &peers, out, nullptr);
                     }));
    const auto open_queue = [&](fid_cq** out) { return fi_cq_open(domain_.get(), &queue, out, nullptr); };
    if (error == 0 && make(queue_, open_queue) != 0) {
        queue.wait_obj = FI_WAIT_NONE;
        error = done("the completion queue", make(queue_, open_queue));
    }
    if (error == 0)
        error = done("the endpoint", make(endpoint_, [&](fid_ep** out) {
                         return fi_endpoint(domain_.get(), info_.get(), out, nullptr);
                     }));
    if (error == 0)
        error = done("the endpoint's addresses", fi_ep_bind(endpoint_.get(), &peers_by_address_->fid, 0));
    if (error == 0)
        error =
            done("the endpoint's queue", fi_ep_bind(endpoint_.get(), &queue_->fid, FI_TRANSMIT | FI_RECV));
    if (error == 0) error = done("the endpoint", fi_enable(endpoint_.get()));
    address_.name.resize(Address::kMostName);
    std::size_t size = address_.name.size();
    if (error == 0)
        error = done("the endpoint's name", fi_getname(&endpoint_->fid, address_.name.data(), &size));
    if (error != 0)
        return "provider " + address_.provider + " is not usable: " + step + ": " + text_of_error(error);
    address_.name.resize(size);
    if (queue.wait_obj == FI_WAIT_FD && fi_control(&queue_->fid, FI_GETWAIT, &wait_fd_) != 0) wait_fd_ = -1;

    const auto mode = static_cast<std::uint64_t>(info_->domain_attr->mr_mode);
    rules_.domain = domain_.get();
    rules_.endpoint = (mode & FI_MR_ENDPOINT) != 0 ? endpoint_.get() : nullptr;
    rules_.local = (mode & FI_MR_LOCAL) != 0;
    rules_.virtual_addresses = (mode & FI_MR_VIRT_ADDR) != 0;
    rules_.own_keys = (mode & FI_MR_PROV_KEY) == 0;
    rules_.key_bytes = info_->domain_attr->mr_key_size == 0 ? 8 : info_->domain_attr->mr_key_size;

    const module::Lock hold(mutex_);
    block_.resize(inject_);
    incoming_ = std::make_unique<Buffers>(rules_, kHeaderBytes + eager_, Op::What::receive);
    outgoing_ = std::make_unique<Buffers>(rules_, kHeaderBytes + eager_, Op::What::send);
    post_all();
    if (!end_.why.empty()) return end_.why;
    if (posted_ == 0) return "provider " + address_.provider + " takes no receive buffers";
    if (address_.reach == Reach::host) {
        Neighbours& all = neighbours();
        const module::Lock near(all.mutex);
        all.open.insert(key_of(address_.name));
    }
    return {};
}

void Port::post_all() {
    for (Buffer* const buffer : to_free_) outgoing_->give_back(buffer);
    to_free_.clear();
    while (endpoint_ != nullptr && (posted_ < buffer_count_ || !to_post_.empty())) {
        if (to_post_.empty()) {
            Buffer* const fresh = incoming_->take();
            if (fresh == nullptr) return;
            to_post_.push_back(fresh);
        }
        Buffer* const buffer = to_post_.back();
        if (posted_ >= buffer_count_) {
            incoming_->give_back(buffer);
        } else {
            const ssize_t error = fi_recv(endpoint_.get(), buffer->data, kHeaderBytes + eager_,
                                          buffer->handle, FI_ADDR_UNSPEC, &buffer->context);
            if (error != 0 && !passes(error)) fail("a receive buffer was given to it", error);
            if (error != 0) return; // or tried again in the next turn
            ++posted_;
        }
        to_post_.pop_back();
    }
}

// Runs a call that may touch the peer's memory, if that is there.
template <class Call>
int Port::reach(fi_addr_t peer, Call&& call) {
    if (near_.empty()) return call();
    const auto found = near_.find(peer);
    if (found == near_.end()) return call();
    Neighbours& all = neighbours();
    const module::Lock hold(all.mutex);
    return all.open.count(found->second) > 0 ? call() : -FI_ENOTCONN;
}

int Port::send(fi_addr_t to, Link& link, const Header& header, const plexus_view* pieces, std::uint32_t count,
               std::size_t size, bool tracked, bool& completes) {
    completes = false;
    if (endpoint_ == nullptr) return -FI_ESHUTDOWN;
    const std::size_t total = kHeaderBytes + size;
    const bool at_once = !tracked && total <= inject_;
    Buffer* const buffer = at_once ? nullptr : outgoing_->take();
    if (!at_once && buffer == nullptr) return -FI_ENOMEM;
    std::byte* const start = at_once ? block_.data() : buffer->data;
    write_header(start, header);
    std::byte* out = start + kHeaderBytes;
    for (std::uint32_t i = 0; i < count; ++i) {
        if (pieces[i].size > 0) std::memcpy(out, pieces[i].data, pieces[i].size);
        out += pieces[i].size;
    }
    if (at_once)
        return reach(to, [&] { return static_cast<int>(fi_inject(endpoint_.get(), start, total, to)); });
    buffer->link = &link;
    const int error = reach(to, [&] {
        return static_cast<int>(fi_send(endpoint_.get(), start, total, buffer->handle, to, &buffer->context));
    });
    completes = error == 0;
    if (completes) outstanding_.fetch_add(1, std::memory_order_relaxed);
    if (!completes) outgoing_->give_back(buffer);
    return error;
}

int Port::fetch(fi_addr_t from, Op& op, std::byte* where, std::size_t size, void* handle,
                std::uint64_t address, std::uint64_t key) {
    if (endpoint_ == nullptr) return -FI_ESHUTDOWN;
    const int error = reach(from, [&] {
        return static_cast<int>(
            fi_read(endpoint_.get(), where, size, handle, from, address, key, &op.context));
    });
    if (error != 0) return error;
    outstanding_.fetch_add(1, std::memory_order_relaxed);
    ++reading_;
    return 0;
}

int Port::offer(const plexus_view& memory, Registration& out, Stretch& stretch) {
    std::uint64_t key = 0;
    host_.random(host_.self, &key, sizeof key); // an outsider shall not guess it
    const int error = register_memory(rules_, memory.data, memory.size, FI_REMOTE_READ, key, out);
    if (error != 0) return error;
    stretch.address = rules_.virtual_addresses ? reinterpret_cast<std::uintptr_t>(memory.data) : 0;
    stretch.key = fi_mr_key(out.get());
    stretch.size = memory.size;
    return 0;
}

int Port::prepare(void* memory, std::size_t size, Registration& out, void*& handle) {
    handle = nullptr;
    if (!rules_.local) return 0;
    std::uint64_t key = 0;
    host_.random(host_.self, &key, sizeof key);
    const int error = register_memory(rules_, memory, size, FI_READ, key, out);
    if (error == 0) handle = fi_mr_desc(out.get());
    return error;
}

int Port::add_peer(const Bytes& name, fi_addr_t& out) {
    if (endpoint_ == nullptr) return -FI_ESHUTDOWN;
    const auto found = peers_.find(key_of(name));
    if (found != peers_.end()) {
        ++found->second.users;
        out = found->second.address;
        return 0;
    }
    if (name.size() != address_.name.size() && address_.reach != Reach::host) return -FI_EINVAL;
    // The shm provider trips over the address of a process of which nothing is left.
    if (address_.reach == Reach::host && ::access(("/dev/shm" + shared_file_of(name)).c_str(), R_OK) != 0)
        return -FI_ENOENT;
    Bytes ended = name;
    ended.push_back(std::byte{0}); // some providers' names are strings
    fi_addr_t address = FI_ADDR_UNSPEC;
    const int count = fi_av_insert(peers_by_address_.get(), ended.data(), 1, &address, 0, nullptr);
    if (count != 1 || address == FI_ADDR_NOTAVAIL) return count < 0 ? count : -FI_EINVAL;
    peers_.emplace(key_of(name), Peer{address, 1});
    if (address_.reach == Reach::host) {
        Neighbours& all = neighbours();
        const module::Lock hold(all.mutex);
        if (all.open.count(key_of(name)) > 0) near_.emplace(address, key_of(name));
    }
    out = address;
    return 0;
}

void Port::drop_peer(const Bytes& name) {
    const auto found = peers_.find(key_of(name));
    if (found == peers_.end() || --found->second.users > 0) return;
    if (peers_by_address_ != nullptr)
        (void)fi_av_remove(peers_by_address_.get(), &found->second.address, 1, 0);
    near_.erase(found->second.address);
    peers_.erase(found);
}

void Port::shut() {
    const module::Lock hold(mutex_);
    end_for("the endpoint of provider " + address_.provider +
                " had to be closed to end a read that would not end",
            false);
}

void Port::fail(const char* when, long error) {
    end_for("provider " + address_.provider + " failed when " + when + ": " + text_of_error(error), true);
}

Port::End Port::end() {
    const module::Lock hold(mutex_);
    return end_;
}

void Port::end_for(std::string why, bool failed) {
    if (endpoint_ == nullptr) return;
    end_ = {std::move(why), failed};
    // A link may be freed as soon as this is set, so that nothing kept may name one.
    shut_.store(true, std::memory_order_relaxed);
    auto& outgoing = *outgoing_;
    std::erase_if(kept_, [&](const Completion& one) {
        if (one.op == nullptr || one.op->what == Op::What::receive) return false;
        if (one.op->what == Op::What::send) outgoing.give_back(static_cast<Buffer*>(one.op));
        return true;
    });
    Neighbours& all = neighbours();
    if (address_.reach == Reach::host) {
        const module::Lock alone(all.mutex);
        all.open.erase(key_of(address_.name));
    }
    if (reading_ == 0 || !trips_over_reads(address_)) return endpoint_.reset();
    // It writes only from within calls (FI_PROGRESS_MANUAL), and there is none after this.
    const module::Lock alone(all.mutex);
    all.abandoned.push_back(endpoint_.release());
    (void)queue_.release();
    (void)peers_by_address_.release();
    (void)domain_.release();
    (void)fabric_.release();
}

} // namespace plexus::libfabric
