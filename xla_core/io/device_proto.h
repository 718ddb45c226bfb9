// Who takes part: replica groups, source-target pairs, meshes and shardings, between wire form and HLO text.
#pragma once

#include <string>
#include <string_view>

#include "xla_core/io/hlo.pb.h"

namespace armillary {

class Scanner;

// `mesh['x'=2,'y'=4]` and `'x'` or `'x':(1)2`: shared by replica groups and named shardings.
std::string axis_text(const proto::AxisRefProto& axis, const proto::MeshProto& mesh);
std::string mesh_text(const proto::MeshProto& mesh);
void read_mesh(Scanner& in, proto::MeshProto* mesh);
void read_axis(Scanner& in, const proto::MeshProto& mesh, proto::AxisRefProto* axis);

// `{{0,1},{2,3}}`, `[2,4]<=[4,2]T(1,0)` or `mesh['x'=2,'y'=4] {'y'}`.
std::string replica_groups_text(const proto::HloInstructionProto& p);
void replica_groups_from_text(std::string_view text, proto::HloInstructionProto* p);

std::string source_target_pairs_text(const proto::HloInstructionProto& p);
void source_target_pairs_from_text(std::string_view text, proto::HloInstructionProto* p);

// `{devices=[2,2]<=[4]}` and its kin, tuples and named shardings included.
std::string sharding_text(const proto::OpSharding& p);
void sharding_from_text(std::string_view text, proto::OpSharding* p);

}  // namespace armillary
