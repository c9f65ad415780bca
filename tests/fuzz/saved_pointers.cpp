// SPDX-License-Identifier: BSD-3-Clause
// libFuzzer target: a saved pointer, which may come from a file or from anybody. What is taken for one names
// an object, is saved as the same bytes again, and may be asked for its way. Nothing of it is kept when it is
// gone.
#include "context/core.h"
#include "plexus/plexus.h"
#include "transport/endpoint.h"
#include "wire/table.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <vector>

namespace {

using namespace plexus;

void require(bool holds) {
    if (!holds) std::abort();
}

struct Door {};

Context& here() {
    static Context context([] {
        Options out;
        out.set = {{"methods", "local"}, {"progress.thread", "false"}, {"log", "off"}};
        out.file = "/dev/null";
        return out;
    }());
    return context;
}

void check_pointer(const std::vector<std::byte>& bytes) {
    const auto pointer = GlobalPointer<Door>::load(here(), bytes);
    require(static_cast<bool>(pointer) && static_cast<bool>(pointer.context()));
    require(pointer.save() == bytes);
    require(pointer.table().size() == pointer.choose().trail.size() || !pointer.table().prescribed().empty());
    require(!pointer.choose().row); // nobody of that identity is in this process
    require(!pointer.explain().empty());
    GlobalPointer<Door> own = pointer; // with preferences of its own
    own.set_table(own.table());
    require(own == pointer);
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const auto given = std::as_bytes(std::span(data, size));
    const std::vector<std::byte> bytes(given.begin(), given.end()); // a copy of exactly that size
    try {
        check_pointer(bytes);
    } catch (const Error& refused) { require(refused.status() == Status::bad_archive); }
    transport::Endpoint& endpoint = here().core()->endpoint();
    for (const auto& peer : endpoint.peers()) {
        if (peer->id == endpoint.self()) continue;
        require(peer->all_channels().empty()); // to look is not to connect
        require(endpoint.forget(peer));
    }
    return 0;
}
