// SPDX-License-Identifier: BSD-3-Clause
#include "common/proof.h"

namespace plexus::module {

Proof proof_of(const plexus_host& host, std::string_view purpose, std::uint8_t kind,
               std::span<const std::byte> message) {
    std::vector<std::byte> text;
    text.reserve(purpose.size() + 1 + message.size());
    for (const char c : purpose) text.push_back(static_cast<std::byte>(c));
    text.push_back(std::byte{kind});
    text.insert(text.end(), message.begin(), message.end());
    Proof proof{};
    if (host.hmac(host.self, {text.data(), text.size()}, proof.data()) != PLEXUS_OK)
        host.random(host.self, proof.data(), proof.size()); // no key: nothing shall match
    return proof;
}

bool is_signed(const plexus_host& host, std::string_view purpose, std::uint8_t kind,
               std::span<const std::byte> message) {
    if (message.size() < kProofBytes) return false;
    const auto said = message.first(message.size() - kProofBytes);
    const Proof proof = proof_of(host, purpose, kind, said);
    unsigned difference = 0; // in constant time: how far two proofs agree is a secret
    for (std::size_t i = 0; i < proof.size(); ++i)
        difference |= proof[i] ^ std::to_integer<unsigned>(message[said.size() + i]);
    return difference == 0;
}

} // namespace plexus::module
