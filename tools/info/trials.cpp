// SPDX-License-Identifier: BSD-3-Clause
#include "tools/info/trials.h"

#include "tools/common/trial.h"

#include <algorithm>
#include <filesystem>
#include <fmt/format.h>

namespace plexus::tools {

namespace {

/// The last line with which `plexus bench` reported an error.
std::string last_words(const std::string& output) {
    constexpr std::string_view kSpeaker = "plexus bench: ";
    const std::size_t at = output.rfind(kSpeaker);
    if (at == output.npos) return {};
    const std::size_t begin = at + kSpeaker.size();
    return output.substr(begin, output.find('\n', begin) - begin);
}

std::string why_it_failed(const Ending& ending, const benchmark::Survey& survey) {
    if (!survey.failure.empty()) return survey.failure;
    if (const std::string violent = violent_end(ending, kTrialLimit); !violent.empty()) return violent;
    if (const std::string words = last_words(ending.output); !words.empty()) return words;
    return fmt::format("it ended with exit code {} and measured nothing", ending.code);
}

Measured measure_one(const Subject& subject, const std::vector<std::string>& settings) {
    std::vector<std::string> words{std::filesystem::read_symlink("/proc/self/exe").string(), "bench",
                                   "survey", "--methods", subject.list};
    words.insert(words.end(), settings.begin(), settings.end());
    Measured measured;
    measured.method = subject.method;
    for (const bool one_process : {false, true}) {
        if (one_process) words.emplace_back("--one-process");
        const Ending ending = run_trial(words, kTrialLimit);
        benchmark::Survey survey = benchmark::read_survey(ending.output);
        const bool ended_itself = !ending.timed_out && ending.signal == 0;
        if (ended_itself && ending.code == 0 && !survey.points.empty()) {
            measured.one_process = one_process;
            measured.points = std::move(survey.points);
            measured.learned = std::move(survey.learned);
            measured.failure.clear();
            return measured;
        }
        if (measured.failure.empty()) measured.failure = why_it_failed(ending, survey);
        // Only a method that was refused with a reason may be a method of one process.
        if (!ended_itself || survey.failure.empty()) break;
    }
    return measured;
}

} // namespace

std::vector<Measured> measure_each(const std::vector<Subject>& subjects,
                                   const std::vector<std::string>& settings,
                                   const std::function<void(const std::string&, std::size_t)>& says) {
    std::vector<Measured> all;
    for (const Subject& subject : subjects) {
        says(subject.method, all.size());
        all.push_back(measure_one(subject, settings));
    }
    return all;
}

} // namespace plexus::tools
