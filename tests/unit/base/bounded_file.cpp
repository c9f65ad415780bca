// SPDX-License-Identifier: BSD-3-Clause
#include "base/bounded_file.h"

#include "support/catch.h"
#include "support/tmpdir.h"

namespace bounded_file_test {

using namespace plexus;
using namespace plexus::testing;

namespace {

std::string refusal(const std::string& path, std::size_t most) {
    try {
        return "read " + std::to_string(read_bounded_file(path, most, "is too long").size());
    } catch (const Error& error) { return std::string(to_string(error.status())) + ": " + error.what(); }
}

} // namespace

TEST_CASE("a file is read whole, with all its bytes, up to the bound and not above it") {
    const TmpDir folder;
    // Below, at and above a piece of 64 KiB.
    for (const std::size_t size : {0, 1, 65535, 65536, 65537, 200'000}) {
        std::string text(size, '\n');
        for (std::size_t at = 0; at < size; ++at) text[at] = static_cast<char>(at % 251);
        const std::string path = folder.file("some", text).string();
        CAPTURE(size);
        CHECK(read_bounded_file(path, size, "is too long") == text);
        if (size > 0) CHECK(refusal(path, size - 1) == "message too large: " + path + " is too long");
    }
}

TEST_CASE("a file without end is refused, and one that cannot be read says why") {
    const TmpDir folder;
    CHECK(refusal("/dev/zero", 1'000'000) == "message too large: /dev/zero is too long");
    const std::string none = (folder / "none").string();
    CHECK(refusal(none, 10) == "not found: " + none + " cannot be read: No such file or directory");
    const std::string directory = folder.path().string();
    CHECK(refusal(directory, 10) == "not found: " + directory + " cannot be read: Is a directory");
}

} // namespace bounded_file_test
