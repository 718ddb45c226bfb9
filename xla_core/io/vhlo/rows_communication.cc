// Operations in which devices meet, or the program meets the outside.
#include "xla_core/io/vhlo/op_import.h"
#include "xla_core/io/vhlo/shardings.h"

namespace armillary::vhlo {
namespace {

std::string lists_text(const std::vector<Dims>& lists) {
  std::string out = "{";
  for (const Dims& list : lists) {
    if (out.size() > 1) out += ',';
    out += fmt::format("{{{}}}", fmt::join(list, ","));
  }
  return out + "}";
}

// Short groups are filled up with -1.
std::vector<Dims> groups_of(const Attribute& a) {
  std::vector<Dims> groups = rows_of(a);
  for (Dims& group : groups) std::erase(group, -1);
  if (groups.size() == 1 && groups[0].empty()) groups.clear();
  return groups;
}

// As HLO writes them: mesh['a'=2,'b'=4], device_ids=(...) {'a','b':(2)2}.
std::string mesh_groups_text(const Attribute& groups, const Meshes& meshes) {
  const Attribute& mesh = mesh_of(*groups.items[0], meshes);
  std::vector<std::string> axes, used;
  for (const Attribute* axis : mesh.items) axes.push_back(fmt::format("'{}'={}", axis->text, axis->number));
  for (size_t i = 1; i < groups.items.size(); ++i) {
    const Attribute& axis = *groups.items[i];
    used.push_back(fmt::format("'{}'", axis.text));
    if (!axis.items.empty())
      used.back() += fmt::format(":({}){}", axis.items[0]->numbers[0], axis.items[0]->numbers[1]);
  }
  std::string text = fmt::format("mesh[{}]", fmt::join(axes, ","));
  if (!mesh.numbers.empty()) text += fmt::format(", device_ids=({})", fmt::join(mesh.numbers, ","));
  return fmt::format("{} {{{}}}", text, fmt::join(used, ","));
}

std::string groups_text(const OpImport& at, const Attribute& groups) {
  return groups.kind == AttributeKind::kMeshGroups ? mesh_groups_text(groups, at.meshes())
                                                   : lists_text(groups_of(groups));
}

void set_channel(OpImport& at, Attrs& attrs) {
  const Attribute* channel = at.find("channel_id");
  if (channel != nullptr && integer_of(*channel) > 0) attrs.set(Attr::channel_id, integer_of(*channel));
}

Attrs collective(OpImport& at) {
  Attrs attrs;
  attrs.set(Attr::replica_groups, RawText{groups_text(at, at.attribute("replica_groups")), false});
  set_channel(at, attrs);
  if (at.flag("use_global_device_ids")) attrs.set(Attr::use_global_device_ids, true);
  return attrs;
}

void all_gather(OpImport& at) {
  Attrs attrs = collective(at);
  attrs.set(Attr::dimensions, Dims{at.integer("all_gather_dim")});
  at.give_elements(at.emit(Op::all_gather, at.tuple_shape(), at.operands(), std::move(attrs)));
}

void all_reduce(OpImport& at) {
  Attrs attrs = collective(at);
  attrs.set(Attr::to_apply, at.importer().region(at.region(0)));
  at.give_elements(at.emit(Op::all_reduce, at.tuple_shape(), at.operands(), std::move(attrs)));
}

void reduce_scatter(OpImport& at) {
  Attrs attrs = collective(at);
  attrs.set(Attr::dimensions, Dims{at.integer("scatter_dimension")});
  attrs.set(Attr::to_apply, at.importer().region(at.region(0)));
  at.give(at.emit(Op::reduce_scatter, at.shape(), at.operands(), std::move(attrs)));
}

// HLO exchanges along one dimension; parts that are joined along another are moved there.
void all_to_all(OpImport& at) {
  Attrs attrs = collective(at);
  if (at.num_operands() != 1)
    return at.give_elements(at.emit(Op::all_to_all, at.tuple_shape(), at.operands(), std::move(attrs)));
  const int64_t split = at.integer("split_dimension"), concat = at.integer("concat_dimension"),
                count = at.integer("split_count");
  Instruction* x = at.operand(0);
  const Shape shape = x->shape();
  if (split < 0 || split >= shape.rank() || concat < 0 || concat >= shape.rank() || count < 1 ||
      shape.dims[split] % count != 0)
    throw user_error("{} cannot be split in {} along {} and joined along {}", to_string(shape), count, split,
                     concat);
  attrs.set(Attr::dimensions, Dims{split});
  x = at.emit(Op::all_to_all, shape, {x}, std::move(attrs));
  if (split == concat) return at.give(x);
  Shape parts(shape.dtype, {});
  Dims order;
  for (int64_t d = 0; d < shape.rank(); ++d) {
    if (d == split) parts.dims.push_back(count);
    parts.dims.push_back(d == split ? shape.dims[d] / count : shape.dims[d]);
    if (d == concat) order.push_back(split);
    order.push_back(d >= split ? d + 1 : d);
  }
  x = at.emit(Op::reshape, parts, {x});
  Shape moved(shape.dtype, {});
  for (int64_t d : order) moved.dims.push_back(parts.dims[d]);
  Attrs transpose;
  transpose.set(Attr::dimensions, std::move(order));
  x = at.emit(Op::transpose, std::move(moved), {x}, std::move(transpose));
  at.give(at.emit(Op::reshape, at.shape(), {x}));
}

void collective_permute(OpImport& at) {
  Attrs attrs;
  attrs.set(Attr::source_target_pairs,
            RawText{lists_text(rows_of(at.attribute("source_target_pairs"))), false});
  set_channel(at, attrs);
  at.give(at.emit(Op::collective_permute, at.shape(), at.operands(), std::move(attrs)));
}

void collective_broadcast(OpImport& at) {
  at.give_elements(at.emit(Op::collective_broadcast, at.tuple_shape(), at.operands(), collective(at)));
}

// The start or the done of a collective, whose rows name it.
std::optional<Op> half_of(Op whole, Trait half) {
  for (const OpDef& op : all_ops())
    if (op.whole == whole && op.has(half)) return op.op;
  return {};
}

// The region's only operation, when it takes just what the region takes.
const Instruction* only_collective(const Computation& region) {
  const Instruction* root = region.root();
  const bool only = root->num_operands() == 1 && root->operand(0)->is(Op::parameter) && region.size() == 2;
  return only && root->shape().is_array() ? root : nullptr;
}

// Collectives whose beginning and end are ops of their own are those; the rest is a computation that starts.
void async_start(OpImport& at) {
  Computation* started = at.importer().region(at.region(0));
  const Instruction* root = only_collective(*started);
  const auto start =
      root != nullptr && at.num_operands() == 1 ? half_of(root->op(), kAsyncStart) : std::nullopt;
  if (start) {
    const bool gives_operand = !root->is(Op::all_reduce);
    Shape shape = gives_operand ? Shape::make_tuple({at.operand(0)->shape(), root->shape()}) : root->shape();
    Attrs attrs = root->attrs();
    if (root->is(Op::all_gather)) attrs.set(Attr::constrain_layout, true);  // as the converter has it
    at.give(at.emit(*start, std::move(shape), at.operands(), std::move(attrs)));
    return;  // the region's computation is called by nobody, and goes with the others of that kind
  }
  std::vector<Shape> operands;
  for (const Instruction* i : at.operands()) operands.push_back(i->shape());
  Attrs attrs;
  attrs.set(Attr::calls, std::vector<Computation*>{started});
  Shape shape = Shape::make_tuple({Shape::make_tuple(std::move(operands)), started->root()->shape()});
  at.give(at.emit(Op::async_start, std::move(shape), at.operands(), std::move(attrs)));
}

void async_done(OpImport& at) {
  Instruction* start = at.operand(0);
  if (const std::optional<Op> whole = start->def().whole)
    return at.give(at.emit(*half_of(*whole, kAsyncDone), at.shape(), {start}));
  if (!start->is(Op::async_start)) throw unsupported_error("a future that does not come from an async_start");
  at.give_elements(at.emit(Op::async_done, start->shape().tuple[1], {start}));
}

template <Op kOp>
void plain(OpImport& at) {
  at.give(at.emit(kOp, at.shape(), at.operands()));
}

// The data is an array where there is one, a tuple where there are more; the token comes last.
Shape data_shape(const OpImport& at, bool always_tuple) {
  if (at.num_results() == 0) throw user_error("it gives no token");
  std::vector<Shape> shapes;
  for (int i = 0; i + 1 < at.num_results(); ++i) shapes.push_back(at.shape(i));
  return shapes.size() == 1 && !always_tuple ? shapes[0] : Shape::make_tuple(std::move(shapes));
}

void give_data_and_token(OpImport& at, Instruction* both, bool one_is_plain) {
  const int data = at.num_results() - 1;
  if (data > 0) {
    Instruction* all = at.emit_element(both, 0);
    if (data == 1 && one_is_plain)
      at.give(0, all);
    else
      for (int i = 0; i < data; ++i) at.give(i, at.emit_element(all, i));
  }
  at.give(data, at.emit_element(both, 1));
}

void infeed(OpImport& at) {
  Attrs attrs;
  if (const std::string_view config = at.text("infeed_config"); !config.empty())
    attrs.set(Attr::infeed_config, std::string(config));
  const Shape shape = Shape::make_tuple({data_shape(at, true), Shape::token()});
  give_data_and_token(at, at.emit(Op::infeed, shape, at.operands(), std::move(attrs)), false);
}

void outfeed(OpImport& at) {
  const int data = at.num_operands() - 1;
  Instruction* all = at.emit_tuple(at.operands(0, data));
  Attrs attrs;
  if (const std::string_view config = at.text("outfeed_config"); !config.empty())
    attrs.set(Attr::outfeed_config, std::string(config));
  Shape shape = all->shape();
  for (Shape& element : shape.tuple)
    if (element.is_array()) element.layout = Layout::row_major(element.rank());
  attrs.set(Attr::outfeed_shape, std::move(shape));
  at.give(at.emit(Op::outfeed, Shape::token(), {all, at.operand(data)}, std::move(attrs)));
}

// Who sends to whom goes along as text.
Attrs channel(OpImport& at) {
  Attrs attrs;
  set_channel(at, attrs);
  if (at.flag("is_host_transfer")) attrs.set(Attr::is_host_transfer, true);
  const Attribute* pairs = at.find("source_target_pairs");
  if (pairs != nullptr && pairs->kind == AttributeKind::kTensor && !pairs->data.empty())
    (*at.frontend_attributes.mutable_map())["_xla_send_recv_source_target_pairs"] =
        lists_text(rows_of(*pairs));
  return attrs;
}

void send(OpImport& at) {
  const int data = at.num_operands() - 1;
  Instruction* value = at.emit_one(at.operands(0, data));
  const Attrs attrs = channel(at);
  const Shape shape = Shape::make_tuple({value->shape(), Shape::scalar(DType::kU32), Shape::token()});
  Instruction* start = at.emit(Op::send, shape, {value, at.operand(data)}, attrs);
  at.give(at.emit(Op::send_done, Shape::token(), {start}, attrs));
}

void receive(OpImport& at) {
  const Attrs attrs = channel(at);
  const Shape data = data_shape(at, false);
  const Shape shape = Shape::make_tuple({data, Shape::scalar(DType::kU32), Shape::token()});
  Instruction* start = at.emit(Op::recv, shape, at.operands(), attrs);
  give_data_and_token(at, at.emit(Op::recv_done, Shape::make_tuple({data, Shape::token()}), {start}, attrs),
                      true);
}

}  // namespace

std::vector<OpRow> communication_rows() {
  return {
      {"vhlo", "after_all_v1", {}, plain<Op::after_all>},
      {"vhlo",
       "all_gather_v1",
       {"all_gather_dim", "replica_groups", "channel_id", "use_global_device_ids"},
       all_gather},
      {"vhlo",
       "all_gather_v2",
       {"all_gather_dim", "replica_groups", "channel_id", "use_global_device_ids"},
       all_gather},
      {"vhlo",
       "all_reduce_v1",
       {"replica_groups", "channel_id", "use_global_device_ids"},
       all_reduce,
       Quantized::kMoved},
      {"vhlo",
       "all_reduce_v2",
       {"replica_groups", "channel_id", "use_global_device_ids"},
       all_reduce,
       Quantized::kMoved},
      {"vhlo", "async_done_v1", {}, async_done},
      {"vhlo", "async_start_v1", {}, async_start},
      {"vhlo",
       "all_to_all_v1",
       {"split_dimension", "concat_dimension", "split_count", "replica_groups", "channel_id"},
       all_to_all},
      {"vhlo",
       "all_to_all_v2",
       {"split_dimension", "concat_dimension", "split_count", "replica_groups", "channel_id"},
       all_to_all},
      {"vhlo", "collective_broadcast_v1", {"replica_groups", "channel_id"}, collective_broadcast},
      {"vhlo", "collective_permute_v1", {"source_target_pairs", "channel_id"}, collective_permute},
      {"vhlo", "create_token_v1", {}, plain<Op::after_all>},
      {"vhlo", "infeed_v1", {"infeed_config", "layout"}, infeed},
      {"vhlo", "outfeed_v1", {"outfeed_config"}, outfeed},
      {"vhlo", "partition_id_v1", {}, plain<Op::partition_id>},
      {"vhlo", "recv_v1", {"channel_id", "channel_type", "is_host_transfer"}, receive},
      {"vhlo", "recv_v2", {"channel_id", "channel_type", "is_host_transfer", "source_target_pairs"}, receive},
      {"vhlo",
       "reduce_scatter_v1",
       {"scatter_dimension", "replica_groups", "channel_id", "use_global_device_ids"},
       reduce_scatter,
       Quantized::kMoved},
      {"vhlo", "replica_id_v1", {}, plain<Op::replica_id>},
      {"vhlo", "send_v1", {"channel_id", "channel_type", "is_host_transfer"}, send},
      {"vhlo", "send_v2", {"channel_id", "channel_type", "is_host_transfer", "source_target_pairs"}, send},
  };
}

}  // namespace armillary::vhlo
