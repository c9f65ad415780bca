// SPDX-License-Identifier: BSD-3-Clause
// What a reader maps of a context's memory, and what it is told if it may map nothing.
#include "counters/memory.h"
#include "counters/processes.h"

#include "support/catch.h"
#include "support/eventually.h"
#include "support/process.h"

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <linux/capability.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace counters_memory_test {

using namespace plexus;
using namespace plexus::counters;
using namespace plexus::testing;

namespace {

constexpr std::size_t kWords = 100'000;

/// Bytes of each mapping that this process has of memory of this kind, the smallest first.
std::vector<std::size_t> mapped() {
    std::vector<std::size_t> sizes;
    std::ifstream maps("/proc/self/maps");
    for (std::string line; std::getline(maps, line);) {
        std::uintptr_t begin = 0;
        std::uintptr_t end = 0;
        if (line.find(kLabel) != line.npos && std::sscanf(line.c_str(), "%lx-%lx", &begin, &end) == 2)
            sizes.push_back(end - begin);
    }
    std::sort(sizes.begin(), sizes.end());
    return sizes;
}

/// From now on root has the limits of other users, too. False: the system does not permit it.
bool drop_right_to_lock() {
    __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
    __user_cap_data_struct rights[_LINUX_CAPABILITY_U32S_3]{};
    if (::syscall(SYS_capget, &header, rights) != 0) return false;
    rights[CAP_TO_INDEX(CAP_IPC_LOCK)].effective &= ~CAP_TO_MASK(CAP_IPC_LOCK);
    return ::syscall(SYS_capset, &header, rights) == 0;
}

/// No new page can be mapped after this. False: this machine does not limit it.
bool lock_all_memory() {
    const rlimit none{1, 1}; // 0 would forbid to ask
    if (!drop_right_to_lock() || ::setrlimit(RLIMIT_MEMLOCK, &none) != 0 || ::mlockall(MCL_FUTURE) != 0)
        return false;
    const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
    return ::mmap(nullptr, page, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED;
}

} // namespace

TEST_CASE("a reader maps the header alone, and copies all words") {
    const Memory mine = Memory::create(kWords).value();
    mine.word(kWords - 1).store(7);
    const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
    CHECK(mapped() == std::vector{(kWords * sizeof(Word) + page - 1) / page * page});
    const Memory theirs = Memory::open(paths_of(::getpid())->at(0)).value();
    REQUIRE(mapped().size() == 2);
    CHECK(mapped().front() == page);
    const auto words = theirs.copy().value();
    REQUIRE(words.size() == kWords);
    CHECK(words.back() == 7);
    theirs.header().asked.store(3);
    CHECK(mine.header().asked == 3);
}

TEST_CASE("a reader whose limit of locked memory is reached says so, and does not pass the memory over") {
    if (kSanitized) SKIP_TEST("a sanitizer maps memory of its own");
    constexpr int kSkipped = 77;
    const Memory memory = Memory::create(kWords).value();
    const std::string path = paths_of(::getpid())->at(0);
    Process child([&](testing::Channel&) {
        if (!lock_all_memory()) return kSkipped;
        const auto opened = Memory::open(path);
        return !opened && opened.status() == Status::runtime_lost ? 0 : 1;
    });
    const int code = child.code(std::chrono::seconds(30));
    if (code == kSkipped) SKIP_TEST("locked memory is not limited here");
    CHECK(code == 0);
}

} // namespace counters_memory_test
