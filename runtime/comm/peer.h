// SPDX-License-Identifier: BSD-3-Clause
// Another context, as this one knows it: its tables, the communication objects to it, and
// how far its streams were delivered.
#pragma once

#include "base/mutex.h"
#include "comm/object.h"
#include "plexus/id.h"
#include "plexus/table.h"

#include <chrono>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace plexus::comm {

/// A table and its bytes; shared by every pointer that has it.
struct KnownTable {
    DescriptorTable table;
    wire::Bytes encoded;
    std::uint64_t hash = 0;

    static std::shared_ptr<const KnownTable> make(DescriptorTable table);
};

/// What a higher room keeps of each peer.
class Attachment {
  public:
    virtual ~Attachment() = default;
};

enum class Presence : std::uint8_t {
    unknown, ///< nobody has tried
    here,    ///< a link to it is or was open
    lost,    ///< no row of its table reached it
    gone,    ///< it has said goodbye
};

class Peer : public std::enable_shared_from_this<Peer> {
  public:
    explicit Peer(const ContextId& the_id)
      : id(the_id) {}

    const ContextId id;

    /// The table of that hash, if it is known. @thread any
    std::shared_ptr<const KnownTable> find_table(std::uint64_t hash) const PLEXUS_EXCLUDES(mutex);
    /// Remembers one. The owner's own (or, before that is known, any) is what is used to reach the
    /// peer unasked. @thread any
    void learn(std::shared_ptr<const KnownTable> table, bool owners) PLEXUS_EXCLUDES(mutex);
    std::shared_ptr<const KnownTable> owners_table() const PLEXUS_EXCLUDES(mutex);
    /// A link came about that goes by this row.
    void forget_failure(std::string_view row) PLEXUS_REQUIRES(mutex) {
        std::erase_if(failed, [&](const auto& each) { return share_rows(each.first, row); });
    }

    mutable RankedMutex<20> mutex;
    std::map<std::uint64_t, std::shared_ptr<const KnownTable>> tables PLEXUS_GUARDED_BY(mutex);
    std::shared_ptr<const KnownTable> owners PLEXUS_GUARDED_BY(mutex);
    std::vector<std::unique_ptr<Object>> objects PLEXUS_GUARDED_BY(mutex);
    Presence presence PLEXUS_GUARDED_BY(mutex) = Presence::unknown;
    Status status PLEXUS_GUARDED_BY(mutex) = Status::ok; ///< lost or gone: what calls end with
    std::string why PLEXUS_GUARDED_BY(mutex);
    std::chrono::steady_clock::time_point lost_at PLEXUS_GUARDED_BY(mutex){};
    /// Rows that were tried and did not reach it, with the reason; forgotten on success.
    std::map<std::string, std::string> failed PLEXUS_GUARDED_BY(mutex);
    /// The way that pointers take which have no wishes of their own, one for each table.
    std::map<std::uint64_t, std::shared_ptr<detail::Route>> ways PLEXUS_GUARDED_BY(mutex);

    // The leader's own.
    std::map<std::uint32_t, std::uint64_t> past_streams; ///< of links that are no more
    std::uint32_t forgotten_streams = 0;                 ///< up to this number
    std::unique_ptr<Attachment> attachment;
};

} // namespace plexus::comm
