// SPDX-License-Identifier: BSD-3-Clause
#include "tools/lab/control.h"

#include "plexus/error.h"
#include "tools/lab/refusal.h"

#include <cerrno>
#include <charconv>
#include <cstddef>
#include <cstring>
#include <fmt/format.h>
#include <fstream>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>

namespace plexus::tools::lab {
namespace {

constexpr char kPrefix[] = "plexus-lab-";
constexpr std::size_t kLongestRequest = 256;
constexpr int kSendBytes = 1 << 20; // an answer is one record: a network of 1000 hosts has 300 KB

struct Name {
    sockaddr_un address{};
    socklen_t size = 0;
};

Name name_of(pid_t lab) {
    const std::string text = fmt::format("{}{}", kPrefix, lab);
    Name name;
    name.address.sun_family = AF_UNIX; // a first zero byte: a name without a file
    text.copy(name.address.sun_path + 1, sizeof name.address.sun_path - 1);
    name.size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + text.size());
    return name;
}

const sockaddr* plain(const Name& name) { return reinterpret_cast<const sockaddr*>(&name.address); }

UniqueFd new_socket() {
    UniqueFd fd(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
    if (!fd) cannot("no socket to speak to the lab");
    return fd;
}

} // namespace

UniqueFd listen_as(pid_t lab) {
    UniqueFd fd = new_socket();
    const Name name = name_of(lab);
    if (::bind(fd.get(), plain(name), name.size) != 0 || ::listen(fd.get(), 16) != 0)
        cannot("the lab cannot listen to \"plexus lab ctl\"");
    return fd;
}

std::vector<pid_t> running_labs() {
    std::vector<pid_t> labs;
    std::ifstream sockets("/proc/net/unix");
    for (std::string line; std::getline(sockets, line);) {
        const std::string mark = std::string(" @") + kPrefix;
        const std::size_t at = line.rfind(mark);
        if (at == std::string::npos) continue;
        const std::string_view number = std::string_view(line).substr(at + mark.size());
        pid_t lab = 0;
        const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), lab);
        if (error != std::errc{} || lab <= 0) continue;
        if (labs.empty() || labs.back() != lab) labs.push_back(lab); // one line more for each connection
    }
    return labs;
}

UniqueFd connect_to(pid_t lab) {
    UniqueFd fd = new_socket();
    const Name name = name_of(lab);
    if (::connect(fd.get(), plain(name), name.size) != 0)
        throw Error(Status::not_found, fmt::format("there is no lab with process {} ({}): plexus lab ctl "
                                                   "without --lab lists those that run",
                                                   lab, std::strerror(errno)));
    return fd;
}

Pair connected_pair() {
    int ends[2];
    if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) cannot("no socket for the lab");
    return {UniqueFd(ends[0]), UniqueFd(ends[1])};
}

Answer ask(int connection, const std::string& request) {
    const timeval limit{5, 0};
    ::setsockopt(connection, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    if (::send(connection, request.data(), request.size(), MSG_NOSIGNAL) < 0)
        throw Error(Status::peer_lost, fmt::format("the lab has ended: {}", std::strerror(errno)));
    std::string text(static_cast<std::size_t>(kSendBytes), '\0');
    const ssize_t got = ::recv(connection, text.data(), text.size(), 0);
    if (got < 3) throw Error(Status::peer_lost, "the lab has ended, or does not answer");
    text.resize(static_cast<std::size_t>(got));
    return {text.starts_with("ok\n"), text.substr(3)};
}

std::string take_request(int connection) {
    std::string request(kLongestRequest, '\0');
    const ssize_t got = ::recv(connection, request.data(), request.size(), MSG_DONTWAIT);
    request.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
    return request;
}

void give_answer(int connection, const Answer& answer) {
    // Beyond the system's limit if that is allowed; an answer that does not fit is reported.
    ::setsockopt(connection, SOL_SOCKET, SO_SNDBUFFORCE, &kSendBytes, sizeof kSendBytes);
    ::setsockopt(connection, SOL_SOCKET, SO_SNDBUF, &kSendBytes, sizeof kSendBytes);
    const std::string text = (answer.ok ? "ok\n" : "no\n") + answer.text;
    if (::send(connection, text.data(), text.size(), MSG_NOSIGNAL | MSG_DONTWAIT) >= 0) return;
    const std::string sorry = "no\nthe answer is too long for this system's sockets (net.core.wmem_max)";
    ::send(connection, sorry.data(), sorry.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
}

} // namespace plexus::tools::lab
