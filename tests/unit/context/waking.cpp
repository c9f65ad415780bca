// SPDX-License-Identifier: BSD-3-Clause
// A foreign event loop that sleeps on a context's descriptor: what happens elsewhere in the program wakes it.
#include "contexts.h"

#include <functional>
#include <poll.h>

namespace waking_test {

using namespace plexus;
using namespace plexus::testing;

struct Bell {};

/// The loop is the test's own thread: it goes to sleep, something happens, it is woken.
bool is_woken_by(Context& context, const std::function<void()>& what) {
    const bool asleep = eventually(kLimit, [&] {
        if (context.arm()) return true;
        context.progress();
        return false;
    });
    if (!asleep) throw std::runtime_error("there is always something to do");
    what();
    pollfd wait{context.fd(), POLLIN, 0};
    const bool woken = ::poll(&wait, 1, 5000 * kPatience) == 1;
    context.progress();
    return woken;
}

TEST_CASE("an answer of the directory wakes a loop that sleeps on the context") {
    const bool joined = GENERATE(false, true);
    CAPTURE(joined);
    Bell bell;
    Context other(by("local", {{"listen", "plexus://127.0.0.1:0"}}));
    const Bound<Bell> bound = other.bind(bell);
    const Options options = by("local", {{"progress.thread", "false"}});
    Context server(by("local"));
    Context context = joined ? Context::attach(other.url(), options) : Context(options);
    Future<GlobalPointer<Bell>> found = context.lookup<Bell>("waking bell");
    CHECK(is_woken_by(context, [&] { (joined ? other : server).publish("waking bell", bound.pointer()); }));
    CHECK(eventually(kLimit, [&] { return found.ready(); }));
    CHECK(found.get() == bound.pointer());
    Future<void> met;
    CHECK(is_woken_by(context, [&] { met = context.fence(deadline(10min)); }));
    CHECK(eventually(kLimit, [&] { return met.ready(); }));
    CHECK_NOTHROW(met.get());
}

TEST_CASE("stop(), a guard and a lane that is confined or set free wake a loop that sleeps on the context") {
    Context context(by("local, tcp", {{"progress.thread", "false"}}));
    CHECK(is_woken_by(context, [&] { context.stop(); }));
    CHECK(is_woken_by(context, [&] { context.confine("tcp"); }));
    CHECK(is_woken_by(context, [&] { const Polling guard(context, "tcp"); }));
    CHECK(is_woken_by(context, [&] { context.confine("tcp", false); }));
}

} // namespace waking_test
