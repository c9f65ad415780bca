// SPDX-License-Identifier: BSD-3-Clause
// How the two ends of a new connection prove to each other that they hold the job's key
// and are who they say: three fixed-size records, HMAC-SHA256, a fresh nonce from each
// side. Pure state over bytes; the module that owns the connection moves them.
//
//   hello   connecting -> accepting   magic, version, who I am, whom I want, nonce, limit, proof
//   answer  accepting -> connecting   verdict, version, who I am, nonce, limit, proof
//   confirm connecting -> accepting   proof over both
//
// A hello without a valid proof gets no answer at all. A replayed hello gets an answer
// but can't be confirmed. Hello and answer look the same in every version, so that two
// versions can tell each other that they differ; what else a version changes follows them.
// Numbers are big-endian. Not thread-safe; one object for one connection. Header only, so
// that whoever writes a module elsewhere has it too.
#pragma once

#include "plexus/export.h"
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
    static constexpr std::uint16_t kVersion = 2;
    static constexpr std::size_t kHelloBytes = 6 + 2 + 16 + 16 + 32 + 8 + 32;
    static constexpr std::size_t kAnswerBytes = 1 + 2 + 16 + 32 + 8 + 32;
    static constexpr std::size_t kConfirmBytes = 32;

    /// The side that connects, to the context `wanted`. `host` must outlive the object.
    /// `max_message`: the largest message that this side takes over the connection, in bytes; the
    /// other side learns it. 0: no limit.
    static Handshake connecting(const plexus_host& host, const plexus_id& wanted,
                                std::uint64_t max_message = 0);
    /// The side that accepts.
    static Handshake accepting(const plexus_host& host, std::uint64_t max_message = 0);

    /// Bytes to send now; the caller sends all of them, once, before it feeds more.
    std::vector<std::uint8_t> take_outgoing() { return std::exchange(outgoing_, {}); }

    /// Size of the record that is expected next; 0 when the handshake is over.
    std::size_t wanted_bytes() const noexcept;

    /// Takes exactly wanted_bytes(). AGAIN: go on. OK: both sides have proved themselves
    /// (send what take_outgoing() still gives). Others: close. DENIED: no proof, say nothing. WRONG_PEER,
    /// UNSUPPORTED (the other side holds the key, but speaks another version, see peer_version()): send
    /// the answer that may be waiting in take_outgoing() first.
    std::int32_t feed(std::span<const std::uint8_t> record);

    /// A key that only the two ends of this exchange know, and who else holds the job's key and has heard
    /// it; another for each purpose. Once feed() said OK; where `host` has no key, random bytes.
    std::array<std::uint8_t, 32> derive(const char* purpose) const { return prove(purpose); }

    /// Who the other side proved to be, once feed() said OK.
    const plexus_id& peer() const noexcept { return peer_; }
    /// The largest message that it takes, 0 for no limit; and the version of these records that it speaks.
    /// Of the side that connects, once feed() said AGAIN or UNSUPPORTED; of the other, OK or UNSUPPORTED.
    std::uint64_t peer_max_message() const noexcept { return peer_max_message_; }
    std::uint16_t peer_version() const noexcept { return peer_version_; }

  private:
    enum class Step : std::uint8_t { hello, answer, confirm, over };
    using Proof = std::array<std::uint8_t, 32>;

    Handshake(const plexus_host& host, Step next, std::uint64_t max_message)
      : host_(&host)
      , next_(next)
      , max_message_(max_message) {}
    Proof prove(const char* purpose) const;
    void append(const void* data, std::size_t size);
    void append_number(std::uint64_t value, std::size_t bytes);
    void append_nonce();
    std::int32_t feed_hello(std::span<const std::uint8_t> record);
    std::int32_t feed_answer(std::span<const std::uint8_t> record);
    std::int32_t feed_confirm(std::span<const std::uint8_t> record);

    const plexus_host* host_;
    Step next_;
    std::uint64_t max_message_;
    plexus_id peer_{};
    std::uint64_t peer_max_message_ = 0;
    std::uint16_t peer_version_ = 0;
    std::vector<std::uint8_t> transcript_; // everything said so far, both ways
    std::vector<std::uint8_t> outgoing_;
};

namespace detail {

inline constexpr std::array<std::uint8_t, 6> kHandshakeMagic{'P', 'L', 'E', 'X', 'U', 'S'};
inline constexpr std::size_t kIdBytes = sizeof(plexus_id::bytes);
inline constexpr std::size_t kNonceBytes = 32;
inline constexpr std::size_t kProofBytes = 32;
inline constexpr std::uint8_t kAccepted = 0;
inline constexpr std::uint8_t kWrongPeer = 1;
inline constexpr std::uint8_t kOtherVersion = 2;

inline std::uint64_t read_number(std::span<const std::uint8_t> bytes) noexcept {
    std::uint64_t value = 0;
    for (const std::uint8_t byte : bytes) value = value << 8 | byte;
    return value;
}

inline bool same_bytes(std::span<const std::uint8_t> a, std::span<const std::uint8_t> b) noexcept {
    std::uint8_t difference = 0; // in constant time: how far two proofs agree is a secret
    for (std::size_t i = 0; i < a.size(); ++i)
        difference = static_cast<std::uint8_t>(difference | (a[i] ^ b[i]));
    return difference == 0;
}

} // namespace detail

