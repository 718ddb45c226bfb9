#include "xla_core/spmd/factors.h"

#include <algorithm>
#include <set>

#include "xla_core/hlo/scanner.h"

namespace armillary {
namespace {

// `ijz_1`: a letter each, with a number behind the last of the alphabet.
std::vector<std::string> split_factors(std::string_view text) {
  std::vector<std::string> out;
  for (const char c : text) {
    if (out.empty() || (c != '_' && (c < '0' || c > '9'))) out.emplace_back();
    out.back() += c;
  }
  return out;
}

// Every tile is there, and as often as any other.
bool is_sound(const Sharding& s) {
  std::map<int64_t, int64_t> holders;
  for (int64_t tile : s.tile_of) ++holders[tile];
  return static_cast<int64_t>(holders.size()) == s.tile_count() &&
         std::all_of(holders.begin(), holders.end(),
                     [&](const auto& h) { return h.second == holders.begin()->second; });
}

bool fits(const std::vector<std::optional<Sharding>>& known, size_t mappings, auto rank_of) {
  if (known.size() != mappings) return false;
  for (size_t k = 0; k < mappings; ++k)
    if (known[k] && known[k]->tiles.size() != rank_of(k)) return false;
  return true;
}

}  // namespace

Factors::Factors(std::string_view text) {
  Scanner in(text, "sharding rule", 100);
  const auto mappings = [&](std::vector<Mapping>& out) {
    in.expect('(', "to open the arrays");
    in.list(')', "between arrays", [&] {
      out.emplace_back();
      in.expect('[', "to open an array");
      in.list(']', "between dimensions",
              [&] { out.back().push_back(split_factors(in.peek_identifier())), in.identifier(); });
    });
  };
  in.expect("#sdy.op_sharding_rule<", "to open a rule");
  mappings(operands_);
  in.expect("->", "between operands and results");
  mappings(results_);
  if (in.accept('{'))
    in.list('}', "between sizes", [&] {
      const std::string factor(in.identifier("a factor"));
      in.expect('=', "before its size");
      sizes_[factor] = in.integer("the size of a factor");
    });
  for (std::string_view kind; !(kind = in.peek_identifier()).empty();) {
    in.identifier();
    in.expect('=', "before factors");
    in.expect('{', "before factors");
    in.list('}', "between factors", [&] {
      const std::string factor(in.identifier("a factor"));
      if (kind == "need_replication") whole_.push_back(factor);
    });
  }
}

// What cuts a dimension cuts its factors, the major ones first.
void Factors::take(const Mapping& mapping, const Sharding& s, Parts& parts) const {
  for (size_t d = 0; d < mapping.size(); ++d) {
    int64_t rest = s.tiles[d];
    for (const std::string& factor : mapping[d]) {
      if (rest == 1) break;
      const auto size = sizes_.find(factor);
      if (size == sizes_.end() || size->second == 0) break;
      const int64_t count = std::min(rest, size->second);
      if (rest % count != 0 || size->second % count != 0 || std::ranges::count(whole_, factor) > 0) break;
      rest /= count;
      Part part{count, {}};
      for (size_t device = 0; device < s.tile_of.size(); ++device)
        part.of_device.push_back(s.coordinates(static_cast<int64_t>(device))[d] / rest % count);
      parts.try_emplace(factor, std::move(part));
    }
  }
}

Sharding Factors::made_of(const Mapping& mapping, const Parts& parts, int64_t devices) const {
  Sharding out = Sharding::replicated(static_cast<int64_t>(mapping.size()), devices);
  for (size_t d = 0; d < mapping.size(); ++d)
    for (const std::string& factor : mapping[d]) {
      const auto at = parts.find(factor);
      if (at == parts.end()) break;
      Dims tiles = out.tiles;
      tiles[d] *= at->second.count;
      Sharding finer{std::move(tiles), {}};
      for (int64_t device = 0; device < devices; ++device) {
        Dims c = out.coordinates(device);
        c[d] = c[d] * at->second.count + at->second.of_device[device];
        finer.tile_of.push_back(finer.tile_at(c));
      }
      // Two factors that the same devices tell apart cannot both cut one array.
      if (!is_sound(finer)) break;
      out = std::move(finer);
      if (at->second.count < sizes_.at(factor)) break;  // tiles are contiguous
    }
  return out;
}

std::optional<Factors::Cuts> Factors::follow(Cuts known, int64_t devices) const {
  if (!fits(known.operands, operands_.size(), [&](size_t k) { return operands_[k].size(); }) ||
      !fits(known.results, results_.size(), [&](size_t k) { return results_[k].size(); }))
    return {};
  Parts parts;
  const auto take_all = [&](const auto& list, const auto& mappings) {
    for (size_t k = 0; k < list.size(); ++k)
      if (list[k]) take(mappings[k], *list[k], parts);
  };
  take_all(known.operands, operands_);
  take_all(known.results, results_);
  const auto complete = [&](auto& list, const auto& mappings) {
    for (size_t k = 0; k < list.size(); ++k)
      if (!list[k]) list[k] = made_of(mappings[k], parts, devices);
  };
  complete(known.operands, operands_);
  complete(known.results, results_);
  return known;
}

}  // namespace armillary
