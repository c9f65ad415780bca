// SPDX-License-Identifier: BSD-3-Clause
// What TLS costs beside a bare session over a loopback socket. Run by hand on an idle machine: unit_tls
// '[fast]'.
#include "contexts.h"
#include "support/catch.h"
#include "tls/credentials.h"
#include "tls/engine.h"

#include <algorithm>
#include <arpa/inet.h>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
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

/// Two threads with a TLS session over a loopback connection: the far one answers each message. They wait in
/// the kernel, or ask again and again.
class Bare {
  public:
    explicit Bare(bool asks) {
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
        if (!asks) return;
        for (const int fd : {near_, far_}) ::fcntl(fd, F_SETFL, ::fcntl(fd, F_GETFL) | O_NONBLOCK);
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
            send(session_.get(), head, payload);
            read(session_.get(), back.data(), back.size());
        }
        return std::chrono::duration<double>(Clock::now() - start).count() / count;
    }

  private:
    static void write(SSL* to, const void* bytes, std::size_t size) {
        std::size_t done = 0;
        while (size > 0 && SSL_write_ex(to, bytes, size, &done) != 1)
            if (SSL_get_error(to, 0) != SSL_ERROR_WANT_WRITE) throw std::runtime_error("not written");
    }
    /// A small message in one piece.
    static void send(SSL* to, std::uint64_t head, const Payload& payload) {
        std::array<std::uint8_t, 4096> piece;
        if (payload.size() + sizeof head > piece.size()) {
            write(to, &head, sizeof head);
            return write(to, payload.data(), payload.size());
        }
        std::memcpy(piece.data(), &head, sizeof head);
        std::memcpy(piece.data() + sizeof head, payload.data(), payload.size());
        write(to, piece.data(), sizeof head + payload.size());
    }
    static bool read(SSL* from, void* bytes, std::size_t size) {
        std::size_t at = 0;
        std::size_t done = 0;
        while (at < size) {
            if (SSL_read_ex(from, static_cast<char*>(bytes) + at, size - at, &done) == 1) {
                at += done;
            } else if (SSL_get_error(from, 0) != SSL_ERROR_WANT_READ) {
                return false;
            }
        }
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

/// Medians of rounds in turn: what else runs on the machine disturbs all. Ours divided by the time of the
/// bare session that is faster.
double ratio(const std::string& method, std::size_t size, bool is_echo, int count) {
    Side near(method);
    Side far(method);
    const auto mirror = plexus::GlobalPointer<Mirror>::load(near.context, far.bound.pointer().save());
    Bare waiting(false);
    const Payload payload = payload_of(size);
    std::vector<double> ratios;
    std::vector<double> to_waiting;
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
        const double waited = waiting.round(payload, is_echo, count);
        to_waiting.push_back(ours / waited);
        Bare asking(true); // takes a processor for as long as it is there
        ratios.push_back(ours / std::min(waited, asking.round(payload, is_echo, count)));
    }
    std::sort(ratios.begin(), ratios.end());
    std::sort(to_waiting.begin(), to_waiting.end());
    std::printf("%s, %zu bytes%s: %.2f of a bare session's time, %.2f of one's that waits in the kernel\n",
                method.c_str(), size, is_echo ? " and back" : "", ratios[5], to_waiting[5]);
    return ratios[5];
}

} // namespace

TEST_CASE("small messages take at most 1.2 times as long as in a bare session", "[.][fast]") {
    for (const char* over : {"tls", "tls?over=tcp", "tls?over=shm", "tcp"}) (void)ratio(over, 8, true, 2000);
    CHECK(ratio("tls", 8, true, 5000) <= 1.2);
    CHECK(ratio("tls?over=tcp", 8, true, 5000) <= 1.2);
}

TEST_CASE("large messages have at least 0.9 of a bare session's bandwidth", "[.][fast]") {
    for (const char* method : {"tls", "tls?over=tcp"})
        for (const std::size_t size : {std::size_t{64} << 10, kMiB, 16 * kMiB})
            CHECK(ratio(method, size, false, size < kMiB ? 500 : 40) <= 1 / 0.9);
}

} // namespace measure_test
