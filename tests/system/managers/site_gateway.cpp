// SPDX-License-Identifier: BSD-3-Clause
// site_gateway HOST,... -- PROGRAM ARGUMENT...: runs a program on a host of a lab from which those hosts
// cannot be reached, and looks at every frame that goes over the host's network card meanwhile. Not a test
// itself. Prints at the end, with the exit code of the program:
//   kiel-1 captured 240 frames, 12 with temperatures, 0 from or to oslo-1
#include "system/lab/capture.h"

#include <chrono>
#include <cstdint>
#include <cstring>
#include <net/route.h>
#include <netdb.h>
#include <string>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <thread>
#include <vector>

namespace {

[[noreturn]] void fail(const std::string& what) {
    std::perror(what.c_str());
    std::exit(3);
}

in_addr address_of(const std::string& host) {
    addrinfo hints{};
    hints.ai_family = AF_INET;
    addrinfo* found = nullptr;
    if (::getaddrinfo(host.c_str(), nullptr, &hints, &found) != 0) fail(host);
    const in_addr address = reinterpret_cast<const sockaddr_in*>(found->ai_addr)->sin_addr;
    ::freeaddrinfo(found);
    return address;
}

/// From here on connections to the host fail at once: "no route to host".
void cut_off(in_addr host) {
    const int any = ::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    rtentry route{};
    auto* to = reinterpret_cast<sockaddr_in*>(&route.rt_dst);
    to->sin_family = AF_INET;
    to->sin_addr = host;
    reinterpret_cast<sockaddr_in*>(&route.rt_genmask)->sin_family = AF_INET;
    reinterpret_cast<sockaddr_in*>(&route.rt_genmask)->sin_addr.s_addr = 0xffffffff;
    route.rt_flags = RTF_UP | RTF_HOST | RTF_REJECT;
    if (any < 0 || ::ioctl(any, SIOCADDRT, &route) != 0) fail("route");
    ::close(any);
}

/// Temperatures of the sea's surface travel as rows of doubles, in kelvin. Six of them one behind the other
/// do not come about by chance: in random bytes once in 2^70.
bool has_temperatures(std::string_view frame) {
    constexpr std::size_t kInRow = 6;
    for (std::size_t offset = 0; offset < sizeof(double); ++offset) {
        std::size_t in_row = 0;
        for (std::size_t at = offset; at + sizeof(double) <= frame.size(); at += sizeof(double)) {
            double value = 0;
            std::memcpy(&value, frame.data() + at, sizeof value);
            in_row = value > 250 && value < 320 ? in_row + 1 : 0;
            if (in_row == kInRow) return true;
        }
    }
    return false;
}

/// An IPv4 frame that has the address as its source or destination.
bool has_address(std::string_view frame, in_addr host) {
    if (frame.size() < 20 || (static_cast<unsigned char>(frame[0]) >> 4) != 4) return false;
    return std::memcmp(frame.data() + 12, &host, sizeof host) == 0 ||
           std::memcmp(frame.data() + 16, &host, sizeof host) == 0;
}

struct Seen {
    std::size_t frames = 0;
    std::size_t temperatures = 0;
    std::size_t foreign = 0;
};

} // namespace

int main(int argc, char** argv) {
    if (argc < 4 || std::strcmp(argv[2], "--") != 0) {
        std::fprintf(stderr, "usage: site_gateway HOST -- PROGRAM ARGUMENT...\n");
        return 2;
    }
    const std::string far = argv[1];
    const in_addr there = address_of(far);
    cut_off(there);
    plexus::testing::Capture capture;
    const pid_t child = ::fork();
    if (child < 0) fail("fork");
    if (child == 0) {
        ::execvp(argv[3], argv + 3);
        fail(argv[3]);
    }

    Seen seen;
    const auto look = [&] {
        capture.each([&](std::string_view frame) {
            ++seen.frames;
            if (has_temperatures(frame)) ++seen.temperatures;
            if (has_address(frame, there)) ++seen.foreign;
        });
    };
    int status = 0;
    while (::waitpid(child, &status, WNOHANG) == 0) {
        look();
        std::this_thread::sleep_for(std::chrono::milliseconds(5)); // the capture has room for far more
    }
    look();
    char name[256] = "";
    ::gethostname(name, sizeof name - 1);
    std::printf("%s captured %zu frames, %zu with temperatures, %zu from or to %s\n", name, seen.frames,
                seen.temperatures, seen.foreign, far.c_str());
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
