// SPDX-License-Identifier: BSD-3-Clause
// What a link says of the copies that it has measured: the words of explain(), and parameters that fix them.
#include "support/catch.h"

#include "shm/copy_report.h"

namespace copy_report_test {

using namespace plexus::shm;

namespace {

constexpr float kNotSeen = 0;

CopyChoice::Learned learned(float cached, float nontemporal, float fetch = kNotSeen) {
    CopyChoice::Learned of{Copy::cached, {cached, nontemporal, fetch}};
    for (const Copy copy : kAllCopies)
        if (of.cost(copy) > 0 && of.cost(copy) < of.cost(of.copy)) of.copy = copy;
    return of;
}

} // namespace

TEST_CASE("a link that has measured nothing says nothing") {
    CHECK(remark({}).empty());
    CHECK(classes_measured({}) == 0);
}

TEST_CASE("neighbouring sizes with one choice are told together, with the costs of the largest") {
    CopyChoice::AllLearned all;
    all[0] = learned(0.05F, 0.06F);
    all[1] = learned(0.05F, 0.06F);
    all[3] = learned(0.05F, 0.06F); // 32 KiB; nobody sent 16 KiB
    all[5] = learned(0.2F, 0.1F);
    all[12] = learned(0.2F, 0.1F, 0.15F);
    CHECK(classes_measured(all) == 5);
    CHECK(remark(all) ==
          "copies 4 KiB to 32 KiB through the caches (32 KiB: 1.6 us, past the caches 2.0 us), "
          "128 KiB and more past the caches (16 MiB: 1678 us, through the caches 3355 us, by cross-memory "
          "attach 2517 us); fixed by past_caches_from = 128 KiB, cma = off");
}

TEST_CASE("a single size is told by itself") {
    CopyChoice::AllLearned all;
    all[4] = learned(0.1F, 0.2F);
    CHECK(remark(all) == "copies 64 KiB through the caches (64 KiB: 6.6 us, past the caches 13 us); fixed by "
                         "copy = cached");
}

TEST_CASE("sizes whose choices alternate are told as far as there is room, and the parameters always") {
    CopyChoice::AllLearned all;
    for (std::size_t i = 0; i < CopyChoice::kClasses; ++i)
        all[i] = i % 2 == 0 ? learned(1, 2, 3) : learned(2, 1, 3);
    const std::string text = remark(all);
    const std::size_t end = text.find("; fixed by ");
    CHECK(end <= kMostRemark);
    CHECK(end > kMostRemark - 130);
    CHECK(text.substr(0, end).ends_with("), and others"));
    CHECK(text.substr(end) == "; fixed by " + settings(all));
    CHECK(text.size() < 1024);
}

TEST_CASE("the parameters that fix it are those which cost least over all sizes") {
    CopyChoice::AllLearned all;
    for (std::size_t i = 0; i < CopyChoice::kClasses; ++i) all[i] = learned(1, 2);
    CHECK(settings(all) == "copy = cached");
    for (std::size_t i = 0; i < CopyChoice::kClasses; ++i) all[i] = learned(2, 1);
    CHECK(settings(all) == "copy = nontemporal");
    for (std::size_t i = 6; i < CopyChoice::kClasses; ++i) all[i] = learned(2, 1, 0.5F);
    CHECK(settings(all) == "copy = nontemporal, cma_from = 256 KiB");
    for (std::size_t i = 0; i < 3; ++i) all[i] = learned(1, 2);
    CHECK(settings(all) == "past_caches_from = 32 KiB, cma_from = 256 KiB");
    // One class against the rest is cheaper to get wrong.
    all[1] = learned(2, 1.9F);
    CHECK(settings(all) == "past_caches_from = 32 KiB, cma_from = 256 KiB");
    for (std::size_t i = 6; i < CopyChoice::kClasses; ++i) all[i] = learned(2, 1, 1.5F);
    CHECK(settings(all) == "past_caches_from = 32 KiB, cma = off");
}

} // namespace copy_report_test
