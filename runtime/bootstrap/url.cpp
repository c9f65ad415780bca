// SPDX-License-Identifier: BSD-3-Clause
#include "bootstrap/url.h"

#include "base/log.h"

#include <charconv>
#include <cstring>
#include <memory>
#include <netdb.h>

namespace plexus::bootstrap {
namespace {

constexpr std::string_view kScheme = "plexus://";

Failure bad(std::string_view text, std::string_view why) {
    return fail(Status::bad_argument,
                "\"{}\" {}: write plexus://host:port, for instance plexus://127.0.0.1:7117", text, why);
}

bool good_host_character(char c, bool brackets) noexcept {
    const bool common = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                        c == '.' || c == '-' || c == '_';
    return common || (brackets && (c == ':' || c == '%'));
}

} // namespace

Result<Url> parse_url(std::string_view text) {
    if (!text.starts_with(kScheme)) return bad(text, "does not begin with plexus://");
    std::string_view rest = text.substr(kScheme.size());
    if (rest.ends_with('/')) rest.remove_suffix(1);

    Url url;
    const bool brackets = rest.starts_with('[');
    if (brackets) {
        const std::size_t close = rest.find(']');
        if (close == std::string_view::npos) return bad(text, "has a [ without a ]");
        url.host = rest.substr(1, close - 1);
        rest = rest.substr(close + 1);
    } else {
        const std::size_t colon = rest.find(':');
        url.host = rest.substr(0, colon);
        rest = colon == std::string_view::npos ? std::string_view{} : rest.substr(colon);
        if (rest.find(':', 1) != std::string_view::npos)
            return bad(text, "has several colons (an IPv6 address goes in brackets, [::1])");
    }
    if (url.host.empty()) return bad(text, "names no host");
    if (url.host.size() > 255) return bad(text, "has a host name of more than 255 characters");
    if (brackets && url.host.find(':') == std::string::npos)
        return bad(text, "has brackets around what is no IPv6 address");
    for (const char c : url.host)
        if (!good_host_character(c, brackets)) return bad(text, "has a host name with strange characters");
    if (!rest.starts_with(':')) return bad(text, "names no port");
    rest.remove_prefix(1);
    const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), url.port);
    if (rest.empty() || error != std::errc{} || end != rest.data() + rest.size())
        return bad(text, "has a port that is not a number from 0 to 65535");
    return url;
}

std::string to_string(const Url& url) {
    const bool v6 = url.host.find(':') != std::string::npos;
    return fmt::format("{}{}{}{}:{}", kScheme, v6 ? "[" : "", url.host, v6 ? "]" : "", url.port);
}

Result<std::vector<asio::ip::tcp::endpoint>> resolve(const Url& url) {
    addrinfo hints{};
    hints.ai_family = AF_UNSPEC;
    hints.ai_socktype = SOCK_STREAM;
    hints.ai_flags = AI_NUMERICSERV;
    addrinfo* list = nullptr;
    const int error = ::getaddrinfo(url.host.c_str(), std::to_string(url.port).c_str(), &hints, &list);
    if (error != 0)
        return fail(Status::not_found, "the host of {} cannot be found: {}", to_string(url),
                    error == EAI_SYSTEM ? std::strerror(errno) : ::gai_strerror(error));
    const std::unique_ptr<addrinfo, void (*)(addrinfo*)> owner(list, ::freeaddrinfo);
    std::vector<asio::ip::tcp::endpoint> found;
    for (const addrinfo* one = list; one != nullptr; one = one->ai_next) {
        if (one->ai_family != AF_INET && one->ai_family != AF_INET6) continue;
        asio::ip::tcp::endpoint endpoint;
        if (one->ai_addrlen > endpoint.capacity()) continue;
        std::memcpy(endpoint.data(), one->ai_addr, one->ai_addrlen);
        endpoint.resize(one->ai_addrlen);
        found.push_back(endpoint);
    }
    if (found.empty())
        return fail(Status::not_found, "the host of {} has no IPv4 or IPv6 address", to_string(url));
    return found;
}

std::string interfaces_of(std::string_view text) {
    const auto url = parse_url(text);
    if (!url) return {};
    const auto endpoints = resolve(*url);
    if (!endpoints) return {};
    std::string where;
    for (const asio::ip::tcp::endpoint& endpoint : *endpoints) {
        const asio::ip::address address = endpoint.address();
        if (address.is_unspecified()) return "all";
        if (!address.is_loopback()) where += fmt::format(", {}", address.to_string());
    }
    return where.empty() ? where : "loopback" + where;
}

} // namespace plexus::bootstrap
