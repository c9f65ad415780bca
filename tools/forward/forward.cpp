// SPDX-License-Identifier: BSD-3-Clause
// `plexus forward`: a context that relays between others, until a signal ends it.
#include "tools/common/command_line.h"
#include "tools/common/json.h"
#include "tools/verb.h"

#include "plexus/error.h"

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <fmt/format.h>
#include <pthread.h>
#include <system_error>

namespace plexus::tools {
namespace {

constexpr char kForwardFooter[] =
    "Whoever is to be reached names the forwarder: method.forward.via = \"plexus://host:port\".\n"
    "The job's key (job.key_file) is the same everywhere. Without --allow, and without\n"
    "forward.allow in the configuration, all contexts that attach here are relayed to.\n"
    "Prints where it listens, then relays until SIGINT or SIGTERM.";

struct ForwardOptions {
    std::string config;
    std::string listen;
    std::string allow;
};

// Blocked before the context starts its threads: they inherit that.
sigset_t block_ends() {
    sigset_t ends;
    sigemptyset(&ends);
    sigaddset(&ends, SIGINT);
    sigaddset(&ends, SIGTERM);
    if (const int error = ::pthread_sigmask(SIG_BLOCK, &ends, nullptr); error != 0)
        throw Error(Status::runtime_lost,
                    fmt::format("signals cannot be blocked: {}", std::generic_category().message(error)));
    return ends;
}

} // namespace

int forward_verb(int count, char** arguments) {
    CommandLine line("forward", "Relays between contexts that cannot reach each other.", "[OPTIONS]",
                     kForwardFooter);
    ForwardOptions options;
    line.app()
        .add_option("--config", options.config, "A configuration file instead of plexus.toml")
        ->type_name("FILE");
    line.app()
        .add_option("--listen", options.listen,
                    "Where others find it: plexus://host:port (default: every interface, any port)")
        ->type_name("URL");
    line.app()
        .add_option("--allow", options.allow, "Names of the contexts to relay to, or all")
        ->type_name("NAMES");
    if (!line.parse(count, arguments)) return kOk;

    const sigset_t ends = block_ends();
    Options more;
    more.file = options.config;
    more.defaults = {{"forward.allow", "all"}, {"listen", "plexus://0.0.0.0:0"}};
    if (!options.listen.empty()) more.set["listen"] = options.listen;
    if (!options.allow.empty()) more.set["forward.allow"] = options.allow;
    Context here = line.start(std::move(more));
    if (line.json()) {
        std::printf("%s\n",
                    json::Object().add("url", here.url()).add("id", to_string(here.id())).text().c_str());
    } else {
        std::printf("relays at %s as %s\n", here.url().c_str(), to_string(here.id()).c_str());
    }
    std::fflush(stdout);
    int signal = 0;
    while (::sigwait(&ends, &signal) == EINTR) {} // its progress thread relays meanwhile
    return kOk;
}

} // namespace plexus::tools
