// SPDX-License-Identifier: BSD-3-Clause
// The local method with one thing wrong, which the build chooses by FAULT. Each is a module
// file of its own, for plexus check-module to find out.
#include "local/module.h"

#include <atomic>
#include <csignal>
#include <cstring>
#include <sys/eventfd.h>
#include <unistd.h>

namespace {

using plexus::local::kOps;

enum class Fault {
    none,
    crashes_on_load, ///< in a constructor, before anybody has called it
    will_not_open,   ///< open answers BAD_CONFIG, and says why
    exits_in_open,   ///< open ends the process, as if all were well
    crashes_in_open,
    crashes_in_send,
    hangs_in_poll,
    never_wakes,  ///< claims that one can sleep on it
    forgets,      ///< loses one message in a hundred
    says_nothing, ///< `applies` refuses without a reason
};

constexpr Fault kFault = Fault::FAULT;

[[gnu::constructor]] void on_load() {
    if (kFault == Fault::crashes_on_load) std::raise(SIGSEGV);
}

std::int32_t open(const plexus_host* host, plexus_module** module) {
    if (kFault == Fault::exits_in_open) ::_exit(0);
    if (kFault == Fault::crashes_in_open) std::raise(SIGSEGV);
    if (kFault == Fault::will_not_open) {
        host->log(host->self, PLEXUS_ERROR, "the moon is in the wrong house");
        return PLEXUS_BAD_CONFIG;
    }
    return kOps.open(host, module);
}

std::int32_t send(plexus_link* link, const plexus_view* pieces, std::uint32_t count, void* token) {
    // Relaxed: which one of a hundred is lost does not matter.
    static std::atomic<unsigned> sends{0};
    const unsigned n = sends.fetch_add(1, std::memory_order_relaxed) + 1;
    if (kFault == Fault::crashes_in_send) std::raise(SIGSEGV);
    if (kFault == Fault::forgets && n % 100 == 0) return PLEXUS_OK;
    return kOps.send(link, pieces, count, token);
}

std::int32_t poll(plexus_module* module, std::uint32_t budget) {
    while (kFault == Fault::hangs_in_poll) ::usleep(1'000);
    return kOps.poll(module, budget);
}

std::int32_t arm(plexus_module* module, std::uint64_t* sleep_ns) {
    return kFault == Fault::never_wakes ? std::int32_t{PLEXUS_OK} : kOps.arm(module, sleep_ns);
}

std::int32_t wait_fd(plexus_module* module) {
    static const int kNeverReadable = ::eventfd(0, EFD_CLOEXEC);
    return kFault == Fault::never_wakes ? kNeverReadable : kOps.wait_fd(module);
}

std::int32_t applies(plexus_module* module, plexus_view descriptor, plexus_text* why) {
    const std::int32_t answer = kOps.applies(module, descriptor, why);
    if (kFault == Fault::says_nothing) why->size = 0;
    return answer;
}

const plexus_ops kFaultyOps = [] {
    plexus_ops ops = kOps;
    ops.open = open;
    ops.send = send;
    ops.poll = poll;
    ops.arm = arm;
    ops.wait_fd = wait_fd;
    ops.applies = applies;
    return ops;
}();

constexpr plexus_parameter kParameters[] = {{"queue", "size", "1 MiB", "as in the local method"},
                                            {"eager", "size", "16 KiB", "as in the local method"}};

} // namespace

PLEXUS_PASSPORT(faulty) = {
    .magic = PLEXUS_ABI_MAGIC,
    .abi_major = PLEXUS_ABI_MAJOR,
    .abi_minor = PLEXUS_ABI_MINOR,
    .name = "faulty",
    .help = "the local method with one thing wrong",
    .ops = &kFaultyOps,
    .parameters = kParameters,
    .parameter_count = std::size(kParameters),
    .parameter_size = sizeof(plexus_parameter),
};
