// SPDX-License-Identifier: BSD-3-Clause
// Selective polling: confines a method's lane to a region of code (Nexus, Table 1, row 1).
#pragma once

#include "plexus/context.h"

namespace plexus {

/// While it lives, `method` is polled in every turn, also if confine() keeps it out of the
/// loop elsewhere. Guards nest. @thread any
class PLEXUS_API Polling {
  public:
    /// @error bad_argument this context has no such lane (thrown)
    Polling(Context& context, std::string_view method);
    ~Polling();
    Polling(const Polling&) = delete;
    Polling& operator=(const Polling&) = delete;

  private:
    std::shared_ptr<detail::Core> core_;
    std::size_t lane_;
};

} // namespace plexus
