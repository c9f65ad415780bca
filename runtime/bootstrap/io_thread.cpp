// SPDX-License-Identifier: BSD-3-Clause
#include "bootstrap/io_thread.h"

#include <csignal>
#include <pthread.h>

namespace plexus::bootstrap {

IoThread::IoThread() {
    sigset_t all;
    sigset_t before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    thread_ = std::thread([io = io_] { io->run(); });
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

void IoThread::finish() {
    guard_.reset();
    if (thread_.joinable()) thread_.join();
}

} // namespace plexus::bootstrap
