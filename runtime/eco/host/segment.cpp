// SPDX-License-Identifier: BSD-3-Clause
#include "host/segment.h"

#include <cstring>
#include <fcntl.h>
#include <fmt/format.h>
#include <map>
#include <mutex>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

namespace plexus::eco::host {
namespace {

/// A size that is sealed can't be cut short under a reader, which would kill it with SIGBUS.
constexpr int kSeals = F_SEAL_SHRINK | F_SEAL_GROW;

/// Those that this process has mapped.
struct Mapped {
    std::mutex mutex;
    std::map<Cookie, std::weak_ptr<Segment>> segments;

    void keep(const Cookie& cookie, const std::shared_ptr<Segment>& segment) {
        std::erase_if(segments, [](const auto& each) { return each.second.expired(); });
        segments[cookie] = segment;
    }
};
Mapped& mapped() {
    static Mapped all;
    return all;
}

std::byte* map_pages(int descriptor, std::size_t bytes) noexcept {
    void* const at = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
    return at == MAP_FAILED ? nullptr : static_cast<std::byte*>(at);
}

} // namespace

Segment::~Segment() {
    shut();
    ::munmap(data_, bytes_);
}

void Segment::shut() noexcept {
    if (descriptor_ >= 0) ::close(descriptor_);
    descriptor_ = -1;
}

std::shared_ptr<Segment> Segment::create(std::size_t bytes, Offer& offer) {
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
    const std::shared_ptr<Segment> made(new Segment(data, bytes, descriptor));
    made->at<Head>(0)->cookie = cookie;
    offer = {static_cast<std::uint64_t>(::getpid()), static_cast<std::uint64_t>(descriptor), bytes, cookie};
    Mapped& all = mapped();
    const std::lock_guard hold(all.mutex);
    all.keep(cookie, made);
    return made;
}

std::shared_ptr<Segment> Segment::open(const Offer& offer) {
    Mapped& all = mapped();
    const std::lock_guard hold(all.mutex);
    if (const auto found = all.segments.find(offer.cookie); found != all.segments.end())
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
    std::shared_ptr<Segment> opened(new Segment(data, offer.bytes, -1));
    if (opened->at<Head>(0)->cookie != offer.cookie) return nullptr;
    all.keep(offer.cookie, opened);
    return opened;
}

} // namespace plexus::eco::host
