// SPDX-License-Identifier: BSD-3-Clause
#include "plexus/eco/round_schedule.h"

#include <cctype>

namespace plexus::eco {
namespace {

constexpr std::string_view kNames[] = {"OAB", "AAB", "OAS", "AAS"};

} // namespace

std::string_view to_string(CollectiveKind kind) noexcept { return kNames[static_cast<std::size_t>(kind)]; }

std::optional<CollectiveKind> parse_collective_kind(std::string_view text) {
    std::string upper;
    for (const char each : text) upper += static_cast<char>(std::toupper(static_cast<unsigned char>(each)));
    for (const CollectiveKind kind : kCollectiveKinds)
        if (upper == to_string(kind)) return kind;
    return std::nullopt;
}

double round_time_s(const RoundSchedule& schedule, std::uint64_t bytes, double start_s, double byte_s) {
    return static_cast<double>(schedule.rounds.size()) * (start_s + static_cast<double>(bytes) * byte_s);
}

} // namespace plexus::eco
