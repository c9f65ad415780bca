// SPDX-License-Identifier: BSD-3-Clause
// Peers that are not there any more or hold another key: every call ends in bounded time
// with an error of its own.
#include "contexts.h"

#include "support/tmpdir.h"

#include <sys/stat.h>

using namespace plexus;
using namespace plexus::testing;

namespace lost_test {

struct Light {};
constexpr Request<int(Light&, int)> blink{"lost.blink"};

struct Owner {
    explicit Owner(const std::string& methods, Values more = {})
      : context(by(methods, std::move(more))) {
        context.on(blink, [](Light&, int x) { return x; });
        bound = context.bind(light);
    }
    Light light;
    Context context;
    Bound<Light> bound;
};

std::string key_file(const TmpDir& folder, const char* name, const std::string& text) {
    const std::string path = folder.file(name, text).string();
    ::chmod(path.c_str(), 0600);
    return path;
}

} // namespace lost_test

using namespace lost_test;

TEST_CASE("a context that was never there is lost, not waited for") {
    const std::string method = GENERATE(as<std::string>{}, "local", "shm", "tcp");
    CAPTURE(method);
    std::vector<std::byte> saved;
    {
        const Owner gone(method);
        saved = gone.bound.pointer().save();
    }
    Context user(by(method));
    const auto far = GlobalPointer<Light>::load(user, saved);
    const Status status = refusal_of(far.call(blink, 1)).status;
    CHECK((status == Status::peer_lost || status == Status::no_method));
}

TEST_CASE("a context with another key is refused in bounded time") {
    const std::string method = GENERATE(as<std::string>{}, "shm", "tcp");
    CAPTURE(method);
    TmpDir folder;
    const std::string ours = key_file(folder, "ours", std::string(64, 'a'));
    const std::string theirs = key_file(folder, "theirs", std::string(64, 'b'));
    Owner owner(method, {{"job.key_file", ours}});
    Context friendly(by(method, {{"job.key_file", ours}}));
    CHECK(within(handed(friendly, owner.bound.pointer()).call(blink, 1)) == 1);

    Context stranger(by(method, {{"job.key_file", theirs}}));
    const auto far = handed(stranger, owner.bound.pointer());
    const Refusal refusal = refusal_of(far.call(blink, 2));
    CHECK((refusal.status == Status::denied || refusal.status == Status::peer_lost));
    CHECK(refusal.says("key"));
    CHECK(within(handed(friendly, owner.bound.pointer()).call(blink, 3)) == 3);
}
