// The row of custom-call: code that stands outside the program, found by name.
#include "xla_core/ops/rows.h"

namespace armillary {
namespace {

Shape custom_call_shape(const OpContext& c) {
  check_signature(Op::custom_call, c);
  return stated_shape(Op::custom_call, c).without_layout();
}

// 1: a calling convention that XLA knows.
void custom_call_check(const OpContext& c) {
  const std::string& version = c.attrs.text(Attr::api_version, "API_VERSION_ORIGINAL");
  for (std::string_view known : {"API_VERSION_ORIGINAL", "API_VERSION_STATUS_RETURNING",
                                 "API_VERSION_STATUS_RETURNING_UNIFIED", "API_VERSION_TYPED_FFI"})
    if (version == known) return;
  throw user_error("api_version={} of custom-call is no calling convention", version);
}

}  // namespace

std::vector<OpDef> custom_call_rows() {
  return {
      {.op = Op::custom_call,
       .stablehlo = "custom_call",
       .arity = kVariadic,
       .traits = kNeedsShape | kExpensive | kCallsEmbedded,
       .attrs = {Attr::custom_call_target},
       .optional = {Attr::window, Attr::dim_labels, Attr::feature_group_count, Attr::batch_group_count,
                    Attr::operand_precision, Attr::padding_type, Attr::to_apply, Attr::calls,
                    Attr::called_computations, Attr::api_version, Attr::schedule,
                    Attr::custom_call_has_side_effect, Attr::operand_layout_constraints,
                    Attr::output_to_operand_aliasing, Attr::literal},
       .doc = "Calls a function of the runtime by name.",
       .infer = custom_call_shape,
       .check = custom_call_check},
  };
}

}  // namespace armillary
