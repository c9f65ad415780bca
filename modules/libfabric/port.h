// SPDX-License-Identifier: BSD-3-Clause
// One provider's endpoint: sends, receives and fetches, completions, addresses of peers. It
// knows no messages beyond their header. One lock stands around every call of libfabric, and
// the provider is told so (FI_THREAD_DOMAIN): it takes none of its own.
#pragma once

#include "common/mutex.h"
#include "libfabric/descriptor.h"
#include "libfabric/memory.h"
#include "libfabric/providers.h"

#include <atomic>
#include <map>
#include <rdma/fi_cm.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_rma.h>

namespace plexus::libfabric {

/// The file in /dev/shm that an address of the shm provider means, with a slash before it, as
/// shm_unlink takes it; empty: it means none.
std::string shared_file_of(const Bytes& name);

class Port {
  public:
    struct Completion {
        Op* op = nullptr; ///< null: nothing is known about it
        std::size_t size = 0;
        std::string error; ///< empty: it went well
    };
    static constexpr std::size_t kBatch = 16;
    static constexpr std::size_t kMostFetch = 4 * 1024 * 1024;

    /// Null and a sentence, if the provider refuses. @thread setup
    static std::unique_ptr<Port> open(const plexus_host& host, Info info, const Options& options,
                                      std::string& why);
    ~Port();
    Port(const Port&) = delete;
    Port& operator=(const Port&) = delete;

    const Address& address() const noexcept { return address_; }
    std::size_t eager() const noexcept { return eager_; }           ///< bytes of a message that is copied
    std::size_t most_fetch() const noexcept { return most_fetch_; } ///< bytes in one read
    bool fetches() const noexcept { return fetches_; }
    bool remembers_no_revocation() const noexcept { return address_.reach == Reach::host; }
    int wait_fd() const noexcept { return wait_fd_; } ///< -1: the provider has none
    std::size_t inline_bytes() const noexcept { return inject_ - std::min(inject_, kHeaderBytes); }
    module::Mutex& mutex() noexcept PLEXUS_MODULE_RETURNS(mutex_) { return mutex_; }

    // Zero, or a negative error code of libfabric's: -FI_EAGAIN, repeat later. @thread any

    /// Sends a header and pieces of `size` bytes together, at most eager(), copying them.
    /// `tracked`: by a buffer whose completion names `link`; otherwise as the provider likes.
    int send(fi_addr_t to, Link& link, const Header& header, const plexus_view* pieces, std::uint32_t count,
             std::size_t size, bool tracked, bool& completes) PLEXUS_MODULE_REQUIRES(mutex_);
    int fetch(fi_addr_t from, Op& op, std::byte* where, std::size_t size, void* handle, std::uint64_t address,
              std::uint64_t key) PLEXUS_MODULE_REQUIRES(mutex_);
    /// Memory for others to read; fills in what they have to know of it.
    int offer(const plexus_view& memory, Registration& out, Stretch& stretch) PLEXUS_MODULE_REQUIRES(mutex_);
    /// Memory to read into; null handle: none is wanted.
    int prepare(void* memory, std::size_t size, Registration& out, void*& handle)
        PLEXUS_MODULE_REQUIRES(mutex_);

    int add_peer(const Bytes& name, fi_addr_t& out) PLEXUS_MODULE_REQUIRES(mutex_);
    void drop_peer(const Bytes& name) PLEXUS_MODULE_REQUIRES(mutex_);

    // @thread progress
    /// At most `most` of what has happened, in order. A received buffer is the caller's until
    /// recycle().
    std::size_t poll(Completion* out, std::size_t most);
    void recycle(Buffer& buffer) {
        (buffer.what == Op::What::receive ? to_post_ : to_free_).push_back(&buffer);
    }
    /// Looks for work without doing it: true if there is some.
    bool look();
    /// How many of this link's fetches are over of which poll() has not yet told. @thread any
    std::size_t fetches_over(const Link& link);
    /// True: a sleeper will be woken by wait_fd(). Only where there is one.
    bool may_sleep();
    /// Ends everything under way; nothing completes, and nothing is written, after it. So does a
    /// provider that fails. @thread any
    void shut();
    struct End {
        std::string why;
        bool failed = false; ///< the provider did
    };
    End end();                 ///< once it is_shut()
    bool end_is_known = false; ///< to its links. @thread progress
    /// Something that the provider has not yet told the end of. @thread any
    bool under_way() const noexcept { return outstanding_.load(std::memory_order_relaxed) > 0; }
    bool is_shut() const noexcept { return shut_.load(std::memory_order_relaxed); }

  private:
    Port(const plexus_host& host, Info info, const Options& options);
    std::string start();
    template <class Call>
    int reach(fi_addr_t peer, Call&& call) PLEXUS_MODULE_REQUIRES(mutex_);
    void post_all() PLEXUS_MODULE_REQUIRES(mutex_);
    bool keep_news() PLEXUS_MODULE_REQUIRES(mutex_);
    std::size_t read_queue(Completion* out, std::size_t most) PLEXUS_MODULE_REQUIRES(mutex_);
    void count_off(const Op* op) PLEXUS_MODULE_REQUIRES(mutex_);
    bool read_error(Completion& out) PLEXUS_MODULE_REQUIRES(mutex_);
    /// The library answered with an error that is no passing one.
    void fail(const char* when, long error) PLEXUS_MODULE_REQUIRES(mutex_);
    void end_for(std::string why, bool failed) PLEXUS_MODULE_REQUIRES(mutex_);
    struct Peer {
        fi_addr_t address;
        std::size_t users;
    };

    const plexus_host& host_;
    const Info info_;
    const std::size_t buffer_count_;
    Address address_;
    std::size_t eager_;
    std::size_t inject_ = 0;
    std::size_t most_fetch_ = kMostFetch;
    bool fetches_ = false;
    int wait_fd_ = -1;

    module::Mutex mutex_;
    std::atomic<bool> shut_{false};             // a hint; the lock decides
    std::atomic<std::uint64_t> outstanding_{0}; // ditto
    // In the order of their making.
    Owned<fid_fabric> fabric_;
    Owned<fid_domain> domain_;
    Owned<fid_av> peers_by_address_;
    Owned<fid_cq> queue_;
    Owned<fid_ep> endpoint_;
    MemoryRules rules_;
    std::unique_ptr<Buffers> incoming_ PLEXUS_MODULE_GUARDED_BY(mutex_);
    std::unique_ptr<Buffers> outgoing_ PLEXUS_MODULE_GUARDED_BY(mutex_);
    std::map<std::string, Peer> peers_ PLEXUS_MODULE_GUARDED_BY(mutex_);
    std::map<fi_addr_t, std::string> near_ PLEXUS_MODULE_GUARDED_BY(mutex_); // peers of this process, by name
    std::vector<Completion> kept_ PLEXUS_MODULE_GUARDED_BY(mutex_);          // read, not yet told by poll()
    std::vector<std::byte> block_ PLEXUS_MODULE_GUARDED_BY(mutex_); // where small messages are put together

    std::size_t posted_ PLEXUS_MODULE_GUARDED_BY(mutex_) = 0;
    std::size_t reading_ PLEXUS_MODULE_GUARDED_BY(mutex_) = 0; // fetches under way
    End end_ PLEXUS_MODULE_GUARDED_BY(mutex_);

    // The progress thread's.
    std::vector<Buffer*> to_post_;
    std::vector<Buffer*> to_free_;
};

} // namespace plexus::libfabric
