// The kinds of collectives, by their names in HLO.
#pragma once

#include <cstdint>
#include <string_view>

namespace armillary::sim {

enum class CollectiveKind : uint8_t { kAllGather, kReduceScatter, kAllReduce, kAllToAll, kCollectivePermute };
inline constexpr int kNumCollectiveKinds = static_cast<int>(CollectiveKind::kCollectivePermute) + 1;

CollectiveKind collective_from_name(std::string_view name);  // "all-gather", ...
std::string_view to_string(CollectiveKind kind);

}  // namespace armillary::sim
