// SPDX-License-Identifier: BSD-3-Clause
// The order of what arrives: by its numbers, and after each large message before it.
#include "ucx/link.h"

#include "ucx/module.h"

#include <cstring>

namespace plexus::ucx {
namespace {

void receive_over(void* request, ucs_status_t status, std::size_t, void* landing) {
    ::ucp_request_free(request);
    Landing& over = *static_cast<Landing*>(landing);
    over.status = status == UCS_OK ? PLEXUS_OK : PLEXUS_MESSAGE_LOST;
    over.link->module.has_landed(over);
}

} // namespace

void Link::arrived(Arrival& arrival) {
    if (state == State::failing || state == State::over) return drop(arrival);
    if (arrival.header.kind == Kind::answer) return answered(arrival);
    const std::uint16_t number = arrival.header.number;
    if (number != expected_) {
        const bool sound =
            held_.size() < kMostHeld && static_cast<std::uint16_t>(number - expected_) < 0x8000;
        if (sound && held_.emplace(number, arrival).second) return;
        drop(arrival);
        return lose(PLEXUS_LINK_LOST, "the peer's messages are not numbered as they should be");
    }
    accept(arrival);
    while (!held_.empty()) {
        const auto next = held_.find(expected_);
        if (next == held_.end()) return;
        Arrival early = next->second;
        held_.erase(next);
        accept(early);
    }
}

void Link::accept(Arrival& arrival) {
    ++expected_;
    if (landings_.empty() && queue_.empty()) return hand_over(arrival);
    queue_.push_back(arrival);
    go_on();
}

void Link::go_on() {
    for (;;) {
        while (!landings_.empty() && landings_.front()->over.load(std::memory_order_acquire))
            finish_landing();
        if (queue_.empty()) return;
        if (queue_.front().header.kind == Kind::large ? landings_.size() >= kMostLandings
                                                      : !landings_.empty())
            return;
        Arrival next = queue_.front();
        queue_.pop_front();
        hand_over(next);
    }
}

void Link::hand_over(Arrival& arrival) {
    const bool meeting = arrival.header.kind == Kind::confirm;
    const bool early = state == State::greeting && (connects_ || !meeting);
    if ((early || meeting != (state == State::greeting)) && arrival.header.kind != Kind::bye) {
        drop(arrival);
        return lose(PLEXUS_DENIED, "the peer did not prove that it holds this job's key");
    }
    switch (arrival.header.kind) {
    case Kind::confirm:
        return confirmed(arrival);
    case Kind::small:
        if (!given_up()) module.host().deliver(cookie, module::view(arrival.bytes(), arrival.size));
        return drop(arrival);
    case Kind::large:
        if (!given_up()) return begin_landing(arrival);
        return drop(arrival);
    case Kind::bye:
        drop(arrival);
        farewell_ = true;
        return lose(PLEXUS_LINK_LOST, "the peer closed the link");
    case Kind::hello:
    case Kind::answer:
        break;
    }
    drop(arrival);
}

void Link::begin_landing(Arrival& arrival) {
    void* where = nullptr;
    auto landing = std::make_unique<Landing>();
    landing->link = this;
    const auto head = module::view(arrival.room.data(), arrival.header.head);
    if (module.host().place(cookie, head, arrival.size, &where, &landing->token) != PLEXUS_OK || given_up())
        return drop(arrival);
    if (arrival.store == Arrival::Store::rendezvous) {
        const Hold hold(module.lock());
        if (given_up() || way->failed) { // what UCX held of the message went with the endpoint
            landing->over = true;
            landing->status = PLEXUS_MESSAGE_LOST;
        } else {
            ucp_request_param_t how{};
            how.op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA |
                               UCP_OP_ATTR_FIELD_DATATYPE | UCP_OP_ATTR_FIELD_MEMORY_TYPE;
            how.cb.recv_am = receive_over;
            how.datatype = ucp_dt_make_contig(1);
            how.user_data = landing.get();
            how.memory_type = UCS_MEMORY_TYPE_HOST;
            ++receiving; // before UCX can say that it is over
            const ucs_status_ptr_t request =
                ::ucp_am_recv_data_nbx(module.worker(), arrival.data, where, arrival.size, &how);
            if (!UCS_PTR_IS_PTR(request)) {
                --receiving;
                landing->over = true;
                landing->status = request == nullptr ? PLEXUS_OK : PLEXUS_MESSAGE_LOST;
            }
        }
    } else {
        const module::Lock border(border_);
        if (!given_up()) std::memcpy(where, arrival.bytes(), arrival.size);
        landing->over = true;
    }
    if (arrival.store != Arrival::Store::rendezvous) drop(arrival);
    landings_.push_back(std::move(landing));
    if (landings_.size() == 1) go_on();
}

// Memory of a process on this host may have been read after its owner was through with it:
// then that has cut its lifeline before.
void Link::finish_landing() {
    const std::unique_ptr<Landing> landing = std::move(landings_.front());
    landings_.pop_front();
    if (landing->status == PLEXUS_OK && !module.endpoints_fail() && (way->cut || is_cut(way->lifeline.get())))
        landing->status = PLEXUS_MESSAGE_LOST;
    if (!given_up()) module.host().placed(cookie, landing->token, landing->status);
    if (landing->status != PLEXUS_OK) lose(PLEXUS_LINK_LOST, "a large message broke off");
}

void Link::drop(Arrival& arrival) { module.release(arrival); }

void Link::drop_waiting() {
    for (Arrival& each : queue_) drop(each);
    queue_.clear();
    for (auto& each : held_) drop(each.second);
    held_.clear();
}

} // namespace plexus::ucx
