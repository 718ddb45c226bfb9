// The binary interface of PJRT's custom partitioner extension: how a host hands over the partitioning rules
// of its custom calls. Of this extension no wheel carries the header.
#pragma once

#include <cstddef>
#include <cstdint>

#include "xla/pjrt/c/pjrt_c_api.h"

namespace armillary::pjrt::rules {

// Serialized protos: a ShapeProto, an OpSharding.
struct Bytes {
  const char* data;
  size_t size;
};

struct Value {
  Bytes shape;
  bool has_sharding;
  Bytes sharding;
};

// At the head of each question. What the answer points to lives until `clean_up(data)`.
struct Head {
  int64_t version;
  void* data;
  void (*clean_up)(void* data);
  bool has_error;
  PJRT_Error_Code code;
  Bytes message;
};

struct Partition {
  Head head;
  size_t num_operands;
  Value* operands;
  Value result;
  Bytes config;
  // The answer: StableHLO's bytecode.
  Bytes program;
  Bytes* operand_shardings;
  Bytes result_sharding;
};

struct Infer {
  Head head;
  size_t num_operands;
  Value* operands;
  Bytes result_shape;
  Bytes config;
  // The answer.
  bool has_result_sharding;
  Bytes result_sharding;
};

struct Propagate {
  Head head;
  Bytes config;
  Bytes result_shape;
  Bytes result_sharding;  // as a user wants it; then as the rule does
};

struct Callbacks {
  int64_t version;
  void* data;
  void (*destroy)(Callbacks*);
  void (*partition)(Callbacks*, Partition*);
  void (*infer)(Callbacks*, Infer*);
  void (*propagate)(Callbacks*, Propagate*);
  bool may_replicate_effects;
};

struct Register {
  size_t struct_size;
  const char* name;
  size_t name_size;
  Callbacks* callbacks;
};

struct RegisterBatches {
  size_t struct_size;
  const char* name;
  size_t name_size;
};

struct Extension {
  PJRT_Extension_Base base;
  PJRT_Error* (*register_rules)(Register*);
  PJRT_Error* (*register_batches)(RegisterBatches*);
};

}  // namespace armillary::pjrt::rules
