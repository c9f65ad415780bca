// SPDX-License-Identifier: BSD-3-Clause
// The first step of the poly-model paper (Poly-adapt-1): the parameters of each model from a measured sample,
// how far each model's predictions are from what was measured, and which model is taken. Times in seconds,
// sizes in bytes. Pure. Any thread.
#pragma once

#include "plexus/eco/acquired.h"
#include "plexus/eco/model.h"
#include "plexus/eco/plan.h"
#include "plexus/export.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace plexus::eco {

/// The alternatives of Model, the cheapest to acquire first as far as nobody measured that: the rows of the
/// paper's Table 1. Two numbers, three, four; the same also under load; a sample over many sizes ("most
/// expensive" beside LogP and LogGP in the paper); then a time for each processor, a sample for each level,
/// two numbers for each processor.
enum class ModelKind : std::uint8_t {
    hockney,
    logp,
    loggp,
    lopc,
    logpc,
    plogp,
    cappello,
    steffenel,
    lastovetsky
};

inline constexpr ModelKind kModelKinds[] = {
    ModelKind::hockney, ModelKind::logp,     ModelKind::loggp,     ModelKind::lopc,       ModelKind::logpc,
    ModelKind::plogp,   ModelKind::cappello, ModelKind::steffenel, ModelKind::lastovetsky};

/// As facts() has it: "loggp". @thread any
PLEXUS_API std::string_view to_string(ModelKind kind) noexcept;

/// One message, from its send to its arrival.
struct MeasuredMessage {
    ModelMessage message;
    double time_s = 0;
};

/// How long a message occupies its ends: those that were measured.
struct MeasuredOccupancy {
    std::uint64_t bytes = 0;
    std::size_t level = 0;
    std::optional<double> send_overhead_s;
    std::optional<double> receive_overhead_s;
    std::optional<double> gap_s; ///< until the sender is free: by many messages in a row
};

/// One operation among equal members; its size is elements * element_bytes of the request.
struct MeasuredOperation {
    PlanRequest request;
    AlgorithmOptions options;
    double time_s = 0;
};

/// What was measured of one cluster, or of the links between two. Only `messages` are needed.
struct Sample {
    std::vector<MeasuredMessage> messages; ///< under the conditions that are to be predicted
    /// The same with nothing else under way, and with load on the network alone: LoPC, LoGPC.
    std::vector<MeasuredMessage> unloaded;
    std::vector<MeasuredMessage> network_loaded;
    std::vector<MeasuredOccupancy> occupancy;
    /// They judge the models. A broadcast by star among three members or more also gives the gap of its size.
    std::vector<MeasuredOperation> operations;
    std::uint64_t packet_bytes = 0; ///< LogP, LoPC; 0: the power of two from 64 B to 64 KiB that fits best
};

/// Of the relative errors |predicted - measured| / measured at one size: the medians over its messages, its
/// gaps and its operations, as far as there are any, and of these the mean.
struct SizeError {
    std::uint64_t bytes = 0;
    double error = 0;
};

/// A model with what its predictions are worth.
struct ModelFit {
    ModelKind kind = ModelKind::hockney;
    std::optional<Model> model; ///< nothing: `words` say why
    /// Why there is no model, or what the sample does not tell and is taken for granted; may be empty.
    std::string words;
    double error = 0; ///< the median over sizes
    /// True: each size was predicted by a model that had not seen it. False: there are too few for that.
    bool cross_validated = false;
    std::vector<SizeError> by_size; ///< rising
    /// The parameters are those of the model's own procedure; else they were fitted to the sample.
    bool acquired = false;
    AcquisitionCost cost = {}; ///< of acquiring them; of fitted ones nobody knows it, and it is 0
};

/// Errors that differ by no more than this (one per cent of the measured time) are a tie.
inline constexpr double kErrorTie = 0.01;

/// Least squares of relative errors, over the median of each size where a model knows no processors. What
/// messages alone cannot tell apart counts as latency: without overheads they are 0, and without gaps
/// those of LogGP and pLogP at size 0 are. Never throws for what is in the sample: words say what is
/// missing, not finite, not above 0, negative, or falls with size by more than a tenth.
PLEXUS_API ModelFit fit(ModelKind kind, const Sample& sample);

/// The acquired parameters, judged by the sample of their link, of which Steffenel has the last level. A
/// level that has a size of the sample predicts it without. Never throws: words say why there is no model.
PLEXUS_API ModelFit fit(const AcquiredModel& acquired, const Sample& sample);

/// By every model, in the order of kModelKinds.
PLEXUS_API std::vector<ModelFit> fits(const Sample& sample);

/// At `bytes`: the mean of the errors at the measured sizes next to it, above and below.
PLEXUS_API double error_at(const ModelFit& fit, std::uint64_t bytes) noexcept;

/// Of those whose error at `bytes` is at most kErrorTie above the least, the cheapest to acquire: acquired
/// ones by the seconds that they took, then by messages; after them the fitted ones in the order of `among`.
/// Models that are cross-validated go before others. Nothing: there is no model among them.
PLEXUS_API std::optional<std::size_t> choose(const std::vector<ModelFit>& among,
                                             std::uint64_t bytes) noexcept;

} // namespace plexus::eco
