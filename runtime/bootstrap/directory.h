// SPDX-License-Identifier: BSD-3-Clause
// How contexts meet: a directory maps names to a few bytes, and lets all members of a job wait for each
// other. Knows neither who publishes which names nor what the bytes mean. Three kinds: inside one process,
// served on a socket, joined over a socket.
#pragma once

#include "base/clock.h"
#include "base/result.h"
#include "bootstrap/job.h"
#include "bootstrap/key.h"
#include "plexus/id.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace plexus::bootstrap {

using Bytes = std::vector<std::byte>;

inline constexpr std::size_t kLongestName = 255;
inline constexpr std::size_t kLongestValue = 64 * 1024;

/// Whether anything can be published under a name. @error bad_argument
Result<void> check_name(std::string_view name);
/// Whether a value can be published under a name. @error bad_argument, too_large
Result<void> check_entry(std::string_view name, std::span<const std::byte> value);

/// One context's view of a directory. Its destructor ends the lookups and the fence that wait with `closed`,
/// then withdraws the names of the view. @thread any
class Directory {
  public:
    /// Called once, on the directory's own thread or the caller's, with no lock held. Must
    /// not block or throw; it may drop the last reference to the directory.
    using Found = std::function<void(Result<Bytes>)>;
    using Done = std::function<void(Result<void>)>;

    Directory() = default;
    Directory(const Directory&) = delete;
    Directory& operator=(const Directory&) = delete;
    virtual ~Directory();

    /// Makes `value` known under `name`; again by the same view replaces it. May block for
    /// a round trip, so not from a callback of the same directory.
    /// @error busy         another view holds the name
    /// @error bad_argument the name is empty or longer than kLongestName
    /// @error too_large    the value is longer than kLongestValue, or all of them together
    ///                     than 64 MiB
    /// @error peer_lost    the directory's server is gone
    /// @error would_deadlock called from a callback
    virtual Result<void> publish(std::string_view name, std::span<const std::byte> value) = 0;

    /// Withdraws a name of this view; any other name is left alone.
    virtual void unpublish(std::string_view name) = 0;

    /// Gives the value of `name` as soon as it is published.
    /// @error not_found it was not published before the deadline; the text says which name
    /// @error peer_lost, closed as above
    virtual void lookup(std::string_view name, Clock::time_point deadline, Found found) = 0;

    /// Done when every member of the job has called it as often as this one.
    /// @error timed_out not all members called it before the deadline; this view does not count as arrived
    /// @error peer_lost a member that was waiting, or that had taken part in a fence before, has left
    /// @error busy      this view is in a fence already
    virtual void fence(Clock::time_point deadline, Done done) = 0;

    /// Where others may join the directory; empty if they cannot.
    virtual std::string url() const = 0;
};

/// A view of the directory of this process, for contexts that have no job and no URL: a
/// job of one member each, so that a fence never waits.
std::shared_ptr<Directory> process_directory();

/// Joins the directory at `url`. Blocks until both sides have proved that they hold `key`.
/// @error bad_argument no such URL can be
/// @error not_found    no such host, or nobody listens there
/// @error denied       the server closed the connection: the keys differ
/// @error wrong_peer   the server there is not a directory
/// @error busy         the server gave our place to others, several times
/// @error timed_out    no answer before the deadline
Result<std::shared_ptr<Directory>> join(const std::string& url, const Key& key, const ContextId& who,
                                        Clock::time_point deadline);

/// What a client publishes to say that `rank` of the job has come. @thread any
std::string came_name(std::uint32_t rank);

/// Serves a directory on a TCP port, on a thread of its own. The connection of a peer that does not prove
/// the key is closed without an answer, and nothing that the peer sends is kept. Such connections are bounded
/// in number and time; one that the next needs the room of is reset.
class DirectoryServer {
  public:
    /// `url` says where: port 0 takes any free one, 0.0.0.0 or [::] every interface.
    /// `members` is how many take part in a fence.
    /// @error bad_argument, not_found as join()
    /// @error busy         the port is taken
    static Result<std::unique_ptr<DirectoryServer>> listen(const std::string& url, const Key& key,
                                                           std::uint32_t members);
    ~DirectoryServer();
    DirectoryServer(const DirectoryServer&) = delete;
    DirectoryServer& operator=(const DirectoryServer&) = delete;

    /// Where the directory can be joined, with the port in use. @thread any
    const std::string& url() const noexcept;

    /// A new view for a context of the serving process; it answers `closed` once the
    /// server is gone. @thread any
    std::shared_ptr<Directory> local();

    /// Returns when no client is connected, and either `ranks` different ranks of the job have come or
    /// `all_come` has passed. A rank has come when a client has published came_name() of it, as contexts
    /// of a managed job do, once or several times.
    void wait_for_clients(std::uint32_t ranks, Clock::time_point all_come);

  private:
    class Impl;
    explicit DirectoryServer(std::unique_ptr<Impl> impl);
    std::unique_ptr<Impl> impl_;
};

} // namespace plexus::bootstrap
