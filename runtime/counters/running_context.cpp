// SPDX-License-Identifier: BSD-3-Clause
// The reader's side.
#include "plexus/counters.h"

#include "base/clock.h"
#include "base/log.h"
#include "counters/decode.h"
#include "counters/memory.h"
#include "counters/processes.h"
#include "counters/question.h"

#include <algorithm>
#include <optional>
#include <sys/stat.h>

namespace plexus {

using namespace std::chrono_literals;

struct RunningContext::Inside {
    counters::Memory memory;
    ContextLabel label;
    std::string path;                        ///< by which the memory was opened
    std::optional<std::uint32_t> question{}; ///< that has no answer yet

    /// False: the context has closed, or its process has ended.
    bool is_there() const;
    /// Asks if that was not done, and waits for the answer. False: it did not come in time.
    /// @error peer_lost
    Result<bool> wait(Clock::time_point deadline);
    /// @error as read()
    Result<counters::Decoded> take(Clock::time_point deadline) const;

    /// Null: nothing is shown there, or not yet.
    static Result<std::unique_ptr<Inside>> open(std::int32_t process, const std::string& path);
    /// Those that can't be read are left out, and `refused` says why.
    static Result<std::vector<std::unique_ptr<Inside>>> open_all(std::int32_t process,
                                                                 std::vector<Failure>& refused);
};

namespace {

constexpr auto kCopy = 50ms; ///< for a sample that is whole, at least

} // namespace

bool RunningContext::Inside::is_there() const {
    struct stat info {};
    return ::stat(path.c_str(), &info) == 0 && memory.is(info.st_dev, info.st_ino);
}

Result<bool> RunningContext::Inside::wait(Clock::time_point deadline) {
    if (!question) question = counters::ask(memory.header());
    const std::uint32_t number = *std::exchange(question, std::nullopt);
    return counters::wait(memory.header(), number, deadline, [this] { return is_there(); });
}

Result<counters::Decoded> RunningContext::Inside::take(Clock::time_point deadline) const {
    const auto words = counters::take(memory, deadline);
    if (!words) return words.failure();
    return counters::decode(*words);
}

Result<std::unique_ptr<RunningContext::Inside>> RunningContext::Inside::open(std::int32_t process,
                                                                             const std::string& path) {
    auto memory = counters::Memory::open(path);
    if (!memory && memory.status() == Status::runtime_lost)
        return fail(Status::runtime_lost, "process {}: {}", process, memory.failure().why);
    // [ready] Without it somebody has just begun, or it is nothing of ours.
    if (!memory || memory->header().magic.load(std::memory_order_acquire) == 0) return {nullptr};
    auto inside = std::unique_ptr<Inside>(new Inside{std::move(*memory), {}, path, {}});
    const auto words = inside->memory.copy();
    if (!words) return fail(words.status(), "process {}: {}", process, words.failure().why);
    auto decoded = counters::decode(*words); // who it is never changes: no sample is waited for
    if (!decoded) return fail(decoded.status(), "process {}: {}", process, decoded.failure().why);
    inside->label = std::move(decoded->label);
    // A child that was forked holds its parent's.
    if (!counters::has_number(process, inside->label.process)) return {nullptr};
    inside->label.process = process;
    return inside;
}

Result<std::vector<std::unique_ptr<RunningContext::Inside>>>
RunningContext::Inside::open_all(std::int32_t process, std::vector<Failure>& refused) {
    const auto paths = counters::paths_of(process);
    if (!paths) return paths.failure();
    std::vector<std::unique_ptr<Inside>> found;
    for (const std::string& path : *paths) {
        // A process that reads its own contexts has their memory under two descriptors.
        struct stat info {};
        const bool known = ::stat(path.c_str(), &info) == 0 &&
                           std::any_of(found.begin(), found.end(), [&](const auto& each) {
                               return each->memory.is(info.st_dev, info.st_ino);
                           });
        if (known) continue;
        auto inside = open(process, path);
        if (!inside)
            refused.push_back(inside.failure());
        else if (*inside != nullptr)
            found.push_back(std::move(*inside));
    }
    std::stable_sort(found.begin(), found.end(), [](const auto& one, const auto& other) {
        return one->label.started < other->label.started;
    });
    return found;
}

RunningContext::RunningContext(std::unique_ptr<Inside> inside) noexcept
  : inside_(std::move(inside)) {}
RunningContext::RunningContext(RunningContext&&) noexcept = default;
RunningContext& RunningContext::operator=(RunningContext&&) noexcept = default;
RunningContext::~RunningContext() = default;

const ContextLabel& RunningContext::label() const noexcept { return inside_->label; }

std::vector<RunningContext> RunningContext::all(std::vector<std::string>* refused) {
    std::vector<RunningContext> contexts;
    const auto processes = counters::own_processes();
    if (!processes) {
        if (refused != nullptr) refused->push_back(processes.failure().why);
        return contexts;
    }
    for (const pid_t process : *processes) {
        std::vector<Failure> failures;
        auto found = Inside::open_all(process, failures);
        if (found)
            for (auto& each : *found) contexts.push_back(RunningContext(std::move(each)));
        else if (found.status() != Status::not_found && found.status() != Status::denied)
            failures.push_back(found.failure());
        if (refused != nullptr)
            for (Failure& failure : failures) refused->push_back(std::move(failure.why));
    }
    return contexts;
}

std::vector<RunningContext> RunningContext::of(std::int32_t process) {
    std::vector<RunningContext> contexts;
    std::vector<Failure> refused;
    for (auto& each : Inside::open_all(process, refused).value())
        contexts.push_back(RunningContext(std::move(each)));
    if (!refused.empty()) throw Error(refused.front().status, refused.front().why);
    if (contexts.empty())
        throw Error(Status::not_found,
                    fmt::format("process {} has no context that shows its counters", process));
    return contexts;
}

void RunningContext::ask() noexcept { inside_->question = counters::ask(inside_->memory.header()); }

CounterSample RunningContext::read(std::chrono::milliseconds patience) {
    const auto deadline = Clock::now() + patience;
    const bool fresh = inside_->wait(deadline).value();
    counters::Decoded decoded = inside_->take(std::max(deadline, Clock::now() + kCopy)).value();
    return {std::move(decoded.tables), decoded.sampled_at, fresh};
}

} // namespace plexus
