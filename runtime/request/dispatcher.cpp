// SPDX-License-Identifier: BSD-3-Clause
// Arriving requests. @thread progress
#include "request/dispatcher.h"

#include "method/prescription.h"
#include "plexus/caller.h"
#include "request/answers.h"
#include "request/names.h"
#include "wire/signature.h"
#include "wire/table.h"

namespace plexus::request {
namespace {

/// For the answers of handlers whose waits have just been ended.
constexpr auto kLastAnswers = std::chrono::milliseconds(100);

std::string short_name(const ContextId& id) { return to_string(id).substr(0, 8); }

/// A request whose handler runs, and where its bytes are; null: in memory that is its sender's or module's.
struct RunningRequest : detail::Incoming {
    Buffer* memory = nullptr;
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
    Owed(transport::Channel& to, const wire::RequestHeader& header, Objects::Slot* pinned)
      : core_(to.endpoint().keeper())
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
        static_cast<Dispatcher&>(to_.endpoint().listener()).refuse(to_, header_, status, std::string(why));
        return true;
    }
    bool give_up() noexcept override { return !over_.exchange(true, std::memory_order_acq_rel); }

  private:
    const std::shared_ptr<detail::Core> core_;    // keeps the endpoint
    const std::shared_ptr<transport::Peer> peer_; // keeps `to_`
    transport::Channel& to_;
    const wire::RequestHeader header_;
    Objects::Slot* const pinned_;
    std::atomic<bool> over_{false}; // whoever sets it answers
};

// By which method a request came: not the one by which reports go back, if it came by a datagram.
transport::Interface& carrier(const transport::Channel& back, const wire::RequestHeader& header) {
    if ((header.flags & wire::kByDatagram) != 0)
        for (const auto& interface : back.endpoint().interfaces())
            if (interface->lane == header.call) return *interface;
    return back.interface();
}

} // namespace

Dispatcher::Dispatcher(DispatcherOptions options)
  : options_(std::move(options))
  , calls_(options_.calls)
  , endings_(calls_)
  , parked_(options_.handler_queue)
  , pool_(options_.handler_threads, options_.handler_queue) {}

Dispatcher::~Dispatcher() = default;

void Dispatcher::serve(transport::Transport& transport) {
    using Owned = Buffer;
    endpoint_ = &transport.endpoint();
    endings_.serve(*endpoint_);
    transport.demux().on(
        wire::Kind::request,
        {[](void* s, transport::Link& from, wire::View frame, Owned* owned) {
             static_cast<Dispatcher*>(s)->take_request(from, frame, owned);
         },
         nullptr, this,
         [](void* s, transport::Link& from, wire::View head, Status status, const std::string& why) {
             const auto header = wire::decode_request(head);
             if (header) static_cast<Dispatcher*>(s)->refuse(*from.channel, *header, status, why);
             return header.has_value();
         }});
    transport.demux().on(
        wire::Kind::reply,
        {[](void* s, transport::Link& from, wire::View frame, Owned*) {
             static_cast<Dispatcher*>(s)->take_reply(from, frame);
         },
         nullptr, this,
         [](void* s, transport::Link& from, wire::View head, Status status, const std::string& why) {
             return static_cast<Dispatcher*>(s)->refuse_reply(from, head, status, why);
         }});
    transport.demux().on(wire::Kind::report, {[](void* s, transport::Link& from, wire::View frame, Owned*) {
                                                  static_cast<Dispatcher*>(s)->take_report(from, frame);
                                              },
                                              nullptr, this});
    transport.demux().on(wire::Kind::declare, {[](void* s, transport::Link& from, wire::View frame, Owned*) {
                                                   static_cast<Dispatcher*>(s)->take_declare(from, frame);
                                               },
                                               nullptr, this});
    transport.demux().on(wire::Kind::table, {[](void* s, transport::Link& from, wire::View frame, Owned*) {
                                                 static_cast<Dispatcher*>(s)->take_table(from, frame);
                                             },
                                             nullptr, this});
    transport.demux().on_datagram(
        {[](void* s, transport::Peer& from, const transport::Interface& by, wire::View frame) {
             return static_cast<Dispatcher*>(s)->take_datagram(from, by, frame);
         },
         this});
    transport.demux().on(wire::Kind::cancel, {[](void* s, transport::Link& from, wire::View frame, Owned*) {
                                                  static_cast<Dispatcher*>(s)->take_cancel(from, frame);
                                              },
                                              nullptr, this});
}

