// SPDX-License-Identifier: BSD-3-Clause
#include "local/registry.h"

#include <pthread.h>
#include <sys/random.h>
#include <unistd.h>

namespace plexus::local {

Registry& Registry::of_process() {
    static Registry registry;
    return registry;
}

namespace {
void before_fork() { Registry::of_process().before_fork(); }
void after_fork() { Registry::of_process().after_fork(); }
[[maybe_unused]] const int kRegistered = ::pthread_atfork(&before_fork, &after_fork, &after_fork);
} // namespace

Registry::Registry() {
    // Should the kernel have no random bytes, process ids and contexts' own ids still differ.
    (void)!::getrandom(random_.data(), random_.size(), 0);
}

bool Registry::add(const plexus_id& context, std::shared_ptr<Inbox> inbox) {
    const Lock hold(mutex_);
    return contexts_.try_emplace(key_of(context), std::move(inbox)).second;
}

void Registry::remove(const plexus_id& context) {
    const Lock hold(mutex_);
    contexts_.erase(key_of(context));
}

std::shared_ptr<Inbox> Registry::find(const plexus_id& context) const {
    const Lock hold(mutex_);
    const auto found = contexts_.find(key_of(context));
    return found == contexts_.end() ? nullptr : found->second;
}

ProcessToken Registry::token() const {
    ProcessToken token = random_;
    const auto process =
        static_cast<std::uint32_t>(::getpid()); // a forked child has this memory, but not these contexts
    for (std::size_t i = 0; i < 4; ++i) token[i] = static_cast<std::uint8_t>(token[i] ^ (process >> (8 * i)));
    return token;
}

Registry::Key Registry::key_of(const plexus_id& id) {
    Key key;
    std::copy(std::begin(id.bytes), std::end(id.bytes), key.begin());
    return key;
}

} // namespace plexus::local
