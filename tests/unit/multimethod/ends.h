// SPDX-License-Identifier: BSD-3-Clause
// Two contexts with every method that is here, and a pointer between them: in one process or
// in two. Whatever methods were built take part; no test of this room names one.
#pragma once

#include "far.h"
#include "support/process.h"
#include "support/tmpdir.h"
#include "unit/context/contexts.h"

#include <csignal>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <sys/stat.h>
#include <unistd.h>

namespace plexus::testing {

/// Where the far end is.
enum class FarEnd { this_process, other_process };

class Ends {
  public:
    explicit Ends(FarEnd far_end)
      : key_(folder_.file("key", "a secret of the multimethod tests\n").string()) {
        ::chmod(key_.c_str(), 0600);
        if (far_end == FarEnd::other_process) start_process(); // before this process has threads
        near_ = std::make_unique<Context>(options());
        if (far_end == FarEnd::this_process) {
            far_ = std::make_unique<Context>(options());
            install(*far_);
            bound_ = far_->bind(log_);
            saved_ = bound_.pointer().save();
        } else {
            await_pointer();
        }
    }
    /// The other process ends by itself, in good order.
    ~Ends() {
        if (process_ == nullptr) return;
        near_->on_error([](const Error&) {});
        CHECK_NOTHROW(pointer().send(finish_process));
        CHECK(process_->wait(kLimit) == 0);
    }
    Ends(const Ends&) = delete;
    Ends& operator=(const Ends&) = delete;

    /// The other process, in the middle of whatever it does.
    void kill_process() {
        near_->on_error([](const Error&) {});
        process_->kill(SIGKILL);
        CHECK(process_->wait(kLimit) == 128 + SIGKILL);
        process_.reset();
    }

    Context& near() noexcept { return *near_; }
    /// Of FarEnd::this_process.
    Context& far() noexcept { return *far_; }
    /// One without preferences.
    GlobalPointer<Log> pointer() { return GlobalPointer<Log>::load(*near_, saved_); }
    /// The methods by which the far end can be reached, in the order of its table.
    std::vector<std::string> ways() {
        std::vector<std::string> names;
        for (const Verdict& verdict : pointer().choose().trail)
            if (verdict.applies) names.push_back(verdict.method);
        return names;
    }

  private:
    Options options() const {
        Options options;
        options.file = "/dev/null";
        options.set["job.key_file"] = key_;
        return options;
    }
    void start_process() {
        const char* const program = std::getenv("TESTED_FAR_PROCESS");
        if (program == nullptr) throw std::runtime_error("TESTED_FAR_PROCESS says where the far process is");
        const std::string place = pointer_file();
        process_ = std::make_unique<Process>([&](Channel&) {
            ::execl(program, program, key_.c_str(), place.c_str(), nullptr);
            return 97;
        });
    }
    void await_pointer() {
        if (!eventually(kLimit, [&] { return std::filesystem::exists(pointer_file()); }))
            throw std::runtime_error("the other process has written no pointer");
        std::ifstream in(pointer_file(), std::ios::binary);
        const std::string text{std::istreambuf_iterator<char>(in), {}};
        const auto bytes = std::as_bytes(std::span(text));
        saved_.assign(bytes.begin(), bytes.end());
    }
    std::string pointer_file() const { return (folder_ / "pointer").string(); }

    TmpDir folder_;
    std::string key_;
    std::unique_ptr<Process> process_;
    Log log_;
    std::unique_ptr<Context> near_;
    std::unique_ptr<Context> far_;
    Bound<Log> bound_;
    std::vector<std::byte> saved_;
};

} // namespace plexus::testing
