// SPDX-License-Identifier: BSD-3-Clause
#include "base/crypto.h"

#include "base/fork.h"
#include "base/mutex.h"

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <sys/random.h>

namespace plexus::crypto {
namespace {

RankedMutex<70> openssl;
const HeldAcrossFork kOpensslAcrossFork{openssl};

constexpr std::uint64_t kScryptMemory = 64 * 1024 * 1024;

[[noreturn]] void no_crypto(const char* what) noexcept {
    std::fprintf(stderr, "plexus: %s: no key can be made or checked without it\n", what);
    std::abort();
}

} // namespace

void fill_random(void* data, std::size_t size) noexcept {
    auto* const bytes = static_cast<std::byte*>(data);
    for (std::size_t filled = 0; filled < size;) {
        const ssize_t got = ::getrandom(bytes + filled, size - filled, 0);
        if (got < 0 && errno != EINTR) no_crypto("the kernel has no random bytes");
        if (got > 0) filled += static_cast<std::size_t>(got);
    }
}

Digest sha256(std::span<const std::uint8_t> data) noexcept {
    Digest digest{};
    unsigned size = 0;
    Lock hold(openssl);
    if (EVP_Digest(data.data(), data.size(), digest.data(), &size, EVP_sha256(), nullptr) != 1)
        no_crypto("OpenSSL's SHA-256 failed");
    return digest;
}

Digest hmac_sha256(std::span<const std::uint8_t> key, std::span<const std::byte> text) noexcept {
    Digest digest{};
    unsigned size = 0;
    Lock hold(openssl);
    if (HMAC(EVP_sha256(), key.data(), static_cast<int>(key.size()),
             reinterpret_cast<const unsigned char*>(text.data()), text.size(), digest.data(),
             &size) == nullptr ||
        size != digest.size())
        no_crypto("OpenSSL's HMAC-SHA256 failed");
    return digest;
}

Digest scrypt(std::span<const std::uint8_t> secret, std::span<const std::uint8_t> salt, std::uint64_t cost,
              std::uint64_t block) noexcept {
    Digest digest{};
    Lock hold(openssl);
    if (EVP_PBE_scrypt(reinterpret_cast<const char*>(secret.data()), secret.size(), salt.data(), salt.size(),
                       cost, block, 1, kScryptMemory, digest.data(), digest.size()) != 1)
        no_crypto("OpenSSL's scrypt failed");
    return digest;
}

} // namespace plexus::crypto
