// SPDX-License-Identifier: BSD-3-Clause
#include "udp/sealing.h"

#include <algorithm>

namespace plexus::udp {
namespace {

constexpr std::size_t kNonceBytes = 12;
using Nonce = std::array<std::uint8_t, kNonceBytes>;

// The last eight bytes of the header are the number; the key is the session's alone.
Nonce nonce_of(const std::uint8_t* header) noexcept {
    Nonce nonce{};
    std::copy(header + 8, header + Header::kBytes, nonce.begin() + 4);
    return nonce;
}

} // namespace

Cipher::Cipher(Use use, const Key& key)
  : context_(::EVP_CIPHER_CTX_new()) {
    const int seals = use == Use::seal ? 1 : 0;
    if (context_ != nullptr &&
        ::EVP_CipherInit_ex(context_.get(), ::EVP_aes_256_gcm(), nullptr, key.data(), nullptr, seals) != 1)
        context_.reset();
}

bool Cipher::seal(const Header& header, Content what, std::span<const plexus_view> pieces,
                  std::uint8_t* to) noexcept {
    encode(header, to);
    const Nonce nonce = nonce_of(to);
    EVP_CIPHER_CTX* const context = context_.get();
    int size = 0;
    if (::EVP_EncryptInit_ex(context, nullptr, nullptr, nullptr, nonce.data()) != 1 ||
        ::EVP_EncryptUpdate(context, nullptr, &size, to, static_cast<int>(Header::kBytes)) != 1)
        return false;
    std::uint8_t* at = to + Header::kBytes;
    const auto add = [&](const plexus_view& plain) {
        if (plain.size == 0) return true;
        const bool done =
            ::EVP_EncryptUpdate(context, at, &size, static_cast<const std::uint8_t*>(plain.data),
                                static_cast<int>(plain.size)) == 1;
        at += size;
        return done;
    };
    const auto first = static_cast<std::uint8_t>(what);
    if (!add({&first, 1}) || !std::all_of(pieces.begin(), pieces.end(), add)) return false;
    return ::EVP_EncryptFinal_ex(context, at, &size) == 1 &&
           ::EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_GET_TAG, static_cast<int>(kTagBytes), at) == 1;
}

bool Cipher::open(const std::uint8_t* header, Bytes rest, std::uint8_t* to) noexcept {
    const Nonce nonce = nonce_of(header);
    EVP_CIPHER_CTX* const context = context_.get();
    const Bytes sealed = rest.first(rest.size() - kTagBytes);
    std::array<std::uint8_t, kTagBytes> tag;
    std::copy(rest.end() - kTagBytes, rest.end(), tag.begin());
    int size = 0;
    return ::EVP_DecryptInit_ex(context, nullptr, nullptr, nullptr, nonce.data()) == 1 &&
           ::EVP_DecryptUpdate(context, nullptr, &size, header, static_cast<int>(Header::kBytes)) == 1 &&
           ::EVP_DecryptUpdate(context, to, &size, sealed.data(), static_cast<int>(sealed.size())) == 1 &&
           ::EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_SET_TAG, static_cast<int>(kTagBytes), tag.data()) ==
               1 &&
           ::EVP_DecryptFinal_ex(context, to + size, &size) == 1;
}

} // namespace plexus::udp
