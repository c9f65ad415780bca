// SPDX-License-Identifier: BSD-3-Clause
#include "request/names.h"

#include "base/fork.h"
#include "base/mutex.h"
#include "plexus/error.h"

#include <map>
#include <vector>

namespace plexus::request {
namespace {

struct Names {
    RankedMutex<22> mutex;
    std::map<std::pair<std::string, std::uint64_t>, std::uint16_t> numbers PLEXUS_GUARDED_BY(mutex);
    std::vector<std::string> names PLEXUS_GUARDED_BY(mutex);
    std::vector<std::string> types PLEXUS_GUARDED_BY(mutex); // by the same numbers
};

// Never destroyed: contexts may live in other objects of static duration.
Names& names() {
    static Names& the = *new Names;
    return the;
}
const HeldAcrossFork kNamesAcrossFork{names().mutex};

} // namespace

std::uint16_t number_of(const detail::RequestInfo& request) {
    // A relaxed load: the number is the whole message.
    if (const std::uint32_t known = request.number.load(std::memory_order_relaxed); known != 0) [[likely]]
        return static_cast<std::uint16_t>(known);
    Names& n = names();
    Lock hold(n.mutex);
    const auto [entry, added] = n.numbers.try_emplace({std::string(request.name), request.signature}, 0);
    if (added) {
        if (n.names.size() >= 0xffff) {
            n.numbers.erase(entry);
            throw Error(Status::too_large, "this process uses more than 65,535 different requests");
        }
        n.names.emplace_back(request.name);
        n.types.emplace_back(request.types);
        entry->second = static_cast<std::uint16_t>(n.names.size());
    }
    request.number.store(entry->second, std::memory_order_relaxed);
    return entry->second;
}

std::string name_of(std::uint16_t number) {
    Names& n = names();
    Lock hold(n.mutex);
    return number >= 1 && number <= n.names.size() ? n.names[number - 1u] : "?";
}

std::string types_of(std::uint16_t number) {
    Names& n = names();
    Lock hold(n.mutex);
    return number >= 1 && number <= n.types.size() ? n.types[number - 1u] : "?";
}

} // namespace plexus::request
