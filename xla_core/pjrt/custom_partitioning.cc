#include "xla_core/pjrt/custom_partitioning.h"

#include <atomic>

#include "xla_core/client/host_hooks.h"
#include "xla_core/io/device_proto.h"
#include "xla_core/io/proto.h"
#include "xla_core/io/shape_proto.h"
#include "xla_core/pjrt/custom_partitioner.h"
#include "xla_core/pjrt/executable.h"
#include "xla_core/pjrt/extensions.h"

namespace armillary::pjrt {
namespace {

// Those of custom_partitioning; kept for good, since a program may be compiled beside a second registration.
std::atomic<rules::Callbacks*> callbacks = nullptr;

void register_rules(rules::Register& args) {
  if (text(args.name, args.name_size) == kCustomPartitioning) callbacks = args.callbacks;
}

// Calls that work on each batch alone say so themselves, with num_batch_dims.
void register_batches(rules::RegisterBatches&) {}

rules::Callbacks& registered() {
  rules::Callbacks* found = callbacks;
  if (found == nullptr) throw unsupported_error("nobody has registered rules for {}", kCustomPartitioning);
  return *found;
}

rules::Bytes bytes_of(const std::string& s) { return {s.data(), s.size()}; }
std::string_view view(const rules::Bytes& b) { return text(b.data, b.size); }

std::string shape_bytes(const Shape& shape) {
  Shape laid_out = shape;
  for (Shape& element : laid_out.tuple) element.layout = Layout::row_major(element.rank());
  if (!laid_out.is_tuple()) laid_out.layout = Layout::row_major(laid_out.rank());
  proto::ShapeProto p;
  shape_to_proto(laid_out, &p);
  return p.SerializeAsString();
}

std::string sharding_bytes(const std::string& text) {
  proto::OpSharding p;
  sharding_from_text(text, &p);
  return p.SerializeAsString();
}

std::string sharding_of(const rules::Bytes& bytes) {
  proto::OpSharding p;
  if (bytes.size > INT32_MAX || !p.ParseFromArray(bytes.data, static_cast<int>(bytes.size)))
    throw user_error("a partitioning rule answers with {} bytes that are no OpSharding", bytes.size);
  return sharding_text(p);
}

// backend_config as Python knows it.
std::string config_of(const std::string& raw) {
  const bool is_quoted = raw.size() >= 2 && raw.front() == '"' && raw.back() == '"';
  return is_quoted ? raw.substr(1, raw.size() - 2) : raw;
}

// The question's strings, and its operands.
struct Question {
  explicit Question(const PartitioningRules::Call& call)
      : config(config_of(call.config)), result(shape_bytes(call.result)) {
    for (size_t k = 0; k < call.operands.size(); ++k) {
      shapes.push_back(shape_bytes(call.operands[k]));
      shardings.push_back(sharding_bytes(call.operand_shardings[k]));
    }
    for (size_t k = 0; k < shapes.size(); ++k)
      operands.push_back({bytes_of(shapes[k]), true, bytes_of(shardings[k])});
  }
  std::string config, result;
  std::vector<std::string> shapes, shardings;
  std::vector<rules::Value> operands;
};

// What the answer points to lives as long as this.
class Cleaner {
 public:
  explicit Cleaner(rules::Head& head) : head_(head) {}
  ~Cleaner() {
    if (head_.clean_up != nullptr) head_.clean_up(head_.data);
  }
  Cleaner(const Cleaner&) = delete;
  Cleaner& operator=(const Cleaner&) = delete;
  void check() const {
    if (head_.has_error)
      throw CodedError(std::make_shared<Failure>(Failure{head_.code, std::string(view(head_.message))}));
  }

 private:
  rules::Head& head_;
};

std::string ask_partition(const PartitioningRules::Call& call, const std::string& result_sharding) {
  Question q(call);
  const std::string wanted = sharding_bytes(result_sharding);
  rules::Partition asked = {};
  asked.num_operands = q.operands.size();
  asked.operands = q.operands.data();
  asked.result = {bytes_of(q.result), true, bytes_of(wanted)};
  asked.config = bytes_of(q.config);
  rules::Callbacks& rule = registered();
  rule.partition(&rule, &asked);
  const Cleaner cleaner(asked.head);
  cleaner.check();
  if (!host_hooks().hlo_of_stablehlo) throw unsupported_error("StableHLO can be read only where Python is");
  std::vector<std::string> parts = {host_hooks().hlo_of_stablehlo(view(asked.program)),
                                    sharding_of(asked.result_sharding)};
  for (size_t k = 0; k < asked.num_operands; ++k) parts.push_back(sharding_of(asked.operand_shardings[k]));
  return join_parts(parts);
}

std::string ask_infer(const PartitioningRules::Call& call) {
  Question q(call);
  rules::Infer asked = {};
  asked.num_operands = q.operands.size();
  asked.operands = q.operands.data();
  asked.result_shape = bytes_of(q.result);
  asked.config = bytes_of(q.config);
  rules::Callbacks& rule = registered();
  rule.infer(&rule, &asked);
  const Cleaner cleaner(asked.head);
  cleaner.check();
  return sharding_of(asked.result_sharding);
}

std::string ask_propagate(const PartitioningRules::Call& call, const std::string& wanted) {
  Question q(call);
  const std::string sharding = sharding_bytes(wanted);
  rules::Propagate asked = {};
  asked.config = bytes_of(q.config);
  asked.result_shape = bytes_of(q.result);
  asked.result_sharding = bytes_of(sharding);
  rules::Callbacks& rule = registered();
  rule.propagate(&rule, &asked);
  const Cleaner cleaner(asked.head);
  cleaner.check();
  return sharding_of(asked.result_sharding);
}

}  // namespace

template <class Ask>
std::string AskedRules::answer(Ask ask) {
  if (!given_.empty() && next_ >= given_.size())
    throw user_error(
        "the executable was serialized with fewer answers of partitioning rules than it asks for");
  answers_.push_back(given_.empty() ? ask() : given_[next_++]);
  return answers_.back();
}

PartitioningRules::Answer AskedRules::partition(const Call& call, const std::string& result_sharding) {
  std::vector<std::string> parts = split_parts(answer([&] { return ask_partition(call, result_sharding); }));
  if (parts.size() < 2) throw user_error("a damaged executable");
  return {from_proto(parts[0]), {parts.begin() + 2, parts.end()}, parts[1]};
}

std::string AskedRules::infer(const Call& call) {
  return answer([&] { return ask_infer(call); });
}

std::string AskedRules::propagate(const Call& call, const std::string& wanted) {
  return answer([&] { return ask_propagate(call, wanted); });
}

PJRT_Extension_Base* custom_partitioner_extension(PJRT_Extension_Base* next) {
  static rules::Extension extension = {
      {sizeof(rules::Extension), PJRT_Extension_Type_Custom_Partitioner, next},
      guard<register_rules>,
      guard<register_batches>};
  return &extension.base;
}

}  // namespace armillary::pjrt
