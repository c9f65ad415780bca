// SPDX-License-Identifier: BSD-3-Clause
// A directory that is served elsewhere, as seen by one client. Has one io thread.
#include "base/log.h"
#include "bootstrap/client.h"
#include "bootstrap/connect.h"
#include "bootstrap/io_thread.h"

#include <asio/post.hpp>
#include <future>

namespace plexus::bootstrap {
namespace {

/// How long publish() waits for the server's answer.
constexpr std::chrono::seconds kPublishTime{10};

std::chrono::microseconds timeout_until(Clock::time_point deadline) {
    const auto left = std::chrono::ceil<std::chrono::microseconds>(deadline - Clock::now());
    return std::clamp<std::chrono::microseconds>(left, std::chrono::microseconds(0), kLongestTimeout);
}

class JoinedDirectory final : public Directory {
  public:
    JoinedDirectory(Connection connection, std::string url)
      : url_(std::move(url))
      , client_(std::make_shared<Client>(
            thread_.io(),
            asio::ip::tcp::socket(*thread_.io(), connection.protocol, connection.socket.release()), url_)) {
        asio::post(*thread_.io(), [client = client_] { client->start(); });
    }

    ~JoinedDirectory() override {
        asio::post(*thread_.io(), [client = client_] {
            client->end({Status::closed, "the directory is closing"});
        });
        thread_.finish();
    }

    bool on_own_thread() const { return thread_.is_current(); }

    Result<void> publish(std::string_view name, std::span<const std::byte> value) override {
        if (on_own_thread())
            return Failure{Status::would_deadlock,
                           "publish waits for an answer: a callback of the directory may not"};
        if (auto checked = check_entry(name, value); !checked) return checked;
        Frame question;
        question.kind = Kind::publish;
        question.name = name;
        question.value.assign(value.begin(), value.end());
        const auto outcome = std::make_shared<std::promise<Result<Bytes>>>();
        auto answer = outcome->get_future();
        client_->ask(std::move(question), Clock::now() + kPublishTime,
                     [outcome](Result<Bytes> said) { outcome->set_value(std::move(said)); });
        const auto said = answer.get(); // the client gives an answer even if the server does not
        if (!said) return said.failure();
        return {};
    }

    void unpublish(std::string_view name) override {
        if (!check_name(name)) return; // nothing can be published there
        Frame question;
        question.kind = Kind::unpublish;
        question.name = name;
        client_->ask(std::move(question), Clock::now(), nullptr);
    }

    void lookup(std::string_view name, Clock::time_point deadline, Found found) override {
        if (const auto checked = check_name(name); !checked) return found(checked.failure());
        Frame question;
        question.kind = Kind::lookup;
        question.name = name;
        question.timeout = timeout_until(deadline);
        client_->ask(std::move(question), deadline, std::move(found));
    }

    void fence(Clock::time_point deadline, Done done) override {
        Frame question;
        question.kind = Kind::fence;
        question.timeout = timeout_until(deadline);
        client_->ask(std::move(question), deadline, [done = std::move(done)](Result<Bytes> said) {
            if (said) return done({});
            done(said.failure());
        });
    }

    std::string url() const override { return url_; }

  private:
    const std::string url_;
    IoThread thread_;
    const std::shared_ptr<Client> client_;
};

} // namespace

Result<std::shared_ptr<Directory>> join(const std::string& url, const Key& key, const ContextId& who,
                                        Clock::time_point deadline) {
    const auto parsed = parse_url(url);
    if (!parsed) return parsed.failure();
    auto connection = connect(*parsed, key, who, deadline);
    if (!connection) return connection.failure();
    log::info("bootstrap", "joined the directory at {}", url);
    auto* joined = new JoinedDirectory(std::move(*connection), to_string(*parsed));
    return std::shared_ptr<Directory>(
        std::shared_ptr<JoinedDirectory>(joined, delete_elsewhere<JoinedDirectory>));
}

} // namespace plexus::bootstrap
