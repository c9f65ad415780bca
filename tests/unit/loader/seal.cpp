// SPDX-License-Identifier: BSD-3-Clause
// Sealing of function tables: holes, lies, sizes.
#include "loader/modules.h"
#include "sample.h"
#include "support/catch.h"

#include <cstddef>

using namespace plexus;
using namespace plexus::loader;
using plexus::testing::full_table;

namespace {

std::string refusal(const plexus_ops& raw) {
    const auto sealed = seal(raw);
    if (sealed) return "accepted";
    CHECK(sealed.status() == Status::bad_module);
    return sealed.failure().why;
}

// The table of a module that was built when `slot` did not yet exist.
plexus_ops older(std::size_t end) {
    plexus_ops ops = full_table();
    ops.size = static_cast<std::uint32_t>(end);
    ops.caps = 0;
    return ops;
}

} // namespace

TEST_CASE("a full table stays as it is") {
    const plexus_ops raw = full_table();
    const plexus_ops ops = seal(raw).value();
    CHECK(ops.size == PLEXUS_OPS_SIZE);
    CHECK(ops.caps == raw.caps);
    CHECK(ops.open == raw.open);
    CHECK(ops.arm == raw.arm);
    CHECK(ops.set == raw.set);
}

TEST_CASE("every hole answers that it is unsupported") {
    plexus_ops raw = full_table();
    raw.caps = 0;
    raw.arm = nullptr;
    raw.wait_fd = nullptr;
    raw.query = nullptr;
    raw.set = nullptr;
    raw.describe_row = nullptr;
    raw.row_of = nullptr;
    const plexus_ops ops = seal(raw).value();
    std::uint64_t value = 7;
    CHECK(ops.arm(nullptr, &value) == PLEXUS_UNSUPPORTED);
    CHECK(ops.wait_fd(nullptr) == -1);
    CHECK(ops.query(nullptr, nullptr, PLEXUS_QUERY_LINKS, &value) == PLEXUS_UNSUPPORTED);
    CHECK(value == 0);
    char room[8];
    plexus_text why{room, sizeof room, 0};
    CHECK(ops.set(nullptr, "a", "b", &why) == PLEXUS_UNSUPPORTED);
    CHECK(std::string_view(why.data, why.size) == "this met");
    std::uint32_t row = 7;
    CHECK(ops.describe_row(nullptr, 0, &why, &why) == PLEXUS_UNSUPPORTED);
    CHECK(ops.row_of(nullptr, &row) == PLEXUS_UNSUPPORTED);
    CHECK(row == 0);
    CHECK(ops.expose(nullptr, nullptr, 8, nullptr, nullptr) == PLEXUS_UNSUPPORTED);
    CHECK(ops.attach(nullptr, {}, nullptr) == PLEXUS_UNSUPPORTED);
    CHECK(ops.get(nullptr, nullptr, 0, nullptr, 0, nullptr) == PLEXUS_UNSUPPORTED);
    CHECK(ops.put(nullptr, nullptr, 0, nullptr, 0, nullptr) == PLEXUS_UNSUPPORTED);
    ops.withdraw(nullptr, nullptr); // nothing to end
    ops.detach(nullptr, nullptr);
}

TEST_CASE("a table that ends early: what lies behind its end is not taken for slots") {
    const plexus_ops ops = seal(older(offsetof(plexus_ops, arm))).value();
    std::uint64_t value = 0;
    CHECK(ops.size == PLEXUS_OPS_SIZE);
    CHECK(ops.arm(nullptr, &value) == PLEXUS_UNSUPPORTED);
    CHECK(ops.query(nullptr, nullptr, PLEXUS_QUERY_LINKS, &value) == PLEXUS_UNSUPPORTED);
}

