// SPDX-License-Identifier: BSD-3-Clause
#include "base/replace_file.h"

#include "base/bounded_file.h"
#include "support/catch.h"
#include "support/process.h"
#include "support/tmpdir.h"

#include <csignal>
#include <filesystem>
#include <sys/resource.h>
#include <sys/stat.h>

namespace replace_file_test {

using namespace plexus;
using namespace plexus::testing;
namespace fs = std::filesystem;

namespace {

std::string text_in(const fs::path& path) { return read_bounded_file(path.string(), 1'000, "is too long"); }

std::ptrdiff_t files_in(const fs::path& folder) {
    return std::distance(fs::directory_iterator(folder), fs::directory_iterator());
}

Status refusal(const fs::path& path) {
    try {
        replace_file(path.string(), "new");
        return Status::ok;
    } catch (const Error& error) { return error.status(); }
}

} // namespace

TEST_CASE("a file is made, and replaced, and nothing stays beside it") {
    const TmpDir folder;
    const fs::path file = folder / "some";
    replace_file(file.string(), "one");
    CHECK(text_in(file) == "one");
    replace_file(file.string(), "two, which is longer");
    CHECK(text_in(file) == "two, which is longer");
    replace_file(file.string(), "");
    CHECK(text_in(file).empty());
    CHECK(files_in(folder.path()) == 1);
}

TEST_CASE("a symbolic link stays one, and the file that it names is replaced") {
    const TmpDir folder;
    const fs::path file = folder.file("some", "old");
    const fs::path link = folder / "link";
    fs::create_symlink(file, link);
    replace_file(link.string(), "new");
    CHECK(fs::is_symlink(link));
    CHECK(text_in(file) == "new");
    const fs::path loose = folder / "loose"; // of a file that is not there
    fs::create_symlink(folder / "none", loose);
    replace_file(loose.string(), "new");
    CHECK(text_in(loose) == "new");
}

TEST_CASE("what is no regular file is not replaced") {
    const TmpDir folder;
    const fs::path pipe = folder / "pipe";
    REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);
    CHECK(refusal(pipe) == Status::bad_config);
    CHECK(refusal(folder.path()) == Status::bad_config);
    CHECK(fs::is_fifo(pipe));
    CHECK(files_in(folder.path()) == 1);
}

TEST_CASE("what was written beside a file that cannot be replaced is removed") {
    const TmpDir folder;
    const fs::path file = folder.file("some", "old");
    // No more than so many bytes go into a file of this process.
    Process child([&](Channel&) {
        std::signal(SIGXFSZ, SIG_IGN);
        const rlimit few{100, 100};
        ::setrlimit(RLIMIT_FSIZE, &few);
        try {
            replace_file(file.string(), std::string(1'000, 'x'));
            return 1;
        } catch (const Error& error) { return error.status() == Status::not_found ? 0 : 2; }
    });
    CHECK(child.code(std::chrono::seconds(10)) == 0);
    CHECK(text_in(file) == "old");
    CHECK(files_in(folder.path()) == 1);
}

TEST_CASE("a file that cannot be written stays as it was, and says why") {
    const TmpDir folder;
    CHECK(refusal(folder / "none" / "some") == Status::not_found);
    const fs::path file = folder / std::string(255, 'n'); // with more behind it the name is too long
    CHECK(refusal(file) == Status::not_found);
    CHECK(files_in(folder.path()) == 0);
}

} // namespace replace_file_test
