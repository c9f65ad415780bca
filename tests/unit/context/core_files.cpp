// SPDX-License-Identifier: BSD-3-Clause
// What a core file of a process with a context does not hold.
#include "plexus/context.h"

#include "base/crypto.h"

#include "support/catch.h"
#include "support/core_file.h"
#include "support/eventually.h"

namespace core_files_test {

using namespace plexus;
using namespace plexus::testing;

TEST_CASE("the job's key is in no core file of a context, nor are the bytes that it is made of") {
    if (kSanitized) SKIP_TEST("a sanitizer writes no core file");
    const TmpDir folder;
    const std::string path = folder / "key";
    const auto core = core_file_of(folder, [&] {
        // By another process: what this one does not read by itself comes from the library.
        if (std::system("umask 077 && head -c 32 /dev/urandom >key") != 0) ::_exit(2);
        [[maybe_unused]] static const auto* const context =
            new Context(Options{.set = {{"job.key_file", path}}, .file = {}, .url = {}});
    });
    if (!core) SKIP_TEST("this machine writes core files elsewhere");
    std::ifstream file(path, std::ios::binary);
    const std::string text(std::istreambuf_iterator<char>(file), {});
    REQUIRE(text.size() == 32);
    const std::span bytes(reinterpret_cast<const std::uint8_t*>(text.data()), text.size());
    CHECK(core->find(path) != core->npos); // it is a core file of that process
    CHECK_FALSE(holds(*core, bytes));
    CHECK_FALSE(holds(*core, crypto::sha256(bytes))); // the key: see key_from_file()
}

} // namespace core_files_test
