// SPDX-License-Identifier: BSD-3-Clause
#include "base/buffer.h"

#include "base/fork.h"
#include "base/mutex.h"

#include <array>
#include <bit>
#include <cstdlib>
#include <sys/mman.h>
#include <vector>

namespace plexus {
namespace {

/// Smaller ones the allocator keeps itself.
constexpr std::size_t kSmallestKept = 64 * 1024;
constexpr std::size_t kLargestKept = 8 * 1024 * 1024;
constexpr std::size_t kClasses = std::bit_width(kLargestKept / kSmallestKept);

// What is kept for later hides its misuse from the address sanitizer.
#if defined(__SANITIZE_ADDRESS__)
constexpr std::size_t kMost = 0;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
constexpr std::size_t kMost = 0;
#else
constexpr std::size_t kMost = kMostKeptBytes;
#endif
#else
constexpr std::size_t kMost = kMostKeptBytes;
#endif

/// Before the memory: its class, or kClasses where it is not kept. As large as the alignment.
struct alignas(16) Header {
    std::size_t size_class;
};

std::size_t class_of(std::size_t bytes) noexcept {
    if (bytes < kSmallestKept || bytes > kLargestKept) return kClasses;
    return std::bit_width((bytes - 1) / kSmallestKept);
}

class Kept {
  public:
    Header* take(std::size_t size_class) noexcept {
        Lock hold(mutex_);
        auto& pieces = pieces_[size_class];
        if (pieces.empty()) return nullptr;
        Header* const last = pieces.back();
        pieces.pop_back();
        bytes_ -= kSmallestKept << size_class;
        return last;
    }
    /// False: enough are kept.
    bool keep(Header* piece) noexcept {
        Lock hold(mutex_);
        const std::size_t size = kSmallestKept << piece->size_class;
        if (bytes_ + size > kMost) return false;
        try {
            pieces_[piece->size_class].push_back(piece);
        } catch (const std::bad_alloc&) { return false; }
        bytes_ += size;
        return true;
    }
    RankedSpinlock<90>& mutex() noexcept { return mutex_; }
    std::size_t bytes() noexcept {
        Lock hold(mutex_);
        return bytes_;
    }

  private:
    RankedSpinlock<90> mutex_;
    std::array<std::vector<Header*>, kClasses> pieces_ PLEXUS_GUARDED_BY(mutex_);
    std::size_t bytes_ PLEXUS_GUARDED_BY(mutex_) = 0;
};

// Never ends: messages may outlive every static object.
Kept& kept() {
    static Kept& one = *new Kept;
    return one;
}
const HeldAcrossFork kKeptAcrossFork{kept().mutex()};

/// From here on the C library gives memory back to the system when it is freed (mallopt(3),
/// M_MMAP_THRESHOLD), so that all pages of the next piece are fresh: of huge pages, where the system has
/// some, since it clears these many times as fast as it makes single pages.
constexpr std::size_t kNeverReused = std::size_t{32} << 20;
constexpr std::size_t kHugePage = std::size_t{2} << 20;

void* allocate(std::size_t bytes) noexcept {
    if (bytes < kNeverReused) return std::malloc(bytes);
    void* memory = nullptr;
    if (::posix_memalign(&memory, kHugePage, bytes) != 0) return nullptr;
    (void)::madvise(memory, bytes / kHugePage * kHugePage, MADV_HUGEPAGE);
    return memory;
}

} // namespace

Buffer make_buffer(std::size_t bytes) noexcept {
    const std::size_t size_class = class_of(bytes);
    Header* header = nullptr;
    if (size_class < kClasses) {
        header = kept().take(size_class);
        bytes = kSmallestKept << size_class;
    }
    if (header == nullptr) {
        if (bytes > SIZE_MAX - sizeof(Header)) return nullptr;
        header = static_cast<Header*>(allocate(sizeof(Header) + bytes));
        if (header == nullptr) return nullptr;
        header->size_class = size_class;
    }
    return Buffer(reinterpret_cast<std::byte*>(header + 1));
}

void BufferEnd::operator()(std::byte* start) const noexcept {
    Header* const header = reinterpret_cast<Header*>(start) - 1;
    if (header->size_class < kClasses && kept().keep(header)) return;
    std::free(header);
}

std::size_t kept_bytes() noexcept { return kept().bytes(); }

} // namespace plexus
