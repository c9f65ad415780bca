// SPDX-License-Identifier: BSD-3-Clause
// Arriving requests. @thread progress
#include "request/dispatcher.h"

#include "wire/table.h"

namespace plexus::request {
namespace {

std::string short_name(const ContextId& id) { return to_string(id).substr(0, 8); }

} // namespace

Dispatcher::Dispatcher(DispatcherOptions options)
  : calls_(options.calls)
  , pool_(options.handler_threads, options.handler_queue) {}

Dispatcher::~Dispatcher() = default;

void Dispatcher::serve(comm::Exchange& exchange) {
    using Owned = Buffer;
    exchange.on(wire::Kind::request,
                {[](void* s, comm::Connection& from, wire::View frame, Owned* owned) {
                     static_cast<Dispatcher*>(s)->take_request(from, frame, owned);
                 },
                 nullptr, this,
                 [](void* s, comm::Connection& from, wire::View head, Status status, const std::string& why) {
                     const auto header = wire::decode_request(head);
                     if (header) static_cast<Dispatcher*>(s)->refuse(*from.object, *header, status, why);
                     return header.has_value();
                 }});
    exchange.on(wire::Kind::reply,
                {[](void* s, comm::Connection& from, wire::View frame, Owned*) {
                     static_cast<Dispatcher*>(s)->take_reply(from, frame);
                 },
                 nullptr, this,
                 [](void* s, comm::Connection& from, wire::View head, Status status, const std::string& why) {
                     return static_cast<Dispatcher*>(s)->refuse_reply(from, head, status, why);
                 }});
    exchange.on(wire::Kind::report, {[](void* s, comm::Connection& from, wire::View frame, Owned*) {
                                         static_cast<Dispatcher*>(s)->take_report(from, frame);
                                     },
                                     nullptr, this});
    exchange.on(wire::Kind::declare, {[](void* s, comm::Connection& from, wire::View frame, Owned*) {
                                          static_cast<Dispatcher*>(s)->take_declare(from, frame);
                                      },
                                      nullptr, this});
    exchange.on(wire::Kind::table, {[](void* s, comm::Connection& from, wire::View frame, Owned*) {
                                        static_cast<Dispatcher*>(s)->take_table(from, frame);
                                    },
                                    nullptr, this});
}

void Dispatcher::finish_handlers(std::chrono::steady_clock::time_point deadline) {
    if (const std::size_t dropped = pool_.stop(deadline); dropped > 0)
        log::warn("request",
                  "{} accepted requests were dropped: their handlers had not begun when "
                  "progress.close_timeout was over",
                  dropped);
}

std::unique_ptr<comm::Attachment> Dispatcher::attach(comm::Peer&) { return std::make_unique<Names>(); }

void Dispatcher::take_request(comm::Connection& from, wire::View frame, Buffer* owned) {
    const auto header = wire::decode_request(frame);
    if (!header)
        return trouble(Status::bad_archive,
                       "context " + short_name(from.peer->id) + " sent a request that is too short");
    auto& entries = static_cast<Names&>(*from.peer->attachment).entries;
    if (header->request >= entries.size() || entries[header->request].name.empty()) [[unlikely]]
        return refuse(*from.object, *header, Status::no_handler,
                      "a request of number " + std::to_string(header->request) + ", which was not declared");
    Names::Entry& entry = entries[header->request];
    Status status = Status::ok;
    detail::Handler* const handler = entry.handler != nullptr ? entry.handler : find(entry, status);
    if (handler == nullptr) [[unlikely]]
        return refuse(*from.object, *header, status,
                      status == Status::no_handler
                          ? "nobody handles \"" + entry.name + "\" in context " +
                                short_name(from.method->exchange->self()) + ": call on() there first"
                          : "\"" + entry.name + "\" is declared with other types in context " +
                                short_name(from.method->exchange->self()) +
                                ": both programs need the same declaration");
    Objects::Slot* const slot = objects_.enter(header->handle, header->generation, header->key);
    if (slot == nullptr) [[unlikely]] {
        objects_.leave();
        return refuse(*from.object, *header, Status::dead_pointer,
                      "\"" + entry.name + "\": the object is not bound (any more)");
    }
    if (slot->type != handler->type()) [[unlikely]] {
        objects_.leave();
        return refuse(*from.object, *header, Status::bad_signature,
                      "\"" + entry.name + "\": the pointer names an object of another type");
    }
    if (handler->threaded()) {
        run_threaded(*handler, *slot, from, *header, frame, owned);
    } else {
        run(*handler, slot->object, *from.object, *header, frame);
    }
    objects_.leave();
}

void Dispatcher::run(detail::Handler& handler, void* object, comm::Object& from,
                     const wire::RequestHeader& header, wire::View frame) {
    detail::Reader in(&from, frame.data(), frame.size(), wire::RequestHeader::kBytes);
    try {
        if ((header.flags & wire::kWantsReply) == 0) {
            if (handler.run(object, in, nullptr)) [[likely]]
                return;
        } else {
            detail::Writer reply(wire::ReplyHeader::kBytes);
            if (handler.run(object, in, &reply)) return answer(from, header.call, reply);
        }
        refuse(from, header, Status::bad_archive, "the arguments are not what the signature says");
    } catch (const Error& error) {
        refuse(from, header, error.status(), error.what());
    } catch (const std::exception& error) {
        refuse(from, header, Status::handler_threw, error.what());
    } catch (...) {
        refuse(from, header, Status::handler_threw, "the handler threw something that is no std::exception");
    }
}

void Dispatcher::run_threaded(detail::Handler& handler, Objects::Slot& slot, comm::Connection& from,
                              const wire::RequestHeader& header, wire::View frame, Buffer* owned) {
    struct Job {
        std::shared_ptr<comm::Peer> peer; // keeps `from` alive
        comm::Object* from;
        Objects::Slot* slot;
        Buffer memory;
        wire::View frame;
        wire::RequestHeader header;
        ~Job() { Objects::unpin(*slot); }
    };
    Objects::pin(slot);
    auto job = std::make_shared<Job>();
    job->peer = from.peer;
    job->from = from.object;
    job->slot = &slot;
    job->header = header;
    job->frame = frame;
    if (owned != nullptr && *owned != nullptr) {
        job->memory = std::move(*owned);
    } else {
        job->memory = make_buffer(frame.size());
        if (job->memory == nullptr) throw std::bad_alloc();
        std::memcpy(job->memory.get(), frame.data(), frame.size());
        job->frame = {job->memory.get(), frame.size()};
    }
    const bool queued = pool_.submit(frame.size(), [this, &handler, job] {
        const Objects::OwnPin own(*job->slot);
        run(handler, job->slot->object, *job->from, job->header, job->frame);
    });
    if (queued) return;
    if (pool_.stopping()) return refuse(*from.object, header, Status::closed, "the context is closing");
    refuse(*from.object, header, Status::again,
           "the queue of threaded handlers is full (limits.handler_queue)");
}

detail::Handler* Dispatcher::find(Names::Entry& entry, Status& status) {
    Lock hold(handlers_mutex_);
    const auto found = handlers_.find(entry.name);
    if (found == handlers_.end()) {
        status = Status::no_handler;
    } else if (found->second.signature != entry.signature) {
        status = Status::bad_signature;
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
    entry->second = {request.signature, std::move(handler)};
}

void Dispatcher::on_error(std::function<void(const Error&)> handler) {
    Lock hold(handlers_mutex_);
    on_error_ = std::move(handler);
}

void Dispatcher::trouble(Status status, const std::string& what) {
    std::function<void(const Error&)> tell;
    {
        Lock hold(handlers_mutex_);
        tell = on_error_;
    }
    if (tell) {
        tell(Error(status, what));
    } else {
        log::warn("request", "{}: {}", to_string(status), what);
    }
}

void Dispatcher::refuse(comm::Object& to, const wire::RequestHeader& header, Status status,
                        const std::string& why) {
    if ((header.flags & wire::kWantsReply) != 0) return answer(to, header.call, status, why);
    detail::Writer frame(wire::ReportHeader::kBytes);
    frame.raw(why.data(), std::min<std::size_t>(why.size(), 1024));
    wire::encode(wire::ReportHeader{static_cast<std::uint16_t>(status), header.request}, frame.head());
    detail::Piece pieces[detail::Writer::kPieces + 1];
    comm::Frame out;
    out.pieces = pieces;
    out.count = frame.finish(pieces);
    out.size = frame.total();
    out.head = frame.head();
    std::string lost;
    if (to.exchange().answer(to, out, &lost) != Status::ok)
        log::info("request", "a report could not be sent: {}", lost);
}

void Dispatcher::take_declare(comm::Connection& from, wire::View frame) {
    const auto declare = wire::decode_declare(frame);
    if (!declare)
        return trouble(Status::bad_archive,
                       "context " + short_name(from.peer->id) + " sent a declaration that is none");
    auto& entries = static_cast<Names&>(*from.peer->attachment).entries;
    if (declare->request >= entries.size()) entries.resize(declare->request + std::size_t{1});
    entries[declare->request] = {std::string(declare->name), declare->signature, nullptr};
}

void Dispatcher::take_table(comm::Connection& from, wire::View frame) {
    const auto sent = wire::decode_table_frame(frame);
    auto table = sent ? wire::decode_table(sent->table) : std::nullopt;
    if (!table)
        return trouble(Status::bad_archive,
                       "context " + short_name(from.peer->id) + " sent a descriptor table that is none");
    from.method->exchange->peer(sent->context)->learn(comm::KnownTable::make(std::move(*table)), false);
}

} // namespace plexus::request
