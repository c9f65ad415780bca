// SPDX-License-Identifier: BSD-3-Clause
// The program that the tests of `plexus top` look at: one sends numbered requests to another, one after the
// other, and says "going" when the first has been answered. In a job rank 0 sends to rank 1; else who gets a
// URL sends to who listens there, which says where that is. They go on until they are ended.
#include "plexus/plexus.h"

#include <chrono>
#include <cstdio>
#include <string_view>
#include <thread>

namespace {

using namespace plexus;

struct Box {
    std::uint64_t last = 0;
};
constexpr Request<std::uint64_t(Box&, std::uint64_t)> put_in{"top.put_in"};

} // namespace

int main(int argc, char** argv) {
    Options options;
    if (argc > 1 && std::string_view(argv[argc - 1]).starts_with("plexus://")) options.url = argv[--argc];
    Context here(argc, argv, options);
    const bool sends = here.size() > 1 ? here.rank() == 0 : !options.url.empty();
    here.on(put_in, [](Box& box, std::uint64_t number) {
        if (number != box.last + 1) std::puts("out of order");
        return box.last = number;
    });
    Box box;
    const Bound<Box> bound = here.bind(box);
    if (!sends) {
        here.publish("box", bound.pointer());
        std::printf("listens %s\n", here.url().c_str());
        std::fflush(stdout);
        here.run();
        return 0;
    }
    const auto far = here.lookup<Box>("box").get();
    for (std::uint64_t number = 1;; ++number) {
        far.call(put_in, number).get();
        if (number == 1) std::puts("going");
        std::fflush(stdout);
        std::this_thread::sleep_for(std::chrono::milliseconds(1)); // the rate of a calm program
    }
}
