// SPDX-License-Identifier: BSD-3-Clause
// From a module's raw function table, which may be shorter than ours, to one in which every
// slot may be called.
#include "base/log.h"
#include "loader/modules.h"

#include <algorithm>
#include <cstddef>
#include <cstring>

namespace plexus::loader {
namespace {

constexpr std::uint32_t kMaxTable = 4096;
constexpr std::uint32_t kKnownCaps =
    PLEXUS_CAP_SLEEP | PLEXUS_CAP_FRAGILE | PLEXUS_CAP_LOCAL | PLEXUS_CAP_REMOTE_MEMORY;

// What stands in the holes. Only slots that a module may leave out have one.
std::int32_t no_arm(plexus_module*, std::uint64_t*) { return PLEXUS_UNSUPPORTED; }
std::int32_t no_wait_fd(plexus_module*) { return -1; } // any other number might be a descriptor
std::int32_t no_query(plexus_module*, plexus_link*, plexus_query, std::uint64_t* value) {
    *value = 0;
    return PLEXUS_UNSUPPORTED;
}
std::int32_t no_set(plexus_link*, const char*, const char*, plexus_text* why) {
    constexpr std::string_view kText = "this method has nothing that can be set while it runs";
    why->size = std::min(kText.size(), why->capacity);
    std::memcpy(why->data, kText.data(), why->size);
    return PLEXUS_UNSUPPORTED;
}
std::int32_t no_describe_row(plexus_module*, std::uint32_t, plexus_text*, plexus_text*) {
    return PLEXUS_UNSUPPORTED;
}
std::int32_t no_row_of(plexus_link*, std::uint32_t* row) {
    *row = 0;
    return PLEXUS_UNSUPPORTED;
}

std::int32_t no_expose(plexus_module*, void**, std::size_t, plexus_text*, plexus_memory**) {
    return PLEXUS_UNSUPPORTED;
}
void no_withdraw(plexus_module*, plexus_memory*) {}
std::int32_t no_attach(plexus_link*, plexus_view, plexus_remote**) { return PLEXUS_UNSUPPORTED; }
void no_detach(plexus_link*, plexus_remote*) {}
std::int32_t no_get(plexus_link*, plexus_remote*, std::uint64_t, void*, std::size_t, void*) {
    return PLEXUS_UNSUPPORTED;
}
std::int32_t no_put(plexus_link*, plexus_remote*, std::uint64_t, const void*, std::size_t, void*) {
    return PLEXUS_UNSUPPORTED;
}

struct Slot {
    const char* name;
    bool present;
};

const char* first_missing(std::initializer_list<Slot> slots) {
    for (const Slot& slot : slots)
        if (!slot.present) return slot.name;
    return nullptr;
}

} // namespace

Result<plexus_ops> seal(const plexus_ops& raw) {
    // Up to `poll` every module has every slot: a shorter table is none.
    constexpr std::size_t kLeastTable = offsetof(plexus_ops, poll) + sizeof raw.poll;
    if (raw.size < kLeastTable || raw.size > kMaxTable)
        return fail(Status::bad_module, "its function table claims {} bytes, not {} to {}", raw.size,
                    kLeastTable, kMaxTable);

    plexus_ops ops{};
    constexpr std::size_t kSlot = sizeof(void*); // half a pointer at the end is not copied
    std::memcpy(&ops, &raw, std::min<std::size_t>(raw.size, PLEXUS_OPS_SIZE) / kSlot * kSlot);
    ops.size = PLEXUS_OPS_SIZE;

    const char* missing = first_missing({{"open", ops.open != nullptr},
                                         {"close", ops.close != nullptr},
                                         {"drain", ops.drain != nullptr},
                                         {"destroy", ops.destroy != nullptr},
                                         {"describe", ops.describe != nullptr},
                                         {"applies", ops.applies != nullptr},
                                         {"connect", ops.connect != nullptr},
                                         {"disconnect", ops.disconnect != nullptr},
                                         {"send", ops.send != nullptr},
                                         {"poll", ops.poll != nullptr}});
    if (missing)
        return fail(Status::bad_module, "its function table lacks {}, which every module must have", missing);
    if ((ops.caps & ~kKnownCaps) != 0)
        return fail(Status::bad_module, "it claims abilities that ABI {}.{} does not know (bits {:#x})",
                    PLEXUS_ABI_MAJOR, PLEXUS_ABI_MINOR, ops.caps & ~kKnownCaps);
    if ((ops.caps & PLEXUS_CAP_SLEEP) != 0) {
        missing = first_missing({{"arm", ops.arm != nullptr}, {"wait_fd", ops.wait_fd != nullptr}});
        if (missing)
            return fail(Status::bad_module, "it claims that one can sleep on it, but lacks {}", missing);
    }

    if ((ops.caps & PLEXUS_CAP_REMOTE_MEMORY) != 0) {
        missing = first_missing({{"expose", ops.expose != nullptr},
                                 {"withdraw", ops.withdraw != nullptr},
                                 {"attach", ops.attach != nullptr},
                                 {"detach", ops.detach != nullptr},
                                 {"get", ops.get != nullptr},
                                 {"put", ops.put != nullptr}});
        if (missing) return fail(Status::bad_module, "it claims remote memory access, but lacks {}", missing);
    }

    if (!ops.arm) ops.arm = no_arm;
    if (!ops.wait_fd) ops.wait_fd = no_wait_fd;
    if (!ops.query) ops.query = no_query;
    if (!ops.set) ops.set = no_set;
    if (!ops.describe_row) ops.describe_row = no_describe_row;
    if (!ops.row_of) ops.row_of = no_row_of;
    if (!ops.expose) ops.expose = no_expose;
    if (!ops.withdraw) ops.withdraw = no_withdraw;
    if (!ops.attach) ops.attach = no_attach;
    if (!ops.detach) ops.detach = no_detach;
    if (!ops.get) ops.get = no_get;
    if (!ops.put) ops.put = no_put;
    return ops;
}

} // namespace plexus::loader
