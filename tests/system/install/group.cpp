// SPDX-License-Identifier: BSD-3-Clause
// A program with a group: its members call through shared memory and by messages.
#include <plexus/eco/group.h>
#include <plexus/plexus.h>

#include <functional>

int main(int argc, char** argv) {
    plexus::Context here{argc, argv};
    const auto all = plexus::eco::Group::world(here);
    const int by_memory = all.all_reduce(static_cast<int>(here.rank()) + 1, std::plus<>{});
    const auto messages = all.with(*plexus::eco::parse_algorithm("messages"));
    const int by_messages = messages.all_reduce(static_cast<int>(here.rank()) + 1, std::plus<>{});
    return by_memory == 3 && by_messages == 3 ? 0 : 1;
}
