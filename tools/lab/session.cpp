// SPDX-License-Identifier: BSD-3-Clause
#include "tools/lab/session.h"

#include "plexus/error.h"
#include "tools/lab/address.h"
#include "tools/lab/control.h"
#include "tools/lab/interface.h"
#include "tools/lab/machine.h"
#include "tools/lab/refusal.h"
#include "tools/lab/switch.h"

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <sys/mount.h>
#include <sys/resource.h>

namespace plexus::tools::lab {
namespace {

constexpr char kLabDevice[] = "lab0";

/// The file with the names of all machines.
void mount_names(const Network& network) {
    constexpr char kFile[] = "/dev/shm/hosts";
    std::ofstream file(kFile);
    file << "127.0.0.1 localhost\n" << dotted(ip_of(kLabNumber)) << " lab\n";
    for (std::uint32_t i = 0; i < network.hosts.size(); ++i)
        file << dotted(ip_of(i)) << ' ' << network.hosts[i].name << '\n';
    file.close();
    // If this machine has no such file, or does not allow the mount, hosts have addresses only.
    [[maybe_unused]] const int ignored = ::mount(kFile, "/etc/hosts", nullptr, MS_BIND, nullptr);
}

void furnish(const Network& network) {
    if (::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0)
        cannot("the lab's mounts cannot be made private");
    // If this fails, /proc shows the processes of the outer namespace, which does no harm.
    [[maybe_unused]] const int shown =
        ::mount("lab", "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, nullptr);
    if (::mount("lab", "/dev/shm", "tmpfs", MS_NOSUID | MS_NODEV, "mode=1777") != 0)
        cannot("the lab's shared memory cannot be mounted");
    ::sethostname("lab", 3);
    mount_names(network);
    take_up_loopback();
}

UniqueFd open_lab_device(const Network& network) {
    UniqueFd tap = make_tap(kLabDevice);
    configure(kLabDevice, kLabNumber, network.mtu);
    for (std::uint32_t i = 0; i < network.hosts.size(); ++i) add_neighbour(kLabDevice, i);
    return tap;
}

/// Room for a device a host, and for the pipes of the job later.
void raise_file_limit() {
    rlimit files{};
    if (::getrlimit(RLIMIT_NOFILE, &files) != 0) return;
    files.rlim_cur = files.rlim_max;
    ::setrlimit(RLIMIT_NOFILE, &files);
}

/// Starts the switch in a process of its own; returns this side of the owner's connection.
UniqueFd start_switch(const Network& network, std::vector<Machine>& machines, const UniqueFd& lab_tap,
                      int listener) {
    Pair pair = connected_pair();
    const pid_t pid = ::fork();
    if (pid < 0) cannot("no process for the switch");
    if (pid == 0) {
        SwitchWires wires{{}, lab_tap.get(), listener, pair.b.get()};
        for (const Machine& machine : machines) wires.taps.push_back(machine.tap.get());
        pair.a.reset();
        try {
            run_switch(network, wires);
        } catch (const std::exception& error) { std::fprintf(stderr, "plexus lab: %s\n", error.what()); }
        ::_exit(0);
    }
    for (Machine& machine : machines) machine.tap.reset();
    return std::move(pair.a);
}

void tell_environment(const Network& network, const std::vector<Machine>& machines) {
    std::string hosts;
    for (const Machine& machine : machines)
        hosts += fmt::format("{}{}:{}", hosts.empty() ? "" : ",", machine.name, machine.pid);
    ::setenv(kHostsVariable, hosts.c_str(), 1);
    ::setenv(kNetworkVariable, network.name.c_str(), 1);
    ::setenv(kScaleVariable, fmt::format("{:g}", network.scale).c_str(), 1);
}

/// Where a process is put on its machine.
void place_programs(const Network& network, SessionOptions& options) {
    const std::string self = std::filesystem::read_symlink("/proc/self/exe").string();
    for (std::size_t rank = 0; rank < options.hosts.size(); ++rank) {
        const std::size_t host = options.hosts[rank];
        auto& wrapper = options.job.programs[rank].wrapper;
        wrapper = {self, "lab", "enter"};
        if (!options.is_job) wrapper.emplace_back("--alone");
        wrapper.push_back(host < network.hosts.size() ? network.hosts[host].name : kLabName);
    }
    options.job.listen = fmt::format("plexus://{}:0", dotted(ip_of(kLabNumber)));
}

void write_reports(const SessionOptions& options, int switch_connection) {
    const auto get = [&](const char* request) { return ask(switch_connection, request).text; };
    if (!options.json_file.empty()) {
        const std::string text = get("report json") + "\n";
        std::FILE* file = options.json_file == "-" ? stdout : std::fopen(options.json_file.c_str(), "we");
        if (file == nullptr)
            throw Error(Status::not_found,
                        fmt::format("the report cannot be written to {}", options.json_file));
        std::fputs(text.c_str(), file);
        if (file == stdout) {
            std::fflush(stdout);
        } else {
            std::fclose(file);
        }
    }
    if (options.text_report) {
        std::fputs(get("report text").c_str(), stderr);
    } else if (!options.quiet) {
        std::fputs(get("verdict").c_str(), stderr);
    }
}

} // namespace

int run_session(const Network& network, SessionOptions options, int listener) {
    raise_file_limit();
    furnish(network);
    std::vector<Machine> machines = start_machines(network);
    UniqueFd lab_tap = open_lab_device(network);
    const UniqueFd connection = start_switch(network, machines, lab_tap, listener);
    lab_tap.reset();
    tell_environment(network, machines);
    place_programs(network, options);
    if (!ask(connection.get(), "reset").ok) throw Error(Status::runtime_lost, "the switch does not answer");
    const int code = launch(options.job);
    write_reports(options, connection.get());
    return code;
}

} // namespace plexus::tools::lab
