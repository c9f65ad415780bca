// SPDX-License-Identifier: BSD-3-Clause
#include "place.h"

#include <fstream>
#include <sstream>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

namespace pipes {
namespace {

constexpr std::size_t kNameDigits = 32;
constexpr int kQueue = 1024; // of connections that wait for a poll

Fd make_socket() { return Fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0)); }

// A zero byte makes the name an abstract one.
socklen_t address_of(const std::string& name, sockaddr_un& address) {
    address = {};
    address.sun_family = AF_UNIX;
    const std::string path = '\0' + ("plexus-pipe-" + name);
    std::memcpy(address.sun_path, path.data(), path.size()); // 45 bytes of its 108
    return static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + path.size());
}

const sockaddr* generic(const sockaddr_un& address) { return reinterpret_cast<const sockaddr*>(&address); }

} // namespace

bool Place::here(const plexus_host& host, Place& out) {
    std::ifstream("/proc/sys/kernel/random/boot_id") >> out.boot;
    struct stat network {};
    if (out.boot.empty() || ::stat("/proc/self/ns/net", &network) != 0) return false;
    out.network = std::to_string(network.st_ino);
    out.user = std::to_string(::geteuid());
    std::uint8_t bytes[kNameDigits / 2];
    host.random(host.self, bytes, sizeof bytes);
    for (const std::uint8_t byte : bytes) {
        out.name += "0123456789abcdef"[byte >> 4];
        out.name += "0123456789abcdef"[byte & 15];
    }
    return true;
}

bool Place::read(plexus_view bytes, Place& out) {
    const std::string_view text = plexus::module::text_of(bytes);
    std::istringstream words{std::string(text)};
    std::string version;
    words >> version >> out.boot >> out.network >> out.user >> out.name;
    // Written again it is the same, or there was something else in it.
    return words && version == "pipe1" && out.name.size() == kNameDigits && out.text() == text;
}

const char* Place::why_not_from(const Place& other) const {
    if (boot != other.boot) return "other host";
    if (network != other.network) return "other network namespace";
    if (user != other.user) return "other user";
    return nullptr;
}

Fd Place::listen() const {
    Fd socket = make_socket();
    sockaddr_un address;
    const socklen_t size = address_of(name, address);
    if (!socket || ::bind(socket.get(), generic(address), size) != 0 || ::listen(socket.get(), kQueue) != 0)
        return Fd();
    return socket;
}

Fd Place::connect() const {
    Fd socket = make_socket();
    sockaddr_un address;
    const socklen_t size = address_of(name, address);
    if (!socket || ::connect(socket.get(), generic(address), size) != 0) return Fd();
    return socket;
}

bool is_our_user(const Fd& socket) {
    ucred who{};
    socklen_t size = sizeof who;
    return ::getsockopt(socket.get(), SOL_SOCKET, SO_PEERCRED, &who, &size) == 0 && who.uid == ::geteuid();
}

} // namespace pipes
