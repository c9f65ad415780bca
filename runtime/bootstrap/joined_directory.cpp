// SPDX-License-Identifier: BSD-3-Clause
// A directory that is served elsewhere, as seen by one guest. Has one io thread.
#include "base/log.h"
#include "bootstrap/guest_link.h"
#include "bootstrap/io_thread.h"
#include "bootstrap/knock.h"

#include <asio/post.hpp>
#include <future>

namespace plexus::bootstrap {
namespace {

/// How long publish() waits for the server's word.
constexpr std::chrono::seconds kPublishTime{10};

std::chrono::microseconds patience_until(Clock::time_point deadline) {
    const auto left = std::chrono::ceil<std::chrono::microseconds>(deadline - Clock::now());
    return std::clamp<std::chrono::microseconds>(left, std::chrono::microseconds(0), kLongestPatience);
}

class JoinedDirectory final : public Directory {
  public:
    JoinedDirectory(OpenDoor door, std::string url)
      : url_(std::move(url))
      , link_(std::make_shared<GuestLink>(
            thread_.io(), asio::ip::tcp::socket(*thread_.io(), door.protocol, door.socket.release()), url_)) {
        asio::post(*thread_.io(), [link = link_] { link->start(); });
    }

    ~JoinedDirectory() override {
        asio::post(*thread_.io(), [link = link_] {
            link->end({Status::closed, "the directory is closing"});
        });
        thread_.finish();
    }

    bool on_own_thread() const { return thread_.is_current(); }

    Result<void> publish(std::string_view name, std::span<const std::byte> value) override {
        if (on_own_thread())
            return Failure{Status::would_deadlock,
                           "publish waits for an answer: a callback of the directory may not"};
        if (name.empty() || name.size() > kLongestName)
            return fail(Status::bad_argument, "a published name has 1 to {} bytes, not {}", kLongestName,
                        name.size());
        if (value.size() > kLongestValue)
            return fail(Status::too_large, "\"{}\" cannot be published: {} bytes are more than {}", name,
                        value.size(), kLongestValue);
        Frame question;
        question.kind = Kind::publish;
        question.name = name;
        question.value.assign(value.begin(), value.end());
        const auto outcome = std::make_shared<std::promise<Result<Bytes>>>();
        auto answer = outcome->get_future();
        link_->ask(std::move(question), Clock::now() + kPublishTime,
                   [outcome](Result<Bytes> said) { outcome->set_value(std::move(said)); });
        const auto said = answer.get(); // the link gives one, whatever the server does
        if (!said) return said.failure();
        return {};
    }

    void unpublish(std::string_view name) override {
        if (name.empty() || name.size() > kLongestName) return; // nothing can be published there
        Frame question;
        question.kind = Kind::unpublish;
        question.name = name;
        link_->ask(std::move(question), Clock::now(), nullptr);
    }

    void lookup(std::string_view name, Clock::time_point deadline, Found found) override {
        if (name.empty() || name.size() > kLongestName)
            return found(fail(Status::bad_argument, "a published name has 1 to {} bytes, not {}",
                              kLongestName, name.size()));
        Frame question;
        question.kind = Kind::lookup;
        question.name = name;
        question.patience = patience_until(deadline);
        link_->ask(std::move(question), deadline, std::move(found));
    }

    void fence(Clock::time_point deadline, Done done) override {
        Frame question;
        question.kind = Kind::fence;
        question.patience = patience_until(deadline);
        link_->ask(std::move(question), deadline, [done = std::move(done)](Result<Bytes> said) {
            if (said) return done({});
            done(said.failure());
        });
    }

    std::string url() const override { return url_; }

  private:
    const std::string url_;
    IoThread thread_;
    const std::shared_ptr<GuestLink> link_;
};

} // namespace

Result<std::shared_ptr<Directory>> join(const std::string& url, const Key& key, const ContextId& who,
                                        Clock::time_point deadline) {
    const auto parsed = parse_url(url);
    if (!parsed) return parsed.failure();
    auto door = knock(*parsed, key, who, deadline);
    if (!door) return door.failure();
    log::info("bootstrap", "joined the directory at {}", url);
    auto* joined = new JoinedDirectory(std::move(*door), to_string(*parsed));
    return std::shared_ptr<Directory>(
        std::shared_ptr<JoinedDirectory>(joined, delete_elsewhere<JoinedDirectory>));
}

} // namespace plexus::bootstrap
