// SPDX-License-Identifier: BSD-3-Clause
// A peer's figures: latency, bandwidth or message rate between two MPI processes, one JSON
// object a line from rank 0. Plain MPI-1 calls; tools/bench-peers runs it under each MPI.
#define _GNU_SOURCE
#include <mpi.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { kWindow = 64, kTag = 1 };

/* Fewer large ones under way: what they land in should stay in the cache, as for the others. */
static int window_of(int bytes) {
    const int fitting = (1 << 20) / bytes;
    return fitting > kWindow ? kWindow : fitting < 4 ? 4 : fitting;
}

static void pin(int core) {
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET((unsigned)core, &set);
    sched_setaffinity(0, sizeof set, &set);
}

/* The message whose turn it is, of `messages` that lie one behind the other. */
static char* next_of(char* buffer, int bytes, long messages, long* turn) {
    char* const message = buffer + (size_t)(*turn) * (size_t)bytes;
    *turn = *turn + 1 == messages ? 0 : *turn + 1;
    return message;
}

static double latency_round(int rank, char* buffer, int bytes, long messages, long trips) {
    long sent = 0;
    char* const in = buffer + (size_t)messages * (size_t)bytes; /* what arrives is read at once */
    const double start = MPI_Wtime();
    for (long trip = 0; trip < trips; ++trip) {
        char* const out = next_of(buffer, bytes, messages, &sent);
        if (rank == 0) MPI_Send(out, bytes, MPI_BYTE, 1, kTag, MPI_COMM_WORLD);
        MPI_Recv(in, bytes, MPI_BYTE, 1 - rank, kTag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (rank == 1) MPI_Send(out, bytes, MPI_BYTE, 0, kTag, MPI_COMM_WORLD);
    }
    return (MPI_Wtime() - start) / (double)trips / 2;
}

/* Windows of messages, each acknowledged: seconds for one message. */
static double stream_round(int rank, char* buffer, int bytes, long messages, int in_turn, long windows) {
    MPI_Request requests[kWindow];
    MPI_Status statuses[kWindow];
    const int ahead = window_of(bytes);
    char acknowledged = 0;
    long turn = 0;
    const double start = MPI_Wtime();
    for (long window = 0; window < windows; ++window) {
        for (int at = 0; at < ahead; ++at) {
            if (rank == 0)
                MPI_Isend(in_turn ? next_of(buffer, bytes, messages, &turn) : buffer, bytes, MPI_BYTE, 1,
                          kTag, MPI_COMM_WORLD, &requests[at]);
            else
                MPI_Irecv(buffer + (size_t)at * (size_t)bytes, bytes, MPI_BYTE, 0, kTag, MPI_COMM_WORLD,
                          &requests[at]);
        }
        MPI_Waitall(ahead, requests, statuses);
        if (rank == 0)
            MPI_Recv(&acknowledged, 1, MPI_BYTE, 1, kTag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        else
            MPI_Send(&acknowledged, 1, MPI_BYTE, 0, kTag, MPI_COMM_WORLD);
    }
    return (MPI_Wtime() - start) / (double)windows / ahead;
}

int main(int argc, char** argv) {
    int rank = 0;
    int size = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (size != 2 || argc < 8) {
        if (rank == 0)
            fputs("usage (2 processes): mpi_pingpong latency|stream CORE0 CORE1 ROUNDS SECONDS BUFFERS "
                  "BYTES...\n",
                  stderr);
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    const int stream = strcmp(argv[1], "stream") == 0;
    pin(atoi(argv[2 + rank]));
    const int rounds = atoi(argv[4]);
    const double seconds = atof(argv[5]);
    const long buffers = atol(argv[6]);
    for (int at = 7; at < argc; ++at) {
        const int bytes = atoi(argv[at]);
        /* The receiver of a window has room for each message of it; touched before. */
        const long window = stream ? window_of(bytes) : 1;
        const long messages = buffers > window ? buffers : window;
        const size_t room = (size_t)bytes * (size_t)(messages + 1);
        char* const buffer = malloc(room);
        if (buffer == NULL) {
            fputs("mpi_pingpong: no memory for so many messages\n", stderr);
            MPI_Abort(MPI_COMM_WORLD, 3);
            return 3;
        }
        memset(buffer, 1, room);
        const long first = messages / window + 1; /* each message's turn */
        double best = stream ? stream_round(rank, buffer, bytes, messages, buffers > 1, first < 4 ? 4 : first)
                             : latency_round(rank, buffer, bytes, messages, first < 200 ? 200 : first);
        MPI_Bcast(&best, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
        const long count = (long)(seconds / best / (stream ? window_of(bytes) : 2)) + 4;
        for (int round = 0; round < rounds; ++round) {
            MPI_Barrier(MPI_COMM_WORLD);
            const double taken = stream ? stream_round(rank, buffer, bytes, messages, buffers > 1, count)
                                        : latency_round(rank, buffer, bytes, messages, count);
            if (taken < best) best = taken;
        }
        if (rank == 0 && stream)
            printf("{\"size_bytes\":%d,\"bandwidth_MBps\":%.6g,\"messages_per_s\":%.6g}\n", bytes,
                   bytes / best / 1e6, 1 / best);
        else if (rank == 0)
            printf("{\"size_bytes\":%d,\"one_way_us\":%.6g}\n", bytes, best * 1e6);
        free(buffer);
    }
    MPI_Finalize();
    return 0;
}
