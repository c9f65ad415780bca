// SPDX-License-Identifier: BSD-3-Clause
#include "request/answers.h"

#include "transport/peer.h"

namespace plexus::request {
namespace {

constexpr std::size_t kMostText = 1024;

Status send(transport::Channel& to, detail::Writer& writer, std::string* why, bool from_reserve = false) {
    detail::Piece pieces[detail::Writer::kPieces + 1];
    transport::Frame frame;
    frame.pieces = pieces;
    frame.count = writer.finish(pieces);
    frame.size = writer.total();
    frame.head = writer.head();
    frame.carried = writer.carried();
    frame.from_reserve = from_reserve;
    return to.endpoint().answer(to, frame, why);
}

// To the sender of a one-way request.
void report(transport::Channel& to, std::uint16_t request, Status status, const std::string& why) {
    detail::Writer frame(wire::ReportHeader::kBytes);
    frame.raw(why.data(), std::min<std::size_t>(why.size(), kMostText));
    wire::encode(wire::ReportHeader{static_cast<std::uint16_t>(status), request}, frame.head());
    std::string lost;
    if (send(to, frame, &lost, true) != Status::ok)
        log::info("request", "{} will not hear why its request was refused: {}", to.peer().text(), lost);
}

} // namespace

void answer(transport::Channel& to, std::uint64_t call, detail::Writer& result) {
    wire::encode(wire::Kind::reply, wire::ReplyHeader{0, call}, result.head());
    const std::size_t size = result.total();
    std::string why;
    const Status status = send(to, result, &why);
    if (status == Status::ok) return;
    answer(to, call, status,
           status == Status::too_large
               ? "the result has " + std::to_string(size) + " bytes, limits.max_message allows less"
               : "the result of " + std::to_string(size) + " bytes could not be sent: " + why);
}

void answer(transport::Channel& to, std::uint64_t call, Status status, std::string_view why) {
    detail::Writer writer(wire::ReplyHeader::kBytes);
    writer.raw(why.data(), std::min<std::size_t>(why.size(), kMostText));
    wire::encode(wire::Kind::reply, wire::ReplyHeader{static_cast<std::uint16_t>(status), call},
                 writer.head());
    std::string lost;
    if (const Status sent = send(to, writer, &lost, true); sent != Status::ok)
        log_unanswered(to, call, sent, lost);
}

void refuse(Reporter& reporter, transport::Channel& to, const wire::RequestHeader& header, Status status,
            const std::string& why) {
    if ((header.flags & wire::kUnreliable) != 0 && status == Status::again)
        return transport::MethodCounts::one_more(carrier_of(header, to).counts.dropped);
    if ((header.flags & wire::kWantsReply) != 0) return answer(to, header.call, status, why);
    // Before the sender is told: if it hears of the refusal, the owner's log has it.
    const std::string text = fmt::format("a one-way request of {} was not carried out ({}): {}",
                                         to.peer().text(), to_string(status), why);
    // What meets the end of an object or a context is no mistake of anybody's.
    if (status == Status::dead_pointer || status == Status::closed || status == Status::peer_lost)
        log::info("request", "{}", text);
    else
        reporter.refused(text);
    report(to, header.request, status, why);
}

transport::Interface& carrier_of(const wire::RequestHeader& header, const transport::Channel& back) {
    if ((header.flags & wire::kByDatagram) != 0)
        for (const auto& interface : back.endpoint().interfaces())
            if (interface->lane == header.call) return *interface;
    return back.interface();
}

// Its caller knows that the peer is lost, or will: no other failure is expected.
void log_unanswered(const transport::Channel& to, std::uint64_t call, Status status, const std::string& why) {
    // again: the peer is told that answers to it were dropped, and ends its calls (wire::Kind::dropped).
    const bool expected = status == Status::closed || status == Status::peer_lost ||
                          status == Status::link_lost || status == Status::again;
    log::write(expected ? log::Level::info : log::Level::warn, "request",
               fmt::format("call {} of {} gets no answer: {}", call, to.peer().text(), why));
}

} // namespace plexus::request
