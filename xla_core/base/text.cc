#include "xla_core/base/text.h"

#include <algorithm>

namespace armillary {

int edit_distance(std::string_view a, std::string_view b) {
  const size_t width = b.size() + 1;
  std::vector<int> cost((a.size() + 1) * width);
  for (size_t i = 0; i <= a.size(); ++i) {
    for (size_t j = 0; j <= b.size(); ++j) {
      int& here = cost[i * width + j];
      if (i == 0 || j == 0) {
        here = static_cast<int>(i + j);
        continue;
      }
      here = std::min({cost[(i - 1) * width + j] + 1, cost[i * width + j - 1] + 1,
                       cost[(i - 1) * width + j - 1] + (a[i - 1] != b[j - 1])});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        here = std::min(here, cost[(i - 2) * width + j - 2] + 1);
    }
  }
  return cost.back();
}

std::string nearest_name(std::string_view name, const std::vector<std::string_view>& known) {
  if (name.size() > 100) return "";  // the cost is quadratic, and nobody meant a longer name
  std::string_view best;
  int best_distance = static_cast<int>(name.size() / 2) + 1;  // half of it wrong: a guess would only mislead
  for (std::string_view candidate : known) {
    const int distance = edit_distance(name, candidate);
    if (distance < best_distance) {
      best = candidate;
      best_distance = distance;
    }
  }
  return std::string(best);
}

std::vector<std::string_view> split(std::string_view text, std::string_view separators) {
  std::vector<std::string_view> pieces;
  while (true) {
    const size_t begin = text.find_first_not_of(separators);
    if (begin == std::string_view::npos) return pieces;
    text.remove_prefix(begin);
    const size_t end = std::min(text.find_first_of(separators), text.size());
    pieces.push_back(text.substr(0, end));
    text.remove_prefix(end);
  }
}

}  // namespace armillary
