// SPDX-License-Identifier: BSD-3-Clause
// A peer's figures: how long its collective calls take, by the two definitions of `plexus bench
// collective` (tools/bench/collective_times.cpp has the same steps), one JSON object a line from
// rank 0. Plain MPI-1 calls; tools/bench-collectives runs it under each MPI.
#define _GNU_SOURCE
#include <mpi.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { kFewest = 5, kMost = 5000, kExchanges = 30, kFewestExchanges = 4, kTag = 1 };
static const double kSeconds = 0.5;   /* of a case, where no number of calls is said */
static const double kPatience = 0.05; /* for one process's clock */

enum operation {
    broadcast,
    scatter,
    gather,
    reduce,
    all_gather,
    all_reduce,
    all_to_all,
    barrier,
    operations
};
static const char* const kNames[operations] = {"broadcast",  "scatter",    "gather",     "reduce",
                                               "all_gather", "all_reduce", "all_to_all", "barrier"};

static int rank, size;
static MPI_Comm group;     /* the same processes, perhaps in another order */
static int place;          /* in the group */
static double ahead_of_us; /* rank 0's clock by ours */

static double own(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}
static double common(void) { return own() + ahead_of_us; }

static void wait_until(double then) {
    const double left = then - common() - 200e-6;
    if (left > 200e-6) {
        const struct timespec pause = {(time_t)left, (long)((left - (double)(time_t)left) * 1e9)};
        nanosleep(&pause, NULL);
    }
    while (common() < then) {}
}

