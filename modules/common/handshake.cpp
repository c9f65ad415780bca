// SPDX-License-Identifier: BSD-3-Clause
#include "common/handshake.h"

namespace plexus::module {
namespace {

constexpr std::array<std::uint8_t, 8> kMagic{'P', 'L', 'E', 'X', 'U', 'S', 0, 1};
constexpr std::size_t kIdBytes = sizeof(plexus_id::bytes);
constexpr std::size_t kNonceBytes = 32;
constexpr std::size_t kProofBytes = 32;
enum : std::uint8_t { kAccepted = 0, kWrongPeer = 1 };

bool same(std::span<const std::uint8_t> a, std::span<const std::uint8_t> b) noexcept {
    std::uint8_t difference = 0; // in constant time: how far two proofs agree is a secret
    for (std::size_t i = 0; i < a.size(); ++i)
        difference = static_cast<std::uint8_t>(difference | (a[i] ^ b[i]));
    return difference == 0;
}

} // namespace

Handshake Handshake::connecting(const plexus_host& host, const plexus_id& wanted) {
    Handshake shake(host, Step::answer);
    shake.peer_ = wanted;
    std::array<std::uint8_t, kNonceBytes> nonce;
    host.random(host.self, nonce.data(), nonce.size());
    shake.append(kMagic.data(), kMagic.size());
    shake.append(host.id.bytes, kIdBytes);
    shake.append(wanted.bytes, kIdBytes);
    shake.append(nonce.data(), nonce.size());
    const Proof proof = shake.prove("plexus hello");
    shake.append(proof.data(), proof.size());
    shake.outgoing_ = shake.transcript_;
    return shake;
}

Handshake Handshake::accepting(const plexus_host& host) { return Handshake(host, Step::hello); }

std::size_t Handshake::wanted_bytes() const noexcept {
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

std::int32_t Handshake::feed(std::span<const std::uint8_t> record) {
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

std::int32_t Handshake::feed_hello(std::span<const std::uint8_t> record) {
    if (!same(record.first(kMagic.size()), kMagic)) return PLEXUS_DENIED;
    const auto said = record.first(kHelloBytes - kProofBytes);
    append(said.data(), said.size());
    if (!same(prove("plexus hello"), record.last(kProofBytes))) return PLEXUS_DENIED;
    append(record.last(kProofBytes).data(), kProofBytes);

    std::memcpy(peer_.bytes, record.data() + kMagic.size(), kIdBytes);
    const bool me = std::memcmp(record.data() + kMagic.size() + kIdBytes, host_->id.bytes, kIdBytes) == 0;
    std::array<std::uint8_t, kNonceBytes> nonce;
    host_->random(host_->self, nonce.data(), nonce.size());
    const std::size_t start = transcript_.size();
    const std::uint8_t verdict = me ? kAccepted : kWrongPeer;
    append(&verdict, 1);
    append(host_->id.bytes, kIdBytes);
    append(nonce.data(), nonce.size());
    const Proof proof = prove("plexus answer");
    append(proof.data(), proof.size());
    outgoing_.assign(transcript_.begin() + static_cast<std::ptrdiff_t>(start), transcript_.end());
    next_ = Step::confirm;
    return me ? PLEXUS_AGAIN : PLEXUS_WRONG_PEER;
}

std::int32_t Handshake::feed_answer(std::span<const std::uint8_t> record) {
    const auto said = record.first(kAnswerBytes - kProofBytes);
    append(said.data(), said.size());
    if (!same(prove("plexus answer"), record.last(kProofBytes))) return PLEXUS_DENIED;
    append(record.last(kProofBytes).data(), kProofBytes);
    const bool wanted = std::memcmp(record.data() + 1, peer_.bytes, kIdBytes) == 0;
    if (record[0] != kAccepted || !wanted) return PLEXUS_WRONG_PEER;
    const Proof proof = prove("plexus confirm");
    outgoing_.assign(proof.begin(), proof.end());
    return PLEXUS_OK;
}

std::int32_t Handshake::feed_confirm(std::span<const std::uint8_t> record) {
    return same(prove("plexus confirm"), record) ? PLEXUS_OK : PLEXUS_DENIED;
}

Handshake::Proof Handshake::prove(const char* purpose) const {
    std::vector<std::uint8_t> text(purpose, purpose + std::strlen(purpose) + 1);
    text.insert(text.end(), transcript_.begin(), transcript_.end());
    Proof proof{};
    if (host_->prove(host_->self, view(text.data(), text.size()), proof.data()) != PLEXUS_OK)
        host_->random(host_->self, proof.data(), proof.size()); // no key: nothing shall match
    return proof;
}

void Handshake::append(const void* data, std::size_t size) {
    const auto* bytes = static_cast<const std::uint8_t*>(data);
    transcript_.insert(transcript_.end(), bytes, bytes + size);
}

} // namespace plexus::module
