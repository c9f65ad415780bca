// SPDX-License-Identifier: BSD-3-Clause
#include "bootstrap/key.h"

#include "base/log.h"
#include "base/unique_fd.h"

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/rand.h>
#include <sys/stat.h>
#include <vector>

namespace plexus::bootstrap {
namespace {

constexpr std::size_t kShortestKeyFile = 16;
constexpr std::size_t kLongestKeyFile = 1024 * 1024;

int digit_value(char c) noexcept {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    return -1;
}

[[noreturn]] void no_crypto(const char* what) noexcept {
    std::fprintf(stderr, "plexus: %s: no key can be made or checked without it\n", what);
    std::abort();
}

Result<std::vector<unsigned char>> read_all(int fd, const std::string& path) {
    std::vector<unsigned char> bytes(kLongestKeyFile + 1);
    std::size_t filled = 0;
    while (filled < bytes.size()) {
        const ssize_t got = ::read(fd, bytes.data() + filled, bytes.size() - filled);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0)
            return fail(Status::bad_config, "the key file {} cannot be read: {}", path, std::strerror(errno));
        if (got == 0) break;
        filled += static_cast<std::size_t>(got);
    }
    bytes.resize(filled);
    return bytes;
}

} // namespace

Proof prove(const Key& key, std::span<const std::byte> transcript) {
    Proof proof{};
    unsigned size = 0;
    const auto* text = reinterpret_cast<const unsigned char*>(transcript.data());
    if (HMAC(EVP_sha256(), key.bytes.data(), static_cast<int>(key.bytes.size()), text, transcript.size(),
             proof.data(), &size) == nullptr ||
        size != proof.size())
        no_crypto("OpenSSL's HMAC-SHA256 failed");
    return proof;
}

bool same_proof(std::span<const std::byte, 32> a, std::span<const std::byte, 32> b) noexcept {
    return CRYPTO_memcmp(a.data(), b.data(), a.size()) == 0;
}

void fill_random(void* data, std::size_t size) noexcept {
    if (RAND_bytes(static_cast<unsigned char*>(data), static_cast<int>(size)) != 1)
        no_crypto("OpenSSL has no random bytes");
}

Key random_key() {
    Key key;
    fill_random(key.bytes.data(), key.bytes.size());
    return key;
}

Result<Key> key_from_file(const std::string& path) {
    // Not blocking: a pipe by that name must be refused, not waited for.
    const UniqueFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
    if (!file)
        return fail(Status::not_found, "the key file {} cannot be opened: {}", path, std::strerror(errno));
    struct stat about {};
    if (::fstat(file.get(), &about) != 0)
        return fail(Status::bad_config, "the key file {} cannot be examined: {}", path, std::strerror(errno));
    if (!S_ISREG(about.st_mode)) return fail(Status::bad_config, "the key file {} is not a plain file", path);
    if (about.st_uid != ::geteuid() && about.st_uid != 0)
        return fail(Status::bad_config, "the key file {} belongs to another user: make a copy of your own",
                    path);
    if ((about.st_mode & (S_IRWXG | S_IRWXO)) != 0)
        return fail(Status::bad_config, "the key file {} is open to other users: run chmod 600 on it", path);

    auto bytes = read_all(file.get(), path);
    if (!bytes) return bytes.failure();
    if (bytes->size() < kShortestKeyFile)
        return fail(Status::bad_config,
                    "the key file {} holds {} bytes: at least {} are needed, 32 random ones are good", path,
                    bytes->size(), kShortestKeyFile);
    if (bytes->size() > kLongestKeyFile)
        return fail(Status::bad_config, "the key file {} is longer than 1 MiB: is it the right file?", path);
    Key key;
    unsigned size = 0;
    if (EVP_Digest(bytes->data(), bytes->size(), key.bytes.data(), &size, EVP_sha256(), nullptr) != 1)
        no_crypto("OpenSSL's SHA-256 failed");
    OPENSSL_cleanse(bytes->data(), bytes->size());
    return key;
}

Result<Key> key_from_hex(std::string_view digits) {
    Key key;
    if (digits.size() != 2 * key.bytes.size())
        return fail(Status::bad_config, "a key has {} hexadecimal digits, not {}", 2 * key.bytes.size(),
                    digits.size());
    for (std::size_t i = 0; i < key.bytes.size(); ++i) {
        const int high = digit_value(digits[2 * i]);
        const int low = digit_value(digits[2 * i + 1]);
        // The text is a secret: the sentence must not show it.
        if (high < 0 || low < 0)
            return fail(Status::bad_config,
                        "a key is written with 0-9 and a-f only: digit {} is something else",
                        high < 0 ? 2 * i + 1 : 2 * i + 2);
        key.bytes[i] = static_cast<std::uint8_t>(high * 16 + low);
    }
    return key;
}

std::string to_hex(std::span<const std::uint8_t> bytes) {
    constexpr char kDigits[] = "0123456789abcdef";
    std::string text;
    text.reserve(2 * bytes.size());
    for (const std::uint8_t byte : bytes) {
        text += kDigits[byte >> 4];
        text += kDigits[byte & 15];
    }
    return text;
}

} // namespace plexus::bootstrap
