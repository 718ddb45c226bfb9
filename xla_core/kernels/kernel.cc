#include "xla_core/kernels/kernel.h"

#include <fmt/format.h>

namespace armillary {
namespace {

void append_bytes(std::string& key, const void* data, size_t size) {
  key.append(static_cast<const char*>(data), size);
}

void append_buffers(std::string& key, const std::vector<KernelBuffer>& buffers) {
  for (const KernelBuffer& b : buffers) {
    key.push_back(static_cast<char>(b.dtype));
    key.push_back(b.written ? 'w' : b.may_share ? 's' : 'r');
    append_bytes(key, &b.elements, sizeof b.elements);
  }
  key.push_back('|');
}

std::string buffer_name(int64_t number) {
  return number < 0 ? fmt::format("local{}", -1 - number) : fmt::format("b{}", number);
}

std::string describe(const TapeNode& n) {
  std::string text = fmt::format("{} {}", to_string(n.prim), to_string(n.dtype));
  for (int32_t operand : {n.a, n.b, n.c})
    if (operand >= 0) text += fmt::format(" %{}", operand);
  if (n.prim == Prim::kLoad || n.prim == Prim::kStore)
    return text + " " + buffer_name(n.imm) + (n.part ? ".im" : "");
  if (n.prim == Prim::kConst && is_float(n.dtype))
    return text + fmt::format(" {:#x}", static_cast<uint64_t>(n.imm));
  if (n.imm != 0 || n.prim == Prim::kConst || n.prim == Prim::kIndex) text += fmt::format(" {}", n.imm);
  if (n.prim == Prim::kLoopBegin && n.part) text += " lanes";
  return text;
}

}  // namespace

// The extent is not part of it: the range comes with each call.
std::string Kernel::structural_key() const {
  std::string key;
  key.reserve(body.nodes.size() * 24 + 64);
  append_buffers(key, buffers);
  append_buffers(key, locals);
  for (const TapeNode& n : body.nodes) {
    const char head[3] = {static_cast<char>(n.prim), static_cast<char>(n.dtype), static_cast<char>(n.part)};
    append_bytes(key, head, sizeof head);
    for (int32_t operand : {n.a, n.b, n.c}) append_bytes(key, &operand, sizeof operand);
    append_bytes(key, &n.imm, sizeof n.imm);
  }
  return key;
}

std::string to_string(const Kernel& kernel) {
  std::string text =
      fmt::format("kernel {} extent={} work={}\n", kernel.name, kernel.extent, kernel.work_per_iteration);
  for (size_t i = 0; i < kernel.buffers.size(); ++i) {
    const KernelBuffer& b = kernel.buffers[i];
    text += fmt::format("  b{} {}[{}]{}\n", i, to_string(b.dtype), b.elements, b.written ? " written" : "");
  }
  for (size_t i = 0; i < kernel.locals.size(); ++i)
    text +=
        fmt::format("  local{} {}[{}]\n", i, to_string(kernel.locals[i].dtype), kernel.locals[i].elements);
  int depth = 1;
  for (size_t i = 0; i < kernel.body.nodes.size(); ++i) {
    const TapeNode& n = kernel.body.nodes[i];
    if (n.prim == Prim::kLoopEnd || n.prim == Prim::kIfEnd || n.prim == Prim::kElse) --depth;
    text += fmt::format("{:{}}%{} = {}\n", "", depth * 2, i, describe(n));
    if (n.prim == Prim::kLoopBegin || n.prim == Prim::kIfBegin || n.prim == Prim::kElse) ++depth;
  }
  return text;
}

}  // namespace armillary
