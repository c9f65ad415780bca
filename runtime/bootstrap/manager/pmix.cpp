// SPDX-License-Identifier: BSD-3-Clause
// A client of PMIx (PMIx standard 4, sections 5.1 "PMIx_Init" and 7.1 "PMIx_Get"). The library is loaded when
// a process finds itself started by a resource manager, and the connection ends when the job's line is known:
// what rank 0 has committed stays with the server. A program may use PMIx or MPI beside it, since the library
// counts its users.
#include "bootstrap/manager/process_manager.h"

#include "base/log.h"

#ifdef PLEXUS_HAS_PMIX

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <future>
#include <memory>
#include <optional>
#include <pmix.h>
#include <thread>

namespace plexus::bootstrap {
namespace {

constexpr char kLibrary[] = "libpmix.so.2";
constexpr char kLineKey[] = "plexus.directory";
constexpr std::chrono::milliseconds kPause{20}; // before a question that found nothing is asked again
constexpr std::chrono::milliseconds kLook{100}; // between two looks for the server while a question is open

/// What is used of the library. Never unloaded: its threads may still run its code.
struct Library {
    decltype(&PMIx_Init) init = nullptr;
    decltype(&PMIx_Finalize) finalize = nullptr;
    decltype(&PMIx_Get) get = nullptr;
    decltype(&PMIx_Get_nb) get_later = nullptr;
    decltype(&PMIx_Put) put = nullptr;
    decltype(&PMIx_Commit) commit = nullptr;
    decltype(&PMIx_Error_string) error_string = nullptr;
};

template <class Function>
bool find(void* library, const char* name, Function& function) {
    function = reinterpret_cast<Function>(::dlsym(library, name));
    return function != nullptr;
}

Result<Library> load() {
    void* const opened = ::dlopen(kLibrary, RTLD_NOW | RTLD_LOCAL);
    if (opened == nullptr)
        return fail(Status::not_found,
                    "PMIx is the launcher, but {} cannot be loaded ({}): install it, or {}", kLibrary,
                    ::dlerror(), kWithoutManager);
    Library library;
    if (find(opened, "PMIx_Init", library.init) && find(opened, "PMIx_Finalize", library.finalize) &&
        find(opened, "PMIx_Get", library.get) && find(opened, "PMIx_Get_nb", library.get_later) &&
        find(opened, "PMIx_Put", library.put) && find(opened, "PMIx_Commit", library.commit) &&
        find(opened, "PMIx_Error_string", library.error_string))
        return library;
    return fail(Status::not_found, "{} lacks a function of PMIx ({}): install another version, or {}",
                kLibrary, ::dlerror(), kWithoutManager);
}

pmix_proc_t process(const pmix_proc_t& of_job, pmix_rank_t rank) {
    pmix_proc_t named = of_job;
    named.rank = rank;
    return named;
}

pmix_info_t whole_seconds(const char* key, Clock::time_point deadline) {
    const auto left = std::chrono::ceil<std::chrono::seconds>(deadline - Clock::now()).count();
    pmix_info_t info{};
    std::strncpy(info.key, key, PMIX_MAX_KEYLEN);
    info.value.type = PMIX_INT;
    info.value.data.integer =
        static_cast<int>(std::clamp<std::int64_t>(left, 1, 1'000'000)); // 0 would be for ever
    return info;
}

/// What the server said of a key.
struct Answer {
    pmix_status_t status;
    std::string text; ///< of a value that is a string
};

/// A question that the library has not answered yet, and perhaps never will: it forgets those that meet the
/// end of its server on the way. So it owns the question, and whoever asked waits by a clock of its own.
struct Question {
    std::promise<Answer> answer;
    pmix_info_t limit{};

    /// @thread the library's
    static void answered(pmix_status_t status, pmix_value_t* value, void* question) {
        const std::unique_ptr<Question> self(static_cast<Question*>(question));
        Answer answer{status, {}};
        if (status == PMIX_SUCCESS && value != nullptr && value->type == PMIX_STRING &&
            value->data.string != nullptr)
            answer.text = value->data.string;
        self->answer.set_value(std::move(answer));
    }
};

class Pmix final : public ProcessManager {
  public:
    Pmix(const Library& library, const pmix_proc_t& self)
      : library_(library)
      , self_(self) {
        place_.job = self.nspace;
        place_.rank = self.rank;
    }
    ~Pmix() override { library_.finalize(nullptr, 0); }

    Result<void> find_sizes() {
        const auto size = number(PMIX_JOB_SIZE);
        if (!size) return size.failure();
        place_.size = *size;
        if (place_.rank >= place_.size)
            return fail(Status::bad_config, "PMIx says that this is process {} of {}", place_.rank,
                        place_.size);
        // Servers may leave this one out: then nothing is known of neighbours, and all may be elsewhere.
        if (const auto local = number(PMIX_LOCAL_SIZE))
            place_.local_size = std::clamp(*local, 1u, place_.size);
        return {};
    }

