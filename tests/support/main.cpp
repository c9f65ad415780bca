// SPDX-License-Identifier: BSD-3-Clause
// The main of every test program but those that have their own.
#include "support/log_guard.h"
#include "support/session.h"

int main(int argc, char** argv) {
    plexus::testing::watch_log();
    std::vector<char*> left;
    return plexus::testing::take_arguments(argc, argv, left) ? plexus::testing::run_cases(left) : 2;
}
