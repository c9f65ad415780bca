// SPDX-License-Identifier: BSD-3-Clause
// What is not relayed, and what whoever asks is told.
#include "sites.h"

namespace forward_refusals_test {

using namespace plexus;
using namespace plexus::testing;

TEST_CASE("a forwarder relays to whom its rules name, and tells others so") {
    Context gate(gate_options("gate", {{"forward.allow", "bob, carol"}}));
    Target bob(behind(gate.url(), {{"name", "bob"}}));
    Target mallory(behind(gate.url(), {{"name", "mallory"}}));
    Context source(by("forward, tcp"));
    auto to_bob = handed(source, bob.pointer());
    auto to_mallory = handed(source, mallory.pointer());
    to_bob.use("forward");
    to_mallory.use("forward");
    CHECK(within(to_bob.call(twice, 3)) == 6);
    const Refusal refusal = refusal_of(to_mallory.call(twice, 3));
    INFO(refusal.why);
    CHECK(refusal.status == Status::no_method);
    CHECK(
        refusal.says("forwarder gate (" + to_string(gate.id()).substr(0, 8) + ") does not relay to context"));
    CHECK(refusal.says("(mallory) (forward.allow)"));
}

} // namespace forward_refusals_test
