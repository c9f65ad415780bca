// SPDX-License-Identifier: BSD-3-Clause
#include "libfabric/handles.h"

#include "libfabric/contacts.h"
#include "libfabric/errors.h"

#include <array>

namespace plexus::libfabric {
namespace {

// libfabric 1.17's tcp ends a read twice, and then falls over a null pointer, where its endpoint
// is closed while a part of the answer is there.
bool trips_over_reads(std::string_view provider) {
    return core_of(provider) == "tcp" && FI_VERSION_LT(fi_version(), FI_VERSION(1, 18));
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

// But for its name.
Address address_of(const fi_info& info) {
    Address out;
    out.provider = info.fabric_attr->prov_name;
    out.fabric = info.fabric_attr->name;
    out.format = info.addr_format;
    out.protocol = info.ep_attr->protocol;
    out.reach = reach_of(info);
    return out;
}

template <class Fid, class Make>
int make(Owned<Fid>& out, Make&& call) {
    Fid* made = nullptr;
    const int error = call(&made);
    if (error == 0) out.reset(made);
    return error;
}

} // namespace

Handles::Handles(Info info)
  : info_(std::move(info)) {}

std::string Handles::open(Address& address) {
    address = address_of(*info_);
    const char* step = "";
    int error = 0;
    const auto then = [&](const char* what, auto&& call) {
        if (error != 0) return;
        step = what;
        error = call();
    };
    fi_cq_attr queue{};
    queue.format = FI_CQ_FORMAT_MSG;
    queue.wait_obj = FI_WAIT_FD;
    fi_av_attr peers{};
    peers.type = FI_AV_TABLE;
    const auto open_queue = [&](fid_cq** out) { return fi_cq_open(domain_.get(), &queue, out, nullptr); };
    then("the fabric", [&] {
        return make(fabric_, [&](fid_fabric** out) { return fi_fabric(info_->fabric_attr, out, nullptr); });
    });
    then("the domain", [&] {
        return make(domain_,
                    [&](fid_domain** out) { return fi_domain(fabric_.get(), info_.get(), out, nullptr); });
    });
    then("the address table", [&] {
        return make(addresses_,
                    [&](fid_av** out) { return fi_av_open(domain_.get(), &peers, out, nullptr); });
    });
    then("the completion queue", [&] {
        if (make(queue_, open_queue) == 0) return 0;
        queue.wait_obj = FI_WAIT_NONE;
        return make(queue_, open_queue);
    });
    then("the endpoint", [&] {
        return make(endpoint_,
                    [&](fid_ep** out) { return fi_endpoint(domain_.get(), info_.get(), out, nullptr); });
    });
    then("the endpoint's addresses", [&] { return fi_ep_bind(endpoint_.get(), &addresses_->fid, 0); });
    then("the endpoint's queue",
         [&] { return fi_ep_bind(endpoint_.get(), &queue_->fid, FI_TRANSMIT | FI_RECV); });
    then("the endpoint", [&] { return fi_enable(endpoint_.get()); });
    then("the endpoint's name", [&] {
        std::size_t size = Address::kMostName;
        address.name.resize(size);
        const int failed = fi_getname(&endpoint_->fid, address.name.data(), &size);
        if (failed == 0) address.name.resize(size);
        return failed;
    });
    if (error != 0) return std::string(step) + ": " + text_of_error(error);
    if (queue.wait_obj == FI_WAIT_FD && fi_control(&queue_->fid, FI_GETWAIT, &queue_fd_) != 0) queue_fd_ = -1;
    if (address.reach == Reach::host) {
        neighbour_ = key_of(address.name);
        Neighbours& all = Neighbours::all();
        const Lock hold(all.mutex);
        all.open.insert(neighbour_);
    }
    return {};
}

void Handles::close(bool is_reading) {
    if (!is_open()) return;
    Neighbours& all = Neighbours::all();
    const Lock alone(all.mutex);
    if (!neighbour_.empty()) all.open.erase(neighbour_);
    if (!is_reading || !trips_over_reads(info_->fabric_attr->prov_name)) return endpoint_.reset();
    // It writes only from within calls (FI_PROGRESS_MANUAL), and there is none after this.
    all.abandoned.push_back(abandon());
}

int Handles::try_wait() const {
    std::array<fid*, 1> all{&queue_->fid};
    return fi_trywait(fabric_.get(), all.data(), 1);
}

fid_ep* Handles::abandon() noexcept {
    (void)queue_.release();
    (void)addresses_.release();
    (void)domain_.release();
    (void)fabric_.release();
    return endpoint_.release();
}

MemoryRules Handles::memory_rules() const {
    const auto mode = static_cast<std::uint64_t>(info_->domain_attr->mr_mode);
    MemoryRules out;
    out.domain = domain_.get();
    out.endpoint = (mode & FI_MR_ENDPOINT) != 0 ? endpoint_.get() : nullptr;
    out.local = (mode & FI_MR_LOCAL) != 0;
    out.virtual_addresses = (mode & FI_MR_VIRT_ADDR) != 0;
    out.own_keys = (mode & FI_MR_PROV_KEY) == 0;
    out.key_bytes = info_->domain_attr->mr_key_size == 0 ? 8 : info_->domain_attr->mr_key_size;
    return out;
}

} // namespace plexus::libfabric