void Dispatcher::finish_handlers(poll::Scheduler& scheduler, std::chrono::steady_clock::time_point deadline) {
    using Clock = std::chrono::steady_clock;
    // Those that wait for room may need a thread.
    scheduler.wait_for_true([this] { return parked_.count() == 0; }, deadline);
    const auto idle = [this] { return pool_.idle(); };
    pool_.close(deadline, [&scheduler] { scheduler.wake(); });
    if (!scheduler.wait_for_true(idle, deadline)) {
        scheduler.end_waits();
        scheduler.wait_for_true(idle, Clock::now() + kLastAnswers);
    }
    if (const std::size_t dropped = pool_.dropped() + parked_.count(); dropped > 0)
        log::warn("request",
                  "{} accepted requests were dropped: their handlers had not begun when "
                  "progress.close_timeout was over",
                  dropped);
}

void Dispatcher::release_handlers(std::chrono::steady_clock::time_point deadline,
                                  std::shared_ptr<void> keep) {
    // Without somebody who keeps what handlers touch, nothing remains but to wait for them.
    if (keep == nullptr) deadline = std::chrono::steady_clock::time_point::max();
    for (const void* handler : pool_.release(deadline, std::move(keep)))
        log::error(
            "request",
            "the handler of \"{}\" has not returned within progress.close_timeout: its thread was left "
            "running. Let handlers return when a call in them fails with `closed`",
            name_of_handler(handler));
}

std::string Dispatcher::name_of_handler(const void* handler) const {
    Lock hold(handlers_mutex_);
    for (const auto& [name, installed] : handlers_)
        if (installed.handler.get() == handler) return name;
    return "?";
}

std::unique_ptr<transport::Attachment> Dispatcher::attach(transport::Peer&) {
    return std::make_unique<Names>();
}

void Dispatcher::take_request(transport::Link& from, wire::View frame, Buffer* owned) {
    auto header = wire::decode_request(frame);
    if (!header)
        return on_error(Status::bad_archive, from.peer->text() + " sent a request that is too short");
    auto& names = static_cast<Names&>(*from.peer->attachment);
    if ((header->flags & (wire::kNewestWins | wire::kByDatagram)) != 0) [[unlikely]] {
        header->flags &= static_cast<std::uint8_t>(~wire::kByDatagram); // whatever the peer says
        if ((header->flags & wire::kNewestWins) != 0 &&
            !names.newest.take(header->handle, header->request, std::exchange(header->call, 0)))
            return transport::MethodCounts::one_more(from.interface.counts.dropped);
    }
    if (parked_.must_wait(names.line, *from.channel, *header)) [[unlikely]]
        return park(*from.channel, names, *header, frame, owned);
    handle(*from.channel, names, *header, frame, owned);
}

bool Dispatcher::Newest::take(std::uint32_t handle, std::uint16_t request, std::uint64_t number) {
    constexpr std::size_t kMost = 4096;
    const std::uint64_t key = std::uint64_t{handle} << 16 | request;
    const auto found = numbers_.find(key);
    if (number <= (found != numbers_.end() ? found->second : floor_)) return false;
    highest_ = std::max(highest_, number);
    if (found != numbers_.end()) {
        found->second = number;
        return true;
    }
    if (numbers_.size() >= kMost) {
        numbers_.clear();
        floor_ = highest_;
        return true;
    }
    numbers_.emplace(key, number);
    return true;
}

