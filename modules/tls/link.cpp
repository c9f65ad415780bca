// SPDX-License-Identifier: BSD-3-Clause
#include "tls/link.h"

#include "common/proof.h"
#include "tls/module.h"

#include <algorithm>
#include <cstring>
#include <openssl/crypto.h>
#include <utility>
#include <vector>

namespace plexus::tls {
namespace {

constexpr std::string_view kLinkPurpose = "plexus tls 1 link";

} // namespace

Link::Parts::Parts(Module& module, Link& link, std::unique_ptr<Engine> session, bool client)
  : own_engine(std::move(session))
  , engine(*own_engine)
  , outbox(module, link, engine)
  , inbox(module, link, engine)
  , is_client(client) {}

Link::Link(Module& owner)
  : over::Link(owner)
  , module_(owner) {}

// ---- the handshake ---------------------------------------------------------------------------

std::string Link::begin(bool is_client) {
    Session session = module_.credentials().make_session(is_client);
    if (session == nullptr)
        return "no TLS session can be made: there is no memory, or a name of `names` is no name";
    parts_.emplace(module_, *this,
                   std::make_unique<Engine>(std::move(session), module_.options().update_after), is_client);
    return {};
}

std::string Link::on_connect() { return module_.has_socket() ? std::string() : begin(true); }

void Link::on_opened() {
    if (module_.has_socket()) { // the session stands, and both sides have proved themselves in it
        parts_.emplace(module_, *this, module_.take_session(), true);
        open();
        (void)announce();
        owe_writable(); // sends from before were told AGAIN
        return;
    }
    began_at_ = std::chrono::steady_clock::now();
    module_.watch_handshake(*this);
    go_on_shaking({});
}

std::int32_t Link::on_accepted() {
    if (module_.has_socket()) {
        parts_.emplace(module_, *this, module_.take_session(), false);
        open();
        return announce();
    }
    const std::string why = begin(false);
    if (why.empty()) {
        began_at_ = std::chrono::steady_clock::now();
        module_.watch_handshake(*this);
        return PLEXUS_OK;
    }
    module_.host().log(module_.host().self, PLEXUS_WARN, why.c_str());
    return PLEXUS_LINK_LOST;
}

void Link::shake(std::span<const std::byte> block) {
    if (state_ == State::shaking) {
        go_on_shaking(block);
    } else {
        check_proof(block);
    }
}

void Link::go_on_shaking(std::span<const std::byte> block) {
    Block answer;
    const Engine::Step step = parts_->engine.shake(block, answer);
    parts_->outbox.push(std::move(answer)); // also the reason of a refusal
    if (step == Engine::Step::failed) {
        refuse(PLEXUS_DENIED, parts_->engine.why());
        return;
    }
    if (step == Engine::Step::going) return;
    state_ = State::proving;
    if (parts_->is_client) (void)send_proof();
}

void Link::check_proof(std::span<const std::byte> block) {
    ProofBytes said{};
    if (!parts_->inbox.open_whole(block, said)) {
        const std::string why = parts_->engine.why();
        refuse(PLEXUS_DENIED, why.empty() ? "the peer does not keep to the protocol" : why);
        return;
    }
    const std::optional<ProofBytes> wanted = proof(!parts_->is_client);
    if (!wanted || CRYPTO_memcmp(wanted->data(), said.data(), said.size()) != 0) {
        refuse(PLEXUS_DENIED,
               "the peer does not hold the job's key, or another context answers in its place");
        return;
    }
    if (!parts_->is_client && !send_proof()) return;
    open();
    if (const std::int32_t status = announce(); status != PLEXUS_OK) {
        cut(status, "the context does not want this link");
        return;
    }
    owe_writable(); // sends from before were told AGAIN
}

void Link::open() {
    std::uint64_t most = 0; // which the peer's inner method has told ours
    (void)module_.query(this, PLEXUS_QUERY_MAX_MESSAGE, most);
    parts_->outbox.set_most(most == 0 ? module_.limits().most : std::min(most, module_.limits().most));
    state_ = State::open;
    is_open_ = true;
}

std::optional<Link::ProofBytes> Link::proof(bool of_client) {
    const std::optional<ProofBytes> binding = parts_->engine.binding();
    if (!binding) return std::nullopt;
    const plexus_id& own = module_.host().id;
    const bool is_client = parts_->is_client;
    std::vector<std::byte> text(binding->begin(), binding->end());
    for (const plexus_id* id : {is_client ? &own : &peer(), is_client ? &peer() : &own})
        for (const std::uint8_t byte : id->bytes) text.push_back(std::byte{byte});
    const module::Proof made = module::proof_of(module_.host(), kLinkPurpose, of_client ? 1 : 2, text);
    ProofBytes bytes{};
    std::memcpy(bytes.data(), made.data(), bytes.size());
    return bytes;
}

bool Link::send_proof() {
    const std::optional<ProofBytes> own = proof(parts_->is_client);
    Block block;
    if (!own || !parts_->engine.write(*own, block)) {
        refuse(PLEXUS_LINK_LOST, parts_->engine.why());
        return false;
    }
    parts_->outbox.push(std::move(block));
    return true;
}

// The host may not know this link yet: then only the log tells.
void Link::refuse(std::int32_t status, const std::string& why) {
    if (is_over()) return;
    const std::string line = "no TLS with peer " + over::text_of(peer()) + ": " + why;
    if (!parts_->is_client) module_.host().log(module_.host().self, PLEXUS_WARN, line.c_str());
    cut(status, line);
}

bool Link::has_shaken_by(std::chrono::steady_clock::time_point now) {
    if (is_over() || is_open_) return true;
    if (now - began_at_ < module_.options().handshake_timeout) return false;
    refuse(PLEXUS_LINK_LOST, "the handshake took longer than handshake_timeout");
    return true;
}

// ---- data ------------------------------------------------------------------------------------

std::int32_t Link::send(const plexus_view* pieces, std::uint32_t count, void* token) {
    if (!is_open_) return PLEXUS_AGAIN;
    return parts_->outbox.send(std::span(pieces, count), token);
}

std::int32_t Link::check_claim(plexus_claim what, const char* said, plexus_text& why) {
    const bool is_site = what == PLEXUS_CLAIM_SITE;
    const std::vector<Grant>& grants = is_site ? module_.options().sites : module_.options().contexts;
    const bool allowed = std::any_of(grants.begin(), grants.end(), [&](const Grant& each) {
        return each.claim == said && parts_->engine.has_name(each.certificate);
    });
    if (grants.empty() || allowed) return over::Link::check_claim(what, said, why);
    module::write(why, is_site ? "its certificate has no name that may say so (method.tls.sites)"
                               : "its certificate has no name that may say so (method.tls.contexts)");
    return PLEXUS_DENIED;
}

std::uint64_t Link::own_queued() const noexcept { return is_open_ ? parts_->outbox.queued() : 0; }

void Link::break_off(std::string why) {
    cut(PLEXUS_LINK_LOST,
        "the TLS session with peer " + over::text_of(peer()) + " is broken: " + std::move(why));
}

void Link::on_deliver(plexus_view message) { parts_->inbox.deliver(message); }

std::int32_t Link::on_place(plexus_view head, std::size_t rest, void** where, void** token) {
    return parts_->inbox.place(head, rest, where, token);
}

void Link::on_placed(void* token, std::int32_t status) { parts_->inbox.placed(token, status); }

void Link::on_sent(void* token, std::int32_t) { pay_owed(parts_->outbox.posted_is_over(token), PLEXUS_OK); }

void Link::on_writable() { pay_owed(parts_->outbox.go_on(), PLEXUS_OK); }

void Link::on_over() {
    if (!parts_) return;
    parts_->inbox.end();
    pay_owed(parts_->outbox.end(), PLEXUS_LINK_LOST);
}

bool Link::has_unsent() { return is_open_ && parts_->outbox.has_unsent(module_.options().linger); }

void Link::pay_owed(const Outbox::Owed& owed, std::int32_t status) {
    if (owed.sent) over::Link::on_sent(*owed.sent, status);
    if (owed.is_writable && is_open_ && !is_over()) over::Link::on_writable();
}

} // namespace plexus::tls
