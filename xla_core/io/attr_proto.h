// Attributes <-> the fields of HloInstructionProto: one codec an attribute; which ones an instruction carries
// is said by its row.
#pragma once

#include <optional>
#include <span>

#include "xla_core/hlo/instruction.h"
#include "xla_core/io/hlo.pb.h"

namespace armillary {

// What reading an attribute may look at.
struct AttrSource {
  const proto::HloInstructionProto& p;
  Op op;
  std::span<Instruction* const> operands;
  bool required;  // the row demands it: its default is a value, too
};

struct AttrSink {
  proto::HloInstructionProto* p;
  const Instruction& at;
};

struct AttrCodec {
  Attr attr;
  std::optional<AttrValue> (*read)(const AttrSource&);  // nullopt: absent
  void (*write)(const AttrSink&, const AttrValue&);
};

// Plain numbers, flags, names and lists; structures; attributes kept as text.
std::span<const AttrCodec> number_codecs();
std::span<const AttrCodec> structure_codecs();
std::span<const AttrCodec> text_codecs();

// Everything but callees, which need the module around them.
Attrs attrs_from_proto(const proto::HloInstructionProto& p, Op op, std::span<Instruction* const> operands);
void attrs_to_proto(const Instruction& instruction, proto::HloInstructionProto* p);

}  // namespace armillary
