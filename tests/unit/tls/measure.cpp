// SPDX-License-Identifier: BSD-3-Clause
// What TLS costs beside a bare session over a loopback socket. Run by hand on an idle machine: unit_tls
// '[fast]'.
#include "contexts.h"
#include "support/catch.h"
#include "tls/credentials.h"
#include "tls/engine.h"

#include <algorithm>
#include <arpa/inet.h>
#include <chrono>
#include <cstdio>
#include <memory>
#include <netinet/tcp.h>
#include <openssl/evp.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <stdexcept>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>

namespace measure_test {

using namespace plexus::testing::tls_contexts;

namespace {

using Clock = std::chrono::steady_clock;
using Ssl = std::unique_ptr<SSL, decltype(&SSL_free)>;
using SslContext = std::unique_ptr<SSL_CTX, decltype(&SSL_CTX_free)>;

/// A certificate signed by itself: what a session costs does not depend on who signs.
void certify(SSL_CTX* context) {
    EVP_PKEY* const key = EVP_PKEY_Q_keygen(nullptr, nullptr, "EC", "P-256");
    X509* const made = X509_new();
    ASN1_INTEGER_set(X509_get_serialNumber(made), 1);
    X509_gmtime_adj(X509_getm_notBefore(made), 0);
    X509_gmtime_adj(X509_getm_notAfter(made), 3600);
    X509_set_pubkey(made, key);
    X509_sign(made, key, EVP_sha256());
    SSL_CTX_use_certificate(context, made);
    SSL_CTX_use_PrivateKey(context, key);
    X509_free(made);
    EVP_PKEY_free(key);
}

/// Two threads with a TLS session over a loopback connection, blocking calls: the far one answers each
/// message.
class Bare {
  public:
    Bare() {
        SSL_CTX_set_ciphersuites(context_.get(), "TLS_AES_128_GCM_SHA256");
        certify(context_.get());
        const int listener = ::socket(AF_INET, SOCK_STREAM, 0);
        sockaddr_in address{};
        address.sin_family = AF_INET;
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        socklen_t size = sizeof address;
        near_ = ::socket(AF_INET, SOCK_STREAM, 0);
        if (::bind(listener, reinterpret_cast<sockaddr*>(&address), size) != 0 ||
            ::listen(listener, 1) != 0 ||
            ::getsockname(listener, reinterpret_cast<sockaddr*>(&address), &size) != 0 ||
            ::connect(near_, reinterpret_cast<sockaddr*>(&address), size) != 0)
            throw std::runtime_error("no loopback connection");
        far_ = ::accept(listener, nullptr, nullptr);
        ::close(listener);
        const int one = 1;
        for (const int fd : {near_, far_}) ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
        thread_ = std::thread([this] { answer(); });
        SSL_set_fd(session_.get(), near_);
        if (SSL_connect(session_.get()) != 1) throw std::runtime_error("no session");
    }
    ~Bare() {
        ::shutdown(near_, SHUT_RDWR);
        thread_.join();
        ::close(near_);
        ::close(far_);
    }
    Bare(const Bare&) = delete;
    Bare& operator=(const Bare&) = delete;

    /// Seconds for a message there and, if `is_echo`, the same back, else one byte.
    double round(const Payload& payload, bool is_echo, int count) {
        const std::uint64_t head = payload.size() << 1 | (is_echo ? 1 : 0);
        Payload back(is_echo ? payload.size() : 1);
        const auto start = Clock::now();
        for (int i = 0; i < count; ++i) {
            write(session_.get(), &head, sizeof head);
            write(session_.get(), payload.data(), payload.size());
            read(session_.get(), back.data(), back.size());
        }
        return std::chrono::duration<double>(Clock::now() - start).count() / count;
    }

  private:
    static void write(SSL* to, const void* bytes, std::size_t size) {
        std::size_t done = 0;
        if (size > 0 && SSL_write_ex(to, bytes, size, &done) != 1) throw std::runtime_error("not written");
    }
    static bool read(SSL* from, void* bytes, std::size_t size) {
        std::size_t at = 0;
        std::size_t done = 0;
        for (; at < size; at += done)
            if (SSL_read_ex(from, static_cast<char*>(bytes) + at, size - at, &done) != 1) return false;
        return true;
    }
    void answer() {
        const Ssl session(SSL_new(context_.get()), SSL_free);
        SSL_set_fd(session.get(), far_);
        if (SSL_accept(session.get()) != 1) return;
        Payload payload;
        for (std::uint64_t head = 0; read(session.get(), &head, sizeof head);) {
            payload.resize(head >> 1);
            if (!read(session.get(), payload.data(), payload.size())) return;
            write(session.get(), payload.data(), (head & 1) != 0 ? payload.size() : 1);
        }
    }

    SslContext context_{SSL_CTX_new(TLS_method()), SSL_CTX_free};
    Ssl session_{SSL_new(context_.get()), SSL_free};
    int near_ = -1;
    int far_ = -1;
    std::thread thread_;
};

/// Medians of rounds in turn: what else runs on the machine disturbs both. Ours divided by the bare
/// session's.
double ratio(const std::string& method, std::size_t size, bool is_echo, int count) {
    Side near(method);
    Side far(method);
    const auto mirror = plexus::GlobalPointer<Mirror>::load(near.context, far.bound.pointer().save());
    Bare bare;
    const Payload payload = payload_of(size);
    std::vector<double> ratios;
    for (int i = 0; i < 11; ++i) {
        const auto start = Clock::now();
        for (int k = 0; k < count; ++k) {
            if (is_echo) {
                (void)mirror.call(echo_request, payload).get();
            } else {
                (void)mirror.call(take_request, payload).get();
            }
        }
        const double ours = std::chrono::duration<double>(Clock::now() - start).count() / count;
        ratios.push_back(ours / bare.round(payload, is_echo, count));
    }
    std::sort(ratios.begin(), ratios.end());
    std::printf("%s, %zu bytes%s: %.2f of a bare session's time\n", method.c_str(), size,
                is_echo ? " and back" : "", ratios[5]);
    return ratios[5];
}

} // namespace

TEST_CASE("small messages take at most 1.2 times as long as in a bare session", "[.][fast]") {
    for (const char* over : {"tls?over=tcp", "tls?over=shm", "tcp"}) (void)ratio(over, 8, true, 2000);
    CHECK(ratio("tls?over=tcp", 8, true, 5000) <= 1.2);
}

TEST_CASE("large messages have at least 0.9 of a bare session's bandwidth", "[.][fast]") {
    for (const std::size_t size : {std::size_t{64} << 10, kMiB, 16 * kMiB})
        CHECK(ratio("tls?over=tcp", size, false, size < kMiB ? 500 : 40) <= 1 / 0.9);
}

} // namespace measure_test
