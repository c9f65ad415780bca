// SPDX-License-Identifier: BSD-3-Clause
#include "request/executor.h"

#include "base/log.h"
#include "plexus/caller.h"
#include "request/answers.h"
#include "request/peer_requests.h"

#include <cstring>
#include <iterator>
#include <utility>

namespace plexus::request {
namespace {

/// For the answers of handlers whose waits have just been ended.
constexpr auto kLastAnswers = std::chrono::milliseconds(100);

/// A request whose handler runs. Every detail::Incoming is one.
struct RunningRequest : detail::Incoming {
    explicit RunningRequest(Reporter& of)
      : reporter(of) {}
    Reporter& reporter;
    Buffer* memory = nullptr; ///< where its bytes are; null: in memory that is its sender's or module's
};

/// The handler that runs on this thread. Its own: set before each, so it costs one instruction.
__attribute__((tls_model("initial-exec"))) constinit thread_local const RunningRequest* running = nullptr;

class Running {
  public:
    explicit Running(RunningRequest& request) noexcept {
        request.before = running;
        running = &request;
    }
    ~Running() { running = static_cast<const RunningRequest*>(running->before); }
    Running(const Running&) = delete;
    Running& operator=(const Running&) = delete;
};

/// An answer that the program still owes.
class Owed final : public detail::Deferred {
  public:
    Owed(Reporter& reporter, transport::Channel& to, const wire::RequestHeader& header, Objects::Slot* pinned)
      : reporter_(reporter)
      , core_(to.endpoint().keeper())
      , peer_(to.peer().shared_from_this())
      , to_(to)
      , header_(header)
      , pinned_(pinned) {
        if (pinned_ != nullptr) Objects::pin(*pinned_);
    }
    ~Owed() override {
        try {
            fail(Status::handler_threw, "the handler ended without an answer: its Reply was dropped");
        } catch (const std::exception& error) {
            log::error("request", "an answer that is owed could not be given: {}", error.what());
        }
        if (pinned_ != nullptr) Objects::unpin(*pinned_);
    }
    bool answer(detail::Writer& result) override {
        if (!give_up()) return false;
        if ((header_.flags & wire::kWantsReply) != 0) request::answer(to_, header_.call, result);
        return true;
    }
    bool fail(Status status, std::string_view why) override {
        if (!give_up()) return false;
        refuse(reporter_, to_, header_, status, std::string(why));
        return true;
    }
    bool give_up() noexcept override { return !over_.exchange(true, std::memory_order_acq_rel); }

  private:
    Reporter& reporter_;
    const std::shared_ptr<detail::Core> core_;    // keeps the reporter and the endpoint
    const std::shared_ptr<transport::Peer> peer_; // keeps `to_`
    transport::Channel& to_;
    const wire::RequestHeader header_;
    Objects::Slot* const pinned_;
    std::atomic<bool> over_{false}; // whoever sets it answers
};

/// A request that waits for a thread of the pool.
struct Job {
    using Clock = Pool::Clock;

    Job(Objects::Slot& slot, transport::Channel& by, const wire::RequestHeader& its_header)
      : peer(by.peer().shared_from_this())
      , from(by)
      , header(its_header)
      , pin(slot, its_header.key)
      , waiting(requests_of(*peer).waiting) {
        if (header.deadline != 0) expires = Clock::now() + std::chrono::milliseconds(header.deadline);
        if (called()) waiting.enter();
    }
    ~Job() {
        if (called() && !begun) waiting.leave(header.call);
    }
    Job(const Job&) = delete;
    Job& operator=(const Job&) = delete;
    bool called() const noexcept { return (header.flags & wire::kWantsReply) != 0; }
    /// Bytes of memory that it takes while it waits: a job is many times as large as a small request.
    std::size_t cost() const noexcept { return kBesides + sizeof(Job) + frame.size(); }
    void copy(wire::View whole) {
        memory = make_buffer(whole.size());
        if (memory == nullptr) throw std::bad_alloc();
        std::memcpy(memory.get(), whole.data(), whole.size());
        frame = {memory.get(), whole.size()};
    }
    /// Why its handler must not run any more; ok: it may.
    Status begin(std::string& why) {
        begun = true;
        if (called() && !waiting.leave(header.call)) return Status::cancelled;
        if (!pin.begin()) {
            why = "the object was unbound before its handler began";
            return Status::dead_pointer;
        }
        if (header.deadline != 0 && Clock::now() > expires) {
            why = "its deadline had passed before its handler began";
            return Status::deadline_exceeded;
        }
        if (!called()) return Status::ok;
        if (!transport::is_away(peer->presence())) return Status::ok;
        why = "its caller was lost before its handler began";
        return Status::peer_lost;
    }

    /// The entry in the queue with what it calls, the count of owners, and the allocator's part of each.
    static constexpr std::size_t kBesides = 144;

