// Shardings between wire form and HLO text: tiled (device lists and iota), tuples, and named ones over a
// mesh.
#include <cctype>

#include "xla_core/hlo/scanner.h"
#include "xla_core/io/device_proto.h"
#include "xla_core/io/metadata_proto.h"

namespace armillary {
namespace {

constexpr int kNesting = 100;
using Sharding = proto::OpSharding;

std::string type_text(Sharding::Type type) {
  std::string name = Sharding::Type_Name(type);
  for (char& c : name) c = static_cast<char>(std::tolower(c));
  return name;
}

template <class List>
std::string metadata_list(const List& list) {
  std::string out = "{";
  for (int i = 0; i < list.size(); ++i) out += (i ? ", " : "") + metadata_text(list[i]);
  return out + "}";
}

// ---- Writing text ----

std::string axes_text(const google::protobuf::RepeatedPtrField<proto::AxisRefProto>& axes,
                      const proto::MeshProto& mesh) {
  std::string out;
  for (int i = 0; i < axes.size(); ++i) out += (i ? ", " : "") + axis_text(axes[i], mesh);
  return out;
}

std::string named_text(const proto::NamedShardingProto& p) {
  const proto::MeshProto& mesh = p.mesh();
  std::string tail;
  if (p.metadata_size() > 0) tail = ", metadata=" + metadata_list(p.metadata());
  if (mesh.axes_size() == 0 && mesh.device_ids_size() == 1)
    return fmt::format("{{maximal_mesh[device_id={}]{}}}", mesh.device_ids(0), tail);
  std::string out = "{" + mesh_text(mesh) + ", [";
  for (int d = 0; d < p.dim_shardings_size(); ++d) {
    const auto& dim = p.dim_shardings(d);
    const std::string axes = axes_text(dim.axes(), mesh);
    const std::string_view open = dim.is_closed() ? "" : axes.empty() ? "?" : ", ?";
    out += fmt::format("{}{{{}{}}}", d ? ", " : "", axes, open);
  }
  out += "]";
  if (p.replicated_axes_size() > 0) out += ", replicated={" + axes_text(p.replicated_axes(), mesh) + "}";
  if (p.unreduced_axes_size() > 0) out += ", unreduced={" + axes_text(p.unreduced_axes(), mesh) + "}";
  if (p.manual_axes_size() > 0) out += ", manual={" + axes_text(p.manual_axes(), mesh) + "}";
  return out + tail + "}";
}

std::string tiles_text(const Sharding& p) {
  std::string out = fmt::format("devices=[{}]", fmt::join(p.tile_assignment_dimensions(), ","));
  if (p.iota_reshape_dims_size() > 0) {
    out += fmt::format("<=[{}]", fmt::join(p.iota_reshape_dims(), ","));
    if (p.iota_reshape_dims_size() > 1) out += fmt::format("T({})", fmt::join(p.iota_transpose_perm(), ","));
  } else {
    out += fmt::format("{}", fmt::join(p.tile_assignment_devices(), ","));
  }
  if (p.replicate_on_last_tile_dim()) out += " last_tile_dim_replicate";
  if (p.last_tile_dims_size() > 0) {
    out += " last_tile_dims={";
    for (int i = 0; i < p.last_tile_dims_size(); ++i) out += (i ? ", " : "") + type_text(p.last_tile_dims(i));
    out += "}";
  }
  return out;
}

std::string tuple_text(const Sharding& p) {
  std::string out = "{";
  for (int i = 0; i < p.tuple_shardings_size(); ++i) {
    if (i) out += ", ";
    if (i && i % 5 == 0) out += fmt::format("/*index={}*/", i);
    out += sharding_text(p.tuple_shardings(i));
  }
  return out + "}";
}

// ---- Reading text ----

void read_axes(Scanner& in, const proto::MeshProto& mesh,
               google::protobuf::RepeatedPtrField<proto::AxisRefProto>* axes) {
  in.expect('{', "to open a list of axes");
  in.list('}', "between axes", [&] { read_axis(in, mesh, axes->Add()); });
}

void read_metadata(Scanner& in, google::protobuf::RepeatedPtrField<proto::OpMetadata>* list) {
  const std::string_view text = in.balanced("metadata");
  Scanner inside(text, "metadata", kNesting);
  inside.expect('{', "to open the metadata");
  if (inside.peek() != '{') return metadata_from_text(text, list->Add());
  while (!inside.accept('}')) {
    metadata_from_text(inside.balanced("metadata"), list->Add());
    inside.accept(',');
  }
}

void read_dim(Scanner& in, const proto::MeshProto& mesh, proto::NamedShardingProto::DimensionSharding* dim) {
  dim->set_is_closed(true);
  in.expect('{', "to open the axes of a dimension");
  in.list('}', "between axes", [&] {
    if (in.accept('?'))
      dim->set_is_closed(false);
    else
      read_axis(in, mesh, dim->add_axes());
  });
}

// After the opening brace.
void read_named(Scanner& in, proto::NamedShardingProto* p) {
  if (in.accept("maximal_mesh")) {
    in.expect("[device_id=", "to name the device");
    p->mutable_mesh()->add_device_ids(in.integer("a device"));
    in.expect(']', "after the device");
  } else {
    read_mesh(in, p->mutable_mesh());
    in.expect(',', "after the mesh");
    in.expect('[', "to open the dimensions");
    in.list(']', "between dimensions", [&] { read_dim(in, p->mesh(), p->add_dim_shardings()); });
  }
  while (in.accept(',')) {
    if (in.accept("replicated="))
      read_axes(in, p->mesh(), p->mutable_replicated_axes());
    else if (in.accept("unreduced="))
      read_axes(in, p->mesh(), p->mutable_unreduced_axes());
    else if (in.accept("manual="))
      read_axes(in, p->mesh(), p->mutable_manual_axes());
    else if (in.accept("metadata="))
      read_metadata(in, p->mutable_metadata());
    else
      throw in.expected("replicated, unreduced, manual or metadata");
  }
  in.expect('}', "to close the sharding");
}

void read_tiles(Scanner& in, Sharding* p) {
  p->set_type(Sharding::OTHER);
  in.expect('[', "to open the tile counts");
  for (int64_t d : in.integers(']')) p->add_tile_assignment_dimensions(d);
  if (!in.accept("<=")) {
    do p->add_tile_assignment_devices(in.integer("a device"));
    while (in.accept(','));
    return;
  }
  in.expect('[', "to open the device order");
  for (int64_t d : in.integers(']')) p->add_iota_reshape_dims(d);
  if (in.accept('T')) {
    in.expect('(', "to open the transposition");
    for (int64_t d : in.integers(')')) p->add_iota_transpose_perm(static_cast<int32_t>(d));
  } else {
    for (int i = 0; i < p->iota_reshape_dims_size(); ++i) p->add_iota_transpose_perm(i);
  }
}

void read_last_tile_dims(Scanner& in, Sharding* p) {
  in.expect('{', "to open the kinds of the last tile dimensions");
  in.list('}', "between kinds", [&] {
    std::string name(in.identifier("replicated, manual or unreduced"));
    for (char& c : name) c = static_cast<char>(std::toupper(c));
    Sharding::Type type;
    if (!Sharding::Type_Parse(name, &type)) throw in.expected("replicated, manual or unreduced");
    p->add_last_tile_dims(type);
  });
}

// One word of `{devices=... last_tile_dim_replicate metadata=...}`.
void read_word(Scanner& in, Sharding* p) {
  auto group = [&](Sharding::ShardGroupType type) {
    p->set_is_shard_group(true);
    p->set_shard_group_id(in.integer("the number of a shard group"));
    p->set_shard_group_type(type);
  };
  if (in.accept_keyword("replicated"))
    p->set_type(Sharding::REPLICATED);
  else if (in.accept_keyword("manual"))
    p->set_type(Sharding::MANUAL);
  else if (in.accept_keyword("unknown"))
    p->set_type(Sharding::UNKNOWN);
  else if (in.accept_keyword("unreduced"))
    p->set_type(Sharding::UNREDUCED);
  else if (in.accept_keyword("maximal"))
    p->set_type(Sharding::MAXIMAL), p->add_tile_assignment_dimensions(1);
  else if (in.accept("device="))
    p->add_tile_assignment_devices(in.integer("a device"));
  else if (in.accept("devices="))
    read_tiles(in, p);
  else if (in.accept_keyword("last_tile_dim_replicate"))
    p->set_replicate_on_last_tile_dim(true);
  else if (in.accept("last_tile_dims="))
    read_last_tile_dims(in, p);
  else if (in.accept("metadata="))
    read_metadata(in, p->mutable_metadata());
  else if (in.accept_keyword("shard_as"))
    group(Sharding::AS);
  else if (in.accept_keyword("shard_like"))
    group(Sharding::LIKE);
  else
    throw in.expected("a kind of sharding");
}

void read_sharding(Scanner& in, Sharding* p) {
  Scanner::Nest nest(in, "a sharding");
  in.expect('{', "to open a sharding");
  if (in.peek() == '{' || in.peek() == '}') {
    p->set_type(Sharding::TUPLE);
    in.list('}', "between shardings", [&] { read_sharding(in, p->add_tuple_shardings()); });
    return;
  }
  const std::string_view word = in.peek_identifier();
  if (word == "mesh" || word == "maximal_mesh") return read_named(in, p->mutable_named_sharding());
  while (!in.accept('}')) read_word(in, p);
}

}  // namespace

std::string sharding_text(const Sharding& p) {
  if (p.has_named_sharding()) return named_text(p.named_sharding());
  if (p.type() == Sharding::TUPLE) return tuple_text(p);
  std::string out;
  if (p.type() == Sharding::OTHER)
    out = tiles_text(p);
  else if (p.type() == Sharding::MAXIMAL)
    out =
        fmt::format("maximal device={}", p.tile_assignment_devices_size() ? p.tile_assignment_devices(0) : 0);
  else if (Sharding::Type_IsValid(p.type()))
    out = type_text(p.type());
  else
    throw user_error("unknown type of sharding: {}", static_cast<int>(p.type()));
  if (p.is_shard_group())
    out += fmt::format(" shard_{} {}", p.shard_group_type() == Sharding::LIKE ? "like" : "as",
                       p.shard_group_id());
  if (p.metadata_size() == 1) out += " metadata=" + metadata_text(p.metadata(0));
  if (p.metadata_size() > 1) out += " metadata=" + metadata_list(p.metadata());
  return "{" + out + "}";
}

void sharding_from_text(std::string_view text, Sharding* p) {
  Scanner in(text, "sharding", kNesting);
  read_sharding(in, p);
  if (!in.at_end()) throw in.expected("the end of the sharding");
}

}  // namespace armillary
