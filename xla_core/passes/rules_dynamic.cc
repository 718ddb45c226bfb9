// Slices at run-time positions that are known after all; gather, scatter and sort of next to nothing.
#include <algorithm>
#include <cstdint>

#include "xla_core/passes/rule_words.h"

namespace armillary {
namespace {

using namespace words;

bool is_empty(const Instruction* i) { return i->shape().is_array() && i->shape().num_elements() == 0; }

// A start index as dynamic-slice means it: clamped so that the window fits. u64 beyond s64 clamps to the end.
int64_t clamped_start(const Instruction* index, int64_t size, int64_t window) {
  int64_t start = scalar_behind(*index)->get_int(0);
  if (is_unsigned(index->dtype()) && start < 0) start = size;
  return std::clamp<int64_t>(start, 0, size - window);
}
bool starts_known(C m) {
  auto operands = m.root()->operands().subspan(1);
  return std::all_of(operands.begin(), operands.end(),
                     [](const Instruction* i) { return scalar_behind(*i) != nullptr; });
}
Instruction* static_slice(M m) {
  const Instruction* source = m.root()->operand(0);
  Slices slices;
  for (size_t d = 0; d < m.dims().size(); ++d) {
    int64_t start =
        clamped_start(m.root()->operand(static_cast<int64_t>(d) + 1), source->dims()[d], m.dims()[d]);
    slices.push_back({start, start + m.dims()[d], 1});
  }
  return m.slice(m.root()->operand(0), slices);
}

Instruction* first_operand(M m) { return m.root()->operand(0); }

// An index vector may be empty: then the number of elements says nothing of how many there are.
bool has_one_index_vector(const Instruction* indices, const Attrs& a) {
  const Dims& dims = indices->dims();
  for (size_t d = 0; d < dims.size(); ++d)
    if (static_cast<int64_t>(d) != a.integer(Attr::index_vector_dim) && dims[d] != 1) return false;
  return true;
}

// ---- gather of one index vector is a dynamic-slice

bool gathers_one(C m) {
  const Attrs& a = m.root()->attrs();
  const Dims sizes = parse_int_list(a.raw(Attr::slice_sizes));
  if (!a.ints(Attr::operand_batching_dims).empty() || is_empty(m.root()) ||
      std::count(sizes.begin(), sizes.end(), 0) != 0)
    return false;
  return has_one_index_vector(m['y'], a);
}
Instruction* gather_as_slice(M m) {
  const Attrs& a = m.root()->attrs();
  const Dims& map = a.ints(Attr::start_index_map);
  DType index_type = m['y']->dtype();
  Instruction* vector = m.reshape(m['y'], {static_cast<int64_t>(map.size())});
  std::vector<Instruction*> starts;
  for (int64_t d = 0; d < m['x']->shape().rank(); ++d) {
    auto found = std::find(map.begin(), map.end(), d);
    int64_t n = found - map.begin();
    starts.push_back(found == map.end() ? m.scalar_int(index_type, 0)
                                        : m.reshape(m.slice(vector, {{n, n + 1, 1}}), {}));
  }
  return m.reshape(m.dynamic_slice(m['x'], starts, parse_int_list(a.raw(Attr::slice_sizes))), m.dims());
}

// ---- scatter of one window is a dynamic-update-slice that leaves the operand alone when the window does not
// fit

Op scatter_combiner(const Instruction* scatter) {
  const Computation* body = scatter->attrs().callee(Attr::to_apply);
  const Instruction* root = body->root();
  if (root == body->parameter(1)) return Op::copy;  // the update replaces what was there
  bool on_both = root->num_operands() == 2 && root->has(kCommutative) &&
                 root->operand(0)->is(Op::parameter) && root->operand(1)->is(Op::parameter) &&
                 root->operand(0) != root->operand(1);
  return on_both && root->dtype() == scatter->dtype() ? root->op() : Op::parameter;
}
bool scatters_one(C m) {
  const Attrs& a = m.root()->attrs();
  if (m['x']->dtype() != m['z']->dtype() || is_empty(m['z']) || scatter_combiner(m.root()) == Op::parameter)
    return false;
  return has_one_index_vector(m['y'], a) && a.ints(Attr::input_batching_dims).empty();
}

struct OneWindow {
  std::vector<Instruction*> starts;
  Dims sizes;
};
OneWindow window_of_scatter(M m) {
  const Attrs& a = m.root()->attrs();
  const Dims &map = a.ints(Attr::scatter_dims_to_operand_dims),
             &inserted = a.ints(Attr::inserted_window_dims);
  Instruction* vector = m.reshape(m['y'], {static_cast<int64_t>(map.size())});
  OneWindow window;
  size_t next = 0;
  for (int64_t d = 0; d < m['x']->shape().rank(); ++d) {
    int64_t n = std::find(map.begin(), map.end(), d) - map.begin();
    bool indexed = n < static_cast<int64_t>(map.size());
    const Literal* known = scalar_behind(*m['y']);
    window.starts.push_back(!indexed ? m.scalar_int(m['y']->dtype(), 0)
                            : known  ? m.scalar_int(m['y']->dtype(), known->get_int(0))
                                     : m.reshape(m.slice(vector, {{n, n + 1, 1}}), {}));
    bool is_inserted = std::find(inserted.begin(), inserted.end(), d) != inserted.end();
    window.sizes.push_back(is_inserted ? 1 : m['z']->dims()[a.ints(Attr::update_window_dims)[next++]]);
  }
  return window;
}

// 0 <= start <= room in every dimension; nullptr when that is known, and false is a constant.
Instruction* window_fits(M m, const OneWindow& window) {
  Instruction* fits = nullptr;
  DType index = m['y']->dtype();
  int64_t highest =
      bit_width(index) == 64 ? INT64_MAX : (int64_t{1} << (bit_width(index) - is_signed(index))) - 1;
  for (size_t d = 0; d < window.starts.size(); ++d) {
    int64_t room = m['x']->dims()[d] - window.sizes[d];
    auto require = [&](Instruction* test) { fits = fits ? m.add(Op::and_, {fits, test}) : test; };
    if (const Literal* start = scalar_behind(*window.starts[d]);
        start && start->get_int(0) >= 0 && start->get_int(0) <= room)
      continue;
    if (room < highest || is_unsigned(index))
      require(m.compare("LE", window.starts[d], m.scalar_int(index, std::min(room, highest))));
    if (is_signed(index)) require(m.compare("GE", window.starts[d], m.scalar_int(index, 0)));
  }
  return fits;
}

Instruction* scatter_as_update(M m) {
  const OneWindow window = window_of_scatter(m);
  const Op combiner = scatter_combiner(m.root());
  Instruction* update = m.reshape(m['z'], window.sizes);
  Instruction* fits = window_fits(m, window);
  if (combiner != Op::copy || fits) {
    Instruction* old = m.dynamic_slice(m['x'], window.starts, window.sizes);
    if (combiner != Op::copy) update = m.add(combiner, {old, update});
    if (fits) update = m.select(fits, update, old);
  }
  return m.dynamic_update_slice(m['x'], update, window.starts);
}

// ---- sort

bool sorts_nothing(C m) {
  const Shape& first = m.root()->operand(0)->shape();
  return first.dims[m.dimensions()[0]] <= 1;
}
Instruction* operands_as_result(M m) {
  auto operands = m.root()->operands();
  return m.root()->shape().is_tuple() ? m.tuple({operands.begin(), operands.end()}) : operands[0];
}

bool has_static_size(C m) { return !m['x']->shape().is_dynamic(); }
Instruction* static_size(M m) { return m.scalar_int(m.dtype(), m['x']->dims()[m.dimensions()[0]]); }

const Rule kRules[] = {
    {"dynamic-slice-all", of(Op::dynamic_slice, {}), first_operand,
     [](C m) { return m.root()->operand(0)->dims() == m.dims(); }},
    {"dynamic-slice-at-constant", of(Op::dynamic_slice, {}), static_slice, starts_known},
    {"dynamic-slice-of-splat", of(Op::dynamic_slice, {}),
     [](M m) { return m.splat(m.root()->shape(), m.root()->operand(0)->operand(0)); },
     [](C m) {
       return m.root()->operand(0)->is(Op::broadcast) &&
              m.root()->operand(0)->operand(0)->shape().is_scalar();
     }},
    {"update-all", of(Op::dynamic_update_slice, {}), [](M m) { return m.root()->operand(1); },
     [](C m) { return m.root()->operand(1)->dims() == m.dims(); }},
    {"update-nothing", of(Op::dynamic_update_slice, {}), first_operand,
     [](C m) { return is_empty(m.root()->operand(1)); }},
    {"gather-one", of(Op::gather, {x, y}), gather_as_slice, gathers_one},
    {"scatter-nothing", of(Op::scatter, {x, y, z}), x, [](C m) { return is_empty(m['z']); }},
    {"scatter-one", of(Op::scatter, {x, y, z}), scatter_as_update, scatters_one},
    {"sort-nothing", of(Op::sort, {}), operands_as_result, sorts_nothing},
    {"static-dimension-size", of(Op::get_dimension_size, {x}), static_size, has_static_size},
};

}  // namespace

std::span<const Rule> dynamic_rules() { return kRules; }

}  // namespace armillary
