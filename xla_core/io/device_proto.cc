#include "xla_core/io/device_proto.h"

#include "xla_core/hlo/scanner.h"

namespace armillary {
namespace {

constexpr int kNesting = 100;

std::string iota_text(const proto::IotaReplicaGroupListProto& p) {
  std::string out = fmt::format("[{},{}]<=[{}]", p.num_replica_groups(), p.num_devices_per_group(),
                                fmt::join(p.iota_reshape_dims(), ","));
  if (p.iota_reshape_dims_size() > 1) out += fmt::format("T({})", fmt::join(p.iota_transpose_perm(), ","));
  return out;
}

template <class Groups>
std::string lists_text(const Groups& groups) {
  std::string out = "{";
  for (int i = 0; i < groups.size(); ++i)
    out += fmt::format("{}{{{}}}", i ? "," : "", fmt::join(groups[i].replica_ids(), ","));
  return out + "}";
}

void read_iota(Scanner& in, proto::IotaReplicaGroupListProto* p) {
  in.expect('[', "to open the number of groups and their size");
  p->set_num_replica_groups(in.integer("a number of groups"));
  in.expect(',', "between the number of groups and their size");
  p->set_num_devices_per_group(in.integer("a size"));
  in.expect(']', "to close the number of groups and their size");
  in.expect("<=", "before the device order");
  in.expect('[', "to open the device order");
  for (int64_t d : in.integers(']')) p->add_iota_reshape_dims(d);
  if (in.accept('T')) {
    in.expect('(', "to open the transposition");
    for (int64_t d : in.integers(')')) p->add_iota_transpose_perm(static_cast<int32_t>(d));
  } else {
    for (int i = 0; i < p->iota_reshape_dims_size(); ++i) p->add_iota_transpose_perm(i);
  }
}

void read_iota_transform(Scanner& in, proto::MeshProto::IotaTransform* p) {
  in.expect('[', "to open the device order");
  for (int64_t d : in.integers(']')) p->add_reshape_dims(d);
  if (!in.accept('T')) return;
  in.expect('(', "to open the transposition");
  for (int64_t d : in.integers(')')) p->add_transpose_perm(d);
}

}  // namespace

std::string axis_text(const proto::AxisRefProto& axis, const proto::MeshProto& mesh) {
  if (axis.mesh_axis_index() < 0 || axis.mesh_axis_index() >= mesh.axes_size())
    throw user_error("a mesh of {} axes has no axis {}", mesh.axes_size(), axis.mesh_axis_index());
  std::string out = fmt::format("'{}'", mesh.axes(static_cast<int>(axis.mesh_axis_index())).name());
  if (axis.has_sub_axis_info())
    out += fmt::format(":({}){}", axis.sub_axis_info().pre_size(), axis.sub_axis_info().size());
  return out;
}

std::string mesh_text(const proto::MeshProto& mesh) {
  std::string out = "mesh[";
  for (int i = 0; i < mesh.axes_size(); ++i)
    out += fmt::format("{}'{}'={}", i ? "," : "", mesh.axes(i).name(), mesh.axes(i).size());
  out += "]";
  if (mesh.has_iota_transform()) {
    out += fmt::format(", device_ids=([{}]", fmt::join(mesh.iota_transform().reshape_dims(), ","));
    if (mesh.iota_transform().transpose_perm_size() > 0)
      out += fmt::format("T({})", fmt::join(mesh.iota_transform().transpose_perm(), ","));
    out += ")";
  } else if (mesh.device_ids_size() > 0) {
    out += fmt::format(", device_ids=({})", fmt::join(mesh.device_ids(), ","));
  }
  return out;
}

void read_mesh(Scanner& in, proto::MeshProto* mesh) {
  in.expect("mesh", "to name a mesh");
  in.expect('[', "to open the axes of a mesh");
  in.list(']', "between axes", [&] {
    auto* axis = mesh->add_axes();
    in.expect('\'', "before the name of an axis");
    axis->set_name(std::string(in.identifier("the name of an axis")));
    in.expect('\'', "after the name of an axis");
    in.expect('=', "after the name of an axis");
    axis->set_size(in.integer("the size of an axis"));
  });
  const size_t here = in.position();
  if (!in.accept(',') || !in.accept("device_ids=")) return in.seek(here);
  in.expect('(', "to open the device ids");
  if (in.peek() == '[') {
    read_iota_transform(in, mesh->mutable_iota_transform());
    in.expect(')', "to close the device ids");
  } else {
    for (int64_t d : in.integers(')')) mesh->add_device_ids(d);
  }
}

void read_axis(Scanner& in, const proto::MeshProto& mesh, proto::AxisRefProto* axis) {
  in.expect('\'', "before the name of an axis");
  const size_t at = in.position();
  const std::string_view name = in.identifier("the name of an axis");
  in.expect('\'', "after the name of an axis");
  int index = 0;
  while (index < mesh.axes_size() && mesh.axes(index).name() != name) ++index;
  if (index == mesh.axes_size()) throw in.error(at, "the mesh has no axis '{}'", name);
  axis->set_mesh_axis_index(index);
  if (!in.accept(':')) return;
  in.expect('(', "to open the pre-size");
  axis->mutable_sub_axis_info()->set_pre_size(in.integer("a pre-size"));
  in.expect(')', "to close the pre-size");
  axis->mutable_sub_axis_info()->set_size(in.integer("the size of a part of an axis"));
}

std::string replica_groups_text(const proto::HloInstructionProto& p) {
  if (p.has_iota_collective_device_list()) return iota_text(p.iota_collective_device_list());
  if (p.has_mesh_axes_replica_group_list()) {
    const auto& list = p.mesh_axes_replica_group_list();
    std::string out = mesh_text(list.mesh()) + " {";
    for (int i = 0; i < list.axes_size(); ++i) out += (i ? "," : "") + axis_text(list.axes(i), list.mesh());
    return out + "}";
  }
  const auto& list = p.collective_device_list();
  if (list.has_iota_replica_group_list()) return iota_text(list.iota_replica_group_list());
  return lists_text(list.replica_groups_size() > 0 ? list.replica_groups() : p.replica_groups());
}

void replica_groups_from_text(std::string_view text, proto::HloInstructionProto* p) {
  Scanner in(text, "replica_groups", kNesting);
  if (in.peek() == '[') return read_iota(in, p->mutable_iota_collective_device_list());
  if (in.peek() == 'm') {
    auto* list = p->mutable_mesh_axes_replica_group_list();
    read_mesh(in, list->mutable_mesh());
    in.expect('{', "to open the axes of the groups");
    return in.list('}', "between axes", [&] { read_axis(in, list->mesh(), list->add_axes()); });
  }
  auto* list = p->mutable_collective_device_list();
  in.expect('{', "to open the replica groups");
  in.list('}', "between replica groups", [&] {
    in.expect('{', "to open a replica group");
    auto* group = list->add_replica_groups();
    for (int64_t id : in.integers('}')) group->add_replica_ids(id);
  });
}

std::string source_target_pairs_text(const proto::HloInstructionProto& p) {
  std::string out = "{";
  for (int i = 0; i < p.source_target_pairs_size(); ++i)
    out += fmt::format("{}{{{},{}}}", i ? "," : "", p.source_target_pairs(i).source(),
                       p.source_target_pairs(i).target());
  return out + "}";
}

void source_target_pairs_from_text(std::string_view text, proto::HloInstructionProto* p) {
  Scanner in(text, "source_target_pairs", kNesting);
  in.expect('{', "to open the pairs");
  in.list('}', "between pairs", [&] {
    auto* pair = p->add_source_target_pairs();
    in.expect('{', "to open a pair");
    pair->set_source(in.integer("a source"));
    in.expect(',', "between source and target");
    pair->set_target(in.integer("a target"));
    in.expect('}', "to close a pair");
  });
}

}  // namespace armillary
