// SPDX-License-Identifier: BSD-3-Clause
#include "host/shared_memory.h"

#include "base/mutex.h"

#include <cstring>
#include <fcntl.h>
#include <fmt/format.h>
#include <map>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

namespace plexus::eco::host {
namespace {

/// Without the seals a member could truncate the memory, which would kill readers with SIGBUS.
constexpr int kSeals = F_SEAL_SHRINK | F_SEAL_GROW;

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

std::byte* map_pages(int descriptor, std::size_t bytes) noexcept {
    void* const at = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
    return at == MAP_FAILED ? nullptr : static_cast<std::byte*>(at);
}

} // namespace

SharedMemory::~SharedMemory() {
    close_descriptor();
    ::munmap(data_, bytes_);
}

void SharedMemory::close_descriptor() noexcept {
    if (descriptor_ >= 0) ::close(descriptor_);
    descriptor_ = -1;
}

std::shared_ptr<SharedMemory> SharedMemory::create(std::size_t bytes, Offer& offer) {
    Cookie cookie{};
    if (::getrandom(cookie.data(), cookie.size(), 0) != static_cast<ssize_t>(cookie.size())) return nullptr;
    const int descriptor = ::memfd_create("plexus-group", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (descriptor < 0) return nullptr;
    std::byte* data = nullptr;
    if (::fchmod(descriptor, S_IRUSR | S_IWUSR) == 0 &&
        ::ftruncate(descriptor, static_cast<off_t>(bytes)) == 0 &&
        ::fcntl(descriptor, F_ADD_SEALS, kSeals | F_SEAL_SEAL) == 0)
        data = map_pages(descriptor, bytes);
    if (data == nullptr) {
        ::close(descriptor);
        return nullptr;
    }
    const std::shared_ptr<SharedMemory> made(new SharedMemory(data, bytes, descriptor));
    made->at<ArenaHeader>(0)->cookie = cookie;
    offer = {static_cast<std::uint64_t>(::getpid()), static_cast<std::uint64_t>(descriptor), bytes, cookie};
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
    const int descriptor = ::open(path.c_str(), O_RDWR | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (descriptor < 0) return nullptr;
    struct stat info {};
    const int seals = ::fcntl(descriptor, F_GET_SEALS);
    std::byte* data = nullptr;
    if (seals >= 0 && (seals & kSeals) == kSeals && ::fstat(descriptor, &info) == 0 &&
        static_cast<std::uint64_t>(info.st_size) == offer.bytes)
        data = map_pages(descriptor, offer.bytes);
    ::close(descriptor);
    if (data == nullptr) return nullptr;
    std::shared_ptr<SharedMemory> opened(new SharedMemory(data, offer.bytes, -1));
    if (opened->at<ArenaHeader>(0)->cookie != offer.cookie) return nullptr;
    all.add(offer.cookie, opened);
    return opened;
}

} // namespace plexus::eco::host
