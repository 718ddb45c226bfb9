// Runs the texts of tests/hlo: those that must round trip, and those that must fail where and how they say.
#include <gtest/gtest.h>

#include "xla_core/hlo/test_texts.h"
#include "xla_core/hlo/text.h"
#include "xla_core/hlo/verify.h"

namespace armillary {
namespace {

TEST(TextFiles, print_of_parse_is_a_fixpoint) {
  const auto files = texts_in("round_trip");
  ASSERT_GE(files.size(), 15u);
  for (const TextFile& file : files) {
    SCOPED_TRACE(file.name);
    try {
      const auto module = parse(file.text, {.file = file.name});
      verify(*module);
      const std::string once = print(*module);
      const auto again = parse(once);
      verify(*again);
      EXPECT_EQ(print(*again), once);
    } catch (const Error& e) {
      ADD_FAILURE() << e.what();
    }
  }
}

TEST(TextFiles, every_printing_option_can_be_read_back) {
  for (const TextFile& file : texts_in("round_trip")) {
    SCOPED_TRACE(file.name);
    const auto module = parse(file.text);
    for (const PrintOptions& options : {PrintOptions{.percent = false}, PrintOptions{.operand_shapes = true},
                                        PrintOptions{.layouts = false}, PrintOptions{.metadata = false},
                                        PrintOptions{.max_constant_elements = 1}}) {
      const std::string once = print(*module, options);
      try {
        EXPECT_EQ(print(*parse(once), options), once);
      } catch (const Error& e) {
        ADD_FAILURE() << e.what() << "\n" << once;
      }
    }
  }
}

// What a module's comments expect: a fragment of the message, and the line it blames (0: any).
struct Expected {
  std::string fragment;
  int line = 0;
};

Expected expected_of(const std::string& module) {
  std::istringstream lines(module);
  std::string line;
  for (int number = 1; std::getline(lines, line); ++number) {
    size_t at = line.find("// ERROR-ANYWHERE: ");
    if (at != std::string::npos) return {line.substr(at + 19), 0};
    at = line.find("// ERROR: ");
    if (at == std::string::npos) continue;
    const bool alone = line.find_first_not_of(' ') == at;  // then it is about the next line
    return {line.substr(at + 10), alone ? number + 1 : number};
  }
  return {};
}

TEST(TextFiles, malformed_modules_fail_on_the_line_and_with_the_words_that_they_name) {
  int count = 0;
  for (const TextFile& file : texts_in("errors")) {
    for (const std::string& module : modules_of(file.text)) {
      const Expected expected = expected_of(module);
      SCOPED_TRACE(file.name + ":\n" + module);
      ASSERT_FALSE(expected.fragment.empty());
      ++count;
      try {
        verify(*parse(module, {.file = "m.hlo"}));
        ADD_FAILURE() << "no error";
      } catch (const Error& e) {
        EXPECT_EQ(e.kind(), ErrorKind::kUser);
        EXPECT_NE(std::string(e.what()).find(expected.fragment), std::string::npos) << e.what();
        if (expected.line > 0) {
          const std::string place = "m.hlo:" + std::to_string(expected.line) + ":";
          EXPECT_EQ(std::string(e.what()).substr(0, place.size()), place) << e.what();
        }
      }
    }
  }
  EXPECT_GE(count, 90);
}

}  // namespace
}  // namespace armillary
