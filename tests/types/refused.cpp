// SPDX-License-Identifier: BSD-3-Clause
// One mistake for each value of CASE, compiled by refused.sh: each is one error that says what to
// write. CASE 0 has none.
#include <plexus/plexus.h>

#include <list>
#include <string>
#include <vector>

#ifndef CASE
#define CASE 0
#endif

struct Object {};

struct Good {
    double value;
    std::uint32_t station;
};
struct WithPointer {
    int size;
    const char* text;
};
struct Unlisted {
    std::string name;
    std::vector<double> values;
};
struct Unnamed {
    std::string name;
    template <class Archive>
    void serialize(Archive& archive) {
        archive(name);
    }
};
class Private {
  public:
    explicit Private(int value)
      : value_(value) {}
    int value() const { return value_; }

  private:
    int value_;
};
struct Base {
    int base;
};
struct Derived : Base {
    int own;
};
struct Bits {
    unsigned a : 3;
    unsigned b : 20;
    char c;
};
struct Aligned {
    char a;
    alignas(16) char b;
    short c;
};
struct Large {
    char bytes[300];
    double value;
};
union Either {
    int number;
    float real;
};

#if CASE == 0
using Tested = Good;
#elif CASE == 1
using Tested = int*;
#elif CASE == 2
using Tested = WithPointer;
#elif CASE == 3
using Tested = Unlisted;
#elif CASE == 4
using Tested = Unnamed;
#elif CASE == 5
using Tested = Private;
#elif CASE == 6
using Tested = long double;
#elif CASE == 7
using Tested = std::vector<std::string_view>;
#elif CASE == 8
using Tested = std::list<std::vector<Unnamed>>;
#elif CASE == 9
using Tested = Derived;
#elif CASE == 10
using Tested = Bits;
#elif CASE == 11
using Tested = Aligned;
#elif CASE == 12
using Tested = Large;
#elif CASE == 13
using Tested = Either;
#elif CASE == 14
using Tested = std::span<const std::string>;
#endif

#if CASE == 15 || CASE == 16
using Tested = int;
#endif
inline constexpr plexus::Request<void(Object&, Tested)> request{"types.refused"};
#if CASE == 0
inline constexpr plexus::Request<Good(Object&, std::vector<Good>, std::span<const Good>)> result{
    "types.result"};
#elif CASE == 15
inline constexpr plexus::Request<std::string_view(Object&)> view{"types.view"};
#endif

// As a program does.
void use(plexus::Context& here, const plexus::GlobalPointer<Object>& far, const Tested& value) {
    here.on(request, [](Object&, const Tested&) {});
    far.send(request, value);
#if CASE == 16
    far.with(plexus::unreliable).call(request, value);
#endif
}
