// SPDX-License-Identifier: BSD-3-Clause
#include "bootstrap/handshake.h"
#include "base/crypto.h"

#include <algorithm>
#include <cstring>

namespace plexus::bootstrap {
namespace {

// The last byte is the version of the protocol.
constexpr std::array<std::uint8_t, kMagicBytes> kMagic{'P', 'L', 'X', 'S', 'B', 'O', 'O', 1};

void append(Bytes& out, std::span<const std::byte> bytes) {
    // Byte by byte, for gcc 12: of an insert() it says that it would overflow.
    for (const std::byte byte : bytes) out.push_back(byte);
}

void append_nonce(Bytes& out) {
    std::array<std::byte, kNonceBytes> nonce;
    crypto::fill_random(nonce.data(), nonce.size());
    append(out, nonce);
}

/// A proof of one record is no proof of another, nor of a module's: the purpose is in it.
Proof prove_for(const Key& key, std::string_view purpose, const Bytes& said) {
    Bytes text;
    append(text, std::as_bytes(std::span(purpose)));
    text.push_back(std::byte{0});
    append(text, said);
    return prove(key, text);
}

constexpr std::string_view kHello = "plexus directory hello";
constexpr std::string_view kAnswer = "plexus directory answer";
constexpr std::string_view kConfirm = "plexus directory confirm";

} // namespace

bool has_magic(std::span<const std::byte> record) noexcept {
    return record.size() >= kMagicBytes && std::memcmp(record.data(), kMagic.data(), kMagicBytes) == 0;
}

ClientHandshake::ClientHandshake(const Key& key, const ContextId& who)
  : key_(key) {
    append(said_, std::as_bytes(std::span(kMagic)));
    append(said_, std::as_bytes(std::span(who.bytes)));
    append_nonce(said_);
    const Proof proof = prove_for(key_, kHello, said_);
    append(said_, std::as_bytes(std::span(proof)));
}

Bytes ClientHandshake::take_answer(std::span<const std::byte, kAnswerBytes> answer) {
    append(said_, answer.first<kMagicBytes + kNonceBytes>());
    const Proof wanted = prove_for(key_, kAnswer, said_);
    if (!same_proof(std::as_bytes(std::span(wanted)), answer.last<32>())) return {};
    append(said_, answer.last<32>());
    const Proof proof = prove_for(key_, kConfirm, said_);
    const auto confirm = std::as_bytes(std::span(proof));
    return {confirm.begin(), confirm.end()};
}

Bytes ServerHandshake::take_hello(std::span<const std::byte, kHelloBytes> hello) {
    if (!has_magic(hello)) return {};
    said_.clear();
    append(said_, hello.first<kHelloBytes - 32>());
    const Proof wanted = prove_for(key_, kHello, said_);
    if (!same_proof(std::as_bytes(std::span(wanted)), hello.last<32>())) return {};
    append(said_, hello.last<32>());
    std::memcpy(client_.bytes.data(), hello.data() + kMagicBytes, client_.bytes.size());

    Bytes answer;
    append(answer, std::as_bytes(std::span(kMagic)));
    append_nonce(answer);
    append(said_, answer);
    const Proof proof = prove_for(key_, kAnswer, said_);
    append(answer, std::as_bytes(std::span(proof)));
    append(said_, std::as_bytes(std::span(proof)));
    return answer;
}

bool ServerHandshake::take_confirm(std::span<const std::byte, kConfirmBytes> confirm) const {
    const Proof wanted = prove_for(key_, kConfirm, said_);
    return same_proof(std::as_bytes(std::span(wanted)), confirm);
}

} // namespace plexus::bootstrap
