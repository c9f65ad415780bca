// SPDX-License-Identifier: BSD-3-Clause
#include "group/own_socket.h"

#include <fmt/format.h>
#include <fstream>
#include <sched.h>
#include <unistd.h>

namespace plexus::eco::detail {
namespace {

/// Empty: the kernel does not tell.
std::vector<std::size_t> usable_processors() {
    constexpr std::size_t kMost = std::size_t{1} << 16;
    for (std::size_t count = 1024; count <= kMost; count *= 2) {
        std::vector<unsigned long> mask(count / (8 * sizeof(unsigned long)));
        auto* const set = reinterpret_cast<cpu_set_t*>(mask.data());
        const std::size_t bytes = mask.size() * sizeof mask[0];
        if (::sched_getaffinity(::getpid(), bytes, set) != 0) continue; // the kernel's mask is longer
        std::vector<std::size_t> out;
        for (std::size_t processor = 0; processor < count; ++processor)
            if (CPU_ISSET_S(processor, bytes, set)) out.push_back(processor);
        return out;
    }
    return {};
}

} // namespace

std::string socket_of(const std::vector<std::size_t>& which, const std::filesystem::path& processors) {
    std::string socket;
    for (const std::size_t each : which) {
        std::ifstream file(processors / fmt::format("cpu{}", each) / "topology" / "physical_package_id");
        long package = -1;
        if (!(file >> package) || package < 0) return {};
        std::string here = std::to_string(package);
        if (!socket.empty() && socket != here) return {};
        socket = std::move(here);
    }
    return socket;
}

std::string own_socket() { return socket_of(usable_processors()); }

} // namespace plexus::eco::detail
