// SPDX-License-Identifier: BSD-3-Clause
// One thread that runs an Asio io_context until finish(). Blocks all signals, so that they reach the
// program's own threads.
#pragma once

#include <asio/executor_work_guard.hpp>
#include <asio/io_context.hpp>
#include <memory>
#include <thread>

namespace plexus::bootstrap {

class IoThread {
  public:
    IoThread();
    ~IoThread() { finish(); }
    IoThread(const IoThread&) = delete;
    IoThread& operator=(const IoThread&) = delete;

    /// Shared, so that another thread may still post while this object is destroyed.
    const std::shared_ptr<asio::io_context>& io() const noexcept { return io_; }

    /// True on the thread itself. @thread any
    bool is_current() const noexcept { return thread_.get_id() == std::this_thread::get_id(); }

    /// Returns when all posted work is done and no operation is pending; the owner cancels its operations
    /// before the call. Not on the thread itself.
    void finish();

  private:
    std::shared_ptr<asio::io_context> io_ = std::make_shared<asio::io_context>(1);
    asio::executor_work_guard<asio::io_context::executor_type> guard_{io_->get_executor()};
    std::thread thread_;
};

/// For shared_ptr: deletes `object`, but never on its own thread, which it has to join.
template <class T>
void delete_elsewhere(T* object) {
    if (object->on_own_thread()) {
        std::thread([object] { delete object; }).detach();
    } else {
        delete object;
    }
}

} // namespace plexus::bootstrap
