// SPDX-License-Identifier: BSD-3-Clause
// What the thread sanitizer can't see: that a page which is mapped twice in one process, by
// two contexts, is one memory. It is told that whatever comes before any record happens
// before whatever follows the reading of any; which hides races between contexts of one
// process that only shm keeps apart, and no others. Nothing in other builds.
#pragma once

#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define PLEXUS_SHM_TSAN
#endif
#elif defined(__SANITIZE_THREAD__)
#define PLEXUS_SHM_TSAN
#endif

#ifdef PLEXUS_SHM_TSAN
extern "C" {
void __tsan_acquire(void* address);
void __tsan_release(void* address);
}
#endif

namespace plexus::shm {

#ifdef PLEXUS_SHM_TSAN
inline char every_record;
inline void will_publish() noexcept { __tsan_release(&every_record); }
inline void has_taken() noexcept { __tsan_acquire(&every_record); }
#else
inline void will_publish() noexcept {}
inline void has_taken() noexcept {}
#endif

} // namespace plexus::shm
