// SPDX-License-Identifier: BSD-3-Clause
// How the two ends of a new connection prove to each other that they hold the job's key
// and are who they say: three fixed-size records, HMAC-SHA256, a fresh nonce from each
// side. Pure state over bytes; the module that owns the connection moves them.
//
//   hello   connecting -> accepting   magic, who I am, whom I want, nonce, proof
//   answer  accepting -> connecting   accepted or not, who I am, nonce, proof
//   confirm connecting -> accepting   proof over both
//
// A hello without a valid proof gets no answer at all. A replayed hello gets an answer
// but can't be confirmed. Not thread-safe; one object for one connection. Header only, so
// that whoever writes a module elsewhere has it too.
#pragma once

#include "plexus/module/module.h"

#include <array>
#include <cstdint>
#include <cstring>
#include <span>
#include <utility>
#include <vector>

namespace plexus::module {

class Handshake {
  public:
    static constexpr std::size_t kHelloBytes = 8 + 16 + 16 + 32 + 32;
    static constexpr std::size_t kAnswerBytes = 1 + 16 + 32 + 32;
    static constexpr std::size_t kConfirmBytes = 32;

    /// The side that connects, to the context `wanted`. `host` must outlive the object.
    static Handshake connecting(const plexus_host& host, const plexus_id& wanted);
    /// The side that accepts.
    static Handshake accepting(const plexus_host& host);

    /// Bytes to send now; the caller sends all of them, once, before it feeds more.
    std::vector<std::uint8_t> take_outgoing() { return std::exchange(outgoing_, {}); }

    /// Size of the record that is expected next; 0 when the handshake is over.
    std::size_t wanted_bytes() const noexcept;

    /// Takes exactly wanted_bytes(). AGAIN: go on. OK: both sides have proved themselves
    /// (send what take_outgoing() still gives). DENIED, WRONG_PEER: close; an answer may
    /// still be waiting in take_outgoing().
    std::int32_t feed(std::span<const std::uint8_t> record);

    /// Who the other side proved to be, once feed() said OK.
    const plexus_id& peer() const noexcept { return peer_; }

  private:
    enum class Step : std::uint8_t { hello, answer, confirm, over };
    using Proof = std::array<std::uint8_t, 32>;

    Handshake(const plexus_host& host, Step next)
      : host_(&host)
      , next_(next) {}
    Proof prove(const char* purpose) const;
    void append(const void* data, std::size_t size);
    std::int32_t feed_hello(std::span<const std::uint8_t> record);
    std::int32_t feed_answer(std::span<const std::uint8_t> record);
    std::int32_t feed_confirm(std::span<const std::uint8_t> record);

