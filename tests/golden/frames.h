// SPDX-License-Identifier: BSD-3-Clause
// The bytes of each frame as version 4 of the wire format has them. They are data: written
// by hand from the layout, never from what the encoder gives. Whoever has to change a line
// here has changed the format, and must raise wire::kVersion.
#pragma once

#include <string_view>

namespace plexus::golden {

// kind flags request | call's number | key | handle | generation; a call: | its generation | deadline
inline constexpr std::string_view kRequest =
    "01 01 0302 07060504 0f0e0d0c0b0a0908 13121110 17161514 1b1a1918 1f1e1d1c";
inline constexpr std::string_view kOneWay = "01 00 0302 00000000 0f0e0d0c0b0a0908 13121110 17161514";
inline constexpr std::string_view kTimedOneWay =
    "01 04 0302 00000000 0f0e0d0c0b0a0908 13121110 17161514 00000000 fa000000";
// kind 0 status | call's number | its generation | 0
inline constexpr std::string_view kReply = "02 00 2c01 04030201 08070605 00000000";
inline constexpr std::string_view kData = "06 00 0000 ffffffff 01000000 00000000";
// kind 0 status | request 0
inline constexpr std::string_view kReport = "03 00 0100 3412 0000";
// kind flags 0 | call's number | its generation | 0 | key | handle | generation | offset | length
inline constexpr std::string_view kPut = "04 02 0000 01000000 04000000 00000000 8877665544332211 "
                                         "02000000 03000000 0000100000000000 0001000000000000";
inline constexpr std::string_view kGet = "05 00 0000 05000000 00000000 00000000 0100000000000080 "
                                         "00000000 ffffffff 0800000000000000 ffffffff00000000";
inline constexpr std::string_view kLeaseRequest = "0a 00 0000 05000000 00000000 00000000 0100000000000080 "
                                                  "07000000 02000000 0000000000000000 0000000000000000";
// kind stays status | number | call's number | its generation
inline constexpr std::string_view kLease = "0b 01 0000 04030201 05000000 06000000";
// kind 0 status | number | 0 | 0
inline constexpr std::string_view kLeaseReturn = "0c 00 0000 04030201 00000000 00000000";
inline constexpr std::string_view kLeaseRecall = "0d 00 0000 04030201 00000000 00000000";
// kind 0 0 | number of calls | calls
inline constexpr std::string_view kCancel = "0e 00 0000 02000000 0100000002000000 0807060504030201";
// kind 0 request | signature | length of the name, name | length of the sender's name, its name
inline constexpr std::string_view kDeclare =
    "08 00 0100 efcdab8967452301 0b00 6f6365616e2e70726f6265 0200 6e31";
// kind 0 | context | table
inline constexpr std::string_view kTable =
    "09 00 000102030405060708090a0b0c0d0e0f 00 00000000000000000000000000000000 00";
// kind version 0 | stream | largest message | memory | known memory | dropped | table of one row: length and
// site, host, rows, length and method, length and descriptor, length and how far it may reach
inline constexpr std::string_view kHello =
    "10 04 0000 07000000 0000004000000000 0807060504030201 1817161514131211 0300000000000000 "
    "04 6b69656c 101112131415161718191a1b1c1d1e1f 01 03 746370 0400 7f000001 0400 73697465";
// kind 0 0 | stream | count
inline constexpr std::string_view kAck = "11 00 0000 01000000 0200000000000000";
inline constexpr std::string_view kAckRequest = "12 00 0000 01000000 0200000000000000";
inline constexpr std::string_view kReplayRequest = "13 00 0000 01000000 0000000000000000";
inline constexpr std::string_view kReplayAnswer = "14 00 0000 01000000 ffffffffffffffff";
inline constexpr std::string_view kGoodbye = "15";
// kind 0 0 | what | memory | count
inline constexpr std::string_view kDropped = "16 00 0000 00000000 0807060504030201 0300000000000000";
inline constexpr std::string_view kDroppedReports = "16 00 0000 01000000 0807060504030201 0400000000000000";

// A table of three rows from a context at a site: tcp with 4 bytes between two sites, a method that nobody
// here knows, one without bytes.
inline constexpr std::string_view kDescriptors =
    "04 6b69656c 101112131415161718191a1b1c1d1e1f "
    "03 03 746370 0400 7f000001 0900 6b69656c2c6f736c6f 08 7175616e74756d32 0300 00ff80 0000 "
    "05 6c6f63616c 0000 0000";

// A table of one row without a place that prescribes a method: behind the rows, length and text.
inline constexpr std::string_view kPrescribed =
    "00 00000000000000000000000000000000 01 03 746370 0100 01 0000 0c00 7463703f736e646275663d31";

} // namespace plexus::golden
