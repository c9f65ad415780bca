// SPDX-License-Identifier: BSD-3-Clause
#include "tls/engine.h"

#include "tls/reason.h"

#include <algorithm>
#include <cstring>
#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <utility>

namespace plexus::tls {

// What the library reads and writes through, in place of a socket. It calls under the engine's lock.
struct Wire {
    static Engine& of(BIO* bio) { return *static_cast<Engine*>(BIO_get_data(bio)); }

    static int read(BIO* bio, char* to, std::size_t size, std::size_t* done) PLEXUS_NO_THREAD_SAFETY {
        std::span<const std::byte>& in = of(bio).in_;
        BIO_clear_retry_flags(bio);
        *done = std::min(size, in.size());
        if (*done == 0) {
            BIO_set_retry_read(bio);
            return 0;
        }
        std::memcpy(to, in.data(), *done);
        in = in.subspan(*done);
        return 1;
    }

    static int write(BIO* bio, const char* from, std::size_t size,
                     std::size_t* done) PLEXUS_NO_THREAD_SAFETY {
        const Engine& engine = of(bio);
        const auto* const bytes = reinterpret_cast<const std::byte*>(from);
        engine.out_->insert(engine.out_->end(), bytes, bytes + size);
        *done = size;
        return 1;
    }

    static long control(BIO*, int command, long, void*) { return command == BIO_CTRL_FLUSH ? 1 : 0; }

    static BIO_METHOD* method() {
        // For the life of the process: sessions of other threads may end after this file's statics.
        static BIO_METHOD* const made = [] {
            BIO_METHOD* const method =
                BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "plexus blocks");
            if (method == nullptr) return method;
            BIO_meth_set_read_ex(method, read);
            BIO_meth_set_write_ex(method, write);
            BIO_meth_set_ctrl(method, control);
            return method;
        }();
        return made;
    }
};

Engine::Engine(Session session, std::uint64_t update_after)
  : session_(std::move(session))
  , update_after_(update_after)
  , out_(&early_) {
    BIO_METHOD* const method = Wire::method();
    BIO* const bio = method == nullptr ? nullptr : BIO_new(method);
    if (bio == nullptr) { // the session has nowhere to write to, and its handshake says so
        why_ = "there is no memory";
        return;
    }
    BIO_set_data(bio, this);
    BIO_set_init(bio, 1);
    SSL_set_bio(session_.get(), bio, bio);
}

Engine::~Engine() = default;

void Engine::fail() {
    std::string reason = reason_of(session_.get());
    if (why_.empty()) why_ = std::move(reason);
}

std::string Engine::why() const {
    const Lock hold(mutex_);
    return why_;
}

Engine::Step Engine::shake(std::span<const std::byte> in, Block& out) {
    const Lock hold(mutex_);
    if (!why_.empty()) return Step::failed;
    ERR_clear_error();
    in_ = in;
    out_ = &out;
    const int status = SSL_do_handshake(session_.get());
    out_ = &early_;
    if (status == 1) return Step::done;
    if (SSL_get_error(session_.get(), status) == SSL_ERROR_WANT_READ) return Step::going;
    fail();
    return Step::failed;
}

std::optional<std::array<std::byte, 32>> Engine::binding() {
    constexpr std::string_view kLabel = "EXPORTER-plexus-1";
    const Lock hold(mutex_);
    std::array<std::byte, 32> value{};
    ERR_clear_error();
    if (SSL_export_keying_material(session_.get(), reinterpret_cast<unsigned char*>(value.data()),
                                   value.size(), kLabel.data(), kLabel.size(), nullptr, 0, 0) == 1)
        return value;
    fail();
    return std::nullopt;
}

bool Engine::has_name(const std::string& name) const {
    const Lock hold(mutex_);
    const X509* const certificate = SSL_get0_peer_certificate(session_.get());
    const std::string_view looked_for = library_name(name);
    return certificate != nullptr && X509_check_host(const_cast<X509*>(certificate), looked_for.data(),
                                                     looked_for.size(), 0, nullptr) == 1;
}

bool Engine::write(std::span<const std::byte> plain, Block& out) {
    const Lock hold(mutex_);
    if (!why_.empty()) return false;
    ERR_clear_error();
    out.insert(out.end(), early_.begin(), early_.end());
    early_.clear();
    out_ = &out;
    bool is_good = true;
    if (written_ >= update_after_) { // the message goes ahead of the next record
        written_ = 0;
        is_good = SSL_key_update(session_.get(), SSL_KEY_UPDATE_NOT_REQUESTED) == 1;
    }
    std::size_t done = 0;
    is_good = is_good && SSL_write_ex(session_.get(), plain.data(), plain.size(), &done) == 1 &&
              done == plain.size();
    out_ = &early_;
    written_ += plain.size() + kRecordCost; // a key is worn by each record, however small
    if (!is_good) fail();
    return is_good;
}

void Engine::end(Block& out) {
    const Lock hold(mutex_);
    if (!why_.empty() || SSL_is_init_finished(session_.get()) == 0) return;
    ERR_clear_error();
    out.insert(out.end(), early_.begin(), early_.end());
    early_.clear();
    out_ = &out;
    (void)SSL_shutdown(session_.get());
    out_ = &early_;
    ERR_clear_error();
}

void Engine::arrived(std::span<const std::byte> in) {
    const Lock hold(mutex_);
    in_ = in;
}

std::optional<std::size_t> Engine::read(std::span<std::byte> out) {
    const Lock hold(mutex_);
    if (!why_.empty()) return std::nullopt;
    ERR_clear_error();
    std::size_t done = 0;
    const bool is_read = SSL_read_ex(session_.get(), out.data(), out.size(), &done) == 1;
    if (!is_read && SSL_get_error(session_.get(), 0) != SSL_ERROR_WANT_READ) {
        fail();
        return std::nullopt;
    }
    if (early_.size() > kMostEarly) {
        why_ = "the peer asks for new keys again and again";
        return std::nullopt;
    }
    return done;
}

bool Engine::is_read_up() {
    const Lock hold(mutex_);
    return in_.empty() && SSL_has_pending(session_.get()) == 0;
}

} // namespace plexus::tls
