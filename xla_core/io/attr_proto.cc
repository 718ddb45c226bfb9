#include "xla_core/io/attr_proto.h"

#include <array>

namespace armillary {
namespace {

constexpr size_t kNumAttrs = 0
#define ARM_ATTR(id, text, kind) +1
#include "xla_core/ops/attr.def"
#undef ARM_ATTR
    ;

const AttrCodec* codec_of(Attr attr) {
  static const std::array<const AttrCodec*, kNumAttrs> index = [] {
    std::array<const AttrCodec*, kNumAttrs> by_attr{};
    for (auto table : {number_codecs(), structure_codecs(), text_codecs()})
      for (const AttrCodec& codec : table) by_attr[static_cast<size_t>(codec.attr)] = &codec;
    return by_attr;
  }();
  return index[static_cast<size_t>(attr)];
}

// The attributes every instruction may carry.
constexpr Attr kCommon[] = {
    Attr::sharding, Attr::frontend_attributes, Attr::statistics,     Attr::parameter_replication,
    Attr::origin,   Attr::backend_config,      Attr::result_accuracy};

}  // namespace

Attrs attrs_from_proto(const proto::HloInstructionProto& p, Op op, std::span<Instruction* const> operands) {
  Attrs attrs;
  auto read = [&](Attr attr, bool required) {
    const AttrCodec* codec = codec_of(attr);
    if (codec == nullptr) return;
    if (auto value = codec->read({p, op, operands, required})) attrs.set(attr, std::move(*value));
  };
  for (Attr attr : kCommon) read(attr, false);
  for (Attr attr : def(op).optional) read(attr, false);
  for (Attr attr : def(op).attrs) read(attr, true);
  return attrs;
}

void attrs_to_proto(const Instruction& instruction, proto::HloInstructionProto* p) {
  for (const auto& [attr, value] : instruction.attrs())
    if (const AttrCodec* codec = codec_of(attr)) codec->write({p, instruction}, value);
}

}  // namespace armillary
