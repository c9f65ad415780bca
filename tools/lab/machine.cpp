// SPDX-License-Identifier: BSD-3-Clause
#include "tools/lab/machine.h"

#include "plexus/error.h"
#include "runtime/base/process_watch.h"
#include "tools/lab/address.h"
#include "tools/lab/interface.h"
#include "tools/lab/refusal.h"

#include <cerrno>
#include <climits>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <fmt/format.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>

namespace plexus::tools::lab {
namespace {

constexpr int kHostNamespaces = CLONE_NEWNET | CLONE_NEWNS | CLONE_NEWUTS | CLONE_NEWIPC;
constexpr char kHostDevice[] = "eth0";

void set(const char* path, const char* value) {
    const UniqueFd file(::open(path, O_WRONLY | O_CLOEXEC));
    // A setting that fails makes a host less quiet or less repeatable, not wrong.
    [[maybe_unused]] const ssize_t ignored = ::write(file.get(), value, std::strlen(value));
}

UniqueFd build(const Network& network, std::uint32_t number) {
    const std::string& name = network.hosts[number].name;
    if (::unshare(kHostNamespaces) != 0) cannot("the namespaces of a host cannot be made");
    if (::sethostname(name.data(), name.size()) != 0) cannot("a host's name cannot be set");
    if (::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0)
        cannot("a host's mounts cannot be made private");
    if (::mount("lab", "/dev/shm", "tmpfs", MS_NOSUID | MS_NODEV, "mode=1777") != 0)
        cannot("a host's shared memory cannot be mounted");
    // Some libraries look for network devices in /sys, which shows those of its mounter.
    [[maybe_unused]] const int shown =
        ::mount("lab", "/sys", "sysfs", MS_NOSUID | MS_NODEV | MS_RDONLY, nullptr);
    set("/proc/sys/net/ipv6/conf/all/disable_ipv6", "1");
    set("/proc/sys/net/ipv6/conf/default/disable_ipv6", "1");
    set("/proc/sys/net/ipv4/tcp_no_metrics_save", "1");
    take_up_loopback();
    UniqueFd tap = make_tap(kHostDevice);
    configure(kHostDevice, number, network.mtu);
    for (std::uint32_t other = 0; other < network.hosts.size(); ++other)
        if (other != number) add_neighbour(kHostDevice, other);
    add_neighbour(kHostDevice, kLabNumber);
    return tap;
}

/// The report of a machine that is ready, or the reason why it is not.
struct Word {
    bool allowed = true;
    char why[512] = {};
};

void say(int socket, const Word& word, const UniqueFd& tap) {
    iovec piece{const_cast<Word*>(&word), sizeof word};
    alignas(cmsghdr) char room[CMSG_SPACE(sizeof(int))] = {};
    msghdr message{};
    message.msg_iov = &piece;
    message.msg_iovlen = 1;
    if (tap) {
        message.msg_control = room;
        message.msg_controllen = sizeof room;
        cmsghdr* head = CMSG_FIRSTHDR(&message);
        head->cmsg_level = SOL_SOCKET;
        head->cmsg_type = SCM_RIGHTS;
        head->cmsg_len = CMSG_LEN(sizeof(int));
        const int fd = tap.get();
        std::memcpy(CMSG_DATA(head), &fd, sizeof fd);
    }
    ::sendmsg(socket, &message, MSG_NOSIGNAL);
}

UniqueFd hear(int socket, const std::string& name) {
    Word word;
    iovec piece{&word, sizeof word};
    alignas(cmsghdr) char room[CMSG_SPACE(sizeof(int))] = {};
    msghdr message{};
    message.msg_iov = &piece;
    message.msg_iovlen = 1;
    message.msg_control = room;
    message.msg_controllen = sizeof room;
    ssize_t got = 0;
    do { got = ::recvmsg(socket, &message, MSG_CMSG_CLOEXEC); } while (got < 0 && errno == EINTR);
    if (got != static_cast<ssize_t>(sizeof word))
        throw Error(Status::runtime_lost, fmt::format("the host {} ended before it was ready", name));
    const cmsghdr* head = CMSG_FIRSTHDR(&message);
    if (head != nullptr && head->cmsg_type == SCM_RIGHTS) {
        int fd = -1;
        std::memcpy(&fd, CMSG_DATA(head), sizeof fd);
        return UniqueFd(fd);
    }
    const std::string why = fmt::format("{}: {}", name, word.why);
    if (!word.allowed) throw NotAllowed(why);
    throw Error(Status::runtime_lost, why);
}

[[noreturn]] void hold(const Network& network, std::uint32_t number, int socket) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    ::prctl(PR_SET_NAME, network.hosts[number].name.c_str());
    Word word;
    try {
        const UniqueFd tap = build(network, number);
        say(socket, word, tap);
    } catch (const std::exception& error) {
        word.allowed = dynamic_cast<const NotAllowed*>(&error) == nullptr;
        std::strncpy(word.why, error.what(), sizeof word.why - 1);
        say(socket, word, UniqueFd());
        ::_exit(1);
    }
    // No descriptor of the lab or of the user may stay open here.
    ::syscall(SYS_close_range, 0U, ~0U, 0U);
    for (;;) ::pause();
}

} // namespace

std::vector<Machine> start_machines(const Network& network) {
    std::vector<Machine> machines;
    std::vector<UniqueFd> words;
    for (std::uint32_t number = 0; number < network.hosts.size(); ++number) {
        int ends[2];
        if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0)
            cannot("no socket for a host");
        words.emplace_back(ends[0]);
        const UniqueFd theirs(ends[1]);
        const pid_t pid = ::fork();
        if (pid < 0) cannot("no process for a host");
        if (pid == 0) hold(network, number, theirs.get());
        machines.push_back({network.hosts[number].name, pid, UniqueFd()});
    }
    for (std::size_t i = 0; i < machines.size(); ++i)
        machines[i].tap = hear(words[i].get(), machines[i].name);
    return machines;
}

void enter_machine(pid_t pid) {
    char here[PATH_MAX] = {};
    const bool has_folder = ::getcwd(here, sizeof here) != nullptr;
    const UniqueFd process = process_numbered(pid);
    if (!process) cannot("the process of a host cannot be found");
    if (::setns(process.get(), kHostNamespaces) != 0) cannot("a host cannot be entered");
    if (has_folder && ::chdir(here) != 0) cannot(fmt::format("the folder {} is not on the host", here));
}

} // namespace plexus::tools::lab
