// SPDX-License-Identifier: BSD-3-Clause
// What the module's parameters say: read once, then only read.
#pragma once

#include "stream_link/options.h"

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace plexus::tls {

/// Who shows a certificate of this name may say this of itself.
struct Grant {
    std::string certificate; ///< a name, or "*.example" for any below
    std::string claim;
};

/// The name as the library writes it: ".example" is any name below.
constexpr std::string_view library_name(std::string_view name) noexcept {
    return name.substr(name.starts_with("*.") ? 1 : 0);
}

struct Options {
    std::string over;               ///< the inner method; empty: none, TCP connections of its own
    std::string ca;                 ///< file: certificates of the authorities that are trusted; PEM
    std::string certificate;        ///< file: ours, and those between it and the authority; PEM
    std::string key;                ///< file: the certificate's private key; PEM, without a passphrase
    std::string crl;                ///< file: revocation lists of the authorities; PEM; empty: none
    std::vector<std::string> names; ///< a peer's certificate has one of them; empty: any
    std::vector<Grant> sites;       ///< at which site a peer may say it is; empty: at any
    std::vector<Grant> contexts;    ///< how a peer may be called; empty: anyhow
    std::uint64_t update_after = 0; ///< bytes of records that a link sends under one key
    std::chrono::nanoseconds handshake_timeout{};
    std::chrono::nanoseconds
        linger{}; ///< that a link which was given up may take to send what it had accepted

    stream_link::Options socket; ///< without an inner method

    /// Certificates say who may join; otherwise the job's key does.
    bool has_certificates() const noexcept { return !ca.empty(); }
};

/// Nothing, and the reason in the log, if a parameter is bad.
std::optional<Options> read_options(const plexus_host& host);

} // namespace plexus::tls
