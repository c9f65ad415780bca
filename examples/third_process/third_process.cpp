// SPDX-License-Identifier: BSD-3-Clause
// A pointer that travels: rank 0 owns a lamp, rank 1 looks the lamp up and sends the pointer to rank 2,
// which knows nothing of rank 0. Rank 2 uses the pointer by the method that it prefers itself. Rank 2
// without shared memory:
//
//     plexus run -n 3 --per-process-config 2:tcp_only.toml -- third_process
#include <plexus/plexus.h>

#include <atomic>
#include <cstdio>
#include <exception>
#include <string>
#include <utility>

namespace {

struct Lamp {
    int lit = 0; // handlers of one context run one at a time
};
struct Courier {
    plexus::GlobalPointer<Lamp> lamp;
    std::atomic<bool> arrived{false}; // [arrived] the handler stores, the waiting thread loads
};

inline constexpr plexus::Request<int(Lamp&, std::string)> light{"lamp.light"};
inline constexpr plexus::Request<void(Courier&, plexus::GlobalPointer<Lamp>)> carry{"courier.carry"};

void use_lamp(const plexus::Context& here, const plexus::GlobalPointer<Lamp>& lamp) {
    const int times = lamp.call(light, "rank " + std::to_string(here.rank())).get();
    std::printf("rank %u lit the lamp by %s, as number %d\n", here.rank(), lamp.method().c_str(), times);
    std::printf("rank %u: %s\n", here.rank(), lamp.explain().c_str());
}

int run(int argc, char** argv) {
    plexus::Context here{argc, argv};
    if (here.size() != 3) {
        std::fprintf(stderr, "third_process: start it with plexus run -n 3\n");
        return 2;
    }
    Lamp lamp;
    Courier courier;
    plexus::Bound<Lamp> lamp_bound;
    plexus::Bound<Courier> courier_bound;

    if (here.rank() == 0) {
        here.on(light, [](Lamp& it, const std::string& by) {
            std::printf("%s lights the lamp\n", by.c_str());
            return ++it.lit;
        });
        lamp_bound = here.bind(lamp);
        here.publish("lamp", lamp_bound.pointer());
    } else if (here.rank() == 1) {
        const auto far = here.lookup<Lamp>("lamp").get();
        use_lamp(here, far);
        here.lookup<Courier>("courier").get().send(carry, far);
    } else {
        here.on(carry, [](Courier& to, plexus::GlobalPointer<Lamp> what) {
            to.lamp = std::move(what);
            to.arrived.store(true, std::memory_order_release); // [arrived] publishes the pointer
        });
        courier_bound = here.bind(courier);
        here.publish("courier", courier_bound.pointer());
        here.run_until([&] { return courier.arrived.load(std::memory_order_acquire); }); // [arrived]
        use_lamp(here, courier.lamp);
    }
    here.fence().get(); // the lamp stays until everybody is done
    return 0;
}

} // namespace

int main(int argc, char** argv) {
    try {
        return run(argc, argv);
    } catch (const std::exception& error) {
        std::fprintf(stderr, "third_process: %s\n", error.what());
        return 1;
    }
}
