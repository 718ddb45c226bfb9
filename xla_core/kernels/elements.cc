#include "xla_core/kernels/elements.h"

#include <algorithm>

#include "xla_core/kernels/scalar.h"

namespace armillary::kernels {

// The order of elements is the one in memory, so a bitcast changes nothing even where the layout changes.
bool is_reshape_like(const Instruction& i) {
  if (i.is(Op::reshape) || i.is(Op::copy) || i.is(Op::opt_barrier)) return i.shape().is_array();
  return i.is(Op::bitcast) && i.dtype() == i.operand(0)->dtype();
}

bool is_foldable_constant(const Instruction& i) {
  return i.is(Op::constant) && i.shape().is_array() && !i.literal().elided() &&
         (i.shape().num_elements() == 1 || i.literal().is_splat());
}

Elements::Elements(KernelBuilder& b, const Site& site, Lowering& lowering, std::vector<BufferRef>& buffers)
    : b_(b), site_(site), lowering_(lowering), buffers_(buffers) {}

int Elements::buffer(BufferRef ref, const Shape& shape, bool written) {
  if (auto found = std::ranges::find(buffers_, ref); found != buffers_.end())
    return static_cast<int>(found - buffers_.begin());
  buffers_.push_back(ref);
  const int number = b_.add_buffer(shape.dtype, shape.num_elements(), written);
  if (ref.kind != BufferRef::kOperand) return number;
  for (size_t leaf = 0; leaf < site_.roots().size(); ++leaf)
    b_.kernel().buffers[number].may_share |= may_share(site_.instr(), ref.index, static_cast<int64_t>(leaf));
  return number;
}

Val Elements::at(const Instruction* i, const Index& index) { return all_at(i, index).at(0); }

std::vector<Val> Elements::all_at(const Instruction* i, const Index& index) {
  Key key{i, index.key()};
  if (auto it = memo_.find(key); it != memo_.end() && b_.scope_open(it->second.scope))
    return it->second.values;
  std::vector<Val> values = generate(i, index);
  memo_.insert_or_assign(std::move(key), Entry{values, b_.scope()});
  return values;
}

void Elements::remember(const Instruction* i, const Index& index, std::vector<Val> values) {
  memo_.insert_or_assign(Key{i, index.key()}, Entry{std::move(values), b_.scope()});
}

std::vector<Val> Elements::generate(const Instruction* i, const Index& index) {
  if (const int64_t number = site_.input_number(i); number >= 0)
    return {b_.load_at(buffer({BufferRef::kOperand, number}, i->shape()), index.linear(b_))};
  if (is_reshape_like(*i)) return {at(i->operand(0), index)};
  switch (i->op()) {
    case Op::constant:
      return {constant(i, index)};
    case Op::broadcast:
      return {at(i->operand(0), broadcast_index(i, index))};
    case Op::transpose:
      return {at(i->operand(0), transpose_index(i, index))};
    case Op::get_tuple_element:
      return {all_at(i->operand(0), index).at(i->attrs().integer(Attr::index))};
    case Op::tuple: {
      std::vector<Val> values;
      for (const Instruction* x : i->operands()) values.push_back(at(x, index));
      return values;
    }
    case Op::map:
      return {mapped(i, index)};
    case Op::reduce:
      return reduced(i, index);
    case Op::reduce_window:
      return windowed(i, index);
    default:
      break;
  }
  return {i->def().meaning == Meaning::kScalar ? elementwise(i, index) : by_recipe(i, index)};
}

Val Elements::constant(const Instruction* i, const Index& index) {
  const Literal& literal = i->literal();
  const DType d = literal.dtype();
  if (is_foldable_constant(*i)) {
    if (is_float(d)) {  // by its bits: a NaN keeps its payload
      int64_t bits = 0;
      std::copy_n(literal.bytes(), byte_size(d), reinterpret_cast<std::byte*>(&bits));
      return {b_.push({.prim = Prim::kConst, .dtype = d, .imm = bits}), -1, d};
    }
    if (!is_complex(d)) return b_.constant_int(d, literal.get_int(0));
    const std::complex<double> v = literal.get_complex(0);
    return b_.complex(b_.constant(real_part_of(d), v.real()), b_.constant(real_part_of(d), v.imag()));
  }
  auto& constants = lowering_.constants;
  auto found = std::ranges::find(constants, i->shared_literal());
  if (found == constants.end()) found = constants.insert(constants.end(), i->shared_literal());
  return b_.load_at(buffer({BufferRef::kConstant, found - constants.begin()}, i->shape()), index.linear(b_));
}

// Scalars beside arrays (of select and clamp) count everywhere.
Val Elements::elementwise(const Instruction* i, const Index& index) {
  std::vector<Val> x;
  for (const Instruction* operand : i->operands())
    x.push_back(at(operand, operand->shape().rank() == 0 ? Index() : index));
  return apply_scalar(b_, *i, x);
}

Val Elements::mapped(const Instruction* i, const Index& index) {
  std::vector<Val> x;
  for (const Instruction* operand : i->operands()) x.push_back(at(operand, index));
  return inline_scalar(b_, *i->attrs().callee(Attr::to_apply), x).at(0);
}

Val Elements::by_recipe(const Instruction* i, const Index& index) {
  const auto storage = i->context_storage();
  const std::vector<Val> along = index.along(b_, i->dims());
  const KernelBuilder::Loader loader = [&](int operand, std::span<const int64_t> dims,
                                           std::span<const Val> x) {
    return at(i->operand(operand), Index::of_dims(dims, x));
  };
  return b_.with_loader(loader, [&] {
    return i->def().element(b_, along, storage.context(i->attrs(), &i->shape()), i->shape());
  });
}

Index Elements::broadcast_index(const Instruction* i, const Index& index) {
  const Dims& map = i->attrs().ints(Attr::dimensions);
  const Dims strides = strides_of(i->dims()), from = strides_of(i->operand(0)->dims());
  std::vector<Digit> digits;
  for (size_t d = 0; d < map.size(); ++d) {
    if (i->operand(0)->dims()[d] == 1) continue;
    for (Digit digit : index.between(b_, strides[map[d]], strides[map[d]] * i->dims()[map[d]])) {
      digit.stride *= from[d];
      digits.push_back(digit);
    }
  }
  std::ranges::stable_sort(digits, std::ranges::greater(), &Digit::stride);
  return Index(std::move(digits));
}

Index Elements::transpose_index(const Instruction* i, const Index& index) {
  const Dims& permutation = i->attrs().ints(Attr::dimensions);
  const Dims strides = strides_of(i->dims()), from = strides_of(i->operand(0)->dims());
  std::vector<Digit> digits;
  for (size_t d = 0; d < permutation.size(); ++d)
    for (Digit digit : index.between(b_, strides[d], strides[d] * i->dims()[d])) {
      digit.stride *= from[permutation[d]];
      digits.push_back(digit);
    }
  std::ranges::stable_sort(digits, std::ranges::greater(), &Digit::stride);
  return Index(std::move(digits));
}

}  // namespace armillary::kernels
