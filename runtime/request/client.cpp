// SPDX-License-Identifier: BSD-3-Clause
#include "request/client.h"

#include "plexus/archive.h"
#include "request/names.h"
#include "wire/signature.h"

namespace plexus::request {

void Client::serve(transport::Transport& transport) {
    using Owned = Buffer;
    using transport::Link;
    endings_.serve(transport.endpoint());
    transport.demux().on(wire::Kind::reply,
                         {[](void* s, Link& from, wire::View frame, Owned*) {
                              static_cast<Client*>(s)->take_reply(from, frame);
                          },
                          nullptr, this,
                          [](void* s, Link& from, wire::View head, Status status, const std::string& why) {
                              return static_cast<Client*>(s)->refuse_reply(from, head, status, why);
                          }});
    transport.demux().on(wire::Kind::report, {[](void* s, Link& from, wire::View frame, Owned*) {
                                                  static_cast<Client*>(s)->take_report(from, frame);
                                              },
                                              nullptr, this});
}

void Client::take_reply(transport::Link& from, wire::View frame) {
    const auto header = wire::decode_reply(frame);
    if (!header)
        return reporter_.report_error(Status::bad_archive,
                                      from.peer->text() + " sent an answer that is too short");
    const Calls::Entry entry = calls_.take(header->call, from.peer.get());
    if (entry.state == nullptr) return; // its caller was told already that the peer is lost
    if (header->status == 0) {
        detail::Reader in(from.channel, frame.data(), frame.size(), wire::ReplyHeader::kBytes);
        entry.state->complete(in);
    } else {
        const wire::View text = frame.subspan(wire::ReplyHeader::kBytes);
        const auto status = static_cast<Status>(header->status);
        std::string why(reinterpret_cast<const char*>(text.data()), text.size());
        if (status == Status::bad_signature) why = wire::with_own_types(why, entry.types);
        entry.state->fail(status, std::move(why));
    }
}

bool Client::refuse_reply(transport::Link& from, wire::View head, Status status, const std::string& why) {
    const auto header = wire::decode_reply(head);
    if (!header) return false;
    endings_.end(header->call, from.peer.get(), status, why);
    return true;
}

void Client::take_report(transport::Link& from, wire::View frame) {
    const auto header = wire::decode_report(frame);
    if (!header)
        return reporter_.report_error(Status::bad_archive,
                                      from.peer->text() + " sent a report that is too short");
    const wire::View text = frame.subspan(wire::ReportHeader::kBytes);
    const auto status = static_cast<Status>(header->status);
    std::string why(reinterpret_cast<const char*>(text.data()), text.size());
    if (status == Status::bad_signature) why = wire::with_own_types(why, types_of(header->request));
    reporter_.report_error(status, "request \"" + name_of(header->request) + "\" to " + from.peer->text() +
                                       " was not carried out: " + why);
}

} // namespace plexus::request
