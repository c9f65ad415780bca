// SPDX-License-Identifier: BSD-3-Clause
// libFuzzer target: method lists as files, the command line and pointers bring them. A list that is
// understood has one form, which means the same list; ordering by it never adds or doubles a row. As a
// pointer's prescription it leaves rows of the table only, and the text of these rows leaves the same ones
// again.
#include "method/list.h"
#include "method/prescription.h"
#include "method/selection.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <set>

namespace {

using namespace plexus;
using namespace plexus::method;

/// Ends the run: the fuzzer keeps the input. Unlike assert(), in every build.
void require(bool holds) {
    if (!holds) std::abort();
}

void check_order(const std::vector<ListItem>& list, const std::vector<std::string>& available) {
    std::set<std::string> seen;
    for (const ListItem& item : apply_list(list, available)) {
        require(!item.excluded);
        require(std::find(available.begin(), available.end(), item.method) != available.end());
        require(seen.insert(item.method).second);
    }
}

void fuzz_prescription(const std::string& text) {
    DescriptorTable table;
    for (const char* name : {"local", "libfabric:tcp", "libfabric:shm", "tcp"})
        table.push_back({name, {}, {}});
    table.set_prescribed(text);
    const DescriptorTable rows = prescribed_rows(table);
    require(rows.size() <= table.size());
    Choice choice = explain(rows, [](const Descriptor& row) -> Applicable {
        return {row.method == "tcp", ""};
    });
    tell_prescription(choice, table);
    require(!choice.row || choice.trail[*choice.row].method == "tcp");
    const auto good = check_prescription(text);
    require(good || good.status() == Status::bad_config);
    if (rows.empty() || text.empty()) return;
    table.set_prescribed(prescription_of(rows));
    require(check_prescription(table.prescribed()) || !good);
    require(prescription_of(prescribed_rows(table)) == table.prescribed());
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    fuzz_prescription(std::string(text));
    const auto list = parse_list(text);
    if (!list) {
        require(list.status() == Status::bad_config && !list.failure().why.empty());
        return 0;
    }
    const auto again = parse_list(to_text(*list));
    require(again && *again == *list);
    require(names_of(*list).size() == list->size());
    for (const ListItem& item : without_rows(*list)) require(method_of(item.method) == item.method);
    check_order(*list, {"local", "shm", "libfabric:tcp", "libfabric:shm", "tcp"});
    std::vector<std::string> own;
    for (const ListItem& item : *list) own.push_back(item.method);
    check_order(*list, own);
    return 0;
}
