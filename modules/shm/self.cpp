// SPDX-License-Identifier: BSD-3-Clause
#include "shm/self.h"

#include "base/process_watch.h"
#include "shm/barrier.h"
#include "shm/layout.h"

#include <unistd.h>

namespace plexus::shm {

std::string Self::open(const plexus_host& host) {
    descriptor_.place = module::surroundings();
    descriptor_.user = ::geteuid();
    host.random(host.self, descriptor_.socket.data(), descriptor_.socket.size());
    host.random(host.self, cookie_.data(), cookie_.size());
    if (descriptor_.place.boot == decltype(descriptor_.place.boot){} ||
        descriptor_.place.network_namespace == 0)
        return "the kernel does not say which host this is: is /proc mounted?";
    process_ = ::getpid();
    start_time_ = start_time_of(process_);
    has_barrier_ = join_barrier();
    return {};
}

bool Self::is_forked() const noexcept { return process_ != 0 && ::getpid() != process_; }

Setup Self::setup(std::uint32_t slot, std::uint32_t ring_lines) const noexcept {
    return {kVersion,
            ring_lines,
            slot,
            has_barrier_ ? 1u : 0u,
            {reinterpret_cast<std::uintptr_t>(cookie_.data()), cookie_},
            start_time_,
            descriptor_.socket};
}

} // namespace plexus::shm
