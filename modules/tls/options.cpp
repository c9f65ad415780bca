// SPDX-License-Identifier: BSD-3-Clause
#include "tls/options.h"

#include "common/values.h"
#include "over/module.h"
#include "tls/records.h"

#include <algorithm>
#include <arpa/inet.h>
#include <string_view>

namespace plexus::tls {
namespace {

// What a certificate may have as a name. The library takes an address for another kind of condition, which
// holds beside the names and only once.
bool is_name(std::string_view name) {
    if (name.starts_with("*.")) name.remove_prefix(2);
    constexpr std::string_view kLetters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.";
    constexpr std::size_t kMost = 253;
    in6_addr address{};
    return !name.empty() && name.size() <= kMost && name.front() != '.' &&
           name.find_first_not_of(kLetters) == std::string_view::npos &&
           ::inet_pton(AF_INET, std::string(name).c_str(), &address) != 1;
}

std::vector<Grant> read_grants(module::Parameters& given, const char* key, const char* wanted) {
    std::vector<Grant> grants;
    for (const std::string& item : given.list(key)) {
        const std::size_t sign = std::min(item.find('='), item.size());
        grants.push_back({item.substr(0, sign), item.substr(std::min(sign + 1, item.size()))});
        if (!is_name(grants.back().certificate) || grants.back().claim.empty()) given.refuse(key, wanted);
    }
    return grants;
}

} // namespace

std::optional<Options> read_options(const plexus_host& host) {
    constexpr std::uint64_t kLeastUpdate = 64 * 1024;
    // The library's limit for AES-GCM is 2^24.5 records (RFC 8446, section 5.5).
    constexpr std::uint64_t kMostUpdate = std::uint64_t{256} << 30;
    // A block of large messages holds a record, whichever limit the peers agree on.
    constexpr std::uint64_t kLeastMost = 64 * 1024;
    constexpr std::uint64_t kKeyUpdate = 64; // may go ahead of a record
    constexpr std::uint64_t kQueue = 256 * 1024;
    module::Parameters given(host);
    Options options;
    const bool has_socket = given.text("over").empty();
    if (has_socket) {
        stream_link::read_socket_options(given, options.socket);
        const std::uint64_t most = options.socket.max_message;
        if (most != 0 && most < kLeastMost) given.refuse("max_message", "0 or a size of at least 64 KiB");
        options.socket.framing = stream_link::Framing::none;
        options.socket.eager = kMostRecord + kKeyUpdate;
        options.socket.queue = kQueue;
    } else {
        options.over = over::inner_method(host, "tls");
    }
    options.ca = given.text("ca");
    options.certificate = given.text("certificate");
    options.key = given.text("key");
    options.crl = given.text("crl");
    options.names = given.list("names");
    options.sites = read_grants(given, "sites", "names of certificates, each with = and a site behind it");
    options.contexts =
        read_grants(given, "contexts", "names of certificates, each with = and a context's name behind it");
    options.update_after = given.size("update_after", kLeastUpdate, kMostUpdate);
    options.handshake_timeout = given.duration("handshake_timeout");
    options.linger = given.duration("linger");
    for (const std::string& name : options.names)
        if (!is_name(name)) given.refuse("names", "names of hosts, or *. and the end of names");
    const bool has_ca = options.has_certificates();
    if (options.certificate.empty() == has_ca)
        given.refuse("certificate", has_ca ? "a file, as ca is given" : "empty, as no ca is given");
    if (options.key.empty() == has_ca)
        given.refuse("key", has_ca ? "a file, as ca is given" : "empty, as no ca is given");
    if (!has_ca && !options.crl.empty()) given.refuse("crl", "empty, as no ca is given");
    if (!has_ca && !options.names.empty()) given.refuse("names", "empty, as no ca is given");
    if (!has_ca && !options.sites.empty()) given.refuse("sites", "empty, as no ca is given");
    if (!has_ca && !options.contexts.empty()) given.refuse("contexts", "empty, as no ca is given");
    if (given.failed() || (options.over.empty() && !has_socket)) return std::nullopt;
    return options;
}

} // namespace plexus::tls
