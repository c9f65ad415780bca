// SPDX-License-Identifier: BSD-3-Clause
#include "ucx/endpoints.h"

#include "common/system_text.h"
#include "ucx/liveness_socket.h"
#include "ucx/trace.h"

#include <cerrno>
#include <sys/epoll.h>
#include <utility>

namespace plexus::ucx {
namespace {

using message_link::Hold;

constexpr std::uint32_t kQuiet = 3;        // turns after which a dead peer has said all
constexpr std::uint32_t kMostAsked = 4096; // ditto, if others are never quiet: more than a queue of UCX holds

void endpoint_failed(void* its, ucp_ep_h, ucs_status_t status) {
    Endpoint& endpoint = *static_cast<Endpoint*>(its);
    endpoint.table.fail(endpoint, status);
}

} // namespace

int Endpoints::open(int event_fd) {
    epoll_.reset(::epoll_create1(EPOLL_CLOEXEC));
    epoll_event event{EPOLLIN, {nullptr}};
    return epoll_ && ::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, event_fd, &event) == 0 ? 0 : errno;
}

Endpoint* Endpoints::reach(const Descriptor& target, const Descriptor& here, std::string& why) {
    if (const auto found = by_address_.find(key_of(target.address)); found != by_address_.end())
        return found->second.get();
    auto made = std::make_unique<Endpoint>(*this, target.address);
    if (target.where.same_network(here.where) && target.liveness != LivenessName{}) {
        made->liveness = connect_liveness(target.liveness);
        const int error = errno;
        if (!made->liveness && error == ECONNREFUSED) {
            why = "the peer's context has ended";
            return nullptr;
        }
        if (!made->liveness && !library_.endpoints_fail()) {
            why = "the end of the peer could not be noticed: " + module::system_text(error);
            return nullptr;
        }
    }
    const Trace trace;
    const Hold hold(port_.lock);
    ucp_ep_params_t wanted{};
    wanted.field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS | UCP_EP_PARAM_FIELD_ERR_HANDLER |
                        UCP_EP_PARAM_FIELD_ERR_HANDLING_MODE;
    wanted.address = reinterpret_cast<const ucp_address_t*>(made->address.data());
    wanted.err_mode = library_.ends_by_force() ? UCP_ERR_HANDLING_MODE_PEER : UCP_ERR_HANDLING_MODE_NONE;
    wanted.err_handler = {endpoint_failed, made.get()};
    const ucs_status_t status = ::ucp_ep_create(library_.worker(), &wanted, &made->handle);
    if (status != UCS_OK) {
        why = std::string("UCX can't reach the peer: ") + ::ucs_status_string(status) +
              (trace.empty() ? "" : " (" + trace.text() + ")");
        return nullptr;
    }
    epoll_event event{0, {made.get()}}; // hang-ups are told without being asked for
    if (made->liveness) (void)::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, made->liveness.get(), &event);
    Endpoint* const out = made.get();
    by_address_.emplace(key_of(out->address), std::move(made));
    return out;
}

void Endpoints::look_for_hang_ups() {
    std::array<epoll_event, 16> events;
    const int count = ::epoll_wait(epoll_.get(), events.data(), static_cast<int>(events.size()), 0);
    for (int i = 0; i < count; ++i) {
        auto* const endpoint = static_cast<Endpoint*>(events[static_cast<std::size_t>(i)].data.ptr);
        if (endpoint == nullptr) continue;
        (void)::epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, endpoint->liveness.get(), nullptr);
        endpoint->cut = true;
        const Hold hold(port_.lock);
        const auto current = by_address_.find(key_of(endpoint->address));
        if (current != by_address_.end() && current->second.get() == endpoint) ++cut_;
        quiet_ = 0;
    }
}

void Endpoints::forget(UcxPeer& peer) {
    const Hold hold(port_.lock);
    operations_.forget(peer);
    std::erase(peer.endpoint.peers, &peer);
    std::erase_if(failed_, [&](const auto& each) {
        if (!each->peers.empty()) return false;
        disconnect_liveness(*each);
        // UCX may still name one whose endpoint could not be closed by force: those keep little.
        return library_.ends_by_force();
    });
}

// A forked child may hold the descriptor too: then the set would go on to name the endpoint.
void Endpoints::disconnect_liveness(Endpoint& endpoint) {
    if (endpoint.liveness) (void)::epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, endpoint.liveness.get(), nullptr);
    endpoint.liveness.reset();
}

// ---- failures

void Endpoints::fail(Endpoint& endpoint, ucs_status_t status) {
    if (endpoint.failed) return;
    endpoint.failed = true;
    endpoint.status = status;
    any_failed_ = true;
    port_.waker->wake();
}

void Endpoints::abort(Endpoint& endpoint, ucs_status_t status) {
    fail(endpoint, status);
    close(endpoint, true);
}

// What a peer sent before its end comes first.
void Endpoints::check(bool asked, bool quiet) {
    any_failed_ = false;
    quiet_ = quiet ? quiet_ + 1 : 0;
    std::vector<Endpoint*> over;
    for (const auto& [address, each] : by_address_) {
        if (each->cut && asked) ++each->asked;
        if (each->failed || (each->cut && (quiet_ >= kQuiet || each->asked >= kMostAsked)))
            over.push_back(each.get());
    }
    for (Endpoint* const each : over) {
        if (each->cut) --cut_;
        end(*each, each->cut ? "the peer's context has ended"
                             : std::string("UCX: ") + ::ucs_status_string(each->status));
    }
}

void Endpoints::end(Endpoint& endpoint, const std::string& why) {
    endpoint.failed = true;
    // Its peer has gone, or UCX has ended it: nobody reads our memory any more.
    close(endpoint, library_.ends_by_force());
    for (UcxPeer* const peer : endpoint.peers) {
        if (!library_.endpoints_fail()) {
            // UCX will do nothing with them, and may never say so.
            operations_.orphan(*peer, Op::What::carried, true);
            operations_.orphan(*peer, Op::What::move, true);
            if (endpoint.cut) operations_.orphan(*peer, Op::What::receive, true); // nobody writes any more
        }
        operations_.tell_broken(*peer, why);
    }
    const auto found = by_address_.find(key_of(endpoint.address));
    failed_.push_back(std::move(found->second));
    by_address_.erase(found);
}

// ---- closing

void Endpoints::close(Endpoint& endpoint, bool by_force) {
    if (endpoint.handle == nullptr) return;
    ucp_request_param_t how{};
    how.op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS;
    how.flags = by_force ? static_cast<std::uint32_t>(UCP_EP_CLOSE_FLAG_FORCE) : 0;
    const ucs_status_ptr_t request = ::ucp_ep_close_nbx(std::exchange(endpoint.handle, nullptr), &how);
    if (UCS_PTR_IS_PTR(request)) ::ucp_request_free(request);
}

void Endpoints::close_all() {
    for (const auto& [address, each] : by_address_) {
        each->failed = true;
        // Also one that a peer still reads by: a worker of such endpoints may not end before its sends.
        close(*each, library_.ends_by_force());
    }
}

void Endpoints::orphan_all() {
    for (const auto& [address, each] : by_address_)
        for (UcxPeer* const peer : each->peers) operations_.orphan_all(*peer);
    for (const auto& each : failed_)
        for (UcxPeer* const peer : each->peers) operations_.orphan_all(*peer);
}

} // namespace plexus::ucx
