// SPDX-License-Identifier: BSD-3-Clause
// A model's parameters from a sample. Pure.
#pragma once

#include "model/sample.h"
#include "plexus/eco/fit.h"

#include <string>
#include <string_view>

namespace plexus::eco {

struct Parameters {
    Model model;
    std::string assumed; ///< what the sample does not tell; may be empty
};

/// `sample` is checked: all times are finite and above 0.
/// @error bad_argument the sample is too small for the model, or does not fit it (thrown; says why)
Parameters parameters_of(ModelKind kind, const Sample& sample);

/// The two models that know each processor. @error as parameters_of()
Cappello cappello_of(const Sample& sample);
Lastovetsky lastovetsky_of(const Sample& sample);

/// `words` say why a sample does not fit. @error bad_argument (thrown)
[[noreturn]] void refuse_sample(std::string_view words);

/// 0 where `value` is so by all but rounding, beside `scale`.
double settled(double value, double scale) noexcept;

/// Medians of at least `least` sizes, none more than a tenth below one of a smaller size.
/// @error bad_argument there are fewer, or one is (thrown)
TimeBySize rising_times(const std::vector<MeasuredMessage>& messages, std::size_t least);

} // namespace plexus::eco
