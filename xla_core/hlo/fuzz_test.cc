// Broken HLO text must end in an Error, never in a crash, a hang or a heap of memory. The texts of tests/hlo
// are cut, spliced, and have bytes and words changed, by a seeded generator. ARMILLARY_FUZZ_SECONDS makes it
// run longer than the suite does, ARMILLARY_FUZZ_SEED elsewhere, ARMILLARY_FUZZ_CORPUS
// names a folder of more texts.
#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <random>

#include "xla_core/hlo/test_texts.h"
#include "xla_core/hlo/text.h"
#include "xla_core/hlo/verify.h"

namespace armillary {
namespace {

constexpr std::string_view kWords[] = {"{",
                                       "}",
                                       "(",
                                       ")",
                                       "[",
                                       "]",
                                       ",",
                                       "=",
                                       "%",
                                       "\"",
                                       "\\",
                                       "/*",
                                       "*/",
                                       "//",
                                       "->",
                                       "<=",
                                       "...",
                                       "{...}",
                                       "-1",
                                       "0",
                                       "1",
                                       "nan",
                                       "inf",
                                       "x",
                                       "_",
                                       ":",
                                       "f32",
                                       "s4",
                                       "b(",
                                       "()",
                                       "(((",
                                       "}}}",
                                       "ROOT",
                                       "ENTRY",
                                       "T(1,0)",
                                       "S(5)",
                                       "99999999999999999999",
                                       "1e999",
                                       "1e-999",
                                       "4611686018427387904",
                                       "-9223372036854775808",
                                       "f32[]",
                                       "f32[2,2]{1,0}",
                                       "f32[1000000000]",
                                       "token[]",
                                       "parameter(",
                                       "constant(",
                                       "negate(",
                                       "to_apply=",
                                       "calls={",
                                       "dimensions={0}",
                                       "sharding={",
                                       "metadata={",
                                       "window={size=2x2",
                                       "HloModule ",
                                       "custom-call-start(",
                                       "async-done(",
                                       "control-predecessors={",
                                       "replica_groups=",
                                       "\n",
                                       "\t",
                                       " "};

class Mutator {
 public:
  Mutator(uint64_t seed, const std::vector<std::string>& corpus) : random_(seed), corpus_(corpus) {}

  std::string next() {
    std::string text = corpus_[below(corpus_.size())];
    for (size_t n = 1 + below(2) * below(4); n > 0; --n) mutate(text);
    return text;
  }

 private:
  size_t below(size_t limit) { return limit == 0 ? 0 : random_() % limit; }

  void mutate(std::string& text) {
    const size_t at = below(text.size() + 1);
    switch (below(8)) {
      case 0:
        text.resize(at);
        break;
      case 1:
        if (at < text.size()) text[at] = static_cast<char>(below(256));
        break;
      case 2:
        text.erase(at, below(20));
        break;
      case 3:
        text.insert(at, kWords[below(std::size(kWords))]);
        break;
      case 4: {  // a piece of another text
        const std::string& other = corpus_[below(corpus_.size())];
        text.insert(at, other.substr(below(other.size()), below(200)));
        break;
      }
      case 5:
        text.insert(at, text.substr(below(text.size() + 1), below(100)));
        break;  // a piece of its own
      case 6:
        swap_lines(text);
        break;
      case 7:
        replace_number(text, at);
        break;
    }
  }

  void swap_lines(std::string& text) {
    const size_t a = text.find('\n', below(text.size() + 1));
    if (a == std::string::npos) return;
    const size_t b = text.find('\n', a + 1);
    const size_t c = b == std::string::npos ? b : text.find('\n', b + 1);
    if (c != std::string::npos)
      text = text.substr(0, a) + text.substr(b, c - b) + text.substr(a, b - a) + text.substr(c);
  }

  void replace_number(std::string& text, size_t at) {
    const size_t begin = text.find_first_of("0123456789", at);
    if (begin == std::string::npos) return;
    size_t end = text.find_first_not_of("0123456789", begin);
    if (end == std::string::npos) end = text.size();
    static constexpr std::string_view kNumbers[] = {
        "0", "1", "-1", "7", "63", "1000000", "2147483648", "9223372036854775807", "18446744073709551616"};
    text.replace(begin, end - begin, kNumbers[below(std::size(kNumbers))]);
  }

  std::mt19937_64 random_;
  const std::vector<std::string>& corpus_;
};

std::vector<std::string> corpus() {
  std::vector<std::string> texts;
  for (const TextFile& file : texts_in("errors"))
    for (const std::string& module : modules_of(file.text)) texts.push_back(module);
  // Good texts weigh more: one change in them reaches deeper than one in a text that is broken at its third
  // line.
  for (const TextFile& file : texts_in("round_trip"))
    for (int copy = 0; copy < 20; ++copy) texts.push_back(file.text);
  if (const char* folder = std::getenv("ARMILLARY_FUZZ_CORPUS"))
    for (const TextFile& file : texts_of(folder)) texts.push_back(file.text);
  return texts;
}

double setting(const char* name, double fallback) {
  const char* value = std::getenv(name);
  return value ? std::atof(value) : fallback;
}

// True when the text is a module; then its print must be one too.
bool survives(const std::string& text) {
  try {
    const auto module = parse(text);
    verify(*module);
    if (module->instruction_count() > 10'000) return true;
    const std::string once = print(*module, {.max_constant_elements = 10'000});
    EXPECT_EQ(print(*parse(once), {.max_constant_elements = 10'000}), once) << text;
    return true;
  } catch (const Error& e) {
    EXPECT_NE(e.kind(), ErrorKind::kInternal) << e.what() << "\n" << text;
    return false;
  }
}

TEST(Fuzz, mutated_texts_end_in_an_error_or_a_module) {
  const double seconds = setting("ARMILLARY_FUZZ_SECONDS", 15);
  const auto seed = static_cast<uint64_t>(setting("ARMILLARY_FUZZ_SEED", 1));
  const std::vector<std::string> texts = corpus();
  ASSERT_FALSE(texts.empty());
  const auto begin = std::chrono::steady_clock::now();
  auto elapsed = [&] {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  };
  constexpr uint64_t kRuns =
      30'000;  // the suite stops here, so that it does the same work everywhere that is fast enough
  const bool is_long = seconds > 15;
  uint64_t runs = 0, modules = 0;
  for (; (is_long || runs < kRuns) && elapsed() < seconds && !testing::Test::HasFailure(); ++runs) {
    const uint64_t one_seed = seed * 1'000'000'007 + runs;
    SCOPED_TRACE(fmt::format("seed {}", one_seed));
    const auto before = elapsed();
    modules += survives(Mutator(one_seed, texts).next());
    EXPECT_LT(elapsed() - before, 5) << "one text took that long";
  }
  RecordProperty("runs", static_cast<int>(runs));
  RecordProperty("modules", static_cast<int>(modules));
  EXPECT_GT(modules, 0u);
  EXPECT_LT(modules, runs);
}

TEST(Fuzz, random_bytes_are_an_error) {
  std::mt19937_64 random(7);
  for (int run = 0; run < 2'000; ++run) {
    std::string text(random() % 300, ' ');
    for (char& c : text) c = static_cast<char>(run % 2 ? random() % 256 : 32 + random() % 95);
    EXPECT_FALSE(survives(text)) << text;
  }
}

TEST(Fuzz, every_prefix_of_a_text_is_an_error_or_a_module) {
  for (const std::string& text : corpus())
    for (size_t length = 0; length < text.size(); length += 7) survives(text.substr(0, length));
}

}  // namespace
}  // namespace armillary