inline Handshake Handshake::connecting(const plexus_host& host, const plexus_id& wanted,
                                       std::uint64_t max_message) {
    Handshake shake(host, Step::answer, max_message);
    shake.transcript_.reserve(kHelloBytes + kAnswerBytes);
    shake.peer_ = wanted;
    shake.append(detail::kHandshakeMagic.data(), detail::kHandshakeMagic.size());
    shake.append_number(kVersion, 2);
    shake.append(host.id.bytes, detail::kIdBytes);
    shake.append(wanted.bytes, detail::kIdBytes);
    shake.append_nonce();
    shake.append_number(max_message, 8);
    const Proof proof = shake.prove("plexus hello");
    shake.append(proof.data(), proof.size());
    shake.outgoing_ = shake.transcript_;
    return shake;
}

inline Handshake Handshake::accepting(const plexus_host& host, std::uint64_t max_message) {
    return Handshake(host, Step::hello, max_message);
}

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

    constexpr std::size_t kWho = detail::kHandshakeMagic.size() + 2;
    peer_version_ = static_cast<std::uint16_t>(detail::read_number(record.subspan(kWho - 2, 2)));
    peer_max_message_ = detail::read_number(said.last(8));
    std::memcpy(peer_.bytes, record.data() + kWho, detail::kIdBytes);
    const bool me =
        std::memcmp(record.data() + kWho + detail::kIdBytes, host_->id.bytes, detail::kIdBytes) == 0;
    const bool same_version = peer_version_ == kVersion;
    const std::size_t start = transcript_.size();
    append_number(!same_version ? detail::kOtherVersion : me ? detail::kAccepted : detail::kWrongPeer, 1);
    append_number(kVersion, 2);
    append(host_->id.bytes, detail::kIdBytes);
    append_nonce();
    append_number(max_message_, 8);
    const Proof proof = prove("plexus answer");
    append(proof.data(), proof.size());
    outgoing_.assign(transcript_.begin() + static_cast<std::ptrdiff_t>(start), transcript_.end());
    if (!same_version) return PLEXUS_UNSUPPORTED;
    next_ = Step::confirm;
    return me ? PLEXUS_AGAIN : PLEXUS_WRONG_PEER;
}

inline std::int32_t Handshake::feed_answer(std::span<const std::uint8_t> record) {
    const auto said = record.first(kAnswerBytes - detail::kProofBytes);
    append(said.data(), said.size());
    if (!detail::same_bytes(prove("plexus answer"), record.last(detail::kProofBytes))) return PLEXUS_DENIED;
    append(record.last(detail::kProofBytes).data(), detail::kProofBytes);
    peer_version_ = static_cast<std::uint16_t>(detail::read_number(record.subspan(1, 2)));
    peer_max_message_ = detail::read_number(said.last(8));
    if (record[0] == detail::kOtherVersion || peer_version_ != kVersion) return PLEXUS_UNSUPPORTED;
    const bool wanted = std::memcmp(record.data() + 3, peer_.bytes, detail::kIdBytes) == 0;
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
    if (host_->hmac(host_->self, view(text.data(), text.size()), proof.data()) != PLEXUS_OK)
        host_->random(host_->self, proof.data(), proof.size()); // no key: nothing shall match
    return proof;
}

// Not inlined: gcc 12 then warns of copies out of records of a kind that feed() has refused by their size.
[[gnu::noinline]] inline void Handshake::append(const void* data, std::size_t size) {
    if (size == 0) return;
    // Not insert(): gcc 12 takes its copy of no bytes for one past the end.
    const std::size_t before = transcript_.size();
    transcript_.resize(before + size);
    std::memcpy(transcript_.data() + before, data, size);
}

inline void Handshake::append_number(std::uint64_t value, std::size_t bytes) {
    std::array<std::uint8_t, 8> room;
    for (std::size_t i = 0; i < room.size(); ++i) room[i] = static_cast<std::uint8_t>(value >> (56 - 8 * i));
    append(room.data() + room.size() - bytes, bytes);
}

inline void Handshake::append_nonce() {
    std::array<std::uint8_t, detail::kNonceBytes> nonce;
    host_->random(host_->self, nonce.data(), nonce.size());
    append(nonce.data(), nonce.size());
}

} // namespace plexus::module
