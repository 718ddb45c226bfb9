// The few string helpers that several rooms need.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace armillary {

// Insertions, deletions, replacements and swaps of neighbours that turn one into the other.
int edit_distance(std::string_view a, std::string_view b);

// The known name closest to `name`; empty when none is close.
std::string nearest_name(std::string_view name, const std::vector<std::string_view>& known);

// Pieces between any of the separators, empty ones left out.
std::vector<std::string_view> split(std::string_view text, std::string_view separators);

}  // namespace armillary
