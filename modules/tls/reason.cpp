// SPDX-License-Identifier: BSD-3-Clause
#include "tls/reason.h"

#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509_vfy.h>
#include <string_view>

namespace plexus::tls {
namespace {

std::string text_of(unsigned long code) {
    const char* const text = ERR_reason_error_string(code);
    return text != nullptr ? text : "the library gives no reason";
}

// "tlsv1 alert unknown ca", "sslv3 alert certificate revoked", "tlsv13 alert certificate required"
std::string alert_in(const std::string& text) {
    constexpr std::string_view kAlert = " alert ";
    const std::size_t at = text.find(kAlert);
    return at == std::string::npos ? std::string() : text.substr(at + kAlert.size());
}

} // namespace

std::string last_error() {
    const unsigned long code = ERR_peek_last_error();
    std::string text = code == 0 ? "no reason is known" : text_of(code);
    ERR_clear_error();
    return text;
}

std::string reason_of(const SSL* ssl) {
    const unsigned long code = ERR_peek_error(); // the first one is the cause
    ERR_clear_error();
    const bool is_about_certificate = ERR_GET_REASON(code) == SSL_R_CERTIFICATE_VERIFY_FAILED;
    if (const long verified = SSL_get_verify_result(ssl); is_about_certificate && verified != X509_V_OK) {
        if (verified == X509_V_ERR_HOSTNAME_MISMATCH)
            return "the peer's certificate has none of the names allowed";
        return std::string("the peer's certificate is refused: ") + X509_verify_cert_error_string(verified);
    }
    if (code == 0) return "the peer ended the session";
    const std::string text = text_of(code);
    if (const std::string alert = alert_in(text); !alert.empty()) return "the peer refused: " + alert;
    switch (ERR_GET_REASON(code)) {
    case SSL_R_NO_SUITABLE_SIGNATURE_ALGORITHM:
        return "the peer wants no certificate, or another job's key";
    case SSL_R_PEER_DID_NOT_RETURN_A_CERTIFICATE:
        return "the peer has no certificate";
    case SSL_R_UNSUPPORTED_PROTOCOL:
        return "the peer speaks no TLS 1.3";
    default:
        return text;
    }
}

} // namespace plexus::tls
