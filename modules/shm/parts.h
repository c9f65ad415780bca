// SPDX-License-Identifier: BSD-3-Clause
// What the shm method of one context is made of, below those who act on it: its mailbox, the descriptors that
// it sleeps on, its links, and which of them are looked at. @thread progress, except
// where a comment says otherwise.
#pragma once

#include "shm/busy_links.h"
#include "shm/event_set.h"
#include "shm/hot_links.h"
#include "shm/link_table.h"
#include "shm/orders.h"
#include "shm/self.h"

namespace plexus::shm {

struct Parts {
    Parts(const plexus_host& the_host, const Options& the_options)
      : host(the_host)
      , options(the_options) {}

    const plexus_host host;
    const Options options;
    Self self;
    Totals totals;
    Mailbox mailbox;
    EventSet events;
    Orders orders{mailbox};
    LinkTable table;
    HotLinks hot{options.hot};
    BusyLinks busy;
    /// Takes links and callers no more.
    bool closing = false;
    /// Nobody polls any more, and the host takes no callback but `sent`.
    bool draining = false;
};

} // namespace plexus::shm
