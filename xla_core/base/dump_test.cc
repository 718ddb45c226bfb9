#include "xla_core/base/dump.h"

#include <filesystem>
#include <set>

#include <gtest/gtest.h>

#include "xla_core/base/error.h"

namespace armillary {
namespace {

class Dump : public testing::Test {
 protected:
  void SetUp() override {
    directory_ = std::filesystem::path(testing::TempDir()) / "dump_test" /
                 testing::UnitTest::GetInstance()->current_test_info()->name();
    std::filesystem::remove_all(directory_);
    flags_ = parse_xla_flags("--xla_dump_to=" + directory_.string());
  }
  std::set<std::string> files() const {
    std::set<std::string> names;
    if (std::filesystem::exists(directory_))
      for (const auto& entry : std::filesystem::directory_iterator(directory_))
        names.insert(entry.path().filename());
    return names;
  }
  std::filesystem::path directory_;
  XlaFlags flags_;
};

std::string content(DumpFormat format) { return format == DumpFormat::kText ? "text" : "other"; }

TEST_F(Dump, files_carry_the_names_that_xla_gives_them) {
  flags_.dump_pass_regex = "cse";
  flags_.dump_dot = flags_.dump_text = true;
  Dumper dumper(1, "jit_f", flags_);
  dumper.dump("before_optimizations", content);
  dumper.dump_pass("simplification", "dce", "cse", content);
  dumper.dump_pass("simplification", "inline", "dce", content);  // not asked for
  dumper.dump_pass("simplification", "cse", "pipeline-end", content);
  dumper.dump_file("ir.ll", "code");
  EXPECT_EQ(files(),
            (std::set<std::string>{"module_0001.jit_f.before_optimizations.txt",
                                   "module_0001.jit_f.before_optimizations.dot",
                                   "module_0001.jit_f.0000.simplification.after_dce.before_cse.txt",
                                   "module_0001.jit_f.0000.simplification.after_dce.before_cse.dot",
                                   "module_0001.jit_f.0001.simplification.after_cse.before_pipeline-end.txt",
                                   "module_0001.jit_f.0001.simplification.after_cse.before_pipeline-end.dot",
                                   "module_0001.jit_f.ir.ll"}));
}

TEST_F(Dump, modules_that_do_not_match_are_left_alone) {
  flags_.dump_module_regex = "train";
  Dumper dumper(2, "jit_eval", flags_);
  EXPECT_FALSE(dumper.enabled());
  dumper.dump("before_optimizations", content);
  EXPECT_TRUE(files().empty());
  EXPECT_TRUE(Dumper(3, "jit_train_step", flags_).enabled());
}

TEST_F(Dump, odd_module_names_make_tame_file_names) {
  Dumper(4, "a/b c", flags_).dump("x", content);
  EXPECT_EQ(files(), (std::set<std::string>{"module_0004.a_b_c.x.txt"}));
}

TEST_F(Dump, a_broken_regular_expression_is_a_user_error) {
  flags_.dump_module_regex = "(";
  EXPECT_THROW(Dumper(5, "m", flags_), Error);
}

}  // namespace
}  // namespace armillary
