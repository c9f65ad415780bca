// SPDX-License-Identifier: BSD-3-Clause
// Figure 3 of the Nexus paper. Nodes 1 and 2 share a fast method, node 0 has the Ethernet only.
// Node 2 sends node 0 a pointer to its own object. Node 0 can use the pointer by tcp only, and passes the
// pointer on to node 1. There the fast method applies: the pointer carries the descriptors of node 2,
// and every holder chooses among them.
//
//     plexus run -n 3 --per-process-config 0:ethernet_only.toml -- figure3
#include <plexus/plexus.h>

#include <atomic>
#include <cstdio>
#include <exception>
#include <string>
#include <utility>

namespace {

struct Counter {
    int uses = 0; // handlers of one context run one at a time
};
struct Mailbox {
    plexus::GlobalPointer<Counter> counter;
    std::atomic<bool> full{false}; // [full] the handler stores, the waiting thread loads
};

inline constexpr plexus::Request<int(Counter&)> use{"figure3.use"};
inline constexpr plexus::Request<void(Mailbox&, plexus::GlobalPointer<Counter>)> migrate{"figure3.migrate"};

std::string mailbox_of(unsigned rank) { return "mailbox of node " + std::to_string(rank); }

plexus::GlobalPointer<Counter> receive(plexus::Context& here, const Mailbox& mailbox) {
    here.run_until([&] { return mailbox.full.load(std::memory_order_acquire); }); // [full]
    return mailbox.counter;
}

void use_it(plexus::Context& here, const plexus::GlobalPointer<Counter>& counter) {
    const int uses = counter.call(use).get();
    std::printf("node %u uses it by %s, as number %d\n", here.rank(), counter.method().c_str(), uses);
    std::printf("node %u: %s\n", here.rank(), counter.explain().c_str());
}

void pass_on(plexus::Context& here, const plexus::GlobalPointer<Counter>& counter, unsigned to) {
    here.lookup<Mailbox>(mailbox_of(to)).get().send(migrate, counter);
}

int run(int argc, char** argv) {
    plexus::Context here{argc, argv};
    if (here.size() != 3) {
        std::fprintf(stderr, "figure3: start it with plexus run -n 3\n");
        return 2;
    }
    Counter counter;
    Mailbox mailbox;
    here.on(use, [](Counter& it) { return ++it.uses; });
    here.on(migrate, [](Mailbox& to, plexus::GlobalPointer<Counter> what) {
        to.counter = std::move(what);
        to.full.store(true, std::memory_order_release); // [full] publishes the pointer
    });
    const plexus::Bound<Counter> counter_bound = here.bind(counter);
    const plexus::Bound<Mailbox> mailbox_bound = here.bind(mailbox);
    here.publish(mailbox_of(here.rank()), mailbox_bound.pointer());

    switch (here.rank()) {
    case 2:
        use_it(here, counter_bound.pointer());
        pass_on(here, counter_bound.pointer(), 0);
        break;
    case 0: {
        const auto far = receive(here, mailbox);
        use_it(here, far);
        pass_on(here, far, 1);
        break;
    }
    default:
        use_it(here, receive(here, mailbox));
    }
    here.fence().get(); // the counter stays until everybody is done
    return 0;
}

} // namespace

int main(int argc, char** argv) {
    try {
        return run(argc, argv);
    } catch (const std::exception& error) {
        std::fprintf(stderr, "figure3: %s\n", error.what());
        return 1;
    }
}
