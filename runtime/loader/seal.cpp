// SPDX-License-Identifier: BSD-3-Clause
// From a module's raw function table, which may be shorter than ours, to one in which every
// slot may be called.
#include "base/log.h"
#include "loader/modules.h"
#include "plexus/module/table.h"

#include <algorithm>
#include <cstddef>
#include <cstring>

namespace plexus::loader {
namespace {

constexpr std::uint32_t kMaxTable = 4096;
constexpr std::uint32_t kKnownCaps = PLEXUS_CAP_SLEEP | PLEXUS_CAP_FRAGILE | PLEXUS_CAP_LOCAL |
                                     PLEXUS_CAP_REMOTE_MEMORY | PLEXUS_CAP_ENCRYPTS | PLEXUS_CAP_UNRELIABLE |
                                     PLEXUS_CAP_SUBNET;

// Up to the last slot that every module must have: a shorter table is none.
constexpr std::size_t least_table() {
    std::size_t end = 0;
    for (const module::Slot& slot : module::kSlots)
        if (slot.demand == PLEXUS_SLOT_ALWAYS) end = slot.offset + sizeof(void*);
    return end;
}

// The function that answers in the place of one that a module has left out.
template <auto Slot>
struct Hole;
template <class... Args, std::int32_t (*plexus_ops::*Slot)(Args...)>
struct Hole<Slot> {
    static std::int32_t answer(Args...) { return PLEXUS_UNSUPPORTED; }
};
template <class... Args, void (*plexus_ops::*Slot)(Args...)>
struct Hole<Slot> {
    static void answer(Args...) {}
};
template <>
struct Hole<&plexus_ops::wait_fd> {
    static std::int32_t answer(plexus_module*) { return -1; } // any other number might be a descriptor
};
template <>
struct Hole<&plexus_ops::query> {
    static std::int32_t answer(plexus_module*, plexus_link*, plexus_query, std::uint64_t* value) {
        *value = 0;
        return PLEXUS_UNSUPPORTED;
    }
};
template <>
struct Hole<&plexus_ops::set> {
    static std::int32_t answer(plexus_link*, const char*, const char*, plexus_text* why) {
        constexpr std::string_view kText = "this method has nothing that can be set while it runs";
        why->size = std::min(kText.size(), why->capacity);
        std::memcpy(why->data, kText.data(), why->size);
        return PLEXUS_UNSUPPORTED;
    }
};
template <>
struct Hole<&plexus_ops::row_of> {
    static std::int32_t answer(plexus_link*, std::uint32_t* row) {
        *row = 0;
        return PLEXUS_OK; // a module without this slot has one row
    }
};

template <>
struct Hole<&plexus_ops::check_claim> {
    static std::int32_t answer(plexus_link*, plexus_claim, const char*, plexus_text*) {
        return PLEXUS_OK; // a module without this slot knows nothing of its peers
    }
};

struct Check {
    const char* name;
    std::uint32_t demand;
    bool (*present)(const plexus_ops& ops);
    void (*fill)(plexus_ops& ops);
};

template <auto Slot>
constexpr Check check_of(const char* name, std::uint32_t demand) {
    return {name, demand, [](const plexus_ops& ops) { return ops.*Slot != nullptr; },
            [](plexus_ops& ops) { ops.*Slot = Hole<Slot>::answer; }};
}

#define PLEXUS_SLOT(name, demand) check_of<&plexus_ops::name>(#name, demand),
constexpr Check kChecks[] = {PLEXUS_OPS_SLOTS(PLEXUS_SLOT)};
#undef PLEXUS_SLOT

Failure lacks(const Check& slot) {
    switch (slot.demand) {
    case PLEXUS_CAP_SLEEP:
        return fail(Status::bad_module, "it claims that one can sleep on it, but lacks {}", slot.name);
    case PLEXUS_CAP_REMOTE_MEMORY:
        return fail(Status::bad_module, "it claims remote memory access, but lacks {}", slot.name);
    default:
        return fail(Status::bad_module, "its function table lacks {}, which every module must have",
                    slot.name);
    }
}

} // namespace

Result<plexus_ops> seal(const plexus_ops& raw) {
    constexpr std::size_t kLeastTable = least_table();
    if (raw.size < kLeastTable || raw.size > kMaxTable)
        return fail(Status::bad_module, "its function table claims {} bytes, not {} to {}", raw.size,
                    kLeastTable, kMaxTable);

    plexus_ops ops{};
    constexpr std::size_t kSlot = sizeof(void*); // half a pointer at the end is not copied
    std::memcpy(&ops, &raw, std::min<std::size_t>(raw.size, PLEXUS_OPS_SIZE) / kSlot * kSlot);
    ops.size = PLEXUS_OPS_SIZE;

    if ((ops.caps & ~kKnownCaps) != 0)
        return fail(Status::bad_module, "it claims abilities that ABI {}.{} does not know (bits {:#x})",
                    PLEXUS_ABI_MAJOR, PLEXUS_ABI_MINOR, ops.caps & ~kKnownCaps);
    for (const Check& slot : kChecks) {
        if (slot.present(ops)) continue;
        if (module::demanded(slot.demand, ops.caps)) return lacks(slot);
        slot.fill(ops);
    }
    return ops;
}

} // namespace plexus::loader
