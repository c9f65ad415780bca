// SPDX-License-Identifier: BSD-3-Clause
#include "wire/frame.h"

namespace plexus::wire {
namespace {

constexpr std::uint8_t byte(Kind kind) noexcept { return static_cast<std::uint8_t>(kind); }
constexpr std::size_t kLongestName = 255;

} // namespace

std::optional<Kind> kind_of(View frame) noexcept {
    if (frame.empty()) return std::nullopt;
    const auto value = static_cast<std::uint8_t>(frame[0]);
    const bool known = (value >= byte(Kind::request) && value <= byte(Kind::data)) ||
                       (value >= byte(Kind::declare) && value <= byte(Kind::cancel)) ||
                       (value >= byte(Kind::hello) && value <= byte(Kind::dropped));
    return known ? std::optional(static_cast<Kind>(value)) : std::nullopt;
}

void encode(Kind kind, const ReplyHeader& header, std::byte* to) noexcept {
    Out out(to);
    out.u8(byte(kind));
    out.u8(0);
    out.u16(header.status);
    out.u64(header.call);
    out.u32(0);
}

std::optional<ReplyHeader> decode_reply(View frame) noexcept {
    if (frame.size() < ReplyHeader::kBytes) return std::nullopt;
    In in(frame.subspan(2));
    ReplyHeader header;
    header.status = in.u16();
    header.call = in.u64();
    return header;
}

void encode(const ReportHeader& header, std::byte* to) noexcept {
    Out out(to);
    out.u8(byte(Kind::report));
    out.u8(0);
    out.u16(header.status);
    out.u16(header.request);
    out.u16(0);
}

std::optional<ReportHeader> decode_report(View frame) noexcept {
    if (frame.size() < ReportHeader::kBytes) return std::nullopt;
    In in(frame.subspan(2));
    ReportHeader header;
    header.status = in.u16();
    header.request = in.u16();
    return header;
}

void encode(Kind kind, const BulkHeader& header, std::byte* to) noexcept {
    Out out(to);
    out.u8(byte(kind));
    out.u8(header.flags);
    out.u16(0);
    out.u64(header.call);
    out.u32(0);
    out.u64(header.key);
    out.u32(header.handle);
    out.u32(header.generation);
    out.u64(header.offset);
    out.u64(header.length);
}

std::optional<BulkHeader> decode_bulk(View frame) noexcept {
    if (frame.size() < BulkHeader::kBytes) return std::nullopt;
    In in(frame.subspan(1));
    BulkHeader header;
    header.flags = in.u8();
    in.u16();
    header.call = in.u64();
    in.u32();
    header.key = in.u64();
    header.handle = in.u32();
    header.generation = in.u32();
    header.offset = in.u64();
    header.length = in.u64();
    if (header.offset + header.length < header.offset) return std::nullopt;
    return header;
}

void encode(const LeaseHeader& header, std::byte* to) noexcept {
    Out out(to);
    out.u8(byte(Kind::lease));
    out.u8(header.stays ? 1 : 0);
    out.u16(header.status);
    out.u32(header.number);
    out.u64(header.call);
}

std::optional<LeaseHeader> decode_lease(View frame) noexcept {
    if (frame.size() < LeaseHeader::kBytes) return std::nullopt;
    In in(frame.subspan(1));
    LeaseHeader header;
    header.stays = in.u8() != 0;
    header.status = in.u16();
    header.number = in.u32();
    header.call = in.u64();
    return header;
}

void encode(Kind kind, const StreamFrame& frame, std::byte* to) noexcept {
    Out out(to);
    out.u8(byte(kind));
    out.u8(0);
    out.u16(0);
    out.u32(frame.stream);
    out.u64(frame.count);
}

std::optional<StreamFrame> decode_stream(View frame) noexcept {
    if (frame.size() != StreamFrame::kBytes) return std::nullopt;
    In in(frame.subspan(4));
    StreamFrame decoded;
    decoded.stream = in.u32();
    decoded.count = in.u64();
    return decoded;
}

void encode(const DroppedFrame& frame, std::byte* to) noexcept {
    Out out(to);
    out.u8(byte(Kind::dropped));
    out.u8(0);
    out.u16(0);
    out.u32(static_cast<std::uint32_t>(frame.what));
    out.u64(frame.memory);
    out.u64(frame.count);
}

std::optional<DroppedFrame> decode_dropped(View frame) noexcept {
    if (frame.size() != DroppedFrame::kBytes) return std::nullopt;
    In in(frame.subspan(4));
    DroppedFrame decoded;
    decoded.what = static_cast<Dropped>(in.u32());
    decoded.memory = in.u64();
    decoded.count = in.u64();
    return decoded;
}

Bytes encode(const Declare& frame) {
    Bytes bytes;
    Builder out(bytes);
    out.u8(byte(Kind::declare));
    out.u8(0);
    out.u16(frame.request);
    out.u64(frame.signature);
    out.text(frame.name);
    out.text(frame.sender);
    return bytes;
}

std::optional<Declare> decode_declare(View frame) noexcept {
    if (frame.size() < 2) return std::nullopt;
    In in(frame.subspan(2));
    Declare decoded;
    decoded.request = in.u16();
    decoded.signature = in.u64();
    decoded.name = in.text();
    decoded.sender = in.text();
    if (!in.ok() || !in.rest().empty() || decoded.name.empty() || decoded.name.size() > kLongestName ||
        decoded.sender.size() > kLongestName)
        return std::nullopt;
    return decoded;
}

Bytes encode(const Hello& frame) {
    Bytes bytes;
    Builder out(bytes);
    out.u8(byte(Kind::hello));
    out.u8(frame.version);
    out.u16(0);
    out.u32(frame.stream);
    out.u64(frame.max_message);
    out.u64(frame.memory);
    out.u64(frame.known_memory);
    out.u64(frame.dropped);
    out.raw(frame.table.data(), frame.table.size());
    return bytes;
}

std::optional<Hello> decode_hello(View frame) noexcept {
    if (frame.empty()) return std::nullopt;
    In in(frame.subspan(1));
    Hello decoded;
    decoded.version = in.u8();
    in.u16();
    decoded.stream = in.u32();
    if (decoded.version != kVersion)
        return in.ok() ? std::optional(decoded) : std::nullopt; // no more is known
    decoded.max_message = in.u64();
    decoded.memory = in.u64();
    decoded.known_memory = in.u64();
    decoded.dropped = in.u64();
    decoded.table = in.rest();
    if (!in.ok()) return std::nullopt;
    if (decoded.max_message == 0) return std::nullopt; // would read as: the peer has said nothing yet
    return decoded;
}

Bytes encode(const TableFrame& frame) {
    Bytes bytes;
    Builder out(bytes);
    out.u8(byte(Kind::table));
    out.u8(0);
    out.raw(frame.context.bytes.data(), frame.context.bytes.size());
    out.raw(frame.table.data(), frame.table.size());
    return bytes;
}

std::optional<TableFrame> decode_table_frame(View frame) noexcept {
    TableFrame decoded;
    if (frame.size() < 2 + decoded.context.bytes.size()) return std::nullopt;
    std::memcpy(decoded.context.bytes.data(), frame.data() + 2, decoded.context.bytes.size());
    decoded.table = frame.subspan(2 + decoded.context.bytes.size());
    return decoded;
}

Bytes encode_cancel(std::span<const std::uint64_t> calls) {
    Bytes bytes;
    Builder out(bytes);
    out.u8(byte(Kind::cancel));
    out.u8(0);
    out.u16(0);
    out.u32(static_cast<std::uint32_t>(calls.size()));
    for (const std::uint64_t call : calls) out.u64(call);
    return bytes;
}

std::optional<std::vector<std::uint64_t>> decode_cancel(View frame) {
    if (frame.size() < kCancelHeader) return std::nullopt;
    In in(frame.subspan(4));
    const std::uint32_t count = in.u32();
    if (count > kMostCancelled || frame.size() != kCancelHeader + count * sizeof(std::uint64_t))
        return std::nullopt;
    std::vector<std::uint64_t> calls(count);
    for (std::uint64_t& call : calls) call = in.u64();
    return calls;
}

Bytes encode_goodbye() { return {std::byte{byte(Kind::goodbye)}}; }

} // namespace plexus::wire
