// Rows that move values between memories, and between the program and the outside.
#include "xla_core/ops/rows.h"

namespace armillary {
namespace {

Shape copy_start_shape(const OpContext& c) {
  check_signature(Op::copy_start, c);
  const Shape x = c.operand(0).without_layout();
  return Shape::make_tuple({x, x, Shape::scalar(DType::kU32)});
}

template <Op kOp>
const Shape& tuple_operand(const OpContext& c, size_t elements) {
  check_signature(kOp, c);
  if (!c.operand(0).is_tuple() || c.operand(0).tuple.size() < elements)
    throw user_error("operand 0 is {}, but {} needs what its start gives", to_string(c.operand(0)),
                     to_string(kOp));
  return c.operand(0);
}

Shape copy_done_shape(const OpContext& c) {
  return tuple_operand<Op::copy_done>(c, 2).tuple[0].without_layout();
}

Shape send_shape(const OpContext& c) {
  check_signature(Op::send, c);
  need_token(Op::send, c, 1);
  return Shape::make_tuple({c.operand(0).without_layout(), Shape::scalar(DType::kU32), Shape::token()});
}
Shape send_done_shape(const OpContext& c) {
  tuple_operand<Op::send_done>(c, 3);
  return Shape::token();
}

Shape recv_shape(const OpContext& c) {
  check_signature(Op::recv, c);
  need_token(Op::recv, c, 0);
  const Shape& result = stated_shape(Op::recv, c);
  if (!result.is_tuple() || result.tuple.size() != 3 || !result.tuple[2].is_token())
    throw user_error("recv gives {}, but must give (data, u32[], token[])", to_string(result));
  return result.without_layout();
}
Shape recv_done_shape(const OpContext& c) {
  return Shape::make_tuple({tuple_operand<Op::recv_done>(c, 3).tuple[0].without_layout(), Shape::token()});
}

Shape infeed_shape(const OpContext& c) {
  check_signature(Op::infeed, c);
  need_token(Op::infeed, c, 0);
  const Shape& result = stated_shape(Op::infeed, c);
  if (!result.is_tuple() || result.tuple.size() != 2 || !result.tuple[1].is_token())
    throw user_error("infeed gives {}, but must give (data, token[])", to_string(result));
  return result.without_layout();
}
Shape outfeed_shape(const OpContext& c) {
  check_signature(Op::outfeed, c);
  need_token(Op::outfeed, c, 1);
  return Shape::token();
}

}  // namespace

std::vector<OpDef> transfer_rows() {
  const std::vector<Attr> channel = {Attr::channel_id, Attr::is_host_transfer};
  constexpr uint32_t outside = kHasEffect | kCannotRun;
  return {
      {.op = Op::copy_start,
       .arity = 1,
       .traits = kAsyncStart,
       .optional = {Attr::cross_program_prefetch_index},
       .doc = "Starts a copy between memories: (target, source, context).",
       .infer = copy_start_shape},
      {.op = Op::copy_done,
       .arity = 1,
       .traits = kAsyncDone,
       .doc = "Waits for a copy.",
       .infer = copy_done_shape},
      {.op = Op::send,
       .stablehlo = "send",
       .arity = 2,
       .traits = outside | kAsyncStart,
       .optional = channel,
       .doc = "Starts to send operand 0 over a channel.",
       .infer = send_shape},
      {.op = Op::send_done,
       .arity = 1,
       .traits = outside | kAsyncDone,
       .optional = channel,
       .doc = "Waits for a send.",
       .infer = send_done_shape},
      {.op = Op::recv,
       .stablehlo = "recv",
       .arity = 1,
       .traits = outside | kAsyncStart | kNeedsShape,
       .optional = channel,
       .doc = "Starts to receive a value over a channel.",
       .infer = recv_shape},
      {.op = Op::recv_done,
       .arity = 1,
       .traits = outside | kAsyncDone,
       .optional = channel,
       .doc = "Waits for a value and gives it with a token.",
       .infer = recv_done_shape},
      {.op = Op::infeed,
       .stablehlo = "infeed",
       .arity = 1,
       .traits = outside | kNeedsShape,
       .optional = {Attr::infeed_config},
       .doc = "Takes a value from the host's queue.",
       .infer = infeed_shape},
      {.op = Op::outfeed,
       .stablehlo = "outfeed",
       .arity = 2,
       .traits = outside,
       .optional = {Attr::outfeed_config, Attr::outfeed_shape},
       .doc = "Gives a value to the host's queue.",
       .infer = outfeed_shape},
  };
}

}  // namespace armillary
