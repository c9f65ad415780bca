// SPDX-License-Identifier: BSD-3-Clause
// A program of groups that the tests of `plexus top` look at: all processes of a job call barriers, one a
// millisecond, until they are ended. "going" is what rank 0 says after the first.
#include "plexus/eco/group.h"
#include "plexus/plexus.h"

#include <chrono>
#include <cstdio>
#include <thread>

int main(int argc, char** argv) {
    plexus::Context here(argc, argv);
    const auto all = plexus::eco::Group::world(here);
    all.barrier();
    if (here.rank() == 0) std::puts("going");
    std::fflush(stdout);
    for (;;) {
        all.barrier();
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
}
