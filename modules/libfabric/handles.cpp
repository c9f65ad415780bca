// SPDX-License-Identifier: BSD-3-Clause
#include "libfabric/handles.h"

namespace plexus::libfabric {
namespace {

template <class Fid, class Make>
int make(Owned<Fid>& out, Make&& call) {
    Fid* made = nullptr;
    const int error = call(&made);
    if (error == 0) out.reset(made);
    return error;
}

} // namespace

std::string Handles::open(const Info& info, Bytes& name, std::size_t most_name) {
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
        return make(fabric_, [&](fid_fabric** out) { return fi_fabric(info->fabric_attr, out, nullptr); });
    });
    then("the domain", [&] {
        return make(domain_,
                    [&](fid_domain** out) { return fi_domain(fabric_.get(), info.get(), out, nullptr); });
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
                    [&](fid_ep** out) { return fi_endpoint(domain_.get(), info.get(), out, nullptr); });
    });
    then("the endpoint's addresses", [&] { return fi_ep_bind(endpoint_.get(), &addresses_->fid, 0); });
    then("the endpoint's queue",
         [&] { return fi_ep_bind(endpoint_.get(), &queue_->fid, FI_TRANSMIT | FI_RECV); });
    then("the endpoint", [&] { return fi_enable(endpoint_.get()); });
    then("the endpoint's name", [&] {
        std::size_t size = most_name;
        name.resize(size);
        const int failed = fi_getname(&endpoint_->fid, name.data(), &size);
        if (failed == 0) name.resize(size);
        return failed;
    });
    if (error != 0) return std::string(step) + ": " + text_of_error(error);
    if (queue.wait_obj == FI_WAIT_FD && fi_control(&queue_->fid, FI_GETWAIT, &queue_fd_) != 0) queue_fd_ = -1;
    return {};
}

fid_ep* Handles::abandon() noexcept {
    (void)queue_.release();
    (void)addresses_.release();
    (void)domain_.release();
    (void)fabric_.release();
    return endpoint_.release();
}

MemoryRules Handles::memory_rules(const Info& info) const {
    const auto mode = static_cast<std::uint64_t>(info->domain_attr->mr_mode);
    MemoryRules out;
    out.domain = domain_.get();
    out.endpoint = (mode & FI_MR_ENDPOINT) != 0 ? endpoint_.get() : nullptr;
    out.local = (mode & FI_MR_LOCAL) != 0;
    out.virtual_addresses = (mode & FI_MR_VIRT_ADDR) != 0;
    out.own_keys = (mode & FI_MR_PROV_KEY) == 0;
    out.key_bytes = info->domain_attr->mr_key_size == 0 ? 8 : info->domain_attr->mr_key_size;
    return out;
}

} // namespace plexus::libfabric
