// SPDX-License-Identifier: BSD-3-Clause
// What a user asked for: the options of a measurement between two contexts, and how the command lines of all
// verbs that measure are read. Plain data; both contexts have the same.
#pragma once

#include <charconv>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace plexus::tools::benchmark {

/// `survey`: latency and, for large messages, bandwidth, in little time. `plexus info --measure` runs a
/// survey for each method; the help of `plexus bench` does not list it.
enum class Kind : std::uint8_t { latency, bandwidth, rate, put, get, dual, idle, survey };

/// nullopt: auto.
using SkipPoll = std::optional<std::uint32_t>;

struct PairOptions {
    Kind kind = Kind::latency;
    std::string methods;              ///< a method list; empty: what the configuration says
    std::vector<std::uint64_t> sizes; ///< bytes
    std::uint64_t iterations = 0;     ///< of one round; 0: as many as take about round_seconds()
    std::uint32_t threads = 1;        ///< of the initiator that send
    std::uint32_t buffers = 1;        ///< of a message's size, which are sent from in turn
    std::vector<SkipPoll> skip_polls; ///< dual: of the slow method
    bool json = false;
    bool pin = true;
    bool one_process = false; ///< both are contexts of one process
    std::vector<int> cores;   ///< of this process; empty: wherever the system puts it

    bool in_haste() const noexcept { return kind == Kind::survey; }
    double round_seconds() const noexcept { return in_haste() ? 0.01 : 0.05; }
};

constexpr const char* name_of(Kind kind) {
    constexpr const char* kNames[] = {"latency", "bandwidth", "rate", "put", "get", "dual", "idle", "survey"};
    return kNames[static_cast<std::size_t>(kind)];
}

/// The name in an entry of a method list: "tcp" of "tcp?sndbuf=4MiB".
inline std::string name_in(const std::string& entry) { return entry.substr(0, entry.find('?')); }

/// The whole of `text` as a number; nothing: it is none.
template <class Number>
std::optional<Number> whole_number(std::string_view text) {
    Number value{};
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
    return value;
}

/// "8, 64KiB, 1MiB" as bytes. @error bad_argument names the verb and its option (thrown)
std::vector<std::uint64_t> sizes_from(std::string_view verb, std::string_view option,
                                      const std::string& text);
/// "0,2" as numbers of cores; none in an empty text. @error bad_argument (thrown)
std::vector<int> cores_from(std::string_view verb, const std::string& text);

} // namespace plexus::tools::benchmark
