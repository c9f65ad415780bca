// SPDX-License-Identifier: BSD-3-Clause
#include "bootstrap/key.h"

#include "base/crypto.h"
#include "base/log.h"
#include "base/unique_fd.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <openssl/crypto.h>
#include <sys/stat.h>
#include <vector>

namespace plexus::bootstrap {
namespace {

constexpr std::size_t kShortestKeyFile = 16;
constexpr std::size_t kStrongKeyFile = 32;
constexpr std::size_t kLongestKeyFile = 1024 * 1024;

int digit_value(char c) noexcept {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    return -1;
}

// The cost of testing one guess of the key: 16 MiB of memory and some ten milliseconds. All jobs use one
// salt, because the members have nothing but the file in common.
constexpr std::string_view kStretchSalt = "plexus key file";
constexpr std::uint64_t kStretchCost = 1 << 14;
constexpr std::uint64_t kStretchBlock = 8;

Key stretched(const std::vector<unsigned char>& bytes) {
    return {Secret<32>(crypto::scrypt(
        bytes, {reinterpret_cast<const unsigned char*>(kStretchSalt.data()), kStretchSalt.size()},
        kStretchCost, kStretchBlock))};
}

Result<std::vector<unsigned char>> read_all(int fd, std::size_t size, const std::string& path) {
    std::vector<unsigned char> bytes(std::min(size, kLongestKeyFile) + 1); // never moved: a secret
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
    return crypto::hmac_sha256(key.bytes, transcript);
}

bool same_proof(std::span<const std::byte, 32> a, std::span<const std::byte, 32> b) noexcept {
    return CRYPTO_memcmp(a.data(), b.data(), a.size()) == 0;
}

Key random_key() {
    Key key;
    crypto::fill_random(key.bytes.data(), key.bytes.size());
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

    auto bytes = read_all(file.get(), static_cast<std::size_t>(about.st_size), path);
    if (!bytes) return bytes.failure();
    if (bytes->size() < kShortestKeyFile)
        return fail(Status::bad_config,
                    "the key file {} holds {} bytes: at least {} are needed, and 32 random ones are good: "
                    "openssl rand -base64 32 > {}",
                    path, bytes->size(), kShortestKeyFile, path);
    if (bytes->size() > kLongestKeyFile)
        return fail(Status::bad_config, "the key file {} is longer than 1 MiB: is it the right file?", path);
    const bool is_strong = bytes->size() >= kStrongKeyFile;
    if (!is_strong)
        log::warn(
            "bootstrap",
            "the key file {} holds {} bytes only, which may be guessed: make a good one with `openssl rand "
            "-base64 32 > {}`, for all who share it",
            path, bytes->size(), path);
    const Key key = is_strong ? Key{Secret<32>(crypto::sha256(*bytes))} : stretched(*bytes);
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
