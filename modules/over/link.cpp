// SPDX-License-Identifier: BSD-3-Clause
#include "over/link.h"

#include "common/values.h"
#include "over/module.h"

#include <utility>

namespace plexus::over {

std::int32_t Link::connect(plexus_view inner, const plexus_id& peer, void* cookie) {
    known_as_.cookie = cookie;
    known_as_.peer = peer;
    is_known_ = true;
    if (std::string why = on_connect(); !why.empty()) {
        cut(PLEXUS_LINK_LOST, std::move(why));
        return PLEXUS_OK;
    }
    const Lock hold(calls_); // a hook that sends at once waits until inner_ is set
    plexus_link* under = nullptr;
    const std::int32_t status = owner_.inner_ops().connect(owner_.inner(), inner, &peer, this, &under);
    if (status == PLEXUS_OK) inner_ = under;
    return status;
}

void Link::disconnect() {
    {
        const Lock hold(border_);
        given_up_ = true;
    }
    if (!let_go()) owner_.owe(*this);
}

// False: something is still to be sent.
bool Link::let_go() {
    if (has_unsent()) return false;
    if (is_let_go_.exchange(true)) return true;
    drop();
    owner_.retire(*this);
    return true;
}

void Link::drop() {
    const Lock hold(calls_);
    plexus_link* const inner = std::exchange(inner_, nullptr);
    if (inner != nullptr) owner_.inner_ops().disconnect(inner);
}

std::int32_t Link::send(const plexus_view* pieces, std::uint32_t count, void* token) {
    return send_inner(pieces, count, token);
}

std::int32_t Link::send_inner(const plexus_view* pieces, std::uint32_t count, void* token) {
    const Lock hold(calls_);
    if (inner_ == nullptr || is_cut_) return PLEXUS_LINK_LOST;
    ++posted_; // before the call: `sent` may be quicker
    const std::int32_t status = owner_.inner_ops().send(inner_, pieces, count, token);
    if (status != PLEXUS_POSTED) --posted_;
    return status;
}

std::int32_t Link::set(const char* key, const char* value, plexus_text& why) {
    char room[4096];
    plexus_text own{room, sizeof room, 0};
    const plexus_host& host = owner_.host();
    if (!owner_.is_of_inner(key) && host.setting(host.self, key, &own) != PLEXUS_BAD_ARGUMENT)
        return module::set_at_open_only(host, key, why);
    const Lock hold(calls_);
    if (inner_ == nullptr) return PLEXUS_LINK_LOST;
    return owner_.inner_ops().set(inner_, key, value, &why);
}

std::uint32_t Link::row() const {
    const Lock hold(calls_);
    std::uint32_t row = 0;
    if (inner_ != nullptr) (void)owner_.inner_ops().row_of(inner_, &row);
    return row;
}

std::int32_t Link::check_claim(plexus_claim what, const char* said, plexus_text& why) {
    const Lock hold(calls_);
    if (inner_ != nullptr) return owner_.inner_ops().check_claim(inner_, what, said, &why);
    module::write(why, "the link has ended");
    return PLEXUS_LINK_LOST;
}

std::int32_t Link::query(plexus_query what, std::uint64_t& value) const {
    const Lock hold(calls_);
    if (inner_ == nullptr) return PLEXUS_LINK_LOST;
    return owner_.inner_ops().query(owner_.inner(), inner_, what, &value);
}

std::int32_t Link::announce() {
    const plexus_host& to = owner_.host();
    if (!known_as_.came_in) {
        to.opened(known_as_.cookie);
        return PLEXUS_OK;
    }
    const std::int32_t status = to.accepted(to.self, handle(), &known_as_.peer, &known_as_.cookie);
    is_known_ = status == PLEXUS_OK;
    return status;
}

void Link::cut(std::int32_t status, std::string why) {
    {
        const Lock hold(calls_);
        if (is_cut_.exchange(true)) return;
        cut_ = {status, std::move(why)};
    }
    drop();
    owner_.owe(*this);
}

bool Link::pay(std::int32_t& handled) {
    if (given_up_) return is_let_go_ || let_go();
    if (told_lost_) return true;
    if (owes_writable_.exchange(false) && !is_cut_) {
        ++handled;
        owner_.host().writable(known_as_.cookie);
    }
    if (given_up_) return true;
    if (!is_cut_ && !on_turn()) return false;
    if (!is_cut_ || given_up_) return true;
    if (posted_ != 0) return true; // `lost` comes after the last `sent`, which asks for another turn
    told_lost_ = true;
    ++handled;
    on_over();
    if (!is_known_) {
        disconnect();
        return true;
    }
    for (void* const token : std::exchange(placing_, {})) on_placed(token, PLEXUS_LINK_LOST);
    Ending ending;
    {
        const Lock hold(calls_);
        ending = cut_;
    }
    owner_.host().lost(known_as_.cookie, ending.status, module::view(ending.why));
    return true;
}

void Link::owe_writable() {
    owes_writable_ = true;
    owner_.owe(*this);
}

std::string text_of(const plexus_id& id) {
    constexpr char kDigits[] = "0123456789abcdef";
    std::string text;
    for (const std::uint8_t byte : id.bytes) {
        text += kDigits[byte >> 4];
        text += kDigits[byte & 15];
    }
    return text;
}

void tell_arriving(const Link& link) {
    if (link.is_known_ && !link.is_over()) link.owner_.host().arriving(link.known_as_.cookie);
}

// ---- hooks: unchanged ------------------------------------------------------------------------

void Link::on_deliver(plexus_view message) { owner_.host().deliver(known_as_.cookie, message); }

std::int32_t Link::on_place(plexus_view head, std::size_t rest, void** where, void** token) {
    return owner_.host().place(known_as_.cookie, head, rest, where, token);
}

void Link::on_placed(void* token, std::int32_t status) {
    if (!given_up_) owner_.host().placed(known_as_.cookie, token, status);
}

void Link::on_sent(void* token, std::int32_t status) { owner_.host().sent(known_as_.cookie, token, status); }

void Link::on_writable() { owner_.host().writable(known_as_.cookie); }

} // namespace plexus::over
