// SPDX-License-Identifier: BSD-3-Clause
// Published models of what a message costs, as small values, and what they predict of operations inside one
// cluster. Times in seconds, sizes in bytes; packets, levels and processors are counted from 0. Pure. Any
// thread.
#pragma once

#include "plexus/eco/acquired.h"
#include "plexus/eco/plan.h"
#include "plexus/export.h"

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <variant>
#include <vector>

namespace plexus::eco {

/// What all models come down to for one size: the sender is free again after `spacing_s`, and the message is
/// there `latency_s` after that. A model whose gap is longer than its message takes has a negative latency
/// here.
struct LinkCost {
    double latency_s = 0;
    double spacing_s = 0;
    double message_s() const noexcept { return latency_s + spacing_s; }
};

/// What a model may ask of a message. Models without levels or processors ignore them.
struct ModelMessage {
    std::uint64_t bytes = 0;
    std::size_t level = 0; ///< of the network: 0 is the innermost
    std::size_t sender = 0;
    std::size_t receiver = 0;
};

/// Hockney (1994): latency and asymptotic bandwidth.
struct Hockney {
    double latency_s = 0;
    double bytes_per_s = 0;
};

/// Culler et al. (1996): a message is packets of one size, each with its overhead at both ends.
struct LogP {
    double latency_s = 0;
    double overhead_s = 0;
    double gap_s = 0; ///< between packets
    std::uint64_t packet_bytes = 0;
};

/// Alexandrov et al. (1995): LogP with a gap for each further byte of a long message.
struct LogGP {
    double latency_s = 0;
    double overhead_s = 0;
    double gap_s = 0; ///< between messages
    double gap_s_per_byte = 0;
};

/// Frank, Agarwal, Vernon (1997): LogP and the mean wait for the receiver's processor, as measured under
/// load.
struct LoPC {
    LogP free;
    double receiver_wait_s = 0;
};

/// Moritz, Frank (2001): LogGP and the mean waits for the network and the receiver, as measured under load.
struct LoGPC {
    LogGP free;
    double network_wait_s = 0;
    double receiver_wait_s = 0;
};

/// Kielmann et al. (2001): the gap as a function of size: lines between the samples, the last line goes on,
/// below the first sample its own gap.
struct PLogP {
    double latency_s = 0;
    std::vector<SizedTimes> samples; ///< by rising size
    /// Between samples. @error bad_argument there are no samples (thrown)
    PLEXUS_API SizedTimes at(std::uint64_t bytes) const;
};

/// Cappello et al. (2005): a fixed time of each processor, a latency and a bandwidth of each level.
struct Cappello {
    struct Level {
        double latency_s = 0;
        double bytes_per_s = 0;
    };
    std::vector<double> processing_s; ///< of each processor, for a message sent or received
    std::vector<Level> levels;
};

/// Steffenel (2006): pLogP for each level.
struct Steffenel {
    std::vector<PLogP> levels;
};

/// Lastovetsky et al. (2006): each processor's times, fixed and for each byte, and the network's own.
struct Lastovetsky {
    struct Processor {
        double fixed_s = 0;
        double s_per_byte = 0;
    };
    std::vector<Processor> processors;
    double latency_s = 0;
    double bytes_per_s = 0;
};

using Model = std::variant<Hockney, LogP, LogGP, LoPC, LoGPC, PLogP, Cappello, Steffenel, Lastovetsky>;

/// A row of the poly-model paper's Table 1, which has pLogP hierarchical: PLogP here is for one level, and
/// Steffenel is pLogP for each.
struct ModelFacts {
    std::string_view name;
    std::string_view source;
    bool heterogeneous = false;
    bool hierarchical = false;
    bool contention = false;
};

PLEXUS_API ModelFacts facts(const Model& model) noexcept;

/// @error bad_argument a parameter is missing, negative or not finite, or a size is given twice (thrown;
/// names it)
PLEXUS_API void check(const Model& model);

/// @error bad_argument what check() says; a level or a processor that the model does not have (thrown)
PLEXUS_API LinkCost cost(const Model& model, const ModelMessage& message);

/// One message, from its send to its arrival. @error as cost()
PLEXUS_API double predict_s(const Model& model, const ModelMessage& message);

/// One operation by one pattern inside a cluster: its plan, with every message at the model's cost for its
/// size on level 0. Where a model has a processor for each member, they are those of the same number; else
/// all members are equal. A member sends one message after another, and takes in one after another, a spacing
/// apart. One member: 0.
/// @error bad_argument, unsupported: as cost() and plan() (thrown)
PLEXUS_API double predict_s(const Model& model, const PlanRequest& request, const AlgorithmOptions& options);

/// A broadcast as the poly-model paper's Table 3 has it, inside one cluster.
struct BroadcastTask {
    LinkCost message; ///< the whole of it
    LinkCost segment; ///< one segment
    std::uint64_t members = 1;
    std::uint64_t segments = 1;
};

/// One member: all 0.
struct BroadcastTimes {
    double linear_s = 0;
    double pipeline_s = 0;
    double binary_s = 0;         ///< at most
    double binomial_s = 0;       ///< as printed
    double binomial_exact_s = 0; ///< of Pattern::binomial: ceil(log2 P) spacings and floor(log2 P) latencies
};

/// @error bad_argument no member, no segment, a spacing or a message that is negative or not finite (thrown)
PLEXUS_API BroadcastTimes predict_broadcast(const BroadcastTask& task);

/// The task with the cost of messages by `model`. `segment_bytes` 0, or more than the message: one segment.
/// @error as cost()
PLEXUS_API BroadcastTask broadcast_task(const Model& model, std::uint64_t members, std::uint64_t bytes,
                                        std::uint64_t segment_bytes);

/// The power of two, from `least_bytes` (a power of two) up to the message's size, with the earliest end of a
/// pipeline; of equals the largest. 0 where one segment is as good. @error as cost()
PLEXUS_API std::uint64_t best_segment(const Model& model, std::uint64_t members, std::uint64_t bytes,
                                      std::uint64_t least_bytes = 256);

} // namespace plexus::eco
