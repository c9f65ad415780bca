// SPDX-License-Identifier: BSD-3-Clause
// The rows of a module: how the host reads what `describe` gives, and what it refuses.
#include "support/catch.h"
#include "unit/transport/scripted.h"

namespace rows_test {

using namespace plexus;
using namespace plexus::transport;
using namespace plexus::testing;

namespace {

using Describe = std::int32_t (*)(plexus_module*, plexus_rows*);

Result<std::unique_ptr<Interface>> open_with(Describe describe) {
    Rig rig;
    const loader::Modules modules;
    const config::Settings settings;
    ScriptedMethod method("many", false, 64);
    loader::Module module = method.module();
    module.ops.describe = describe;
    return Interface::open(module, {&rig.transport.endpoint(), nullptr, nullptr, &modules, &settings});
}

std::int32_t add(plexus_rows* rows, std::string_view label) {
    const std::string bytes = "bytes of " + std::string(label);
    return module::add_row(*rows, label, module::view(bytes));
}

} // namespace

TEST_CASE("a module's rows are named by its labels, in its order") {
    const auto opened = open_with([](plexus_module*, plexus_rows* rows) {
        for (const char* label : {"fast", "slow"})
            if (const auto status = add(rows, label); status != PLEXUS_OK) return status;
        return std::int32_t{PLEXUS_OK};
    });
    REQUIRE(opened);
    const auto& rows = (*opened)->rows;
    REQUIRE(rows.size() == 2);
    CHECK(rows[0].method == "many:fast");
    CHECK(rows[1].method == "many:slow");
    const auto* const bytes = reinterpret_cast<const char*>(rows[1].bytes.data());
    CHECK(std::string_view(bytes, rows[1].bytes.size()) == "bytes of slow");
}

TEST_CASE("a link is of the row that its module says, and of the first where it says none") {
    const auto opened = open_with([](plexus_module*, plexus_rows* rows) {
        for (const char* label : {"fast", "slow"})
            if (const auto status = add(rows, label); status != PLEXUS_OK) return status;
        return std::int32_t{PLEXUS_OK};
    });
    REQUIRE(opened);
    Interface& interface = **opened;
    interface.ops.row_of = [](plexus_link* link, std::uint32_t* row) {
        *row = *reinterpret_cast<std::uint32_t*>(link);
        return *row == 3 ? std::int32_t{PLEXUS_UNSUPPORTED} : std::int32_t{PLEXUS_OK};
    };
    const auto row_of = [&](std::uint32_t said) {
        return interface.row_of(reinterpret_cast<plexus_link*>(&said));
    };
    CHECK(row_of(0) == "many:fast");
    CHECK(row_of(1) == "many:slow");
    CHECK(row_of(2) == "many:fast"); // there is no such row
    CHECK(row_of(3) == "many:fast");
}

TEST_CASE("a module that describes too many rows, or the same twice, is refused") {
    for (const Describe wrong : std::initializer_list<Describe>{
             [](plexus_module*, plexus_rows* rows) {
                 rows->size = rows->capacity + 1;
                 return std::int32_t{PLEXUS_OK};
             },
             [](plexus_module*, plexus_rows* rows) {
                 (void)add(rows, "one");
                 return add(rows, "one");
             },
             [](plexus_module*, plexus_rows* rows) { return add(rows, "Not a word"); },
             [](plexus_module*, plexus_rows* rows) {
                 (void)add(rows, "long");
                 rows->data[0].label.size = PLEXUS_LABEL_MAX + 1;
                 return std::int32_t{PLEXUS_OK};
             },
             [](plexus_module*, plexus_rows* rows) {
                 (void)add(rows, "long");
                 rows->data[0].descriptor.size = PLEXUS_DESCRIPTOR_MAX + 1;
                 return std::int32_t{PLEXUS_OK};
             },
         }) {
        const auto opened = open_with(wrong);
        REQUIRE_FALSE(opened);
        CHECK(opened.status() == Status::bad_module);
        CHECK(opened.failure().why.find("method many has no usable description of its rows") == 0);
    }
}

TEST_CASE("a module without a row of its own reaches others only, and its links go by its name") {
    const auto opened = open_with([](plexus_module*, plexus_rows*) { return std::int32_t{PLEXUS_OK}; });
    REQUIRE(opened);
    CHECK((*opened)->rows.empty());
    CHECK((*opened)->row_of(nullptr) == "many");
}

TEST_CASE("the status of a module that can't describe itself is passed on") {
    const auto opened =
        open_with([](plexus_module*, plexus_rows*) { return std::int32_t{PLEXUS_UNSUPPORTED}; });
    REQUIRE_FALSE(opened);
    CHECK(opened.status() == Status::unsupported);
}

TEST_CASE("a row takes what there is room for, and no more") {
    char room[4];
    plexus_row row{{room, 2, 0}, {room + 2, 2, 0}};
    plexus_rows rows{&row, 1, 0};
    CHECK(module::add_row(rows, "abc", module::view("d")) == PLEXUS_TOO_LARGE);
    CHECK(module::add_row(rows, "a", module::view("def")) == PLEXUS_TOO_LARGE);
    CHECK(rows.size == 0);
    CHECK(module::add_row(rows, "a", module::view("de")) == PLEXUS_OK);
    CHECK(rows.size == 1);
    CHECK(module::text_of({row.descriptor.data, row.descriptor.size}) == "de");
    CHECK(module::add_row(rows, "b", module::view("f")) == PLEXUS_TOO_LARGE);
}

} // namespace rows_test
