#include "xla_core/kernels/builder.h"

#include <algorithm>

#include "xla_core/base/error.h"

namespace armillary::kernels {

int KernelBuilder::add_buffer(DType dtype, int64_t elements, bool written) {
  kernel_.buffers.push_back({dtype, elements, written});
  return static_cast<int>(kernel_.buffers.size()) - 1;
}

int KernelBuilder::add_local(DType dtype, int64_t elements) {
  kernel_.locals.push_back({dtype, elements, true});
  return -static_cast<int>(kernel_.locals.size());
}

DType KernelBuilder::buffer_dtype(int buffer) const {
  return buffer < 0 ? kernel_.locals[-1 - buffer].dtype : kernel_.buffers[buffer].dtype;
}

Val KernelBuilder::outer_index() {
  return {.re = push({.prim = Prim::kIndex, .dtype = DType::kS64}), .dtype = DType::kS64};
}

Val KernelBuilder::load_at(int buffer, Val linear) {
  const DType dtype = buffer_dtype(buffer);
  Val v{.dtype = dtype};
  const DType part = real_part_of(dtype);
  v.re = push({.prim = Prim::kLoad, .dtype = part, .a = linear.re, .imm = buffer});
  if (is_complex(dtype))
    v.im = push({.prim = Prim::kLoad, .dtype = part, .part = 1, .a = linear.re, .imm = buffer});
  return v;
}

void KernelBuilder::store_at(int buffer, Val linear, Val value) {
  const DType dtype = buffer_dtype(buffer);
  ARM_CHECK(value.dtype == dtype);
  const DType part = real_part_of(dtype);
  push({.prim = Prim::kStore, .dtype = part, .a = linear.re, .b = value.re, .imm = buffer});
  if (is_complex(dtype))
    push({.prim = Prim::kStore, .dtype = part, .part = 1, .a = linear.re, .b = value.im, .imm = buffer});
}

std::vector<Val> KernelBuilder::loop(int64_t extent, std::span<const Val> initial, const LoopBody& body) {
  return loop(Val(), extent, initial, body);
}

std::vector<Val> KernelBuilder::loop(Val extent, int64_t bound, std::span<const Val> initial,
                                     const LoopBody& body) {
  const int32_t begin = push({.prim = Prim::kLoopBegin, .dtype = DType::kS64, .a = extent.re, .imm = bound});
  open_scope();
  std::vector<Val> carried(initial.begin(), initial.end());
  auto carry = [&](int32_t& node) {
    if (node >= 0) node = push({.prim = Prim::kCarry, .dtype = tape_.nodes[node].dtype, .a = node});
  };
  for (Val& v : carried) {
    carry(v.re);
    carry(v.im);
  }
  const std::vector<Val> next = body({.re = begin, .dtype = DType::kS64}, carried);
  ARM_CHECK(next.size() == carried.size());
  close_scope();
  push({.prim = Prim::kLoopEnd, .dtype = DType::kS64, .a = begin});
  auto result = [&](int32_t from, int32_t to) {
    return from < 0 ? -1
                    : push({.prim = Prim::kLoopResult, .dtype = tape_.nodes[from].dtype, .a = from, .b = to});
  };
  std::vector<Val> results;
  for (size_t i = 0; i < next.size(); ++i) {
    ARM_CHECK(next[i].dtype == carried[i].dtype);
    const int32_t re = result(carried[i].re, next[i].re);
    results.push_back({.re = re, .im = result(carried[i].im, next[i].im), .dtype = next[i].dtype});
  }
  return results;
}

void KernelBuilder::lane_loop(Val extent, int64_t bound, const std::function<void(Val)>& body) {
  const int32_t begin =
      push({.prim = Prim::kLoopBegin, .dtype = DType::kS64, .part = 1, .a = extent.re, .imm = bound});
  open_scope();
  body({.re = begin, .dtype = DType::kS64});
  close_scope();
  push({.prim = Prim::kLoopEnd, .dtype = DType::kS64, .a = begin});
}

void KernelBuilder::lane_loop(int64_t extent, const std::function<void(Val)>& body) {
  lane_loop(Val(), extent, body);
}

void KernelBuilder::if_then(Val pred, const std::function<void()>& then,
                            const std::function<void()>& otherwise) {
  push({.prim = Prim::kIfBegin, .dtype = DType::kPred, .a = pred.re});
  open_scope();
  then();
  close_scope();
  if (otherwise) {
    push({.prim = Prim::kElse, .dtype = DType::kPred});
    open_scope();
    otherwise();
    close_scope();
  }
  push({.prim = Prim::kIfEnd, .dtype = DType::kPred});
}

Val KernelBuilder::load(int operand, DType dtype, std::span<const int64_t> dims, std::span<const Val> index) {
  ARM_CHECK(!loaders_.empty());
  const Loader& loader = *loaders_.back();
  const Val v = loader(operand, dims, index);
  ARM_CHECK(v.dtype == dtype);
  return v;
}

Val KernelBuilder::with_loader(const Loader& loader, const std::function<Val()>& recipe) {
  loaders_.push_back(&loader);
  const Val v = recipe();
  loaders_.pop_back();
  return v;
}

bool KernelBuilder::scope_open(int scope) const {
  return std::ranges::any_of(scopes_, [&](const Scope& s) { return s.number == scope; });
}

size_t KernelBuilder::NodeHash::operator()(const TapeNode& n) const {
  size_t h = static_cast<size_t>(n.prim) * 64 + static_cast<size_t>(n.dtype) * 2 + n.part;
  for (int64_t field :
       {static_cast<int64_t>(n.a), static_cast<int64_t>(n.b), static_cast<int64_t>(n.c), n.imm})
    h = (h ^ static_cast<size_t>(field)) * 0x9e3779b97f4a7c15u;
  return h ^ (h >> 32);
}

// All loads of an iteration come before its stores, but for those of local memory.
bool KernelBuilder::is_pure(const TapeNode& n) const {
  if (n.prim == Prim::kLoad) return n.imm >= 0 && !kernel_.buffers[n.imm].written;
  return n.prim < Prim::kLoopBegin;
}

int32_t KernelBuilder::push(TapeNode node) {
  if (!is_pure(node)) return TapeBuilder::push(node);
  for (const Scope& s : scopes_)
    if (auto it = s.seen.find(node); it != s.seen.end()) return it->second;
  const int32_t id = TapeBuilder::push(node);
  scopes_.back().seen.emplace(node, id);
  return id;
}

}  // namespace armillary::kernels
