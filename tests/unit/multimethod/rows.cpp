// SPDX-License-Identifier: BSD-3-Clause
// A method that has several rows in a table: selection, preferences and connections tell them apart.
// The one method of ours that can is named here; without it there is nothing to test.
#include "far.h"
#include "unit/context/contexts.h"

using namespace plexus;
using namespace plexus::testing;

namespace rows_test {

Options two_rows(const std::string& methods = "libfabric", const std::string& providers = "shm, tcp") {
    return by(methods, {{"method.libfabric.provider", providers}});
}

bool is_missing() {
    const Context here(by("^ucx"));
    const auto refused = here.refused();
    const bool built = std::any_of(refused.begin(), refused.end(),
                                   [](const RefusedModule& each) { return each.what == "libfabric"; }) ||
                       here.table().find("libfabric");
    return !built;
}

struct Owner {
    explicit Owner(Options options)
      : context(std::move(options)) {
        install(context);
        bound = context.bind(log);
    }
    Log log;
    Context context;
    Bound<Log> bound;
};

std::string names_of(const DescriptorTable& table) {
    std::string all;
    for (const Descriptor& row : table) all += (all.empty() ? "" : " ") + row.method;
    return all;
}

// The same row of a context on another host: the boot's number stands behind the version.
DescriptorTable with_row_elsewhere(DescriptorTable table, std::size_t row) {
    Descriptor other = table[row];
    other.bytes.at(1) ^= std::byte{1};
    table.erase(row);
    table.insert(row, std::move(other));
    return table;
}

/// The provider's own name, which stands in a row's bytes behind its length: "tcp;ofi_rxm" or "tcp", as the
/// version of libfabric has it.
std::string provider_of(const Descriptor& row, const std::string& core) {
    const std::string bytes(reinterpret_cast<const char*>(row.bytes.data()), row.bytes.size());
    for (std::size_t at = bytes.find(core); at != bytes.npos; at = bytes.find(core, at + 1)) {
        const std::size_t size = at == 0 ? 0 : static_cast<unsigned char>(bytes[at - 1]);
        const std::string name = bytes.substr(at, size);
        if (name == core || name.starts_with(core + ";")) return name;
    }
    return "no provider";
}

} // namespace rows_test

using namespace rows_test;

TEST_CASE("a method that has several rows shows each, and the first that applies is taken") {
    if (is_missing()) SKIP_TEST("the module libfabric was not built");
    Owner owner(two_rows());
    Context user(two_rows());
    CHECK(names_of(owner.context.table()) == "libfabric:shm libfabric:tcp");
    CHECK(owner.context.lanes().size() == 1);
    auto far = handed(user, owner.bound.pointer());
    CHECK(within(far.call(wrong)) == 0);
    CHECK(far.method() == "libfabric:shm");
    CHECK(far.explain() == "libfabric:shm: applies (row 1); libfabric:tcp: applies, but comes later");

    far.set_table(with_row_elsewhere(far.table(), 0));
    CHECK(within(far.call(wrong)) == 0);
    CHECK(far.method() == "libfabric:tcp");
    CHECK(far.explain() == "libfabric:shm: shm: other host; libfabric:tcp: applies (row 2)");
}

TEST_CASE("rows of one method are reordered, erased and used by their names") {
    if (is_missing()) SKIP_TEST("the module libfabric was not built");
    Owner owner(two_rows());
    Context user(two_rows());
    auto far = handed(user, owner.bound.pointer());
    for (const char* row : {"libfabric:tcp", "libfabric:shm"}) {
        far.use(row);
        CHECK(within(far.call(wrong)) == 0);
        CHECK(far.method() == row);
    }
    far.use("libfabric");
    CHECK(far.method() == "libfabric:shm");
    far.use("libfabric, ^libfabric:shm");
    CHECK(far.method() == "libfabric:tcp");
    CHECK(refusal_of([&] { far.use("libfabric:verbs"); }).says("libfabric:shm, libfabric:tcp"));

    DescriptorTable table = owner.context.table();
    table.prefer({"libfabric:tcp"});
    far.set_table(table);
    CHECK(far.method() == "libfabric:tcp");
    table.erase(*table.find("libfabric:tcp"));
    far.set_table(table);
    CHECK(far.method() == "libfabric:shm");
    CHECK(within(far.call(wrong)) == 0);
}

TEST_CASE("the list of methods orders single rows among other methods, and excludes them") {
    if (is_missing()) SKIP_TEST("the module libfabric was not built");
    CHECK(names_of(Context(two_rows("libfabric:shm, tcp, libfabric:tcp")).table()) ==
          "libfabric:shm tcp libfabric:tcp");
    CHECK(names_of(Context(two_rows("tcp, libfabric, ^libfabric:shm")).table()) == "tcp libfabric:tcp");
    CHECK(refusal_of([] { Context(two_rows("libfabric:verbs")); }).says("libfabric:verbs"));
    CHECK(refusal_of([] {
              Context(two_rows("libfabric:tcp?eager=8 KiB"));
          }).says("write libfabric?eager=8 KiB"));
}

TEST_CASE("a context with one of the ways and one with several meet by it, whoever begins") {
    if (is_missing()) SKIP_TEST("the module libfabric was not built");
    const bool several_first = GENERATE(false, true);
    CAPTURE(several_first);
    Owner one(two_rows("libfabric", "tcp"));
    Owner several(two_rows());
    CHECK(names_of(one.context.table()) == "libfabric");
    auto to_several = handed(one.context, several.bound.pointer());
    auto to_one = handed(several.context, one.bound.pointer());
    // One link serves both ways, whichever side's name of the row it was made by.
    if (several_first) CHECK(within(to_one.call(wrong)) == 0);
    CHECK(within(to_several.call(wrong)) == 0);
    CHECK(within(to_one.call(wrong)) == 0);
    CHECK(several.context.lanes()[0].traffic.links == 1);
    CHECK(to_several.explain() == "libfabric:shm: no common provider: shm there, " +
                                      provider_of(one.context.table()[0], "tcp") +
                                      " here; libfabric:tcp: applies (row 2)");
    CHECK(to_one.explain() == "libfabric: applies (row 1)");
}
