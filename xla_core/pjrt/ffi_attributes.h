// The attributes of a typed custom call, as a handler reads them.
#pragma once

#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "xla/ffi/api/c_api.h"
#include "xla_core/shape/literal.h"

namespace armillary::pjrt {

XLA_FFI_DataType ffi_type(DType dtype);

// From `{a = 1 : i32, b = "x", c = array<i64: 1, 2>, d = dense<[1, 2]> : tensor<2xf32>, e = {f = true}}`.
class FfiAttributes {
 public:
  explicit FfiAttributes(std::string_view text);  // empty text: no attributes
  FfiAttributes(const FfiAttributes&) = delete;
  FfiAttributes& operator=(const FfiAttributes&) = delete;

  const XLA_FFI_Attrs& attrs() const { return attrs_; }

 private:
  friend class FfiAttributeReader;
  // Each lives in a deque, so that what points to it stays right.
  std::deque<std::string> texts_;
  std::deque<XLA_FFI_ByteSpan> spans_;
  std::deque<Literal> values_;
  std::deque<XLA_FFI_Scalar> scalars_;
  std::deque<XLA_FFI_Array> arrays_;
  std::deque<XLA_FFI_Attrs> dictionaries_;
  std::deque<std::vector<XLA_FFI_AttrType>> types_;
  std::deque<std::vector<XLA_FFI_ByteSpan*>> names_;
  std::deque<std::vector<void*>> pointers_;
  XLA_FFI_Attrs attrs_ = {};
};

}  // namespace armillary::pjrt
