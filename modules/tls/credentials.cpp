// SPDX-License-Identifier: BSD-3-Clause
#include "tls/credentials.h"

#include "common/proof.h"
#include "tls/reason.h"

#include <cstring>
#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509_vfy.h>
#include <sys/stat.h>
#include <utility>

namespace plexus::tls {
namespace {

constexpr std::string_view kIdentity = "plexus job";
constexpr std::string_view kKeyPurpose = "plexus tls 1 pre-shared key";
/// Those of SHA-256 first: the job's key goes with them only.
constexpr const char* kCiphers = "TLS_AES_128_GCM_SHA256:TLS_CHACHA20_POLY1305_SHA256:TLS_AES_256_GCM_SHA384";
constexpr unsigned char kCipherOfKey[] = {0x13, 0x01}; // TLS_AES_128_GCM_SHA256
/// The library wants one where certificates are asked for, also without sessions to resume.
constexpr unsigned char kSessions[] = {'p', 'l', 'e', 'x', 'u', 's'};
/// How often the files are looked at.
constexpr std::chrono::seconds kLookEvery{1};

// Memory of the library is left to the end of the process: other parts of the program may use the library.
void begin_library() {
    static const int begun = OPENSSL_init_ssl(OPENSSL_INIT_NO_ATEXIT | OPENSSL_INIT_NO_LOAD_CONFIG, nullptr);
    static_cast<void>(begun);
}

SSL_SESSION* session_of_key(SSL* ssl) {
    const void* const kept = SSL_CTX_get_app_data(SSL_get_SSL_CTX(ssl));
    const auto* const secret = static_cast<const Credentials::JobSecret*>(kept);
    const SSL_CIPHER* const cipher = SSL_CIPHER_find(ssl, kCipherOfKey);
    SSL_SESSION* const session = SSL_SESSION_new();
    if (session == nullptr) return nullptr;
    if (cipher != nullptr && SSL_SESSION_set1_master_key(session, secret->data(), secret->size()) == 1 &&
        SSL_SESSION_set_cipher(session, cipher) == 1 &&
        SSL_SESSION_set_protocol_version(session, TLS1_3_VERSION) == 1 &&
        SSL_SESSION_set1_id_context(session, kSessions, sizeof kSessions) == 1)
        return session;
    SSL_SESSION_free(session);
    return nullptr;
}

int offer_key(SSL* ssl, const EVP_MD* digest, const unsigned char** identity, std::size_t* size,
              SSL_SESSION** session) {
    *session = nullptr;
    if (digest != nullptr && EVP_MD_get_type(digest) != NID_sha256) return 1; // a retry with another hash
    *session = session_of_key(ssl);
    if (*session == nullptr) return 0;
    *identity = reinterpret_cast<const unsigned char*>(kIdentity.data());
    *size = kIdentity.size();
    return 1;
}

int find_key(SSL* ssl, const unsigned char* identity, std::size_t size, SSL_SESSION** session) {
    *session = nullptr;
    if (size != kIdentity.size() || std::memcmp(identity, kIdentity.data(), size) != 0) return 1;
    *session = session_of_key(ssl);
    return *session != nullptr ? 1 : 0;
}

/// A key with a passphrase is an error, not a question on the terminal.
int no_passphrase(char*, int, int, void*) { return 0; }

std::string about(const char* what, const std::string& file) {
    return std::string(what) + " of " + file + " can't be used: " + last_error();
}

} // namespace

void FreeSession::operator()(SSL* ssl) const noexcept { SSL_free(ssl); }

void Credentials::FreeContext::operator()(SSL_CTX* context) const noexcept { SSL_CTX_free(context); }

Credentials::Credentials(const plexus_host& host, const Options& options)
  : host_(host)
  , options_(options) {}

Credentials::~Credentials() = default;

std::string Credentials::load() {
    begin_library();
    secret_ = JobSecret(module::proof_of(host_, kKeyPurpose, 0, {}));
    const Lock hold(mutex_);
    std::string why;
    stamps_ = stamps();
    looked_at_ = Clock::now();
    context_ = make_context(why);
    return why;
}

Session Credentials::make_session(bool is_client) {
    const Lock hold(mutex_);
    refresh();
    Session session(SSL_new(context_.get()));
    if (session == nullptr) return nullptr;
    for (std::size_t i = 0; i < options_.names.size(); ++i) {
        const char* const name = library_name(options_.names[i]).data(); // to the end of the text
        if ((i == 0 ? SSL_set1_host(session.get(), name) : SSL_add1_host(session.get(), name)) != 1)
            return nullptr;
    }
    if (is_client) {
        SSL_set_connect_state(session.get());
    } else {
        SSL_set_accept_state(session.get());
    }
    return session;
}

void Credentials::refresh() {
    const Clock::time_point now = Clock::now();
    if (now - looked_at_ < kLookEvery) return;
    looked_at_ = now;
    std::vector<Stamp> found = stamps();
    if (found == stamps_) return;
    std::string why;
    LibraryContext made = make_context(why);
    if (made != nullptr) {
        stamps_ = std::move(found);
        context_ = std::move(made); // sessions hold a reference to the one that made them
        host_.log(host_.self, PLEXUS_INFO, "certificates have changed: new links use the new ones");
        return;
    }
    if (found == std::exchange(refused_, found)) return;
    host_.log(host_.self, PLEXUS_WARN,
              ("certificates have changed, but " + why + "; those from before count until it can").c_str());
}

std::vector<const std::string*> Credentials::files() const {
    std::vector<const std::string*> named;
    for (const std::string* file : {&options_.ca, &options_.certificate, &options_.key, &options_.crl})
        if (!file->empty()) named.push_back(file);
    return named;
}

std::vector<Credentials::Stamp> Credentials::stamps() const {
    std::vector<Stamp> found;
    for (const std::string* file : files()) {
        struct stat seen {};
        if (::stat(file->c_str(), &seen) != 0) seen = {};
        found.push_back({seen.st_ino, static_cast<std::uint64_t>(seen.st_size),
                         std::int64_t{seen.st_mtim.tv_sec} * 1'000'000'000 + seen.st_mtim.tv_nsec});
    }
    return found;
}

Credentials::LibraryContext Credentials::make_context(std::string& why) const {
    ERR_clear_error();
    LibraryContext made(SSL_CTX_new(TLS_method()));
    SSL_CTX* const context = made.get();
    if (context == nullptr || SSL_CTX_set_min_proto_version(context, TLS1_3_VERSION) != 1 ||
        SSL_CTX_set_max_proto_version(context, TLS1_3_VERSION) != 1 ||
        SSL_CTX_set_ciphersuites(context, kCiphers) != 1 || SSL_CTX_set_num_tickets(context, 0) != 1 ||
        SSL_CTX_set_session_id_context(context, kSessions, sizeof kSessions) != 1) {
        why = "OpenSSL refuses to begin: " + last_error();
        return nullptr;
    }
    SSL_CTX_set_options(context, SSL_OP_NO_TICKET | SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION);
    SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
    SSL_CTX_set_mode(context, SSL_MODE_RELEASE_BUFFERS);
    SSL_CTX_set_default_passwd_cb(context, no_passphrase);
    // Without an authority no certificate is good: what remains is the job's key.
    SSL_CTX_set_verify(context, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, nullptr);
    if (options_.has_certificates()) {
        why = use_files(context);
        if (!why.empty()) made = nullptr;
        return made;
    }
    SSL_CTX_set_app_data(context, const_cast<JobSecret*>(&secret_)); // the library has no pointer to const
    SSL_CTX_set_psk_use_session_callback(context, offer_key);
    SSL_CTX_set_psk_find_session_callback(context, find_key);
    return made;
}

std::string Credentials::use_files(SSL_CTX* context) const {
    if (SSL_CTX_load_verify_file(context, options_.ca.c_str()) != 1)
        return about("the authorities' certificates", options_.ca);
    if (SSL_CTX_use_certificate_chain_file(context, options_.certificate.c_str()) != 1)
        return about("the certificate", options_.certificate);
    if (SSL_CTX_use_PrivateKey_file(context, options_.key.c_str(), SSL_FILETYPE_PEM) != 1)
        return about("the private key", options_.key);
    X509_STORE* const store = SSL_CTX_get_cert_store(context);
    if (!options_.crl.empty()) {
        X509_LOOKUP* const lookup = X509_STORE_add_lookup(store, X509_LOOKUP_file());
        if (lookup == nullptr || X509_load_crl_file(lookup, options_.crl.c_str(), X509_FILETYPE_PEM) < 1)
            return about("the revocation list", options_.crl);
        // For the authorities between a peer and the first one as well.
        X509_STORE_set_flags(store, X509_V_FLAG_CRL_CHECK | X509_V_FLAG_CRL_CHECK_ALL);
    }
    return {};
}

} // namespace plexus::tls
