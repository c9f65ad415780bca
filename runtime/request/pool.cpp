// SPDX-License-Identifier: BSD-3-Clause
#include "request/pool.h"

#include <utility>

namespace plexus::request {

bool Pool::submit(std::size_t bytes, std::function<void()> task) {
    {
        const std::lock_guard hold(mutex_);
        if (stopping_ || (bytes_ > 0 && bytes_ + bytes > most_bytes_)) return false;
        while (threads_.size() < wanted_) threads_.emplace_back([this] { loop(); });
        tasks_.push_back({bytes, std::move(task)});
        bytes_ += bytes;
    }
    work_.notify_one();
    return true;
}

bool Pool::stopping() {
    const std::lock_guard hold(mutex_);
    return stopping_;
}

std::size_t Pool::stop(Clock::time_point deadline) {
    {
        const std::lock_guard hold(mutex_);
        stopping_ = true;
        deadline_ = deadline;
    }
    work_.notify_all();
    for (std::thread& thread : threads_)
        if (thread.joinable()) thread.join();
    return dropped_;
}

void Pool::loop() {
    std::unique_lock hold(mutex_);
    for (;;) {
        work_.wait(hold, [&] { return stopping_ || !tasks_.empty(); });
        if (tasks_.empty()) return;
        if (stopping_ && Clock::now() >= deadline_) {
            dropped_ += tasks_.size();
            const std::deque<Task> dropped = std::exchange(tasks_, {});
            hold.unlock(); // what they hold ends here
            return;
        }
        Task task = std::move(tasks_.front());
        tasks_.pop_front();
        hold.unlock();
        task.run();
        task.run = nullptr; // what it held ends here, not under the lock
        hold.lock();
        bytes_ -= task.bytes;
    }
}

} // namespace plexus::request
