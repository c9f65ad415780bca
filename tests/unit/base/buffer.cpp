// SPDX-License-Identifier: BSD-3-Clause
#include "base/buffer.h"
#include "support/catch.h"
#include "support/eventually.h"

#include <cstdio>
#include <cstring>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

namespace buffer_test {

using namespace plexus;

TEST_CASE("a large buffer is kept for the next message of its size") {
    if (testing::kSanitized) SKIP_TEST("under a sanitizer nothing is kept");
    Buffer first = make_buffer(1'000'000);
    REQUIRE(first != nullptr);
    const std::byte* const where = first.get();
    const std::size_t kept = kept_bytes();
    first.reset();
    CHECK(kept_bytes() > kept);
    const Buffer next = make_buffer(900'000);
    CHECK(next.get() == where);
    CHECK(kept_bytes() == kept);
}

TEST_CASE("buffers of every size can be filled, and little is kept") {
    std::vector<Buffer> all;
    for (const std::size_t size :
         {0, 1, 65'535, 65'536, 65'537, 131'072, 5'000'000, 8'388'608, 8'388'609, 20'000'000})
        for (int i = 0; i < 4; ++i) {
            all.push_back(make_buffer(size));
            REQUIRE(all.back() != nullptr);
            std::memset(all.back().get(), i, size);
        }
    all.clear();
    CHECK(kept_bytes() <= kMostKeptBytes);
    CHECK(make_buffer(SIZE_MAX) == nullptr);
    if (!testing::kSanitized) CHECK(make_buffer(SIZE_MAX / 2) == nullptr); // a sanitizer ends the program
}

TEST_CASE("a buffer that no allocator keeps is of huge pages, where the system has some") {
    if (testing::kSanitized) SKIP_TEST("a sanitizer's allocator shares its pages");
    std::ifstream setting("/sys/kernel/mm/transparent_hugepage/enabled");
    std::string words;
    std::getline(setting, words);
    if (words.find("[madvise]") == words.npos) SKIP_TEST("the system gives huge pages to all, or to nobody");
    constexpr std::size_t size = std::size_t{40} << 20;
    const Buffer buffer = make_buffer(size);
    REQUIRE(buffer != nullptr);
    std::memset(buffer.get(), 1, size);
    // The mapping that holds its middle was advised to be of huge pages: "hg".
    const auto middle = reinterpret_cast<std::uintptr_t>(buffer.get() + size / 2);
    std::ifstream maps("/proc/self/smaps");
    bool inside = false;
    bool found = false;
    for (std::string line; std::getline(maps, line);) {
        std::uintptr_t first = 0;
        std::uintptr_t last = 0;
        if (std::sscanf(line.c_str(), "%lx-%lx ", &first, &last) == 2)
            inside = first <= middle && middle < last;
        if (inside && line.starts_with("VmFlags:")) found = line.find(" hg") != line.npos;
    }
    CHECK(found);
}

TEST_CASE("a buffer may end on another thread") {
    std::vector<std::thread> threads;
    for (int thread = 0; thread < 4; ++thread)
        threads.emplace_back([] {
            std::vector<Buffer> mine;
            for (int i = 0; i < 200; ++i) {
                mine.push_back(make_buffer(100'000 + 1'000 * static_cast<std::size_t>(i)));
                std::memset(mine.back().get(), 1, 100'000);
                if (i % 3 == 0)
                    std::thread([buffer = std::move(mine.back())]() mutable { buffer.reset(); }).join();
                if (mine.size() > 4) mine.erase(mine.begin());
            }
        });
    for (std::thread& thread : threads) thread.join();
    CHECK(kept_bytes() <= kMostKeptBytes);
}

} // namespace buffer_test
