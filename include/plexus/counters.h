// SPDX-License-Identifier: BSD-3-Clause
// The counters of running contexts, read from outside: what `plexus top` shows, for programs that watch
// others. On this host a context that is read needs not make progress: a thread of its own reads its counters
// when somebody asks; that needs no context here. Over the network it is asked by a request. The contexts say
// which counters they have.
#pragma once

#include "plexus/export.h"
#include "plexus/id.h"

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace plexus {

enum class CounterKind : std::uint8_t {
    text,  ///< says of what the other columns are
    gauge, ///< goes up and down
    count, ///< only grows, as long as the context lives
};

struct CounterColumn {
    std::string name; ///< small letters, digits and _; a name with a unit ends in it: poll_cost_seconds
    std::string help; ///< one line
    CounterKind kind = CounterKind::text;
    /// What a number is to be divided by to have the unit of the name.
    std::uint64_t divisor = 1;
};

struct CounterValue {
    std::uint64_t number = 0;
    std::string text; ///< of columns of that kind; any bytes
};

/// All values were read together. As many in a row as there are columns.
struct CounterTable {
    std::string name; ///< as a column's
    std::string help;
    std::vector<CounterColumn> columns;
    std::vector<std::vector<CounterValue>> rows;
    std::uint64_t left_out = 0; ///< rows for which the context has no room
};

/// Who a context is. Texts may have any bytes; what is long is cut.
struct ContextLabel {
    ContextId id;
    std::int32_t process = 0; ///< as seen from here
    std::string program;      ///< the name of its executable
    std::string name;         ///< the key `name`
    std::string job;          ///< what its launcher calls the job; empty without one
    std::uint32_t rank = 0;
    std::uint32_t size = 1;
    std::chrono::system_clock::time_point started;
};

struct CounterSample {
    std::vector<CounterTable> tables;
    /// Epoch: the context has not been read before.
    std::chrono::system_clock::time_point taken;
    /// False: the context did not answer in time, and this is what it told the last time somebody asked. It
    /// is stopped, or its process gets no processor.
    bool fresh = false;
};

class Context;

/// A context, and what it told.
struct SeenContext {
    ContextLabel label; ///< its process is a number of its own host
    CounterSample sample;
};
/// The counters of a job, or of a program that listens, over the network: of all ranks that have published
/// themselves in the directory that `here` has joined (Options::url). Each is asked by a request, by whatever
/// method leads there, so that a context which makes no progress does not answer; the time is for all
/// together, half of it for rank 0. Those that say nothing are left out, with a reason in `refused`; if that
/// is rank 0, nobody says how many ranks there are, and those below 16 are asked. @thread setup
PLEXUS_API std::vector<SeenContext> read_counters(Context& here, std::chrono::milliseconds patience,
                                                  std::vector<std::string>& refused);

/// A context of any process that this one may look into: those of its user. Holds its memory, and a
/// descriptor; the context may end meanwhile. Movable. @thread one
class PLEXUS_API RunningContext {
  public:
    /// All of this user, by process and age. Those whose memory can't be read are left out, with a reason in
    /// `refused` if that is not null.
    static std::vector<RunningContext> all(std::vector<std::string>* refused = nullptr);
    /// Those of a process, at least one.
    /// @error not_found there is no such process, or none of its contexts shows its counters (thrown)
    /// @error denied it is another user's (thrown)
    /// @error unsupported the memory of one has a version that is not known here (thrown)
    /// @error bad_archive the memory of one is not what a context writes (thrown)
    static std::vector<RunningContext> of(std::int32_t process);

    RunningContext(RunningContext&&) noexcept;
    RunningContext& operator=(RunningContext&&) noexcept;
    ~RunningContext();

    const ContextLabel& label() const noexcept;
    /// Asks for the counters, and does not wait: read() then waits for these. For callers that read several
    /// contexts.
    void ask() noexcept;
    /// Asks, if nobody has since the last call, and waits for them this long at most.
    /// @error bad_archive they are not what a context writes (thrown)
    /// @error timed_out they were half written all the time (thrown)
    /// @error peer_lost the context has ended (thrown)
    CounterSample read(std::chrono::milliseconds patience = std::chrono::milliseconds(500));

  private:
    struct Inside;
    explicit RunningContext(std::unique_ptr<Inside> inside) noexcept;
    std::unique_ptr<Inside> inside_;
};

} // namespace plexus