bool Dispatcher::take_datagram(const transport::Peer& from, const transport::Interface& by,
                               wire::View frame) {
    if (frame.empty() || wire::kind_of(frame) != wire::Kind::request) return false;
    auto header = wire::decode_request(frame);
    constexpr std::uint8_t kMarked = wire::kUnreliable | wire::kDeadline;
    if (!header || (header->flags & (kMarked | wire::kWantsReply)) != kMarked) return false;
    auto& names = static_cast<Names&>(*from.attachment);
    // What declares its number may still be under way.
    if (header->request >= names.entries.size() || names.entries[header->request].name.empty()) return false;
    // Reports of what goes wrong, and what the handler sends back, take a way on which nothing is lost.
    transport::Channel* const back = from.live_channel();
    if (back == nullptr) return false;
    const bool newest_wins = (header->flags & wire::kNewestWins) != 0;
    if (newest_wins && !names.newest.take(header->handle, header->request, header->call)) return false;
    header->flags |= wire::kByDatagram;
    header->call = by.lane;
    handle(*back, names, *header, frame, nullptr);
    return true;
}

void Dispatcher::park(transport::Channel& from, Names& names, const wire::RequestHeader& header,
                      wire::View frame, Buffer* owned) {
    std::string why = "there is no memory for a request that has to wait";
    try {
        if (parked_.add(names.line, from, header, frame, owned)) {
            names.waiting.enter();
            return endpoint_->scheduler().request_deferred_work();
        }
        why = "the answers to " + from.peer().text() +
              " do not leave, and as many of its requests wait as limits.handler_queue allows";
    } catch (const std::bad_alloc&) {} // says so
    refuse(from, header, Status::again, why);
}

std::chrono::nanoseconds Dispatcher::begin_parked() {
    const bool some = parked_.count() > 0;
    const auto next = parked_.run([this](ParkedRequests::Request& request) { begin(request); });
    if (next.count() == 0) endpoint_->scheduler().request_deferred_work();
    if (some && parked_.count() == 0) endpoint_->scheduler().wake(); // finish_handlers() waits for that
    return next;
}

// One that has waited for room.
void Dispatcher::begin(ParkedRequests::Request& request) {
    wire::RequestHeader header = request.header;
    auto& names = static_cast<Names&>(*request.peer->attachment);
    if (!names.waiting.leave(header.call)) return;
    const transport::Presence presence = request.peer->presence();
    const bool gone = presence == transport::Presence::lost || presence == transport::Presence::gone;
    if (gone && (header.flags & wire::kWantsReply) != 0) return; // nobody waits for an answer
    if (header.deadline != 0) {
        const auto left = std::chrono::ceil<std::chrono::milliseconds>(request.expires - Calls::Clock::now());
        if (left.count() <= 0)
            return refuse(*request.from, header, Status::deadline_exceeded,
                          "its deadline had passed before its handler began");
        header.deadline = static_cast<std::uint32_t>(left.count());
    }
    handle(*request.from, names, header, request.frame, &request.memory);
}

void Dispatcher::take_cancel(transport::Link& from, wire::View frame) {
    const auto calls = wire::decode_cancel(frame);
    if (!calls)
        return on_error(Status::bad_archive,
                        from.peer->text() + " sent a list of cancelled calls that is none");
    static_cast<Names&>(*from.peer->attachment).waiting.cancel(*calls);
}

void Dispatcher::handle(transport::Channel& from, Names& names, const wire::RequestHeader& header,
                        wire::View frame, Buffer* owned) {
    auto& entries = names.entries;
    const auto self = [&] {
        return short_name(from.endpoint().self()) + (name().empty() ? "" : " (" + name() + ")");
    };
    if (header.request >= entries.size() || entries[header.request].name.empty()) [[unlikely]]
        return refuse(from, header, Status::no_handler,
                      "a request of number " + std::to_string(header.request) + ", which was not declared");
    Names::Entry& entry = entries[header.request];
    Status status = Status::ok;
    std::string_view types;
    detail::Handler* const handler = entry.handler != nullptr ? entry.handler : find(entry, status, types);
    if (handler == nullptr) [[unlikely]]
        return refuse(from, header, status,
                      status == Status::no_handler ? "nobody handles \"" + entry.name + "\" in context " +
                                                         self() + ": call on() there first"
                                                   : wire::declared_as(entry.name, types, self()));
    Objects::Slot* const slot = objects_.enter(header.handle, header.generation, header.key);
    if (slot == nullptr) [[unlikely]] {
        objects_.leave();
        return refuse(from, header, Status::dead_pointer,
                      "\"" + entry.name + "\": the object is not bound (any more)");
    }
    if (slot->type != handler->type()) [[unlikely]] {
        objects_.leave();
        return refuse(from, header, Status::bad_signature,
                      "\"" + entry.name + "\": the pointer names an object of another type");
    }
    if (handler->threaded()) {
        run_threaded(*handler, *slot, from, header, frame, owned);
    } else {
        const std::size_t answered = run(*handler, *slot, from, header, frame, owned);
        if ((header.flags & wire::kWantsReply) != 0) ParkedRequests::answered(names.line, answered);
    }
    objects_.leave();
}

