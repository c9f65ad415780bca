// SPDX-License-Identifier: BSD-3-Clause
// Views of a book for contexts of this process, and the book that they share when they
// have neither job nor URL.
#include "base/fork.h"
#include "base/mutex.h"
#include "bootstrap/book.h"
#include "bootstrap/io_thread.h"

#include <unistd.h>

namespace plexus::bootstrap {
namespace {

class LocalDirectory final : public Directory {
  public:
    LocalDirectory(std::shared_ptr<Book> book, std::string url, std::shared_ptr<void> keep)
      : keep_(std::move(keep))
      , book_(std::move(book))
      , url_(std::move(url))
      , me_(book_->enter()) {}
    ~LocalDirectory() override { book_->leave(me_); }

    Result<void> publish(std::string_view name, std::span<const std::byte> value) override {
        return book_->publish(me_, name, value);
    }
    void unpublish(std::string_view name) override { book_->unpublish(me_, name); }
    void lookup(std::string_view name, Clock::time_point deadline, Found found) override {
        book_->lookup(me_, name, deadline, [found = std::move(found)](const Result<Book::Payload>& said) {
            if (!said) return found(said.failure());
            found(**said);
        });
    }
    void fence(Clock::time_point deadline, Done done) override {
        book_->fence(me_, deadline, std::move(done));
    }
    std::string url() const override { return url_; }

  private:
    const std::shared_ptr<void> keep_; // first in, last out
    const std::shared_ptr<Book> book_;
    const std::string url_;
    const Book::User me_;
};

/// The book of this process, with the thread for its deadlines.
struct ProcessBook {
    IoThread thread;
    // A job of one: every context is all the members there are.
    const std::shared_ptr<Book> book = std::make_shared<Book>(thread.io(), 1);
    const pid_t process = ::getpid();

    ~ProcessBook() { book->close(); }
    bool on_own_thread() const { return thread.is_current(); }
};

struct Shared {
    RankedMutex<20> mutex;
    std::weak_ptr<ProcessBook> book PLEXUS_GUARDED_BY(mutex);
};

Shared& shared() {
    // Never destroyed: contexts may end after static objects do.
    static Shared& the = *new Shared;
    return the;
}
const HeldAcrossFork kSharedAcrossFork{shared().mutex};

} // namespace

Directory::~Directory() = default;

std::shared_ptr<Directory> view_of(std::shared_ptr<Book> book, std::string url, std::shared_ptr<void> keep) {
    return std::make_shared<LocalDirectory>(std::move(book), std::move(url), std::move(keep));
}

std::shared_ptr<Directory> process_directory() {
    Shared& found = shared();
    std::shared_ptr<ProcessBook> mine;
    {
        Lock hold(found.mutex);
        mine = found.book.lock();
        // After a fork the thread is not here, only its book: this process starts its own.
        if (!mine || mine->process != ::getpid()) {
            mine.reset(new ProcessBook, delete_elsewhere<ProcessBook>);
            found.book = mine;
        }
    }
    return view_of(mine->book, {}, mine);
}

} // namespace plexus::bootstrap
