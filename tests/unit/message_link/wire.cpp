// SPDX-License-Identifier: BSD-3-Clause
// The messages of a link survive their bytes, and nothing that the wire says is believed
// before it fits.
#include "support/catch.h"

#include "message_link/wire.h"

namespace wire_test {

using namespace plexus::message_link;

namespace {

Announcement some_note() {
    Announcement note;
    note.id = 3;
    note.revision = 9;
    note.rest = 3'000'000;
    note.head_size = 24;
    note.head.fill(std::byte{7});
    note.count = 2;
    note.stretches[0] = {0x1000, 11, 1'000'000};
    note.stretches[1] = {0x200000, 12, 2'000'000};
    return note;
}

Bytes written(const Announcement& note) {
    Bytes out(Announcement::kMostBytes);
    out.resize(note.write(out.data()));
    return out;
}

} // namespace

TEST_CASE("a header survives its bytes, little-endian") {
    std::array<std::byte, kHeaderBytes> bytes;
    Header{0x0102030405060708, 0xabcdef, Kind::announced, 0x1122, 0x3344}.write(bytes.data());
    CHECK(bytes[0] == std::byte{0x08});
    CHECK(bytes[8] == std::byte{0xef});
    CHECK(bytes[11] == std::byte{5});
    CHECK(bytes[12] == std::byte{0x22});
    CHECK(bytes[14] == std::byte{0x44});
    const Header after = Header::read(bytes.data());
    CHECK(after.token == 0x0102030405060708);
    CHECK(after.slot == 0xabcdef);
    CHECK(after.kind == Kind::announced);
    CHECK(after.number == 0x1122);
    CHECK(after.taken == 0x3344);
}

TEST_CASE("the announcement of a large message survives its bytes, and no part of them is one") {
    const Bytes bytes = written(some_note());
    const auto after = Announcement::read(bytes);
    REQUIRE(after);
    CHECK(after->id == 3);
    CHECK(after->revision == 9);
    CHECK(after->rest == 3'000'000);
    CHECK(after->head_size == 24);
    CHECK(after->head[23] == std::byte{7});
    REQUIRE(after->count == 2);
    CHECK(after->stretches[1].address == 0x200000);
    CHECK(after->stretches[1].key == 12);
    CHECK(after->stretches[1].size == 2'000'000);
    for (std::size_t size = 0; size < bytes.size(); ++size)
        CHECK_FALSE(Announcement::read(ByteView(bytes).first(size)));
}

TEST_CASE("stretches that are more or less than the message are refused") {
    Announcement note = some_note();
    note.rest += 1;
    CHECK_FALSE(Announcement::read(written(note)));
    note = some_note();
    note.stretches[1].size += 1;
    CHECK_FALSE(Announcement::read(written(note)));
    note = some_note();
    note.stretches[0].size = UINT64_MAX;
    CHECK_FALSE(Announcement::read(written(note)));
    note = some_note();
    note.rest = UINT64_MAX;
    note.count = 0;
    CHECK_FALSE(Announcement::read(written(note)));
}

TEST_CASE("a greeting survives its bytes, and no part of them is one") {
    Hello hello;
    hello.end.slot = 5;
    hello.end.token = 77;
    hello.end.window = 128;
    hello.end.eager = 8192;
    hello.descriptor = Bytes(100, std::byte{1});
    hello.record.fill(2);
    Bytes bytes = hello.write();
    const auto after = Hello::read(bytes);
    REQUIRE(after);
    CHECK(after->end.slot == 5);
    CHECK(after->end.token == 77);
    CHECK(after->end.window == 128);
    CHECK(after->end.eager == 8192);
    CHECK(after->descriptor == hello.descriptor);
    CHECK(after->record == hello.record);
    for (std::size_t size = 0; size < bytes.size(); ++size)
        CHECK_FALSE(Hello::read(ByteView(bytes).first(size)));
    bytes[0] = std::byte{kWireVersion + 1};
    CHECK_FALSE(Hello::read(bytes));

    Answer answer;
    answer.end.slot = 6;
    answer.end.token = 78;
    answer.end.window = 1;
    answer.sees = true;
    const Bytes reply = answer.write();
    REQUIRE(Answer::read(reply));
    CHECK(Answer::read(reply)->sees);
    for (std::size_t size = 0; size < reply.size(); ++size)
        CHECK_FALSE(Answer::read(ByteView(reply).first(size)));
    answer.end.window = 0;
    CHECK_FALSE(Answer::read(answer.write()));
    answer.end.window = 1;
    answer.end.slot = kNoSlot;
    CHECK_FALSE(Answer::read(answer.write()));
}

} // namespace wire_test