std::size_t Dispatcher::run(detail::Handler& handler, Objects::Slot& slot, transport::Channel& from,
                            const wire::RequestHeader& header, wire::View frame, Buffer* owned) {
    detail::Reader in(&from, frame.data(), frame.size(), header.bytes());
    RunningRequest request;
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
            refuse(from, header, Status::bad_archive, "the arguments are not what the signature says");
    } catch (const Error& error) {
        refuse(from, header, error.status(), error.what());
    } catch (const std::exception& error) {
        refuse(from, header, Status::handler_threw, error.what());
    } catch (...) {
        refuse(from, header, Status::handler_threw, "the handler threw something that is no std::exception");
    }
    return 0;
}

namespace {

/// A request that waits for a thread of the pool.
struct Job {
    Job(Objects::Slot& slot, transport::Channel& by, const wire::RequestHeader& its_header)
      : peer(by.peer().shared_from_this())
      , from(by)
      , header(its_header)
      , pin(slot, its_header.key)
      , waiting(static_cast<Dispatcher::Names&>(*peer->attachment).waiting) {
        if (header.deadline != 0) expires = Calls::Clock::now() + std::chrono::milliseconds(header.deadline);
        if (called()) waiting.enter();
    }
    ~Job() {
        if (called() && !begun) waiting.leave(header.call);
    }
    Job(const Job&) = delete;
    Job& operator=(const Job&) = delete;
    bool called() const noexcept { return (header.flags & wire::kWantsReply) != 0; }
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
        if (header.deadline != 0 && Calls::Clock::now() > expires) {
            why = "its deadline had passed before its handler began";
            return Status::deadline_exceeded;
        }
        if (!called()) return Status::ok;
        const transport::Presence presence = peer->presence();
        if (presence != transport::Presence::lost && presence != transport::Presence::gone) return Status::ok;
        why = "its caller was lost before its handler began";
        return Status::peer_lost;
    }

    const std::shared_ptr<transport::Peer> peer; // keeps `from`
    transport::Channel& from;
    const wire::RequestHeader header;
    Objects::HandlerPin pin;
    WaitingRequests& waiting;
    bool begun = false;
    Buffer memory;
    wire::View frame;
    Calls::Clock::time_point expires{};
};

} // namespace

void Dispatcher::run_threaded(detail::Handler& handler, Objects::Slot& slot, transport::Channel& from,
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
            const Status begun = job->begin(reason);
            if (begun == Status::cancelled) return; // nobody waits for an answer
            if (begun != Status::ok) return refuse(job->from, job->header, begun, reason);
            const Objects::OwnPin own(job->pin.slot());
            run(handler, job->pin.slot(), job->from, job->header, job->frame, &job->memory);
        };
        const bool queued = pool_.submit(frame.size(), task, &handler);
        if (queued) return;
        why = "the queue of threaded handlers is full (limits.handler_queue)";
        if (pool_.stopping()) {
            status = Status::closed;
            why = "the context is closing";
        }
    } catch (const std::bad_alloc&) {
        why = "there is no memory for a request of " + std::to_string(frame.size()) + " bytes";
    } catch (const std::system_error& error) {
        why = std::string("no thread could be started for its handler: ") + error.what();
    }
    refuse(from, header, status, why);
}

detail::Handler* Dispatcher::find(Names::Entry& entry, Status& status, std::string_view& types) {
    Lock hold(handlers_mutex_);
    const auto found = handlers_.find(entry.name);
    if (found == handlers_.end()) {
        status = Status::no_handler;
    } else if (found->second.signature != entry.signature) {
        status = Status::bad_signature;
        types = found->second.types;
    } else {
        entry.handler = found->second.handler.get();
    }
    return entry.handler;
}

