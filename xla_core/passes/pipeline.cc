// Reads a pipeline's text and runs it, with the same book-keeping around every pass.
#include <algorithm>
#include <chrono>

#include "xla_core/passes/pass.h"

namespace armillary {
namespace {

// A pass, or fixpoint(children).
struct Node {
  const PassRow* row = nullptr;
  std::vector<Node> children;
};

class PipelineReader {
 public:
  explicit PipelineReader(std::string_view text) : text_(text) {}

  std::vector<Node> read() {
    std::vector<Node> nodes = read_list();
    if (at_ < text_.size())
      throw user_error("pipeline \"{}\": unexpected '{}' at column {}", text_, text_[at_], at_ + 1);
    return nodes;
  }

 private:
  std::vector<Node> read_list() {
    std::vector<Node> nodes;
    for (;;) {
      skip_spaces();
      if (at_ == text_.size() || text_[at_] == ')') return nodes;
      nodes.push_back(read_node());
      skip_spaces();
      if (at_ < text_.size() && text_[at_] == ',') ++at_;
    }
  }

  Node read_node() {
    size_t end = text_.find_first_of(",() \n\t", at_);
    std::string_view name = text_.substr(at_, end == std::string_view::npos ? end : end - at_);
    if (name.empty())
      throw user_error("pipeline \"{}\": a pass name is missing at column {}", text_, at_ + 1);
    at_ += name.size();
    Node node;
    if (name != "fixpoint") {
      node.row = &pass_from_name(name);
      return node;
    }
    if (++depth_ > 8) throw user_error("pipeline \"{}\": fixpoint is nested more than 8 deep", text_);
    expect('(');
    node.children = read_list();
    expect(')');
    --depth_;
    return node;
  }

  void expect(char c) {
    skip_spaces();
    if (at_ == text_.size() || text_[at_] != c)
      throw user_error("pipeline \"{}\": '{}' is missing at column {}", text_, c, at_ + 1);
    ++at_;
  }
  void skip_spaces() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n' || text_[at_] == '\t')) ++at_;
  }

  std::string_view text_;
  size_t at_ = 0;
  int depth_ = 0;
};

class Runner {
 public:
  Runner(Module& module, const PassContext& context, std::string_view pipeline)
      : module_(module), context_(context), pipeline_(pipeline) {}

  bool run(const std::vector<Node>& nodes) {
    bool changed = false;
    for (size_t i = 0; i < nodes.size(); ++i) {
      const PassRow* next = i + 1 < nodes.size() ? nodes[i + 1].row : nullptr;
      changed |= nodes[i].row ? run_pass(*nodes[i].row, next ? next->name : "pipeline-end")
                              : run_fixpoint(nodes[i].children);
    }
    return changed;
  }

 private:
  bool run_fixpoint(const std::vector<Node>& nodes) {
    bool changed = false;
    for (int64_t round = 0; round < context_.options.fixpoint_rounds; ++round) {
      if (!run(nodes)) break;
      changed = true;
    }
    return changed;
  }

  bool run_pass(const PassRow& row, std::string_view next) {
    const auto& off = context_.disabled;
    if (!row.needed && std::find(off.begin(), off.end(), row.name) != off.end()) return false;
    context_.running = row.name;
    PassRecord record{std::string(pipeline_), std::string(row.name)};
    record.instructions_before = module_.instruction_count();
    int64_t used = context_.fuel.used;
    auto start = std::chrono::steady_clock::now();
    record.changed = row.run(module_, context_);
    record.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    record.rewrites = context_.fuel.used - used;
    record.instructions_after = module_.instruction_count();
    if (context_.verify_each && record.changed) verify_after(row);
    if (context_.dump && record.changed) context_.dump(module_, pipeline_, row.name, next);
    context_.records.push_back(std::move(record));
    return context_.records.back().changed;
  }

  // A law that a pass broke is our mistake, and the pass is named.
  void verify_after(const PassRow& row) {
    try {
      verify(module_, context_.stage);
    } catch (const Error& e) {
      throw Error(ErrorKind::kInternal, e.where(), fmt::format("after pass {}: {}", row.name, e.message()));
    }
  }

  Module& module_;
  const PassContext& context_;
  std::string_view pipeline_;
};

}  // namespace

bool run_pipeline(Module& module, std::string_view passes, const PassContext& context,
                  std::string_view pipeline) {
  return Runner(module, context, pipeline).run(PipelineReader(passes).read());
}

}  // namespace armillary
