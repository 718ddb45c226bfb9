#include "xla_core/spmd/row_ties.h"

#include <algorithm>

#include "xla_core/hlo/associative.h"
#include "xla_core/interp/interpreter.h"

namespace armillary {
namespace {

// Runs an index recipe and notes at which of the result's indices operands are read, and whether an index is
// used in any other way.
class Reads : public TapeBuilder {
 public:
  Reads(Tape& tape, const Instruction& i) : TapeBuilder(tape), i_(i) {
    for (size_t d = 0; d < i.dims().size(); ++d)
      index_.push_back(
          {push({Prim::kIndex, DType::kS64, 0, -1, -1, -1, static_cast<int64_t>(d)}), -1, DType::kS64});
    ties_.free.assign(i.dims().size(), true);
    for (const Instruction* o : i.operands()) ties_.along.emplace_back(o->dims().size(), kWhole);
    seen_.resize(i.num_operands());
  }

  Val load(int operand, DType dtype, std::span<const int64_t>, std::span<const Val> index) override {
    Dims along;
    for (size_t d = 0; d < index.size(); ++d)
      along.push_back(dimension(index[d], i_.operand(operand)->dims()[d]));
    if (seen_[operand] && along != ties_.along[operand]) consistent_ = false;
    seen_[operand] = true;
    ties_.along[operand] = std::move(along);
    return TapeBuilder::load(operand, dtype, {}, {});
  }

  std::optional<Ties> run() {
    const Instruction::ContextStorage storage = i_.context_storage();
    i_.def().element(*this, index_, storage.context(i_.attrs(), nullptr), i_.shape());
    if (!consistent_) return {};
    // What is never read, as an operand without elements, says nothing of how it must be cut for the op to
    // stay one.
    for (size_t k = 0; k < seen_.size(); ++k)
      if (!seen_[k] && !ties_.along[k].empty()) return {};
    for (const TapeNode& n : tape_.nodes)
      for (int32_t use : {n.a, n.b, n.c})
        if (use >= 0 && use < static_cast<int32_t>(index_.size())) ties_.free[use] = false;
    return ties_;
  }

 private:
  int64_t dimension(Val index, int64_t size) {
    if (index.re >= static_cast<int32_t>(index_.size())) return kWhole;
    if (i_.dims()[index.re] == size) return index.re;
    ties_.free[index.re] = false;  // a part of the operand's dimension
    return kWhole;
  }