static void set_clock(void) {
    double there = 0;
    for (int turn = 1; turn < size; ++turn) {
        if (turn == rank) {
            double quickest = 1e9;
            const double begun = own();
            int more = 1;
            for (int at = 0; more; ++at) {
                const double before = own();
                more = at + 1 < kFewestExchanges || (at + 1 < kExchanges && before - begun < kPatience);
                MPI_Send(&more, 1, MPI_INT, 0, kTag, MPI_COMM_WORLD);
                MPI_Recv(&there, 1, MPI_DOUBLE, 0, kTag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
                const double trip = own() - before;
                if (trip >= quickest) continue;
                quickest = trip;
                ahead_of_us = there - (before + trip / 2);
            }
        } else if (rank == 0) {
            for (int more = 1; more;) {
                MPI_Recv(&more, 1, MPI_INT, turn, kTag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
                there = own();
                MPI_Send(&there, 1, MPI_DOUBLE, turn, kTag, MPI_COMM_WORLD);
            }
        }
        MPI_Barrier(MPI_COMM_WORLD);
    }
}

struct call {
    enum operation operation;
    int bytes;
    int root;
    char* out;
    char* in;
};

static void run(const struct call* call) {
    const int bytes = call->bytes;
    const int words = bytes / 8;
    switch (call->operation) {
    case broadcast:
        MPI_Bcast(call->in, bytes, MPI_BYTE, call->root, group);
        break;
    case scatter:
        MPI_Scatter(call->out, bytes, MPI_BYTE, call->in, bytes, MPI_BYTE, call->root, group);
        break;
    case gather:
        MPI_Gather(call->out, bytes, MPI_BYTE, call->in, bytes, MPI_BYTE, call->root, group);
        break;
    case reduce:
        MPI_Reduce(call->out, call->in, words, MPI_UINT64_T, MPI_SUM, call->root, group);
        break;
    case all_gather:
        MPI_Allgather(call->out, bytes, MPI_BYTE, call->in, bytes, MPI_BYTE, group);
        break;
    case all_reduce:
        MPI_Allreduce(call->out, call->in, words, MPI_UINT64_T, MPI_SUM, group);
        break;
    case all_to_all:
        MPI_Alltoall(call->out, bytes, MPI_BYTE, call->in, bytes, MPI_BYTE, group);
        break;
    case barrier:
        MPI_Barrier(group);
        break;
    case operations:
        break;
    }
}

/* Of the whole job, where this process is rank 0: seconds from the start, below 0 if one was late. */
static double run_at_common_start(const struct call* call, double* ahead, double* marks) {
    double start = common() + *ahead;
    MPI_Bcast(&start, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    double mark[2] = {common() > start, 0};
    const int begins_at_root = call->operation == broadcast || call->operation == scatter;
    if (!begins_at_root || place == call->root) wait_until(start);
    run(call);
    mark[1] = common() - start;
    MPI_Gather(mark, 2, MPI_DOUBLE, marks, 2, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    double taken = 0;
    if (rank != 0) return taken;
    int late = 0;
    for (int at = 0; at < size; ++at) {
        late = late || marks[2 * at] > 0;
        if (marks[2 * at + 1] > taken) taken = marks[2 * at + 1];
    }
    if (!late) return taken;
    *ahead = *ahead > 2.5 ? 5 : 2 * *ahead;
    return -1;
}

static long iterations_for(long requested, double once) {
    double count = requested > 0 ? (double)requested : kSeconds / once;
    if (requested <= 0) count = count < kFewest ? kFewest : count > kMost ? kMost : count;
    MPI_Bcast(&count, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    return (long)count;
}

static long time_by_common_clock(const struct call* call, long requested, double** times) {
    double* const marks = calloc((size_t)size * 2, sizeof(double));
    double ahead = 0;
    for (int at = 0; at < 3; ++at) {
        double before = common();
        double mark[2] = {0, 0};
        MPI_Bcast(&before, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
        MPI_Gather(mark, 2, MPI_DOUBLE, marks, 2, MPI_DOUBLE, 0, MPI_COMM_WORLD);
        const double taken = common() - before;
        if (taken > ahead) ahead = taken;
    }
    ahead += 200e-6;
    const double before = common();
    run_at_common_start(call, &ahead, marks);
    const long wanted = iterations_for(requested, common() - before);
    *times = malloc((size_t)wanted * sizeof(double));
    long count = 0;
    int more = 1;
    for (long tries = 0; more; ++tries) {
        const double taken = run_at_common_start(call, &ahead, marks);
        if (taken >= 0) (*times)[count++] = taken;
        more = count < wanted && tries < 4 * wanted;
        MPI_Bcast(&more, 1, MPI_INT, 0, MPI_COMM_WORLD);
        if (rank != 0) count = 0; /* its times mean nothing */
    }
    free(marks);
    return count;
}

static void durations(const struct call* call, long count, double* times) {
    for (long at = 0; at < count; ++at) {
        MPI_Barrier(group);
        const double before = own();
        run(call);
        times[at] = own() - before;
    }
}

static long time_by_own_clocks(const struct call* call, long requested, double** times) {
    double few[3];
    const double before = own();
    durations(call, 3, few);
    double once = (own() - before) / 3; /* with its barrier */
    MPI_Allreduce(MPI_IN_PLACE, &once, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    const long count = iterations_for(requested, once);
    *times = malloc((size_t)count * sizeof(double));
    durations(call, count, *times);
    MPI_Allreduce(MPI_IN_PLACE, *times, (int)count, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return count;
}

static int compare(const void* a, const void* b) {
    const double x = *(const double*)a, y = *(const double*)b;
    return (x > y) - (x < y);
}

static void report(const struct call* call, double* times, long count, const char* order) {
    double sum = 0;
    qsort(times, (size_t)count, sizeof(double), compare);
    for (long at = 0; at < count; ++at) sum += times[at];
    const double middle = count % 2 ? times[count / 2] : (times[count / 2 - 1] + times[count / 2]) / 2;
    printf("{\"operation\":\"%s\",\"size_bytes\":%d,\"contexts\":%d,\"order\":%s,\"iterations\":%ld,"
           "\"completion_us\":{\"mean\":%.6g,\"p50\":%.6g,\"min\":%.6g}}\n",
           kNames[call->operation], call->bytes, size, strcmp(order, "-") == 0 ? "null" : order, count,
           sum / (double)count * 1e6, middle * 1e6, times[0] * 1e6);
    fflush(stdout);
}

/* The place of this process in the order of a seed: as shuffled() of tools/bench/collective.cpp. */
static int place_in_order(const char* seed) {
    int found = rank;
    if (strcmp(seed, "-") == 0) return found;
    uint64_t state = strtoull(seed, NULL, 10);
    int* const ranks = malloc((size_t)size * sizeof(int));
    for (int at = 0; at < size; ++at) ranks[at] = at;
    for (int at = size; at > 1; --at) {
        uint64_t word = state += 0x9e3779b97f4a7c15u; /* splitmix64 */
        word = (word ^ (word >> 30)) * 0xbf58476d1ce4e5b9u;
        word = (word ^ (word >> 27)) * 0x94d049bb133111ebu;
        const uint64_t other = (word ^ (word >> 31)) % (uint64_t)at;
        const int swapped = ranks[at - 1];
        ranks[at - 1] = ranks[other];
        ranks[other] = swapped;
    }
    for (int at = 0; at < size; ++at)
        if (ranks[at] == rank) found = at;
    free(ranks);
    return found;
}

/* To the place-th of the processors that this process may use. */
static void pin(int place) {
    cpu_set_t set;
    cpu_set_t allowed;
    int core = 0;
    if (sched_getaffinity(0, sizeof allowed, &allowed) != 0) return;
    for (; core < CPU_SETSIZE; ++core)
        if (CPU_ISSET((unsigned)core, &allowed) && place-- == 0) break;
    if (core == CPU_SETSIZE) return;
    CPU_ZERO(&set);
    CPU_SET((unsigned)core, &set);
    sched_setaffinity(0, sizeof set, &set);
}

static void measure(enum operation operation, int bytes, int root, int by_common, long iterations,
                    const char* order) {
    const size_t room = (size_t)bytes * (size_t)size + 8;
    struct call call = {operation, bytes, root, calloc(room, 1), calloc(room, 1)};
    if (call.out == NULL || call.in == NULL) {
        fputs("mpi_collective: no memory for what is sent and received\n", stderr);
        MPI_Abort(MPI_COMM_WORLD, 3);
        exit(3);
    }
    memset(call.out, 1, room); /* touched before */
    memset(call.in, 1, room);
    double* times = NULL;
    run(&call);
    const long count = by_common ? time_by_common_clock(&call, iterations, &times)
                                 : time_by_own_clocks(&call, iterations, &times);
    if (rank == 0 && count > 0) report(&call, times, count, order);
    free(times);
    free(call.out);
    free(call.in);
}

static void leave(int number) {
    (void)number;
    _exit(0);
}

/* The word before the next comma; NULL: there is none left. */
static char* next_word(char** words) { return strsep(words, ","); }

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (argc != 8) {
        if (rank == 0)
            fputs("usage: mpi_collective OPERATIONS SIZES common|own ROOT ORDERS ITERATIONS CORES\n"
                  "Lists have commas. An order is a seed, or - for that of ranks; iterations 0: as many as\n"
                  "take half a second; cores: how many to tie processes to in turn, 0 for none.\n",
                  stderr);
        MPI_Abort(MPI_COMM_WORLD, 2);
        return 2;
    }
    const int by_common = strcmp(argv[3], "common") == 0;
    const int root = atoi(argv[4]);
    const long iterations = atol(argv[6]);
    const int cores = atoi(argv[7]);
    if (cores > 0) pin(rank % cores);
    if (by_common) set_clock();
    char* orders = argv[5];
    for (char* order = next_word(&orders); order != NULL; order = next_word(&orders)) {
        MPI_Comm_split(MPI_COMM_WORLD, 0, place_in_order(order), &group);
        MPI_Comm_rank(group, &place);
        char* const names = strdup(argv[1]);
        char* rest = names;
        for (char* name = next_word(&rest); name != NULL; name = next_word(&rest))
            for (int at = 0; at < operations; ++at) {
                if (strcmp(name, kNames[at]) != 0) continue;
                char* const sizes = strdup(at == barrier ? "0" : argv[2]);
                char* left = sizes;
                for (char* word = next_word(&left); word != NULL; word = next_word(&left))
                    measure((enum operation)at, atoi(word), root, by_common, iterations, order);
                free(sizes);
            }
        free(names);
        MPI_Comm_free(&group);
    }
    /* MPICH 4.0 over UCX may stay in there for ever where processes outnumber cores. All is
       printed, and nothing under way, when everyone has come here. */
    MPI_Barrier(MPI_COMM_WORLD);
    signal(SIGALRM, leave);
    alarm(3);
    MPI_Finalize();
    return 0;
}
