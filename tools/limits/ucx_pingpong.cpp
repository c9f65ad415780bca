// SPDX-License-Identifier: BSD-3-Clause
// UCX between two processes: active messages, which are taken where UCX brings them if they are short, and
// in buffers of ours if it asks for memory, as in ucx_perftest; but sent from any number of buffers in turn.
// UCX_TLS says by what they go. The command line is that of peer.h.
#include "tools/limits/peer.h"

#include <cstring>
#include <ucp/api/ucp.h>

namespace plexus::limits {
namespace {

constexpr unsigned kData = 1;

[[noreturn]] void give_up(const char* doing, ucs_status_t status) {
    std::fprintf(stderr, "ucx_pingpong: %s: %s\n", doing, ucs_status_string(status));
    std::exit(3);
}

/// Never taken apart: its process ends with it.
class Peer {
  public:
    explicit Peer(const Side& side)
      : out_(side.buffers)
      , in_(static_cast<std::uint32_t>(side.window)) {
        out_.assign(side.bytes, std::byte{1});
        in_.assign(side.bytes, std::byte{2});
        ucp_params_t params{};
        params.field_mask = UCP_PARAM_FIELD_FEATURES;
        params.features = UCP_FEATURE_AM;
        check("ucp_init", ucp_init(&params, nullptr, &context_));
        ucp_worker_params_t single{};
        single.field_mask = UCP_WORKER_PARAM_FIELD_THREAD_MODE;
        single.thread_mode = UCS_THREAD_MODE_SINGLE;
        check("ucp_worker_create", ucp_worker_create(context_, &single, &worker_));
        handle(kData, [](void* self, const void*, std::size_t, void* data, std::size_t length,
                         const ucp_am_recv_param_t* how) {
            return static_cast<Peer*>(self)->take(data, length,
                                                  (how->recv_attr & UCP_AM_RECV_ATTR_FLAG_RNDV) != 0);
        });
        ucp_address_t* own = nullptr;
        std::size_t length = 0;
        check("ucp_worker_get_address", ucp_worker_get_address(worker_, &own, &length));
        const std::vector<std::byte> theirs =
            exchange(side.channel, {reinterpret_cast<const std::byte*>(own), length});
        ucp_worker_release_address(worker_, own);
        if (theirs.empty()) std::exit(3);
        ucp_ep_params_t there{};
        there.field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS;
        there.address = reinterpret_cast<const ucp_address_t*>(theirs.data());
        check("ucp_ep_create", ucp_ep_create(worker_, &there, &endpoint_));
    }
    Peer(const Peer&) = delete;
    Peer& operator=(const Peer&) = delete;

    void send() { start(out_.next()); }
    void answer() { start(out_.next().first(0)); }
    void arrived(std::uint64_t messages) {
        while (taken_ < messages) ucp_worker_progress(worker_);
    }

  private:
    static void check(const char* doing, ucs_status_t status) {
        if (status != UCS_OK) give_up(doing, status);
    }
    void handle(unsigned id, ucp_am_recv_callback_t callback) {
        ucp_am_handler_param_t param{};
        param.field_mask =
            UCP_AM_HANDLER_PARAM_FIELD_ID | UCP_AM_HANDLER_PARAM_FIELD_CB | UCP_AM_HANDLER_PARAM_FIELD_ARG;
        param.id = id;
        param.cb = callback;
        param.arg = this;
        check("ucp_worker_set_am_recv_handler", ucp_worker_set_am_recv_handler(worker_, &param));
    }
    ucs_status_t take(void* data, std::size_t bytes, bool asks_for_memory) {
        if (!asks_for_memory) {
            ++taken_;
            return UCS_OK;
        }
        ucp_request_param_t how{};
        how.op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA;
        how.user_data = this;
        how.cb.recv_am = [](void* request, ucs_status_t status, std::size_t, void* self) {
            check("a message", status);
            ++static_cast<Peer*>(self)->taken_;
            ucp_request_free(request);
        };
        const ucs_status_ptr_t request = ucp_am_recv_data_nbx(worker_, data, in_.next().data(), bytes, &how);
        if (UCS_PTR_IS_ERR(request)) give_up("ucp_am_recv_data_nbx", UCS_PTR_STATUS(request));
        if (request == nullptr) ++taken_;
        return UCS_INPROGRESS;
    }
    void start(std::span<const std::byte> bytes) {
        ucp_request_param_t how{};
        how.op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK;
        how.cb.send = [](void* request, ucs_status_t status, void*) {
            check("a send", status);
            ucp_request_free(request);
        };
        const ucs_status_ptr_t request =
            ucp_am_send_nbx(endpoint_, kData, nullptr, 0, bytes.data(), bytes.size(), &how);
        if (UCS_PTR_IS_ERR(request)) give_up("ucp_am_send_nbx", UCS_PTR_STATUS(request));
        ucp_worker_progress(worker_);
    }

    ucp_context_h context_ = nullptr;
    ucp_worker_h worker_ = nullptr;
    ucp_ep_h endpoint_ = nullptr;
    Buffers out_;
    Buffers in_;
    std::uint64_t taken_ = 0;
};

} // namespace
} // namespace plexus::limits

int main(int argc, char** argv) {
    using namespace plexus::limits;
    return run_pair<Peer>(Trial("ucx_pingpong", argc, argv));
}
