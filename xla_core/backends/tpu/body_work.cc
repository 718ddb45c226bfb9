#include "xla_core/backends/tpu/body_work.h"

#include <algorithm>
#include <cmath>
#include <unordered_map>

#include "xla_core/backends/tpu/tiled.h"
#include "xla_core/backends/tpu/vector_cost.h"
#include "xla_core/fusion/fusible.h"

namespace armillary::tpu {
namespace {

double elements_of(const Shape& shape) {
  double most = 0;
  for (const Shape* leaf : leaves_of(shape))
    if (leaf->is_array()) most = std::max(most, static_cast<double>(leaf->num_elements()));
  return most;
}

const Shape& first_array(const Shape& shape) { return *leaves_of(shape)[0]; }

// Result elements of `root` that somebody computes.
double computed_elements(const Instruction& root) {
  return elements_of(root.is(Op::dynamic_update_slice) ? root.operand(1)->shape() : root.shape());
}

// Of operand k, how many elements are read for `elements` of the result.
double elements_read(const Instruction& user, int64_t k, double elements) {
  const double all = elements_of(user.operand(k)->shape());
  if (user.is(Op::dynamic_update_slice) && k == 0) return 0;
  return std::min(all, elements * reads_per_element(user, k));
}

class Body {
 public:
  explicit Body(const Instruction& instr) : instr_(instr) {
    work_.read.assign(instr.num_operands(), 0);
    for (const Shape* leaf : leaves_of(instr.shape()))
      work_.written.push_back(leaf->is_array() ? tiled_bytes(*leaf) : 0);
  }

  BodyWork run() {
    if (instr_.is(Op::fusion)) {
      visit_fusion(*instr_.callees()[0]);
    } else {
      const double elements = computed_elements(instr_);
      charge(instr_, elements);
      for (int64_t k = 0; k < instr_.num_operands(); ++k) note_read(k, elements_read(instr_, k, elements));
      if (work_.written.size() == 1) work_.written[0] = written_bytes(instr_);
    }
    return std::move(work_);
  }

 private:
  void visit_fusion(const Computation& body) {
    const Instruction* root = body.root();
    std::vector<const Instruction*> roots = {root};
    if (root->is(Op::tuple)) roots.assign(root->operands().begin(), root->operands().end());
    for (size_t leaf = 0; leaf < roots.size(); ++leaf) {
      need(*roots[leaf], computed_elements(*roots[leaf]));
      if (!roots[leaf]->shape().is_tuple()) work_.written[leaf] = written_bytes(*roots[leaf]);
    }
    for (auto i = body.instructions().rbegin(); i != body.instructions().rend(); ++i) {
      auto needed = needed_.find(*i);
      if (needed == needed_.end()) continue;
      if ((*i)->is(Op::parameter)) {
        note_read((*i)->parameter_number(), needed->second);
      } else if (!(*i)->is(Op::tuple)) {
        charge(**i, needed->second);
        for (int64_t k = 0; k < (*i)->num_operands(); ++k)
          need(*(*i)->operand(k), elements_read(**i, k, needed->second));
      }
    }
  }

  void need(const Instruction& i, double elements) {
    double& needed = needed_[&i];
    needed = std::min(elements_of(i.shape()), needed + elements);
  }

  void note_read(int64_t k, double elements) {
    const Shape& shape = instr_.operand(k)->shape();
    if (!shape.is_array()) {
      work_.read[k] = tiled_bytes_of_leaves(shape);
      return;
    }
    const double all = elements_of(shape);
    if (all > 0)
      work_.read[k] =
          static_cast<int64_t>(std::ceil(static_cast<double>(tiled_bytes(shape)) * elements / all));
  }

  void charge(const Instruction& i, double elements) {
    if (is_contraction(i)) {
      work_.contraction = &i;
    } else if (i.def().meaning == Meaning::kScalar) {
      add_work(work_.vector, vector_cost(i), elements * padding_factor(first_array(i.shape())));
    } else {
      charge_structure(i, elements, work_);
    }
  }

  const Instruction& instr_;
  BodyWork work_;
  std::unordered_map<const Instruction*, double> needed_;
};

}  // namespace

int64_t written_bytes(const Instruction& root) {
  return tiled_bytes_of_leaves(root.is(Op::dynamic_update_slice) ? root.operand(1)->shape() : root.shape());
}

BodyWork body_work(const Instruction& instr) { return Body(instr).run(); }

}  // namespace armillary::tpu