    const Place& place() const noexcept override { return place_; }

    Result<void> tell(const std::string& line, Clock::time_point) override {
        std::string copy = line;
        pmix_value_t value{};
        value.type = PMIX_STRING;
        value.data.string = copy.data();
        pmix_status_t status = library_.put(PMIX_GLOBAL, kLineKey, &value);
        if (status == PMIX_SUCCESS) status = library_.commit();
        if (status == PMIX_SUCCESS) return {};
        return fail(Status::peer_lost, "the address of the job's directory cannot be published by PMIx: {}",
                    library_.error_string(status));
    }

    Result<std::string> hear(Clock::time_point deadline) override {
        Answer said{PMIX_ERR_TIMEOUT, {}};
        do {
            std::future<Answer> answer = ask(deadline);
            // Also after the deadline: the answer may be there already.
            while (answer.wait_for(kLook) != std::future_status::ready && !has_lost_server() &&
                   Clock::now() < deadline) {}
            if (answer.wait_for(std::chrono::seconds(0)) == std::future_status::ready) said = answer.get();
            if (said.status == PMIX_SUCCESS) return said.text;
            // While rank 0 is connecting, its server may say at once that there is no such value. A server
            // that has gone gives the same answer, or none.
            if (has_lost_server())
                return fail(Status::peer_lost,
                            "the PMIx server of this host has ended, and with it the job {}: {}", place_.job,
                            kWithoutManager);
            if (said.status == PMIX_ERR_NOT_FOUND) std::this_thread::sleep_for(kPause);
        } while (said.status == PMIX_ERR_NOT_FOUND && Clock::now() < deadline);
        const bool late = said.status == PMIX_ERR_TIMEOUT || said.status == PMIX_ERR_NOT_FOUND;
        return fail(
            late ? Status::timed_out : Status::peer_lost,
            "rank 0 of the job {} does not say by PMIx where the job's directory is ({}): does it start a "
            "context, and not later than progress.lookup_timeout after this process? Or {}",
            place_.job, library_.error_string(said.status), kWithoutManager);
    }

  private:
    /// Asks for rank 0's line.
    std::future<Answer> ask(Clock::time_point deadline) const {
        auto question = std::make_unique<Question>();
        question->limit = whole_seconds(PMIX_TIMEOUT, deadline);
        std::future<Answer> answer = question->answer.get_future();
        const pmix_proc_t zero = process(self_, 0);
        const pmix_status_t status =
            library_.get_later(&zero, kLineKey, &question->limit, 1, Question::answered, question.get());
        if (status == PMIX_SUCCESS) {
            static_cast<void>(question.release()); // answered() deletes it
        } else {
            question->answer.set_value({status, {}});
        }
        return answer;
    }

    /// A server that has gone takes no commit, however little there is to commit.
    bool has_lost_server() const { return library_.commit() == PMIX_ERR_UNREACH; }

    Result<std::uint32_t> number(const char* key) const {
        const pmix_proc_t job = process(self_, PMIX_RANK_WILDCARD);
        pmix_value_t* value = nullptr;
        const pmix_status_t status = library_.get(&job, key, nullptr, 0, &value);
        if (status != PMIX_SUCCESS)
            return fail(Status::bad_config, "PMIx does not know {} of the job {}: {}", key, self_.nspace,
                        library_.error_string(status));
        std::optional<std::uint32_t> found;
        if (value->type == PMIX_UINT32) found = value->data.uint32;
        std::free(value);
        if (found) return *found;
        return fail(Status::bad_config, "PMIx says {} of the job {}, but not as a number", key, self_.nspace);
    }

    const Library library_;
    const pmix_proc_t self_;
    Place place_;
};

} // namespace

Result<std::unique_ptr<ProcessManager>> connect_pmix() {
    const auto library = load();
    if (!library) return library.failure();
    pmix_proc_t self{};
    const pmix_status_t status = library->init(&self, nullptr, 0);
    if (status != PMIX_SUCCESS)
        return fail(Status::bad_config,
                    "PMIx is the launcher, but its server on this host gives no answer ({}): {}",
                    library->error_string(status), kWithoutManager);
    auto manager = std::make_unique<Pmix>(*library, self);
    if (const auto sizes = manager->find_sizes(); !sizes) return sizes.failure();
    return std::unique_ptr<ProcessManager>(std::move(manager));
}

} // namespace plexus::bootstrap

#else

namespace plexus::bootstrap {

Result<std::unique_ptr<ProcessManager>> connect_pmix() {
    return fail(
        Status::not_found,
        "PMIx is the launcher, but this build of Plexus does not speak it: build it where libpmix-dev is "
        "installed, or {}",
        kWithoutManager);
}

} // namespace plexus::bootstrap

#endif