  const Instruction& i_;
  std::vector<Val> index_;
  std::vector<bool> seen_;
  bool consistent_ = true;
  Ties ties_;
};

Dims counting(size_t n) {
  Dims out;
  for (size_t d = 0; d < n; ++d) out.push_back(static_cast<int64_t>(d));
  return out;
}

std::optional<Ties> of_elementwise(const Instruction& i) {
  Ties ties{std::vector<bool>(i.dims().size(), true), {}};
  for (const Instruction* o : i.operands()) {
    if (o->dims() != i.dims() && !o->dims().empty()) return {};
    ties.along.push_back(counting(o->dims().size()));
  }
  return ties;
}

// What a reduction folds with, if it may fold parts first, each with the initial value.
std::optional<Op> folds_parts_with(const Instruction& i) {
  const Computation& body = *i.attrs().callee(Attr::to_apply);
  const Instruction& root = *body.root();
  const bool is_single = root.def().identity && root.operand(0)->is(Op::parameter) &&
                         root.operand(1)->is(Op::parameter) && root.operand(0) != root.operand(1);
  if (!is_single || !i.operand(1)->is(Op::constant)) return {};
  const Literal& initial = i.operand(1)->literal();
  const std::vector<Literal> twice = {initial, initial};
  return evaluate(body, twice) == initial ? std::optional(root.op()) : std::nullopt;
}

// One array.
std::optional<Ties> of_reduce(const Instruction& i) {
  if (!i.shape().is_array() || i.num_operands() != 2) return {};
  const Dims& gone = i.attrs().ints(Attr::dimensions);
  const std::optional<Op> combine = folds_parts_with(i);
  Ties ties{std::vector<bool>(i.dims().size(), true), {{}, {}}};
  if (combine) ties.combine = *combine;
  int64_t kept = 0;
  for (int64_t d = 0; d < i.operand(0)->shape().rank(); ++d) {
    const bool is_kept = std::find(gone.begin(), gone.end(), d) == gone.end();
    ties.along[0].push_back(is_kept ? kept++ : combine ? ties.rank() + ties.sums++ : kWhole);
  }
  return ties;
}

// The result's dimensions: batches, then free ones of lhs, then of rhs.
std::optional<Ties> of_dot(const Instruction& i) {
  Ties ties{std::vector<bool>(i.dims().size(), true), {}};
  const Attrs& a = i.attrs();
  const bool sums = i.dtype() != DType::kPred;
  auto next = static_cast<int64_t>(a.ints(Attr::lhs_batch_dims).size());
  for (int side : {0, 1}) {
    const Dims& batch = a.ints(side == 0 ? Attr::lhs_batch_dims : Attr::rhs_batch_dims);
    const Dims& contracting = a.ints(side == 0 ? Attr::lhs_contracting_dims : Attr::rhs_contracting_dims);
    Dims along(i.operand(side)->dims().size(), kWhole);
    for (size_t k = 0; k < batch.size(); ++k) along[batch[k]] = static_cast<int64_t>(k);
    for (int64_t d = 0; d < static_cast<int64_t>(along.size()); ++d)
      if (along[d] == kWhole && std::find(contracting.begin(), contracting.end(), d) == contracting.end())
        along[d] = next++;
    for (size_t k = 0; sums && k < contracting.size(); ++k)
      along[contracting[k]] = ties.rank() + static_cast<int64_t>(k);
    ties.sums = sums ? static_cast<int64_t>(contracting.size()) : 0;
    ties.along.push_back(std::move(along));
  }
  return ties;
}

// Windows see space whole, and groups of features their features.
std::optional<Ties> of_convolution(const Instruction& i) {
  const Attrs& a = i.attrs();
  const ConvDims& at = a.conv_dims();
  const bool grouped =
      a.integer(Attr::feature_group_count, 1) != 1 || a.integer(Attr::batch_group_count, 1) != 1;
  Ties ties{std::vector<bool>(i.dims().size(), false), {}};
  for (const Instruction* o : i.operands()) ties.along.emplace_back(o->dims().size(), kWhole);
  if (a.integer(Attr::batch_group_count, 1) == 1) {
    ties.free[at.output_batch] = true;
    ties.along[0][at.input_batch] = at.output_batch;
  }
  if (grouped) return ties;
  ties.free[at.output_feature] = true;
  ties.along[1][at.kernel_output_feature] = at.output_feature;
  ties.sums = 1;
  ties.along[0][at.input_feature] = ties.along[1][at.kernel_input_feature] = ties.rank();
  return ties;
}

// x, combined with itself, is x.
bool is_idempotent(const Computation& body, DType dtype) {
  const Literal two = Literal::scalar(dtype, dtype == DType::kPred ? 1 : 2);
  const std::vector<Literal> twice = {two, two};
  return evaluate(body, twice) == two;
}

// What the devices that have some of the updates each combine them with, if that gives summands.
void tie_sums_of_scatter(const Instruction& i, Ties& ties) {
  const Computation& body = *i.attrs().callee(Attr::to_apply);
  const auto& parameters = body.parameters();
  if (!is_monoid(body.root(), parameters[0], parameters[1])) return;
  ties.combine = body.root()->op();
  const bool idempotent = is_idempotent(body, i.dtype());
  if (!idempotent && ties.combine != Op::add) return;
  if (!idempotent) ties.counted_once = 0;
  const Dims& window = i.attrs().ints(Attr::update_window_dims);
  const int64_t vector_dim = i.attrs().integer(Attr::index_vector_dim);
  int64_t at = 0;  // the indices' dimension
  for (size_t d = 0; d < ties.along[2].size(); ++d) {
    if (std::ranges::count(window, static_cast<int64_t>(d)) > 0) continue;
    if (at == vector_dim) ++at;
    if (ties.along[2][d] == kWhole) ties.along[1][at] = ties.along[2][d] = ties.rank() + ties.sums++;
    ++at;
  }
}

// One array. Batches, and windows as long as the dimension they lie in, work each alone.
std::optional<Ties> of_scatter(const Instruction& i) {
  if (!i.shape().is_array()) return {};
  const Attrs& a = i.attrs();
  const Dims &window = a.ints(Attr::update_window_dims), &inserted = a.ints(Attr::inserted_window_dims);
  const Dims &batching = a.ints(Attr::input_batching_dims),
             &index_batching = a.ints(Attr::scatter_indices_batching_dims);
  const Dims& moved = a.ints(Attr::scatter_dims_to_operand_dims);
  auto names = [](const Dims& list, int64_t d) { return std::ranges::count(list, d) > 0; };
  Ties ties{std::vector<bool>(i.dims().size(), false), {}};
  for (const Instruction* o : i.operands()) ties.along.emplace_back(o->dims().size(), kWhole);
  auto tie = [&](int64_t d) {
    ties.free[d] = true;
    ties.along[0][d] = d;
  };
  size_t next = 0;
  for (int64_t d = 0; d < i.shape().rank(); ++d) {
    if (names(inserted, d) || names(batching, d)) continue;
    const int64_t of_update = window[next++];
    if (names(moved, d) || i.operand(2)->dims()[of_update] != i.dims()[d]) continue;
    tie(d);
    ties.along[2][of_update] = d;
  }
  Dims scattered;  // the updates' dimensions, in the order of those of the indices
  for (int64_t d = 0; d < i.operand(2)->shape().rank(); ++d)
    if (!names(window, d)) scattered.push_back(d);
  const int64_t vector_dim = a.integer(Attr::index_vector_dim);
  for (size_t k = 0; k < batching.size(); ++k) {
    tie(batching[k]);
    ties.along[1][index_batching[k]] = batching[k];
    ties.along[2][scattered[index_batching[k] - (index_batching[k] > vector_dim ? 1 : 0)]] = batching[k];
  }
  tie_sums_of_scatter(i, ties);
  return ties;
}

}  // namespace

std::optional<Ties> ties_of(const Instruction& i) {
  if (!i.shape().is_array() || i.has_effect()) return {};
  if (i.has(kElementwise)) return of_elementwise(i);
  if (i.is(Op::iota)) return Ties{std::vector<bool>(i.dims().size(), true), {}};
  if (i.is(Op::reduce)) return of_reduce(i);
  if (i.is(Op::dot)) return of_dot(i);
  if (i.is(Op::convolution)) return of_convolution(i);
  if (i.is(Op::scatter)) return of_scatter(i);
  if (i.def().meaning != Meaning::kIndex || !i.def().element) return {};
  Tape tape;
  return Reads(tape, i).run();
}

}  // namespace armillary
