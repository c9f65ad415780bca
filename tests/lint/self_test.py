#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The lint's own test: what declarations.py reads of C++, and that each rule of class_rules.py, and the rules on
includes and locks of lint.py, find what they forbid and nothing else. Run it as a program."""
import os
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import class_rules  # noqa: E402
import lint  # noqa: E402
from declarations import parse, tokenize  # noqa: E402


def one(text):
    return parse(text).classes[0]


def names(members):
    return [each.name for each in members]


class Reading(unittest.TestCase):
    def test_comments_and_strings_hide_code(self):
        text = '// class A { int x; };\n/* class B {}; */ auto c = "class C {};"; auto d = R"x(class D { )" };)x"; class E {};\n'
        self.assertEqual(names(parse(text).classes), ["E"])

    def test_a_token_knows_its_line(self):
        lines = {each.text: each.line for each in tokenize('a /* \n\n */ b R"(\n)" c\\\n d')}
        self.assertEqual((lines["a"], lines["b"], lines["c"], lines["d"]), (1, 3, 4, 5))

    def test_directives_are_one_token(self):
        unit = parse("#define PLEXUS_OPEN {{{ \\\n  class X {\n#if 0 // class\nclass A { int a; };\n#endif\n")
        self.assertEqual(names(unit.classes), ["A"])
        self.assertEqual(unit.macros, [("PLEXUS_OPEN", 1)])

    def test_fields(self):
        found = one("""class A : public B<int>, C {
            int a_, b_ = 2, c_{3};
            std::map<int, std::vector<int>> d_;
            std::function<void(int, char)> e_;
            int (*f_)(plexus_module*, unsigned);
            void (X::*g_)(int);
            char h_[32], i_[kMost];
            alignas(64) std::atomic<int> j_{0};
            std::string k_ PLEXUS_GUARDED_BY(mutex_), l_;
            std::array<T, (4 > 3)> m_ = {1, 2};
            unsigned n_ : 3;
            static constexpr int kMost = 4;
            static int counter_;
            [[maybe_unused]] const int o_ = sizeof(int) < 4 ? 1 : 2;
            mutable Mutex p_;
            struct Inner { int x, y; } q_;
            struct stat r_{};
            std::optional<std::chrono::steady_clock::time_point> s_;
        };""")
        self.assertEqual(names(found.object_fields()), [f"{each}_" for each in "abcdefghijklmnopqrs"])
        self.assertEqual([each.name for each in found.fields if each.is_static], ["kMost", "counter_"])
        self.assertEqual([each.name for each in found.fields if each.guarded], ["k_"])

    def test_functions(self):
        found = one("""template <class T> requires(sizeof(T) > 4) class A final {
          public:
            explicit A(int x) : x_(x), y_{1, 2} { if (x) { return; } }
            A(const A&) = delete;
            ~A();
            int a() const noexcept override;
            template <class U> requires std::integral<U> && (!std::same_as<U, bool>) A& b(U value) { return add(value); }
            virtual void c(std::function<void()> then = {}) = 0;
            bool operator==(const A&) const = default;
            bool operator<(const A& other) const { return x_ < other.x_; }
            void operator()() {}
            operator bool() const { return true; }
            auto d() -> std::vector<int> { return {}; }
            [[nodiscard]] static std::pair<int, int> e(int (*f)(int), int more = 3 < 4);
            void f() PLEXUS_REQUIRES(mutex_);
            PLEXUS_EXPORT void g() try { } catch (...) { }
            friend void not_a_member(A&);
            using B = int;
            enum class Kind { one, two };
            class Forward;
            static_assert(sizeof(int) == 4);
          private:
            int x_;
        };""")
        self.assertEqual(names(found.member_functions()),
                         ["a", "b", "c", "operator<", "operator()", "operator bool", "d", "e", "f", "g"])
        self.assertEqual(names(found.fields), ["x_"])
        self.assertEqual(found.fields[0].access, "private")

    def test_where_classes_are(self):
        unit = parse("""namespace a::b { namespace { class C { struct D { int x; }; class E; D d_; }; } class C::E {}; }
                        struct F; extern "C" { struct g { int x; }; void h(void); } class PLEXUS_EXPORT I;
                        class [[nodiscard]] PLEXUS_EXPORT J : K { }; class J make_j(); struct stat there{};""")
        self.assertEqual(names(unit.classes), ["a::b::{}::C", "a::b::{}::C::D", "a::b::C::E", "extern C::g", "J"])
        self.assertEqual(names(unit.functions), ["make_j"])
        self.assertEqual(names(unit.variables), ["there"])

    def test_definitions_outside_of_classes(self):
        unit = parse("""namespace a { A::A() : x_(f<int>(1)), y_{2} {} A::~A() = default;
                        template <class T> std::vector<T> B<T>::get(int) const { return {}; }
                        int A::B::value = 3; constexpr int kFour = 4; Guide(int) -> Guide<int>;
                        bool A::operator==(const A&) const { return true; } int plain(); }""")
        self.assertEqual([(each.name, each.defined) for each in unit.functions],
                         [("a::A::A", True), ("a::A::~A", False), ("a::B::get", True), ("a::A::operator==", True),
                          ("a::plain", False)])
        self.assertIn("kFour", names(unit.variables))

    def test_text_that_does_not_end(self):
        for text in ("class A {", "class A { void f(", "namespace", 'auto a = "', "/* ", "template <", "class A { int x_ = {"):
            parse(text)


class Rules(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def run_rule(self, rule, files):
        class_rules._cache.clear()
        for path, text in files.items():
            whole = os.path.join(self.folder.name, path)
            os.makedirs(os.path.dirname(whole), exist_ok=True)
            with open(whole, "w", encoding="utf-8") as file:
                file.write(text)
        found = [(path, line, what) for path, line, what in rule(self.folder.name, sorted(files))
                 if path != "tests/lint/class_rules.py"]
        class_rules._cache.clear()
        return [(path, line) for path, line, _ in found]

    @staticmethod
    def sized(fields, functions):
        members = "".join(f"int f{at}_;\n" for at in range(fields))
        return "class A {\n" + "".join(f"void g{at}();\n" for at in range(functions)) + members + "};\n"

    def test_large_classes(self):
        run = lambda fields, functions: self.run_rule(  # noqa: E731
            class_rules.classes, {"runtime/base/a.h": self.sized(fields, functions)})
        self.assertEqual(run(15, 30), [])
        self.assertEqual(run(16, 0), [("runtime/base/a.h", 1)])
        self.assertEqual(run(0, 31), [("runtime/base/a.h", 1)])
        self.assertEqual(self.run_rule(class_rules.classes, {"tests/unit/a.h": self.sized(40, 0)}), [])

    def test_an_exception_that_is_none_is_found(self):
        found = [what for _, _, what in class_rules.classes(self.folder.name, [])]
        self.assertEqual(len(found), len(class_rules.LARGE_CLASSES))
        self.assertLessEqual(len(class_rules.LARGE_CLASSES), class_rules.MOST_LARGE_CLASSES)

    def test_a_class_in_two_files(self):
        header = {"modules/tcp/a.h": "namespace x { class A { void f(); void g(); }; }"}
        split = {"modules/tcp/a.cpp": "namespace x { void A::f() {} }", "modules/tcp/b.cpp": "namespace x {\nvoid A::g() {} }"}
        self.assertEqual(self.run_rule(class_rules.one_file, header | split), [("modules/tcp/a.cpp", 1)])
        whole = {"modules/tcp/a.cpp": "namespace x { void A::f() {} void A::g() {} }",
                 "modules/tcp/b.cpp": "namespace x { void h() { A::f(); } }"}
        self.assertEqual(self.run_rule(class_rules.one_file, header | whole), [])

    def test_locks_that_guard_nothing(self):
        for mutex in ("std::mutex m_;", "mutable RankedMutex<20> m_;", "RankedSpinlock<1> m_;", "TableMutex m_;"):
            bad = {"runtime/poll/a.h": f"class A {{\n{mutex}\nint x_; }};"}
            self.assertEqual(self.run_rule(class_rules.locks, bad), [("runtime/poll/a.h", 2)], mutex)
            good = {"runtime/poll/a.h": f"class A {{\n{mutex}\nint x_ PLEXUS_GUARDED_BY(m_); }};"}
            self.assertEqual(self.run_rule(class_rules.locks, good), [], mutex)
        others = "class A { Mutex& m_; }; class B { void lock(); void unlock(); std::mutex m_; }; class C { int mutexes_; };"
        self.assertEqual(self.run_rule(class_rules.locks, {"runtime/poll/a.h": others}), [])

    def test_internals_in_public_headers(self):
        text = "namespace plexus {\nnamespace transport { class E; }\nclass A {\ntransport::E* e_;\nint transport; };\n}"
        self.assertEqual(self.run_rule(class_rules.internals, {"include/plexus/a.h": text}),
                         [("include/plexus/a.h", 2), ("include/plexus/a.h", 4)])
        self.assertEqual(self.run_rule(class_rules.internals, {"include/plexus/detail/a.h": text}), [])
        comment = "// transport:: is not shown\nstruct Host { int host{0}; };"
        self.assertEqual(self.run_rule(class_rules.internals, {"include/plexus/a.h": comment}), [])

    def test_identifiers(self):
        good = """#define PLEXUS_X 1
            class GoodName { public: int value; static constexpr int kMost = 1; void do_it(); private: int value_; };
            inline constexpr Request<void(int)> absorb{"a"}; constexpr int kThree = 3; void snake_case(int Parameter);
            struct Promise { auto get_return_object(); }; template <class T> inline constexpr bool is_plain = false;"""
        self.assertEqual(self.run_rule(class_rules.identifiers, {"runtime/poll/a.h": good}), [])
        for bad in ("#define MOST 1", "class bad_name {};", "class A { int value; };", "struct A { int value_; };",
                    "struct A { int Value; };", "void CamelCase();", "class A { void doIt(); };", "constexpr int MOST = 1;",
                    "class A { static constexpr int MOST = 1; };"):
            self.assertEqual(len(self.run_rule(class_rules.identifiers, {"runtime/poll/a.h": bad})), 1, bad)

    def test_the_ratchet_holds_and_may_fall(self):
        found = [("a.h", 1, "x"), ("b.h", 2, "y")]
        self.assertEqual(class_rules.judge("rule", found, 2), (["a.h:1: x", "b.h:2: y"], False))
        self.assertTrue(class_rules.judge("rule", found, 1)[1])
        self.assertTrue(class_rules.judge("rule", found, 0)[1])
        lines, broken = class_rules.judge("rule", found, 3)
        self.assertFalse(broken)
        self.assertIn("lower", lines[-1])


class Tree(unittest.TestCase):
    """Rules that read a whole tree: here of a base layer of two headers, and what a case writes."""

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.write("runtime/base/meson.build", "base_layer_headers = ['fd.h',\n  'text.h']\nbase_layer_sources = files('text.cpp')\n")
        for each in ("fd.h", "text.h", "text.cpp", "log.h", "log.cpp"):
            self.write(f"runtime/base/{each}", "")
        self.write("runtime/base/mutex.h", "// 20 poll/a.h: lanes\n")
        self.write("runtime/poll/a.h", "RankedMutex<20> mutex_;\n")

    def write(self, path, text):
        whole = os.path.join(self.folder.name, path)
        os.makedirs(os.path.dirname(whole), exist_ok=True)
        with open(whole, "w", encoding="utf-8") as file:
            file.write(text)

    def found(self, rule):
        lint.base_layer.cache_clear()
        return list(rule(self.folder.name))

    def check_include(self, path, target, is_allowed):
        self.write(path, f'#include "{target}"\n')
        found = self.found(lint.arrows)
        if is_allowed:
            self.assertEqual(found, [], (path, target))
        else:
            self.assertEqual([each.split(": ")[0] for each in found], [f"{path}:1"], (path, target))
        self.write(path, "")

    def test_arrows(self):
        for path, target in (
                ("include/plexus/x.h", "plexus/y.h"), ("include/plexus/eco/x.h", "plexus/eco/y.h"),
                ("modules/tcp/x.h", "base/fd.h"), ("modules/tcp/x.h", "tcp/y.h"), ("modules/tcp/x.h", "plexus/module/abi.h"),
                ("modules/ucx/x.cpp", "message_link/port.h"), ("runtime/base/fd.h", "base/text.h"),
                ("runtime/base/log.cpp", "base/text.h"), ("runtime/poll/x.h", "base/log.h"), ("runtime/context/x.h", "transport/y.h"),
                ("runtime/counters/x.h", "base/log.h"), ("runtime/poll/x.h", "plexus/error.h"),
                ("runtime/eco/plan/x.h", "topology/y.h"), ("runtime/eco/plan/x.h", "plexus/eco/map.h"),
                ("runtime/eco/group/x.h", "plexus/context.h"), ("tools/lab/x.h", "runtime/base/fd.h"),
                ("tools/lab/x.h", "tools/common/y.h"), ("tests/unit/poll/x.cpp", "poll/a.h")):
            self.check_include(path, target, True)
        for path, target in (
                ("include/plexus/x.h", "base/fd.h"), ("include/plexus/x.h", "plexus/eco/y.h"),
                ("modules/tcp/x.h", "base/log.h"), ("modules/tcp/x.h", "poll/a.h"), ("modules/tcp/x.h", "shm/y.h"),
                ("modules/tcp/x.h", "../shm/y.h"), ("modules/tcp/x.h", "plexus/plexus.h"),
                ("runtime/base/fd.h", "base/log.h"), ("runtime/base/text.cpp", "base/log.h"), ("runtime/base/log.h", "poll/a.h"),
                ("runtime/poll/x.h", "transport/y.h"), ("runtime/counters/x.h", "wire/y.h"), ("runtime/poll/x.h", "plexus/eco/y.h"),
                ("runtime/eco/plan/x.h", "group/y.h"), ("runtime/eco/plan/x.h", "plexus/context.h"),
                ("runtime/eco/group/x.h", "plexus/module/abi.h"), ("tools/lab/x.h", "runtime/poll/a.h"),
                ("tools/lab/x.h", "plexus/module/abi.h"), ("examples/a/x.cpp", "base/fd.h")):
            self.check_include(path, target, False)
        self.write("runtime/eco/plan/x.cpp", "#include <chrono>\n#include <vector>\n")
        self.assertEqual([each.split(": ")[0] for each in self.found(lint.arrows)], ["runtime/eco/plan/x.cpp:1"])

    def test_the_lists_of_the_base_layer_are_whole(self):
        self.assertEqual(self.found(lint.arrows), [])
        for headers, sources, missing in (("'fd.h'", "'text.cpp'", "text.cpp is of the base layer, its header is not"),
                                          ("'fd.h', 'text.h'", "", "text.h is of the base layer, its source is not"),
                                          ("'fd.h', 'away.h'", "", "lists away.h, which is not there"),
                                          ("", "", "lists no headers")):
            self.write("runtime/base/meson.build", f"base_layer_headers = [{headers}]\nbase_layer_sources = files({sources})\n")
            found = self.found(lint.arrows)
            self.assertEqual(len(found), 1, found)
            self.assertIn(missing, found[0])

    def test_ranks(self):
        self.assertEqual(self.found(lint.ranks), [])
        self.write("runtime/base/lock.h", "class Mutex { std::mutex mutex_; };\n")
        self.write("tools/lab/x.h", "Mutex mutex_;\n")
        self.write("modules/tcp/x.h", "std::mutex mutex_;\nMutex other_;\n")
        self.write("runtime/poll/b.h", "template <class Mutex> class Lock { Mutex& mutex_; std::condition_variable changed_; };\n")
        self.assertEqual(self.found(lint.ranks), [])
        for path, line, what in (("runtime/poll/b.h", "mutable std::mutex mutex_;", "without a rank"),
                                 ("runtime/poll/b.h", "std::shared_mutex mutex_;", "without a rank"),
                                 ("runtime/poll/b.h", "    mutable Mutex mutex_;", "without a rank"),
                                 ("runtime/poll/b.h", "plexus::Mutex mutex_;", "without a rank"),
                                 ("runtime/poll/b.h", "RankedMutex<20> mutex_;", "does not list"),
                                 ("tools/lab/x.h", "RankedMutex<8> mutex_;", "ranks are the runtime's")):
            self.write(path, line + "\n")
            found = self.found(lint.ranks)
            self.assertEqual([each.split(": ")[0] for each in found], [f"{path}:1"], line)
            self.assertIn(what, found[0])
            self.write(path, "")
        self.write("runtime/poll/a.h", "")
        self.assertEqual([each.split(": ")[0] for each in self.found(lint.ranks)], ["runtime/base/mutex.h:1"])


if __name__ == "__main__":
    unittest.main()
