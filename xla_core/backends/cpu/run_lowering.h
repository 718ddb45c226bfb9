// Runs one lowered instruction on literals, for tests.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <string>
#include <vector>

#include "xla_core/backends/cpu/jit.h"
#include "xla_core/hlo/module.h"
#include "xla_core/hlo/text.h"
#include "xla_core/interp/interpreter.h"
#include "xla_core/kernels/lower.h"

namespace armillary::cpu {

inline Jit& test_jit() {
  static Jit jit;
  return jit;
}

// The leaves of the result. Each kernel's range is cut in three, so that cuts must not matter. With `share`,
// a result takes over the memory of the first operand that allows it.
inline std::vector<Literal> run_lowering(const Instruction& instr, const std::vector<Literal>& operands,
                                         bool share = false) {
  const kernels::Lowering lowering = kernels::lower_fusion(instr);
  std::vector<Literal> inputs, results;
  for (const Literal& x : operands) inputs.push_back(x.clone());
  for (const Shape* leaf : leaves_of(instr.shape())) {
    Literal result(leaf->without_layout());
    const int64_t number = static_cast<int64_t>(results.size());
    const auto in_place = kernels::in_place_operand(instr, number);
    if (in_place) std::memcpy(result.bytes(), operands[*in_place].bytes(), result.size_bytes());
    std::vector<bool> taken(inputs.size());
    for (size_t o = 0; o < inputs.size() && share; ++o) {
      if (in_place ? *in_place != static_cast<int64_t>(o) : !kernels::may_share(instr, o, number)) continue;
      bool used = false;
      for (const Literal& r : results) used |= r.bytes() == inputs[o].bytes();
      if (used) continue;
      result = Literal::view(leaf->without_layout(), inputs[o].bytes(), std::make_shared<Literal>(inputs[o]));
      break;
    }
    results.push_back(result);
  }
  std::vector<std::vector<std::byte>> scratch;
  for (int64_t bytes : lowering.scratch_bytes) scratch.emplace_back(bytes, std::byte{0xcd});
  std::vector<Kernel> kernels;
  for (const auto& k : lowering.kernels) kernels.push_back(k.kernel);
  const auto functions = test_jit().compile(kernels);
  for (size_t k = 0; k < kernels.size(); ++k) {
    std::vector<std::byte*> pointers;
    for (const kernels::BufferRef& r : lowering.kernels[k].buffers) {
      using R = kernels::BufferRef;
      pointers.push_back(r.kind == R::kOperand  ? inputs[r.index].bytes()
                         : r.kind == R::kResult ? results[r.index].bytes()
                         : r.kind == R::kConstant
                             ? const_cast<std::byte*>(lowering.constants[r.index]->bytes())
                             : scratch[r.index].data());
    }
    const int64_t extent = kernels[k].extent, third = extent / 3;
    functions[k](pointers.data(), 2 * third, extent);
    functions[k](pointers.data(), 0, third);
    functions[k](pointers.data(), third, 2 * third);
  }
  return results;
}

// Deterministic numbers of a dtype; edge values now and then.
inline Literal random_literal(const Shape& shape, uint64_t seed, double scale = 2) {
  Literal x(shape.without_layout());
  uint64_t state = seed * 0x9e3779b97f4a7c15u + 1;
  auto next = [&] {
    state ^= state << 13, state ^= state >> 7, state ^= state << 17;
    return state;
  };
  for (int64_t i = 0; i < x.size(); ++i) {
    const double uniform = static_cast<double>(next() >> 11) * 0x1p-53;
    if (is_complex(x.dtype()))
      x.set_complex(
          i, {scale * (2 * uniform - 1), scale * (2 * (static_cast<double>(next() >> 11) * 0x1p-53) - 1)});
    else if (is_float(x.dtype()))
      x.set_double(i, scale * (2 * uniform - 1));
    else if (is_pred(x.dtype()))
      x.set_int(i, next() & 1);
    else
      x.set_int(i, is_unsigned(x.dtype()) ? static_cast<int64_t>(next() % 10)
                                          : static_cast<int64_t>(next() % 19) - 9);
  }
  return x;
}

inline void expect_close(const Literal& got, const Literal& want, double relative, const std::string& what,
                         double absolute = 0) {
  ASSERT_EQ(got.size(), want.size()) << what;
  int bad = 0;
  for (int64_t i = 0; i < got.size() && bad < 5; ++i) {
    std::complex<double> g, w;
    if (is_complex(got.dtype()))
      g = got.get_complex(i), w = want.get_complex(i);
    else if (is_float(got.dtype()))
      g = got.get_double(i), w = want.get_double(i);
    else if (got.get_int(i) != want.get_int(i)) {
      ADD_FAILURE() << what << " [" << i << "]: " << got.get_int(i) << ", want " << want.get_int(i), ++bad;
      continue;
    } else
      continue;
    for (auto [a, b] : {std::pair(g.real(), w.real()), std::pair(g.imag(), w.imag())}) {
      const bool same =
          a == b || (std::isnan(a) && std::isnan(b)) ||
          std::abs(a - b) <= relative * (std::abs(b) + std::abs(w)) + relative * 1e-3 + absolute;
      if (!same) ADD_FAILURE() << what << " [" << i << "]: " << a << ", want " << b, ++bad;
    }
  }
}

// The entry's root, on random arguments, against the interpreter.
inline void check_module(const std::string& text, double relative = 1e-6, double absolute = 0) {
  const auto module = parse(text);
  const Instruction* root = module->entry()->root();
  std::string why;
  ASSERT_TRUE(kernels::can_lower(*root, &why)) << why << "\n" << text;
  for (bool share : {false, true}) {
    std::vector<Literal> arguments, operands;
    for (const Instruction* p : module->entry()->parameters())
      arguments.push_back(random_literal(p->shape(), p->parameter_number() + 1));
    for (const Instruction* o : root->operands()) {
      if (o->is(Op::parameter))
        operands.push_back(arguments[o->parameter_number()]);
      else
        operands.push_back(o->literal().clone());
    }
    Literal want = evaluate(*module, arguments);
    const std::vector<Literal> got = run_lowering(*root, operands, share);
    const std::vector<Literal> wants = want.is_tuple() ? want.tuple() : std::vector<Literal>{want};
    ASSERT_EQ(got.size(), wants.size());
    for (size_t i = 0; i < got.size(); ++i)
      expect_close(got[i], wants[i], relative, text.substr(0, 300) + " leaf " + std::to_string(i), absolute);
  }
}

}  // namespace armillary::cpu
