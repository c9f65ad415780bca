// SPDX-License-Identifier: BSD-3-Clause
#include "tls/options.h"

#include "common/values.h"
#include "over/module.h"

namespace plexus::tls {

std::optional<Options> read_options(const plexus_host& host) {
    constexpr std::uint64_t kLeastUpdate = 64 * 1024;
    // The library's limit for AES-GCM is 2^24.5 records (RFC 8446, section 5.5).
    constexpr std::uint64_t kMostUpdate = std::uint64_t{256} << 30;
    module::Parameters given(host);
    Options options;
    options.over = over::inner_method(host, "tls");
    options.ca = given.text("ca");
    options.certificate = given.text("certificate");
    options.key = given.text("key");
    options.crl = given.text("crl");
    options.names = given.list("names");
    options.update_after = given.size("update_after", kLeastUpdate, kMostUpdate);
    options.handshake_timeout = given.duration("handshake_timeout");
    options.linger = given.duration("linger");
    const bool has_ca = options.has_certificates();
    if (options.certificate.empty() == has_ca)
        given.refuse("certificate", has_ca ? "a file, as ca is given" : "empty, as no ca is given");
    if (options.key.empty() == has_ca)
        given.refuse("key", has_ca ? "a file, as ca is given" : "empty, as no ca is given");
    if (!has_ca && !options.crl.empty()) given.refuse("crl", "empty, as no ca is given");
    if (!has_ca && !options.names.empty()) given.refuse("names", "empty, as no ca is given");
    if (given.failed() || options.over.empty()) return std::nullopt;
    return options;
}

} // namespace plexus::tls
