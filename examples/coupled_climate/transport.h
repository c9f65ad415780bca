// SPDX-License-Identifier: BSD-3-Clause
// What a flow carries through the face between two cells: the second-order upwind value
// with a monotonised central limiter, so that no new extremes arise. Both models use it,
// in flux form: what leaves one cell enters the next, to the bit. Pure functions.
#pragma once

#include <algorithm>
#include <cmath>

namespace climate {

/// The gentler of both slopes, 0 where they disagree.
inline double limited(double before, double after) noexcept {
    const double size =
        std::min(std::abs(before + after) * 0.5, 2 * std::min(std::abs(before), std::abs(after)));
    return before * after > 0 ? std::copysign(size, before) : 0.0;
}

/// The value at the face between `near` and `far` where the flow goes from near to far
/// if it is positive; `behind` and `beyond` are the next cells on either side.
inline double face_value(double flow, double behind, double near, double far, double beyond) noexcept {
    return flow > 0 ? near + 0.5 * limited(near - behind, far - near)
                    : far - 0.5 * limited(far - near, beyond - far);
}

} // namespace climate