    const plexus_host* host_;
    Step next_;
    plexus_id peer_{};
    std::vector<std::uint8_t> transcript_; // everything said so far, both ways
    std::vector<std::uint8_t> outgoing_;
};

namespace detail {

inline constexpr std::array<std::uint8_t, 8> kHandshakeMagic{'P', 'L', 'E', 'X', 'U', 'S', 0, 1};
inline constexpr std::size_t kIdBytes = sizeof(plexus_id::bytes);
inline constexpr std::size_t kNonceBytes = 32;
inline constexpr std::size_t kProofBytes = 32;
inline constexpr std::uint8_t kAccepted = 0;
inline constexpr std::uint8_t kWrongPeer = 1;

inline bool same_bytes(std::span<const std::uint8_t> a, std::span<const std::uint8_t> b) noexcept {
    std::uint8_t difference = 0; // in constant time: how far two proofs agree is a secret
    for (std::size_t i = 0; i < a.size(); ++i)
        difference = static_cast<std::uint8_t>(difference | (a[i] ^ b[i]));
    return difference == 0;
}

} // namespace detail

inline Handshake Handshake::connecting(const plexus_host& host, const plexus_id& wanted) {
    Handshake shake(host, Step::answer);
    shake.peer_ = wanted;
    std::array<std::uint8_t, detail::kNonceBytes> nonce;
    host.random(host.self, nonce.data(), nonce.size());
    shake.append(detail::kHandshakeMagic.data(), detail::kHandshakeMagic.size());
    shake.append(host.id.bytes, detail::kIdBytes);
    shake.append(wanted.bytes, detail::kIdBytes);
    shake.append(nonce.data(), nonce.size());
    const Proof proof = shake.prove("plexus hello");
    shake.append(proof.data(), proof.size());
    shake.outgoing_ = shake.transcript_;
    return shake;
}

inline Handshake Handshake::accepting(const plexus_host& host) { return Handshake(host, Step::hello); }

inline std::size_t Handshake::wanted_bytes() const noexcept {
    switch (next_) {
    case Step::hello:
        return kHelloBytes;
    case Step::answer:
        return kAnswerBytes;
    case Step::confirm:
        return kConfirmBytes;
    case Step::over:
        break;
    }
    return 0;
}

inline std::int32_t Handshake::feed(std::span<const std::uint8_t> record) {
    if (record.size() != wanted_bytes()) return PLEXUS_BAD_ARGUMENT;
    std::int32_t result = PLEXUS_BAD_ARGUMENT;
    switch (next_) {
    case Step::hello:
        result = feed_hello(record);
        break;
    case Step::answer:
        result = feed_answer(record);
        break;
    case Step::confirm:
        result = feed_confirm(record);
        break;
    case Step::over:
        break;
    }
    if (result != PLEXUS_AGAIN) next_ = Step::over;
    return result;
}

inline std::int32_t Handshake::feed_hello(std::span<const std::uint8_t> record) {
    if (!detail::same_bytes(record.first(detail::kHandshakeMagic.size()), detail::kHandshakeMagic))
        return PLEXUS_DENIED;
    const auto said = record.first(kHelloBytes - detail::kProofBytes);
    append(said.data(), said.size());
    if (!detail::same_bytes(prove("plexus hello"), record.last(detail::kProofBytes))) return PLEXUS_DENIED;
    append(record.last(detail::kProofBytes).data(), detail::kProofBytes);

    std::memcpy(peer_.bytes, record.data() + detail::kHandshakeMagic.size(), detail::kIdBytes);
    const bool me = std::memcmp(record.data() + detail::kHandshakeMagic.size() + detail::kIdBytes,
                                host_->id.bytes, detail::kIdBytes) == 0;
    std::array<std::uint8_t, detail::kNonceBytes> nonce;
    host_->random(host_->self, nonce.data(), nonce.size());
    const std::size_t start = transcript_.size();
    const std::uint8_t verdict = me ? detail::kAccepted : detail::kWrongPeer;
    append(&verdict, 1);
    append(host_->id.bytes, detail::kIdBytes);
    append(nonce.data(), nonce.size());
    const Proof proof = prove("plexus answer");
    append(proof.data(), proof.size());
    outgoing_.assign(transcript_.begin() + static_cast<std::ptrdiff_t>(start), transcript_.end());
    next_ = Step::confirm;
    return me ? PLEXUS_AGAIN : PLEXUS_WRONG_PEER;
}

inline std::int32_t Handshake::feed_answer(std::span<const std::uint8_t> record) {
    const auto said = record.first(kAnswerBytes - detail::kProofBytes);
    append(said.data(), said.size());
    if (!detail::same_bytes(prove("plexus answer"), record.last(detail::kProofBytes))) return PLEXUS_DENIED;
    append(record.last(detail::kProofBytes).data(), detail::kProofBytes);
    const bool wanted = std::memcmp(record.data() + 1, peer_.bytes, detail::kIdBytes) == 0;
    if (record[0] != detail::kAccepted || !wanted) return PLEXUS_WRONG_PEER;
    const Proof proof = prove("plexus confirm");
    outgoing_.assign(proof.begin(), proof.end());
    return PLEXUS_OK;
}

inline std::int32_t Handshake::feed_confirm(std::span<const std::uint8_t> record) {
    return detail::same_bytes(prove("plexus confirm"), record) ? PLEXUS_OK : PLEXUS_DENIED;
}

inline Handshake::Proof Handshake::prove(const char* purpose) const {
    std::vector<std::uint8_t> text(purpose, purpose + std::strlen(purpose) + 1);
    text.insert(text.end(), transcript_.begin(), transcript_.end());
    Proof proof{};
    if (host_->prove(host_->self, view(text.data(), text.size()), proof.data()) != PLEXUS_OK)
        host_->random(host_->self, proof.data(), proof.size()); // no key: nothing shall match
    return proof;
}

inline void Handshake::append(const void* data, std::size_t size) {
    if (size == 0) return;
    // Not insert(): gcc 12 takes its copy of no bytes for one past the end.
    const std::size_t before = transcript_.size();
    transcript_.resize(before + size);
    std::memcpy(transcript_.data() + before, data, size);
}

} // namespace plexus::module
