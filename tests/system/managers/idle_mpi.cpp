// SPDX-License-Identifier: BSD-3-Clause
// What an MPI library shows that is linked to a program and never initialized.

extern "C" __attribute__((visibility("default"))) int MPI_Initialized(int* flag) {
    *flag = 0;
    return 0;
}