void Dispatcher::install(const detail::RequestInfo& request, std::unique_ptr<detail::Handler> handler) {
    Lock hold(handlers_mutex_);
    const auto [entry, added] = handlers_.try_emplace(std::string(request.name));
    if (!added)
        throw Error(Status::busy,
                    "request \"" + std::string(request.name) + "\" has a handler in this context already");
    entry->second = {request.signature, request.types, std::move(handler)};
}

void Dispatcher::peer_event(transport::Peer& peer, Status what, const std::string& why) {
    reporter_.peer_event({peer.id, peer.name(), what, why});
}

void Dispatcher::refuse(transport::Channel& to, const wire::RequestHeader& header, Status status,
                        const std::string& why) {
    if ((header.flags & wire::kUnreliable) != 0 && status == Status::again)
        return transport::MethodCounts::one_more(carrier(to, header).counts.dropped);
    if ((header.flags & wire::kWantsReply) == 0) {
        // Before the sender is told: if it hears of the refusal, the owner's log has it.
        const std::string text = fmt::format("a one-way request of {} was not carried out ({}): {}",
                                             to.peer().text(), to_string(status), why);
        // What meets the end of an object or a context is no mistake of anybody's.
        if (status == Status::dead_pointer || status == Status::closed || status == Status::peer_lost)
            log::info("request", "{}", text);
        else
            reporter_.refused(text);
    }
    request::refuse(to, header, status, why);
}

std::shared_ptr<const void> keep_running_request() {
    if (running == nullptr || running->memory == nullptr || *running->memory == nullptr) return nullptr;
    return std::shared_ptr<const std::byte[]>(std::move(*running->memory));
}

void Dispatcher::take_declare(transport::Link& from, wire::View frame) {
    const auto declare = wire::decode_declare(frame);
    if (!declare)
        return on_error(Status::bad_archive, from.peer->text() + " sent a declaration that is none");
    from.peer->learn_name(declare->sender);
    auto& entries = static_cast<Names&>(*from.peer->attachment).entries;
    if (declare->request >= entries.size()) entries.resize(declare->request + std::size_t{1});
    entries[declare->request] = {std::string(declare->name), declare->signature, nullptr};
}

void Dispatcher::take_table(transport::Link& from, wire::View frame) {
    const auto sent = wire::decode_table_frame(frame);
    auto table = sent ? wire::decode_table(sent->table) : std::nullopt;
    if (!table)
        return on_error(Status::bad_archive, from.peer->text() + " sent a descriptor table that is none");
    if (!table->prescribed().empty())
        if (const auto good = method::check_prescription(table->prescribed()); !good)
            return on_error(Status::bad_archive,
                            from.peer->text() +
                                " sent a pointer that prescribes what can't be: " + good.failure().why);
    from.interface.calls.demux->learn_table(from, sent->context, std::move(*table));
}

} // namespace plexus::request

namespace plexus {

Caller caller() {
    if (request::running == nullptr)
        throw Error(Status::bad_argument, "plexus::caller() was used where no handler runs on this thread");
    const auto& from = static_cast<const transport::Channel&>(*request::running->from);
    const auto& header = *static_cast<const wire::RequestHeader*>(request::running->header);
    if ((header.flags & wire::kByDatagram) != 0)
        return {from.peer().id, from.peer().name(), request::carrier(from, header).name};
    return {from.peer().id, from.peer().name(), from.row_name()};
}

namespace detail {

std::shared_ptr<Deferred> Incoming::defer(bool keeps_object) const {
    return std::make_shared<request::Owed>(
        static_cast<transport::Channel&>(*from), *static_cast<const wire::RequestHeader*>(header),
        keeps_object ? static_cast<request::Objects::Slot*>(slot) : nullptr);
}

std::shared_ptr<Core> core_of_handler() noexcept {
    return request::running == nullptr ? nullptr : request::running->from->endpoint().keeper();
}

Deferred::~Deferred() = default;
Handler::~Handler() = default;

} // namespace detail
} // namespace plexus
