// SPDX-License-Identifier: BSD-3-Clause
// Messages with a proof behind them.
#include "common/proof.h"

#include "support/bare_host.h"
#include "support/catch.h"

using namespace plexus::testing;
namespace module = plexus::module;

namespace {

using Message = std::vector<std::byte>;

constexpr std::string_view kPurpose = "test";

Message signed_message(const plexus_host& host, std::uint8_t kind) {
    Message message{std::byte{1}, std::byte{2}, std::byte{3}};
    module::sign(host, kPurpose, kind, message);
    return message;
}

} // namespace

TEST_CASE("a proof is good for its own message, purpose and kind, and for holders of the key") {
    const BareHost host(find_method("local"));
    const Message message = signed_message(host.table(), 7);
    CHECK(module::is_signed(host.table(), kPurpose, 7, message));
    CHECK_FALSE(module::is_signed(host.table(), kPurpose, 8, message));
    CHECK_FALSE(module::is_signed(host.table(), "another", 7, message));
    const auto part = module::signed_part<std::byte>(host.table(), kPurpose, 7, message);
    REQUIRE(part);
    CHECK(part->size() == 3);
    BareOptions options;
    options.key = {9, 9, 9};
    const BareHost stranger(find_method("local"), options);
    CHECK_FALSE(module::is_signed(stranger.table(), kPurpose, 7, message));
}

TEST_CASE("one changed bit, or a message shorter than a proof, is not signed") {
    const BareHost host(find_method("local"));
    const Message message = signed_message(host.table(), 7);
    for (std::size_t i = 0; i < message.size(); ++i) {
        Message changed = message;
        changed[i] ^= std::byte{0x80};
        CHECK_FALSE(module::is_signed(host.table(), kPurpose, 7, changed));
    }
    for (std::size_t size = 0; size < module::kProofBytes; ++size)
        CHECK_FALSE(module::is_signed(host.table(), kPurpose, 7, Message(size)));
}
