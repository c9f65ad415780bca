// SPDX-License-Identifier: BSD-3-Clause
#include "system/managers/slurm.h"

#include "base/unique_fd.h"

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <netinet/in.h>
#include <pwd.h>
#include <random>
#include <sstream>
#include <stdexcept>
#include <sys/socket.h>
#include <unistd.h>

namespace plexus::testing {
namespace {

constexpr const char* kPrograms[] = {"/usr/sbin/munged", "/usr/sbin/slurmctld", "/usr/sbin/slurmd",
                                     "/usr/bin/srun",    "/usr/bin/sinfo",      "/usr/bin/setpriv",
                                     "/usr/bin/env"};
constexpr const char* kNodes[] = {"n1", "n2"};

/// Ports of loopback that nobody has at the moment.
std::vector<std::uint16_t> free_ports(std::size_t count) {
    std::vector<UniqueFd> held;
    std::vector<std::uint16_t> ports;
    while (ports.size() < count) {
        held.emplace_back(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
        sockaddr_in address{};
        address.sin_family = AF_INET;
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        socklen_t size = sizeof address;
        auto* const any = reinterpret_cast<sockaddr*>(&address);
        if (::bind(held.back().get(), any, size) != 0 || ::getsockname(held.back().get(), any, &size) != 0)
            throw std::runtime_error("no free port");
        ports.push_back(ntohs(address.sin_port));
    }
    return ports;
}

std::string user_name() {
    const passwd* const user = ::getpwuid(::getuid());
    return user == nullptr ? std::string() : user->pw_name;
}

} // namespace

Slurm::Slurm() {
    if (why_not_ = missing_program(); !why_not_.empty()) return;
    configure();
    const std::string folder = this->folder();
    start_daemon("munged", "munged -F --key-file " + folder + "/munge.key --socket " + folder +
                               "/munge.socket --pid-file " + folder + "/munged.pid --seed-file " + folder +
                               "/munge.seed --log-file " + folder + "/munged.log");
    if (!eventually(10s, [&] { return std::filesystem::exists(folder + "/munge.socket"); })) {
        why_not_ = "munged does not start here: " + last_words();
        return;
    }
    start_daemon("slurmctld", "slurmctld -D -f " + folder + "/slurm.conf");
    for (const std::string node : kNodes)
        start_daemon("slurmd." + node, "slurmd -D -N " + node + " -f " + folder + "/slurm.conf");
    bool ready = false;
    eventually(30s, [&] {
        Command nodes(OtherProgram{"/usr/bin/env"}, words({"sinfo", "--noheader", "--Node", "-o", "%T"}));
        ready = nodes.wait(5s) == 0 && nodes.out() == "idle\nidle\n";
        return ready || daemons_[1].wait(0ms).has_value(); // slurmctld has given up
    });
    if (!ready) why_not_ = "Slurm does not start here: " + last_words();
}

Slurm::~Slurm() {
    if (why_not_.empty()) {
        Command cancel(OtherProgram{"/usr/bin/env"}, words({"scancel", "--user", user_name()}));
        cancel.wait(5s);
        // A node ends the steps that it still has.
        eventually(5s, [&] {
            Command queue(OtherProgram{"/usr/bin/env"}, words({"squeue", "--noheader"}));
            return queue.wait(5s) == 0 && queue.out().empty();
        });
    }
    // munged last: who ends tells the others, which asks it.
    while (!daemons_.empty()) {
        daemons_.back().kill(SIGTERM);
        daemons_.back().wait(5s);
        daemons_.pop_back();
    }
}

Words Slurm::words(const Words& command) const {
    Words all{"SLURM_CONF=" + folder() + "/slurm.conf", "setpriv", "--pdeathsig", "KILL"};
    all.insert(all.end(), command.begin(), command.end());
    return all;
}

std::string Slurm::missing_program() const {
    for (const char* program : kPrograms)
        if (!std::filesystem::exists(program)) return std::string("there is no ") + program;
    if (user_name().empty()) return "this user has no name, and Slurm asks for one";
    return {};
}

void Slurm::configure() const {
    // munged wants others to be able to reach its socket, and not its key.
    std::filesystem::permissions(folder_.path(), std::filesystem::perms{0711});
    std::random_device random;
    std::string key(128, '\0');
    std::generate(key.begin(), key.end(), [&] { return static_cast<char>(random()); });
    std::filesystem::permissions(folder_.file("munge.key", key), std::filesystem::perms{0400});
    std::filesystem::create_directory(folder_ / "state");

    const std::string folder = this->folder();
    const auto ports = free_ports(1 + std::size(kNodes));
    std::ostringstream text;
    text << "ClusterName=plexus\n"
            "SlurmctldHost=localhost(127.0.0.1)\n"
            "SlurmctldPort="
         << ports[0]
         << "\n"
            "SlurmUser="
         << user_name()
         << "\n"
            "SlurmdUser="
         << user_name()
         << "\n"
            "AuthType=auth/munge\n"
            "AuthInfo=socket="
         << folder
         << "/munge.socket\n"
            "CredType=cred/munge\n"
            "ProctrackType=proctrack/linuxproc\n"
            "TaskPlugin=task/none\n"
            "MpiDefault=pmix\n"
            "KillWait=1\n"
            "MailProg=/bin/true\n"
            "ReturnToService=2\n"
            // More processors than there are: a test's jobs do not wait for each other.
            "SlurmdParameters=config_overrides\n"
            "SelectType=select/cons_tres\n"
            "SelectTypeParameters=CR_CPU\n"
            "StateSaveLocation="
         << folder
         << "/state\n"
            "SlurmctldPidFile="
         << folder
         << "/slurmctld.pid\n"
            "SlurmdPidFile="
         << folder
         << "/slurmd.%n.pid\n"
            "SlurmdSpoolDir="
         << folder
         << "/spool.%n\n"
            "TmpFS="
         << folder << "/tmp.%n\n";
    for (std::size_t i = 0; i < std::size(kNodes); ++i) {
        std::filesystem::create_directory(folder_ / (std::string("tmp.") + kNodes[i]));
        text << "NodeName=" << kNodes[i] << " NodeHostname=localhost NodeAddr=127.0.0.1 Port=" << ports[i + 1]
             << " CPUs=64\n";
    }
    text << "PartitionName=all Nodes=ALL Default=YES\n";
    folder_.file("slurm.conf", text.str());
}

void Slurm::start_daemon(const std::string& name, const std::string& command) {
    daemons_.emplace_back(OtherProgram{"/bin/sh"},
                          Words{"-c", "cd " + folder() + " && exec setpriv --pdeathsig KILL " + command +
                                          " > " + folder() + "/" + name + ".out 2>&1"});
}

std::string Slurm::last_words() const {
    std::string all;
    for (const auto& entry : std::filesystem::directory_iterator(folder_.path())) {
        if (entry.path().extension() != ".out") continue;
        std::ifstream file(entry.path());
        std::string last;
        for (std::string line; std::getline(file, line);)
            if (!line.empty()) last = line;
        all += entry.path().stem().string() + " says \"" + last + "\"; ";
    }
    return all;
}

const Slurm& shared_slurm() {
    static const Slurm the;
    return the;
}

} // namespace plexus::testing
