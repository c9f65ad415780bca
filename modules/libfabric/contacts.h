// SPDX-License-Identifier: BSD-3-Clause
// The peers' addresses in one endpoint's table, each once, however many links use it. Under the
// lock of the endpoint.
#pragma once

#include "base/lock.h"
#include "libfabric/descriptor.h"

#include <map>
#include <rdma/fi_domain.h>
#include <rdma/fi_errno.h>
#include <set>

namespace plexus::libfabric {

/// The file in /dev/shm that an address of the shm provider means, with a slash before it, as
/// shm_unlink takes it; empty: it means none.
std::string shared_file_of(const Bytes& name);

/// An endpoint's name as a key.
std::string key_of(const Bytes& name);

/// Endpoints of the shm provider in this process that are open. Between two of one process the
/// provider uses the other's memory as it stands, and would do so after its end.
struct Neighbours {
    Mutex mutex; // taken under an endpoint's lock; no other is taken under it
    std::set<std::string> open PLEXUS_GUARDED_BY(mutex);
    std::vector<fid_ep*> abandoned PLEXUS_GUARDED_BY(mutex); // that can't be closed

    static Neighbours& all();
};

struct Contact {
    std::string name;
    fi_addr_t address = FI_ADDR_UNSPEC;
    std::size_t users = 0;   ///< links
    std::size_t sending = 0; ///< sends that the provider has not told the end of
    bool is_near = false;    ///< one of Neighbours

    /// Makes a call that may touch the peer's memory, if that is there.
    template <class Call>
    int reach(Call&& call) const {
        if (!is_near) return call();
        Neighbours& all = Neighbours::all();
        const Lock hold(all.mutex);
        return all.open.count(name) > 0 ? call() : -FI_ENOTCONN;
    }
};

class Contacts {
  public:
    /// Zero and a contact with one more user, until drop(), or an error code of libfabric's.
    int add(fid_av* table, const Address& own, const Bytes& name, Contact*& out);
    /// One user less. The contact may be freed by it. `table` as for tidy().
    void drop(fid_av* table, Contact& contact);
    /// Frees it if it has no users, and nothing is being sent to it. `table` null: it is gone.
    void tidy(fid_av* table, const Contact& contact);

  private:
    std::map<std::string, Contact> contacts_; // by name
};

} // namespace plexus::libfabric
