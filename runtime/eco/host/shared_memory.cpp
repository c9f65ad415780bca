// SPDX-License-Identifier: BSD-3-Clause
#include "host/shared_memory.h"

#include "base/mutex.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <map>
#include <sys/random.h>
#include <unistd.h>

namespace plexus::eco::host {
namespace {

/// What this process has mapped.
struct Mappings {
    RankedMutex<11> mutex;
    std::map<Cookie, std::weak_ptr<SharedMemory>> by_cookie PLEXUS_GUARDED_BY(mutex);

    void add(const Cookie& cookie, const std::shared_ptr<SharedMemory>& memory) PLEXUS_REQUIRES(mutex) {
        std::erase_if(by_cookie, [](const auto& each) { return each.second.expired(); });
        by_cookie[cookie] = memory;
    }
};
Mappings& mappings() {
    static Mappings all;
    return all;
}

} // namespace

std::shared_ptr<SharedMemory> SharedMemory::create(std::size_t bytes, Offer& offer) {
    Cookie cookie{};
    if (::getrandom(cookie.data(), cookie.size(), 0) != static_cast<ssize_t>(cookie.size())) return nullptr;
    UniqueFd descriptor;
    SealedMemory memory = SealedMemory::create("plexus-group", bytes, descriptor);
    if (!memory) return nullptr;
    const auto number = static_cast<std::uint64_t>(descriptor.get());
    const std::shared_ptr<SharedMemory> made(new SharedMemory(std::move(memory), std::move(descriptor)));
    made->at<ArenaHeader>(0)->cookie = cookie;
    offer = {static_cast<std::uint64_t>(::getpid()), number, bytes, cookie};
    Mappings& all = mappings();
    const Lock hold(all.mutex);
    all.add(cookie, made);
    return made;
}

std::shared_ptr<SharedMemory> SharedMemory::open(const Offer& offer) {
    Mappings& all = mappings();
    const Lock hold(all.mutex);
    if (const auto found = all.by_cookie.find(offer.cookie); found != all.by_cookie.end())
        if (auto here = found->second.lock()) return here;
    const std::string path = fmt::format("/proc/{}/fd/{}", offer.process, offer.descriptor);
    const UniqueFd descriptor(::open(path.c_str(), O_RDWR | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
    if (!descriptor) return nullptr;
    SealedMemory memory = SealedMemory::map(descriptor.get(), offer.bytes, offer.bytes);
    if (!memory) return nullptr;
    std::shared_ptr<SharedMemory> opened(new SharedMemory(std::move(memory), UniqueFd()));
    if (opened->at<ArenaHeader>(0)->cookie != offer.cookie) return nullptr;
    all.add(offer.cookie, opened);
    return opened;
}

} // namespace plexus::eco::host
