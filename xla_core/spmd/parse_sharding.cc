// HLO's text of shardings.
#include <algorithm>
#include <numeric>

#include "xla_core/hlo/scanner.h"
#include "xla_core/spmd/mesh.h"
#include "xla_core/spmd/sharding.h"

namespace armillary {
namespace {

constexpr int kNesting = 10;

class Reader {
 public:
  Reader(std::string_view text, int64_t devices) : in_(text, "sharding", kNesting), devices_(devices) {}

  std::vector<Annotation> all(const std::vector<int64_t>& ranks) {
    std::vector<Annotation> out;
    const size_t begin = in_.position();
    in_.expect('{', "to open a sharding");
    if (in_.peek() == '{') {
      in_.list('}', "between shardings",
               [&] { out.push_back(one(ranks.size() > out.size() ? ranks[out.size()] : 0)); });
    } else {
      in_.seek(begin);
      const int64_t rank = ranks.empty() ? 0 : ranks[0];
      out.assign(std::max<size_t>(ranks.size(), 1), one(rank));
      for (size_t k = 1; k < ranks.size(); ++k)
        if (ranks[k] != rank) out[k] = again(begin, ranks[k]);
    }
    if (out.size() != ranks.size() && !(ranks.empty() && out.size() == 1))
      throw in_.error(begin, "{} shardings for a value of {} arrays", out.size(), ranks.size());
    return out;
  }

 private:
  Annotation again(size_t begin, int64_t rank) {
    in_.seek(begin);
    return one(rank);
  }

  Annotation one(int64_t rank) {
    in_.expect('{', "to open a sharding");
    Annotation out;
    if (in_.peek() == 'm' && in_.peek_identifier() == "mesh") {
      out = mesh_form(rank);
    } else {
      const size_t at = in_.next_position();
      const std::string_view word = in_.identifier("a kind of sharding");
      if (word == "replicated") {
        out = {Annotation::kTiled, Sharding::replicated(rank, devices_)};
      } else if (word == "maximal") {
        in_.expect("device=", "after maximal");
        out.kind = Annotation::kMaximal;
        out.device = device(in_.integer("a device"));
      } else if (word == "devices") {
        out = tiled(rank);
      } else if (word == "unreduced") {
        out = {Annotation::kTiled, Sharding::replicated(rank, devices_)};
        out.sharding.summands = devices_;
        out.sharding.summand_of.resize(devices_);
        std::iota(out.sharding.summand_of.begin(), out.sharding.summand_of.end(), 0);
      } else if (word != "manual" && word != "unknown") {
        throw in_.error(at, "no kind of sharding is called {}", word);
      }
    }
    skip_rest();
    return out;
  }

  Annotation mesh_form(int64_t rank) {
    const Mesh mesh = read_hlo_mesh(in_);
    in_.expect(',', "after a mesh");
    return {Annotation::kTiled, read_mesh_sharding(in_, mesh, rank, devices_, '\'').sharding};
  }

  Annotation tiled(int64_t rank) {
    const size_t at = in_.position();
    in_.expect("=[", "after devices");
    Dims tiles = in_.integers(']');
    const DeviceList order = in_.peek() == '<' ? read_device_order(in_) : plain_list();
    int64_t total = 1;
    for (int64_t t : tiles) {
      if (t < 1 || t > devices_ / total) throw in_.error(at, "tiles for more than {} devices", devices_);
      total *= t;
    }
    const std::vector<std::string> kinds = last_kinds(static_cast<int64_t>(tiles.size()) - rank);
    if (total != devices_ || static_cast<int64_t>(order.size()) != devices_ ||
        static_cast<int64_t>(tiles.size()) != rank + static_cast<int64_t>(kinds.size()))
      throw in_.error(at, "a sharding of {} tiles over {} devices for an array of rank {} and {} devices",
                      total, order.size(), rank, devices_);
    Sharding out{{tiles.begin(), tiles.begin() + rank}, DeviceList(devices_, -1)};
    const int64_t holders = devices_ / out.tile_count();
    std::vector<int64_t> summand_of(devices_, 0);
    for (int64_t k = 0; k < devices_; ++k) {
      if (out.tile_of[device(order[k])] >= 0) throw in_.error(at, "device {} comes twice", order[k]);
      out.tile_of[order[k]] = k / holders;
      int64_t below = holders, rest = k % holders;
      for (size_t d = 0; d < kinds.size(); ++d) {
        below /= tiles[rank + static_cast<int64_t>(d)];
        if (kinds[d] == "unreduced")
          summand_of[order[k]] = summand_of[order[k]] * tiles[rank + static_cast<int64_t>(d)] + rest / below;
        rest %= below;
      }
    }
    for (size_t d = 0; d < kinds.size(); ++d)
      if (kinds[d] == "unreduced") out.summands *= tiles[rank + static_cast<int64_t>(d)];
    if (out.summands > 1) out.summand_of = std::move(summand_of);
    return {Annotation::kTiled, out};
  }

  // What the tile dimensions behind the array's own mean: `last_tile_dims={unreduced, manual}`.
  std::vector<std::string> last_kinds(int64_t count) {
    if (in_.accept_keyword("last_tile_dim_replicate")) return {"replicated"};
    std::vector<std::string> kinds;
    if (count <= 0 || !in_.accept_keyword("last_tile_dims")) return kinds;
    in_.expect("={", "after last_tile_dims");
    in_.list('}', "between kinds", [&] { kinds.emplace_back(in_.identifier("a kind of tile dimension")); });
    return kinds;
  }

  DeviceList plain_list() {
    DeviceList out = {in_.integer("a device")};
    while (in_.accept(',')) out.push_back(in_.integer("a device"));
    return out;
  }

  int64_t device(int64_t d) {
    if (d < 0 || d >= devices_) throw in_.error(in_.position(), "device {} of {}", d, devices_);
    return d;
  }

  // metadata, shard_as: no matter here.
  void skip_rest() {
    while (!in_.accept('}')) {
      const char c = in_.peek();
      if (c == '{' || c == '[' || c == '(')
        in_.balanced("a sharding");
      else if (c == '"')
        in_.quoted("a string");
      else if (c == '\0')
        throw in_.expected("'}' after a sharding");
      else
        in_.advance();
    }
  }

  Scanner in_;
  int64_t devices_;
};

}  // namespace

std::vector<Annotation> parse_sharding(std::string_view text, const std::vector<int64_t>& ranks,
                                       int64_t devices) {
  return Reader(text, devices).all(ranks);
}

}  // namespace armillary
