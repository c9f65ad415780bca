// SPDX-License-Identifier: BSD-3-Clause
// Frames: the golden bytes, the way back, and every frame that is none.
#include "golden/frames.h"
#include "hex.h"
#include "support/catch.h"
#include "wire/frame.h"
#include "wire/table.h"

namespace frames_test {

using namespace plexus;
using namespace plexus::testing;
using namespace plexus::wire;

namespace {

template <class Header>
std::string fixed(const Header& header) {
    Bytes bytes(Header::kBytes);
    encode(header, bytes.data());
    return hex_of(bytes);
}
std::string of_request(const RequestHeader& header) {
    Bytes bytes(header.bytes());
    encode(header, bytes.data());
    return hex_of(bytes);
}
template <class Header>
std::string fixed(Kind kind, const Header& header) {
    Bytes bytes(Header::kBytes);
    encode(kind, header, bytes.data());
    return hex_of(bytes);
}

/// Gives `decode` each beginning of the frame; true if none but the whole was taken.
template <class Decode>
bool only_whole(std::string_view golden, Decode decode) {
    const Bytes whole = bytes_of(golden);
    for (std::size_t size = 0; size < whole.size(); ++size) {
        const Bytes part(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(
                                                            size)); // its own memory: sanitizers see its end
        if (decode(View(part))) return false;
    }
    return decode(View(whole)).has_value();
}

const RequestHeader kRequestHeader{kWantsReply, 0x0203,     0x18191a1b04050607, 0x08090a0b0c0d0e0f,
                                   0x10111213,  0x14151617, 0x1c1d1e1f};
const RequestHeader kOneWayHeader{0, 0x0203, 0, 0x08090a0b0c0d0e0f, 0x10111213, 0x14151617, 0};
const RequestHeader kTimedHeader{kDeadline, 0x0203, 0, 0x08090a0b0c0d0e0f, 0x10111213, 0x14151617, 250};
const BulkHeader kPutHeader{kAckNow, 0x400000001, 0x1122334455667788, 2, 3, 0x100000, 256};
const BulkHeader kGetHeader{0, 5, 0x8000000000000001, 0, 0xffffffff, 8, 0xffffffff};

} // namespace

TEST_CASE("frames have the bytes that version 4 gave them") {
    CHECK(kVersion == 4);
    CHECK(of_request(kRequestHeader) == plain(golden::kRequest));
    CHECK(of_request(kOneWayHeader) == plain(golden::kOneWay));
    CHECK(of_request(kTimedHeader) == plain(golden::kTimedOneWay));
    CHECK(fixed(Kind::reply, ReplyHeader{300, 0x0506070801020304}) == plain(golden::kReply));
    CHECK(fixed(Kind::data, ReplyHeader{0, 0x1ffffffff}) == plain(golden::kData));
    CHECK(fixed(ReportHeader{1, 0x1234}) == plain(golden::kReport));
    CHECK(fixed(Kind::put, kPutHeader) == plain(golden::kPut));
    CHECK(fixed(Kind::get, kGetHeader) == plain(golden::kGet));
    CHECK(fixed(Kind::lease_request, BulkHeader{0, 5, 0x8000000000000001, 7, 2, 0, 0}) ==
          plain(golden::kLeaseRequest));
    CHECK(fixed(LeaseHeader{true, 0, 0x600000005, 0x01020304}) == plain(golden::kLease));
    CHECK(fixed(Kind::lease_return, ReplyHeader{0, 0x01020304}) == plain(golden::kLeaseReturn));
    CHECK(fixed(Kind::lease_recall, ReplyHeader{0, 0x01020304}) == plain(golden::kLeaseRecall));
    const std::uint64_t calls[2]{0x200000001, 0x0102030405060708};
    CHECK(hex_of(encode_cancel(calls)) == plain(golden::kCancel));
    CHECK(hex_of(encode(Declare{1, 0x0123456789abcdef, "ocean.probe", "n1"})) == plain(golden::kDeclare));
    CHECK(fixed(Kind::ack, StreamFrame{1, 2}) == plain(golden::kAck));
    CHECK(fixed(Kind::ack_request, StreamFrame{1, 2}) == plain(golden::kAckRequest));
    CHECK(fixed(Kind::replay_request, StreamFrame{1, 0}) == plain(golden::kReplayRequest));
    CHECK(fixed(Kind::replay_answer, StreamFrame{1, UINT64_MAX}) == plain(golden::kReplayAnswer));
    CHECK(hex_of(encode_goodbye()) == plain(golden::kGoodbye));

    TableFrame table;
    for (std::uint8_t i = 0; i < 16; ++i) table.context.bytes[i] = i;
    const Bytes none = encode_table({});
    table.table = none;
    CHECK(hex_of(encode(table)) == plain(golden::kTable));

    DescriptorTable own;
    Place place{"kiel", {}};
    for (std::uint8_t i = 0; i < 16; ++i) place.host[i] = static_cast<std::uint8_t>(0x10 + i);
    own.set_place(place);
    own.push_back({"tcp", bytes_of("7f000001"), {}, "site"});
    const Bytes row = encode_table(own);
    CHECK(hex_of(encode(Hello{kVersion, 7, 1 << 30, 0x0102030405060708, 0x1112131415161718, 3, row})) ==
          plain(golden::kHello));
    CHECK(fixed(DroppedFrame{Dropped::answers, 0x0102030405060708, 3}) == plain(golden::kDropped));
    CHECK(fixed(DroppedFrame{Dropped::reports, 0x0102030405060708, 4}) == plain(golden::kDroppedReports));
}

TEST_CASE("what was encoded is decoded") {
    const auto request = decode_request(bytes_of(golden::kRequest));
    REQUIRE(request);
    CHECK(request->flags == kRequestHeader.flags);
    CHECK(request->request == kRequestHeader.request);
    CHECK(request->call == kRequestHeader.call);
    CHECK(request->key == kRequestHeader.key);
    CHECK(request->handle == kRequestHeader.handle);
    CHECK(request->generation == kRequestHeader.generation);
    CHECK(request->deadline == kRequestHeader.deadline);
    CHECK(request->bytes() == 32);

    const auto one_way = decode_request(bytes_of(golden::kOneWay));
    REQUIRE(one_way);
    CHECK(one_way->call == 0);
    CHECK(one_way->bytes() == 24);

    const auto timed = decode_request(bytes_of(golden::kTimedOneWay));
    REQUIRE(timed);
    CHECK(timed->deadline == 250);
    CHECK(timed->bytes() == 32);

    const auto reply = decode_reply(bytes_of(golden::kReply));
    REQUIRE(reply);
    CHECK(reply->status == 300);
    CHECK(reply->call == 0x0506070801020304);

    const auto report = decode_report(bytes_of(golden::kReport));
    REQUIRE(report);
    CHECK(report->status == 1);
    CHECK(report->request == 0x1234);

    const auto put = decode_bulk(bytes_of(golden::kPut));
    REQUIRE(put);
    CHECK(put->flags == kAckNow);
    CHECK(put->call == kPutHeader.call);
    CHECK(put->key == kPutHeader.key);
    CHECK(put->handle == kPutHeader.handle);
    CHECK(put->generation == kPutHeader.generation);
    CHECK(put->offset == kPutHeader.offset);
    CHECK(put->length == kPutHeader.length);

    const auto cancelled = decode_cancel(bytes_of(golden::kCancel));
    REQUIRE(cancelled);
    CHECK(*cancelled == std::vector<std::uint64_t>{0x200000001, 0x0102030405060708});

    const auto lease = decode_lease(bytes_of(golden::kLease));
    REQUIRE(lease);
    CHECK(lease->stays);
    CHECK(lease->status == 0);
    CHECK(lease->call == 0x600000005);
    CHECK(lease->number == 0x01020304);

    const auto stream = decode_stream(bytes_of(golden::kAck));
    REQUIRE(stream);
    CHECK(stream->stream == 1);
    CHECK(stream->count == 2);

    const auto dropped = decode_dropped(bytes_of(golden::kDroppedReports));
    REQUIRE(dropped);
    CHECK(dropped->what == Dropped::reports);
    CHECK(dropped->memory == 0x0102030405060708);
    CHECK(dropped->count == 4);

    const Bytes declared = bytes_of(golden::kDeclare); // the name is a view into it
    const auto declare = decode_declare(declared);
    REQUIRE(declare);
    CHECK(declare->request == 1);
    CHECK(declare->signature == 0x0123456789abcdef);
    CHECK(declare->name == "ocean.probe");
    CHECK(declare->sender == "n1");

    const Bytes greeted = bytes_of(golden::kHello);
    const auto hello = decode_hello(greeted);
    REQUIRE(hello);
    CHECK(hello->version == kVersion);
    CHECK(hello->stream == 7);
    CHECK(hello->max_message == 1 << 30);
    CHECK(hello->memory == 0x0102030405060708);
    CHECK(hello->known_memory == 0x1112131415161718);
    CHECK(hello->dropped == 3);
    CHECK(hex_of(hello->table) == plain("04 6b69656c 101112131415161718191a1b1c1d1e1f 01 03 746370 0400 "
                                        "7f000001 0400 73697465"));

    const Bytes told = bytes_of(golden::kTable);
    const auto table = decode_table_frame(told);
    REQUIRE(table);
    CHECK(to_string(table->context) == "000102030405060708090a0b0c0d0e0f");
    CHECK(hex_of(table->table) == std::string(36, '0'));
}

TEST_CASE("a frame that is cut off anywhere is none") {
    CHECK(only_whole(golden::kRequest, decode_request));
    CHECK(only_whole(golden::kOneWay, decode_request));
    CHECK(only_whole(golden::kTimedOneWay, decode_request));
    CHECK(only_whole(golden::kReply, decode_reply));
    CHECK(only_whole(golden::kReport, decode_report));
    CHECK(only_whole(golden::kPut, decode_bulk));
    CHECK(only_whole(golden::kGet, decode_bulk));
    CHECK(only_whole(golden::kLease, decode_lease));
    CHECK(only_whole(golden::kCancel, decode_cancel));
    CHECK_FALSE(decode_cancel(encode_cancel(std::vector<std::uint64_t>(kMostCancelled + 1))));
    CHECK(only_whole(golden::kAck, decode_stream));
    CHECK(only_whole(golden::kDropped, decode_dropped));
    CHECK(only_whole(golden::kDeclare, decode_declare));
    CHECK(
        only_whole("10 04 0000 07000000 0000004000000000 0000000000000000 0000000000000000 0000000000000000",
                   decode_hello)); // what follows is the table's to check
    const auto other = decode_hello(bytes_of("10 01 0000 07000000 00")); // of a release with other fields
    REQUIRE(other);
    CHECK(other->version == 1);
    CHECK(only_whole("09 00 000102030405060708090a0b0c0d0e0f", decode_table_frame));
}

TEST_CASE("fields that contradict each other are refused") {
    CHECK_FALSE(decode_stream(bytes_of("11 00 0000 01000000 0200000000000000 00"))); // too long
    CHECK_FALSE(decode_dropped(bytes_of(std::string(golden::kDropped) + "00")));     // too long
    CHECK_FALSE(decode_declare(bytes_of("08 00 0100 efcdab8967452301 0000 0000")));  // no name
    CHECK_FALSE(decode_declare(bytes_of("08 00 0100 efcdab8967452301 0100 6162")));  // more than it says
    CHECK_FALSE(decode_declare(bytes_of("08 00 0100 efcdab8967452301 ffff 6162")));  // less than it says
    CHECK_FALSE(decode_hello(encode(Hello{kVersion, 7, 0, 1, 0, 0, {}}))); // takes no message at all
    CHECK(decode_hello(encode(Hello{kVersion, 7, 1, 1, 0, 0, {}})));
    const std::string longest(255, 'n');
    const std::string too_long(256, 'n');
    CHECK(decode_declare(encode(Declare{1, 2, longest, longest})));
    CHECK_FALSE(decode_declare(encode(Declare{1, 2, too_long, {}})));
    CHECK_FALSE(decode_declare(encode(Declare{1, 2, longest, too_long})));
    BulkHeader header = kPutHeader;
    Bytes bytes(BulkHeader::kBytes);
    header.offset = UINT64_MAX;
    header.length = 1; // their sum is 0
    encode(Kind::put, header, bytes.data());
    CHECK_FALSE(decode_bulk(bytes));
    header.length = 0;
    encode(Kind::put, header, bytes.data());
    CHECK(decode_bulk(bytes));
}

TEST_CASE("only kinds that exist are known") {
    CHECK_FALSE(kind_of({}));
    std::string known;
    for (unsigned value = 0; value < 256; ++value) {
        const std::byte first{static_cast<std::uint8_t>(value)};
        const auto kind = kind_of(View(&first, 1));
        if (!kind) continue;
        CHECK(static_cast<unsigned>(*kind) == value);
        CHECK(value < kKinds);
        known += std::to_string(value) + " ";
    }
    CHECK(known == "1 2 3 4 5 6 8 9 10 11 12 13 14 16 17 18 19 20 21 22 ");
}

} // namespace frames_test
