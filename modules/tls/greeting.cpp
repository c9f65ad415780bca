// SPDX-License-Identifier: BSD-3-Clause
#include "tls/greeting.h"

#include <cstring>
#include <utility>

namespace plexus::tls {

// The functions of a host whose proofs hold for one session only.
struct Greeting::Binding {
    static const Greeting& of(void* self) { return *static_cast<const Greeting*>(self); }

    static void random(void* self, void* data, std::size_t size) {
        const plexus_host& host = of(self).host_;
        host.random(host.self, data, size);
    }

    static std::int32_t hmac(void* self, plexus_view transcript, std::uint8_t code[32]) {
        const Greeting& greeting = of(self);
        const auto* const said = static_cast<const std::byte*>(transcript.data);
        std::vector<std::byte> text(greeting.binding_.begin(), greeting.binding_.end());
        text.insert(text.end(), said, said + transcript.size);
        return greeting.host_.hmac(greeting.host_.self, {text.data(), text.size()}, code);
    }
};

Greeting::Greeting(const plexus_host& host, std::unique_ptr<Engine> engine,
                   const std::optional<plexus_id>& wanted, std::uint64_t most)
  : host_(host)
  , bound_(host)
  , engine_(std::move(engine))
  , wanted_(wanted)
  , most_(most) {
    bound_.self = this;
    bound_.random = Binding::random;
    bound_.hmac = Binding::hmac;
    if (wanted_) (void)shake({});
}

std::vector<std::uint8_t> Greeting::take_outgoing() {
    std::vector<std::uint8_t> bytes(out_.size());
    if (!out_.empty()) std::memcpy(bytes.data(), out_.data(), out_.size());
    out_.clear();
    return bytes;
}

// The head of a record, then all of it.
std::size_t Greeting::step_size() const noexcept {
    return got_ < kRecordHead ? kRecordHead : record_size(record_).value_or(kRecordHead);
}

std::span<std::uint8_t> Greeting::room() {
    return {reinterpret_cast<std::uint8_t*>(record_.data()) + got_, step_size() - got_};
}

std::int32_t Greeting::took(std::size_t bytes) {
    got_ += bytes;
    if (got_ < kRecordHead) return PLEXUS_AGAIN;
    const std::optional<std::size_t> size = record_size(record_);
    if (!size) return refuse("it does not speak TLS");
    if (got_ < *size) return PLEXUS_AGAIN;
    const std::span<const std::byte> record = std::span(record_).first(std::exchange(got_, 0));
    return handshake_ ? prove(record) : shake(record);
}

std::int32_t Greeting::shake(std::span<const std::byte> record) {
    switch (engine_->shake(record, out_)) {
    case Engine::Step::going:
        return PLEXUS_AGAIN;
    case Engine::Step::failed:
        return refuse("no TLS: " + engine_->why());
    case Engine::Step::done:
        break;
    }
    const std::optional<std::array<std::byte, 32>> binding = engine_->binding();
    if (!binding) return refuse("no TLS: " + engine_->why());
    binding_ = *binding;
    if (!wanted_) {
        handshake_.emplace(module::Handshake::accepting(bound_, most_));
        return PLEXUS_AGAIN;
    }
    handshake_.emplace(module::Handshake::connecting(bound_, *wanted_, most_));
    return say(handshake_->take_outgoing()) ? PLEXUS_AGAIN : refuse("no TLS: " + engine_->why());
}

std::int32_t Greeting::prove(std::span<const std::byte> record) {
    engine_->arrived(record);
    const std::size_t size = handshake_->wanted_bytes();
    const std::span room = std::as_writable_bytes(std::span(plain_)).first(size);
    while (plain_got_ < size) {
        const std::optional<std::size_t> got = engine_->read(room.subspan(plain_got_));
        if (!got) return refuse("no TLS: " + engine_->why());
        if (*got == 0) return PLEXUS_AGAIN;
        plain_got_ += *got;
    }
    if (!engine_->is_read_up()) return refuse("it does not keep to the protocol");
    plain_got_ = 0;
    const std::int32_t verdict = handshake_->feed(std::span(plain_).first(size));
    if (verdict == PLEXUS_DENIED)
        return refuse("it does not hold the job's key, or does not speak this protocol");
    const std::vector<std::uint8_t> answer = handshake_->take_outgoing();
    if (!answer.empty() && !say(answer)) return refuse("no TLS: " + engine_->why());
    return verdict;
}

// A peer that hears no reason takes the end of the connection for an accident, and comes again.
std::int32_t Greeting::refuse(std::string why) {
    why_ = std::move(why);
    engine_->end(out_);
    return PLEXUS_DENIED;
}

bool Greeting::say(std::span<const std::uint8_t> plain) { return engine_->write(std::as_bytes(plain), out_); }

} // namespace plexus::tls
