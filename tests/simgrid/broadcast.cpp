// SPDX-License-Identifier: BSD-3-Clause
// MPI_Bcast under SMPI: one of each size that is given, from rank 0; all ranks begin at the same simulated
// time. Prints "smpi SIZE SECONDS". Ranks share this process, and without privatization its variables.
#include <mpi.h>
#include <simgrid/s4u.hpp>

#include <cstdio>
#include <cstdlib>
#include <vector>

namespace {

constexpr double kApartS = 10000; ///< longer than any broadcast

std::vector<double> last_end_s; // of each size

} // namespace

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0) last_end_s.resize(static_cast<std::size_t>(argc));
    for (int at = 1; at < argc; ++at) {
        const int bytes = std::atoi(argv[at]);
        void* const buffer = SMPI_SHARED_MALLOC(static_cast<std::size_t>(bytes));
        const double begin = at * kApartS;
        simgrid::s4u::this_actor::sleep_until(begin);
        MPI_Bcast(buffer, bytes, MPI_BYTE, 0, MPI_COMM_WORLD);
        double& last = last_end_s[static_cast<std::size_t>(at)];
        if (const double taken = MPI_Wtime() - begin; taken > last) last = taken;
        simgrid::s4u::this_actor::sleep_until(begin + kApartS / 2);
        if (rank == 0) {
            std::printf("smpi %d %.9g\n", bytes, last);
            std::fflush(stdout);
        }
        SMPI_SHARED_FREE(buffer);
    }
    MPI_Finalize();
}
