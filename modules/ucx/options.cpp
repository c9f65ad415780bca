// SPDX-License-Identifier: BSD-3-Clause
#include "ucx/options.h"

#include "common/values.h"
#include "ucx/names.h"

#include <algorithm>
#include <cctype>

namespace plexus::ucx {
namespace {

constexpr std::uint64_t kLeastEager = 64;
constexpr std::uint64_t kMostEager = 256 * 1024;
constexpr std::uint16_t kWindow = 512; // at most so many small messages wait behind a large one
// Over shared memory all senders share the receiver's queue of kHostQueue slots. A sender that has none
// finds one only if the others leave one: so a link may fill a part of the queue alone.
constexpr std::uint16_t kHostWindow = 64;
static_assert(kHostWindow * 2 < kHostQueue);

std::string_view trimmed(std::string_view text) {
    const auto is_space = [](char c) { return c == ' ' || c == '\t'; };
    while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
    while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
    return text;
}

bool is_name(std::string_view text) {
    return !text.empty() && std::all_of(text.begin(), text.end(), [](unsigned char c) {
        return std::isupper(c) != 0 || std::isdigit(c) != 0 || c == '_';
    });
}

} // namespace

std::optional<Variables> parse_variables(std::string_view text) {
    constexpr std::string_view kPrefix = "UCX_";
    Variables out;
    while (!text.empty()) {
        const std::size_t end = std::min(text.find(';'), text.size());
        const std::string_view piece = trimmed(text.substr(0, end));
        text.remove_prefix(std::min(end + 1, text.size()));
        if (piece.empty()) continue;
        const std::size_t equals = piece.find('=');
        if (equals == std::string_view::npos) return std::nullopt;
        std::string_view name = trimmed(piece.substr(0, equals));
        if (name.substr(0, kPrefix.size()) == kPrefix) name.remove_prefix(kPrefix.size());
        if (!is_name(name)) return std::nullopt;
        out.emplace_back(name, trimmed(piece.substr(equals + 1)));
    }
    return out;
}

std::optional<Options> read_options(const plexus_host& host) {
    module::Parameters given(host);
    Options out;
    out.tls = given.list("tls");
    out.net_devices = given.list("net_devices");
    if (auto variables = parse_variables(given.text("env"))) {
        out.env = std::move(*variables);
    } else {
        given.refuse("env", "a list of UCX variables such as \"UCX_RNDV_THRESH=64k; UCX_MAX_RNDV_RAILS=1\"");
    }
    out.links.connect_timeout = given.duration("connect_timeout");
    out.links.handshake_timeout = given.duration("handshake_timeout");
    out.links.linger = given.duration("linger");
    out.links.window = out.on_host_only() ? kHostWindow : kWindow;
    out.eager = given.size("eager", kLeastEager, kMostEager);
    out.remote = given.size("remote", 0, std::uint64_t{1} << 40);
    out.queue = given.size("queue", 0, std::uint64_t{1} << 40);
    if (given.failed()) return std::nullopt;
    return out;
}

bool Options::on_host_only() const {
    return !tls.empty() &&
           std::all_of(tls.begin(), tls.end(), [](const std::string& each) { return stays_on_host(each); });
}

std::string joined(const std::vector<std::string>& words) {
    std::string out;
    for (const std::string& word : words) out += (out.empty() ? "" : ",") + word;
    return out;
}

} // namespace plexus::ucx
