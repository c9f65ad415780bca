// SPDX-License-Identifier: BSD-3-Clause
// How a model's parameters are acquired on one link, by its own published procedure: which experiments it
// asks for, and what follows from their times. Whoever calls has the network and the clock. Times in seconds,
// sizes in bytes. Pure. Any thread.
#pragma once

#include "plexus/eco/acquired.h"
#include "plexus/eco/fit.h"
#include "plexus/export.h"

#include <compare>
#include <cstdint>
#include <functional>
#include <vector>

namespace plexus::eco {

enum class Quantity : std::uint8_t {
    ping_pong,  ///< a message there and one of its size back, halved
    round_trip, ///< a message there and an empty one back
    send,       ///< how long the sender is busy with one message
    receive,    ///< how long the receiver is busy with a message that is there already
    gap,        ///< of many messages in a row, from one to the next
};

/// What else goes on meanwhile.
enum class Load : std::uint8_t {
    none,
    network,  ///< other pairs exchange messages over the same network, both ways
    same_way, ///< other pairs send over the same network, the way of the message alone
    receiver, ///< other hosts send to the receiver
};

struct Experiment {
    Quantity quantity = Quantity::ping_pong;
    Load load = Load::none;
    std::uint64_t bytes = 0;
    auto operator<=>(const Experiment&) const = default;
};

struct Observation {
    /// The least that was seen; under load the median: the least is that of a moment without load.
    double time_s = 0;
    AcquisitionCost cost;
};

/// @error any status: this link cannot do it; the sentence says why (thrown)
using Observe = std::function<Observation(const Experiment&)>;

struct AcquisitionOptions {
    std::uint64_t most_bytes = 32 * 1024;
    std::uint64_t packet_bytes = 1024; ///< of LogP and LoPC
    /// pLogP: where the line through two sizes misses the gap of the next by more than this share, the
    /// interval is halved, down to 32 B or this share of its size.
    double tolerance = 0.1;
    std::size_t most_sizes = 32; ///< of pLogP
    /// Steffenel: the levels below this link. None: this link is the only level.
    std::vector<AcquiredLevel> lower_levels = {};
};

/// The kinds that have a procedure on one link, in the order of kModelKinds. Cappello and Lastovetsky need
/// every pair of a cluster instead: a map's messages have these, and fit() takes them.
PLEXUS_API std::vector<ModelKind> acquired_kinds();

/// By round trips of two sizes (Hockney, and LogGP's time for a byte), overheads and gaps of a small message
/// (LogP: of a packet), the gap of an empty message and round trips of rising sizes with empty replies
/// (pLogP, after Kielmann, Bal, Verstoep 2000), messages under load (LoPC, LoGPC, Steffenel). The cost is
/// that of all its experiments, each counted once. `from` and `to` of the result are 0. Never throws for what
/// is observed, or that `observe` fails: without parameters, `words` say why.
/// @error bad_argument no procedure, no sizes, or a tolerance that is not above 0 (thrown)
PLEXUS_API AcquiredModel acquire(ModelKind kind, const Observe& observe, const AcquisitionOptions& options);

/// The model itself. @error bad_argument an unknown name, parameters that are not its own, no parameters, or
/// what check() says (thrown)
PLEXUS_API Model model_of(const AcquiredModel& acquired);

} // namespace plexus::eco