    const std::shared_ptr<transport::Peer> peer; // keeps `from`
    transport::Channel& from;
    const wire::RequestHeader header;
    Objects::HandlerPin pin;
    WaitingRequests& waiting;
    bool begun = false;
    Buffer memory;
    wire::View frame;
    Clock::time_point expires{};
};

} // namespace

Executor::Executor(std::size_t threads, std::size_t most_bytes, Reporter& reporter)
  : reporter_(reporter)
  , pool_(threads, most_bytes) {}

std::size_t Executor::run(detail::Handler& handler, Objects::Slot& slot, transport::Channel& from,
                          const wire::RequestHeader& header, wire::View frame, Buffer* owned) {
    detail::Reader in(&from, frame.data(), frame.size(), header.bytes());
    RunningRequest request(reporter_);
    request.memory = owned;
    request.from = &from;
    request.header = &header;
    request.slot = &slot;
    const Running now(request);
    try {
        detail::Ran ran;
        if ((header.flags & wire::kWantsReply) == 0) {
            ran = handler.run(slot.object, in, nullptr, request);
            if (ran == detail::Ran::done) [[likely]]
                return 0;
        } else {
            detail::Writer reply(wire::ReplyHeader::kBytes);
            ran = handler.run(slot.object, in, &reply, request);
            if (ran == detail::Ran::done) {
                const std::size_t size = reply.total();
                answer(from, header.call, reply);
                return size;
            }
        }
        if (ran == detail::Ran::bad_arguments)
            refuse(reporter_, from, header, Status::bad_archive,
                   "the arguments are not what the signature says");
    } catch (const Error& error) {
        refuse(reporter_, from, header, error.status(), error.what());
    } catch (const std::exception& error) {
        refuse(reporter_, from, header, Status::handler_threw, error.what());
    } catch (...) {
        refuse(reporter_, from, header, Status::handler_threw,
               "the handler threw something that is no std::exception");
    }
    return 0;
}

void Executor::submit(detail::Handler& handler, Objects::Slot& slot, transport::Channel& from,
                      const wire::RequestHeader& header, wire::View frame, Buffer* owned) {
    Status status = Status::again;
    std::string why;
    try {
        const auto job = std::make_shared<Job>(slot, from, header);
        if (owned != nullptr && *owned != nullptr) {
            job->memory = std::move(*owned);
            job->frame = frame;
        } else {
            job->copy(frame);
        }
        const auto task = [this, &handler, job] {
            std::string reason;
            Status begun = job->begin(reason);
            if (begun == Status::ok && finished_.load(std::memory_order_relaxed)) {
                if (transport::is_away(job->peer->presence())) return; // nobody hears a report
                begun = Status::closed;
                reason = kNotBegun;
            }
            if (begun == Status::cancelled) return; // nobody waits for an answer
            if (begun != Status::ok) return refuse(reporter_, job->from, job->header, begun, reason);
            const Objects::OwnPin own(job->pin.slot());
            run(handler, job->pin.slot(), job->from, job->header, job->frame, &job->memory);
        };
        const bool queued = pool_.submit(job->cost(), task, &handler);
        if (queued) return;
        why = fmt::format(
            "the requests that wait for a thread in context {} have as much memory as its "
            "limits.handler_queue allows: send fewer at a time, or raise that or handlers.threads there",
            transport::short_text(from.endpoint().self()));
        if (pool_.stopping()) {
            status = Status::closed;
            why = "the context is closing";
        }
    } catch (const std::bad_alloc&) {
        why = "there is no memory for a request of " + std::to_string(frame.size()) + " bytes";
    } catch (const std::system_error& error) {
        why = std::string("no thread could be started for its handler: ") + error.what();
    }
    refuse(reporter_, from, header, status, why);
}

std::size_t Executor::finish(poll::Scheduler& scheduler, Clock::time_point deadline) {
    const auto idle = [this] { return pool_.idle(); };
    pool_.close(deadline, [&scheduler] { scheduler.wake(); });
    if (!scheduler.wait_for_true(idle, deadline)) {
        scheduler.end_waits();
        scheduler.wait_for_true(idle, Clock::now() + kLastAnswers);
    }
    std::vector<std::function<void()>> dropped = pool_.take_dropped();
    not_begun_.assign(std::make_move_iterator(dropped.begin()), std::make_move_iterator(dropped.end()));
    return not_begun_.size();
}

std::size_t Executor::refuse_not_begun(std::size_t most) {
    finished_.store(true, std::memory_order_relaxed);
    std::size_t refused = 0;
    for (; refused < most && !not_begun_.empty(); ++refused) {
        const auto task = std::move(not_begun_.front());
        not_begun_.pop_front();
        try {
            task();
        } catch (const std::exception& error) { // such as no memory for this report; the others may find some
            log::warn("request", "a request that had not begun could not be refused: {}", error.what());
        }
    }
    return refused;
}

std::vector<const void*> Executor::release(Clock::time_point deadline, std::shared_ptr<void> keep) {
    not_begun_.clear(); // no turn has come to refuse them
    // Without somebody who keeps what handlers touch, nothing remains but to wait for them.
    if (keep == nullptr) deadline = Clock::time_point::max();
    return pool_.release(deadline, std::move(keep));
}

std::shared_ptr<const void> keep_running_request() {
    if (running == nullptr || running->memory == nullptr || *running->memory == nullptr) return nullptr;
    return std::shared_ptr<const std::byte[]>(std::move(*running->memory));
}

} // namespace plexus::request

namespace plexus {

Caller caller() {
    if (request::running == nullptr)
        throw Error(Status::bad_argument, "plexus::caller() was used where no handler runs on this thread");
    const auto& from = static_cast<const transport::Channel&>(*request::running->from);
    const auto& header = *static_cast<const wire::RequestHeader*>(request::running->header);
    if ((header.flags & wire::kByDatagram) != 0)
        return {from.peer().id, from.peer().name(), request::carrier_of(header, from).name};
    return {from.peer().id, from.peer().name(), from.row_name()};
}

namespace detail {

std::shared_ptr<Deferred> Incoming::defer(bool keeps_object) const {
    return std::make_shared<request::Owed>(
        static_cast<const request::RunningRequest&>(*this).reporter, static_cast<transport::Channel&>(*from),
        *static_cast<const wire::RequestHeader*>(header),
        keeps_object ? static_cast<request::Objects::Slot*>(slot) : nullptr);
}

std::shared_ptr<Core> core_of_handler() noexcept {
    return request::running == nullptr ? nullptr : request::running->from->endpoint().keeper();
}

Deferred::~Deferred() = default;
Handler::~Handler() = default;

} // namespace detail
} // namespace plexus