TEST_CASE("half a pointer at the end of a table is no slot") {
    const plexus_ops ops = seal(older(offsetof(plexus_ops, query) + 4)).value();
    std::uint64_t value = 0;
    CHECK(ops.wait_fd == full_table().wait_fd);
    CHECK(ops.query(nullptr, nullptr, PLEXUS_QUERY_LINKS, &value) == PLEXUS_UNSUPPORTED);
}

TEST_CASE("a longer table of a later build is cut to what is known") {
    struct {
        plexus_ops ops = full_table();
        void* later = nullptr;
    } longer;
    longer.ops.size = sizeof longer;
    CHECK(seal(longer.ops).value().size == PLEXUS_OPS_SIZE);
}

TEST_CASE("a table of absurd size is refused unread") {
    for (const std::size_t size : {std::size_t{0}, std::size_t{8}, offsetof(plexus_ops, poll),
                                   std::size_t{4104}, std::size_t{UINT32_MAX}})
        CHECK(refusal(older(size)).find("claims " + std::to_string(size) + " bytes") != std::string::npos);
}

TEST_CASE("a mandatory slot that is empty is refused by its name") {
    const auto without = [](auto plexus_ops::*slot) {
        plexus_ops raw = full_table();
        raw.*slot = nullptr;
        return refusal(raw);
    };
    CHECK(without(&plexus_ops::open).find("lacks open,") != std::string::npos);
    CHECK(without(&plexus_ops::close).find("lacks close,") != std::string::npos);
    CHECK(without(&plexus_ops::drain).find("lacks drain,") != std::string::npos);
    CHECK(without(&plexus_ops::destroy).find("lacks destroy,") != std::string::npos);
    CHECK(without(&plexus_ops::describe).find("lacks describe,") != std::string::npos);
    CHECK(without(&plexus_ops::applies).find("lacks applies,") != std::string::npos);
    CHECK(without(&plexus_ops::connect).find("lacks connect,") != std::string::npos);
    CHECK(without(&plexus_ops::disconnect).find("lacks disconnect,") != std::string::npos);
    CHECK(without(&plexus_ops::send).find("lacks send,") != std::string::npos);
    CHECK(without(&plexus_ops::poll).find("lacks poll,") != std::string::npos);
}

TEST_CASE("a claimed ability demands its slots") {
    plexus_ops raw = full_table();
    raw.arm = nullptr;
    CHECK(refusal(raw) == "it claims that one can sleep on it, but lacks arm");
    raw = full_table();
    raw.wait_fd = nullptr;
    CHECK(refusal(raw) == "it claims that one can sleep on it, but lacks wait_fd");
    raw = older(offsetof(plexus_ops, expose));
    raw.caps = PLEXUS_CAP_REMOTE_MEMORY; // as a module says that was built for ABI 1.0
    CHECK(refusal(raw) == "it claims remote memory access, but lacks expose");
    raw = full_table();
    raw.caps = PLEXUS_CAP_REMOTE_MEMORY;
    raw.expose = [](plexus_module*, void**, std::size_t, plexus_text*, plexus_memory**) {
        return std::int32_t{PLEXUS_OK};
    };
    raw.withdraw = [](plexus_module*, plexus_memory*) {};
    raw.attach = [](plexus_link*, plexus_view, plexus_remote**) { return std::int32_t{PLEXUS_OK}; };
    raw.detach = [](plexus_link*, plexus_remote*) {};
    raw.get = [](plexus_link*, plexus_remote*, std::uint64_t, void*, std::size_t, void*) {
        return std::int32_t{PLEXUS_OK};
    };
    raw.put = nullptr;
    CHECK(refusal(raw) == "it claims remote memory access, but lacks put");
    raw = older(offsetof(plexus_ops, arm));
    raw.caps = PLEXUS_CAP_SLEEP;
    CHECK(refusal(raw) == "it claims that one can sleep on it, but lacks arm");
    raw = full_table();
    raw.caps = 1u << 17;
    CHECK(refusal(raw).find("abilities that ABI 1.1 does not know (bits 0x20000)") != std::string::npos);
}
