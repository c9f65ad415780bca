// SPDX-License-Identifier: BSD-3-Clause
// Seals and opens datagrams: AES-256-GCM by OpenSSL, one key for one direction of one session, the datagram's
// number as nonce. The header travels in the clear and is authenticated. Not thread-safe.
#pragma once

#include "plexus/module/abi.h"
#include "udp/datagram.h"

#include <array>
#include <cstdint>
#include <memory>
#include <openssl/evp.h>
#include <span>

namespace plexus::udp {

using Key = std::array<std::uint8_t, 32>;

class Cipher {
  public:
    enum class Use : std::uint8_t { seal, open };
    Cipher(Use use, const Key& key);

    /// False: OpenSSL has no such cipher, or no memory.
    bool usable() const noexcept { return context_ != nullptr; }

    /// Writes the header, the sealed bytes of `what` and `pieces`, and the tag: `size` bytes, which
    /// are kOverhead and the bytes of the pieces. False: OpenSSL failed.
    bool seal(const Header& header, Content what, std::span<const plexus_view> pieces,
              std::uint8_t* to) noexcept;
    /// The plaintext of a sealed datagram, whose first 16 bytes are `header`, to `to`: its size less the tag.
    /// False: it is forged.
    bool open(const std::uint8_t* header, Bytes rest, std::uint8_t* to) noexcept;

  private:
    struct Free {
        void operator()(EVP_CIPHER_CTX* context) const noexcept { ::EVP_CIPHER_CTX_free(context); }
    };
    std::unique_ptr<EVP_CIPHER_CTX, Free> context_;
};

} // namespace plexus::udp
