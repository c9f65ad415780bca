// SPDX-License-Identifier: BSD-3-Clause
// Sealing of function tables: holes, lies, sizes.
#include "loader/modules.h"
#include "plexus/module/table.h"
#include "sample.h"
#include "support/catch.h"

#include <cstddef>

namespace seal_test {

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

TEST_CASE("every hole has an answer") {
    plexus_ops raw = full_table();
    raw.caps = 0;
    raw.arm = nullptr;
    raw.wait_fd = nullptr;
    raw.query = nullptr;
    raw.set = nullptr;
    raw.row_of = nullptr;
    raw.check_claim = nullptr;
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
    CHECK(ops.row_of(nullptr, &row) == PLEXUS_OK); // it has one row
    CHECK(row == 0);
    CHECK(ops.register_memory(nullptr, nullptr, 8, nullptr, nullptr) == PLEXUS_UNSUPPORTED);
    CHECK(ops.attach(nullptr, {}, nullptr) == PLEXUS_UNSUPPORTED);
    CHECK(ops.get(nullptr, nullptr, 0, nullptr, 0, nullptr) == PLEXUS_UNSUPPORTED);
    CHECK(ops.put(nullptr, nullptr, 0, nullptr, 0, nullptr) == PLEXUS_UNSUPPORTED);
    CHECK(ops.check_claim(nullptr, PLEXUS_CLAIM_SITE, "kiel", nullptr) == PLEXUS_OK); // it knows of nothing
    ops.deregister_memory(nullptr, nullptr);                                          // nothing to end
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

namespace {

/// What table_of asks of a module; none is ever called.
struct PlainLink {
    void disconnect() {}
    std::int32_t set(const char*, const char*, plexus_text&) { return PLEXUS_OK; }
    std::int32_t send(const plexus_view*, std::uint32_t, void*) { return PLEXUS_OK; }
};
struct PlainModule {
    static std::int32_t make(const plexus_host&, std::unique_ptr<PlainModule>&) { return PLEXUS_OK; }
    void close() {}
    void drain() {}
    std::int32_t describe(plexus_rows&) { return PLEXUS_OK; }
    std::int32_t applies(plexus_view, plexus_text&) { return PLEXUS_OK; }
    std::int32_t connect(plexus_view, const plexus_id&, void*, plexus_link**) { return PLEXUS_OK; }
    std::int32_t poll(std::uint32_t) { return 0; }
    std::int32_t query(PlainLink*, plexus_query, std::uint64_t&) { return PLEXUS_OK; }
};
struct SleepyModule : PlainModule {
    static std::int32_t make(const plexus_host&, std::unique_ptr<SleepyModule>&) { return PLEXUS_OK; }
    std::int32_t arm(std::uint64_t&) { return PLEXUS_OK; }
    int wait_fd() { return -1; }
};
struct RowLink : PlainLink {
    std::uint32_t row() { return 7; }
};

} // namespace

TEST_CASE("a table that is made from classes has the slots of its abilities, and the seal takes it") {
    constexpr plexus_ops plain = module::table_of<PlainModule, PlainLink, 0>();
    CHECK(plain.arm == nullptr);
    CHECK(plain.register_memory == nullptr);
    CHECK(seal(plain));
    constexpr plexus_ops sleepy = module::table_of<SleepyModule, RowLink, PLEXUS_CAP_SLEEP>();
    CHECK(sleepy.arm != nullptr);
    CHECK(seal(sleepy));
    PlainLink one;
    RowLink seventh;
    std::uint32_t row = 9;
    CHECK(plain.row_of(reinterpret_cast<plexus_link*>(&one), &row) == PLEXUS_OK);
    CHECK(row == 0);
    CHECK(sleepy.row_of(reinterpret_cast<plexus_link*>(&seventh), &row) == PLEXUS_OK);
    CHECK(row == 7);
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
    raw = older(offsetof(plexus_ops, register_memory));
    raw.caps = PLEXUS_CAP_REMOTE_MEMORY; // of a table that ends before these slots
    CHECK(refusal(raw) == "it claims remote memory access, but lacks register_memory");
    raw = full_table();
    raw.caps = PLEXUS_CAP_REMOTE_MEMORY;
    testing::fill(raw.register_memory);
    testing::fill(raw.deregister_memory);
    testing::fill(raw.attach);
    testing::fill(raw.detach);
    testing::fill(raw.get);
    CHECK(refusal(raw) == "it claims remote memory access, but lacks put");
    testing::fill(raw.put);
    CHECK(seal(raw));
    raw = older(offsetof(plexus_ops, arm));
    raw.caps = PLEXUS_CAP_SLEEP;
    CHECK(refusal(raw) == "it claims that one can sleep on it, but lacks arm");
    raw = full_table();
    raw.caps = 1u << 17;
    CHECK(refusal(raw).find("abilities that ABI 2.1 does not know (bits 0x20000)") != std::string::npos);
}

} // namespace seal_test
